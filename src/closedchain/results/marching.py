"""A march: what `simulate` asks of whatever computes a motion, and how a run ends for the user.

How to add a march of your own
------------------------------
Derive from `Marching`: say in ``limits`` what it cannot do, take a state in `begin`, prepare in ``__init__``, integrate
in `run`, and give a `Solution`. Then enter it in the table of `simulation.py` under the kind of equations
(`Formulation.kind`) that it marches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from closedchain.errors import RunError, RunWarning, warn
from closedchain.integrate.trajectory import Status
from closedchain.march.options import NO_LIMITS, Limits
from closedchain.march.task import Task
from closedchain.model.mechanism import Mechanism
from closedchain.pose.state import State
from closedchain.results.diagnose import interrupted
from closedchain.results.run import Run
from closedchain.results.solution import Solution


class Marching(ABC):
    """A mechanism in time, from a start: made ready when it is made, integrated by `run`.

    Attributes
    ----------
    limits
        What it cannot do.
    task
        What it does; it may have filled in a default.
    refusal
        Why it ended where something could not be done, as a switch of joints; empty if nothing was refused.
    stopped
        Whether it was interrupted.
    """

    limits: ClassVar[Limits] = NO_LIMITS

    task: Task
    refusal: str = ""
    stopped: bool = False

    @classmethod
    @abstractmethod
    def begin(cls, mechanism: Mechanism, start: State, parameters: Mapping[str, float]) -> State:
        """The state to start from, known to belong to the mechanism, with these parameter values."""

    @abstractmethod
    def __init__(self, mechanism: Mechanism, start: State, task: Task) -> None:
        """Derive the equations, close the loops, and compile."""

    @abstractmethod
    def run(self) -> None:
        """Integrate to the end."""

    @property
    @abstractmethod
    def solution(self) -> Solution:
        """What was computed."""

    @property
    @abstractmethod
    def seconds(self) -> dict[str, float]:
        """What preparing and marching took, by name."""


def finished(march: Marching) -> Run:
    """The run of a march that has ended: an error or an interruption is raised with it, complaints are warned of."""
    task = march.task
    run = Run(march.solution, task, march.seconds)
    if march.stopped or run.status is Status.interrupted:
        raise interrupted(run, None if task.saving is None else Path(task.saving.folder).expanduser())
    if march.refusal:
        kept = f"{len(run.t)} samples up to t = {run.t[-1]:.6g} s are kept in the error's .run"
        raise RunError(f"{march.refusal}. {kept}", run)
    if not run.complete:
        raise RunError(run.explanation, run)
    for complaint in run.complaints():
        warn(complaint, RunWarning)
    return run
