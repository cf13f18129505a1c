"""Coordinates and velocities of any joint, also of one that is cut: there they are measured on the relative pose.

The theory is in ``docs/theory/equations.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import casadi as ca

from closedchain.cut.topology import Counter, ShapeCoordinates
from closedchain.derive.limbs import Limbs
from closedchain.derive.relative import Pair, Rows
from closedchain.model.parts import Joint


def _angle_z(R_P: ca.SX, R_S: ca.SX) -> ca.SX:
    return ca.atan2(R_P[:, 1].T @ R_S[:, 0], R_P[:, 0].T @ R_S[:, 0])


def _universal(R_P: ca.SX, R_S: ca.SX, d: ca.SX, pitch: ca.SX) -> ca.SX:
    Q = R_P.T @ R_S  # = Rx(angle1) Ry(angle2)
    return ca.vertcat(ca.atan2(Q[2, 1], Q[1, 1]), ca.atan2(Q[0, 2], Q[0, 0]))


# coordinates from the relative pose; angles come out between -pi and pi, a counter in q tells the turns
COORDINATES: dict[str, Callable[[ca.SX, ca.SX, ca.SX, ca.SX], ca.SX]] = {
    "revolute": lambda P, S, d, h: _angle_z(P, S),
    "prismatic": lambda P, S, d, h: P[:, 2].T @ d,
    "cylindrical": lambda P, S, d, h: ca.vertcat(_angle_z(P, S), P[:, 2].T @ d),
    "screw": lambda P, S, d, h: P[:, 2].T @ d / h,
    "universal": _universal,
    "planar": lambda P, S, d, h: ca.vertcat(P[:, 0].T @ d, P[:, 1].T @ d, _angle_z(P, S)),
    "weld": lambda P, S, d, h: ca.SX(0, 1),
}


Measured = Joint | ShapeCoordinates


class JointMeasures:
    """``q``, ``v`` and the velocity Jacobian of every joint, in a tree or cut."""

    def __init__(self, limbs: Limbs, pairs: dict[str, Pair]) -> None:
        self.limbs = limbs
        self.pairs = pairs
        self._rows: dict[str, Rows] = {}

    def coordinates(self, joint: Measured) -> ca.SX:
        """Coordinates of a joint, or of the shape of a body."""
        if joint.name in self.limbs.topology.own:
            return self.limbs.q[self.limbs.topology.own[joint.name][0], :]
        if joint.type.name == "spherical":
            pair = self.pairs[joint.name]
            return quaternion(pair.P.X.R.T @ pair.S.X.R)
        return self._counted(joint)

    def jacobian(self, joint: Measured) -> ca.SX:
        """Velocities of a joint are this matrix times ``v``."""
        if joint.name in self.limbs.topology.own:
            return ca.SX.eye(self.limbs.topology.nv)[self.limbs.topology.own[joint.name][1], :]
        return self._measured(joint).J

    def bias(self, joint: Measured) -> ca.SX:
        """Accelerations of a joint are its Jacobian times ``a`` plus this."""
        if joint.name in self.limbs.topology.own:
            return ca.SX.zeros(joint.type.nv, 1)
        return self._measured(joint).bias

    def velocities(self, joint: Measured) -> ca.SX:
        """Velocities of a joint."""
        return ca.densify(self.jacobian(joint) @ self.limbs.v)

    def velocity_row(self, name: str, index: int) -> tuple[ca.SX, ca.SX]:
        """Jacobian row and bias of one velocity of a joint, or of the shape of a body."""
        own = self.limbs.topology.own
        if name in own:
            return ca.SX.eye(self.limbs.topology.nv)[own[name][1].start + index, :], ca.SX(0)
        rows = self._measured(self.limbs.topology.mechanism.joints[name])
        return rows.J[index, :], rows.bias[index]

    def scalar(self, name: str, index: int) -> Rows:
        """One coordinate of a joint as a closure quantity: value, Jacobian row, bias."""
        joint = self.limbs.topology.mechanism.joints[name]
        link = self.limbs.topology.tree_joints.get(name)
        if link is not None:
            row = ca.SX.eye(self.limbs.topology.nv)[link.v.start + index, :]
            return Rows(self.limbs.q[link.q.start + index], row, ca.SX(0), {})
        rows = self._measured(joint)
        return Rows(self._counted(joint)[index], rows.J[index, :], rows.bias[index], {})

    def turning(self, counter: Counter) -> ca.SX:
        """Rate of a counter: the relative angular velocity about the joint's axis, simpler than the rate of its angle.

        The two are equal where the joint is closed, and this one is regular where it is open.
        """
        pair = self.pairs[counter.joint.name]
        axis = pair.S.X.R[:, 2]
        if counter.joint.type.name == "universal":
            axis = pair.P.X.R[:, 0] if counter.index == 0 else pair.S.X.R[:, 1]
        return ca.densify(ca.sparsify(axis.T @ (pair.S.J.ang - pair.P.J.ang)) @ self.limbs.v)

    def _counted(self, joint: Measured) -> ca.SX:
        """Coordinates of a cut joint; of the angles whose pose repeats, the one next to its counter."""
        q = ca.SX(self._measured(joint).value)
        for counter in self.limbs.topology.counters:
            if counter.joint is joint:
                angle = q[counter.index]
                turns = ca.floor((self.limbs.q[counter.q] - angle) / (2 * math.pi) + 0.5)
                q[counter.index] = angle + 2 * math.pi * turns
        return q

    def _measured(self, joint: Measured) -> Rows:
        if joint.name not in self._rows:
            pair = self.pairs[joint.name]
            spin = joint.type.name == "spherical"
            self._rows[joint.name] = pair.spin() if spin else pair.rows(COORDINATES[joint.type.name])
        return self._rows[joint.name]


def quaternion(R: ca.SX) -> ca.SX:
    """Unit quaternion (w, x, y, z) of a rotation matrix, from its largest component, with w >= 0."""
    R = ca.densify(R)
    four = [  # 4 q_i^2 on the first entry, 4 q_i q_j on the others
        ca.vertcat(1 + R[0, 0] + R[1, 1] + R[2, 2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]),
        ca.vertcat(R[2, 1] - R[1, 2], 1 + R[0, 0] - R[1, 1] - R[2, 2], R[1, 0] + R[0, 1], R[0, 2] + R[2, 0]),
        ca.vertcat(R[0, 2] - R[2, 0], R[1, 0] + R[0, 1], 1 - R[0, 0] + R[1, 1] - R[2, 2], R[2, 1] + R[1, 2]),
        ca.vertcat(R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[2, 1] + R[1, 2], 1 - R[0, 0] - R[1, 1] + R[2, 2]),
    ]
    best, size = four[0], four[0][0]
    for i in range(1, 4):
        best = ca.if_else(four[i][i] > size, four[i], best)
        size = ca.fmax(size, four[i][i])
    q = best / (2 * ca.sqrt(size))
    return ca.if_else(q[0] < 0, -q, q)
