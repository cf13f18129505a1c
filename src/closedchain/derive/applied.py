"""What acts on the limbs: the actions of all forces (`model.forces.force`), their potential and their power.

The theory is in ``docs/theory/equations.md``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Protocol

import casadi as ca

from closedchain.derive.kinematics import Kinematics
from closedchain.derive.limbs import Limbs
from closedchain.derive.lower import lower, lower_all
from closedchain.derive.measure import JointMeasures
from closedchain.derive.spatial import NULL, Vector6, cross, dot
from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Expression
from closedchain.model.forces.force import Along, At, actions, reported
from closedchain.model.parts import Frame


@dataclass(eq=False)
class Applied:
    """Sums over everything that acts.

    Attributes
    ----------
    tau
        Generalised forces of what acts along joints, n.
    wrenches
        On links by number, in the link's frame.
    potential
        Of springs, J.
    power
        Of everything that no potential describes, W.
    efforts
        Traced efforts by name as results show them (`reported`), and to find the culprit when one is not a number.
    powers
        Power by force, of what no potential describes, W.
    on_joints
        All that acts along the freedoms of a joint, by joint.
    on_frames
        Forces and moments at frames of moving bodies, in world axes.
    laws
        Symbols of efforts of control laws, which stand in nothing above any more, and what they are.
    """

    tau: ca.SX
    wrenches: dict[int, Vector6] = field(default_factory=dict)
    potential: ca.SX = field(default_factory=lambda: ca.SX(0))
    power: ca.SX = field(default_factory=lambda: ca.SX(0))
    efforts: dict[str, ca.SX] = field(default_factory=dict)
    powers: dict[str, ca.SX] = field(default_factory=dict)
    on_joints: dict[str, ca.SX] = field(default_factory=dict)
    on_frames: list[tuple[Frame, ca.SX, ca.SX]] = field(default_factory=list)
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
    """Trace all that acts on a mechanism, leaving out what is named in ``without``."""
    m = limbs.topology.mechanism
    out = Applied(ca.SX(limbs.topology.nv, 1))

    def along(part: Along, effort: ca.SX) -> ca.SX:
        """Add an effort to a joint velocity; returns its power."""
        J = measures.jacobian(m.joints[part.joint])[part.index, :]
        out.tau = ca.sparsify(out.tau + J.T * effort)
        sum_ = out.on_joints.setdefault(part.joint, ca.SX.zeros(m.joints[part.joint].type.nv, 1))
        sum_[part.index] += effort
        return effort * ca.densify(J @ limbs.v)

    def at(part: At, force: ca.SX, moment: ca.SX) -> ca.SX:
        """Add a force and a moment, in the axes of the part, to the body of a frame; returns their power."""
        frame, there = part.frame, motion.frame(part.frame)
        index = limbs.topology.link_of[frame.body.name]
        f, n = (force, moment) if part.world else (there.X.R @ force, there.X.R @ moment)
        if index >= 0:
            out.on_frames.append((frame, f, n))
            place, rates = limbs.attach(frame)
            turn = motion.X[index].R.T if part.world else place.R
            own_f, own_n = ca.sparsify(turn @ force), ca.sparsify(turn @ moment)
            shaping = None if rates is None else rates.dot(Vector6(own_n, own_f))
            wrench = Vector6(ca.sparsify(own_n + cross(place.r, own_f)), own_f, shaping)
            out.wrenches[index] = out.wrenches.get(index, NULL) + wrench
        return dot(f, there.velocity.lin) + dot(n, there.velocity.ang)

    trace_actions(limbs, lambda node: trace_leaf(limbs, motion, measures, node), (along, at), out, without)
    return out


class Sums(Protocol):
    """Where what acts is summed up."""

    potential: ca.SX
    power: ca.SX
    efforts: dict[str, ca.SX]
    powers: dict[str, ca.SX]


Put = tuple[Callable[[Along, ca.SX], ca.SX], Callable[[At, ca.SX, ca.SX], ca.SX]]
"""What adds an effort along a freedom, and a force and a moment at a frame; both return the power"""


def trace_actions(
    limbs: Limbs, leaf: Callable[[Expression], ca.SX], put: Put, out: Sums, without: Collection[str] = ()
) -> None:
    """Trace the action of every force: ``put`` adds its parts to the equations, energies are added here."""
    m = limbs.topology.mechanism
    along, at = put
    names = {id(part): name for name, part in reported(m).items()}
    for force, action in actions(m):
        if force.name in without:
            continue
        numbers = iter(lower_all(action.numbers, leaf, limbs.held))
        power = ca.SX(0)
        for part in action.parts:
            if isinstance(part, Along):
                effort = next(numbers)
                given = along(part, effort)
            else:
                f, n = (ca.sparsify(ca.vertcat(*itertools.islice(numbers, 3))) for _ in range(2))
                effort = ca.vertcat(ca.densify(f), ca.densify(n))
                given = at(part, f, n)
            if id(part) in names:
                out.efforts[names[id(part)]] = effort
            power += given
        if action.power is not None:
            (power,) = numbers
        potential = ca.densify(lower(action.potential, leaf))
        by_time = ca.jacobian(potential, limbs.t)
        if by_time.nnz():  # what changes a spring of stiffness k(t) does work
            power += by_time
        out.powers[force.name] = power
        out.power += power
        out.potential += potential
