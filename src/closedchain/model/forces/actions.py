"""What acts in a mechanism: motors, actuators, springs, dampers, stops, rotors, gears, drives, forces. Plain data.

Those that are forces say what they do in ``action``; see `closedchain.model.forces.force`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from closedchain.model.actuators.base import ActuatorModel, Values
from closedchain.model.bodies.shapes import Vector
from closedchain.model.expressions.expression import Number, is_zero
from closedchain.model.expressions.functions import dead_zone, sqrt, tanh, unless_zero
from closedchain.model.forces.force import Action, Along, At, Force
from closedchain.model.parts import Frame

if TYPE_CHECKING:
    from closedchain.model.mechanism import Mechanism


class Law(Protocol):
    """What controls a mechanism: it says which coordinates are driven, and how."""

    def efforts(self, mechanism: Mechanism) -> Mapping[str, Number]:
        """Torques and forces by coordinate, named as in results: ``"O"``, or ``"table.x"``."""


@dataclass(frozen=True, eq=False)
class Motor(Force):
    """A force or torque ``effort`` on velocity number ``index`` of a joint."""

    joint: str
    index: int
    effort: Number

    def action(self, m: Mechanism) -> Action:
        """The effort."""
        return Action(Along(self.joint, self.effort, self.index))


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
class JointSpring(Force):
    """``-stiffness (q - rest)`` on one coordinate of a joint.

    With ``against``, a coordinate (joint, index), it acts on the difference of both, and on that one the other way.
    """

    joint: str
    index: int
    stiffness: Number
    rest: Number
    against: tuple[str, int] | None = None

    shown: ClassVar[bool] = False

    def action(self, m: Mechanism) -> Action:
        """``-k s`` with the stretch s; the potential is ``k s^2 / 2``."""
        stretch, other = m.joints[self.joint].coordinate(self.index) - self.rest, []
        if self.against is not None:
            joint, index = self.against
            stretch = stretch - m.joints[joint].coordinate(index)
            other = [Along(joint, self.stiffness * stretch, index)]
        mine = Along(self.joint, -self.stiffness * stretch, self.index)
        return Action(*other, mine, potential=self.stiffness * stretch**2 / 2)

    def centres(self) -> dict[tuple[str, int], Number]:
        """The coordinate matters about its rest."""
        mine: dict[tuple[str, int], Number] = {(self.joint, self.index): self.rest}
        return mine if self.against is None else mine | {self.against: 0.0}


@dataclass(frozen=True, eq=False)
class JointDamper(Force):
    """``-(damping v + coulomb tanh(v / velocity))`` on one velocity of a joint; ``against`` as for a `JointSpring`."""

    joint: str
    index: int
    damping: Number
    coulomb: Number = 0.0
    velocity: Number = 1.0
    against: tuple[str, int] | None = None

    shown: ClassVar[bool] = False

    def action(self, m: Mechanism) -> Action:
        """The effort, and the opposite on the other velocity."""
        v, other = m.joints[self.joint].velocity(self.index), []
        if self.against is not None:
            v = v - m.joints[self.against[0]].velocity(self.against[1])
        effort = -self.damping * v
        if not is_zero(self.coulomb):
            effort = effort - self.coulomb * tanh(v / self.velocity)
        if self.against is not None:
            other = [Along(self.against[0], -effort, self.against[1])]
        return Action(Along(self.joint, effort, self.index), *other)


@dataclass(frozen=True, eq=False)
class JointStop(Force):
    """A compliant stop: outside (low, high) a coordinate meets ``stiffness`` and ``damping``."""

    joint: str
    index: int
    low: Number
    high: Number
    stiffness: Number
    damping: Number

    shown: ClassVar[bool] = False

    def action(self, m: Mechanism) -> Action:
        """``-k s - c v`` as far as s is beyond a limit, which has the potential ``k s^2 / 2``."""
        joint = m.joints[self.joint]
        v = joint.velocity(self.index)
        beyond = dead_zone(joint.coordinate(self.index), self.low, self.high)
        resist = self.damping * unless_zero(beyond, v)
        effort = -self.stiffness * beyond - resist
        potential = self.stiffness * beyond**2 / 2
        return Action(Along(self.joint, effort, self.index), potential=potential, power=-(resist * v))

    def centres(self) -> dict[tuple[str, int], Number]:
        """The coordinate matters between its limits."""
        return {(self.joint, self.index): (self.low + self.high) / 2}


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
class FrameForce(Force):
    """A force and a moment at a frame, in world axes or in the frame's own."""

    frame: Frame
    force: Vector
    moment: Vector
    world: bool

    def action(self, m: Mechanism) -> Action:
        """The wrench."""
        return Action(At(self.frame, self.force, self.moment, self.world))


@dataclass(frozen=True, eq=False)
class PointSpring(Force):
    """A spring and damper between the origins of two frames: pull ``k (d - length) + c d'`` at distance d."""

    a: Frame
    b: Frame
    stiffness: Number
    length: Number
    damping: Number

    shown: ClassVar[bool] = False

    def action(self, m: Mechanism) -> Action:
        """A pull at both ends, along the way from one to the other."""
        d = [far - near for near, far in zip(self.a.place, self.b.place, strict=True)]
        square, k = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], self.stiffness
        resisting: Number = 0.0
        if is_zero(self.length) and is_zero(self.damping):
            pull, potential = k, k * square / 2  # no direction needed: regular also where the points meet
        else:
            d_dot = [far - near for near, far in zip(self.a.speed, self.b.speed, strict=True)]
            rate = d[0] * d_dot[0] + d[1] * d_dot[1] + d[2] * d_dot[2]
            distance = sqrt(square)
            resist = self.damping * rate / distance
            pull = (k * (distance - self.length) + resist) / distance
            potential, resisting = k * (distance - self.length) ** 2 / 2, resist * rate / distance
        force: Vector = (pull * d[0], pull * d[1], pull * d[2])
        back: Vector = (-force[0], -force[1], -force[2])
        return Action(At(self.a, force), At(self.b, back), potential=potential, power=-resisting)
