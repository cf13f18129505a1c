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
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from closedchain.derive.equations import Equations, Freedom
from closedchain.errors import AssemblyError, ModelError, RunWarning, warn
from closedchain.lock import locked
from closedchain.pose.follow import Shapes
from closedchain.results.efforts.along import Question, continued, solved
from closedchain.results.motion.motion import Motion
from closedchain.results.motion.splines import parts, through

VIBRATING = (
    "Take a smoother or slower path or more samples; or prescribe the motion with m.drive(...) and simulate, which "
    "tells the efforts with all vibrations"
)
TREMBLES, VIBRATES = 1e-6, 1e-3  # of the forces: what may be missing along flexible bodies, with and without a warning
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


def bent_as_loaded(
    motion: Motion, question: Question, follow_again: Callable[[Shapes], Motion] | None = None
) -> Motion:
    """The motion with flexible bodies bent as it bends them.

    ``follow_again`` follows the path with given shapes; without it the bodies must be bent as they are already.
    """
    e, bent = motion.samples.equations, shape_freedoms(motion.samples.equations)
    name = e.topology.mechanism.name

    def lacking(shapes: Shapes | None) -> tuple[Motion, np.ndarray, np.ndarray, float]:
        try:
            found = motion if shapes is None or follow_again is None else follow_again(shapes)
        except AssemblyError:
            raise ModelError(
                f"along this path the flexible bodies of {name!r} would vibrate: bent as its accelerations ask, they "
                f"cannot be put together. {VIBRATING}"
            ) from None
        x, regular, u = solved(found, replace(question, method="projection"))
        size = float((x.force_size / x.length).max(initial=0.0))
        return found, found.t, continued(found.t, regular, u)[:, -len(bent) :], size

    if follow_again is not None:
        found, left = settle(lacking, shape_stiffness(e, motion.samples.parameters), motion.breaks)
    else:
        found, _, u, size = lacking(None)
        left = np.abs(u).max(initial=0.0) / max(size, 1e-300)
    if not left <= VIBRATES:
        worst = e.topology.mechanism.flexible[bent[0][0]].labels[0]
        if follow_again is None:
            raise ModelError(
                f"this motion of {name!r} does not bend its flexible bodies as their stiffness asks: {left:.1e} of the "
                f"forces along {worst!r} and the like are missing. Give the path itself, of joints or frames, and they "
                "are bent as it takes"
            )
        raise ModelError(
            f"along this path the flexible bodies of {name!r} would vibrate: without vibration {left:.1e} of the "
            f"forces are missing. {VIBRATING}"
        )
    if left > TREMBLES:
        warn(
            f"along this path the flexible bodies of {name!r} cannot be quite free of vibration: {left:.1e} of the "
            "forces are missing in these efforts",
            RunWarning,
        )
    return found


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
