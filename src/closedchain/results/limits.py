"""Coordinates that leave the limits of their joints: when, and how far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Violation:
    """A coordinate that leaves its limits: from when to when, how far, and which limit."""

    coordinate: str
    begin: float
    end: float
    worst: float
    limit: float
    unit: str

    def __str__(self) -> str:
        return (
            f"{self.coordinate!r} is beyond its limit {self.limit:.6g} {self.unit} from t = {self.begin:.6g} to "
            f"{self.end:.6g} s; at most it is {self.worst:.6g} {self.unit}"
        )


def violations(
    label: str, unit: str, limits: tuple[float, float], t: np.ndarray, values: np.ndarray, rates: np.ndarray
) -> list[Violation]:
    """Where a coordinate is outside its limits; times between samples are those of cubics with its rates."""
    return [
        Violation(label, begin, end, limit + sign * worst, limit, unit)
        for limit, sign in zip(limits, (-1.0, 1.0), strict=True)
        for begin, end, worst in _stretches(t, sign * (values - limit), sign * rates)
    ]


def _stretches(t: np.ndarray, beyond: np.ndarray, rates: np.ndarray) -> list[tuple[float, float, float]]:
    """Intervals of time in which something is positive, with its largest value at a sample there."""
    outside = beyond > 1e-9
    if not outside.any():
        return []
    from scipy.interpolate import CubicHermiteSpline

    roots = CubicHermiteSpline(t, beyond, rates).roots(extrapolate=False) if len(t) > 1 else np.zeros(0)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], outside, [False]])))
    out = []
    for first, after in zip(edges[::2], edges[1::2], strict=True):
        before = roots[(roots >= t[max(first - 1, 0)]) & (roots <= t[first])]
        later = roots[(roots >= t[after - 1]) & (roots <= t[min(after, len(t) - 1)])]
        begin = before.max(initial=t[0]) if first else t[0]
        end = later.min(initial=t[-1]) if after < len(t) else t[-1]
        out.append((float(begin), float(end), float(beyond[first:after].max())))
    return out
