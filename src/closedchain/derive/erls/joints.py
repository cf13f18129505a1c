"""Joints as ERLS needs them: the pose across a closed joint, cut or not, and its motion space on either side."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from closedchain.derive.equations import Equations
from closedchain.derive.spatial import IDENTITY, Transform, Vector6, cross, tidy
from closedchain.model.parts import Joint

COINCIDENT = ("revolute", "spherical", "universal", "weld")  # joints whose two points stay together


def joint_pose(e: Equations, joint: Joint) -> Transform:
    """Pose of a joint's second frame (S) in its first (P), where the joint is closed."""
    link = e.topology.tree_joints.get(joint.name)
    if link is not None:
        X = e.limbs.links[link.index].motion.X
        return X.inverse() if link.reversed else X
    kind = joint.type.name
    if kind == "weld":
        return IDENTITY
    pair = e.measures.pairs[joint.name]
    P, S = pair.P.X, pair.S.X
    R = tidy(P.R.T @ S.R)
    if kind in ("revolute", "cylindrical", "screw", "planar"):  # only the turn about z is left
        c, s = R[0, 0], R[1, 0]
        R = ca.sparsify(ca.blockcat([[c, -s, 0], [s, c, 0], [0, 0, 1]]))
    if kind == "prismatic":
        R = ca.SX.eye(3)
    r = ca.SX(3, 1)
    if kind not in COINCIDENT:
        d = ca.densify(P.R.T @ (S.r - P.r))
        r = ca.vertcat(d[:2], 0) if kind == "planar" else ca.vertcat(0, 0, d[2])
    return Transform(R, ca.sparsify(r))


def motion_space(e: Equations, joint: Joint, second: bool) -> tuple[Vector6, ca.SX]:
    """``Phi`` of a joint, on the side of its second frame or of its first, and L with ``L Phi = 1``.

    The freedoms keep their sense: on both sides they are motions about and along the same axes.
    """
    kind, X = joint.type.name, joint_pose(e, joint)
    unit = [ca.SX.eye(3)[:, k] for k in range(3)]
    back = lambda axis: ca.sparsify(X.R.T @ axis)  # noqa: E731  (an axis of P, in S)
    none = ca.SX(3, 1)
    columns: Sequence[tuple[ca.SX, ca.SX]] = {
        "revolute": [(unit[2], none)],
        "prismatic": [(none, unit[2])],
        "cylindrical": [(unit[2], none), (none, unit[2])],
        "screw": [(unit[2], e.limbs.number(joint.pitch) * unit[2])],
        "universal": [(back(unit[0]), none), (unit[1], none)],
        "planar": [(none, back(unit[0])), (none, back(unit[1])), (unit[2], none)],
        "weld": [],
        "spherical": [(axis, none) for axis in unit],
    }[kind]
    ang = ca.horzcat(ca.SX(3, 0), *(a for a, _ in columns))
    lin = ca.horzcat(ca.SX(3, 0), *(b for _, b in columns))
    # of a screw the turn tells the freedom: its advance follows
    select = Vector6(ang, ca.SX(*lin.shape) if kind == "screw" else lin)
    Phi = Vector6(ca.sparsify(ang), ca.sparsify(lin))
    if not second:  # all but one of these spaces are the same about either point
        Phi, select = Phi.turned(X.R), select.turned(X.R)
    if kind == "planar" and not second:  # the turn is about the second point, and moves the first one
        swing = cross(X.r, unit[2])
        Phi = Vector6(Phi.ang, ca.sparsify(Phi.lin + swing @ unit[2].T))
        select = Vector6(ca.sparsify(select.ang - unit[2] @ (swing.T @ select.lin)), select.lin)
    return Phi, ca.sparsify(ca.vertcat(select.ang, select.lin).T)
