"""What a run calls on its way: inputs that change, events, monitors, checkpoints, progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from closedchain.integrate.interrupt import check
from closedchain.integrate.trajectory import DenseOutput, Status

Snapshot = Callable[[], dict[str, np.ndarray]]


class InputsError(Exception):
    """The inputs from here on cannot be found (a controller failed): the run ends here, and keeps its samples."""


class Monitor(Protocol):
    """Watches where a run goes: does it run away, and will it come to its end? See `march.judge.divergence`."""

    @property
    def memory(self) -> np.ndarray:
        """Everything that later findings depend on; saved with a checkpoint."""

    def next_look(self, steps: int) -> int:
        """The number of steps after which it looks next; it must not depend on how a run is divided into calls."""

    def __call__(self, t: float, x: np.ndarray) -> tuple[Status, str] | None:
        """Why the run ends here, with a clause; None to go on."""

    def pace(self, t: float, until: float, steps: int, left: int) -> None:
        """Told of the steps made, and of those that are left."""


class Hooks:
    """Called on the way of a run. Derive a class, and override what a run needs: all defaults do nothing.

    Attributes
    ----------
    steps_per_call : attempts between two calls of `progress`, `checkpoint` and `interrupted`. It has no influence on
        the numbers.
    finds_events : whether `event` is called; the polynomials of all steps are computed for it.
    detects_stiffness : end the run (status `stiff`) where stability limits the steps, for solvers that can tell.
    handover_every : steps between two calls of `handover`; 0: it is not called.
    monitor : ends the run where the motion runs away; None: nobody watches.
    """

    steps_per_call: int = 500
    finds_events: bool = False
    detects_stiffness: bool = False
    handover_every: int = 0
    monitor: Monitor | None = None

    def inputs(self, t: float, x: np.ndarray) -> tuple[float | None, dict[str, np.ndarray] | None]:
        """Inputs from t on: the time of their next discontinuity, and those that are new.

        Called at the start and at each discontinuity; steps end there. None as time: they never change again. New
        inputs are arrays by name, for the solvers of `SOLVERS` ``w``, ``w_correct`` and ``w_extra``; None: they
        are as before. SUNDIALS takes none: it reads the parameters of its problem again, see `march.sundials`.
        Raises `InputsError` where they cannot be found.
        """
        return None, None

    def event(self, steps: DenseOutput) -> float | None:
        """The time of an event in the latest steps; the run ends there (status `event`)."""
        return None

    def handover(self, t: float, x: np.ndarray, h: float) -> Status | None:
        """A status that ends the run, so that another solver or other equations take over; None to go on."""
        return None

    def checkpoint(self, snapshot: Snapshot, final: bool = False) -> None:
        """Save ``snapshot()``, from which a run resumes with the same bits, if it is time; ``final``: in any case."""

    def progress(self, t: float, steps: int) -> None:
        """Told of the time reached, and of the accepted steps."""

    def interrupted(self) -> None:
        """Raises KeyboardInterrupt if there was a Ctrl-C."""
        check()
