"""Curves with a time law: any of them, and straight ones.

`along` is what paths with a law are made of: a function that gives the place for a progress s from 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from closedchain.arguments import listed, not_both
from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Expression, Number
from closedchain.model.paths.checks import instants, of_time, place, places, positive, seconds
from closedchain.model.paths.joining import chain
from closedchain.model.paths.laws import TimeLaw, find
from closedchain.model.paths.path import Path

Law = str | TimeLaw


def along(
    curve: Callable[[Number], Any],
    *,
    duration: float | None = None,
    law: Law = "minimum-jerk",
    way: float | None = None,
    name: str = "along",
) -> Path:
    """Any curve with any time law.

    Parameters
    ----------
    curve
        Function of the progress s, 0 to 1, that gives one number or three; written with ``cc.math.sin`` and so on.
    duration
        s; left out if the law has limits that choose it.
    law
        ``"minimum-jerk"``, ``"trapezoidal"``, ``"uniform"``, or a law with its options.
    way
        Length of the curve, m or rad, for laws with limits: the curve must be run through in proportion to s.
    name
        For messages.

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.model import paths
    >>> helix = paths.along(lambda s: (0.1 * cc.math.cos(6 * s), 0.1 * cc.math.sin(6 * s), 0.2 * s), duration=2.0)
    >>> helix
    Path(3 components, 2 s)
    """
    plan = find(law, name).schedule(duration, way, name)
    if not callable(curve) or isinstance(curve, Expression):
        raise ModelError(f"{name}: the curve is a function of the progress, lambda s: ..., not {curve!r}")
    at = curve(plan.progress)
    several = listed(at)
    parts = (at,) if several is None else several
    if len(parts) not in (1, 3):
        raise ModelError(f"{name}: the curve gives one number or three, not {at!r}")
    moved = tuple(of_time(x, f"{name}: the curve") for x in parts)
    return Path(moved, duration=plan.duration, breaks=plan.breaks)


def formula(*components: Any, duration: float) -> Path:
    """A path given by formulas: expressions or functions of time, or numbers; None leaves a component free.

    It goes on beyond its duration as the formulas say.

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.model import paths
    >>> paths.formula(0.1 * cc.math.cos(cc.t), lambda t: 0.05 * t**2, None, duration=2.0)
    Path(3 components, 2 s and on)
    """
    parts = [None if x is None else of_time(x, "formula") for x in components]
    return Path(tuple(parts), duration=positive(duration, "formula: the duration"), endless=True)


def rest(at: Any, duration: float) -> Path:
    """Stay at a place, one number or three, for some seconds."""
    return Path(place(at, "rest: the place"), duration=seconds(duration, "rest: the duration"))


def line(a: Any, b: Any, *, duration: float | None = None, law: Law = "minimum-jerk") -> Path:
    """A straight line from a to b; of one coordinate, if they are numbers.

    Parameters
    ----------
    a, b
        One number or three each. They may be parameters, if a duration is given.
    duration
        s; left out if the law has limits that choose it.
    law
        ``"minimum-jerk"``, ``"trapezoidal"``, ``"uniform"``, or a law with its options.

    Examples
    --------
    >>> from closedchain.model import paths
    >>> paths.line(0.0, 1.57, duration=1.0)
    Path(1 component, 1 s)
    """
    return _straight(place(a, "line: its beginning"), place(b, "line: its end"), duration, law, "line")


def _straight(a: tuple[Number, ...], b: tuple[Number, ...], duration: float | None, law: Law, name: str) -> Path:
    if len(a) != len(b):
        raise ModelError(f"{name}: it begins at {len(a)} number{'s' * (len(a) > 1)} and ends at {len(b)}")
    known = not any(isinstance(x, Expression) for x in (*a, *b))
    way = math.dist(a, b) if known else None  # type: ignore[arg-type]
    return along(
        lambda s: tuple(x + (y - x) * s for x, y in zip(a, b, strict=True)),
        duration=duration,
        law=law,
        way=way,
        name=name,
    )


def points(at: Any, *, duration: float | None = None, times: Any = None, law: Law = "minimum-jerk") -> Path:
    """Straight moves from point to point, with the time law on each of them; most laws stop at every point.

    Parameters
    ----------
    at
        At least two, one number or three each.
    duration
        Of all moves together, s: each gets its part by its length.
    times
        When to be at each point, s, beginning with 0. Either this or ``duration``, or a law with limits.
    law
        ``"minimum-jerk"``, ``"trapezoidal"``, ``"uniform"``, or a law with its options.

    Examples
    --------
    >>> from closedchain.model import paths
    >>> paths.points([0.0, 1.0, 0.5], duration=3.0).at([0, 2, 3]).value
    array([0. , 1. , 0.5])
    """
    stops = places(at, "points")
    ways = np.linalg.norm(np.diff(stops, axis=0), axis=1)
    not_both("points", duration=duration, times=times)
    spans: list[float | None] = [None] * len(ways)
    if times is not None:
        when = instants(times, len(stops), "points")
        if when[0] != 0.0:
            raise ModelError(f"points: the first time is {when[0]:g} s: begin at 0, and use .delayed({when[0]:g})")
        spans = np.diff(when).tolist()
    elif duration is not None:
        for i in np.flatnonzero(ways == 0.0):
            raise ModelError(
                f"points {i + 1} and {i + 2} are the same, so their move has no part of the duration: give times"
            )
        spans = (positive(duration, "points: the duration") * ways / ways.sum()).tolist()
    moves = [
        _straight(tuple(a), tuple(b), span, law, f"points: move {i + 1}")
        for i, (a, b, span) in enumerate(zip(stops[:-1].tolist(), stops[1:].tolist(), spans, strict=True))
    ]
    return chain(*moves)
