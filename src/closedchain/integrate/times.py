"""Times at which the motion is kept: given ones, or equal ones that are not all made at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from closedchain.arguments import positive


@dataclass(frozen=True)
class Every:
    """Equal times: ``t_eval=cc.Every(0.01)`` keeps a sample every 10 ms, from the start of the run on.

    Attributes
    ----------
    seconds
        Between two samples.
    """

    seconds: float

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "seconds", positive("cc.Every: the time between two samples", self.seconds, "of seconds")
        )


@dataclass(frozen=True, eq=False)
class Given:
    """Times in an array, in the order of the run."""

    array: np.ndarray

    def after(self, t: float, forward: int, including: bool) -> np.ndarray:
        """Those that a piece of the run from t on has to take; ``including`` t itself or not."""
        ahead = forward * (self.array - t)
        return self.array[ahead >= 0 if including else ahead > 0]

    def asks(self, t: float) -> bool:
        """Whether t itself is one of them."""
        return bool(np.any(self.array == t))


@dataclass(frozen=True)
class Equal:
    """``begin + i (until - begin) / intervals`` for i from ``first`` to ``intervals``; sliced, it gives arrays.

    Examples
    --------
    >>> times = Equal(0.0, 2.0, 4)
    >>> len(times), times[1:3]
    (5, array([0.5, 1. ]))
    """

    begin: float
    until: float
    intervals: int
    first: int = 0

    def __len__(self) -> int:
        return self.intervals + 1 - self.first

    def __getitem__(self, which: slice) -> np.ndarray:
        low, high, _ = which.indices(len(self))
        return self._time(np.arange(self.first + low, self.first + max(high, low)))

    def _time(self, i: np.ndarray) -> np.ndarray:
        # the last one is exactly the end
        share = i / self.intervals if self.intervals else i * 1.0
        return np.where(i == self.intervals, self.until, self.begin + (self.until - self.begin) * share)

    def after(self, t: float, forward: int, including: bool) -> Equal:
        """Those that a piece of the run from t on has to take; ``including`` t itself or not."""
        if not self.intervals:
            return self if including else replace(self, first=1)
        share = (t - self.begin) / (self.until - self.begin)
        i = max(self.first, min(int(share * self.intervals) - 1, self.intervals + 1))
        while i <= self.intervals:
            ahead = forward * (float(self._time(np.array(i))) - t)
            if ahead > 0 or (including and ahead == 0):
                break
            i += 1
        return replace(self, first=i)

    def asks(self, t: float) -> bool:
        """Whether t itself is one of them."""
        forward = 1 if self.until >= self.begin else -1
        return bool(np.any(self.after(t, forward, True)[:1] == t))
