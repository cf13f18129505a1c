"""Does a motion with finite elements run away? The numbers are those of `march.judge.divergence`."""

from __future__ import annotations

import numpy as np

from closedchain.erls.energy import look
from closedchain.erls.system import System
from closedchain.march.judge import blame
from closedchain.march.judge.divergence import DEFLECTION, TURN, Energies, Growth


class ErlsJudge:
    """Looks at a run between calls of its integrator.

    Parameters
    ----------
    system, until
        What runs, and to what time.
    fixed_step
        Whether all steps are equal.
    """

    def __init__(self, system: System, until: float, fixed_step: bool) -> None:
        self.system, self.fixed_step, self.turning = system, fixed_step, system.turns
        value = system.twin.values(dict(system.start.parameters))
        weight = system.mesh.masses.sum() * float(np.linalg.norm([value(x) for x in system.twin.gravity]))
        duration = until - system.start.t
        natural = weight * system.longest or system.mesh.masses.sum() * (system.longest / duration) ** 2
        self.growth = Growth(natural, duration)
        self.sizes = system.sizes
        elastic = np.arange(system.n) < system.n - system.n_q
        self.elastic = np.flatnonzero(elastic)
        self.limits = np.where(self.turning, TURN, DEFLECTION * system.longest)[self.elastic]

    def begin(self, t: float, x: np.ndarray, tree: np.ndarray) -> None:
        """Judge from here on; x is y, y', y'', and the rigid-link system is at ``tree``."""
        self.growth.begin(self._energies(t, x, tree, 0.0), self._speed(x)[0])

    def __call__(self, t: float, x: np.ndarray, tree: np.ndarray, work: float) -> str | None:
        """Words that say why the run should end here; None if it should not."""
        return self._bent(x) or self._runs_away(t, x, tree, work)

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

    def _runs_away(self, t: float, x: np.ndarray, tree: np.ndarray, work: float) -> str | None:
        speed, fastest = self._speed(x)
        if not self.growth.faster(t, speed):
            return None
        found = self.growth.look(t, self._energies(t, x, tree, work), speed)
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

    def _energies(self, t: float, x: np.ndarray, tree: np.ndarray, work: float) -> Energies:
        s = look(self.system, np.array([t]), x[None], tree[None])
        return Energies(float(s.kinetic[0]), float(s.energy[0] - s.kinetic[0]), work)
