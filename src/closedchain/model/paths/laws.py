"""Time laws: how a motion is spread over time, from 0 at its beginning to 1 at its end.

A law is a small frozen dataclass with one method, `TimeLaw.schedule`. It is told how long the motion takes, or how long
the way is if it has limits of its own that choose the duration; it answers with an expression of ``cc.t``.

===================  ==================================  ===========================  ===============================
law                  progress s                          peak speed (way / duration)  peak acceleration (/ duration^2)
===================  ==================================  ===========================  ===============================
``Uniform``          u                                   1                            jumps of the velocity at the ends
``MinimumJerk``      10 u^3 - 15 u^4 + 6 u^5             15 / 8                       10 / sqrt(3)
``Trapezoidal``      ramp, straight line, ramp           1 / (1 - ramp)               1 / (ramp (1 - ramp))
===================  ==================================  ===========================  ===============================

with u = t / duration.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import ClassVar

from closedchain.arguments import known
from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Number, t
from closedchain.model.expressions.functions import piecewise, where
from closedchain.model.paths.checks import positive


@dataclass(frozen=True)
class Schedule:
    """A law at work: progress from 0 to 1 as an expression of time, how long it takes, and when acceleration jumps."""

    progress: Number
    duration: float
    breaks: tuple[float, ...] = ()


@dataclass(frozen=True)
class TimeLaw:
    """What all laws share: limits of speed and acceleration, which choose the duration if none is given.

    Parameters
    ----------
    speed, acceleration
        Limits, in units of the way (m or rad) per s and s^2. Without them, a path that uses the law needs a duration.
    """

    speed: float | None = None
    acceleration: float | None = None

    name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for limit in ("speed", "acceleration"):
            if getattr(self, limit) is not None:
                object.__setattr__(self, limit, positive(getattr(self, limit), f"{type(self).__name__}: {limit}"))

    def schedule(self, duration: float | None, way: float | None, what: str) -> Schedule:
        """Progress over time.

        Parameters
        ----------
        duration
            s; None if the limits choose it.
        way
            Length of the way, m or rad; None if it is not known.
        what
            For messages.
        """
        limits = [f.name for f in fields(TimeLaw) if getattr(self, f.name) is not None]
        if duration is not None:
            if limits:
                raise ModelError(f"{what}: the limits of {self} choose the duration: leave out duration={duration:g}")
            return self.spread(positive(duration, f"{what}: the duration"))
        if not limits:
            raise ModelError(
                f"{what}: say how long it takes, duration=..., or give the law limits: "
                f"cc.paths.{type(self).__name__}(speed=...)"
            )
        if way is None:
            raise ModelError(f"{what}: the length of the way is not known, so {self} cannot limit it: give a duration")
        if way == 0.0:
            raise ModelError(f"{what}: it ends where it begins, so {self} gives it no duration: give one, or use rest")
        return self.limited(way)

    def spread(self, duration: float) -> Schedule:
        """The law over a duration."""
        raise NotImplementedError(f"{type(self).__name__}.spread")

    def limited(self, way: float) -> Schedule:
        """The law over the shortest duration that keeps to the limits."""
        raise NotImplementedError(f"{type(self).__name__}.limited")


@dataclass(frozen=True)
class Uniform(TimeLaw):
    """Constant speed from the beginning to the end, where the velocity jumps: for kinematics, not for forces."""

    name: ClassVar[str] = "uniform"

    def spread(self, duration: float) -> Schedule:  # noqa: D102
        s = where(t < 0.0, 0.0, where(t <= duration, t / duration, 1.0))
        return Schedule(s, duration, (0.0, duration))

    def limited(self, way: float) -> Schedule:  # noqa: D102
        if self.acceleration is not None or self.speed is None:
            raise ModelError(
                "Uniform: no acceleration is small enough for a velocity that jumps; limit the speed alone"
            )
        return self.spread(way / self.speed)


@dataclass(frozen=True)
class MinimumJerk(TimeLaw):
    """From rest to rest with the least square of the jerk: 10 u^3 - 15 u^4 + 6 u^5.

    References
    ----------
    T. Flash, N. Hogan: The coordination of arm movements: an experimentally confirmed mathematical model. Journal of
    Neuroscience 5 (1985) 1688-1703.
    """

    name: ClassVar[str] = "minimum-jerk"

    def spread(self, duration: float) -> Schedule:  # noqa: D102
        s = piecewise(t / duration, (0.0, 1.0), [(0.0, 0.0, 0.0, 10.0, -15.0, 6.0)])
        # its jerk jumps at the ends: with conditions there a run needs fewer steps
        return Schedule(where(t < 0.0, 0.0, where(t <= duration, s, 1.0)), duration)

    def limited(self, way: float) -> Schedule:  # noqa: D102
        # peaks: speed 15/8 way / T at u = 1/2, acceleration 10/sqrt(3) way / T^2 at u = 1/2 -+ 1/sqrt(12)
        by_speed = 15 / 8 * way / self.speed if self.speed else 0.0
        by_acceleration = math.sqrt(10 / math.sqrt(3) * way / self.acceleration) if self.acceleration else 0.0
        return self.spread(max(by_speed, by_acceleration))


@dataclass(frozen=True)
class Trapezoidal(TimeLaw):
    """Constant acceleration, constant speed, constant deceleration. The acceleration jumps four times.

    The jumps are conditions on time, so that a run that follows the path steps onto them.

    Parameters
    ----------
    speed, acceleration
        Limits that choose the duration (and the ramps): acceleration is needed, speed may be left out.
    ramp
        Part of the duration that each of the two ramps takes, up to 1/2 (no time at constant speed). With limits it
        must be left out.

    Examples
    --------
    >>> from closedchain.model import paths
    >>> paths.line(0.0, 1.0, law=paths.Trapezoidal(speed=1.0, acceleration=2.0))
    Path(1 component, 1.5 s, breaks at 0, 0.5, 1, 1.5)
    """

    ramp: float | None = None

    name: ClassVar[str] = "trapezoidal"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ramp is not None:
            if self.speed is not None or self.acceleration is not None:
                raise ModelError(f"Trapezoidal: limits choose the ramps: leave out ramp={self.ramp!r}")
            object.__setattr__(self, "ramp", positive(self.ramp, "Trapezoidal: ramp"))
            if self.ramp > 0.5:
                raise ModelError(
                    f"Trapezoidal: ramp is {self.ramp:g}: each of the two ramps takes at most half of the duration, 0.5"
                )

    def spread(self, duration: float) -> Schedule:  # noqa: D102
        return _trapezoid(duration, (0.25 if self.ramp is None else self.ramp) * duration)

    def limited(self, way: float) -> Schedule:  # noqa: D102
        a = self.acceleration
        if a is None:
            raise ModelError("Trapezoidal: limit the acceleration, too: a speed alone says nothing about the ramps")
        # the speed limit is reached after v/a, if the way is long enough for two such ramps
        v = min(self.speed or math.inf, math.sqrt(way * a))
        return _trapezoid(way / v + v / a, v / a)


def _trapezoid(T: float, ramp: float) -> Schedule:
    """Progress with ramps of ``ramp`` seconds: speed 1 / (T - ramp) between them."""
    v = 1.0 / (T - ramp)
    a = v / ramp
    begin, end = a / 2 * t**2, 1.0 - a / 2 * (T - t) ** 2
    if 2 * ramp < T * (1 - 1e-12):
        between = where(t < T - ramp, v * (t - ramp / 2), end)
        breaks: tuple[float, ...] = (0.0, ramp, T - ramp, T)
    else:  # no time at constant speed
        between, breaks = end, (0.0, ramp, T)
    s = where(t < 0.0, 0.0, where(t < ramp, begin, where(t <= T, between, 1.0)))
    return Schedule(s, T, breaks)


LAWS: dict[str, TimeLaw] = {law.name: law for law in (Uniform(), MinimumJerk(), Trapezoidal())}


def find(law: str | TimeLaw, what: str) -> TimeLaw:
    """A law by its name, or the law itself."""
    if isinstance(law, TimeLaw):
        return law
    known(f"{what}: unknown time law", law, LAWS)
    return LAWS[law]
