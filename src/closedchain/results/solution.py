"""What a `Run` needs of the equations that were solved: a `Solution`.

There is one class of runs. What differs between a compiled program, marched segment by segment
(`results.march_solution`), and finite elements on an equivalent rigid-link system (`results.erls.solution`) is behind
this class.

How to add a solution of your own
---------------------------------
Derive from `Solution`, set the attributes that it names, and implement its abstract methods. Pickle only what the
samples cannot be computed without. Tables, windows, reactions, plots, animations and comparisons follow from them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.errors import ModelError

if TYPE_CHECKING:
    import xarray

    from closedchain.close.formulation import Formulation
    from closedchain.derive.equations import Equations
    from closedchain.integrate.trajectory import Counts, Failure, Status
    from closedchain.march.marks import Happening
    from closedchain.march.task import Task
    from closedchain.model.mechanism import Mechanism
    from closedchain.model.parts import Frame
    from closedchain.pose.state import State
    from closedchain.results.beams.fields import BeamFields
    from closedchain.results.erls.solution import ErlsSolution
    from closedchain.results.march_solution import MarchSolution
    from closedchain.results.points import Points
    from closedchain.results.reactions.wrenches import Reactions
    from closedchain.results.run import Run
    from closedchain.results.samples import Samples

Variables = dict[str, Any]
"""Variables of a dataset by name: dimensions, values, attributes"""

Pose = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Position (m, 3), rotation (m, 3, 3), velocity (m, 3) and angular velocity (m, 3) of a frame, in world axes"""


class Solution(ABC):
    """Samples of a motion, and all that only its equations know.

    Attributes
    ----------
    mechanism
        As drawn.
    parameters
        Values that held when the run was made, by name.
    start
        Where it begins.
    method
        How loops are closed.
    equations, p
        Traced equations of the open limbs, and parameter values for them.
    record
        Events, singular poses, and other happenings on the way.
    """

    mechanism: Mechanism
    parameters: dict[str, float]
    start: State
    method: Formulation
    equations: Equations
    p: np.ndarray
    record: list[Happening]

    # ---- which kind it is ------------------------------------------------------------------------------------------

    @property
    def march(self) -> MarchSolution:
        """The solution itself, if it is that of a compiled program."""
        raise ModelError(
            f"the run was made with {self.method!r}: it has no compiled program, and so no segments, multipliers or "
            "right-hand side. Use a floating frame, cc.simulate(m, method=cc.Multipliers())"
        )

    @property
    def erls(self) -> ErlsSolution:
        """The solution itself, if it has finite elements on an equivalent rigid-link system."""
        raise ModelError(
            f"the run was made with {self.method!r}: only runs with method=cc.ERLS(...) have an equivalent rigid-link "
            "system with displacements of nodes"
        )

    @property
    def has_elements(self) -> bool:
        """Whether flexible links are finite elements on an equivalent rigid-link system."""
        return False

    # ---- how it went -----------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def t(self) -> np.ndarray:
        """Sample times, s."""

    @property
    @abstractmethod
    def x(self) -> np.ndarray:
        """States at the samples, one row each."""

    @property
    @abstractmethod
    def counts(self) -> Counts:
        """What it cost."""

    @property
    @abstractmethod
    def status(self) -> Status:
        """How it ended."""

    @property
    @abstractmethod
    def message(self) -> str:
        """How it ended, in words."""

    @property
    @abstractmethod
    def failure(self) -> Failure | None:
        """Where it stopped before its end; None if it did not."""

    @property
    @abstractmethod
    def seconds(self) -> float:
        """Spent in the solver."""

    @property
    @abstractmethod
    def seconds_to_prepare(self) -> float:
        """Spent on tracing and compiling the formulation; less where the machine code was in the cache."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The equations in a few words."""

    @property
    def shared_start(self) -> State | None:
        """A start whose compiled equations other runs of a study share; None if there are none."""
        return None

    @abstractmethod
    def metadata(self, run: Run) -> dict[str, Any]:
        """Facts about these equations, for the metadata of a run."""

    @abstractmethod
    def citation(self, solver: str) -> str:
        """Where a solver comes from."""

    # ---- at samples ------------------------------------------------------------------------------------------------

    @abstractmethod
    def part(self, chosen: np.ndarray) -> Solution:
        """The same at some samples, by their numbers in rising order."""

    @abstractmethod
    def state(self, index: int) -> State:
        """The state at a sample, counted from 0."""

    @abstractmethod
    def between(self, t: np.ndarray) -> np.ndarray:
        """States between samples, if the solution was kept there."""

    @abstractmethod
    def coordinates(self) -> dict[str, np.ndarray]:
        """Coordinates of all joints over time, by name, elasticity included."""

    @abstractmethod
    def variables(self, run: Run) -> tuple[Variables, dict[str, Any]]:
        """Variables over time for the dataset, and coordinates of their dimensions besides time."""

    def slow_variables(self) -> Variables:
        """More variables for the dataset that take long; a run is judged without them."""
        return {}

    def variable(self, name: str) -> xarray.DataArray | None:
        """A variable that is computed on demand and is not in the dataset; None if it is not known."""
        return None

    @abstractmethod
    def frame(self, frame: Frame) -> Pose:
        """Motion of a frame."""

    @abstractmethod
    def points(self, which: Sequence[int]) -> Points:
        """Where points of bodies are at some samples, with and without elastic displacement."""

    @abstractmethod
    def _samples(self) -> Sequence[Samples]:
        """The motion with all that reactions depend on, piece by piece."""

    @cached_property
    def _reactions(self) -> dict[Any, Reactions]:
        """Those of all joints that were asked for, by stiffness."""
        return {}

    @abstractmethod
    def beam(self, body: str, x: Any, forces: str) -> BeamFields:
        """Displacements and section forces along a flexible body."""

    @abstractmethod
    def closing_forces(self) -> np.ndarray | None:
        """``A' lam`` at the samples, (time, velocities); None if there are no multipliers."""

    # ---- with rigid links, and once more ---------------------------------------------------------------------------

    @abstractmethod
    def rigid_start(self, task: Task) -> tuple[State, dict[str, Any]]:
        """Start of the rigid twin that moves alike under the same efforts, and options to simulate it with."""

    @abstractmethod
    def rigid_pose(self, frame: Frame) -> tuple[np.ndarray, np.ndarray]:
        """Axes (m, 3, 3) and origin (m, 3) of a frame with rigid links and motors at the same coordinates."""

    @abstractmethod
    def again(self, task: Task) -> Solution:
        """March once more, without samples."""

    @abstractmethod
    def operations(self, each: float) -> float:
        """Operations of the whole march, if one evaluation takes so many; nan where they are not counted."""

    # ---- is it good ------------------------------------------------------------------------------------------------

    @abstractmethod
    def complaints(self, run: Run) -> list[str]:
        """What is worse than the tolerance promises."""

    @abstractmethod
    def explanation(self, run: Run) -> str:
        """Why the run ended early, and what to try."""
