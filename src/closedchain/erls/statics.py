"""Displacements at rest: how beams sag at a pose while something holds the coordinates q.

What holds them are efforts at their joints, as of brakes: unknown numbers tau beside the displacements u,

    r(u, q) - H tau = 0,      H = (d rate / d y')' of the true joint rates

with as many rows as unknowns, since as many displacements are zeroed as there are coordinates.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from closedchain.derive.erls.loads import TrueJoints
from closedchain.erls.matrices import derivative
from closedchain.erls.system import System
from closedchain.erls.workspace import Workspace
from closedchain.errors import ModelError
from closedchain.lock import locked

ITERATIONS = 30
RESTS = 1e-12  # rad, or of the longest beam: a step of this size changes nothing
CONTRACTS = 0.9  # of the step before: what the next one is at most


@locked
def holding(system: System) -> np.ndarray:
    """Forces (n, n_q) on y by unit efforts at the true joints of the coordinates q, undeformed."""
    e, d, traced = system.e, system.d, system.compiled.traced
    true = TrueJoints(d)
    out = np.zeros((system.n, system.n_q))
    rates = [ca.SX(0, 1)]
    for k in system.independent:
        link = next(x for x in e.topology.links if x.v.start <= k < x.v.stop)
        rates.append(true.velocities(link.joint)[k - link.v.start])
    rate = ca.densify(ca.vertcat(*rates))
    by_u, by_v = ca.jacobian(rate, d.u_dot), ca.jacobian(rate, e.limbs.v) @ traced.motions.S
    f = ca.Function("H", [e.limbs.t, e.limbs.q, d.u, e.limbs.p], [ca.densify(ca.horzcat(by_u, by_v))])
    H = np.array(f(system.start.t, system.start.q, np.zeros(system.n_u), system.p))
    out[system.n_chain :] = H.reshape(system.n_q, system.n_u + system.n_q).T
    return out


def sagged(system: System) -> np.ndarray:
    """The state y (n,) at rest, at the coordinates q of the start."""
    ws, t = Workspace(system), system.start.t
    y, _ = system.at_rest()
    none = np.zeros(system.n)
    rows = np.r_[: system.n_chain, system.n_chain + ws.kept.rows]
    zeroed = set(system.zeroed.tolist())
    free = [k for k in range(system.n - system.n_q) if k not in zeroed]
    H, size, of_rows = holding(system)[rows], np.inf, system.sizes[rows]
    for _ in range(ITERATIONS):
        # rows as energies, columns of one length: what is solved has no units
        K = derivative(ws, t, (y, none, none), 0, free)[rows]
        Z = np.hstack([K, -H]) * of_rows[:, None]
        lengths = np.linalg.norm(Z, axis=0)
        step = np.linalg.lstsq(Z / lengths, -ws.residual(t, y, none, none)[rows] * of_rows)[0] / lengths
        step = step[: len(free)]
        before, size = size, float(np.abs(step / system.sizes[free]).max(initial=0.0))
        if not size < max(CONTRACTS * before, RESTS):
            break
        y[free] += step
        if size < RESTS:
            return y
    raise ModelError(
        f"the beams of {system.mechanism.name!r} do not come to rest at the start (displacements still change by "
        f"{size:.1e} rad, or of the longest beam): loads may be too large for small displacements, or change "
        "too fast with them; start undeformed, cc.ERLS(start='undeformed')"
    )
