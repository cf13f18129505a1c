"""What acts on the limbs: motors, springs, dampers, friction, forces at frames; their potential and their power.

The theory is in ``docs/theory/equations.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Protocol

import casadi as ca

from closedchain.derive.kinematics import Kinematics
from closedchain.derive.limbs import Limbs
from closedchain.derive.lower import lower
from closedchain.derive.measure import JointMeasures
from closedchain.derive.spatial import NULL, Vector6, cross, dot
from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Expression, is_zero
from closedchain.model.parts import Frame, Joint


@dataclass(eq=False)
class Applied:
    """Sums over everything that acts.

    Attributes
    ----------
    tau
        Generalised forces of motors, joint springs and dampers, n.
    wrenches
        On links by number, in the link's frame.
    potential
        Of springs, J.
    power
        Of everything that no potential describes, W.
    efforts
        Traced effort of each motor and force component, to find the culprit when one is not a number.
    on_joints
        All that acts along the freedoms of a joint, by joint.
    laws
        Symbols of efforts of control laws, which stand in nothing above any more, and what they are.
    """

    tau: ca.SX
    wrenches: dict[int, Vector6] = field(default_factory=dict)
    potential: ca.SX = field(default_factory=lambda: ca.SX(0))
    power: ca.SX = field(default_factory=lambda: ca.SX(0))
    efforts: dict[str, ca.SX] = field(default_factory=dict)
    on_joints: dict[str, ca.SX] = field(default_factory=dict)
    laws: tuple[ca.SX, ca.SX] = field(default_factory=lambda: (ca.SX(0, 1), ca.SX(0, 1)))


def trace_leaf(limbs: Limbs, motion: Kinematics, measures: JointMeasures, node: Expression) -> ca.SX:
    """The traced value of a parameter, time, joint coordinate or velocity, or of a frame's place or speed."""
    if node.op in ("parameter", "sampled"):
        return limbs._parameter(node)
    if node.op == "time":
        return limbs.t
    m = limbs.topology.mechanism
    if node.op in ("place", "speed"):
        body, name, axis = node.args
        at = motion.frame(m.find_frame(f"{body}.{name}"))
        return ca.densify(at.X.r if node.op == "place" else at.velocity.lin)[axis]
    joint = m.joints[node.args[0]]
    if node.op == "coordinate" and joint.type.has_quaternion and joint.name not in limbs.topology.tree_joints:
        raise ModelError(
            f"{node} is part of the quaternion of joint {joint.name!r}, but that joint is cut, where a quaternion is "
            "known only up to its sign: draw the joint with cut=False, or cut another joint of its loop"
        )
    names = joint.type.coordinates if node.op == "coordinate" else joint.type.velocities
    values = measures.coordinates(joint) if node.op == "coordinate" else measures.velocities(joint)
    return values[0 if node.args[1] is None else names.index(node.args[1])]


