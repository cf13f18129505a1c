"""What a joint does: pose, motion space and rates from its elementary motions (see `model.joint_types`).

With X the pose of S in P: ``twist of S relative to P, in S = Phi(q) v`` and ``q' = N(q) v``.

The theory is in ``docs/theory/equations.md``.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca

from closedchain.derive.spatial import IDENTITY, NULL, Transform, Vector6, cross, zero
from closedchain.model.joint_types import JointType

AXES = {"x": 0, "y": 1, "z": 2}


class JointMotion(NamedTuple):
    """Pose X, motion space Phi (two 3 x nv blocks), bias ``Phi' v`` and coordinate rates ``N(q) v``."""

    X: Transform
    Phi: Vector6
    bias: Vector6
    qdot: ca.SX


def joint_motion(kind: JointType, q: ca.SX, v: ca.SX, pitch: ca.SX, backwards: bool) -> JointMotion:
    """The motion of the child frame in the parent's; ``backwards`` when S is the parent."""
    if kind.has_quaternion:
        X, Phi, qdot = _with_quaternion(kind, q, v)
    else:
        X, Phi, qdot = *_product(kind, q, pitch), v
    if backwards:
        Phi = -X.motion_out(Phi)
        X = X.inverse()
    twist = Phi.times(v)
    bias = NULL
    if (q.numel() and not Phi.ang.is_constant()) or not Phi.lin.is_constant():
        bias = Vector6(*(ca.sparsify(ca.jtimes(part, q, qdot)) for part in (ca.densify(x) for x in twist)))
    return JointMotion(X, Phi, bias, qdot)


def _product(kind: JointType, q: ca.SX, pitch: ca.SX) -> tuple[Transform, Vector6]:
    X = IDENTITY
    Phi = Vector6(zero(kind.nv), zero(kind.nv))
    for motion in kind.motions:
        axis = AXES[motion.kind[1]]
        e = ca.SX(3, 1)
        e[axis] = 1
        scale = pitch if motion.by_pitch else ca.SX(1)
        turns = motion.kind[0] == "R"
        amount = scale * q[motion.coordinate]
        step = Transform(turn(axis, amount), zero()) if turns else Transform(ca.SX.eye(3), ca.sparsify(amount * e))
        Phi = step.motion_into(Phi)
        column = ca.SX(3, kind.nv)
        column[axis, motion.coordinate] = scale
        Phi = Phi + (Vector6(column, zero(kind.nv)) if turns else Vector6(zero(kind.nv), column))
        X = X @ step
    return X, Phi


def _with_quaternion(kind: JointType, q: ca.SX, v: ca.SX) -> tuple[Transform, Vector6, ca.SX]:
    """Spherical: angular velocity in S. Free: twist in S, position in P."""
    quat, w = q[-4:], v[:3]
    R = rotation(quat)
    spin = quaternion_rate(quat, w)
    if kind.name == "spherical":
        return Transform(R, zero()), Vector6(ca.SX.eye(3), zero(3)), spin
    eye, none = ca.SX.eye(3), zero(3)
    Phi = Vector6(ca.horzcat(eye, none), ca.horzcat(none, eye))
    return Transform(R, q[:3]), Phi, ca.vertcat(R @ v[3:], spin)


def turn(axis: int, angle: ca.SX) -> ca.SX:
    """Rotation about a coordinate axis."""
    c, s = ca.cos(angle), ca.sin(angle)
    R = ca.SX(3, 3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[axis, axis] = 1
    R[i, i] = R[j, j] = c
    R[i, j], R[j, i] = -s, s
    return R


def rotation(quat: ca.SX) -> ca.SX:
    """Rotation matrix of a unit quaternion (w, x, y, z)."""
    w, x, y, z = ca.vertsplit(quat)
    return ca.blockcat(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_rate(quat: ca.SX, w: ca.SX) -> ca.SX:
    """``q'`` of a unit quaternion turning with the angular velocity w given in the turning frame."""
    s, u = quat[0], quat[1:]
    return 0.5 * ca.vertcat(-(u.T @ w), s * w + cross(u, w))
