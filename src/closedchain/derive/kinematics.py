"""Forward kinematics of the limbs: poses, twists and bias accelerations, and the motion of any frame.

The bias acceleration of a link is its spatial acceleration with all joint accelerations zero. The root is given the
acceleration -g, which adds gravity to every link at no cost; it cancels in all differences between frames.

The theory is in ``docs/theory/equations.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from closedchain.derive.limbs import Limbs
from closedchain.derive.spatial import IDENTITY, NULL, Transform, Vector6, cross, cross_motion, tidy
from closedchain.model.parts import Frame


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

    @cached_property
    def axes(self) -> dict[int, Vector6]:
        """Each link's motion space in the axes of the root, about the link's own origin."""
        return {
            i: Vector6(ca.sparsify(self.X[i].R @ Phi.ang), ca.sparsify(self.X[i].R @ Phi.lin))
            for i, Phi in ((i, self.limbs.links[i].motion.Phi) for i in self.X if i != self.root)
        }

    def link_jacobian(self, index: int) -> ca.SX:
        """Matrix (6 x n, angular part first) from v to the twist of a link about its origin, in the root's axes."""
        J = ca.SX(6, self.limbs.topology.nv)
        for i in self.limbs.topology.path(index):
            if i == self.root:
                break
            ang, lin = self.axes[i]
            columns = self.limbs.links[i].link.v
            J[:3, columns] = ang
            J[3:, columns] = lin + cross_columns(ang, tidy(self.X[index].r - self.X[i].r))
        return ca.sparsify(J)

    def frame(self, frame: Frame, place: Transform | None = None) -> FrameMotion:
        """Pose, velocity, bias acceleration and Jacobian of a frame, in the axes of the root."""
        index = self.limbs.topology.link_of[frame.body.name]
        place = self.limbs.place(frame) if place is None else place
        X = self.X[index] @ place
        R = self.X[index].R
        w, aw = self.twist[index].ang, self.bias[index].ang
        v = ca.sparsify(self.twist[index].lin + cross(w, place.r))
        # classical acceleration of the point: spatial part moved there, plus w x v
        a = ca.sparsify(self.bias[index].lin + cross(aw, place.r) + cross(w, v))
        n = self.limbs.topology.nv
        J = Vector6(ca.SX(3, n), ca.SX(3, n))
        for i in self.limbs.topology.path(index):
            if i == self.root:
                break
            columns = self.limbs.links[i].link.v
            ang, lin = self.axes[i]
            J.ang[:, columns] = ang
            J.lin[:, columns] = lin + cross_columns(ang, tidy(X.r - self.X[i].r))
        turn = lambda x: ca.sparsify(R @ x)  # noqa: E731
        return FrameMotion(X, Vector6(turn(w), turn(v)), Vector6(turn(aw), turn(a)), Vector6(*map(ca.sparsify, J)))


@dataclass(frozen=True)
class FrameMotion:
    """A frame in the root's axes: pose X, velocity (w, v), bias acceleration (classical), Jacobian (3 x n each)."""

    X: Transform
    velocity: Vector6
    bias: Vector6
    J: Vector6


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
        step = traced.X
        moving = traced.motion.Phi.times(limbs.v[traced.link.v, :])
        X[i] = X[parent] @ step
        twist[i] = step.motion_into(twist[parent]) + moving
        bias[i] = step.motion_into(bias[parent]) + traced.motion.bias + cross_motion(twist[i], moving)
    return Kinematics(limbs, root, start, X, twist, bias)
