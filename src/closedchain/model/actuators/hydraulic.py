"""A hydraulic cylinder behind a servo valve: forces that differ with the direction, and fall with the speed.

H. E. Merritt, Hydraulic Control Systems, Wiley (1967), chapters 3 (orifices) and 5 (valves). Through an edge of the
valve that is open by the share ``a`` flows

    Q = a Q_r sqrt(dp / dp_r)

with the rated flow Q_r at the rated drop of pressure dp_r. A chamber is joined to the supply p_s by an edge open by
``a`` and to the tank p_t by one open by ``b``. Oil is taken as incompressible, so what flows in is what the piston
makes room for:

    a sqrt(p_s - p) - b sqrt(p - p_t) = Q sqrt(dp_r) / Q_r

With ``P = p_s - p_t``, ``p = p_t + P s^2`` and ``w = Q / (Q_r sqrt(P / dp_r))`` this is ``a sqrt(1 - s^2) - b s = w``:

    s = (a sqrt(a^2 + b^2 - w^2) - b w) / (a^2 + b^2),      -b <= w <= a

Beyond these bounds no pressure between p_t and p_s lets the flow pass. There check valves open: the pressure stays at
p_t where oil would be missing, and at p_s where there is too much.

The opening u of the valve is between -1 and 1. For the piston's side ``a = u_0 + u`` and ``b = u_0 - u``, for the rod's
side the other way round, each between 0 and 1. The underlap u_0 is the small opening of all four edges in the middle;
without it a closed valve and rigid oil would lock the rod, and say nothing about the pressures.

Left out: the compressibility of oil (the rod does not bounce on it), the valve's own motion, pipes, the pump's limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from closedchain.model.actuators.base import (
    ActuatorModel,
    Exceeded,
    Quantity,
    Values,
    beyond,
    beyond_size,
    clip,
    missing,
    obey,
)
from closedchain.model.expressions.expression import Number, is_zero
from closedchain.model.expressions.functions import maximum, pi, sqrt

TINY = 1e-24  # least argument of a square root: rounding may leave less than nothing, and its slope stays finite
HALVINGS = 60  # of the valve's stroke, down to rounding


@dataclass(frozen=True, eq=False, kw_only=True)
class HydraulicCylinder(ActuatorModel):
    """A hydraulic cylinder with a rod on one side, and a valve with four edges, on a slide that grows as it extends.

    Attributes
    ----------
    bore, rod
        Diameters of the piston and of the rod, m.
    supply_pressure, tank_pressure
        Above that of the air, Pa.
    rated_flow, rated_drop
        Flow through one fully open edge, m^3/s, at a drop of pressure, Pa. Catalogues often give the drop over both
        edges together, 7 MPa; one has half of it. Without a flow, the force does not depend on the speed.
    underlap
        Opening of all edges in the valve's middle, as a share of the full one.
    viscous, coulomb
        Friction of the seals, N s/m and N.
    coulomb_speed
        Speed, m/s, over which the dry part changes sign smoothly.
    max_speed
        A rating of the rod, m/s: checked by `limits`; a run does not hold it.
    drive
        What a command is: ``"force"``, the wanted one on the rod (N), clipped to what there is at the present speed,
        or ``"valve"``, its opening between -1 and 1.

    Examples
    --------
    >>> from closedchain.model.actuators import HydraulicCylinder
    >>> leg = HydraulicCylinder(bore=0.08, rod=0.056, supply_pressure=20e6, rated_flow=1e-3)
    >>> low, high = leg.envelope([0.0, 0.2])
    >>> (high / 1e3).round(1).tolist(), (low / 1e3).round(1).tolist()
    ([100.5, 80.4], [-51.3, -51.3])
    """

    bore: Number
    rod: Number
    supply_pressure: Number
    tank_pressure: Number = 0.0
    rated_flow: Number | None = None
    rated_drop: Number = 3.5e6
    underlap: Number = 0.01
    viscous: Number = 0.0
    coulomb: Number = 0.0
    coulomb_speed: Number = 1e-2
    max_speed: Number | None = None
    drive: str = "force"

    rules: ClassVar[dict[str, str]] = obey(
        positive="bore supply_pressure rated_flow rated_drop underlap coulomb_speed max_speed",
        not_negative="rod tank_pressure viscous coulomb",
    )
    turns: ClassVar[bool | None] = False
    drives: ClassVar[dict[str, str]] = {"valve": "1", "force": "N"}

    @property
    def areas(self) -> tuple[Number, Number]:
        """Of the piston on its free side and on the side of the rod, m^2."""
        return pi / 4 * self.bore**2, pi / 4 * (self.bore**2 - self.rod**2)

    @property
    def friction(self) -> tuple[Number, Number, Number] | None:
        """Friction of the seals: viscous, dry, and the speed over which that changes sign."""
        if is_zero(self.viscous) and is_zero(self.coulomb):
            return None
        return self.viscous, self.coulomb, self.coulomb_speed

    def pressures(self, opening: Any, speed: Any) -> tuple[Any, Any]:
        """Pressures on the piston's free side and on the rod's side at an opening of the valve and a speed, Pa."""
        opening, speed = self._arrays(opening, speed)
        area, rod_side = self.areas
        forward, back = (clip(self.underlap + x, 0.0, 1.0) for x in (opening, -opening))
        return self._pressure(forward, back, area * speed), self._pressure(back, forward, -rod_side * speed)

    def _pressure(self, a: Any, b: Any, flow: Any) -> Any:
        """Of a chamber with an edge open by a towards the supply, by b towards the tank, and a flow into it."""
        P = self.supply_pressure - self.tank_pressure
        w: Any = 0.0 * flow
        if self.rated_flow is not None:
            w = clip(flow / (self.rated_flow * sqrt(P / self.rated_drop)), -b, a)
        both = a**2 + b**2
        s = (a * sqrt(maximum(both - w**2, TINY)) - b * w) / both
        return self.tank_pressure + P * s**2

    def force(self, opening: Any, speed: Any) -> Any:
        """The force on the rod at an opening of the valve and a speed, N."""
        (p1, p2), (area, rod_side) = self.pressures(opening, speed), self.areas
        return p1 * area - p2 * rod_side

    def exerted(self, command: Any, speed: Any) -> Any:
        """The force on the rod under a command, before friction."""
        command, speed = self._arrays(command, speed)
        if self.drive == "valve":
            return self.force(clip(command, -1.0, 1.0), speed)
        return clip(command, self.force(-1.0, speed), self.force(1.0, speed))

    def envelope(self, speed: Any) -> tuple[np.ndarray, np.ndarray]:
        """The least and the largest force at given speeds of the rod; not a number beyond the largest speed."""
        (v,) = self._checked(speed)
        fast = np.zeros(v.shape, bool) if self.max_speed is None else np.abs(v) > self.max_speed
        return np.where(fast, np.nan, self.force(-1.0, v)), np.where(fast, np.nan, self.force(1.0, v))

    def demand(self, effort: Any, speed: Any) -> dict[str, Quantity]:
        """Opening of the valve, flow and powers for forces at given speeds of the rod.

        Where even a fully open valve does not do, the opening is -1 or 1. The flow is that from the supply for the
        motion of the rod; what leaks through the middle of the valve comes on top.
        """
        F, v = self._checked(effort, speed)
        area, rod_side = self.areas
        flow = np.where(v > 0, area * v, -rod_side * v)
        return {
            "valve opening": Quantity(self._opening(F, v), "1"),
            "flow": Quantity(flow, "m^3/s"),
            "mechanical power": Quantity(F * v, "W"),
            "hydraulic power": Quantity(self.supply_pressure * flow, "W"),
        }

    def _opening(self, force: np.ndarray, speed: np.ndarray) -> np.ndarray:
        """The opening at which the valve gives a force: that grows with the opening, and is found by halving."""
        low, high = np.full(force.shape, -1.0), np.full(force.shape, 1.0)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            weak = self.force(middle, speed) < force
            low, high = np.where(weak, middle, low), np.where(weak, high, middle)
        return (low + high) / 2

    def limits(self, effort: Any, speed: Any, t: Any = None) -> list[Exceeded]:
        """Limits of force, at the speed of the sample, and of speed that are exceeded, each with its worst sample."""
        F, v = self._checked(effort, speed)
        force, velocity = Quantity(F, "N"), Quantity(v, "m/s")
        return [
            *missing("force", force),
            *missing("speed", velocity),
            *beyond("force", force, self.force(-1.0, v), self.force(1.0, v)),
            *beyond_size("speed", velocity, self.max_speed),
        ]

    def _contradictions(self, value: Values) -> Iterator[str]:
        bore, rod, supply, tank = map(value, (self.bore, self.rod, self.supply_pressure, self.tank_pressure))
        if not rod < bore:
            yield f"rod = {rod:g} m is not thinner than bore = {bore:g} m"
        if not tank < supply:
            yield f"tank_pressure = {tank:g} Pa is not below supply_pressure = {supply:g} Pa"
