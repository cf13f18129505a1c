"""Options of a run: their defaults, what they may be, and which of them go together.

Each check raises a `ModelError` that names the option, its value and what to try. What a march or a solver cannot do is
data, `Limits`, and one function refuses it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from closedchain.arguments import finite, instance, listed, numeric, positive, real, shown
from closedchain.close.formulation import Formulation
from closedchain.errors import ModelError
from closedchain.integrate.solvers import CVODES, SOLVERS, Solver, marching, named, without_step
from closedchain.integrate.times import Equal, Every, ListedTimes
from closedchain.march.marks import Divergence, Event, SingularPoses
from closedchain.march.task import Task
from closedchain.model.forces.control import traced_laws
from closedchain.pose.state import State

SAMPLES = 201
MOST_SAMPLES = 1e9
LEAST_RTOL = 3e-15  # some units of rounding
KINDS = {
    "ode": "ordinary differential equations",
    "elements": "those of finite elements",
    "damped elements": "those of finite elements, damped by rho_inf",
}


def task_of(
    start: State,
    until: float,
    method: Formulation,
    solver: Solver | str | None,
    rtol: float,
    atol: float | None,
    t_eval: Any,
    events: Any,
) -> Task:
    """What a run from a start is to do, in one object: arguments of `simulate`, checked."""
    chosen = solver_for(method, solver)
    until = end_time("until", until)
    rtol, atol = tolerances(chosen, rtol, atol)
    wanted, singularity, divergence = sorted_events(events)
    return Task(
        until=until,
        times=sample_times(start.t, until, t_eval),
        method=method,
        solver=chosen,
        rtol=rtol,
        atol=atol,
        events=wanted,
        singularity=singularity,
        divergence=divergence,
    )


# ---- numbers ---------------------------------------------------------------------------------------------------------


def end_time(name: str, value: Any) -> float:
    """A finite time at which a run begins or ends."""
    number = real(value)
    if number is not None and not math.isfinite(number):
        raise ModelError(f"{name}={shown(value)}: such a run has no end: give finite times")
    return finite(name, value)


def tolerances(solver: Solver, rtol: Any, atol: Any) -> tuple[float, float | None]:
    """Tolerances of a step; ``atol`` may be None."""
    rtol = positive("rtol", rtol)
    if solver.adaptive:
        check_rounding(rtol, least=LEAST_RTOL)
    return rtol, None if atol is None else positive("atol", atol)


def check_rounding(rtol: float, least: float) -> None:
    """Refuse a relative tolerance that rounding errors exceed."""
    if rtol < least:
        raise ModelError(f"rtol = {rtol:g} is below what double precision can keep: take {least:g} or more")


def sample_times(begin: float, until: float, t_eval: Any) -> ListedTimes | Equal:
    """The times at which the motion is kept."""
    if isinstance(t_eval, Every):
        return _equal_times(begin, until, t_eval.seconds)
    if t_eval is not None:
        return _given_times(begin, until, t_eval)
    if until == begin:
        return ListedTimes(np.array([begin]))
    times = np.linspace(begin, until, SAMPLES)
    if not (np.diff(times) * np.sign(until - begin) > 0).all():
        raise ModelError(
            f"until={until!r}: a run of {abs(until - begin):.3g} s from t = {begin:g} s is too short for {SAMPLES} "
            "samples that differ: give a later until, or t_eval"
        )
    return ListedTimes(times)


def _equal_times(begin: float, until: float, seconds: float) -> Equal:
    length, spacing = abs(until - begin), np.spacing(max(abs(begin), abs(until)))
    if seconds < spacing:
        raise ModelError(
            f"cc.Every({seconds:g}): {seconds:g} s is too short for times near {until:g} s, which differ by "
            f"{spacing:.2g} s at least: take longer ones"
        )
    if length / seconds > MOST_SAMPLES:
        raise ModelError(f"cc.Every({seconds:g}) makes {length / seconds:.2g} samples: take longer ones")
    intervals = math.floor(length / seconds * (1 + 1e-12))
    if intervals and abs(intervals * seconds - length) <= 1e-9 * length:
        return Equal(begin, until, intervals)
    return Equal(begin, begin + math.copysign(intervals * seconds, until - begin), intervals)


def _given_times(begin: float, until: float, t_eval: Any) -> ListedTimes:
    times = numeric(t_eval)
    if times is None or times.ndim != 1 or not np.isfinite(times).all():
        raise ModelError(f"t_eval must be a vector of finite times, or cc.Every(0.01), not {shown(t_eval)}")
    low, high = min(begin, until), max(begin, until)
    if times.size and not (low <= times.min() and times.max() <= high):
        raise ModelError(
            f"t_eval goes from {times.min():g} to {times.max():g} s, outside of the run, {low:g} to {high:g}"
        )
    if not (np.diff(times) * (1 if until >= begin else -1) > 0).all():
        raise ModelError("t_eval must go strictly from the beginning of the run to its end")
    return ListedTimes(times)


# ---- solvers and events ----------------------------------------------------------------------------------------------


def usual_solver(method: Formulation) -> str:
    """The solver that is taken if none is named."""
    return marching(method.kind)[0]


def solver_for(method: Formulation, solver: Solver | str | None) -> Solver:
    """The solver as an object, known to march the equations of a method; None means the usual one."""
    chosen = named(usual_solver(method) if solver is None else solver)
    check_listed(chosen)
    if method.kind not in chosen.marches:
        raise ModelError(does_not_march(method, chosen))
    if chosen.needs_step(method.kind) and chosen.lengths.fixed is None:
        raise ModelError(without_step(type(chosen)))
    return chosen


def does_not_march(method: Formulation, solver: Solver) -> str:
    """The sentence about a solver that does not march the equations of a method."""
    what = KINDS.get(method.kind, f"of {method.kind}")
    others = " or ".join(map(repr, marching(method.kind)[:4]))
    hint = ", or leave rho_inf out" if method.kind == "damped elements" else ""
    return (
        f"the equations of {type(method).__name__} are {what}, which {solver.name!r} does not march: take "
        f"solver={others}{hint}"
    )


def check_listed(solver: Solver) -> None:
    """Refuse a solver whose class `SOLVERS` does not find by its name."""
    kind, other = type(solver), SOLVERS.get(solver.name)
    if other is kind:
        return
    said = f"no solver is listed as {kind.name!r}" if other is None else f"{kind.name!r} is {other.__name__}"
    raise ModelError(
        f"the solver {kind.__name__} cannot be found by its name, {said}: give the class a name of its own and the "
        "decorator closedchain.integrate.solvers.listed"
    )


def sorted_events(events: Any) -> tuple[tuple[Event, ...], str, str]:
    """Events of the user, and what to do at singular poses and where the motion diverges."""
    alone = isinstance(events, Event | SingularPoses | Divergence)
    found = () if events is None else (events,) if alone else listed(events)
    if found is None:
        raise ModelError(f"events takes a list of cc.Event(...), not {shown(events)}")
    then: dict[type[SingularPoses | Divergence], str] = {SingularPoses: "pass", Divergence: "stop"}
    for kind in then:
        several = [x.then for x in found if isinstance(x, kind)]
        if len(several) > 1:
            raise ModelError(f"events has several cc.{kind.__name__}(...), {', '.join(map(repr, several))}: give one")
        then[kind] = several[0] if several else then[kind]
    others = tuple(x for x in found if not isinstance(x, SingularPoses | Divergence))
    for event in others:
        instance("an entry of events", event, Event, "cc.Event(...), cc.SingularPoses(...) or cc.Divergence(...)")
    return others, then[SingularPoses], then[Divergence]


# ---- what cannot be done ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Limits:
    """What a march or a solver cannot do.

    Attributes
    ----------
    lacks
        Features, named as in `wanted`.
    sentence
        Refuses one of them, ``{feature}``, and says what to try.
    """

    lacks: tuple[str, ...] = ()
    sentence: str = ""


NO_LIMITS = Limits()


def limits_of(solver: Solver) -> Limits:
    """What a solver from elsewhere cannot do."""
    if solver.driver != CVODES.driver:
        return NO_LIMITS
    return Limits(
        ("events", "singular poses", "dense_output", "save"),
        f"solver {solver.name!r} is a second opinion from {solver.driver}, without {{feature}}: leave that out, or "
        "take another solver",
    )


def wanted(task: Task, start: State) -> dict[str, str]:
    """Features that a run needs and that not every march and every solver has, and how a sentence calls them."""
    span = f"from {start.t:g} to {task.until:g} s"
    asked = {
        "events": (bool(task.events), "events"),
        "singular poses": (task.singularity != "pass", "cc.SingularPoses(...)"),
        "dense_output": (task.solver.dense_output, "dense_output"),
        "save": (task.saving is not None, "save"),
        "partition": (task.team is not None, "partition"),
        "backward": (task.until < start.t, f"runs back in time, {span}"),
        "no length": (task.until == start.t, f"runs of no length, {span}"),
    }
    return {feature: words for feature, (needed, words) in asked.items() if needed}


def check_limits(task: Task, start: State, limits: Limits) -> None:
    """Refuse what a march, or its solver, cannot do."""
    needed = wanted(task, start)
    for limit in (limits, limits_of(task.solver)):
        for feature in limit.lacks:
            if feature in needed:
                raise ModelError(limit.sentence.format(feature=needed[feature]))
    if task.saving is not None and task.solver.dense_output:
        raise ModelError(
            "dense_output keeps all steps in memory; a run that is saved keeps samples: say t_eval=cc.Every(...)"
        )
    if task.team is not None:
        task.team.refuse(task.method, task.solver.name)


def check_laws(start: State, events: Sequence[Event]) -> None:
    """Refuse to open joints where a law counts on all of them being closed: its efforts would be wrong."""
    laws = [repr(law) for law in traced_laws(start.mechanism) if law.counts_on_closures]
    opened = dict.fromkeys(start.open_joints, "is open at the start")
    for event in events:
        for joint in event.switch.open:
            opened.setdefault(joint, f"is opened by the event {event.name!r}")
    if laws and opened:
        joint, how = next(iter(opened.items()))
        raise ModelError(
            f"{' and '.join(laws)} count{'s' * (len(laws) == 1)} on all joints of {start.mechanism.name!r} being "
            f"closed, but {joint!r} {how}: keep it closed, or control these coordinates with cc.PD(...), which knows "
            "no equations"
        )
