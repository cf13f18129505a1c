"""What resists the motion of a joint by itself: dampers, friction, stops."""

from __future__ import annotations

from closedchain.errors import ModelError
from closedchain.model.drawing import Drawing
from closedchain.model.expressions.expression import Expression, Number, check_number, is_zero
from closedchain.model.forces.actions import JointDamper, JointStop
from closedchain.model.parts import Friction, Joint, Stops


def add_damper(
    drawing: Drawing,
    name: str,
    joint: Joint,
    index: int,
    damping: Number,
    against: tuple[str, int] | None = None,
) -> JointDamper:
    """A viscous damper on a velocity, or between two of them, under a name that is taken already."""
    _refuse_negative(damping, name, "damping", "viscous friction or damping")
    number = drawing._number(damping, f"{name}.damping")
    damper = JointDamper(name, joint.name, index, number, against=against)
    drawing.joint_dampers[name] = damper
    return damper


def add_friction(drawing: Drawing, joint: Joint, index: int, friction: Friction) -> None:
    """Viscous and Coulomb friction in a velocity: a damper named after it."""
    name = joint.velocity_labels()[index] + ".friction"
    drawing._take(name)
    _refuse_negative(friction.viscous, name, "viscous", "viscous friction or damping")
    _refuse_negative(friction.coulomb, name, "coulomb", "Coulomb friction")
    velocity = check_number(friction.velocity, f"{name}.velocity")
    if not isinstance(velocity, Expression) and not velocity > 0:
        raise ModelError(f"{name}: the velocity over which friction changes sign must be positive, not {velocity}")
    viscous = drawing._number(friction.viscous, f"{name}.viscous")
    dry = drawing._number(friction.coulomb, f"{name}.coulomb")
    scale = 1.0 if is_zero(dry) else drawing._number(velocity, f"{name}.velocity")
    drawing.joint_dampers[name] = JointDamper(name, joint.name, index, viscous, dry, scale)


def add_stop(drawing: Drawing, joint: Joint, index: int, stop: Stops) -> None:
    """Stops that hold a coordinate, named after it."""
    if joint.type.has_quaternion:
        raise ModelError(f"joint {joint.name!r}: stops need an angle or a length; a {joint.type.name} joint has none")
    name = joint.labels()[index] + ".stop"
    drawing._take(name)
    k, c = drawing._number(stop.stiffness, f"{name}.stiffness"), drawing._number(stop.damping, f"{name}.damping")
    low, high = drawing._number(stop.low, f"{name}.low"), drawing._number(stop.high, f"{name}.high")
    drawing.joint_stops[name] = JointStop(name, joint.name, index, low, high, k, c)


def _refuse_negative(value: Number, name: str, field: str, what: str) -> None:
    number = check_number(value, f"{name}.{field}")
    if not isinstance(number, Expression) and number < 0:
        raise ModelError(f"{name}: {what} must not be negative, got {number:g}: it would feed energy in")
