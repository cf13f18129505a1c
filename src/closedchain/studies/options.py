"""Options of the runs of a study: those of `simulate`, the same names with the same meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypedDict

import numpy as np

from closedchain.arguments import instance
from closedchain.close.formulation import Formulation
from closedchain.close.multipliers import Multipliers
from closedchain.integrate.solvers import Solver
from closedchain.integrate.times import Equal, ListedTimes
from closedchain.march.elsewhere import unknown_option
from closedchain.march.marks import Divergence, Event, SingularPoses
from closedchain.march.options import end_time, sample_times, solver_for, sorted_events, tolerances
from closedchain.march.task import Task


class RunOptions(TypedDict, total=False):
    """Options of `sweep` that go on to every run."""

    method: Formulation | None
    solver: str | Solver | None
    rtol: float
    atol: float | None
    t_eval: Any
    events: Sequence[Event | SingularPoses | Divergence]


OTHERS = ("start", "keep", "measure", "save", "executor")  # of `sweep` itself


def check_names(options: Mapping[str, Any]) -> None:
    """Refuse options that no run has."""
    known = list(RunOptions.__annotations__)
    for name in options:
        if name not in known:
            raise unknown_option("sweep", name, [*known, *OTHERS])


def task_of_points(options: RunOptions, begin: float, until: Any) -> Task:
    """What every point is to do, or a sentence about what is wrong with the options; equal times are not made yet."""
    method = options.get("method")
    method = Multipliers() if method is None else method
    instance("method", method, Formulation, "a formulation, for instance cc.Multipliers()")
    solver = solver_for(method, options.get("solver"))
    rtol, atol = tolerances(solver, options.get("rtol", 1e-8), options.get("atol"))
    events, singularity, divergence = sorted_events(options.get("events"))
    until = end_time("until", until)
    times = sample_times(begin, until, options.get("t_eval"))
    return Task(until, times, method, solver, rtol, atol, events, singularity, divergence)


def numbers_of(task: Task) -> dict[str, Any]:
    """All options of a run that are numbers or words, by name."""
    own = {x.name: getattr(task.solver, x.name) for x in fields(task.solver)}
    looks = {"singularity": task.singularity, "divergence": task.divergence}
    return {"rtol": task.rtol, "atol": task.atol, **own, **looks}


def as_array(times: ListedTimes | Equal) -> np.ndarray:
    """All times at once."""
    return times[:] if isinstance(times, Equal) else times.array
