"""A plain limit of the torque or force, for any joint."""

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
from closedchain.model.expressions.expression import Number


@dataclass(frozen=True, eq=False)
class ForceLimit(ActuatorModel):
    """An actuator of which only the limits are known: a command is the wanted torque or force, and is clipped.

    Attributes
    ----------
    low, high
        N m on an angle, N on a slide.
    max_speed
        A rating, rad/s or m/s: checked by `limits`; a run does not hold it. None: no limit.

    Examples
    --------
    >>> from closedchain.model.actuators import ForceLimit
    >>> [str(x) for x in ForceLimit(-50, 80).limits(effort=[10, 90, -55], speed=0)]
    ['effort: 90 N m or N at sample 1 is beyond 80 N m or N']
    """

    low: Number
    high: Number
    max_speed: Number | None = None

    rules: ClassVar[dict[str, str]] = obey(any_number="low high", positive="max_speed")

    def exerted(self, command: Any, speed: Any) -> Any:
        """The command, clipped."""
        wanted, _ = self._arrays(command, speed)
        return clip(wanted, self.low, self.high)

    def envelope(self, speed: Any) -> tuple[np.ndarray, np.ndarray]:
        """The same limits at all speeds; not a number beyond the largest speed."""
        (v,) = self._checked(speed)
        fast = np.zeros(v.shape, bool) if self.max_speed is None else np.abs(v) > self.max_speed
        return np.where(fast, np.nan, self._plain(self.low)), np.where(fast, np.nan, self._plain(self.high))

    def demand(self, effort: Any, speed: Any) -> dict[str, Quantity]:
        """The mechanical power of efforts at given speeds of the joint."""
        tau, v = self._checked(effort, speed)
        return {"mechanical power": Quantity(tau * v, "W")}

    def limits(self, effort: Any, speed: Any, t: Any = None) -> list[Exceeded]:
        """Limits of effort and speed that are exceeded, each with its worst sample."""
        tau, v = self._checked(effort, speed)
        effort, speed = Quantity(tau, "N m or N"), Quantity(v, "rad/s or m/s")
        return [
            *missing("effort", effort),
            *missing("speed", speed),
            *beyond("effort", effort, self.low, self.high),
            *beyond_size("speed", speed, self.max_speed),
        ]

    def _contradictions(self, value: Values) -> Iterator[str]:
        low, high = value(self.low), value(self.high)
        if not low < high:
            yield f"low = {low:g} is not below high = {high:g}"
