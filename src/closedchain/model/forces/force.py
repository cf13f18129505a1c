"""What a force is: data, and one function that says what it does. Everything else derives from it.

The function returns an `Action`: efforts along freedoms of joints (`Along`) and wrenches at frames (`At`), as
expressions of the time and of coordinates, velocities, places and speeds. From these expressions the library finds the
generalised forces (`derive.applied`; `derive.erls.loads` for finite elements), the power, the joints to cut
(`cut.topology`), corners and jumps (`corners`, `sampled`), and what results report: reactions, inverse dynamics,
section forces, and the causes that messages name. Motors, springs, dampers, stops and forces at frames are classes of
this kind (`actions`).

How to add your own force
-------------------------
A force is one class, in one file, which may be yours: no line of the library changes. A belt between two hinges is ::

    @dataclass(frozen=True, eq=False)
    class Belt(Force):
        driver: str
        driven: str
        stiffness: Number
        rules = obey(positive="stiffness")

        def action(self, m):
            stretch = m.joints[self.driven].q - m.joints[self.driver].q
            torque = self.stiffness * stretch
            return Action(
                Along(self.driven, -torque), Along(self.driver, torque), potential=self.stiffness * stretch**2 / 2
            )

    m.force_element(Belt("belt", "O", "C", stiffness=50.0))

1. Derive a frozen dataclass from `Force`, with ``eq=False``. Its first field is the name, which `Force` has already.
   Further fields say where it acts and how: joints by name, bodies or frames (they become named frames of the drawing),
   and numbers.
2. Name the numbers in ``rules``, each with the rule it obeys (`obey`). When the force is drawn, they become parameters,
   here ``"belt.stiffness"``, so that they can be varied without a new compilation. A number may also be an expression,
   or a function of t, or of t, q, v, as the torque of a motor.
3. Write ``action(m)`` with ordinary arithmetic and the functions of ``cc.math``. Coordinates are ``m.joints["O"].q``
   and ``.v`` (a tuple if the joint has several), or `Joint.coordinate` and `Joint.velocity` by number; places and
   speeds of frames ``frame.place`` and ``frame.speed``, in world axes. Use ``cc.math.where``, never ``if``.
4. If the force stores energy, give its potential. The efforts are then taken to be those of the potential. If a part of
   them is not, as in a spring with a damper, give the power of that part as well. If the potential depends on the time
   itself, as with a stiffness that is a function of t, its rate is found, and added to the power.
5. A force that depends on a coordinate of a hinge counts turns. If the hinge is cut, they are counted from the value in
   ``centres``: the coordinates it names start within half a turn of these values.
6. `closedchain.testing.check_force` checks the power, the gradient of the potential, and the frames.

``tests/recipes/test_force.py`` follows these steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from closedchain.errors import ModelError
from closedchain.model.actuators.base import RULES, Values, obey
from closedchain.model.bodies.shapes import Vector
from closedchain.model.derived import cached
from closedchain.model.expressions.expression import Expression, Number, is_zero
from closedchain.model.parts import Frame

if TYPE_CHECKING:
    from closedchain.model.mechanism import Mechanism

__all__ = ["Action", "Along", "At", "Force", "actions", "efforts", "obey", "reported", "turns"]


@dataclass(frozen=True, eq=False)
class Along:
    """An effort on velocity ``index`` of a joint: N m where it turns, N where it slides."""

    joint: str
    effort: Number
    index: int = 0

    @property
    def numbers(self) -> tuple[Number, ...]:
        """Its effort."""
        return (self.effort,)


@dataclass(frozen=True, eq=False)
class At:
    """A force (N) and a moment (N m) on a body at a frame, in world axes or in the frame's own."""

    frame: Frame
    force: Vector = (0.0, 0.0, 0.0)
    moment: Vector = (0.0, 0.0, 0.0)
    world: bool = True

    @property
    def numbers(self) -> tuple[Number, ...]:
        """Its components, the force first."""
        return (*self.force, *self.moment)


Part = Along | At


class Action:
    """What a force does.

    Parameters
    ----------
    *parts
        `Along` and `At`; what acts between two bodies has two of them.
    potential
        J; zero if the force stores no energy.
    power
        W, of all that the potential does not describe. Default: that of all parts if there is no potential, else none.
        Where the potential depends on the time itself, its rate by the time is added.
    """

    def __init__(self, *parts: Part, potential: Number = 0.0, power: Number | None = None) -> None:
        self.parts = parts
        self.potential = potential
        self.power = 0.0 if power is None and not is_zero(potential) else power

    @property
    def numbers(self) -> tuple[Number, ...]:
        """All efforts, and the power if it is told."""
        told = () if self.power is None else (self.power,)
        return tuple(x for part in self.parts for x in part.numbers) + told


@dataclass(frozen=True, eq=False)
class Force:
    """The base of all that acts. See the module on how to write one.

    Attributes
    ----------
    name
        Unique in the drawing.
    rules
        Fields that are numbers, and the rule in `RULES` that each obeys; see `obey`.
    shown
        Whether results have its efforts under its name.
    """

    name: str

    rules: ClassVar[dict[str, str]] = {}
    shown: ClassVar[bool] = True

    def action(self, m: Mechanism) -> Action:
        """What it does, as expressions."""
        raise NotImplementedError

    def centres(self) -> dict[tuple[str, int], Number]:
        """Coordinates (joint, number) with the value about which they matter; 0 for all that are not named."""
        return {}

    def check(self, value: Values) -> None:
        """Refuse numbers that break their rules."""
        for name, rule in self.rules.items():
            number = getattr(self, name)
            if isinstance(number, Expression) and any(leaf.op != "parameter" for leaf in number.leaves()):
                continue  # it changes during a run
            holds, sentence = RULES[rule]
            if not holds(value(number)):
                raise ModelError(
                    f"{type(self).__name__} {self.name!r} has {name} = {value(number):g}, which {sentence}"
                )


@cached
def actions(m: Mechanism) -> tuple[tuple[Force, Action], ...]:
    """All that acts on a drawing, in the order in which it is summed up."""
    return tuple((force, force.action(m)) for force in m._acting)


def efforts(m: Mechanism) -> list[Number]:
    """Efforts of all that acts, and powers that are told: where laws, corners and jumps are looked for."""
    return [x for _, action in actions(m) for x in action.numbers]


@cached
def reported(m: Mechanism) -> dict[str, Part]:
    """What results show by name: a force with several parts has the freedom or frame of each behind its name."""
    out: dict[str, Part] = {}
    for force, action in actions(m):
        for part in action.parts if force.shown else ():
            name = stem = force.name if len(action.parts) == 1 else f"{force.name} {_told(m, part)}"
            k = 2
            while name in out:
                name, k = f"{stem} {k}", k + 1
            out[name] = part
    return out


def _told(m: Mechanism, part: Part) -> str:
    if isinstance(part, Along):
        return m.joints[part.joint].velocity_labels()[part.index]
    return f"{part.frame.body.name}.{part.frame.name}"


def turns(m: Mechanism, part: Along) -> bool:
    """Whether an effort is a torque."""
    return m.joints[part.joint].type.velocity_units[part.index] == "rad/s"
