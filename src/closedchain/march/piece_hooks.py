"""What a piece of a run calls on its way: controllers and switches, events, the choice of solver, checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from closedchain.integrate.hooks import Hooks, Snapshot
from closedchain.integrate.solvers import SOLVERS
from closedchain.integrate.trajectory import DenseOutput, Status
from closedchain.march.events import Watch
from closedchain.march.judge.divergence import Judged
from closedchain.march.program.compiled import Compiled
from closedchain.march.program.solver_inputs import renewed

if TYPE_CHECKING:
    from closedchain.march.run_loop import March

# Steps between two looks at the solver, and at gains that follow the steps.
LOOK, LOOK_TUNING = 50, 10
SOON = 1e-3  # of a step
# Near a singular pose pivots fall with the square of the distance; from here on they are watched one by one.
WATCHED = 1e-4
# Where rows are held at what a rounded drawing misses, such a pose has been passed when pivots have risen to this.
PASSED = 100 * WATCHED


class PieceHooks(Hooks):
    """The hooks of one piece.

    Attributes
    ----------
    march : the run.
    program, solver : equations and solver (its name) of the piece.
    watch : looks for events.
    passing : whether the piece ends when a singular pose lies behind.
    """

    def __init__(self, march: March, program: Compiled, watch: Watch) -> None:
        self.march, self.program, self.watch = march, program, watch
        self.solver = march.place.solver
        task, stiffness = march.task, march.stiffness
        self.finds_events = not watch.idle
        # a call that goes on beyond a change of a condition is paid for in vain
        self.steps_per_call = 500 if watch.idle else 10 if watch.flips else 50
        self.detects_stiffness = stiffness is not None and stiffness.detects
        self.passing = program.guarded and program.choice.aimed and task.team is None  # members stay guarded
        follows = task.method.follows_steps
        if self.passing or follows or stiffness is not None:
            self.handover_every = 1 if self.passing else LOOK_TUNING if follows else LOOK
        self.monitor = Judged(march.judge, program, march.held_inputs)

    @property
    def p(self) -> np.ndarray:
        """The parameters that hold."""
        return self.march.held_inputs.p

    def change(self, t: float, x: np.ndarray) -> tuple[float | None, bool]:
        """The next discontinuity of the inputs, and whether `p` has changed at this one."""
        return (None, False) if self.march.held_inputs.idle else self.march.held_inputs.change(self.program, t, x)

    def inputs(self, t: float, x: np.ndarray) -> tuple[float | None, dict[str, np.ndarray] | None]:
        """See `Hooks`."""
        until, changed = self.change(t, x)
        if not changed or SOLVERS[self.solver].driver:  # others take `p` itself
            return until, None
        return until, renewed(self.solver, self.program, self.p)

    def event(self, steps: DenseOutput) -> float | None:
        """See `Hooks`."""
        return self.watch(steps)

    def handover(self, t: float, x: np.ndarray, h: float) -> Status | None:
        """Does the solver suit the motion, and do the gains of a stabilisation suit the steps?"""
        march = self.march
        if self.program.guarded and self.program.choice.aimed:
            return Status.passed if self._passed(t, x, h) else None
        # with a fixed step gains are right from the start, and near a singular pose steps say nothing
        follows = SOLVERS[self.solver].adaptive and not march.place.guarded
        if follows and not march.stabilisation(march.place.tuned).suits(march.task.method, h):
            return Status.new_gains
        return march.stiffness.look(self.program, self.p, t, x, h) if march.stiffness is not None else None

    def _passed(self, t: float, x: np.ndarray, h: float) -> bool:
        """Whether a singular pose lies behind: pivots have risen, and rise."""
        program, p = self.program, self.p
        assert program.correct is not None
        here, soon = (program.correct(t + dt, x + dt * program.rhs(t, x, p), p)[1][2] for dt in (0.0, SOON * float(h)))
        return bool(soon > here > PASSED)

    def due(self) -> bool:
        """Whether it is time for a checkpoint."""
        return self.march.saving is not None and self.march.saving.due()

    def checkpoint(self, snapshot: Snapshot, final: bool = False) -> None:
        """See `Hooks`."""
        if self.march.saving is not None:
            self.march.saving.checkpoint(self.march, self.watch, snapshot, final)

    def progress(self, t: float, steps: int) -> None:
        """See `Hooks`."""
        if self.march.task.progress is not None:
            self.march.task.progress(t, steps)
