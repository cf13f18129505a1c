"""What acts on a flexible mechanism (ERLS): motors, springs, dampers, stops, rotors and forces, at the true joints.

A joint's true coordinate is that of the rigid-link system plus what elasticity adds: a motor turns the end of a beam,
not its rigid link. Forces at frames act on the nearest node by a rigid arm. Everything is projected by the rates it
works on: ``Q = (d rate / d(v, u'))' effort``; on the displacements that is the paper's f in (14), mended: ``du' f``.

Laws are expressions of time, of true coordinates and velocities, and of places and speeds of frames.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca

from closedchain.derive.applied import trace_actions
from closedchain.derive.erls.links import Displacements
from closedchain.derive.rotors import rotor_inertia
from closedchain.derive.spatial import dot
from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Expression
from closedchain.model.forces.control import traced_laws
from closedchain.model.forces.force import Along, At
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
        By name, as results show them.
    powers
        By force, of what no potential describes, W.
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
    powers: dict[str, ca.SX] = field(default_factory=dict)
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

    def along(part: Along, effort: ca.SX) -> ca.SX:
        """Add an effort to a velocity of a joint; returns its power."""
        rate = true.velocities(m.joints[part.joint])[part.index]
        push(rate, effort)
        key = part.joint, part.index
        out.on_joints[key] = out.on_joints.get(key, ca.SX(0)) + effort
        return effort * rate

    def at(part: At, force: ca.SX, moment: ca.SX) -> ca.SX:
        """Add a force and a moment to the node of a frame; returns their power."""
        frame = part.frame
        index = e.topology.link_of[frame.body.name]
        if index < 0:
            return ca.SX(0)
        if not part.world:
            R = d.body_pose(index).R @ _turned(d, frame)
            force, moment = ca.sparsify(R @ force), ca.sparsify(R @ moment)
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

    trace_actions(limbs, true.leaf, (along, at), out)
    for rotor in m.rotors.values():
        inertia = rotor_inertia(limbs, rotor)
        effort = -inertia * true.acceleration(m.joints[rotor.joint], rotor.index)
        along(Along(rotor.joint, 0.0, rotor.index), effort)
        turns = true.velocities(m.joints[rotor.joint])[rotor.index]
        out.kinetic += inertia * turns**2 / 2
    return out


def _turned(d: Displacements, frame: Frame) -> ca.SX:
    """Axes of a frame in its body, turned with its node."""
    theta = ca.densify(d.at(d.nodes.of(frame)).ang)
    return (ca.SX.eye(3) + ca.skew(theta)) @ d.e.limbs.in_body(frame).R
