"""Splines of time: piecewise polynomials with coefficients local to each piece, so that numbers stay accurate.

Where a spline does not end at rest a condition on time ends it: a run that follows it then knows the instant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from closedchain.arguments import exactly_one, known
from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Expression, Number, t
from closedchain.model.expressions.functions import where
from closedchain.model.expressions.operations import horner
from closedchain.model.paths.checks import instants, places, positive
from closedchain.model.paths.laws import find
from closedchain.model.paths.path import Path

AT_REST = 1e-12  # of its size: an end whose velocity and acceleration are smaller is at rest


ENDS = ("natural", "clamped", "not-a-knot", "periodic", "rest")


def spline(
    points: Any, times: Any = None, *, duration: float | None = None, ends: str = "natural", law: Any = None
) -> Path:
    """A twice differentiable curve through points; of one coordinate, if they are numbers.

    Parameters
    ----------
    points
        At least two, one number or three each.
    times
        When to be at each point, s.
    duration
        Instead of times, s: each span gets its part by the distance of its points.
    ends
        ``"natural"`` (no acceleration at the ends), ``"clamped"`` (no velocity), ``"not-a-knot"``, ``"periodic"`` (goes
        on and on; the last point is the first one), or ``"rest"`` (neither velocity nor acceleration: it is then a
        spline of degree five, for motions that begin and end at rest). All others are cubic.
    law
        With ``duration``: a time law that runs through the curve from 0 to 1, as in `line`.

    Examples
    --------
    >>> from closedchain.model import paths
    >>> paths.spline([0.0, 1.0, 0.5], times=[0, 1, 2], ends="rest")
    Path(1 component, 2 s)
    """
    at = places(points, "spline")
    fitted = fit(at, np.linalg.norm(np.diff(at, axis=0), axis=1), times, duration, ends, law, "spline")
    return Path(fitted.entries, None, fitted.duration, fitted.breaks, fitted.endless)


def fit(
    values: np.ndarray, ways: np.ndarray, times: Any, duration: float | None, ends: str, law: Any, what: str
) -> Fitted:
    """Splines through the columns of ``values`` (n, k), for `spline` and for `orientation.turns`.

    ``ways`` are the distances between neighbours, by which a duration is spread if there are no times.
    """
    known(f"{what}: unknown ends", ends, ENDS)
    exactly_one(what, times=times, duration=duration)
    if times is not None:
        at = instants(times, len(values), what)
        if law is not None:
            raise ModelError(f"{what}: times at the points leave nothing to a time law: give the duration instead")
    else:
        for i in np.flatnonzero(ways == 0.0):
            raise ModelError(f"{what}: points {i + 1} and {i + 2} are the same: give the times at the points")
        at = np.append(0.0, np.cumsum(ways)) * (positive(duration, f"{what}: the duration") / ways.sum())
    if ends == "periodic":
        if np.abs(values[0] - values[-1]).max() > 1e-9 * np.abs(values).max():
            raise ModelError(f"{what}: a periodic one ends where it begins: repeat the first point at the end")
        if at[0] != 0.0:
            raise ModelError(f"{what}: a periodic one begins at the time 0, not at {at[0]:g} s")
    rows = _coefficients(at, values, ends)
    T = float(at[-1])
    if law is not None:
        plan = find(law, what).schedule(T, None, what)
        return Fitted(at, tuple(_pieces(T * plan.progress, at, c) for c in rows), T, plan.breaks, False)
    if ends == "periodic":
        return Fitted(at, tuple(_pieces(t % T, at, c) for c in rows), T, (), True)
    ended = [of_time(at, c) for c in rows]
    return Fitted(at, tuple(x for x, _ in ended), T, tuple({jump for _, jumps in ended for jump in jumps}), False)


@dataclass(frozen=True, eq=False)
class Fitted:
    """What `fit` gives: the times at the points, one expression for each column, and what a `Path` needs to know."""

    times: np.ndarray
    entries: tuple[Number, ...]
    duration: float
    breaks: tuple[float, ...]
    endless: bool


def _coefficients(at: np.ndarray, values: np.ndarray, ends: str) -> np.ndarray:
    """Local coefficients, lowest power first: (columns, pieces, powers)."""
    from scipy.interpolate import CubicSpline, make_interp_spline  # a second to import

    if ends == "rest":
        still = [(order, np.zeros(values.shape[1])) for order in (1, 2)]
        made = make_interp_spline(at, values, k=5, bc_type=(still, still))
        powers = [made(at[:-1], nu=order) / math.factorial(order) for order in range(6)]
        return np.moveaxis(np.array(powers), (0, 1, 2), (2, 1, 0))
    closed = np.vstack([values[:-1], values[:1]]) if ends == "periodic" else values
    return np.moveaxis(CubicSpline(at, closed, bc_type=ends).c[::-1], (0, 1, 2), (2, 1, 0))


def through(times: Any, values: Any, rates: Any, accelerations: Any) -> Number:
    """Quintic Hermite spline through values with given first and second derivatives: twice differentiable.

    Parameters
    ----------
    times
        n strictly increasing times, s, n >= 2.
    values, rates, accelerations
        At these times.

    Returns
    -------
    Expression
        Of ``cc.t``. Before the first time it is the first value, after the last time the last one.

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.model.paths.splines import through
    >>> x = through([0, 1], [0, 1], [0, 0], [0, 0])
    >>> float(x.evaluate(lambda leaf: 0.5))
    0.5
    """
    y = _numbers(values, "values")
    at = instants(times, len(y), "through", negative=True)
    y, v, a = y, _numbers(rates, "rates", len(at)), _numbers(accelerations, "accelerations", len(at))
    if len(at) < 2:
        raise ModelError("through needs at least two times")
    h = np.diff(at)
    # what is left of a step after the parabola of its beginning, in units of the step
    D = y[1:] - y[:-1] - h * (v[:-1] + h * a[:-1] / 2)
    E = h * (v[1:] - v[:-1] - h * a[:-1])
    F = h**2 * (a[1:] - a[:-1])
    rows = np.column_stack(
        [
            y[:-1],
            v[:-1],
            a[:-1] / 2,
            (10 * D - 4 * E + F / 2) / h**3,
            (-15 * D + 7 * E - F) / h**4,
            (6 * D - 3 * E + F / 2) / h**5,
        ]
    )
    return of_time(at, rows)[0]


def _numbers(values: Any, what: str, count: int | None = None) -> np.ndarray:
    try:
        array = np.asarray(values, float)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if array.ndim != 1 or not np.isfinite(array).all() or (count is not None and len(array) != count):
        asked = f"{count} " if count is not None else ""
        raise ModelError(f"through needs {asked}finite numbers as its {what}, got {values!r}")
    return array


def _pieces(x: Number, breaks: np.ndarray, rows: np.ndarray) -> Number:
    """One node for all pieces; a plain number if they are all the same constant."""
    if np.ptp(rows[:, 0]) == 0.0 and not rows[:, 1:].any():
        return float(rows[0, 0])
    return Expression("polynomials", x, tuple(breaks.tolist()), tuple(map(tuple, rows.tolist())), 0)


def of_time(breaks: np.ndarray, rows: np.ndarray) -> tuple[Number, tuple[float, ...]]:
    """A smooth piecewise polynomial of ``cc.t``, and those of its ends that it does not reach at rest."""
    node = _pieces(t, breaks, rows)
    h = np.diff(breaks)
    sizes = [float(np.max(horner(np.abs(rows).T, h, order))) for order in (1, 2)]
    first = [horner(rows[0], 0.0, order) for order in (1, 2)]
    last = [horner(rows[-1], h[-1], order) for order in (1, 2)]
    jumps = []
    if any(abs(x) > AT_REST * size for x, size in zip(last, sizes, strict=True)):
        node = where(t <= float(breaks[-1]), node, float(horner(rows[-1], h[-1])))
        jumps.append(float(breaks[-1]))
    if any(abs(x) > AT_REST * size for x, size in zip(first, sizes, strict=True)):
        node = where(t < float(breaks[0]), float(rows[0, 0]), node)
        jumps.append(float(breaks[0]))
    return node, tuple(jumps)
