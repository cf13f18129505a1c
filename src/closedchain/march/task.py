"""What to integrate, and how: a run's options in one object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from closedchain.close.formulation import Formulation
from closedchain.disk.save_to import SaveTo
from closedchain.integrate.solvers import Solver
from closedchain.integrate.times import Equal, ListedTimes
from closedchain.march.marks import Event
from closedchain.march.team import Team


@dataclass(frozen=True)
class Task:
    """What to integrate, and how.

    Attributes
    ----------
    until
        End of the run, s.
    times
        Of the samples.
    method
        How loops are closed.
    solver
        With its options.
    rtol, atol
        Tolerances of a step; an atol of None is rtol times the size of each entry of the state.
    events
        Of the user.
    singularity, divergence
        ``"pass"``, ``"warn"`` or ``"stop"`` at singular poses, and where the motion diverges.
    progress
        Called with the time reached and the number of steps.
    saving
        Where the run is saved.
    team
        Who integrates together, if several do.
    """

    until: float
    times: ListedTimes | Equal
    method: Formulation
    solver: Solver
    rtol: float
    atol: float | None
    events: tuple[Event, ...] = ()
    singularity: str = "pass"
    divergence: str = "stop"
    progress: Callable[[float, int], object] | None = None
    saving: SaveTo | None = None
    team: Team | None = None

    def __getstate__(self) -> dict[str, Any]:
        # a copy is not asked to go on: who watches, the folder and the processors stay here
        return vars(self) | {"progress": None, "saving": None, "team": None}
