"""Actuators on a drawing: a motor with its law, a rotor, friction; for series elasticity also a shaft and a spring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from closedchain.errors import ModelError
from closedchain.model.actuators.base import ActuatorModel
from closedchain.model.actuators.series_elastic import SeriesElastic
from closedchain.model.bodies.shapes import massless
from closedchain.model.expressions.expression import is_zero
from closedchain.model.forces.actions import Actuator, JointDamper, JointSpring, Motor, Rotor
from closedchain.model.forces.efforts import coordinate_leaf, effort
from closedchain.model.joints.types import JOINT_TYPES
from closedchain.model.parts import Joint

if TYPE_CHECKING:
    from closedchain.model.mechanism import Mechanism


def draw_actuator(m: Mechanism, joint: Joint, index: int, model: Any, command: Any, name: str | None) -> Actuator:
    """Draw a model on velocity ``index`` of a joint; a command of None is refused."""
    what = f"actuator on {joint.name!r}"
    if not isinstance(model, ActuatorModel):
        raise ModelError(f"{what} needs a model, for instance cc.ForceLimit(-50, 50), not {model!r}")
    _check_joint(joint, index, model, what)
    name = m._free_name(name, f"{joint.name}.motor")
    model = model.mapped(lambda x, field: m._number(x, f"{name}.{field}"))
    model.check(what, m.values())
    if command is None:
        raise ModelError(f"{what}: give its command, a {model.meaning} ({model.drives[model.meaning]}), as command=...")
    wanted = effort(m, command, f"{name}.command")

    inner, end, at = model, joint, index
    if isinstance(model, SeriesElastic):
        inner, at = model.actuator, 0
        end = _shaft(m, joint, index, model, name)
    speed = coordinate_leaf("velocity", end, end.type.velocities[at])
    m.motors[name] = Motor(name, end.name, at, effort(m, inner.exerted(wanted, speed), name))
    if inner.rotor is not None:
        m._take(f"{name}.rotor")
        m.rotors[f"{name}.rotor"] = Rotor(f"{name}.rotor", end.name, at, *inner.rotor)
    if inner.friction is not None:
        m._take(f"{name}.friction")
        m.joint_dampers[f"{name}.friction"] = JointDamper(f"{name}.friction", end.name, at, *inner.friction)
    m.actuators[name] = drawn = Actuator(name, end.name, at, model, (joint.name, index))
    return drawn


def _check_joint(joint: Joint, index: int, model: ActuatorModel, what: str) -> None:
    turning = joint.type.velocity_units[index] == "rad/s"
    if model.turns is not None and model.turns != turning:
        others = "ElectricCylinder, HydraulicCylinder" if model.turns else "DCMotor"
        moves = ("slides", "turns")
        raise ModelError(
            f"{what}: {joint.velocity_labels()[index]} {moves[turning]}, but a {type(model).__name__} "
            f"{moves[model.turns]}: use {others} or ForceLimit"
        )
    along = {motion.kind for motion in joint.type.motions if motion.coordinate == index}
    if isinstance(model, SeriesElastic) and not along & {"Rz", "Tz"}:
        raise ModelError(f"{what}: SeriesElastic stands on a revolute, prismatic, cylindrical or screw joint")


def _shaft(m: Mechanism, joint: Joint, index: int, model: SeriesElastic, name: str) -> Joint:
    """The motor's side of a spring: a shaft on the joint's first body, about or along the joint's axis.

    It has no mass: its inertia counts against its own coordinate alone, as that of all rotors.
    """
    turning = joint.type.velocity_units[index] == "rad/s"
    body = m.body(f"{name}.shaft", massless())
    label = f"{name}.angle" if turning else f"{name}.slide"
    m._take(label)
    shaft = Joint(
        name=label,
        type=JOINT_TYPES["revolute" if turning else "prismatic"],
        a=joint.a,
        b=body["origin"],
        rotation=joint.rotation,
        guess=joint.guess[index : index + 1],
        cut=False,
    )
    m.joints[shaft.name] = shaft
    driven = joint.labels()[index]
    if driven in m.start:  # the spring starts without a load
        m.start[shaft.name] = m.start[driven]
    m._take(f"{name}.spring")
    spring = JointSpring(f"{name}.spring", joint.name, index, model.stiffness, 0.0, (shaft.name, 0))
    m.joint_springs[spring.name] = spring
    if not is_zero(model.damping):
        m._take(f"{name}.damper")
        damper = JointDamper(f"{name}.damper", joint.name, index, model.damping, against=(shaft.name, 0))
        m.joint_dampers[damper.name] = damper
    if not is_zero(model.inertia):
        m._take(f"{name}.inertia")
        m.rotors[f"{name}.inertia"] = Rotor(f"{name}.inertia", shaft.name, 0, model.inertia, 1.0)
    return shaft
