"""Does a motion with finite elements run away? The numbers are those of `march.judge.divergence`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from closedchain.erls.energy import look
from closedchain.integrate.trajectory import Status
from closedchain.march.judge import blame
from closedchain.march.judge.divergence import DEFLECTION, TOLD, TURN, Energies, Growth
from closedchain.march.marks import Happening

if TYPE_CHECKING:
    from closedchain.erls.steps.stepper import ErlsStepper


class ErlsJudge:
    """The `integrate.hooks.Monitor` of a run.

    Parameters
    ----------
    stepper, until
        What makes the steps, and to what time.
    action
        ``"stop"`` or ``"warn"`` where the motion runs away.

    Attributes
    ----------
    record
        What was found; only the first finding is reported.
    """

    def __init__(self, stepper: ErlsStepper, until: float, action: str) -> None:
        system = self.system = stepper.system
        self.stepper, self.action = stepper, action
        self.fixed_step, self.turning = bool(stepper.o["fixed"]), system.turns
        self.record: list[Happening] = []
        value = system.twin.values(dict(system.start.parameters))
        weight = system.mesh.masses.sum() * float(np.linalg.norm([value(x) for x in system.twin.gravity]))
        duration = until - system.start.t
        natural = weight * system.longest or system.mesh.masses.sum() * (system.longest / duration) ** 2
        self.growth = Growth(natural, duration)
        self.sizes = system.sizes
        elastic = np.arange(system.n) < system.n - system.n_q
        self.elastic = np.flatnonzero(elastic)
        self.limits = np.where(self.turning, TURN, DEFLECTION * system.longest)[self.elastic]

    @property
    def memory(self) -> np.ndarray:
        """See `Monitor`."""
        return self.growth.memory

    def begin(self) -> None:
        """Judge from here on."""
        t, x = self.stepper.t, self.stepper.x
        self.growth.begin(self._energies(t, x), self._speed(x)[0])

    def next_look(self, steps: int) -> int:
        """See `Monitor`; it looks whenever the stepper pauses."""
        return steps + 1

    def pace(self, t: float, until: float, steps: int, left: int) -> None:
        """See `Monitor`; not judged."""

    def __call__(self, t: float, x: np.ndarray) -> tuple[Status, str] | None:
        """See `Monitor`."""
        if self.memory[0]["said"] == TOLD:
            return None
        said = self._bent(x) or self._runs_away(t, x)
        if said is None:
            return None
        self.memory[0]["said"] = TOLD
        self.record.append(Happening(t, "divergence", said))
        return (Status.diverged, said) if self.action == "stop" else None

    def _bent(self, x: np.ndarray) -> str | None:
        system = self.system
        over = np.abs(x[0, self.elastic]) / self.limits
        if not len(over) or over.max() <= 1.0:
            return None
        worst = self.elastic[int(np.argmax(over))]
        turns = self.turning[worst]
        limit = "half a turn" if turns else f"the length of the longest beam, {system.longest:.3g} m"
        if system.mesh.arrays.elastic.stiffens.any():
            cause = "The links are too soft for their loads: look at their sections, and at what drives them"
        else:
            cause = "A beam that turns fast is stiffened by its own pull: take cc.ERLS(stiffening=True)"
        moved = f"{x[0, worst]:.2g} {'rad' if turns else 'm'}"
        return f"the displacement {system.labels[worst]!r} is {moved}, more than {limit}. {cause}"

    def _runs_away(self, t: float, x: np.ndarray) -> str | None:
        speed, fastest = self._speed(x)
        if not self.growth.faster(t, speed):
            return None
        found = self.growth.look(t, self._energies(t, x), speed)
        if found is None:
            return None
        cause = "Look at what drives it: a gain or a damper may have the wrong sign"
        if found.kind == "unexplained":
            cause = blame.why_from_nowhere(self.fixed_step)
            if self.system.method.terms == "paper":
                cause = "The paper's equations drop terms, and do not conserve energy: take cc.ERLS(terms='consistent')"
        return f"{found.text} ({fastest}). {cause}"

    def _speed(self, x: np.ndarray) -> tuple[float, str]:
        relative = np.abs(x[1]) / self.sizes
        worst = int(np.argmax(relative))
        unit = "rad/s" if self.turning[worst] else "m/s"
        return float(relative[worst]), f"{self.system.labels[worst]!r} moves at {x[1, worst]:.2g} {unit}"

    def _energies(self, t: float, x: np.ndarray) -> Energies:
        s = look(self.system, np.array([t]), x[None], self.stepper.tree[None])
        return Energies(float(s.kinetic[0]), float(s.energy[0] - s.kinetic[0]), self.stepper.work)
