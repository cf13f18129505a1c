"""A path: where a frame or a coordinate is to be at each time, as expressions of time.

Nothing is sampled. A component is an `Expression` of ``cc.t`` (and of parameters, if need be), so that velocities and
accelerations are derivatives of formulas. Methods make new paths out of old ones: ``a.then(b)``, ``a.reversed()``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.arguments import listed
from closedchain.attached import Attached
from closedchain.errors import ModelError
from closedchain.model.bodies.rotation import Rotation, from_matrix
from closedchain.model.expressions.expression import Number, t
from closedchain.model.expressions.functions import where
from closedchain.model.paths.checks import of_time, plain, seconds
from closedchain.model.paths.values import at_time, evaluated

if TYPE_CHECKING:
    from closedchain.model.paths.joining import repeated, then
    from closedchain.model.paths.orientation import oriented, turned


@dataclass(frozen=True, eq=False)
class PathValues:
    """A path at n times, exactly. With k components the arrays have the shapes below; for a single time, without n.

    Attributes
    ----------
    t
        Times, s (n).
    value, rate, acceleration
        Components and their first and second derivatives, (n, k), or (n) for the path of one coordinate. NaN where a
        component is left free.
    rotation
        (n, 3, 3), columns are the axes of the frame in the world; None if the path has no orientation.
    angular_velocity, angular_acceleration
        In the world, rad/s and rad/s^2, (n, 3); None if the path has no orientation.
    """

    t: np.ndarray
    value: np.ndarray
    rate: np.ndarray
    acceleration: np.ndarray
    rotation: np.ndarray | None = None
    angular_velocity: np.ndarray | None = None
    angular_acceleration: np.ndarray | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Path(Attached):
    """Components and orientation as expressions of time.

    Attributes
    ----------
    components
        Three for the position of a frame in the world (m), one for a coordinate (rad or m), none if only an orientation
        is prescribed. None leaves a component free.
    rotation
        3 x 3, columns are the axes of the frame in the world. None leaves the orientation free.
    duration
        How long it takes, s. Before 0 it rests at its beginning, after ``duration`` at its end.
    breaks
        Times at which its acceleration (or even its velocity) jumps.
    endless
        Whether it goes on before 0 and after ``duration``, as a circle does that is run through again and again.

    Examples
    --------
    >>> from closedchain.model import paths
    >>> path = paths.line((0, 0, 0), (1, 0, 0), duration=2.0).then(paths.rest((1, 0, 0), 0.5))
    >>> path
    Path(3 components, 2.5 s)
    >>> path.at(1.0).value, path.at(1.0).rate
    (array([0.5, 0. , 0. ]), array([0.9375, 0.    , 0.    ]))
    """

    if TYPE_CHECKING:  # attached by `closedchain.verbs`
        then = then
        repeated = repeated
        turned = turned
        oriented = oriented

    components: tuple[Number | None, ...] = ()
    rotation: Rotation | None = None
    duration: float = 0.0
    breaks: tuple[float, ...] = ()
    endless: bool = False

    def __post_init__(self) -> None:
        parts, set_ = listed(self.components), object.__setattr__
        if parts is None:
            raise ModelError(f"a path has components, for instance (cc.math.sin(cc.t),), not {self.components!r}")
        if not parts and self.rotation is None:
            raise ModelError("a path has components or a rotation, or both: this one has neither")
        set_(self, "components", tuple(None if x is None else of_time(x, "path: a component") for x in parts))
        if self.rotation is not None:
            R = from_matrix(self.rotation, "path")
            set_(self, "rotation", tuple(tuple(of_time(x, "path: an entry of its rotation") for x in row) for row in R))
        set_(self, "duration", seconds(self.duration, "path: its duration"))
        set_(self, "breaks", tuple(sorted({plain(x, "path: a break") for x in self.breaks})))

    def __repr__(self) -> str:
        n, parts = len(self.components), []
        parts += [f"{n} component{'s' * (n != 1)}"] if n else []
        parts += ["orientation"] if self.rotation is not None else []
        parts += [f"{self.duration:g} s{' and on' if self.endless else ''}"]
        if self.breaks:
            said = ", ".join(f"{x:g}" for x in self.breaks[:4])
            parts += [f"breaks at {said}{', ...' if len(self.breaks) > 4 else ''}"]
        return f"Path({', '.join(parts)})"

    @property
    def entries(self) -> tuple[Number | None, ...]:
        """All its expressions: the components, then the rotation row by row."""
        return (*self.components, *(x for row in self.rotation or () for x in row))

    def with_entries(self, entries: Any) -> Path:
        """The same path with other expressions in the order of `entries`."""
        k = len(self.components)
        R = None if self.rotation is None else tuple(tuple(entries[k + i : k + i + 3]) for i in (0, 3, 6))
        return replace(self, components=tuple(entries[:k]), rotation=R)

    def at(self, times: Any, parameters: Mapping[str, float] | None = None) -> PathValues:
        """Value, rate and acceleration at a time or at several, from the derivatives of its formulas.

        At a break they are those after it, and at the very end of the path those before.

        Parameters
        ----------
        times
            One time or an array of n, s.
        parameters
            Values by name, if the path depends on parameters.
        """
        try:
            asked = np.asarray(times, float)
        except (TypeError, ValueError):
            asked = np.array(np.nan)
        if asked.ndim > 1 or not np.isfinite(asked).all():
            raise ModelError(f"a path is evaluated at one time or at a list of times, in seconds, not at {times!r}")
        numbers = evaluated(self.entries, asked, parameters or {})
        k = len(self.components)
        value, rate, acceleration = numbers[..., 0] if k == 1 else numbers[..., :k]
        if self.rotation is None:
            return PathValues(asked, value, rate, acceleration)
        R, dR, ddR = numbers[..., k:].reshape(3, *asked.shape, 3, 3)
        back = np.swapaxes(R, -1, -2)
        # R' R^T = [w]x, and the skew part of R'' R^T is its derivative: the rest of it, -R' R'^T, is symmetric
        return PathValues(asked, value, rate, acceleration, R, _axial(dR @ back), _axial(ddR @ back))

    # ---- new paths out of this one -----------------------------------------------------------------------------------

    def shifted(self, offset: Any) -> Path:
        """The same path elsewhere: a number is added to each component."""
        several = listed(offset)
        by = (offset,) if several is None else several
        if len(by) != len(self.components):
            raise ModelError(f"shifted: give one number for each of {len(self.components)} components, not {offset!r}")
        by = tuple(of_time(x, "shifted: the offset") for x in by)
        parts = tuple(None if x is None else x + d for x, d in zip(self.components, by, strict=True))
        return replace(self, components=parts)

    def delayed(self, by: float) -> Path:
        """The same path, some seconds later; until then it rests at its beginning."""
        by = seconds(by, "delayed: the delay")
        if by == 0.0:
            return self
        breaks = {x + by for x in self.breaks}
        if self.endless:  # what moves always is held before
            time: Number = where(t < by, 0.0, t - by)
            breaks = {x for x in breaks if x > by} | {by}
        else:
            time = t - by
        return replace(self._at_time(time), duration=self.duration + by, breaks=tuple(breaks))

    def reversed(self) -> Path:
        """From its end to its beginning."""
        back = self._at_time(self.duration - t)
        return replace(back, breaks=tuple(self.duration - x for x in self.breaks))

    def _at_time(self, time: Number) -> Path:
        return self.with_entries(at_time(self.entries, time))


def _axial(W: np.ndarray) -> np.ndarray:
    """The vector of the skew part of a matrix."""
    skew = 0.5 * (W - np.swapaxes(W, -1, -2))
    return np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)
