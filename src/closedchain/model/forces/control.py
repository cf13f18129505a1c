"""Control laws in actuated coordinates: where these are to be, and the efforts that bring them there.

A law says with ``efforts(mechanism)`` which coordinates it drives and how (`closedchain.model.forces.actions.Law`);
``m.control(law)`` draws its motors. `Tracking` is what laws along a motion share: the references ``r(t)`` of the
coordinates q, their gains, and limits of the efforts.

A law that knows the equations of the mechanism is a `TracedLaw`.

`PD` is ``tau = kp (r - q) + kd (r' - v) + feedforward``; `closedchain.results.efforts.computed_torque.ComputedTorque`
is the law that knows the equations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

from closedchain.arguments import listed, suggest
from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Expression, Number, check_number, fold, is_zero
from closedchain.model.expressions.functions import maximum, minimum, rate
from closedchain.model.forces.efforts import coordinate_leaf
from closedchain.model.forces.force import efforts
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import Joint
from closedchain.model.paths.checks import of_time

NEEDED = object()  # what has no default


@runtime_checkable
class References(Protocol):
    """A motion: coordinates as expressions of time (`closedchain.results.motion.motion.Motion`)."""

    def reference(self, label: str) -> Expression:
        """Where a coordinate is to be."""


@runtime_checkable
class Signals(Protocol):
    """Efforts along a motion as expressions of time (`closedchain.results.efforts.efforts.Efforts`)."""

    def signal(self, name: str) -> Expression:
        """The effort on a coordinate."""


class TracedLaw:
    """A law that knows the equations of motion: its efforts are ``Expression("control", law, index, *commands)``.

    What it depends on must be in its commands, so that it is seen in the drawing: coordinates that a cut would have to
    measure, and conditions that jump. `closedchain.derive.equations` asks for the efforts when all else is traced.

    Attributes
    ----------
    commands
        What the law is told at each time, as expressions.
    unknown
        A CasADi symbol that stands for its efforts until they are known.
    counts_on_closures
        Whether its efforts are wrong where a joint is open: runs that open one are then refused.
    """

    commands: tuple[Number, ...]
    unknown: Any
    counts_on_closures: ClassVar[bool] = False

    def effort(self, index: int) -> Expression:
        """One of the efforts."""
        return Expression("control", self, index, *self.commands)

    def trace(self, equations: Any, commands: Mapping[TracedLaw, Any]) -> Any:
        """The efforts, from equations without the efforts of any such law, and the traced commands of all of them."""
        raise NotImplementedError


def traced_laws(mechanism: Mechanism) -> list[TracedLaw]:
    """The laws of this kind that motors and forces follow, in the order of the drawing."""
    return laws_in(efforts(mechanism))


def laws_in(numbers: Iterable[Number]) -> list[TracedLaw]:
    """The laws of this kind that stand in some numbers or expressions."""
    found: dict[TracedLaw, None] = {}

    def collect(node: Expression, args: list[Any]) -> bool:
        if node.op == "control":
            found[node.args[0]] = None
        return True

    for x in numbers:
        fold(x, lambda leaf: True, {}, collect)
    return list(found)


@dataclass(frozen=True, eq=False)
class Target:
    """A coordinate that a law controls: which one, and where it is to be at each time."""

    joint: Joint
    index: int
    reference: Number

    @property
    def label(self) -> str:
        """Its name in results."""
        return self.joint.labels()[self.index]

    @property
    def q(self) -> Expression:
        """The coordinate."""
        return coordinate_leaf("coordinate", self.joint, self.joint.type.coordinates[self.index])

    @property
    def v(self) -> Expression:
        """Its velocity."""
        return coordinate_leaf("velocity", self.joint, self.joint.type.velocities[self.index])

    def correction(self, kp: Number, kd: Number) -> Number:
        """``kp (r - q) + kd (r' - v)``."""
        return kp * (self.reference - self.q) + kd * (rate(self.reference) - self.v)


@dataclass(frozen=True, eq=False)
class Tracking:
    """What laws along a motion share.

    Attributes
    ----------
    motion
        From `follow`; or references by coordinate: ``{"O": 0.5 * cc.math.sin(cc.t)}``, where a number, a function
        of time or a path of `cc.paths` will do as well.
    kp, kd
        Gains, not negative: one number or parameter, or one for each coordinate by name.
    limit
        Of the efforts, N m or N: they stay between ``-limit`` and ``limit``. One number, or by coordinate.
    joints
        The coordinates that are actuated. Default: those of the mapping; along a motion those that have motors drawn.
    name
        Numbers become parameters under this name: ``"control.kp"``, or ``"O.control.kp"`` if there is one for each.
    """

    motion: Any
    kp: Any
    kd: Any
    limit: Any = field(default=None, kw_only=True)
    joints: Sequence[str] | None = field(default=None, kw_only=True)
    name: str = field(default="control", kw_only=True)

    _kind: ClassVar[str] = "a law"

    def targets(self, mechanism: Mechanism) -> list[Target]:
        """The coordinates of a mechanism that are controlled, with their references."""
        if isinstance(self.motion, Mapping):
            found = self._given(mechanism)
        else:
            found = [self._followed(mechanism, label) for label in self._actuated(mechanism)]
        for target in found:
            for drive in mechanism.drives.values():
                if (drive.joint, drive.index) == (target.joint.name, target.index):
                    raise ModelError(
                        f"{self._kind}: {target.label!r} is moved by the drive {drive.name!r}, whatever a motor does: "
                        "control another coordinate, or draw the mechanism without the drive"
                    )
        return found

    def _given(self, mechanism: Mechanism) -> list[Target]:
        from closedchain.model.targets import path_targets

        asked = path_targets(mechanism, self.motion)
        if asked.frames:
            raise ModelError(
                f"{self._kind} takes references of actuated coordinates, but {asked.frames[0].name!r} is a frame: find "
                "the motion first, motion = cc.follow(m, {...}), and give it to the law"
            )
        found = [Target(wish.joint, wish.index, wish.position) for wish in asked.coordinates]
        known = [target.label for target in found]
        for label in self._named(mechanism) if self.joints is not None else ():
            if label not in known:
                raise ModelError(f"{self._kind}: there is no reference for {label!r}{suggest(label, known)}")
        picked = known if self.joints is None else self._named(mechanism)
        if not picked:
            raise ModelError(f"{self._kind} needs a reference for one coordinate at least")
        return [found[known.index(label)] for label in picked]

    def _followed(self, mechanism: Mechanism, label: str) -> Target:
        joint, index = mechanism._coordinate(label, self._kind)
        if not isinstance(self.motion, References):
            raise ModelError(
                f"{self._kind} needs a motion of cc.follow(...), or references by coordinate, for instance "
                f"{{{label!r}: lambda t: 0.5 * cc.math.sin(t)}}, not {self.motion!r}"
            )
        return Target(mechanism.joints[joint], index, self.motion.reference(label))

    def _actuated(self, mechanism: Mechanism) -> list[str]:
        if self.joints is not None:
            return self._named(mechanism)
        freedoms = dict.fromkeys((motor.joint, motor.index) for motor in mechanism.motors.values())
        if not freedoms:
            raise ModelError(
                f"{self._kind}: {mechanism.name!r} has no motor that would tell which coordinates are actuated; name "
                f"them, for instance joints=[{next(iter(mechanism.joints), 'O')!r}]"
            )
        return [mechanism.joints[joint].labels()[index] for joint, index in freedoms]

    def _named(self, mechanism: Mechanism) -> list[str]:
        names = (self.joints,) if isinstance(self.joints, str) else listed(self.joints)
        if not names or len(set(names)) != len(names):
            raise ModelError(
                f"{self._kind}: joints takes different names of coordinates, for instance ['base1', 'base2'], "
                f"not {self.joints!r}"
            )
        for label in names:
            mechanism._coordinate(label, self._kind)  # which names those that there are
        return list(names)

    # ---- numbers ------------------------------------------------------------------------------------------------

    def declare(self, mechanism: Mechanism) -> Numbers:
        """Where the numbers of this law become parameters of a mechanism."""
        stem, k = self.name, 2
        if not isinstance(stem, str) or not stem:
            raise ModelError(f"{self._kind}: name is a non-empty text, not {stem!r}")
        while any(f".{stem}." in f".{name}" for name in mechanism.parameters):  # a second law of this name
            stem, k = f"{self.name}{k}", k + 1
        return Numbers(mechanism, stem, self._kind)

    def limited(self, numbers: Numbers, labels: Sequence[str], efforts: Sequence[Number]) -> dict[str, Number]:
        """Efforts by coordinate, kept within the limit."""
        if self.limit is None:
            return dict(zip(labels, efforts, strict=True))
        limits = numbers.each(self.limit, "limit", labels, least=0.0, default=None)
        return {
            label: effort if limit is None else minimum(maximum(effort, -limit), limit)
            for label, effort, limit in zip(labels, efforts, limits, strict=True)
        }


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers of a law, drawn as parameters of a mechanism: they can be varied without a new compilation."""

    mechanism: Mechanism
    stem: str
    kind: str

    def draw(self, value: Any, name: str, least: float | None = None) -> Number:
        """One number: an expression of parameters stays, zero is structure, all else becomes a parameter."""
        number = check_number(value, f"{self.kind}: {name}")
        if isinstance(number, Expression):
            number = self.mechanism._number(number, f"{self.kind}: {name}")  # which checks its parameters
        value = self.mechanism.values()(number)
        if least is not None and value < least:
            raise ModelError(f"{self.kind}: {name} is {value:g}, but must be at least {least:g}")
        if isinstance(number, Expression):
            return number
        return 0.0 if is_zero(number) else self.mechanism.parameter(name, number)

    def each(
        self, given: Any, what: str, labels: Sequence[str], *, least: float | None = None, default: Any = NEEDED
    ) -> list[Any]:
        """A number for each coordinate, from one for all of them or a mapping by coordinate.

        What a mapping leaves out has the default; without one it must be complete.
        """
        if not isinstance(given, Mapping):
            return [self.draw(given, f"{self.stem}.{what}", least)] * len(labels)
        for label in given:
            if label not in labels:
                raise ModelError(f"{self.kind}: {what} of {label!r}, which it does not drive{suggest(label, labels)}")
        missing = [repr(label) for label in labels if label not in given]
        if missing and default is NEEDED:
            raise ModelError(
                f"{self.kind}: {what} of {', '.join(missing)} is missing: give one number for all coordinates, or one "
                "for each of them (0 for none)"
            )
        names = [f"{label}.{self.stem}.{what}" for label in labels]
        return [
            self.draw(given[label], name, least) if label in given else default
            for label, name in zip(labels, names, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class PD(Tracking):
    """Proportional and derivative control: ``kp (r - q) + kd (r' - v) + feedforward`` on each actuated coordinate.

    Parameters
    ----------
    motion
        From `follow`; or references by coordinate: ``{"O": 0.5 * cc.math.sin(cc.t)}``, where a number, a function
        of time or a path of `cc.paths` will do as well.
    kp, kd
        Gains, N m/rad and N m s/rad (N/m and N s/m): one number, or one for each coordinate by name.
    feedforward
        Efforts to add: those of `inverse_dynamics`, or by coordinate a number, an expression or a function of time.
    limit
        Of the efforts, N m or N: they stay between ``-limit`` and ``limit``. One number, or by coordinate.
    joints
        The coordinates that are actuated. Default: those of the mapping; along a motion those that have motors drawn.
    name
        Numbers become parameters under this name: ``"control.kp"``, or ``"O.control.kp"`` if there is one for each.

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.model.forces.control import PD
    >>> m = cc.library.pendulum()
    >>> motors = m.control(PD({"hinge": 1.0}, kp=200.0, kd=20.0))
    >>> run = cc.simulate(m, until=5.0)
    >>> bool(abs(run["hinge"][-1] - 1.0) < 0.05)
    True
    """

    feedforward: Any = field(default=None, kw_only=True)

    _kind: ClassVar[str] = "PD"

    def efforts(self, mechanism: Mechanism) -> dict[str, Number]:
        """Torques and forces by coordinate."""
        targets = self.targets(mechanism)
        labels = [target.label for target in targets]
        more = self._feedforward(labels)
        numbers = self.declare(mechanism)
        gains = [numbers.each(getattr(self, gain), gain, labels, least=0.0) for gain in ("kp", "kd")]
        efforts = [
            target.correction(kp, kd) + more.get(target.label, 0.0)
            for target, kp, kd in zip(targets, *gains, strict=True)
        ]
        return self.limited(numbers, labels, efforts)

    def _feedforward(self, labels: list[str]) -> dict[str, Number]:
        given = self.feedforward
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            if not isinstance(given, Signals):
                raise ModelError(
                    f"PD: feedforward takes the efforts of cc.inverse_dynamics(...), or efforts by coordinate, for "
                    f"instance {{{labels[0]!r}: 5.0}}, not {given!r}"
                )
            return {label: given.signal(label) for label in labels}
        for label in given:
            if label not in labels:
                raise ModelError(f"PD: feedforward of {label!r}, which it does not drive{suggest(str(label), labels)}")
        return {label: of_time(x, f"PD: feedforward of {label!r}") for label, x in given.items()}
