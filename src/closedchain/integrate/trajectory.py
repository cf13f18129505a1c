"""What an integration gives: samples, the solution between them, what it cost, and how it ended."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace

import numpy as np


class Status(enum.IntEnum):
    """How a run ended."""

    running = 0
    finished = 1
    nan = 2
    step_too_small = 3
    too_many_steps = 4
    correction_failed = 5
    interrupted = 6
    singular = 7
    event = 8
    paused = 9
    stiff = 10
    controller = 11
    calm = 12
    new_gains = 13
    not_solved = 14
    diverged = 15
    opened = 16
    passed = 17


@dataclass(frozen=True)
class Counts:
    """What a run cost.

    Attributes
    ----------
    steps, rejections : accepted and rejected attempts.
    evaluations, corrections : calls of `rhs` and of `correct`; of finite elements: residuals, and Newton steps that
        close the loops of the rigid-link system.
    smallest_step, largest_step : among the accepted steps; nan if there is none.
    jacobians, factorisations : calls of `jac`, and how often its matrices were factorised; 0 for explicit solvers.
    iterations : of Newton's method in all stages; None where they are not counted.
    """

    steps: int
    rejections: int
    evaluations: int
    corrections: int
    smallest_step: float
    largest_step: float
    jacobians: int = 0
    factorisations: int = 0
    iterations: int | None = None

    def known(self) -> dict[str, float]:
        """The entries that the solver counts, by name."""
        return {name: x for name, x in asdict(self).items() if x is not None}


@dataclass(frozen=True)
class Failure:
    """Where a run stopped before its end.

    Attributes
    ----------
    t, x : time and state (n,) of the last good step.
    index : of the first derivative entry that was not finite, or None.
    advice : a sentence that says what to try.
    """

    t: float
    x: np.ndarray
    index: int | None
    advice: str


class DenseOutput:
    """The solution between the steps: call it with times.

    Parameters
    ----------
    t : (m + 1,) ends of the steps, monotone.
    rows : (m, r, n) nested polynomials of the steps, see `tableaus.py`.
    lengths : (m,) of the steps, where they were longer than what is used of them; None: ``diff(t)``.
    """

    def __init__(self, t, rows, lengths=None):
        self.t, self.rows = t, rows
        self.lengths = np.diff(t) if lengths is None else lengths

    def __call__(self, t):
        """States (..., n) at times `t` (...), within the run; corrections are not applied."""
        t = np.asarray(t, dtype=float)
        low, high = sorted((self.t[0], self.t[-1]))
        if not np.all((t >= low) & (t <= high)):
            raise ValueError(f"times must lie in [{low}, {high}], the range that was integrated")
        backward = self.t[-1] < self.t[0]
        ends = -self.t if backward else self.t
        step = np.searchsorted(ends[1:-1], -t if backward else t, side="right")
        theta = ((t - self.t[step]) / self.lengths[step])[..., None]
        x = self.rows[step, -1]
        for r in range(self.rows.shape[1] - 2, -1, -1):
            x = self.rows[step, r] + (theta if r % 2 == 0 else 1 - theta) * x
        return x


@dataclass(frozen=True)
class Trajectory:
    """What `integrate` returns.

    Attributes
    ----------
    t, x : (m,), (m, n) samples: the times of `t_eval` that were reached, or the start and every step.
    steps_t : (steps,) ends of the accepted steps.
    counts : what it cost.
    status, message : how it ended, as a value and as a sentence.
    failure : where it stopped, None if it finished.
    sol : the solution as a function of time, if asked for and if there is a step; else None.
    pivot : what the last correction told.
    next_step : the length that the step control would try next, None for a fixed step.
    seconds : spent in the solver.
    """

    t: np.ndarray
    x: np.ndarray
    steps_t: np.ndarray
    counts: Counts
    status: Status
    message: str
    failure: Failure | None = None
    sol: DenseOutput | None = None
    pivot: float = 1.0
    next_step: float | None = None
    seconds: float = 0.0

    def without_last(self) -> Trajectory:
        """The same without its last sample."""
        return replace(self, t=self.t[:-1], x=self.x[:-1])

    @property
    def success(self):
        """Whether the end was reached."""
        return self.status is Status.finished


SENTENCES = {
    Status.nan: (
        "the derivative is not finite",
        "look for a division by zero, a root of a negative number or a lost rank behind this entry",
    ),
    Status.step_too_small: (
        "the step has become too small to change the time",
        "the motion may run into a singular configuration or a jump; loosen rtol and atol, or stop before it",
    ),
    Status.too_many_steps: (
        "the limit of steps was reached",
        "allow more with max_steps of the solver, for instance solver=cc.solvers.DOP853(max_steps=...); if steps are "
        "very small, the equations are stiff: take solver='radau5', or soften springs",
    ),
    Status.correction_failed: (
        "the state could not be put back on its constraints",
        "the loops may be near a singular configuration; try smaller steps",
    ),
    Status.singular: (
        "the constraints come close to a singular configuration",
        "go on from here with equations that can pass it, or stop",
    ),
    Status.event: ("an event was met", "go on from this state"),
    Status.stiff: ("the equations are stiff: steps are limited by stability", "take solver='radau5' or 'auto'"),
    Status.not_solved: (
        "the equations of the step could not be solved",
        "take a smaller step or a smaller rho; near a singular pose use cc.Multipliers()",
    ),
    Status.diverged: (
        "the motion runs away",
        "cc.Divergence('warn') among the events goes on all the same",
    ),
    Status.opened: (
        "a loop has opened",
        "mend the numbers of the drawing, or end the run before; cc.Divergence('warn') among the events "
        "goes on all the same",
    ),
    Status.passed: ("a singular pose has been passed", "go on from this state"),
    Status.calm: ("the equations are not stiff", "take solver='dop853' or 'auto'"),
    Status.new_gains: ("the gains of the stabilisation no longer fit the steps", "go on with new ones"),
    Status.controller: ("a controller failed", "mend it; what was computed before is kept"),
    Status.interrupted: ("the run was interrupted", "continue from this state, it is a good one"),
}

LONGER = "allow more with max_steps of the solver, or take longer ones"
"""What to try if the limit of steps was reached with steps of one length."""


def total(counts: Sequence[Counts]) -> Counts:
    """What several pieces cost together."""
    added = [f.name for f in fields(Counts) if f.name not in ("smallest_step", "largest_step", "iterations")]
    moved = [c for c in counts if c.steps]
    iterations = [c.iterations for c in counts if c.iterations is not None]
    return Counts(
        **{name: sum(getattr(c, name) for c in counts) for name in added},
        iterations=sum(iterations) if iterations else None,
        smallest_step=min((c.smallest_step for c in moved), default=np.nan),
        largest_step=max((c.largest_step for c in moved), default=np.nan),
    )


def joined(a: Trajectory, b: Trajectory) -> Trajectory:
    """Two pieces of one solution, the second of which begins where the first ends."""
    sol = b.sol if a.sol is None else a.sol
    if a.sol is not None and b.sol is not None:
        # the end of the first piece may lie inside its last step: the second one begins there
        used = int((np.sign(a.sol.t[-1] - a.sol.t[0]) * (b.sol.t[0] - a.sol.t[:-1]) > 0).sum())
        sol = DenseOutput(
            np.concatenate([a.sol.t[:used], b.sol.t]),
            np.concatenate([a.sol.rows[:used], b.sol.rows]),
            np.concatenate([a.sol.lengths[:used], b.sol.lengths]),
        )
    return replace(
        b,
        t=np.concatenate([a.t, b.t]),
        x=np.concatenate([a.x, b.x]),
        steps_t=np.concatenate([a.steps_t, b.steps_t]),
        counts=total([a.counts, b.counts]),
        sol=sol,
        seconds=a.seconds + b.seconds,
    )
