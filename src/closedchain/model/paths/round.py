"""Round paths: arcs, circles, roses, and a coordinate that swings."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from closedchain.arguments import entries, listed
from closedchain.errors import ModelError
from closedchain.model.bodies.rotation import from_two_axes, snap, unit
from closedchain.model.expressions.expression import Number, t
from closedchain.model.expressions.functions import cos, sin
from closedchain.model.paths.checks import of_parameters, place, plain, point, positive, whole
from closedchain.model.paths.curves import Law, along
from closedchain.model.paths.path import Path

XY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


def arc(
    start: Any,
    *,
    centre: Any = None,
    angle: float | None = None,
    normal: Any = (0, 0, 1),
    via: Any = None,
    end: Any = None,
    duration: float | None = None,
    law: Law = "minimum-jerk",
) -> Path:
    """An arc of a circle: about a centre by an angle, or through three points.

    Parameters
    ----------
    start
        Where it begins.
    centre, angle, normal
        Centre, angle (rad, positive about the normal) and normal of the plane, for the first way to give it. A centre
        above or below the plane through the start gives the same arc.
    via, end
        Two more points, for the second way.
    duration, law
        As in `line`; limits are those along the arc, m/s and m/s^2.

    Examples
    --------
    >>> from closedchain.model import paths
    >>> a = paths.arc((1, 0, 0), centre=(0, 0, 0), angle=3.141592653589793, duration=1)
    >>> b = paths.arc((1, 0, 0), via=(0, 1, 0), end=(-1, 0, 0), duration=1)
    >>> bool(abs(a.at(0.3).value - b.at(0.3).value).max() < 1e-15)
    True
    """
    first = point(start, "arc: its start")
    if via is not None or end is not None:
        if via is None or end is None or centre is not None or angle is not None:
            raise ModelError("arc: give start, via and end, or start, centre and angle")
        middle, turn, n = _through(first, point(via, "arc: via"), point(end, "arc: its end"))
    else:
        if centre is None or angle is None:
            raise ModelError("arc: give start, centre and angle, or start, via and end")
        middle, turn, n = point(centre, "arc: its centre"), plain(angle, "arc: the angle"), unit(normal, "arc")
    lever = first - middle
    lever = lever - n * (n @ lever)
    radius = float(np.linalg.norm(lever))
    if radius <= 1e-12 * max(float(np.abs(first).max()), 1e-300):
        raise ModelError(f"arc: its start {tuple(first.tolist())} lies on its axis: there is no radius")
    middle, side = first - lever, np.cross(n, lever)
    return along(
        lambda s: _on_circle(middle, lever, side, turn * s),
        duration=duration,
        law=law,
        way=abs(turn) * radius,
        name="arc",
    )


def _through(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
    """Centre, angle and normal of the arc from a over b to c."""
    u, w = b - a, c - a
    normal = np.cross(u, w)
    size = float(np.linalg.norm(normal))
    if size <= 1e-9 * float(np.linalg.norm(u) * np.linalg.norm(w)) or np.linalg.norm(c - b) == 0.0:
        said = ", ".join(str(tuple(x.tolist())) for x in (a, b, c))
        raise ModelError(f"arc: the points {said} lie on a straight line: use line, or move one of them")
    n = normal / size
    # the point with the same distance from all three
    middle = a + (np.cross(normal, u) * (w @ w) + np.cross(w, normal) * (u @ u)) / (2 * size**2)
    x = a - middle
    y = np.cross(n, x)
    angle = math.atan2(float((c - middle) @ y), float((c - middle) @ x)) % (2 * math.pi)
    return middle, angle, n


def _on_circle(middle: np.ndarray, x: np.ndarray, y: np.ndarray, angle: Number) -> tuple[Number, ...]:
    c, s = cos(angle), sin(angle)
    size = float(np.abs(x).max())
    x, y = size * snap(x / size), size * snap(y / size)  # what rounding left is no direction
    return tuple(m + a * c + b * s for m, a, b in zip(middle.tolist(), x.tolist(), y.tolist(), strict=True))


def circle(
    radius: float,
    *,
    period: float | None = None,
    duration: float | None = None,
    law: Law = "minimum-jerk",
    centre: Any = (0, 0, 0),
    axes: Any = XY,
) -> Path:
    """A circle, beginning on the first axis of its plane.

    Parameters
    ----------
    radius
        m.
    period
        s: again and again at constant speed.
    duration, law
        Instead of ``period``: once, from rest to rest. Limits are those along the circle, m/s and m/s^2.
    centre
        Three numbers; they may be parameters.
    axes
        Two perpendicular directions that span its plane.

    Examples
    --------
    >>> from closedchain.model import paths
    >>> paths.circle(0.1, period=2.0, centre=(0, 0, -0.5))
    Path(3 components, 2 s and on)
    """
    r = positive(radius, "circle: the radius")
    plane = _plane(centre, axes, "circle")
    way = 2 * math.pi * r
    return _rounds(lambda a: plane(r * cos(a), r * sin(a)), period, duration, law, way, "circle")


def rose(
    r0: float,
    k: int = 2,
    *,
    period: float | None = None,
    duration: float | None = None,
    law: Law = "minimum-jerk",
    centre: Any = (0, 0, 0),
    axes: Any = XY,
) -> Path:
    """A rose, ``r = r0 cos(k theta)`` with ``theta`` from 0 to 2 pi: 2 k petals if k is even, k if it is odd.

    Parameters
    ----------
    r0
        Length of a petal, m.
    k
        Whole number.
    period
        s: ``theta = 2 pi t / period``, again and again.
    duration, law
        Instead of ``period``: once, from rest to rest.
    centre
        Three numbers; they may be parameters.
    axes
        Two perpendicular directions that span its plane; it begins on the first of them.

    Examples
    --------
    >>> from closedchain.model import paths
    >>> paths.rose(0.05, period=2.0).at([0.0, 0.25, 0.5]).value.round(12) + 0.0
    array([[ 0.05,  0.  ,  0.  ],
           [ 0.  ,  0.  ,  0.  ],
           [ 0.  , -0.05,  0.  ]])
    """
    size, n = positive(r0, "rose: r0"), whole(k, "rose: k")
    plane = _plane(centre, axes, "rose")

    def curve(theta: Number) -> tuple[Number, ...]:
        r = size * cos(n * theta)
        return plane(r * cos(theta), r * sin(theta))

    return _rounds(curve, period, duration, law, None, "rose")


def sine(amplitude: float, period: float, *, centre: Any = 0.0, phase: float = 0.0) -> Path:
    """A coordinate that swings: ``centre + amplitude sin(2 pi t / period + phase)``.

    Examples
    --------
    >>> from closedchain.model import paths
    >>> paths.sine(0.3, period=2.0).at([0.5, 1.5]).value
    array([ 0.3, -0.3])
    """
    if listed(centre) is not None:
        raise ModelError(
            f"sine: a coordinate swings about one number, not about {centre!r}; for a point give a sine for each "
            "component: formula(x, y, z, duration=...)"
        )
    T = positive(period, "sine: the period")
    swing = plain(amplitude, "sine: the amplitude") * sin(2 * math.pi / T * t + plain(phase, "sine: the phase"))
    return Path((of_parameters(centre, "sine: its centre") + swing,), duration=T, endless=True)


def _plane(centre: Any, axes: Any, what: str) -> Callable[[Number, Number], tuple[Number, ...]]:
    """The place in the world of a point of a plane."""
    middle = place(centre, f"{what}: its centre")
    two = entries(axes, 2, f"{what}: axes are two perpendicular directions", "((1, 0, 0), (0, 1, 0))")
    if len(middle) != 3:
        raise ModelError(f"{what}: its centre is a point in space, (0, 0, 0), not {centre!r}")
    x, y, _ = zip(*from_two_axes(two[0], two[1], what), strict=True)
    return lambda u, w: tuple(m + a * u + b * w for m, a, b in zip(middle, x, y, strict=True))


def _rounds(
    curve: Callable[[Number], tuple[Number, ...]],
    period: float | None,
    duration: float | None,
    law: Law,
    way: float | None,
    name: str,
) -> Path:
    """A closed curve of an angle: again and again with a period, or once with a time law."""
    if period is None:
        return along(lambda s: curve(2 * math.pi * s), duration=duration, law=law, way=way, name=name)
    if duration is not None:
        raise ModelError(f"{name}: give a period (again and again), or a duration (once, from rest to rest), not both")
    T = positive(period, f"{name}: the period")
    return Path(tuple(curve(2 * math.pi / T * t)), duration=T, endless=True)
