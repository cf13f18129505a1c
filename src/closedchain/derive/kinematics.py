"""Forward kinematics of the limbs: poses, twists and bias accelerations, and the motion of any frame.

The bias acceleration of a link is its spatial acceleration with all joint accelerations zero. The root is given the
acceleration -g, which adds gravity to every link at no cost; it cancels in all differences between frames.

The theory is in ``docs/theory/equations.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca

from closedchain.derive.joint_motion import apparent
from closedchain.derive.limbs import Limbs
from closedchain.derive.spatial import IDENTITY, NULL, Transform, Vector6, cross, cross_motion, tidy
from closedchain.lock import locked, once
from closedchain.model.parts import Frame, Joint


@dataclass(frozen=True, eq=False)
class Kinematics:
    """Motion of the links below ``root`` (-1: the ground) relative to it.

    Attributes
    ----------
    X
        Pose of each link in the root.
    twist, bias
        Twist and bias acceleration of each link, in its own frame.
    """

    limbs: Limbs
    root: int
    root_bias: Vector6
    X: dict[int, Transform]
    twist: dict[int, Vector6]
    bias: dict[int, Vector6]

    @once
    def axes(self) -> dict[int, list[Column]]:
        """The motions that each link adds to those of its parent, in the axes of the root."""
        out = {}
        for i, traced in ((i, self.limbs.links[i]) for i in self.X if i != self.root):
            Phi, parent = traced.motion.Phi, traced.link.parent
            turn = lambda part, R=self.X[i].R: ca.sparsify(R @ part)  # noqa: E731
            out[i] = [Column(traced.link.freedoms, turn(Phi.ang), turn(Phi.lin), self.X[i].r)]
            if traced.carried is not None:  # the parent's shape moves the joint
                shape = self.limbs.links[parent].link.shape_v
                out[i].append(Column(shape, turn(traced.carried.ang), turn(traced.carried.lin), self.X[i].r))
        return out

    def link_jacobian(self, index: int) -> ca.SX:
        """Matrix (6 x n, angular part first) from v to the twist of a link about its origin, in the root's axes.

        That of a flexible link has further rows: the rates of its shape.
        """
        J = self._jacobian(index, self.X[index].r)
        own = ca.SX.eye(self.limbs.topology.nv)[self.limbs.links[index].link.shape_v, :]
        return ca.sparsify(ca.vertcat(J.ang, J.lin, own))

    def _jacobian(self, index: int, r: ca.SX) -> Vector6:
        """Jacobian (3 x n each) of a point at r that moves with a link as if that were rigid."""
        n = self.limbs.topology.nv
        J = Vector6(ca.SX(3, n), ca.SX(3, n))
        for i in self.limbs.topology.path(index):
            if i == self.root:
                break
            for columns, ang, lin, origin in self.axes[i]:
                J.ang[:, columns] += ang
                J.lin[:, columns] += lin + cross_columns(ang, tidy(r - origin))
        return J

    @locked
    def frame(self, frame: Frame, joint: Joint | None = None) -> FrameMotion:
        """Pose, velocity, bias acceleration and Jacobian of a frame, in the axes of the root.

        With a joint given, the frame has the joint's axes.
        """
        index = self.limbs.topology.link_of[frame.body.name]
        place, rates = self.limbs.attach(frame, joint)
        X = self.X[index] @ place
        R = self.X[index].R
        w, aw = self.twist[index].ang, self.bias[index].ang
        v = ca.sparsify(self.twist[index].lin + cross(w, place.r))
        # classical acceleration of the point: spatial part moved there, plus w x v
        a = ca.sparsify(self.bias[index].lin + cross(aw, place.r) + cross(w, v))
        J = self._jacobian(index, X.r)
        turn = lambda x: ca.sparsify(R @ x)  # noqa: E731
        if rates is None:
            velocity, bias = Vector6(turn(w), turn(v)), Vector6(turn(aw), turn(a))
            return FrameMotion(frame.body.name, X, velocity, bias, J.map(ca.sparsify))
        # the shape moves the frame in the link
        beam = self.limbs.links[index].beam
        assert beam is not None
        spin, slip = rates.times(beam.rate)
        spun, slipped = apparent(rates, beam.rate, beam.eta, beam.rate)
        velocity = Vector6(turn(w + spin), turn(v + slip))
        bias = Vector6(turn(aw + spun + cross(w, spin)), turn(a + slipped + 2 * cross(w, slip)))
        shape = rates.map(turn)
        columns = self.limbs.links[index].link.shape_v
        J.ang[:, columns] += shape.ang
        J.lin[:, columns] += shape.lin
        return FrameMotion(frame.body.name, X, velocity, bias, J.map(ca.sparsify), shape)


class Column(NamedTuple):
    """Motions of a link: which velocities, and the twists (3 x n each) that they give about a point."""

    velocities: slice
    ang: ca.SX
    lin: ca.SX
    origin: ca.SX


@dataclass(frozen=True)
class FrameMotion:
    """A frame in the root's axes: pose X, velocity (w, v), bias acceleration (classical), Jacobian (3 x n each).

    ``shape`` is the part of the velocity that each rate of its body's shape gives (3 x k each), None on a rigid body.
    """

    body: str

    X: Transform
    velocity: Vector6
    bias: Vector6
    J: Vector6
    shape: Vector6 | None = None


def cross_columns(a: ca.SX, r: ca.SX) -> ca.SX:
    """``a_i x r`` for each column of a."""
    return -cross(r, a)


def kinematics(limbs: Limbs, root: int = -1) -> Kinematics:
    """Recursion from the root outwards (Featherstone 2008, table 5.1, forward pass)."""
    gravity = Vector6(ca.SX(3, 1), -limbs.vector(limbs.topology.mechanism.gravity))
    start = gravity if root < 0 else NULL
    X, twist, bias = {root: IDENTITY}, {root: NULL}, {root: start}
    for i, traced in enumerate(limbs.links):
        parent = traced.link.parent
        if parent not in X or i == root:
            continue
        step, before, bias_before = traced.X, twist[parent], bias[parent]
        if traced.hang is not None:  # the joint's frame on the parent moves with its shape
            beam, step = limbs.links[parent].beam, traced.motion.X
            assert beam is not None
            shaken = traced.hang.times(beam.rate)
            before = traced.X_PJ.motion_into(before) + shaken
            bias_before = traced.X_PJ.motion_into(bias_before) + apparent(traced.hang, beam.rate, beam.eta, beam.rate)
            bias_before = bias_before + cross_motion(before, shaken)
        moving = traced.motion.Phi.times(limbs.v[traced.link.freedoms, :])
        X[i] = X[parent] @ traced.X
        twist[i] = step.motion_into(before) + moving
        bias[i] = step.motion_into(bias_before) + traced.motion.bias + cross_motion(twist[i], moving)
    return Kinematics(limbs, root, start, X, twist, bias)
