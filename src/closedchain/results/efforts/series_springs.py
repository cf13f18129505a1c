"""Springs between motors and joints along a path: how far they are deflected, and how the motors must move.

The path moves the joints; the shaft of a motor behind a spring moves as the load asks, ``theta = q + delta``. With the
joint itself taken for a further actuator, inverse dynamics tells the load L that has to come through the spring,

    k delta + d delta' = L(t)

which does not depend on delta: the joints move as they are told. Without damping delta follows from L at once; with it
the equation is integrated, from where it would be if L had gone on before as it begins. L is known at samples: its
rates, and with them those of the shaft, which the inertia of the rotor feels, are those of a spline through them (M. W.
Spong, Journal of Dynamic Systems, Measurement, and Control 109 (1987) 310-319: elastic joints are determined by the
motion of the load and its derivatives up to the fourth).

Shapes of flexible bodies are left to the forces, too: see `results.efforts.shapes_along`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from closedchain.derive.equations import Freedom
from closedchain.model.actuators.series_elastic import SeriesElastic
from closedchain.model.mechanism import Mechanism
from closedchain.results.motion.motion import Motion
from closedchain.results.motion.splines import parts, rates, through

SETTLED = 1e-6  # of the largest force: what may be missing at a joint behind a spring


@dataclass(frozen=True)
class SeriesSpring:
    """A spring between the shaft of a motor and the freedom that it drives."""

    shaft: Freedom
    output: Freedom
    stiffness: float
    damping: float


def series_springs(mechanism: Mechanism, motion: Motion, actuators: Sequence[Freedom]) -> list[SeriesSpring]:
    """The springs whose motors are asked for, and not the joints behind them."""
    value = mechanism.values(motion.parameters)
    return [
        SeriesSpring((x.joint, x.index), x.output, value(x.model.stiffness), value(x.model.damping))
        for x in mechanism.actuators.values()
        if isinstance(x.model, SeriesElastic) and (x.joint, x.index) in actuators and x.output not in actuators
    ]


def deflected(motion: Motion, springs: Sequence[SeriesSpring], load: np.ndarray) -> Motion:
    """The motion with shafts so far ahead of their joints that the springs give the load (n, springs)."""
    samples = motion.samples
    q, v, a = samples.q.copy(), samples.v.copy(), samples.a.copy()
    for k, spring in enumerate(springs):
        link = samples.equations.topology.tree_joints[spring.shaft[0]]
        delta, rate, faster = _deflection(samples.t, load[:, k], motion.breaks, spring)
        q[:, link.q.start] += delta
        v[:, link.v.start] += rate
        a[:, link.v.start] += faster
    moved = replace(samples, q=q, v=v, a=a)
    return Motion(moved, motion.parameters, motion.breaks, motion.conditioning, motion.idle)


def _deflection(
    t: np.ndarray, load: np.ndarray, breaks: Sequence[float], spring: SeriesSpring
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How far a spring is deflected under a load over time, and its rates."""
    L, L_dot, L_ddot = rates(t, load, breaks)
    k, d = spring.stiffness, spring.damping
    if not d or len(t) < 2:
        return L / k, L_dot / k, L_ddot / k
    from scipy.integrate import solve_ivp

    delta = np.empty(len(t))
    state = (L[0] - d / k * (L_dot[0] - d / k * L_ddot[0])) / k
    for first, last in parts(t, breaks):
        spline = through(t[first:last], load[first:last])
        end = t[min(last, len(t) - 1)]  # where the next part begins
        if spline is None:
            delta[first:last] = state
            continue
        found = solve_ivp(
            lambda s, x, L=spline: (L(s) - k * x) / d,
            (t[first], end),
            [state],
            method="Radau",  # d / k may be short beside the samples
            dense_output=True,
            rtol=1e-9,
            atol=1e-11 * max(float(np.abs(load).max()) / k, 1e-300),
        )
        delta[first:last] = found.sol(t[first:last])[0]
        state = float(found.y[0, -1])
    rate = (L - k * delta) / d
    return delta, rate, (L_dot - k * rate) / d
