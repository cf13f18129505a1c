"""What a joint does: pose, motion space and rates from its elementary motions (see `model.joints.types`).

With X the pose of S in P: ``twist of S relative to P, in S = Phi(q) v`` and ``q' = N(q) v``.

The theory is in ``docs/theory/equations.md``.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca

from closedchain.derive.beams import Attachment
from closedchain.derive.spatial import IDENTITY, NULL, Transform, Vector6, cross, zero
from closedchain.model.joints.types import JointType


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
    return JointMotion(X, Phi, apparent(Phi, v, q, qdot), qdot)


def bent(joint: JointMotion, seat: Attachment, q: ca.SX, v: ca.SX, eta: ca.SX, rate: ca.SX) -> JointMotion:
    """The motion of a flexible link: its frame is not the one that the joint sits on, which the shape moves.

    Parameters
    ----------
    joint
        Motion of the frame that the joint sits on.
    seat
        That frame on the link.
    q, v, eta, rate
        Coordinates and velocities of the joint, and of the shape.
    """
    moved, shaken = seat.X.motion_out(joint.Phi), seat.rates
    assert shaken is not None
    # of the link's frame as seen from the seat: the seat's own motion backwards, about the link's origin
    back = Vector6(shaken.ang, ca.sparsify(shaken.lin + cross(seat.X.r, shaken.ang)))
    n, k = eta.numel(), v.numel()
    Phi = Vector6(
        ca.sparsify(ca.horzcat(moved.ang, -back.ang)),
        ca.sparsify(ca.horzcat(moved.lin, -back.lin)),
        ca.sparsify(ca.horzcat(ca.SX(n, k), ca.SX.eye(n))),
    )
    qdot = ca.vertcat(joint.qdot, rate)
    bias = apparent(Phi.rigid, ca.vertcat(v, rate), ca.vertcat(q, eta), qdot)
    return JointMotion(joint.X @ seat.X.inverse(), Phi, bias, qdot)


def apparent(Phi: Vector6, v: ca.SX, q: ca.SX, qdot: ca.SX) -> Vector6:
    """``Phi' v``: how the twist ``Phi v`` changes in its own frame at constant v."""
    if not q.numel() or (Phi.ang.is_constant() and Phi.lin.is_constant()):
        return NULL
    return Phi.times(v).map(lambda part: ca.sparsify(ca.jtimes(ca.densify(part), q, qdot)))


def _product(kind: JointType, q: ca.SX, pitch: ca.SX) -> tuple[Transform, Vector6]:
    X = IDENTITY
    Phi = Vector6(zero(kind.nv), zero(kind.nv))
    for motion in kind.motions:
        axis, turns = motion.axis, motion.turns
        e = ca.SX(3, 1)
        e[axis] = 1
        scale = pitch if motion.by_pitch else ca.SX(1)
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
    if kind.is_ball:
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
