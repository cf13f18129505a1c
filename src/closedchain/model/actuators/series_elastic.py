"""A motor that drives its joint through a spring: series elasticity.

G. A. Pratt and M. M. Williamson, "Series elastic actuators", IROS (1995). The rotor gets a coordinate of its own,
theta, measured behind the gear as the joint's coordinate q is; between the two acts

    k (theta - q) + d (theta' - q')

on the joint, and the opposite on the rotor. The motor acts on the rotor, whose inertia there is ``r^2 J`` plus what is
given. As for rotors without a spring, the spin of the rotor is left out where its axis is turned (M. W. Spong, Journal
of Dynamic Systems, Measurement, and Control 109 (1987) 310-319).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from closedchain.errors import ModelError
from closedchain.model.actuators.base import ActuatorModel, Exceeded, Quantity, Values, obey
from closedchain.model.expressions.expression import Number


@dataclass(frozen=True, eq=False)
class SeriesElastic(ActuatorModel):
    """An actuator with a spring between itself and the joint.

    Attributes
    ----------
    actuator
        The model of the motor or cylinder; a command means what it means there.
    stiffness, damping
        Of the spring: N m/rad and N m s/rad on an angle, N/m and N s/m on a slide.
    inertia
        Of what moves on the motor's side of the spring, behind the gear, kg m^2 or kg; that of the model's rotor comes
        on top.

    Notes
    -----
    Questions of `envelope`, `demand` and `limits` are about the motor's side: its effort, and the speed theta'.
    """

    actuator: ActuatorModel
    stiffness: Number
    damping: Number = 0.0
    inertia: Number = 0.0

    rules: ClassVar[dict[str, str]] = obey(positive="stiffness", not_negative="damping inertia")

    def __post_init__(self) -> None:
        if not isinstance(self.actuator, ActuatorModel) or isinstance(self.actuator, SeriesElastic):
            raise ModelError(f"SeriesElastic takes a motor or cylinder such as DCMotor, not {self.actuator!r}")
        super().__post_init__()

    @property
    def turns(self) -> bool | None:  # type: ignore[override]
        """As the motor."""
        return self.actuator.turns

    @property
    def drives(self) -> dict[str, str]:  # type: ignore[override]
        """As the motor's."""
        return self.actuator.drives

    @property
    def meaning(self) -> str:
        """As the motor's."""
        return self.actuator.meaning

    def mapped(self, change: Callable[[Number, str], Number]) -> Self:
        """The same model with changed numbers, those of the motor, too."""
        return replace(super().mapped(change), actuator=self.actuator.mapped(change))

    def check(self, what: str, value: Values | None) -> None:
        """Refuse numbers that no such actuator can have; ``what`` says where it stands."""
        self.actuator.check(what, value)
        super().check(what, value)

    def _is_plain(self) -> bool:
        return super()._is_plain() and self.actuator._is_plain()

    def _contradictions(self, value: Values) -> Iterator[str]:
        inertia, ratio = self.actuator.rotor or (0.0, 1.0)
        if not value(inertia) * value(ratio) ** 2 + value(self.inertia) > 0:
            yield "nothing on the motor's side has an inertia: give inertia=, or the motor a rotor_inertia"

    def envelope(self, speed: Any) -> tuple[np.ndarray, np.ndarray]:
        """Of the motor, at given speeds of its side."""
        return self.actuator.envelope(speed)

    def demand(self, effort: Any, speed: Any) -> dict[str, Quantity]:
        """Of the motor, for its efforts at given speeds of its side."""
        return self.actuator.demand(effort, speed)

    def limits(self, effort: Any, speed: Any, t: Any = None) -> list[Exceeded]:
        """Of the motor, for its efforts at given speeds of its side."""
        return self.actuator.limits(effort, speed, t)
