"""Where everything is: the links of a cut mechanism with their traced poses, inertias and joint motions.

The frame of a link is its own side of the joint it hangs on, with the joint's axes. Masses and frames of the body are
moved there once; those numbers depend on parameters only, so they are computed before a run, not in it.

The theory is in ``docs/theory/equations.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca

from closedchain.cut.topology import Link, Topology
from closedchain.derive.joint_motion import JointMotion, joint_motion
from closedchain.derive.lower import lower
from closedchain.derive.spatial import Inertia, Transform, skew, symmetric, tidy
from closedchain.model.expression import Expression
from closedchain.model.held import LIVE, held
from closedchain.model.parts import Body, Frame, Joint


@dataclass(frozen=True, eq=False)
class Limbs:
    """The traced links of a topology, with the symbols everything is a function of: ``t, q, v, p``."""

    topology: Topology
    t: ca.SX
    q: ca.SX
    v: ca.SX
    p: ca.SX
    links: tuple[TracedLink, ...]

    def number(self, x: Any) -> ca.SX:
        """A number of the drawing as a traced scalar."""
        return lower(x, self._parameter)

    def vector(self, x: Any) -> ca.SX:
        """Three numbers of the drawing as a traced vector."""
        return ca.sparsify(ca.vertcat(*(self.number(c) for c in x)))

    def _parameter(self, leaf: Expression) -> ca.SX:
        m = self.topology.mechanism
        if leaf.op == "sampled":
            return self.p[len(m.parameters) + held(m).place(leaf)]
        return self.p[list(m.parameters).index(leaf.args[0])]

    def held(self, jump: Expression, live: ca.SX) -> ca.SX:
        """The value of an operation that jumps: the number that is held, or the one that lives."""
        m = self.topology.mechanism
        number = self.p[len(m.parameters) + held(m).place(jump)]
        return ca.if_else(number < LIVE, number, live)

    def place(self, frame: Frame) -> Transform:
        """Pose of a frame in its link (in the world for frames on the ground)."""
        X = self.in_body(frame)
        index = self.topology.link_of[frame.body.name]
        return X if index < 0 else self.links[index].X_LB @ X

    def in_body(self, frame: Frame) -> Transform:
        """Pose of a frame in its body, as drawn."""
        return Transform(tidy(ca.vertcat(*(self.vector(row).T for row in frame.rotation))), self.vector(frame.position))

    def joint_frame(self, joint: Joint, frame: Frame) -> Transform:
        """Pose of the joint's axes on the body of one of its frames, in that body."""
        R = ca.vertcat(*(self.vector(row).T for row in joint.rotation))
        return self.in_body(frame) @ Transform(R, ca.SX(3, 1))


@dataclass(frozen=True, eq=False)
class TracedLink:
    """A link: inertia, the pose of its joint on the parent, the joint's motion, and the way from its body's frame."""

    link: Link
    inertia: Inertia
    X_PJ: Transform
    motion: JointMotion
    X_LB: Transform  # body frame in link frame

    @cached_property
    def X(self) -> Transform:
        """Pose of this link in its parent."""
        return self.X_PJ @ self.motion.X


def trace_limbs(topology: Topology) -> Limbs:
    """Trace every link of a cut mechanism."""
    m = topology.mechanism
    symbols = (
        ca.SX.sym("t"),
        ca.SX.sym("q", topology.nq),
        ca.SX.sym("v", topology.nv),
        ca.SX.sym("p", len(m.parameters) + len(held(m).initial)),
    )
    links: list[TracedLink] = []
    limbs = Limbs(topology, *symbols, links=())
    for link in topology.links:
        joint = link.joint
        near, far = (joint.a, joint.b) if link.reversed else (joint.b, joint.a)
        X_LB = limbs.joint_frame(joint, near).inverse()
        X_PJ = limbs.joint_frame(joint, far)
        if link.parent >= 0:
            X_PJ = links[link.parent].X_LB @ X_PJ
        q, v = limbs.q[link.q, :], limbs.v[link.v, :]
        motion = joint_motion(joint.type, q, v, limbs.number(joint.pitch), link.reversed)
        links.append(TracedLink(link, _inertia(limbs, link.body).seen_from(X_LB), X_PJ, motion, X_LB))
    return Limbs(topology, *symbols, links=tuple(links))


def _inertia(limbs: Limbs, body: Body) -> Inertia:
    """Mass properties about the origin of the body's own frame."""
    p = body.properties
    m, c = limbs.number(p.mass), limbs.vector(p.com)
    xx, yy, zz, xy, xz, yz = (limbs.number(x) for x in p.inertia)
    I_com = ca.sparsify(ca.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    mc = ca.sparsify(m * c)
    return Inertia(m, mc, symmetric(I_com - skew(mc) @ skew(c)))
