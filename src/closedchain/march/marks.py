"""What may happen at one time of a run: events, changes of conditions, singular poses.

Each is a class of its own, derived from `Mark`. `march.events.Watch` finds them between steps; the run loop asks an
`Instant`, all that happens at one time, how to go on. To add a kind, derive it from `Mark`, say in `happen` what it
does to an `Instant`, and let `Watch` find it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from closedchain.arguments import one_of
from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Expression
from closedchain.model.forces.sampled import LIVE

SINGULAR = {"closure": "singular pose", "actuation": "singular pose of the actuation"}  # by kind of conditioning


ACTIONS = ("stop", "warn", "pass")


@dataclass(frozen=True)
class SingularPoses:
    """What a run does at singular poses of the closures or of the actuators; one of its ``events``.

    Attributes
    ----------
    then
        ``"pass"`` (default of a run): go on, with closures watched one by one, and keep a record of the first;
        ``"warn"``: look for all of them, also between steps, and warn; ``"stop"``: end the run there.
    """

    then: str = "stop"

    def __post_init__(self) -> None:
        one_of("SingularPoses: then", self.then, ACTIONS)


@dataclass(frozen=True)
class Divergence:
    """What a run does where its motion runs away or a loop opens; one of its ``events``.

    Attributes
    ----------
    then
        ``"stop"`` (default of a run): end it there; ``"warn"``: go on, and warn at the end; ``"pass"``: do not look.
    """

    then: str = "stop"

    def __post_init__(self) -> None:
        one_of("Divergence: then", self.then, ACTIONS)


@dataclass(frozen=True)
class Happening:
    """An entry in the record of a run: when, what, and the numbers that belong to it.

    Attributes
    ----------
    event
        Whether ``what`` is the name of the user's events, which may be any.
    """

    t: float
    what: str
    text: str
    numbers: dict[str, Any] = field(default_factory=dict)
    event: bool = False

    def tells_of(self, what: str) -> bool:
        """Whether it is a remark of the run itself of this kind, as ``"singular pose"``."""
        return not self.event and self.what.startswith(what)


class Mark:
    """Something that happens at one time of a run; the defaults are those of a mark that only ends a piece."""

    @property
    def ends(self) -> bool:
        """Whether a piece of the run ends there."""
        return True

    @property
    def switches(self) -> bool:
        """Whether joints open or close."""
        return False

    @property
    def jumps(self) -> bool:
        """Whether its value may jump through zero where a held number changes, as closing forces do."""
        return False

    def entry(self, t: float) -> Happening | None:
        """Its entry in the record; None for none, and for switches, whose entry tells of the impact."""
        return None

    def happen(self, instant: Instant) -> None:
        """Add to all that happens at one time."""


@dataclass
class Instant:
    """All that happens at one time of a run.

    Attributes
    ----------
    stops, singular
        Whether the run ends there, by an event or at a singular pose.
    switches
        Events that open and close joints.
    conditions
        Conditions on the state that change.
    """

    stops: bool = False
    singular: bool = False
    switches: list[Event] = field(default_factory=list)
    conditions: list[ConditionChange] = field(default_factory=list)

    @property
    def changes(self) -> list[ConditionChange]:
        """Conditions to change; none if the run ends or a joint switches there anyway."""
        return [] if self.stops or self.singular or self.switches else self.conditions


@dataclass(frozen=True)
class Switch:
    """Close and open cut joints: a foot touches down or lifts, a hand grasps or lets go.

    Closing is an inelastic impact: an impulse in the joint makes the velocities consistent. The event that closes a
    joint must be one at which its frames meet.
    """

    close: tuple[str, ...] = ()
    open: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("close", "open"):
            value = getattr(self, name)
            if isinstance(value, str):
                object.__setattr__(self, name, (value,))
            elif not isinstance(value, list | tuple) or not all(isinstance(x, str) for x in value):
                raise ModelError(f"Switch: {name} takes the name of a joint, or several, not {value!r}")


@dataclass(frozen=True, eq=False)
class Event(Mark):
    """Something that happens when an expression passes zero.

    Attributes
    ----------
    name
        For the record and for messages.
    when
        An expression of ``cc.t``, coordinates (``joint.q``), velocities (``joint.v``), frames (``frame.place``,
        ``frame.speed``), parameters, closing forces (``cc.multiplier("foot", "z")``), and the distance from singular
        poses (``cc.conditioning("actuation")``).
    direction
        +1: only when it rises through zero; -1: only when it falls; 0: both.
    then
        ``"record"``, ``"stop"``, or a `Switch`.
    """

    name: str
    when: Any
    direction: int = 0
    then: str | Switch = "record"

    def __post_init__(self) -> None:
        if not isinstance(self.when, Expression):
            raise ModelError(f"event {self.name!r} needs an expression, not {self.when!r}")
        if self.when.op in ("lt", "le", "and", "or", "not"):
            raise ModelError(f"event {self.name!r}: {self.when} is a condition and passes no zero; give the difference")
        if self.direction not in (-1, 0, 1):
            raise ModelError(f"event {self.name!r}: direction is -1, 0 or 1, not {self.direction}")
        if not isinstance(self.then, Switch) and self.then not in ("record", "stop"):
            raise ModelError(f"event {self.name!r}: then is 'record', 'stop' or cc.Switch(...), not {self.then!r}")

    @property
    def ends(self) -> bool:
        """Whether a piece of the run ends there."""
        return self.then != "record"

    @property
    def switches(self) -> bool:
        """Whether joints open or close."""
        return isinstance(self.then, Switch)

    @property
    def jumps(self) -> bool:
        """Whether its value may jump through zero where a held number changes: any may."""
        return True

    @property
    def switch(self) -> Switch:
        """Joints that it closes and opens; none unless it switches."""
        return self.then if isinstance(self.then, Switch) else Switch()

    def changes(self, open_joints: Collection[str]) -> bool:
        """Whether it would change anything: a foot that stands does not touch down."""
        opened, switch = set(open_joints), self.switch
        return not self.switches or bool(opened & set(switch.close) or set(switch.open) - opened)

    def entry(self, t: float) -> Happening | None:
        """Its entry in the record; None for switches, whose entry tells of the impact."""
        return None if self.switches else Happening(t, self.name, f"{self.name} at t = {t:.9g} s", event=True)

    def happen(self, instant: Instant) -> None:
        """Open and close joints, or stop."""
        if self.switches:
            instant.switches.append(self)
        elif self.ends:
            instant.stops = True


@dataclass(frozen=True)
class ConditionChange(Mark):
    """A condition on the state changes where its signal passes a level: it has another value from there on.

    Attributes
    ----------
    number
        Of the condition, among all that jumps.
    level, direction
        Of its signal, and how it passes: +1 rises, -1 falls.
    value
        From there on.
    """

    number: int
    level: float
    direction: int
    value: float

    def side(self, held: float) -> float:
        """The sign that its signal has beside the level while the condition is held at a value; 0 if it is not."""
        if held >= LIVE:
            return 0.0
        return float(self.direction if held == self.value else -self.direction)

    def happen(self, instant: Instant) -> None:
        """Change the condition."""
        instant.conditions.append(self)


@dataclass(frozen=True)
class SingularPose(Mark):
    """A pose at which the closures or the actuators lose their hold on the motion.

    Attributes
    ----------
    kind
        ``"closure"`` or ``"actuation"``.
    stops
        Whether the run ends there.
    lost
        Words about the motion that is lost.
    """

    kind: str
    stops: bool
    lost: str = ""

    @property
    def ends(self) -> bool:
        """Whether a piece of the run, and the run, ends there."""
        return self.stops

    def entry(self, t: float) -> Happening | None:
        """Its entry in the record."""
        name = SINGULAR[self.kind]
        return Happening(t, name, f"{name} at t = {t:.9g} s{self.lost}")

    def happen(self, instant: Instant) -> None:
        """Stop, if the run is to stop there."""
        instant.singular |= self.stops
