"""What an integration gives: samples, the solution between them, what it cost, and how it ended."""

from __future__ import annotations

import enum
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Counts:
    """What a run cost.

    Attributes
    ----------
    steps, rejections : accepted and rejected attempts.
    evaluations, corrections : calls of `rhs` and of `correct`.
    smallest_step, largest_step : among the accepted steps; nan if there is none.
    jacobians, factorisations : calls of `jac`, and how often its matrices were factorised; 0 for explicit solvers.
    """

    steps: int
    rejections: int
    evaluations: int
    corrections: int
    smallest_step: float
    largest_step: float
    jacobians: int = 0
    factorisations: int = 0


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
    """

    def __init__(self, t, rows):
        self.t, self.rows = t, rows

    def __call__(self, t):
        """States (..., n) at times `t` (...), within the run; corrections are not applied."""
        t = np.asarray(t, dtype=float)
        low, high = sorted((self.t[0], self.t[-1]))
        if not np.all((t >= low) & (t <= high)):
            raise ValueError(f"times must lie in [{low}, {high}], the range that was integrated")
        backward = self.t[-1] < self.t[0]
        ends = -self.t if backward else self.t
        step = np.searchsorted(ends[1:-1], -t if backward else t, side="right")
        theta = ((t - self.t[step]) / (self.t[step + 1] - self.t[step]))[..., None]
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
        "raise max_steps; if steps are very small, the equations are stiff: take solver='radau5', or soften springs",
    ),
    Status.correction_failed: (
        "the state could not be put back on its constraints",
        "the loops may be near a singular configuration, or correct_tol below rounding; try smaller steps",
    ),
    Status.singular: (
        "the constraints come close to a singular configuration",
        "go on from here with equations that can pass it, or stop",
    ),
    Status.event: ("an event was met", "go on from this state"),
    Status.stiff: ("the equations are stiff: steps are limited by stability", "take solver='radau5' or 'auto'"),
    Status.interrupted: ("the run was interrupted", "continue from this state, it is a good one"),
}
