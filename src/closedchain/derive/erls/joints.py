"""Joints as ERLS needs them: the pose across a closed joint, cut or not, and its motion space on either side.

Both follow from the elementary motions of the joint (`model.joints.types`).
"""

from __future__ import annotations

import casadi as ca

from closedchain.derive.equations import Equations
from closedchain.derive.joint_motion import joint_motion
from closedchain.derive.spatial import IDENTITY, Transform, Vector6, cross, tidy
from closedchain.model.joints.types import JointType
from closedchain.model.parts import Joint


def joint_pose(e: Equations, joint: Joint) -> Transform:
    """Pose of a joint's second frame (S) in its first (P), where the joint is closed."""
    link = e.topology.tree_joints.get(joint.name)
    if link is not None:
        X = e.limbs.links[link.index].motion.X
        return X.inverse() if link.reversed else X
    kind = joint.type
    if not kind.nv:
        return IDENTITY
    pair = e.measures.pairs[joint.name]
    P, S = pair.P.X, pair.S.X
    R = ca.SX.eye(3) if not kind.turning and not kind.is_ball else tidy(P.R.T @ S.R)
    if len(kind.turning) == 1:  # only the turn about one axis is left
        R = _about(kind.turning[0], R)
    r = ca.SX(3, 1)
    if not kind.keeps_point:
        d = ca.densify(P.R.T @ (S.r - P.r))
        moves = set(_slides(kind).sparsity().row())
        r = ca.vertcat(*(d[i] if i in moves else 0 for i in range(3)))
    return Transform(R, ca.sparsify(r))


def motion_space(e: Equations, joint: Joint, second: bool) -> tuple[Vector6, ca.SX]:
    """``Phi`` of a joint, on the side of its second frame or of its first, and L with ``L Phi = 1``.

    The freedoms keep their sense: on both sides they are motions about and along the same axes.
    """
    X = joint_pose(e, joint)
    Phi, select = _by_axes(e, joint, X) if _has_plain_axes(joint.type) else _by_coordinates(e, joint)
    if not second:  # in the axes of P, and about its origin: a turn about the second point moves the first one
        Phi, select = Phi.turned(X.R), select.turned(X.R)
        Phi = Vector6(Phi.ang, ca.sparsify(Phi.lin + cross(X.r, Phi.ang)))
        select = Vector6(ca.sparsify(select.ang + cross(X.r, select.lin)), select.lin)
    return Phi, ca.sparsify(ca.vertcat(select.ang, select.lin).T)


def _has_plain_axes(kind: JointType) -> bool:
    """Whether each axis is fixed in one of the bodies, and those of turns pass through S: the pose tells Phi."""
    if kind.has_quaternion:
        return True
    along = [m.axis for m in kind.slides]
    fixed = all(kind.fixed_in_first(m) or kind.fixed_in_second(m) for m in kind.motions)
    # a turn with a slide across its axis after it swings S about
    swings = any(
        motion.turns and any(not m.turns and m.axis != motion.axis for m in kind.motions[i + 1 :])
        for i, motion in enumerate(kind.motions)
    )
    return fixed and not swings and len(set(along)) == len(along)


def _by_axes(e: Equations, joint: Joint, X: Transform) -> tuple[Vector6, Vector6]:
    """Columns in S, and those that tell the freedoms: of a screw its turn, the advance follows."""
    kind = joint.type
    if kind.has_quaternion:
        eye, none = ca.SX.eye(3), ca.SX(3, 3)
        both = Vector6(eye, none) if kind.is_ball else Vector6(ca.horzcat(eye, none), ca.horzcat(none, eye))
        return both, both
    Phi, select = (Vector6(ca.SX(3, kind.nv), ca.SX(3, kind.nv)) for _ in range(2))
    turning = {m.coordinate for m in kind.motions if m.turns}
    for motion in kind.motions:
        axis, k = ca.SX.eye(3)[:, motion.axis], motion.coordinate
        if not kind.fixed_in_second(motion):
            axis = ca.sparsify(X.R.T @ axis)
        if motion.turns:
            Phi.ang[:, k] = select.ang[:, k] = axis
        else:
            Phi.lin[:, k] = e.limbs.number(joint.pitch) * axis if motion.by_pitch else axis
            if k not in turning:
                select.lin[:, k] = axis
    return Vector6(*map(ca.sparsify, Phi)), Vector6(*map(ca.sparsify, select))


def _by_coordinates(e: Equations, joint: Joint) -> tuple[Vector6, Vector6]:
    """Columns in S at the joint's coordinates, which a cut joint measures; least squares tell the freedoms."""
    kind = joint.type
    q = e.measures.coordinates(joint)
    Phi = joint_motion(kind, q, ca.SX(kind.nv, 1), e.limbs.number(joint.pitch), False).Phi
    columns = ca.densify(ca.vertcat(Phi.ang, Phi.lin))
    select = ca.solve(columns.T @ columns, columns.T).T
    return Phi, Vector6(ca.sparsify(select[:3, :]), ca.sparsify(select[3:, :]))


def _about(axis: int, R: ca.SX) -> ca.SX:
    """What is left of an orientation that differs by a turn about one axis."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    c, s = R[i, i], R[j, i]
    out = ca.SX(3, 3)
    out[axis, axis] = 1
    out[i, i], out[i, j], out[j, i], out[j, j] = c, -s, s, c
    return ca.sparsify(out)


def _slides(kind: JointType) -> ca.SX:
    """The place of S in P, whose zeros are those of every pose."""
    return joint_motion(kind, ca.SX.sym("q", kind.nq), ca.SX(kind.nv, 1), ca.SX(1), False).X.r
