"""What a march needs of a team: members that integrate parts of one state together, on ranks or in threads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from closedchain.close.formulation import Formulation
from closedchain.errors import ModelError
from closedchain.integrate.problem import Samples, Tolerances
from closedchain.integrate.solvers import Solver
from closedchain.integrate.trajectory import Trajectory
from closedchain.march.program.compiled import Compiled

if TYPE_CHECKING:
    from closedchain.march.piece_hooks import PieceHooks

T = TypeVar("T")
SOLVERS = ("dop853", "dopri5", "rk4")  # whatever decides on their next step is agreed on by all members


@dataclass(frozen=True, eq=False)
class SharedProblem:
    """Equations that members integrate together; they compile their parts.

    Attributes
    ----------
    program
        Equations of the whole.
    time, pivot_after, pivot_before
        As for `integrate.problem.Problem`.
    """

    program: Compiled
    time: float
    pivot_after: float
    pivot_before: float


class Team(ABC):
    """Integrates a piece of a run in place of `integrate.integrate`; what it gives is the whole trajectory."""

    @abstractmethod
    def integrate(
        self,
        problem: SharedProblem,
        solver: Solver,
        x: np.ndarray,
        t_span: tuple[float, float],
        tolerances: Tolerances,
        samples: Samples,
        hooks: PieceHooks,
        resume: dict[str, np.ndarray] | None,
    ) -> Trajectory:
        """Integrate from a whole state; everything else is as for `integrate.integrate`."""

    @property
    @abstractmethod
    def leads(self) -> bool:
        """Whether this process is the one that writes and speaks for all."""

    @abstractmethod
    def meet(self) -> None:
        """Wait for all processes of the team."""

    @abstractmethod
    def everyone(self, mine: Any) -> list[Any]:
        """What each process of the team has; all of them call this together."""

    @abstractmethod
    def refuse(self, method: Formulation, solver: str) -> None:
        """Refuse formulations and solvers that members cannot share."""

    @abstractmethod
    def undisturbed(self) -> AbstractContextManager[None]:
        """Around all that is done for a run: nothing else in this process takes the members' processors."""

    @abstractmethod
    def guarded(self, program: Compiled, saved: Path | None) -> AbstractContextManager[None]:
        """Around a run: what happens to one process of the team is told, and ends all of them."""

    @abstractmethod
    def pivot(self, program: Compiled, t: float, x: np.ndarray, p: np.ndarray) -> float:
        """The smallest relative pivot of its equations at a state: members may divide by others than one process."""

    @property
    @abstractmethod
    def about(self) -> str:
        """What it is, in words; equal ones compute equal bits."""

    def agree(self, action: Callable[[], T]) -> T:
        """Do something in all processes; if it fails in one, its error is raised in all."""
        error, got = None, None
        try:
            got = action()
        except Exception as failed:
            error = failed
        errors = self.everyone(None if error is None else f"{error}")
        if error is not None:
            raise error
        for rank, said in enumerate(errors):
            if said is not None:
                raise ModelError(f"rank {rank}: {said}")
        return got  # type: ignore[return-value]

    @abstractmethod
    def fresh(self) -> Team:
        """The same team, without what it has counted so far: one for each run."""

    @property
    @abstractmethod
    def account(self) -> Any:
        """Who owned what, what was sent, and how long members computed and waited; in words with ``str``."""
