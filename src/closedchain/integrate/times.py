"""Times at which the motion is kept, given or equal ones that are not all made at once; and counts of fixed steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from closedchain.arguments import positive, vector
from closedchain.errors import ModelError


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
class ListedTimes:
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


def sample_times(t_eval: Any, t0: float, t1: float) -> Any:
    """Times of samples as an array, known to go from t0 to t1; none if there are none."""
    if t_eval is None:
        return np.empty(0)
    if not isinstance(t_eval, np.ndarray | list | tuple):
        return t_eval  # made to fit
    times = vector("t_eval", t_eval)
    forward = np.sign(t1 - t0) or 1.0
    if times.size and not np.all(forward * np.diff(times) > 0):
        at = int(np.argmin(forward * np.diff(times) > 0))
        raise ModelError(
            f"t_eval must go strictly from t0 to t1, but entry {at + 1} ({times[at + 1]}) follows {times[at]}"
        )
    low, high = min(t0, t1), max(t0, t1)
    for time in times[[0, -1]] if times.size else ():
        if not low <= time <= high:
            raise ModelError(f"t_eval holds {time}, outside of the run from {t0} to {t1}")
    return times


def fixed_steps(step: float, length: float) -> tuple[int, float]:
    """Number and length of the steps: equal ones if they fit to rounding, else the last one is shorter."""
    number = length / step
    if not number < 2**53:
        raise ModelError(f"step {step} is too small for a run of length {length}")
    whole = max(1, round(number))
    if abs(number - whole) <= 1e-9 * whole:
        return whole, length / whole
    return int(np.ceil(number)), step
