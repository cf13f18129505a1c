"""What acts on a cut mechanism, for any engine: motors, springs, dampers, stops, rotors, forces, gears and drives.

Everything is computed from what the engine tells of the motion of bodies (`engines.Tree.motion`): the velocities of a
joint, cut or not, are the relative twist of its two frames along its freedoms, and a force on a body works along the
engine's own Jacobian. Laws of time and motion are evaluated with NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from benchmarks.attack.engines import Plan, Tree, relative
from closedchain.model.expressions.expression import Expression
from closedchain.model.parts import Frame
from tests.identities.independent import STEP, difference


@dataclass
class Freedoms:
    """Coordinates and velocities of a joint, with ``v' = J a + bias``."""

    q: np.ndarray
    v: np.ndarray
    J: np.ndarray
    bias: np.ndarray


@dataclass
class Added:
    """What is added to ``M a + bias = 0``: inertia, forces on the right, and rows ``A a = b``."""

    M: np.ndarray
    effort: np.ndarray
    A: np.ndarray
    b: np.ndarray


def added(plan: Plan, tree: Tree, t: float) -> Added:
    """All that acts, at a time."""
    m, n = plan.topology.mechanism, len(tree.bias)
    number = plan.model.value
    out = Added(np.zeros((n, n)), np.zeros(n), np.zeros((0, n)), np.zeros(0))

    @cache
    def freedoms(name: str) -> Freedoms:
        joint = m.joints[name]
        motion = relative(plan, tree, joint)
        along = np.linalg.pinv(motion.Phi)
        v = along @ motion.V
        return Freedoms(coordinates(plan, joint), v, along @ motion.J, along @ (motion.D - motion.rate(v)))

    def law(x: Any, t: complex = t) -> Any:
        """A number, or an expression of time, coordinates and velocities."""

        def leaf(node: Expression) -> Any:
            if node.op == "time":
                return t
            if node.op == "parameter":
                return number(node)
            joint = m.joints[node.args[0]]
            names = joint.type.coordinates if node.op == "coordinate" else joint.type.velocities
            values = freedoms(joint.name).q if node.op == "coordinate" else freedoms(joint.name).v
            return values[0 if node.args[1] is None else names.index(node.args[1])]

        return x.evaluate(leaf) if isinstance(x, Expression) else float(x)

    def on_joint(name: str, index: int, effort: float) -> None:
        out.effort += freedoms(name).J[index] * effort

    def row(coordinates: list[tuple[str, int, float]], wanted: float) -> None:
        """The accelerations of some coordinates, weighted, add up to a number."""
        A = sum(weight * freedoms(name).J[i] for name, i, weight in coordinates)
        drift = sum(weight * freedoms(name).bias[i] for name, i, weight in coordinates)
        out.A, out.b = np.vstack([out.A, A]), np.append(out.b, wanted - drift)

    for motor in m.motors.values():
        on_joint(motor.joint, motor.index, law(motor.effort))
    for spring in m.joint_springs.values():
        stretch = freedoms(spring.joint).q[spring.index] - number(spring.rest)
        if spring.against:
            stretch -= freedoms(spring.against[0]).q[spring.against[1]]
            on_joint(*spring.against, number(spring.stiffness) * stretch)
        on_joint(spring.joint, spring.index, -number(spring.stiffness) * stretch)
    for damper in m.joint_dampers.values():
        v = freedoms(damper.joint).v[damper.index]
        if damper.against:
            v -= freedoms(damper.against[0]).v[damper.against[1]]
        resist = number(damper.damping) * v + number(damper.coulomb) * np.tanh(v / number(damper.velocity))
        on_joint(damper.joint, damper.index, -resist)
        if damper.against:
            on_joint(*damper.against, resist)
    for stop in m.joint_stops.values():
        at = freedoms(stop.joint)
        q, v = at.q[stop.index], at.v[stop.index]
        beyond = max(q - number(stop.high), 0.0) + min(q - number(stop.low), 0.0)
        if beyond:
            on_joint(stop.joint, stop.index, -number(stop.stiffness) * beyond - number(stop.damping) * v)
    for rotor in m.rotors.values():
        at, inertia = freedoms(rotor.joint), number(rotor.inertia) * number(rotor.ratio) ** 2
        out.M += inertia * np.outer(at.J[rotor.index], at.J[rotor.index])
        on_joint(rotor.joint, rotor.index, -inertia * at.bias[rotor.index])

    def place(frame: Frame) -> np.ndarray:
        """Pose of a frame in the world."""
        return plan.poses[frame.body.name] @ plan.model.frame(frame)

    for push in m.forces.values():
        T = place(push.frame)
        R = np.eye(3) if push.world else T[:3, :3]
        wrench = np.concatenate([R @ [law(x) for x in push.moment], R @ [law(x) for x in push.force]])
        out.effort += tree.motion(push.frame.body.name, T[:3, 3])[0].T @ wrench
    for tie in m.springs.values():
        a, b = place(tie.a)[:3, 3], place(tie.b)[:3, 3]
        Ja, Va, _ = tree.motion(tie.a.body.name, a)
        Jb, Vb, _ = tree.motion(tie.b.body.name, b)
        d, length = b - a, np.linalg.norm(b - a)
        along = d / length
        pull = number(tie.stiffness) * (length - number(tie.length)) + number(tie.damping) * along @ (Vb - Va)[3:]
        out.effort += (Ja - Jb)[3:].T @ (pull * along)
    for gear in m.couplings.values():
        row([(*gear.driven, 1.0), (*gear.driver, -number(gear.ratio))], 0.0)
    for drive in m.drives.values():

        def speed(s: float, drive: Any = drive) -> float:
            return np.imag(law(drive.position, t + s + 1j * STEP)) / STEP

        row([(drive.joint, drive.index, 1.0)], difference(speed, 1e-3))
    return out


def coordinates(plan: Plan, joint: Any) -> np.ndarray:
    """Coordinates of a joint: as numbered, or of a cut joint from the pose, with whole turns from its counters."""
    for link in plan.topology.links:
        if link.joint is joint:
            return plan.q[link.q]
    X = plan.model.relative(joint, plan.q)
    r, angle = X[:3, 3], np.arctan2(X[1, 0], X[0, 0])
    kind = joint.type.name
    if kind == "screw":
        return np.array([r[2] / (plan.model.pitch(joint) / (2 * np.pi))])
    if kind == "universal":
        q = np.array([np.arctan2(X[2, 1], X[1, 1]), np.arctan2(X[0, 2], X[0, 0])])
    else:
        q = np.array({"revolute": [angle], "prismatic": [r[2]], "cylindrical": [angle, r[2]],
                      "planar": [r[0], r[1], angle]}.get(kind, []))  # fmt: skip
    for counter in plan.topology.counters:
        if counter.joint is joint:
            k = counter.index
            q[k] += 2 * np.pi * np.round((plan.q[counter.q] - q[k]) / (2 * np.pi))
    return q
