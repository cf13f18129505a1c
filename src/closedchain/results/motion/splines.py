"""Functions of time through samples, with as few pieces as they need: a run with them then costs less.

Between two samples that are kept lies the polynomial of degree five that has their values and first two derivatives.
Samples are left out where it is right without them, in value and in both derivatives.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from closedchain.model.expressions.expression import Number
from closedchain.model.expressions.expression import t as time
from closedchain.model.expressions.functions import where
from closedchain.model.paths import splines

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

CLOSE = 1e-8  # of the range of values, and of that of each derivative


def thinned(t: np.ndarray, y: np.ndarray, v: np.ndarray, a: np.ndarray) -> Number:
    """An expression of time through values y, rates v and accelerations a at times t."""
    if len(t) < 2:
        return float(y[0])
    at = kept(t, y, v, a)
    return splines.through(t[at], y[at], v[at], a[at])


def pieced(parts: Sequence[Number], breaks: Sequence[float]) -> Number:
    """Expressions of time one after another; a run steps onto the times between them."""
    out = parts[-1]
    for part, until in zip(reversed(parts[:-1]), reversed(breaks), strict=True):
        out = where(time < float(until), part, out)
    return out


def kept(t: np.ndarray, y: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[int]:
    """Numbers of the samples that are needed."""
    # what rounding leaves of a value is no reason to keep a sample
    bounds = [CLOSE * float(np.ptp(x)) + 1e-13 * float(np.abs(x).max()) for x in (y, v, a)]
    found, open_ = [0], [(0, len(t) - 1)]
    while open_:
        first, last = open_.pop()
        if last - first < 2 or _right(t, (y, v, a), first, last, bounds):
            found.append(last)
            continue
        middle = (first + last) // 2
        open_ += [(middle, last), (first, middle)]
    return found


def _right(
    t: np.ndarray, derivatives: tuple[np.ndarray, np.ndarray, np.ndarray], first: int, last: int, bounds: list[float]
) -> bool:
    """Whether the polynomial between two samples agrees with those inside; derivatives count less, by orders of h."""
    from scipy.interpolate import BPoly

    inside = slice(first + 1, last)
    polynomial = BPoly.from_derivatives(t[[first, last]], [[x[k] for x in derivatives] for k in (first, last)])
    slack = (1.0, 10.0, 100.0)
    return all(
        float(np.abs(polynomial(t[inside], nu=k) - x[inside]).max()) <= slack[k] * bounds[k]
        for k, x in enumerate(derivatives)
    )


def rates(t: np.ndarray, values: np.ndarray, breaks: Sequence[float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values at samples and their first two derivatives, of splines that end at the breaks."""
    out = [values.copy(), np.zeros(len(t)), np.zeros(len(t))]
    for first, last in parts(t, breaks):
        spline = through(t[first:last], values[first:last])
        if spline is not None:
            for order in (1, 2):
                out[order][first:last] = spline(t[first:last], nu=order) if order <= spline.k else 0.0
    return out[0], out[1], out[2]


def parts(t: np.ndarray, breaks: Sequence[float]) -> list[tuple[int, int]]:
    """Samples between breaks: the first one, and the one after the last, of each part."""
    inside = [x for x in breaks if t[0] < x < t[-1]]
    return list(itertools.pairwise([0, *np.searchsorted(t, inside, side="left").tolist(), len(t)]))


def through(t: np.ndarray, values: np.ndarray) -> BSpline | None:
    """A spline through samples: of degree five if there are enough; None through fewer than two."""
    from scipy.interpolate import make_interp_spline

    return None if len(t) < 2 else make_interp_spline(t, values, k=5 if len(t) > 5 else 1)
