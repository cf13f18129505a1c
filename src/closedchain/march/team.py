"""What a march needs of a team: members that integrate parts of one state together, on ranks or in threads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from closedchain.march.compiled import Compiled
from closedchain.march.trajectory import Trajectory

SOLVERS = ("dop853", "dopri5", "rk4")  # whatever decides on their next step is agreed on by all members


class Team(ABC):
    """Integrates a piece of a run in place of `march.integrate`; what it gives is the whole trajectory."""

    @abstractmethod
    def integrate(
        self,
        program: Compiled,
        solver: str,
        x: np.ndarray,
        t_span: tuple[float, float],
        p: Callable[[], np.ndarray],
        hold: Any,
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
            As for `march.integrate`.
        options
            Of `march.integrate`: tolerances, steps, samples.
        """

    @property
    @abstractmethod
    def leads(self) -> bool:
        """Whether this process is the one that writes and speaks for all."""

    @abstractmethod
    def meet(self) -> None:
        """Wait for all processes of the team."""

    @abstractmethod
    def fresh(self) -> Team:
        """The same team, without what it has counted so far: one for each run."""

    @property
    @abstractmethod
    def account(self) -> Any:
        """Who owned what, what was sent, and how long members computed and waited; in words with ``str``."""