def trace_applied(limbs: Limbs, motion: Kinematics, measures: JointMeasures, without: Collection[str] = ()) -> Applied:
    """Trace all that acts on a mechanism, leaving out motors, joint springs and dampers named in ``without``."""
    m = limbs.topology.mechanism
    out = Applied(ca.SX(limbs.topology.nv, 1))

    def leaf(node: Expression) -> ca.SX:
        return trace_leaf(limbs, motion, measures, node)

    def on_joint(name: str, index: int, effort: ca.SX) -> ca.SX:
        """Add an effort to a joint velocity; returns that velocity."""
        J = measures.jacobian(m.joints[name])[index, :]
        out.tau = ca.sparsify(out.tau + J.T * effort)
        sum_ = out.on_joints.setdefault(name, ca.SX.zeros(m.joints[name].type.nv, 1))
        sum_[index] += effort
        return ca.densify(J @ limbs.v)

    for motor in m.motors.values():
        if motor.name in without:
            continue
        effort = lower(motor.effort, leaf, limbs.held)
        out.efforts[motor.name] = effort
        out.power += effort * on_joint(motor.joint, motor.index, effort)
    act_on_joints(limbs, measures, on_joint, out, without)

    def on_frame(frame: Frame, force: ca.SX, moment: ca.SX, world: bool) -> None:
        index = limbs.topology.link_of[frame.body.name]
        if index < 0:
            return
        place, rates = limbs.attach(frame)
        turn = motion.X[index].R.T if world else place.R
        f, n = ca.sparsify(turn @ force), ca.sparsify(turn @ moment)
        shaping = None if rates is None else rates.dot(Vector6(n, f))
        wrench = Vector6(ca.sparsify(n + cross(place.r, f)), f, shaping)
        out.wrenches[index] = out.wrenches.get(index, NULL) + wrench

    for acting in m.forces.values():
        f = ca.sparsify(ca.vertcat(*(lower(x, leaf, limbs.held) for x in acting.force)))
        n = ca.sparsify(ca.vertcat(*(lower(x, leaf, limbs.held) for x in acting.moment)))
        out.efforts[acting.name] = ca.vertcat(ca.densify(f), ca.densify(n))
        at = motion.frame(acting.frame)
        on_frame(acting.frame, f, n, acting.world)
        if not acting.world:
            f, n = at.X.R @ f, at.X.R @ n
        out.power += dot(f, at.velocity.lin) + dot(n, at.velocity.ang)
    for tie in m.springs.values():
        a, b = motion.frame(tie.a), motion.frame(tie.b)
        d = ca.sparsify(b.X.r - a.X.r)
        d_dot = ca.sparsify(b.velocity.lin - a.velocity.lin)
        k, c, rest = limbs.number(tie.stiffness), limbs.number(tie.damping), limbs.number(tie.length)
        if is_zero(tie.length) and is_zero(tie.damping):
            pull = ca.sparsify(k * d)  # no direction needed: regular also where the points meet
            out.potential += k * dot(d, d) / 2
        else:
            length = ca.sqrt(dot(d, d))
            resist = c * dot(d, d_dot) / length
            pull = ca.sparsify((k * (length - rest) + resist) / length * d)
            out.potential += k * (length - rest) ** 2 / 2
            out.power -= resist * dot(d, d_dot) / length
        on_frame(tie.a, pull, ca.SX(3, 1), True)
        on_frame(tie.b, -pull, ca.SX(3, 1), True)
    return out


class Joints(Protocol):
    """Coordinates and velocities of joints, as springs and dampers see them."""

    def coordinates(self, joint: Joint) -> ca.SX:
        """Of a joint."""

    def velocities(self, joint: Joint) -> ca.SX:
        """Of a joint."""


class Sums(Protocol):
    """Where the energies of what acts are summed up."""

    potential: ca.SX
    power: ca.SX


def act_on_joints(
    limbs: Limbs,
    joints: Joints,
    on_joint: Callable[[str, int, ca.SX], ca.SX],
    out: Sums,
    without: Collection[str] = (),
) -> None:
    """Springs, dampers and stops of joints: ``on_joint`` adds an effort to a velocity, and returns the latter."""
    m = limbs.topology.mechanism
    for spring in m.joint_springs.values():
        if spring.name in without:
            continue
        k, rest = limbs.number(spring.stiffness), limbs.number(spring.rest)
        stretch = joints.coordinates(m.joints[spring.joint])[spring.index] - rest
        if spring.against is not None:
            stretch -= joints.coordinates(m.joints[spring.against[0]])[spring.against[1]]
            on_joint(*spring.against, k * stretch)
        on_joint(spring.joint, spring.index, -k * stretch)
        out.potential += k * stretch**2 / 2
    for damper in m.joint_dampers.values():
        if damper.name in without:
            continue
        v = joints.velocities(m.joints[damper.joint])[damper.index]
        if damper.against is not None:
            v -= joints.velocities(m.joints[damper.against[0]])[damper.against[1]]
        effort = -limbs.number(damper.damping) * v
        if not is_zero(damper.coulomb):
            effort -= limbs.number(damper.coulomb) * ca.tanh(v / limbs.number(damper.velocity))
        out.power += effort * on_joint(damper.joint, damper.index, effort)
        if damper.against is not None:
            out.power -= effort * on_joint(*damper.against, -effort)

    for stop in m.joint_stops.values():
        low, high = limbs.number(stop.low), limbs.number(stop.high)
        q = joints.coordinates(m.joints[stop.joint])[stop.index]
        v = joints.velocities(m.joints[stop.joint])[stop.index]
        # how far beyond the upper or lower stop, with its sign
        beyond = ca.fmax(q - high, 0) + ca.fmin(q - low, 0)
        k, resist = limbs.number(stop.stiffness), limbs.number(stop.damping) * ca.if_else(beyond == 0, 0, v)
        out.power -= resist * on_joint(stop.joint, stop.index, -k * beyond - resist)
        out.potential += k * beyond**2 / 2
