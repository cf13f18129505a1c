"""What acts on a flexible mechanism (ERLS): motors, springs, dampers, stops, rotors and forces, at the true joints.

A joint's true coordinate is that of the rigid-link system plus what elasticity adds: a motor turns the end of a beam,
not its rigid link. Forces at frames act on the nearest node by a rigid arm. Everything is projected by the rates it
works on: ``Q = (d rate / d(v, u'))' effort``; on the displacements that is the paper's f in (14), mended: ``du' f``.

Laws are expressions of time, of true coordinates and velocities, and of places and speeds of frames.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca

from closedchain.derive.applied import act_on_joints
from closedchain.derive.erls.links import Displacements
from closedchain.derive.lower import lower
from closedchain.derive.rotors import rotor_inertia
from closedchain.derive.spatial import dot
from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Expression, is_zero
from closedchain.model.forces.control import traced_laws
from closedchain.model.parts import Frame, Joint


@dataclass(eq=False)
class Loads:
    """Sums over everything that acts.

    Attributes
    ----------
    on_v, on_u
        Generalised forces on the velocities of the tree and on the displacements; rotors are in them, with
        accelerations.
    potential
        Of springs, J.
    kinetic
        Of rotors, J.
    power
        Of everything that no potential describes, W.
    efforts
        Of each motor and force, by name.
    on_joints
        What acts along a freedom (joint, number), all of it together.
    on_frames
        Forces and moments at frames of moving bodies, in world axes.
    """

    on_v: ca.SX
    on_u: ca.SX
    potential: ca.SX = field(default_factory=lambda: ca.SX(0))
    kinetic: ca.SX = field(default_factory=lambda: ca.SX(0))
    power: ca.SX = field(default_factory=lambda: ca.SX(0))
    efforts: dict[str, ca.SX] = field(default_factory=dict)
    on_joints: dict[tuple[str, int], ca.SX] = field(default_factory=dict)
    on_frames: list[tuple[Frame, ca.SX, ca.SX]] = field(default_factory=list)


class TrueJoints:
    """Coordinates and velocities of joints with what elasticity adds."""

    def __init__(self, displacements: Displacements) -> None:
        self.d, self.e = displacements, displacements.e

    def coordinates(self, joint: Joint) -> ca.SX:
        """True coordinates; those of a quaternion are of the rigid-link system."""
        rigid = self.e.measures.coordinates(joint)
        return rigid if joint.type.has_quaternion else rigid + self.d.relative(joint)

    def velocities(self, joint: Joint) -> ca.SX:
        """True velocities."""
        return self.e.measures.velocities(joint) + self.d.rate(self.d.relative(joint))

    def acceleration(self, joint: Joint, index: int) -> ca.SX:
        """One of the true accelerations."""
        row, bias = self.e.measures.velocity_row(joint.name, index)
        gained = self.d.second_rate(self.d.rate(self.d.relative(joint)))[index]
        return ca.densify(row @ self.d.a) + bias + gained

    def leaf(self, node: Expression) -> ca.SX:
        """The traced value of a leaf of a law."""
        limbs, m = self.e.limbs, self.e.topology.mechanism
        if node.op == "parameter":
            return limbs._parameter(node)
        if node.op == "sampled":
            raise ModelError(
                f"{node}: ERLS has no sampled controllers yet; write the law as an expression, or use a floating frame "
                "(cc.Multipliers())"
            )
        if node.op == "time":
            return limbs.t
        if node.op in ("place", "speed"):
            body, name, axis = node.args
            place = self.d.place(m.find_frame(f"{body}.{name}"))
            return (place if node.op == "place" else self.d.rate(place))[axis]
        joint = m.joints[node.args[0]]
        names = joint.type.coordinates if node.op == "coordinate" else joint.type.velocities
        values = self.coordinates(joint) if node.op == "coordinate" else self.velocities(joint)
        return values[0 if node.args[1] is None else names.index(node.args[1])]


def trace_loads(d: Displacements) -> Loads:
    """Trace all that acts on a mechanism."""
    e = d.e
    limbs, m = e.limbs, e.topology.mechanism
    if traced_laws(m):
        raise ModelError(f"{traced_laws(m)[0]!r} knows the equations of a rigid mechanism: with ERLS use cc.PD(...)")
    if m.couplings:
        raise ModelError(
            f"gear {next(iter(m.couplings))!r}: ERLS has no gears between joints; draw the gear's compliance as a "
            "joint spring with against=..., or use a floating frame (cc.Multipliers())"
        )
    true = TrueJoints(d)
    out = Loads(ca.SX.zeros(e.topology.nv, 1), ca.SX.zeros(len(d.of), 1))

    def push(rate: ca.SX, effort: ca.SX) -> None:
        """An effort on a rate (both columns)."""
        rate = ca.densify(rate)
        out.on_v += ca.jacobian(rate, limbs.v).T @ effort
        out.on_u += ca.jacobian(rate, d.u_dot).T @ effort

    def on_joint(name: str, index: int, effort: ca.SX) -> ca.SX:
        rate = true.velocities(m.joints[name])[index]
        push(rate, effort)
        out.on_joints[name, index] = out.on_joints.get((name, index), ca.SX(0)) + effort
        return rate

    for motor in m.motors.values():
        effort = lower(motor.effort, true.leaf, limbs.held)
        out.efforts[motor.name] = effort
        out.power += effort * on_joint(motor.joint, motor.index, effort)
    act_on_joints(limbs, true, on_joint, out)
    for rotor in m.rotors.values():
        inertia = rotor_inertia(limbs, rotor)
        turns = on_joint(rotor.joint, rotor.index, -inertia * true.acceleration(m.joints[rotor.joint], rotor.index))
        out.kinetic += inertia * turns**2 / 2

    def on_frame(frame: Frame, force: ca.SX, moment: ca.SX) -> ca.SX:
        """A force and a moment in world axes; returns their power."""
        index = e.topology.link_of[frame.body.name]
        if index < 0:
            return ca.SX(0)
        out.on_frames.append((frame, force, moment))
        velocity = d.rate(d.place(frame))
        push(velocity, force)
        power = dot(force, velocity)
        if moment.nnz():
            turning = d.rate(ca.densify(d.at(d.nodes.of(frame)).ang))
            spin = d.body_pose(index).R @ (ca.densify(d.bodies[index].twist.ang) + turning)
            push(spin, moment)
            power += dot(moment, spin)
        return power

    for acting in m.forces.values():
        f = ca.sparsify(ca.vertcat(*(lower(x, true.leaf, limbs.held) for x in acting.force)))
        n = ca.sparsify(ca.vertcat(*(lower(x, true.leaf, limbs.held) for x in acting.moment)))
        out.efforts[acting.name] = ca.vertcat(ca.densify(f), ca.densify(n))
        if not acting.world:
            R = d.body_pose(e.topology.link_of[acting.frame.body.name]).R @ _turned(d, acting.frame)
            f, n = ca.sparsify(R @ f), ca.sparsify(R @ n)
        out.power += on_frame(acting.frame, f, n)
    for tie in m.springs.values():
        way = d.place(tie.b) - d.place(tie.a)
        way_dot = d.rate(way)
        k, c, rest = limbs.number(tie.stiffness), limbs.number(tie.damping), limbs.number(tie.length)
        if is_zero(tie.length) and is_zero(tie.damping):
            pull = k * way
            out.potential += k * dot(way, way) / 2
        else:
            length = ca.sqrt(dot(way, way))
            resist = c * dot(way, way_dot) / length
            pull = (k * (length - rest) + resist) / length * way
            out.potential += k * (length - rest) ** 2 / 2
            out.power -= resist * dot(way, way_dot) / length
        on_frame(tie.a, pull, ca.SX(3, 1))
        on_frame(tie.b, -pull, ca.SX(3, 1))
    return out


def _turned(d: Displacements, frame: Frame) -> ca.SX:
    """Axes of a frame in its body, turned with its node."""
    theta = ca.densify(d.at(d.nodes.of(frame)).ang)
    return (ca.SX.eye(3) + ca.skew(theta)) @ d.e.limbs.in_body(frame).R
