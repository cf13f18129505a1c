"""The march of finite elements on an equivalent rigid-link system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from closedchain.close.erls import ERLS
from closedchain.errors import ModelError
from closedchain.integrate.times import ListedTimes
from closedchain.march.options import Limits, check_rounding
from closedchain.march.task import Task
from closedchain.model.mechanism import Mechanism
from closedchain.pose.state import State
from closedchain.results.marching import Marching

if TYPE_CHECKING:
    from closedchain.erls.system import System
    from closedchain.results.erls.solution import ErlsSolution

LEAST_RTOL = 1e-13


class ErlsMarch(Marching):
    """Flexible links as finite elements, which are assembled with numbers.

    Shapes of flexible bodies are not used, their numbers are. Without an ``atol``, displacements may be off by rtol
    times the length of the longest beam, and angles by what moves that beam so far. A step may have a tenth of it,
    since errors of many steps add up.
    """

    limits = Limits(
        ("events", "singular poses", "dense_output", "save", "partition", "backward", "no length"),
        "ERLS has no {feature}: leave that out, or use a floating frame (cc.Multipliers())",
    )

    @classmethod
    def begin(cls, mechanism: Mechanism, start: State, parameters: Mapping[str, float]) -> State:
        """A state of the mechanism, or of its rigid twin: undeformed, or that of a run with the same elements."""
        from closedchain.erls.system import rigid_twin  # loads Numba

        twin = rigid_twin(mechanism)
        start = start.of(twin if start.mechanism is twin else mechanism, "the start")
        return replace(start, parameters={**start.parameters, **parameters})

    def __init__(self, mechanism: Mechanism, start: State, task: Task) -> None:
        from closedchain.erls.system import system

        method = task.method
        assert isinstance(method, ERLS)
        check_rounding(task.rtol, least=LEAST_RTOL)
        made = system(mechanism, start, method)
        self.system = _sagged(made) if method.start == "sagged" else made
        self.task = replace(task, atol=task.rtol * made.longest if task.atol is None else task.atol)
        self._solution: ErlsSolution | None = None

    def run(self) -> None:
        """See `Marching.run`."""
        from closedchain.results.erls.solution import march_erls

        times = self.task.times
        grid = np.asarray(times.array if isinstance(times, ListedTimes) else times[:], float)
        self._solution = march_erls(self.system, self.task.until, grid, self.task)

    @property
    def solution(self) -> ErlsSolution:
        """Samples of the finite elements."""
        assert self._solution is not None, "run() comes first"
        return self._solution

    @property
    def seconds(self) -> dict[str, float]:
        """What marching took."""
        return {"march": self.solution.seconds}


def _sagged(made: System) -> System:
    """The same at rest under its weight."""
    from closedchain.erls.statics import sagged

    if made.given is not None:
        raise ModelError("the start is deformed already: leave out start='sagged', or start from m.assemble(...)")
    return replace(made, given=(sagged(made) - made.at_rest()[0], np.zeros(made.n)))
