"""Where everything is: the links of a cut mechanism with their traced poses, inertias and joint motions.

The frame of a link is its own side of the joint it hangs on, with the joint's axes. Masses and frames of the body are
moved there once; those numbers depend on parameters only, so they are computed before a run, not in it.

The theory is in ``docs/theory/equations.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from closedchain.cut.topology import Link, Topology
from closedchain.derive.beams import Attachment, Beam, trace_beam
from closedchain.derive.joint_motion import JointMotion, bent, joint_motion
from closedchain.derive.lower import lower
from closedchain.derive.spatial import Inertia, Shaping, Transform, Vector6, skew, symmetric, tidy
from closedchain.lock import once
from closedchain.model.bodies.rotation import snap
from closedchain.model.expressions.expression import Expression
from closedchain.model.forces.sampled import LIVE, sampled_inputs
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
        if any(isinstance(c, Expression) for c in x):
            return ca.sparsify(ca.vertcat(*(self.number(c) for c in x)))
        return ca.SX(ca.sparsify(ca.DM([float(c) for c in x])))

    def rotation(self, rows: Any) -> ca.SX:
        """A rotation matrix of the drawing."""
        if any(isinstance(c, Expression) for row in rows for c in row):
            return tidy(ca.vertcat(*(self.vector(row).T for row in rows)))
        return ca.SX(ca.sparsify(ca.DM(snap(rows))))

    def _parameter(self, leaf: Expression) -> ca.SX:
        m = self.topology.mechanism
        if leaf.op == "sampled":
            return self.p[len(m.parameters) + sampled_inputs(m).place(leaf)]
        return self.p[list(m.parameters).index(leaf.args[0])]

    def held(self, jump: Expression, live: ca.SX) -> ca.SX:
        """The value of an operation that jumps: the number that is held, or the one that lives."""
        m = self.topology.mechanism
        number = self.p[len(m.parameters) + sampled_inputs(m).place(jump)]
        return ca.if_else(number < LIVE, number, live)

    def place(self, frame: Frame) -> Transform:
        """Pose of a frame in its link (in the world for frames on the ground)."""
        return self.attach(frame).X

    def attach(self, frame: Frame, joint: Joint | None = None) -> Attachment:
        """How a frame hangs on its link, with the axes of a joint if one is given."""
        X = self.in_body(frame) if joint is None else self.joint_frame(joint, frame)
        index = self.topology.link_of[frame.body.name]
        return Attachment(X) if index < 0 else self.links[index].attach(X)

    def in_body(self, frame: Frame) -> Transform:
        """Pose of a frame in its body, as drawn."""
        return Transform(self.rotation(frame.rotation), self.vector(frame.position))

    def joint_frame(self, joint: Joint, frame: Frame) -> Transform:
        """Pose of the joint's axes on the body of one of its frames, in that body."""
        return self.in_body(frame) @ Transform(self.rotation(joint.rotation), ca.SX(3, 1))


@dataclass(frozen=True, eq=False)
class TracedLink:
    """A link: inertia, how its joint hangs on the parent, its motion, and the way from its body's frame.

    Attributes
    ----------
    on_parent
        The joint's frame on the parent.
    motion
        Of the link in that frame: by its joint, and by its own shape where the joint sits on it.
    X_LB
        Pose of the body's frame in the link's: where the joint is drawn on the body, undeformed.
    beam
        What makes it flexible, if it is.
    """

    link: Link
    inertia: Inertia
    on_parent: Attachment
    motion: JointMotion
    X_LB: Transform
    beam: Beam | None = None

    @property
    def X_PJ(self) -> Transform:
        """Pose of the joint on the parent."""
        return self.on_parent.X

    @once
    def X(self) -> Transform:
        """Pose of this link in its parent."""
        return self.X_PJ @ self.motion.X

    @once
    def hang(self) -> Vector6 | None:
        """Twist of the joint's frame on the parent that each rate of the parent's shape gives, in the joint's axes."""
        if self.on_parent.rates is None:
            return None
        return self.on_parent.rates.map(lambda part: ca.sparsify(self.X_PJ.R.T @ part))

    @once
    def carried(self) -> Vector6 | None:
        """The same twists as this link feels them, in its own frame."""
        return None if self.hang is None else self.motion.X.motion_into(self.hang)

    def attach(self, drawn: Transform) -> Attachment:
        """A frame on the body, drawn in its frame, as it hangs on the link."""
        on_body = Attachment(drawn) if self.beam is None else self.beam.attach(drawn)
        return on_body.seen_from(self.X_LB)

    def motion_into(self, x: Vector6) -> Vector6:
        """A twist or acceleration of the parent as it is felt here, the joint at rest."""
        out = self.X.motion_into(x)
        return out if self.carried is None or x.shape is None else out + self.carried.times(x.shape)

    def force_out(self, f: Vector6) -> Vector6:
        """A wrench on this link as it is felt by the parent, the joint held."""
        out = self.X.force_out(f)
        return out if self.carried is None else Vector6(out.ang, out.lin, self.carried.dot(f.rigid))

    def inertia_out(self, inertia: Inertia) -> Inertia:
        """The inertia of this link, or of all that hangs on it, as it is felt by the parent, all joints held."""
        rigid = Inertia(*inertia[:3])
        out = rigid.seen_from(self.X)
        if self.carried is None:
            return out
        momentum = rigid.times(self.carried)
        return Inertia(*out[:3], Shaping(self.X.force_out(momentum), symmetric(self.carried.dot(momentum))))


def trace_limbs(topology: Topology) -> Limbs:
    """Trace every link of a cut mechanism."""
    m = topology.mechanism
    symbols = (
        ca.SX.sym("t"),
        ca.SX.sym("q", topology.nq),
        ca.SX.sym("v", topology.nv),
        ca.SX.sym("p", len(m.parameters) + len(sampled_inputs(m).initial)),
    )
    links: list[TracedLink] = []
    limbs = Limbs(topology, *symbols, links=())
    for link in topology.links:
        joint = link.joint
        near, far = (joint.a, joint.b) if link.reversed else (joint.b, joint.a)
        on_parent = limbs.joint_frame(joint, far)
        on_body = limbs.joint_frame(joint, near)
        X_LB = on_body.inverse()
        q, v = limbs.q[link.q, :], limbs.v[link.v, :]
        motion = joint_motion(joint.type, q, v, limbs.number(joint.pitch), link.reversed)
        inertia, beam = _inertia(limbs, link.body), None
        if link.shapes:
            eta, rate = limbs.q[link.shape_q, :], limbs.v[link.shape_v, :]
            beam = trace_beam(limbs, m.flexible[link.body.name], inertia, eta, rate)
            inertia = beam.inertia
            motion = bent(motion, beam.attach(on_body).seen_from(X_LB), q, v, eta, rate)
        hangs = Attachment(on_parent) if link.parent < 0 else links[link.parent].attach(on_parent)
        links.append(TracedLink(link, inertia.seen_from(X_LB), hangs, motion, X_LB, beam))
    return Limbs(topology, *symbols, links=tuple(links))


def _inertia(limbs: Limbs, body: Body) -> Inertia:
    """Mass properties about the origin of the body's own frame."""
    p = body.properties
    m, c = limbs.number(p.mass), limbs.vector(p.com)
    xx, yy, zz, xy, xz, yz = (limbs.number(x) for x in p.inertia)
    I_com = ca.sparsify(ca.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    mc = ca.sparsify(m * c)
    return Inertia(m, mc, symmetric(I_com - skew(mc) @ skew(c)))
