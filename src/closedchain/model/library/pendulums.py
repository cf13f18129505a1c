"""Open chains: the simplest mechanisms, with motions that are known in closed form or to all digits."""

from __future__ import annotations

from closedchain.model.bodies.shapes import rod
from closedchain.model.expressions.expression import Number
from closedchain.model.expressions.functions import pi
from closedchain.model.mechanism import Mechanism


def pendulum(length: Number = 1.0, mass: Number = 1.0, g: Number = 9.81) -> Mechanism:
    """A rod on a hinge; the angle is measured from the x axis, gravity points along -y."""
    m = Mechanism("pendulum", gravity=(0, -g, 0))
    arm = m.body("arm", rod(length=length, mass=mass))
    m.revolute("hinge", m.ground, arm)
    m.start = {"hinge": 0.0}
    return m


def double_pendulum(
    lengths: tuple[Number, Number] = (1.0, 1.0), masses: tuple[Number, Number] = (1.0, 1.0)
) -> Mechanism:
    """Two rods on hinges in the vertical plane; released with the first rod level and the second one hanging."""
    m = Mechanism("double-pendulum", gravity=(0, -9.81, 0))
    upper = m.body("upper", rod(length=lengths[0], mass=masses[0]))
    lower = m.body("lower", rod(length=lengths[1], mass=masses[1]))
    m.revolute("shoulder", m.ground, upper)
    m.revolute("elbow", upper.tip, lower)
    m.start = {"shoulder": 0.0, "elbow": -pi / 2}
    return m
