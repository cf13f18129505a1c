"""What a march needs of a team: members that integrate parts of one state together, on ranks or in threads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from closedchain.close.formulation import Formulation
from closedchain.errors import ModelError
from closedchain.integrate.trajectory import Trajectory
from closedchain.march.program.compiled import Compiled

T = TypeVar("T")
SOLVERS = ("dop853", "dopri5", "rk4")  # whatever decides on their next step is agreed on by all members


class Team(ABC):
    """Integrates a piece of a run in place of `integrate.integrate`; what it gives is the whole trajectory."""

    @abstractmethod
    def integrate(
        self,
        program: Compiled,
        solver: str,
        x: np.ndarray,
        t_span: tuple[float, float],
        p: Callable[[], np.ndarray],
        hold: Callable[[float, np.ndarray], tuple[float, bool]] | None,
        **options: Any,
    ) -> Trajectory:
        """Integrate from a state.

        Parameters
        ----------
        program
            Equations of the whole.
        x
            The whole state.
        p
            Gives the parameters that hold.
        hold
            Changes those parameters; see `Holding.change`.
        options
            Of `integrate.integrate`: tolerances, steps, samples.
        """

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


def undisturbed(team: Team | None) -> AbstractContextManager[None]:
    """Around a run: nothing else in this process takes the processors of the team, if there is one."""
    return nullcontext() if team is None else team.undisturbed()
