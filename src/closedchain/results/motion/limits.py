"""Coordinates that leave the limits of their joints: when, and how far."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

TOUCHED = 1e-9  # of the limit, or of the largest value: a limit that is reached exactly is not passed


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
        for begin, end, worst in _stretches(
            t, sign * (values - limit), sign * rates, TOUCHED * max(abs(limit), float(np.abs(values).max()))
        )
    ]


def _stretches(t: np.ndarray, beyond: np.ndarray, rates: np.ndarray, least: float) -> list[tuple[float, float, float]]:
    """Intervals of time in which something is positive, also between samples, with its largest value there."""
    from scipy.interpolate import CubicHermiteSpline

    if len(t) < 2:
        return [(float(t[0]), float(t[0]), float(beyond[0]))] if beyond[0] > least else []
    curve = CubicHermiteSpline(t, beyond, rates)
    edges = np.unique(np.concatenate([[t[0]], curve.roots(extrapolate=False), [t[-1]]]))
    tops = curve.derivative().roots(extrapolate=False)
    out: list[tuple[float, float, float]] = []
    for begin, end in itertools.pairwise(edges[np.isfinite(edges)]):
        inside = tops[(tops > begin) & (tops < end)]
        worst = float(curve(np.concatenate([[begin, end], inside])).max())
        if worst <= least or curve((begin + end) / 2) <= 0:
            continue
        if out and out[-1][1] == begin:  # a limit that is touched from outside
            before = out.pop()
            begin, worst = before[0], max(worst, before[2])
        out.append((float(begin), float(end), worst))
    return out
