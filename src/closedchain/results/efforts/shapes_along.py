"""Shapes of flexible bodies along a path: how a motion bends them, and with them the way of the motors.

A path moves joints or frames; the shapes of flexible bodies are left to the forces. With every coordinate of a shape
taken for a further actuator, inverse dynamics tells the force u that it lacks along the motion; elasticity gives it
when the shape yields:

    eta <- eta - K^-1 u(t)

Then the path is followed again with these shapes and their rates (splines through the samples), until nothing is
lacking. At rest this is Newton's method for the static deflection. In motion it is the expansion in the ratio of the
frequencies of the path and of the links: it converges to the one motion without vibration, and the better, the slower
the path is beside the links. Where it does not converge, the links would vibrate: that is a question for a simulation,
with motions prescribed by ``m.drive(...)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from closedchain.derive.equations import Equations, Freedom
from closedchain.lock import locked
from closedchain.pose.follow import Shapes
from closedchain.results.motion.thinning import parts, through

SWEEPS = 30
STILL = 1e-10  # of the largest force: a shape that lacks no more is found


def shape_freedoms(e: Equations) -> tuple[Freedom, ...]:
    """All coordinates of shapes, as further actuators."""
    shapes = [link.shape for link in e.topology.links if link.shape is not None]
    return tuple((x.name, i) for x in shapes for i in range(x.type.nv))


@locked
def shape_stiffness(e: Equations, p: np.ndarray) -> np.ndarray:
    """Stiffness of all shapes at parameter values p."""
    beams = [traced.beam for traced in e.limbs.links if traced.beam is not None]
    K = ca.diagcat(*(beam.K for beam in beams))
    return np.array(ca.Function("K", [e.limbs.p], [ca.densify(K)])(p))


def settle(
    lacking: Callable[[Shapes | None], tuple[Any, np.ndarray, np.ndarray, float]],
    K: np.ndarray,
    breaks: Sequence[float],
) -> tuple[Any, float]:
    """Let the shapes yield until nothing is lacking.

    Parameters
    ----------
    lacking
        Follows the path with given shapes, and tells: anything, the times, what each shape lacks there (n, shapes),
        and how large the forces are.
    K
        Stiffness of the shapes.
    breaks
        Times at which the path's acceleration jumps.

    Returns
    -------
    What ``lacking`` told first of the best shapes, and which part of the forces they lack.
    """
    found, t, u, size = lacking(None)
    eta = np.zeros_like(u)
    best = (np.abs(u).max(initial=0.0) / max(size, 1e-300), found)
    for _ in range(SWEEPS):
        if best[0] <= STILL:
            break
        eta = eta - np.linalg.solve(K, u.T).T
        found, t, u, size = lacking(through_samples(t, eta, breaks))
        left = np.abs(u).max(initial=0.0) / max(size, 1e-300)
        if not left < best[0]:
            break
        best = (left, found)
    return best[1], best[0]


def through_samples(t: np.ndarray, eta: np.ndarray, breaks: Sequence[float]) -> Shapes:
    """Shapes between samples: splines that end at the breaks."""
    pieces = parts(t, breaks)
    splines = [through(t[first:last], eta[first:last]) for first, last in pieces]
    begins = np.array([t[first] for first, _ in pieces[1:]])
    zero = np.zeros(eta.shape[1])

    def at(time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        k = int(np.searchsorted(begins, time, side="right"))
        spline = splines[k]
        if spline is None:
            return eta[pieces[k][0]], zero, zero
        return spline(time), spline(time, nu=1), spline(time, nu=2) if spline.k > 1 else zero

    return at
