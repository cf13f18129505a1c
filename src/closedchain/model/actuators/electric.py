"""Electric motors behind a gear or a screw: voltage, current, back-EMF, what saturates, and what they need.

The rotor turns ``r`` rad for each rad or m of the joint: ``r = gear`` for a motor, ``2 pi gear / lead`` for a screw.
With the joint's speed v, the voltage V, the current i and the constants R, k_t, k_e:

    V = R i + k_e r v,      effort = r k_t i

The inductance L is left out: the current settles within some L/R, mostly below a few ms, while joints need longer to
move. A command is a voltage, or a current or an effort that an amplifier makes; it clips the voltage, then the current:

    i = clip((clip(V, V_max) - k_e r v) / R, i_max)

On the joint the rotor adds the inertia ``r^2 J``, and its friction ``r (b r v + c tanh(r v / w))``; the effort above is
the one before them. The losses of a gear are such friction; an efficiency is not offered: it would multiply or divide
the torque as power flows one way or the other, and which way depends on the acceleration that it brings about.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from closedchain.model.actuators.base import (
    ActuatorModel,
    Exceeded,
    Quantity,
    beyond_size,
    effective,
    missing,
    obey,
    within,
)
from closedchain.model.expressions.expression import Number, is_zero
from closedchain.model.expressions.functions import pi


@dataclass(frozen=True, eq=False, kw_only=True)
class Electric(ActuatorModel):
    """What a motor and an electric cylinder share: the side of the rotor."""

    resistance: Number
    torque_constant: Number
    back_emf_constant: Number | None = None
    gear: Number = 1.0
    rotor_inertia: Number = 0.0
    viscous: Number = 0.0
    coulomb: Number = 0.0
    coulomb_speed: Number = 1.0
    max_voltage: Number | None = None
    max_current: Number | None = None
    continuous_current: Number | None = None
    max_speed: Number | None = None
    drive: str = "voltage"

    rules: ClassVar[dict[str, str]] = obey(
        positive="resistance torque_constant coulomb_speed max_voltage max_current continuous_current max_speed",
        not_negative="back_emf_constant rotor_inertia viscous coulomb",
        not_zero="gear",
    )
    speed_unit: ClassVar[str] = "rad/s"  # of max_speed

    @property
    def ratio(self) -> Number:
        """Turns of the rotor, rad, for each rad or m of the joint."""
        return self.gear

    @property
    def _ke(self) -> Number:
        return self.torque_constant if self.back_emf_constant is None else self.back_emf_constant

    @property
    def rotor(self) -> tuple[Number, Number] | None:
        """Inertia of the rotor, and its turns for each rad or m of the joint."""
        return None if is_zero(self.rotor_inertia) else (self.rotor_inertia, self.ratio)

    @property
    def friction(self) -> tuple[Number, Number, Number] | None:
        """Friction of the rotor as the joint feels it: viscous, dry, and the speed over which that changes sign."""
        if is_zero(self.viscous) and is_zero(self.coulomb):
            return None
        return self.ratio**2 * self.viscous, self.ratio * self.coulomb, self.coulomb_speed / self.ratio

    def current(self, command: Any, speed: Any) -> Any:
        """The current under a command, A, with voltage and current clipped, at a speed of the joint."""
        command, speed = self._arrays(command, speed)
        emf = self._ke * self.ratio * speed
        if self.drive == "voltage":
            i = (within(command, self.max_voltage) - emf) / self.resistance
        else:
            i = command if self.drive == "current" else command / (self.ratio * self.torque_constant)
            if self.max_voltage is not None:
                i = (within(self.resistance * i + emf, self.max_voltage) - emf) / self.resistance
        return within(i, self.max_current)

    def exerted(self, command: Any, speed: Any) -> Any:
        """The torque or force on the joint under a command, before the rotor's inertia and friction."""
        return self.ratio * self.torque_constant * self.current(command, speed)

    def envelope(self, speed: Any) -> tuple[np.ndarray, np.ndarray]:
        """The least and the largest effort at given speeds of the joint; not a number beyond the largest speed."""
        (v,) = self._checked(speed)
        most: Any = np.full(v.shape, math.inf)
        least = -most
        if self.max_voltage is not None:
            emf = self._ke * self.ratio * v
            least, most = ((sign * self.max_voltage - emf) / self.resistance for sign in (-1, 1))
        ends = [self.ratio * self.torque_constant * within(i, self.max_current) for i in (least, most)]
        low, high = np.minimum(*ends), np.maximum(*ends)
        fast = np.zeros(v.shape, bool) if self.max_speed is None else np.abs(self._rated_speed(v)) > self.max_speed
        return np.where(fast, np.nan, low), np.where(fast, np.nan, high)

    def demand(self, effort: Any, speed: Any) -> dict[str, Quantity]:
        """Torque, speed, current, voltage and powers of the motor for efforts at given speeds of the joint.

        The efforts are those of the motor as it is drawn: inertia and friction of the rotor are parts of the mechanism
        by themselves. A negative electrical power is fed back.
        """
        tau, v = self._checked(effort, speed)
        i = tau / (self.ratio * self.torque_constant)
        voltage = self.resistance * i + self._ke * self.ratio * v
        return {
            "motor torque": Quantity(tau / self.ratio, "N m"),
            "motor speed": Quantity(self.ratio * v, "rad/s"),
            "current": Quantity(i, "A"),
            "voltage": Quantity(voltage, "V"),
            "mechanical power": Quantity(tau * v, "W"),
            "electrical power": Quantity(voltage * i, "W"),
            "copper loss": Quantity(self.resistance * i**2, "W"),
        }

    def limits(self, effort: Any, speed: Any, t: Any = None) -> list[Exceeded]:
        """Limits of voltage, current (peak and effective) and speed that are exceeded, each with its worst sample."""
        need = self.demand(effort, speed)
        mean = Quantity(np.array(effective(need["current"].values, t)), "A")
        rated = Quantity(self._rated_speed(self._checked(speed)[0]), self.speed_unit)
        return [
            *missing("effort", Quantity(need["motor torque"].values, "N m or N")),
            *missing("speed", rated),
            *beyond_size("voltage", need["voltage"], self.max_voltage),
            *beyond_size("current", need["current"], self.max_current),
            *(x._replace(sample=None) for x in beyond_size("effective current", mean, self.continuous_current)),
            *beyond_size("speed", rated, self.max_speed),
        ]

    def _rated_speed(self, speed: np.ndarray) -> np.ndarray:
        """The speed that ``max_speed`` is about."""
        return np.asarray(self.ratio * speed)


