"""`Stepper`: what the loop of a run asks of a method that makes steps; the seam between `integrate.loop` and methods.

The loop (`integrate.loop.Loop`) knows times, samples, events, inputs and checkpoints. A stepper knows how steps are
made: it owns the state, the step control with its error norm, and all memory. `CompiledStepper` makes the steps of the
solvers of `SOLVERS`; other equations that need an assembly of their own bring another one.

The order of calls::

    stepper.open_window(times, more)            room for the first samples
    stepper.settle()                            the start, put where the method wants it; the sample there
    stepper.begin(end, inputs)                  the first derivative and the first step
    while running:
        stepper.advance()                       some attempts; ends at `end`, at a pause, or with a failure
        stepper.accepted(booked)                steps since then, for events and dense output
        stepper.open_window / fill_window       samples are handed over, and those that had no room are taken
        stepper.go_on(end, inputs)              at a discontinuity of the inputs

A resumed run begins with all `arrays` overwritten and ``restored``; ``pause_after`` and ``open_window`` follow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from closedchain.integrate.trajectory import Counts, Status

Inputs = Mapping[str, np.ndarray]


class Accepted(NamedTuple):
    """Accepted steps: their ends (k,), the states there (k, ...), and their polynomials (k, rows, ...).

    States are empty if the samples are not the ends of the steps, polynomials if nobody wants them.
    """

    t: np.ndarray
    x: np.ndarray
    dense: np.ndarray


class Stepper(ABC):
    """Makes the steps of one run. Everything that the numbers to come depend on lies in `arrays`.

    Attributes
    ----------
    x : the state reached, an array of any shape; events, inputs, monitors and samples get arrays of this shape.
    max_steps : attempts before the run is given up.
    """

    x: np.ndarray
    max_steps: int

    # ---- where it is -------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def t(self) -> float:
        """The time reached."""

    @property
    @abstractmethod
    def status(self) -> Status:
        """`running` until `advance` has reached the end, or has failed; `paused` only within the loop."""

    @status.setter
    @abstractmethod
    def status(self, status: Status) -> None:
        """The loop ends a run by setting it."""

    @property
    @abstractmethod
    def steps(self) -> int:
        """Accepted steps so far."""

    @property
    @abstractmethod
    def rejections(self) -> int:
        """Rejected attempts so far."""

    @property
    @abstractmethod
    def next_step(self) -> float:
        """The length that the step control would try next; 0 if there is none."""

    @property
    def bad_index(self) -> int | None:
        """The entry of the derivative that was not finite, where that ended the run."""
        return None

    @property
    def pivot(self) -> float:
        """How far the constraints are from a singular pose, relative; 1 where nobody tells."""
        return 1.0

    @abstractmethod
    def counts(self, dropped: int = 0) -> Counts:
        """What the run cost, with ``dropped`` accepted steps less."""

    # ---- steps -------------------------------------------------------------------------------------------------------

    @abstractmethod
    def settle(self) -> None:
        """Put the start where the method wants it, and take the sample there if one is wanted."""

    @abstractmethod
    def begin(self, end: float, inputs: Inputs | None) -> None:
        """Evaluate the derivative at the start, and choose the first step; steps end at ``end``."""

    @abstractmethod
    def advance(self) -> None:
        """Make some attempts; return early at the end, at a pause, if a window is full, or with a failure."""

    @abstractmethod
    def go_on(self, end: float, inputs: Inputs | None) -> None:
        """Run on from the end that was reached to another one, with new inputs; None: they are as before."""

    @abstractmethod
    def pause_after(self, steps: int) -> None:
        """Return from `advance` when so many steps have been accepted since the start of the run; -1: never."""

    def at_pause(self, steps: int) -> bool:
        """Whether the pause after so many steps has come; a stepper may count attempts instead of accepted steps."""
        return self.steps == steps

    @abstractmethod
    def accepted(self, booked: int) -> Accepted:
        """The accepted steps of the last call of `advance` beyond a number of them."""

    # ---- samples -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def open_window(self, times: np.ndarray, more: bool) -> None:
        """Make room for samples at these times; ``more`` follow: pause when it is full."""

    @abstractmethod
    def taken(self) -> tuple[np.ndarray, np.ndarray]:
        """Times and states of the samples taken in this window."""

    @property
    def full(self) -> bool:
        """Whether a window is full, and more samples lie in the last step."""
        return False

    def fill_window(self) -> None:
        """Take the samples of the last step that had no room before; only called if a window is `full`."""
        raise NotImplementedError

    # ---- checkpoints -------------------------------------------------------------------------------------------------

    @abstractmethod
    def arrays(self) -> dict[str, np.ndarray]:
        """Everything that the numbers to come depend on, by name: to be saved, and to be overwritten on resuming.

        The end to which steps go now is one of them. Inputs are not: a resumed run is set up with those that hold.
        """

    @abstractmethod
    def restored(self) -> None:
        """The arrays have been overwritten: put back addresses and sizes that belong to this process."""


class RecordedStepper(Stepper):
    """A stepper whose kernels keep where they are in one record, ``s``."""

    s: np.void

    @property
    def t(self) -> float:
        """See `Stepper`."""
        return float(self.s["t"])

    @property
    def status(self) -> Status:
        """See `Stepper`."""
        return Status(int(self.s["status"]))

    @status.setter
    def status(self, status: Status) -> None:
        self.s["status"] = status

    @property
    def steps(self) -> int:
        """See `Stepper`."""
        return int(self.s["steps"])

    @property
    def rejections(self) -> int:
        """See `Stepper`."""
        return int(self.s["rejections"])

    @property
    def next_step(self) -> float:
        """See `Stepper`."""
        return float(self.s["h"])
