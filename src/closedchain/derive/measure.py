"""Coordinates and velocities of any joint, also of one that is cut: there they are measured on the relative pose.

The theory is in ``docs/theory/equations.md``.
"""

from __future__ import annotations

import math

import casadi as ca

from closedchain.cut.topology import Counter, ShapeCoordinates
from closedchain.derive.limbs import Limbs
from closedchain.derive.relative import Pair, Rows
from closedchain.errors import ModelError
from closedchain.model.joints.types import JointType, Quantity
from closedchain.model.parts import Joint


def _angle(axis: int, R_P: ca.SX, R_S: ca.SX) -> ca.SX:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    return ca.atan2(R_P[:, j].T @ R_S[:, i], R_P[:, i].T @ R_S[:, i])


def _angles(axes: tuple[int, ...], R_P: ca.SX, R_S: ca.SX) -> list[ca.SX]:
    """Angles about two or three axes, each square to the next: ``R_P' R_S = R_a(angle1) R_b(angle2) R_c(angle3)``."""
    Q = R_P.T @ R_S
    a, b = axes[:2]
    c = 3 - a - b
    sense = 1 if (b - a) % 3 == 1 else -1  # of a, b, c as x, y, z
    if len(axes) == 2:
        return [ca.atan2(sense * Q[c, b], Q[b, b]), ca.atan2(sense * Q[a, c], Q[a, a])]
    first, last = ca.atan2(-sense * Q[b, c], Q[c, c]), ca.atan2(-sense * Q[a, b], Q[a, a])
    return [first, ca.atan2(sense * Q[a, c], ca.sqrt(Q[a, a] ** 2 + Q[a, b] ** 2)), last]


def measure(kind: JointType) -> Quantity:
    """Coordinates of a joint from its relative pose: from its motions, unless the joint says how.

    Angles come out between -pi and pi, a counter in q tells the turns.
    """
    if kind.measure is not None:
        return kind.measure
    axes, slides = kind.turning, kind.slides
    turns = [[m for m in kind.motions if m.coordinate == i and m.turns] for i in range(kind.nq)]
    in_first, in_second = all(map(kind.fixed_in_first, slides)), all(map(kind.fixed_in_second, slides))
    distinct = len({m.axis for m in slides}) == len(slides)
    single = sum(map(len, turns)) == len(axes) and (len(axes) < 3 or len(set(axes)) == 3 == len(axes))
    if not (single and distinct and (in_first or in_second)):
        raise ModelError(
            f"joint type {kind.name!r}: its coordinates cannot be derived from its motions "
            f"{' '.join(m.kind for m in kind.motions)}: give the function measure=... (see closedchain.model.joints)"
        )

    def coordinates(R_P: ca.SX, R_S: ca.SX, d: ca.SX, pitch: ca.SX) -> ca.SX:
        q = [ca.SX(0)] * kind.nq
        angles = [_angle(axes[0], R_P, R_S)] if len(axes) == 1 else _angles(axes, R_P, R_S) if axes else []
        for motion, angle in zip((m for m in kind.motions if m.turns), angles, strict=True):
            q[motion.coordinate] = angle
        for motion in slides:  # after the turns: the advance of a screw tells its turns apart
            slide = (R_P if in_first else R_S)[:, motion.axis].T @ d
            q[motion.coordinate] = slide / pitch if motion.by_pitch else slide
        return ca.vertcat(ca.SX(0, 1), *q)

    return coordinates


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
        if joint.type.is_ball:
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
        pair, kind = self.pairs[counter.joint.name], counter.joint.type
        (motion,) = (m for m in kind.motions if m.turns and m.coordinate == counter.index)
        if kind.fixed_in_second(motion):
            axis = pair.S.X.R[:, motion.axis]
        elif kind.fixed_in_first(motion):
            axis = pair.P.X.R[:, motion.axis]
        else:  # the axis is in neither body
            return self.velocities(counter.joint)[counter.index]
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
            self._rows[joint.name] = pair.spin() if joint.type.is_ball else pair.rows(measure(joint.type))
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
