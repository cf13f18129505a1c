"""Paths as equations: what frames and coordinates are asked to do, beside the closures of the loops.

Each prescribed quantity y gives a row: its residual ``y(q) - y_d(t)``, its Jacobian J by velocities, and what the
rates must be::

    J v = y_d'          J a + b = y_d''

The time derivatives of y_d are traced, never differenced. For a rotation ``R_d(t)`` they are the angular velocity
``w_d`` with ``R_d' = w_d x R_d`` and its derivative; the residual is the rotation vector from ``R_d`` to R in world
axes, measured as ``2 tan(angle / 2)`` like everywhere, whose rate at zero is the difference of the angular velocities.

The theory is in ``docs/theory/inverse_dynamics.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import casadi as ca

from closedchain.derive.equations import Equations
from closedchain.derive.relative import Rows
from closedchain.derive.spatial import tidy
from closedchain.lock import locked
from closedchain.model.targets import Targets


@dataclass(frozen=True, eq=False)
class Along:
    """The rows of all targets: residual, Jacobian, rate, and acceleration less its bias; functions of ``t, q, v, p``.

    ``names`` says of each row what it prescribes; ``turns`` whether its residual is an angle.
    """

    residual: ca.SX
    J: ca.SX
    rate: ca.SX
    acceleration: ca.SX
    names: tuple[str, ...]
    turns: tuple[bool, ...]

    def __len__(self) -> int:
        return len(self.names)


@locked
def trace_along(e: Equations, targets: Targets) -> Along:
    """Trace the rows of a motion that is asked for."""
    t, n = e.limbs.t, e.topology.nv
    residual, J, rate, acceleration = [ca.SX(0, 1)], [ca.SX(0, n)], [ca.SX(0, 1)], [ca.SX(0, 1)]
    names: list[str] = []
    turns: list[bool] = []
    for target in targets.coordinates:
        rows = e.measures.scalar(target.joint.name, target.index)
        y = e.expression(target.position)
        if target.ahead_of is not None:
            other = e.measures.scalar(*target.ahead_of)
            rows = Rows(rows.value - other.value, ca.sparsify(rows.J - other.J), rows.bias - other.bias, {})
        off = rows.value - y
        turning = target.joint.type.coordinate_units[target.index] == "rad"
        known = {target.joint.name, target.ahead_of[0] if target.ahead_of else target.joint.name} <= set(
            e.topology.tree_joints
        )
        if not known and target.joint.type.wraps(target.index):
            off = off - 2 * math.pi * ca.floor(off / (2 * math.pi) + 0.5)  # measured up to whole turns
        residual.append(off)
        J.append(rows.J)
        rate.append(ca.jacobian(y, t))
        acceleration.append(ca.jacobian(rate[-1], t) - rows.bias)
        names.append(target.name)
        turns.append(turning)
    fall = e.limbs.vector(e.topology.mechanism.gravity)  # the recursion counts it as an acceleration of the ground
    for frame_target in targets.frames:
        at = e.motion.frame(frame_target.frame)
        for axis, x in enumerate(frame_target.position):
            if x is None:
                continue
            y = e.expression(x)
            residual.append(ca.densify(at.X.r)[axis] - y)
            J.append(at.J.lin[axis, :])
            rate.append(ca.jacobian(y, t))
            acceleration.append(ca.jacobian(rate[-1], t) - ca.densify(at.bias.lin + fall)[axis])
            names.append(f"{frame_target.name} {'xyz'[axis]}")
            turns.append(False)
        if frame_target.rotation is not None:
            R_d = ca.blockcat([[e.expression(x) for x in row] for row in frame_target.rotation])
            w_d = _spin(R_d, t)
            Q = R_d.T @ ca.densify(at.X.R)
            off = 2 * ca.vertcat(Q[2, 1] - Q[1, 2], Q[0, 2] - Q[2, 0], Q[1, 0] - Q[0, 1]) / (1 + ca.trace(Q))
            residual.append(R_d @ off)
            J.append(at.J.ang)
            rate.append(w_d)
            acceleration.append(ca.jacobian(w_d, t) - ca.densify(at.bias.ang))
            names += [f"{frame_target.name} turn {a}" for a in "xyz"]
            turns += [True] * 3
    return Along(
        ca.vertcat(*residual), ca.vertcat(*J), ca.vertcat(*rate), ca.vertcat(*acceleration), tuple(names), tuple(turns)
    )


def _spin(R: ca.SX, t: ca.SX) -> ca.SX:
    """Angular velocity of a rotation that depends on time: the axial vector of ``R' R^T``."""
    rate = ca.reshape(ca.jacobian(ca.vec(ca.densify(R)), t), 3, 3)
    W = tidy(rate @ R.T)
    return ca.densify(ca.vertcat(W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]) / 2)