@dataclass(frozen=True, eq=False, kw_only=True)
class DCMotor(Electric):
    """A direct-current motor, or one with electronic commutation, behind a gear, on an angle.

    Attributes
    ----------
    resistance, torque_constant
        Ohm, N m/A.
    back_emf_constant
        V s/rad; the torque constant unless given, which it is in these units.
    gear
        Turns of the rotor for each turn of the joint; negative if they turn against each other.
    rotor_inertia
        kg m^2.
    viscous, coulomb
        Friction at the rotor: N m s/rad, and N m.
    coulomb_speed
        Speed of the rotor, rad/s, over which the dry part changes sign smoothly.
    max_voltage, max_current
        What the amplifier gives at most, V and A; None: no limit.
    continuous_current, max_speed
        Ratings, A (effective) and rad/s of the rotor. They are checked by `limits`; a run does not hold them.
    drive
        What a command is: ``"voltage"`` (V), ``"current"`` (A), or ``"torque"``: the wanted one at the joint (N m).

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.model.actuators import DCMotor
    >>> motor = DCMotor(resistance=0.5, torque_constant=0.05, gear=50, max_voltage=24, max_current=20)
    >>> low, high = motor.envelope([0.0, 8.0])
    >>> high.round(1).tolist()
    [50.0, 20.0]
    """

    turns: ClassVar[bool | None] = True
    drives: ClassVar[dict[str, str]] = {"voltage": "V", "current": "A", "torque": "N m"}


@dataclass(frozen=True, eq=False, kw_only=True)
class ElectricCylinder(Electric):
    """An electric motor that drives a screw, on a slide. What is not said here is as in `DCMotor`.

    Attributes
    ----------
    lead
        Advance of the screw for each of its turns, m; negative if it draws back where the motor turns forward.
    gear
        Turns of the motor for each turn of the screw.
    max_force
        What the cylinder exerts at most, N; its amplifier or clutch sees to that. None: no limit but the motor's.
    max_speed
        A rating of the rod, m/s.
    drive
        ``"voltage"``, ``"current"``, or ``"force"``: the wanted one at the joint (N).
    """

    lead: Number
    max_force: Number | None = None

    rules: ClassVar[dict[str, str]] = Electric.rules | obey(not_zero="lead", positive="max_force")
    turns: ClassVar[bool | None] = False
    drives: ClassVar[dict[str, str]] = {"voltage": "V", "current": "A", "force": "N"}
    speed_unit: ClassVar[str] = "m/s"

    @property
    def ratio(self) -> Number:
        """Turns of the rotor, rad, for each m of the joint."""
        return 2 * pi * self.gear / self.lead

    def exerted(self, command: Any, speed: Any) -> Any:
        """The force on the joint under a command, before the rotor's inertia and friction."""
        return within(super().exerted(command, speed), self.max_force)

    def envelope(self, speed: Any) -> tuple[np.ndarray, np.ndarray]:
        """The least and the largest force at given speeds of the joint; not a number beyond the largest speed."""
        low, high = super().envelope(speed)
        return within(low, self.max_force), within(high, self.max_force)

    def limits(self, effort: Any, speed: Any, t: Any = None) -> list[Exceeded]:
        """Limits of force, voltage, current and speed that are exceeded, each with its worst sample."""
        force = Quantity(self._checked(effort, speed)[0], "N")
        return beyond_size("force", force, self.max_force) + super().limits(effort, speed, t)

    def _rated_speed(self, speed: np.ndarray) -> np.ndarray:
        return speed
