"""`recommend`: which method and solver to use for a mechanism, with reasons that are measured on it.

The exact formulations are run with the solvers that choose their steps, at the asked tolerance and at two others, and
compared by the operations they need for the *same* error: the one that the default (`Multipliers` with dop853) has at
the asked tolerance. Operations, not seconds, decide: they are the same on every day and every machine. Only where
stability holds the steps short are implicit solvers tried, and timed. Springs are looked at too, but not recommended:
their place is where limbs are to be computed apart from each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from closedchain.close.formulation import Formulation
from closedchain.close.multipliers import Multipliers
from closedchain.close.virtual_spring import VirtualSpring
from closedchain.errors import ClosedChainError, ModelError, RunError
from closedchain.integrate.solvers import SOLVERS
from closedchain.march.program.compiled import compiled
from closedchain.model.mechanism import Mechanism
from closedchain.pose.mobility import mobility
from closedchain.pose.state import State
from closedchain.progress import Counted, counted, reported
from closedchain.results.compare.closure_modes import critical_damping, inverse_masses
from closedchain.results.compare.compare import compare, named_methods, start_for
from closedchain.results.compare.comparison import Comparison, text
from closedchain.results.compare.reference import EXACT
from closedchain.results.compare.trial import Trial, attempt, cost, label, number

AROUND = (100.0, 1.0, 0.01)  # tolerances that are run, over the asked one
SAME = 1.1  # a method that needs no more than this many times the least operations is as good
NEAR_SINGULAR = 1e-2  # conditioning of the closures below which only methods that pass singular poses are offered
FEW = 20  # steps, from which nothing can be told
STIFF = 1.2  # if a hundred times tighter tolerance takes fewer steps than this more, stability holds them short
FASTER = 1.5  # what an implicit solver must be to be recommended
ROUNDING = 1e-13  # rad or m: smaller errors say nothing
STIFFNESS = 1e6  # of the springs that are tried
MOST_STEPS, MOST_STEPS_OF_SPRINGS = 1_000_000, 50_000  # after which a run is given up


@dataclass(frozen=True, eq=False)
class Recommendation:
    """A method and a solver for a mechanism.

    Attributes
    ----------
    method, solver
        For `simulate`.
    reasons
        Sentences with the numbers that speak for them.
    comparison
        All that was measured.
    """

    mechanism: str
    method: Formulation
    solver: str
    rtol: float
    reasons: tuple[str, ...]
    comparison: Comparison

    def __str__(self) -> str:
        import textwrap

        first = f"{self.mechanism}: method=cc.{self.method!r}, solver={self.solver!r} at rtol {self.rtol:.0e}"
        lines = [textwrap.fill(x, 100, initial_indent="  - ", subsequent_indent="    ") for x in self.reasons]
        return "\n".join([first, *lines])


def recommend(
    mechanism: Mechanism,
    start: State | None = None,
    until: float = 1.0,
    *,
    rtol: float = 1e-8,
) -> Recommendation:
    """Find the method and solver that need the least work on a mechanism, and say why.

    Parameters
    ----------
    mechanism
        What moves.
    start
        From `assemble`; None: ``mechanism.assemble()``.
    until
        End of the runs that are made to find out, s.
    rtol
        The tolerance that runs are going to have.

    Returns
    -------
    Recommendation
        ``print`` it; ``.method`` and ``.solver`` go into `simulate`.

    Examples
    --------
    >>> import closedchain as cc
    >>> m = cc.library.four_bar()
    >>> advice = cc.recommend(m, until=0.5)
    >>> run = cc.simulate(m, until=0.5, method=advice.method, solver=advice.solver)
    >>> run.good
    True
    """
    if not 1e-12 <= rtol <= 1e-3:
        raise ModelError(f"a recommendation is made for tolerances between 1e-12 and 1e-3, not for rtol = {rtol:g}")
    with counted() as tell:
        return _recommended(start_for("recommend", mechanism, start), until, rtol, tell)


def _recommended(start: State, until: float, rtol: float, tell: Counted) -> Recommendation:
    mechanism = start.mechanism
    solvers = [name for name, solver in SOLVERS.items() if solver.adaptive and not solver.implicit and name != "auto"]
    solvers.sort(key=lambda name: name != "dop853")
    loops = bool(start.topology.cuts or mechanism.drives or mechanism.couplings)
    methods = named_methods(list(EXACT.values()) if loops else [Multipliers()])
    tolerances = sorted({max(rtol * x, 1e-13) for x in AROUND}, reverse=True)
    with reported(tell):
        got = compare(mechanism, start, until, methods, solvers, tolerances, repeats=3)
    work = _work_for_the_same_error(got, rtol)
    if not work:
        return _implicit_alone(got, start, until, rtol)

    reasons = [_structure(mechanism, start)]
    nearest = _conditioning(start, until, rtol)
    allowed = work
    if nearest < NEAR_SINGULAR:
        allowed = {key: n for key, n in work.items() if methods[key[0]].guards} or work
    name, solver = _least(allowed)
    reasons += _why(got, work, name, solver, rtol)
    if loops:
        reasons.append(_singular(nearest, allowed != work))
    reasons += [f"failed: {sentence.partition('. ')[0]}" for sentence in got.failures()]
    stiff, words = _stiffness(got, name, solver)
    reasons.append(words)
    if start.topology.cuts:
        reasons.append(_springs(got, start, until, rtol, name, solver))
    if stiff:
        solver, words = _implicit(got, start, until, rtol, name, solver)
        reasons.append(words)
    return Recommendation(mechanism.name, methods[name], solver, rtol, tuple(x for x in reasons if x), got)


_IMPLICIT = [name for name, solver in SOLVERS.items() if solver.implicit and solver.general and solver.adaptive]


def _implicit_alone(got: Comparison, start: State, until: float, rtol: float) -> Recommendation:
    """Where no explicit solver gets through, perhaps an implicit one does."""
    method = Multipliers()
    failures = got.failures()
    for solver in _IMPLICIT:
        outcome = attempt(start, until, Trial(method, SOLVERS[solver](max_steps=MOST_STEPS), rtol))
        if not outcome.failure and outcome.run is not None:
            counts = outcome.run.counts
            reasons = (
                f"no explicit solver runs it until {until:g} s: {failures[0].partition('. ')[0] if failures else ''}",
                f"{solver} does, in {counts.steps} steps with {counts.evaluations} evaluations: it is stiff",
            )
            return Recommendation(start.mechanism.name, method, solver, rtol, reasons, got)
    raise RunError(f"no exact method runs {start.mechanism.name!r} until {until:g} s: {' | '.join(failures)}", None)


# ---- what decides ----------------------------------------------------------------------------------------------------


def _measure(keys: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """The method and solver whose error the others are measured by: the first one that runs."""
    return next(iter(keys))


def _work_for_the_same_error(got: Comparison, rtol: float) -> dict[tuple[str, str], float]:
    """Operations for the error that the default has at rtol, by method and solver, interpolated between tolerances."""
    data = got.dataset
    runs = [(str(m), str(s)) for m in data["formulation"].values for s in data["solver"].values]
    usable = {key: data.sel(formulation=key[0], solver=key[1]) for key in runs}
    usable = {key: one for key, one in usable.items() if bool(np.isfinite(one["error"]).all())}
    if not usable:
        return {}
    default = usable[_measure(usable)]
    wanted = float(default["error"].sel(rtol=rtol, method="nearest"))
    out = {}
    for key, one in usable.items():
        error, work = np.log(np.maximum(one["error"].values, 1e-300)), np.log(one["run_operations"].values)
        if wanted < ROUNDING or np.ptp(error) < 1e-9:  # nothing moves: there is no error to compare
            out[key] = float(one["run_operations"].sel(rtol=rtol, method="nearest"))
            continue
        slope, intercept = np.polyfit(error, work, 1)
        out[key] = float(np.exp(intercept + min(slope, 0.0) * np.log(wanted)))
    return out


def _least(work: dict[tuple[str, str], float]) -> tuple[str, str]:
    """The first of those that need about the least; the order is that of `EXACT`."""
    least = min(work.values())
    return next(key for key, n in work.items() if n <= SAME * least)


def _conditioning(start: State, until: float, rtol: float) -> float:
    """Smallest conditioning of the closures along the motion; 1 without closures, 0 if a singular pose was met."""
    outcome = attempt(start, until, Trial(Multipliers(), rtol=rtol))
    if outcome.run is None or not len(outcome.run.t):
        return 1.0
    if any(h.tells_of("singular pose") for h in outcome.run.record):
        return 0.0
    data = outcome.run.dataset
    return float(data["closure_conditioning"].min()) if "closure_conditioning" in data else 1.0


# ---- sentences -------------------------------------------------------------------------------------------------------


def _structure(mechanism: Mechanism, start: State) -> str:
    topology = start.topology
    if not topology.cuts:
        held = len(mechanism.drives) + len(mechanism.couplings)
        what = (
            f"{held} coordinates are held by drives or gears"
            if held
            else "there is nothing to close, and methods do not differ"
        )
        return f"it has no loop: {what}"
    found = mobility(mechanism, start)
    rows = compiled(start, Multipliers()).rows
    cuts = [joint for joint in topology.cuts if joint.name not in start.open_joints]
    loops = f"{len(cuts)} loop{'s' if len(cuts) > 1 else ''}"
    words = f"{topology.nv} velocities, {loops}, {len(rows)} independent closure equations, mobility {found.true}"
    if found.redundant:
        count = len(found.redundant)
        words += f"; {count} equations repeat others and are left out, so reactions across them are not unique"
    return words


def _why(got: Comparison, work: dict[tuple[str, str], float], name: str, solver: str, rtol: float) -> list[str]:
    data = got.dataset
    one = data.sel(formulation=name, solver=solver).sel(rtol=rtol, method="nearest")
    mine = work[name, solver]
    by_name, by_solver = _measure(work)
    each = data["operations"].sel(formulation=name, kind="total").item()
    out = [
        f"{name} with {solver} takes {text(mine, 'short')} operations for the error that {by_name} with {by_solver} "
        f"has at rtol {rtol:.0e}; one evaluation has {each:.0f}. At this tolerance it makes "
        f"{float(one['evaluations']):.0f} evaluations for an error of {float(one['error']):.1e} rad or m, and leaves "
        f"gaps of {float(one['closure_error']):.1e}"
    ]
    others: dict[str, tuple[float, str]] = {}
    for (method, by), n in work.items():
        if method != name and n < others.get(method, (np.inf, ""))[0]:
            others[method] = n, by
    if others:
        ranked = sorted(others.items(), key=lambda x: x[1][0])
        listed = "; ".join(f"{method} with {by} {n / mine:.2f}" for method, (n, by) in ranked)
        out.append(
            f"operations for the same error, as multiples of that: {listed} (what differs by less than 10 % is a tie)"
        )
    second = min(((n, by) for (method, by), n in work.items() if method == name and by != solver), default=None)
    if second is not None:
        out.append(f"{second[1]} in the place of {solver} would take {second[0] / mine:.2f} times as many")
    return out


def _singular(nearest: float, excluded: bool) -> str:
    if nearest == 0.0:
        where = "the motion meets a singular pose of the closures"
    else:
        where = f"the closures stay away from singular poses: their conditioning is at least {nearest:.2g}"
        if nearest < NEAR_SINGULAR:
            where = f"the motion comes near a singular pose: the conditioning of the closures falls to {nearest:.1g}"
    return where + ("; only methods that pass such poses were considered" if excluded else "")


def _stiffness(got: Comparison, name: str, solver: str) -> tuple[bool, str]:
    """Whether stability holds the steps short: then they hardly depend on the tolerance."""
    one = got.dataset.sel(formulation=name, solver=solver)
    steps, rtol = one["steps"].values, one["rtol"].values
    tighter = (rtol[0] / rtol[-1]) ** (1 / SOLVERS[solver].order)
    grown = steps[-1] / max(steps[0], 1.0)
    if steps.max() < FEW:
        return False, f"the equations are not stiff: {steps.max():.0f} steps are enough"
    if grown < STIFF:
        return True, (
            f"the equations are stiff: from rtol {rtol[0]:.0e} to {rtol[-1]:.0e} steps grow only {grown:.2f} times "
            f"(accuracy alone would ask for {tighter:.1f}); stability holds them short"
        )
    return False, (
        f"the equations are not stiff: from rtol {rtol[0]:.0e} to {rtol[-1]:.0e} steps grow {grown:.1f} times, from "
        f"{steps[0]:.0f} to {steps[-1]:.0f} (order {SOLVERS[solver].order} alone: {tighter:.1f})"
    )


def _implicit(got: Comparison, start: State, until: float, rtol: float, name: str, solver: str) -> tuple[str, str]:
    """Whether an implicit solver is faster. Its linear equations have no operation counts, so that time must decide."""
    one = got.dataset.sel(formulation=name, solver=solver).sel(rtol=rtol, method="nearest")
    told = f"{solver} takes {float(one['steps']):.0f} steps and {text(float(one['seconds']), 'seconds')}"
    best, least = solver, float(one["seconds"]) / FASTER
    for other in _IMPLICIT:
        outcome = attempt(start, until, Trial(got.methods[name], SOLVERS[other](max_steps=MOST_STEPS), rtol))
        if outcome.failure or outcome.run is None:
            continue
        seconds = cost(outcome.run, 3).seconds
        told += f"; {other} {outcome.run.counts.steps} steps and {text(seconds, 'seconds')}"
        if seconds < least:
            best, least = other, seconds
    return best, told + ("; softer springs and dampers would help most" if best == solver else "")


def _springs(got: Comparison, start: State, until: float, rtol: float, name: str, solver: str) -> str:
    try:
        s_max = float(inverse_masses(start).max(initial=0.0))
    except ClosedChainError as trouble:
        return f"springs are no choice: {trouble}"
    spring = VirtualSpring(STIFFNESS, critical_damping(STIFFNESS, s_max))
    outcome = attempt(start, until, Trial(spring, SOLVERS[solver](max_steps=MOST_STEPS_OF_SPRINGS), rtol))
    if outcome.failure or outcome.run is None:
        return f"springs are no choice: {label(spring)}: {outcome.failure}"
    spent = cost(outcome.run)
    mine = float(got.dataset["run_operations"].sel(formulation=name, solver=solver).sel(rtol=rtol, method="nearest"))
    return (
        f"springs of k = {number(STIFFNESS)} would leave a gap of {float(outcome.run.closure_error.max()):.1e} m or "
        f"rad and take {spent.operations / mine:.3g} times as many operations; they pay where limbs are to be computed "
        "apart"
    )
