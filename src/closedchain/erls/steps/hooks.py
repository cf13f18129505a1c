"""What a run of finite elements calls on its way: conditions on time, its judge, and progress."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from closedchain.erls.steps.judge import ErlsJudge
from closedchain.erls.system import System
from closedchain.integrate.hooks import Hooks
from closedchain.march.discontinuities import SwitchingTimes
from closedchain.model.forces.sampled import sampled_inputs


class ErlsHooks(Hooks):
    """The hooks of a run.

    Parameters
    ----------
    system, until, max_step
        What runs, to what time, and its longest step.
    judge
        Whether the motion runs away; None: nobody looks.
    progress
        Called with time and steps now and then.
    """

    def __init__(
        self,
        system: System,
        until: float,
        max_step: float,
        judge: ErlsJudge | None,
        progress: Callable[[float, int], object] | None,
    ) -> None:
        self.system, self.until, self.monitor, self.told = system, until, judge, progress
        self.p = system.p.copy()
        values = dict(zip(system.twin.parameters, system.p.tolist(), strict=False))
        conditions = sampled_inputs(system.twin)
        self.first = len(system.twin.parameters) + conditions.outputs
        self.times = SwitchingTimes(conditions.jumps, values, system.start.t, until, max_step)

    def inputs(self, t: float, x: np.ndarray) -> tuple[float | None, dict[str, np.ndarray] | None]:
        """See `Hooks`: conditions on time alone (``t < 0.1``) are numbers that hold until the next of them changes."""
        if not self.times.timed:
            return None, None
        change, numbers = self.times.after(t)
        for i, value in numbers.items():
            self.p[self.first + i] = value
        c = self.system.compiled
        inputs = {name: getattr(c, name).prepare(self.p) for name in ("motion", "newton", "tangent")}
        # a jump at the end, but for rounding, would leave a step that is too short for its equations
        return (change if change < self.until - self.times.tiny else None), inputs

    def progress(self, t: float, steps: int) -> None:
        """See `Hooks`."""
        if self.told is not None:
            self.told(t, steps)
