"""Options of the runs of a study: those of `simulate`, the same names with the same meaning."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from closedchain.arguments import instance, suggest
from closedchain.close.erls import ERLS
from closedchain.close.formulation import Formulation
from closedchain.close.multipliers import Multipliers
from closedchain.errors import ModelError
from closedchain.integrate.solvers import SOLVERS, Solver, marching, named
from closedchain.integrate.times import Equal, Every, Given
from closedchain.march.marks import Divergence, Event, SingularPoses
from closedchain.march.options import check_options, check_times, sample_times, usual_solver
from closedchain.model.mechanism import Mechanism
from closedchain.pose.state import State
from closedchain.results.run import Run
from closedchain.simulation import simulate


class RunOptions(TypedDict, total=False):
    """Options of `sweep` that go on to every run."""

    method: Formulation | None
    solver: str | Solver | None
    rtol: float
    atol: float | None
    t_eval: Any
    events: Sequence[Event | SingularPoses | Divergence]


def check_names(options: Mapping[str, Any]) -> None:
    """Refuse options that no run has."""
    known = [*RunOptions.__annotations__, "start", "keep", "measure", "save", "executor"]
    for name in options:
        if name in RunOptions.__annotations__:
            continue
        owners = [kind.__name__ for kind in SOLVERS.values() if name in {x.name for x in dataclasses.fields(kind)}]
        if owners:
            raise ModelError(
                f"sweep has no option {name!r}: it belongs to the solver, for instance "
                f"solver=cc.solvers.{owners[0]}({name}=...)"
            )
        raise ModelError(f"sweep has no option {name!r}{suggest(name, known)}")


@dataclass(frozen=True, eq=False)
class RunPlan:
    """How every point of a study runs.

    Attributes
    ----------
    until
        End of all runs, s.
    times
        Of the samples, s; `Equal` ones take no memory yet.
    method, solver, rtol, atol
        As in `simulate`; `ERLS` chooses its solver if there is none.
    events, singularity, divergence
        What is looked for in each run, and what it does at singular poses and where it diverges.
    """

    until: float
    times: Given | Equal
    method: Formulation
    solver: Solver | None
    rtol: float = 1e-8
    atol: float | None = None
    events: tuple[Event, ...] = ()
    singularity: str = "pass"
    divergence: str = "stop"

    @property
    def solver_name(self) -> str:
        """The solver as users and the command line say it."""
        return usual_solver(self.method) if self.solver is None else self.solver.name

    @property
    def step(self) -> float | None:
        """The length of a step, s; None if the solver chooses it."""
        return getattr(self.solver, "step", None)

    def numbers(self) -> dict[str, Any]:
        """All options that are numbers or words, by name."""
        own = (
            {}
            if self.solver is None
            else {x.name: getattr(self.solver, x.name) for x in dataclasses.fields(self.solver)}
        )
        looks = {"singularity": self.singularity, "divergence": self.divergence}
        return {"rtol": self.rtol, "atol": self.atol, **own, **looks}

    def run(self, mechanism: Mechanism, start: State, method: Formulation) -> Run:
        """One run, as a user would make it."""
        return simulate(
            mechanism,
            start,
            self.until,
            method=method,
            solver=self.solver_name,
            t_eval=as_array(self.times),
            events=self.events,
            **self.numbers(),
        )


def planned(options: RunOptions, begin: float, until: Any) -> RunPlan:
    """The options of a call as they are meant, or a sentence about what is wrong with them."""
    method = options.get("method")
    method = Multipliers() if method is None else method
    instance("method", method, Formulation, "a formulation, for instance cc.Multipliers(),")
    solver = _solver(options.get("solver"), method)
    rtol, atol, events = options.get("rtol", 1e-8), options.get("atol"), tuple(options.get("events", ()))
    singularity = next((x.then for x in events if isinstance(x, SingularPoses)), "pass")
    divergence = next((x.then for x in events if isinstance(x, Divergence)), "stop")
    if isinstance(method, ERLS) or solver is None:  # its runs have checks of their own
        check_times(until, begin)
    else:
        check_options(solver.name, until, begin, rtol, atol, getattr(solver, "step", None), singularity)
    return RunPlan(
        until=float(until),
        times=_times(begin, float(until), options.get("t_eval")),
        method=method,
        solver=solver,
        rtol=rtol,
        atol=atol,
        events=tuple(x for x in events if not isinstance(x, SingularPoses | Divergence)),
        singularity=singularity,
        divergence=divergence,
    )


def _solver(solver: str | Solver | None, method: Formulation) -> Solver | None:
    if solver is not None:
        return named(solver)
    return None if isinstance(method, ERLS) else named(marching(method.kind)[0])


def _times(begin: float, until: float, t_eval: Any) -> Given | Equal:
    if isinstance(t_eval, Every):
        return sample_times(begin, until, None, t_eval.seconds)
    return sample_times(begin, until, t_eval)


def as_array(times: Given | Equal) -> np.ndarray:
    """All times at once."""
    return times[:] if isinstance(times, Equal) else times.array
