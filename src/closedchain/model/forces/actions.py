"""What acts in a mechanism: motors, actuators, springs, dampers, stops, rotors, gears, drives, forces. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from closedchain.model.actuators.base import ActuatorModel, Values
from closedchain.model.bodies.shapes import Vector
from closedchain.model.expressions.expression import Number
from closedchain.model.parts import Frame

if TYPE_CHECKING:
    from closedchain.model.mechanism import Mechanism


class Law(Protocol):
    """What controls a mechanism: it says which coordinates are driven, and how."""

    def efforts(self, mechanism: Mechanism) -> Mapping[str, Number]:
        """Torques and forces by coordinate, named as in results: ``"O"``, or ``"table.x"``."""


@dataclass(frozen=True, eq=False)
class Motor:
    """A force or torque ``effort`` on velocity number ``index`` of a joint."""

    name: str
    joint: str
    index: int
    effort: Number


@dataclass(frozen=True, eq=False)
class Actuator:
    """A model of a motor or cylinder, as it is drawn. Its effort is that of the motor of the same name.

    Attributes
    ----------
    joint, index
        The velocity that its effort acts on.
    model
        With parameters of the drawing for its numbers.
    output
        The velocity that it drives: the same, unless there is a spring between them.
    """

    name: str
    joint: str
    index: int
    model: ActuatorModel
    output: tuple[str, int]

    def numbers(self, value: Values) -> ActuatorModel:
        """The model with plain numbers, for questions: ``m.actuators[name].numbers(m.values())``."""
        return self.model.mapped(lambda x, _: value(x))


@dataclass(frozen=True, eq=False)
class JointSpring:
    """``-stiffness (q - rest)`` on one coordinate of a joint.

    With ``against``, a coordinate (joint, index), it acts on the difference of both, and on that one the other way.
    """

    name: str
    joint: str
    index: int
    stiffness: Number
    rest: Number
    against: tuple[str, int] | None = None


@dataclass(frozen=True, eq=False)
class JointDamper:
    """``-(damping v + coulomb tanh(v / velocity))`` on one velocity of a joint; ``against`` as for a `JointSpring`."""

    name: str
    joint: str
    index: int
    damping: Number
    coulomb: Number = 0.0
    velocity: Number = 1.0
    against: tuple[str, int] | None = None


@dataclass(frozen=True, eq=False)
class JointStop:
    """A compliant stop: outside (low, high) a coordinate meets ``stiffness`` and ``damping``."""

    name: str
    joint: str
    index: int
    low: Number
    high: Number
    stiffness: Number
    damping: Number


@dataclass(frozen=True, eq=False)
class Rotor:
    """A rotor geared to a joint velocity: it adds ``inertia ratio^2`` there."""

    name: str
    joint: str
    index: int
    inertia: Number
    ratio: Number


@dataclass(frozen=True, eq=False)
class Coupling:
    """A gear or mimic joint: coordinate ``driven`` equals ``ratio`` times coordinate ``driver`` plus ``offset``."""

    name: str
    driven: tuple[str, int]
    driver: tuple[str, int]
    ratio: Number
    offset: Number


@dataclass(frozen=True, eq=False)
class Drive:
    """A prescribed motion: a coordinate of a joint is a function of time; the force it takes is a result."""

    name: str
    joint: str
    index: int
    position: Number


@dataclass(frozen=True, eq=False)
class FrameForce:
    """A force and a moment at a frame, in world axes or in the frame's own."""

    name: str
    frame: Frame
    force: Vector
    moment: Vector
    world: bool


@dataclass(frozen=True, eq=False)
class PointSpring:
    """A spring and damper between the origins of two frames: pull ``k (d - length) + c d'`` at distance d."""

    name: str
    a: Frame
    b: Frame
    stiffness: Number
    length: Number
    damping: Number
