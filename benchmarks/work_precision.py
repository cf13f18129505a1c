"""Work-precision diagrams: error against time and operations, every formulation with every solver.

``python -m benchmarks.work_precision`` measures for some minutes. With ``--markdown docs/reference/work-precision.md``
it also writes the tables of that page, all runs beside it (``work-precision.json``) and the pictures.

What a time is: that of the march alone, without samples; the fastest of some, less what others had of it.

What an error is: the largest deviation of a coordinate (rad or m) from an exact formulation at rtol 1e-13, over all
samples. Springs are compared with the same motion of rigid joints; in addition with their own motion at a tight
tolerance, which leaves the error of the integration alone.

What is counted as an operation: every evaluation, correction and Jacobian with the operations of its native function,
and the linear algebra of implicit solvers from the structure of the matrix that they factorise (see `Linear`). Sums of
vectors inside of a solver are not counted, for any of them.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import closedchain as cc
from benchmarks.report import Report, Table, arguments, figure, finish
from closedchain.close.formulation import Formulation
from closedchain.close.index3 import Index3
from closedchain.close.methods import METHODS
from closedchain.close.parts.springs import SpringFormulation
from closedchain.integrate.solvers import SOLVERS, marching
from closedchain.integrate.structure import Structure
from closedchain.march.program.index3 import step_equations
from closedchain.march.program.jacobian import jacobian
from closedchain.march.segment import Segment
from closedchain.pose.state import State
from closedchain.results.compare.reference import errors, make_reference
from closedchain.results.compare.trial import LONG, Cost, Trial, attempt, cost
from closedchain.results.run import Run

# ---- what is run -----------------------------------------------------------------------------------------------------

CASES: dict[str, tuple[Callable[[], cc.Mechanism], float]] = {
    "four-bar": (cc.library.four_bar, 2.0),
    "rrr3": (partial(cc.library.rrr3, torques=(2.0, -1.0, 1.5)), 1.0),
    "gough-stewart": (cc.library.gough_stewart, 2.0),
}
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
FOR_SPRINGS = (1e-4, 1e-6, 1e-8)
STIFFNESSES = (1e4, 1e5, 1e6, 1e7, 1e8)
AT = 1e-6  # the tolerance at which the cost of springs is followed with k
MIDDLE = 1e6  # stiffness of the springs other than VirtualSpring
# steps in a run of solvers without step control: from, and times how often
STEPS = {1: (1000, 4, 4), 2: (125, 4, 5), 4: (16, 2, 11)}
TIGHT = 1e-12  # of the motion of springs that their integration is measured with
PATIENCE = 5.0  # s: a formulation and solver that took longer are not asked for more
MOST_STEPS = 2_000_000
SLICE = 2e-3  # s: what takes longer is interrupted as soon as others want the processor, too
GOALS = (1e-4, 1e-8)


@dataclass(frozen=True)
class Point:
    """A run and what it cost.

    Attributes
    ----------
    method, solver : names in the tables; springs have their stiffness in `k`.
    ask : rtol, or the step of a solver without step control, s.
    error : from the motion with rigid joints, rad or m.
    own_error : from the same formulation at a tight tolerance; for springs only.
    closure : the largest residual of a closure, m or rad.
    failure : why there is no run.
    """

    method: str
    solver: str
    ask: float
    k: float | None = None
    error: float = math.nan
    own_error: float = math.nan
    closure: float = math.nan
    seconds: float = math.nan
    operations: float = math.nan
    evaluations: int = 0
    jacobians: int = 0
    factorisations: int = 0
    steps: int = 0
    failure: str = ""


@dataclass
class Results:
    """All that was measured.

    Attributes
    ----------
    points : by mechanism.
    about : how the reference of each mechanism was made.
    dampers : evaluations of a four-bar with springs whose dampers follow different rules.
    drift : energy that a conservative four-bar wins or loses in 1000 s.
    gaps : closure errors of long runs.
    """

    points: dict[str, list[Point]] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    dampers: list[dict[str, Any]] = field(default_factory=list)
    drift: list[dict[str, Any]] = field(default_factory=list)
    gaps: list[dict[str, Any]] = field(default_factory=list)


def exact_methods() -> dict[str, Formulation]:
    """All formulations with rigid joints."""
    return {name: method for name, method in METHODS.items() if not isinstance(method, SpringFormulation)}


def springs(stiffnesses: Sequence[float]) -> Iterator[tuple[str, float, Formulation]]:
    """Virtual springs of several stiffnesses, other springs of one; dampers are critical for 1 kg."""
    for name, method in METHODS.items():
        if isinstance(method, SpringFormulation):
            every = stiffnesses if isinstance(method, cc.VirtualSpring) else (MIDDLE,)
            for k in every:
                yield name, k, replace(method, stiffness=k, damping=2 * math.sqrt(k))  # type: ignore[call-arg]


def solvers_of(method: Formulation) -> list[str]:
    """The solvers that can march a formulation."""
    return marching(method.kind)


def asked(solver: str, until: float, tolerances: Sequence[float]) -> list[float]:
    """Tolerances, or steps where a solver has no step control, from loose to tight."""
    if SOLVERS[solver].adaptive:
        return list(tolerances)
    first, ratio, often = STEPS[max(n for n in STEPS if n <= max(SOLVERS[solver].order, 1))]
    return [until / (first * ratio**i) for i in range(often)]


def trial(method: Formulation, solver: str, ask: float) -> Trial:
    """What to run."""
    kind = SOLVERS[solver]
    if kind.adaptive:
        return Trial(method, kind(max_steps=MOST_STEPS), ask)
    return Trial(method, kind(max_steps=MOST_STEPS, step=ask))


def follow(
    start: State, until: float, name: str, method: Formulation, k: float | None, best: Run, own: Run | None,
    tolerances: Sequence[float], repeats: int,
) -> list[Point]:  # fmt: skip
    """One formulation under all its solvers, each from loose to tight."""
    points = []
    for solver in solvers_of(method):
        for ask in asked(solver, until, tolerances):
            outcome = attempt(start, until, trial(method, solver, ask))
            if outcome.run is None or outcome.failure:
                points.append(Point(name, solver, ask, k, failure=outcome.failure.partition(". ")[0][:100]))
                if outcome.run is None:  # it was refused, and will be at every tolerance
                    break
            else:
                points.append(measured(outcome.run, name, k, ask, best, own, repeats))
            if outcome.run is not None and outcome.run.seconds["march"] > PATIENCE:
                break
    return points


def measured(run: Run, name: str, k: float | None, ask: float, best: Run, own: Run | None, repeats: int) -> Point:
    """The numbers of a run that got to its end."""
    spent, seconds = timed(run, repeats)
    return Point(
        name,
        run.solver,
        ask,
        k,
        error=errors(run, best).motion,
        own_error=math.nan if own is None else errors(run, own).motion,
        closure=float(run.dataset["closure_error"].max()),
        seconds=seconds,
        operations=operations(run, spent),
        evaluations=spent.evaluations,
        jacobians=run.counts.jacobians,
        factorisations=run.counts.factorisations,
        steps=run.counts.steps,
    )


def timed(run: Run, repeats: int) -> tuple[Cost, float]:
    """What a march costs, and the shortest of its times, s, as far as the process had the processor."""
    times = []
    for _ in range(repeats):
        clock, processor = time.perf_counter(), time.thread_time()
        spent = cost(run)
        passed = time.perf_counter() - clock
        share = min(1.0, (time.thread_time() - processor) / passed)
        seconds = spent.seconds or passed  # what other drivers do not tell is nearly all of it
        times.append(seconds if seconds < SLICE else share * seconds)
        if seconds > LONG:
            break
    return spent, min(times)


# ---- operations ------------------------------------------------------------------------------------------------------

# real and complex linear systems for each evaluation of the right-hand side. One real system for each is what
# Rosenbrock methods and Newton's method in multistep methods solve. Radau IIA solves one of either kind for three.
SYSTEMS = {"radau5": (1 / 3, 1 / 3)}
# CVODES and IDAS have linear algebra of their own: what ours would take for as many systems is counted.
COMPLEX = 4  # a complex multiplication and addition: 8 real operations instead of 2


@dataclass(frozen=True)
class Linear:
    """Operations of linear algebra with a structure: a factorisation, a solution, and what a Jacobian is prepared with.

    A full matrix of size n would take ``2/3 n^3 - n^2/2 - n/6`` operations and a solution ``2 n^2 - n``. Along a
    structure the columns without an entry in the row of the pivot are left out, and rows where they are few, as
    `integrate.linear` does it; entries that fill in on the way are counted as they come, with pivots on the diagonal.
    """

    factor: int
    solve: int
    prepare: int

    @staticmethod
    def of(plan: Structure) -> Linear:
        """Count along a structure."""
        n = len(plan.kept)
        full = np.eye(n, dtype=bool)
        full[plan.inside[:, 0], plan.inside[:, 1]] = True
        full[plan.product[:, 0], plan.product[:, 1]] = True
        factor = 3 * n * n  # g I - J_kk - J_kf J_fk / g
        for k in range(n):
            below, right = full[k + 1 :, k], full[k, k + 1 :]
            rows = int(below.sum())
            factor += 1 + rows + 2 * int(right.sum()) * (rows if 2 * rows < n - k else n - k - 1)
            full[k + 1 :, k + 1 :] |= np.outer(below, right)
        solve = 2 * n * n - n + 2 * len(plan.into) + 3 * len(plan.back) + 2 * len(plan.end)
        return Linear(factor, solve + len(plan.first) + len(plan.tail), 2 * len(plan.product))

    @staticmethod
    def dense(n: int) -> Linear:
        """A full matrix."""
        return Linear(round(2 / 3 * n**3 - n**2 / 2 - n / 6), 2 * n * n - n, 0)


def operations(run: Run, spent: Cost) -> float:
    """Of a whole run, without its samples."""
    program = run.program
    correct = program.correct.counts.total if program.correct else 0
    total = spent.evaluations * spent.kinds["total"] + spent.corrections * correct
    if isinstance(program.method, Index3):
        return index_3(run, spent) + spent.corrections * correct
    for segment in run.segments:
        total += linear_algebra(segment)
    return float(total)


def linear_algebra(segment: Segment) -> float:
    """What an implicit solver spends besides evaluations."""
    if not SOLVERS[segment.solver].implicit:
        return 0.0
    jac, counts = jacobian(segment.program), segment.trajectory.counts
    linear = Linear.of(jac.structure)
    real, both = SYSTEMS.get(segment.solver, (1, 0))
    total = counts.jacobians * (jac.counts.total + linear.prepare)
    total += counts.factorisations * linear.factor * (1 + (COMPLEX if both else 0))
    return total + counts.evaluations * (real + COMPLEX * both) * linear.solve


def index_3(run: Run, spent: Cost) -> float:
    """The steps of generalised-alpha: a residual and a system for each iteration, one full matrix as a rule."""
    program, steps = run.program, run.counts.steps
    step = step_equations(program)
    linear = Linear.dense(program.equations.topology.nv + len(program.rows))
    iterations = spent.evaluations - steps  # the others are rates at the ends of the steps
    total = iterations * (step.residual.counts.total + linear.solve) + steps * spent.kinds["total"]
    return float(total + max(run.counts.jacobians, steps) * (step.matrix.counts.total + linear.factor))


# ---- the measurements ------------------------------------------------------------------------------------------------


def tell(what: str) -> None:
    """Say what comes next, beside the results."""
    print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)


def diagram(results: Results, name: str, quick: bool) -> None:
    """All formulations and solvers on one mechanism."""
    build, until = CASES[name]
    tolerances, for_springs = (TOLERANCES[:3:2], FOR_SPRINGS[1:2]) if quick else (TOLERANCES, FOR_SPRINGS)
    repeats = 1 if quick else 7
    start = build().assemble()
    reference = make_reference(start, until, tolerances[-1])
    results.about[name] = str(reference)
    points = results.points.setdefault(name, [])
    for method_name, method in exact_methods().items():
        if quick and method_name not in ("multipliers", "projection"):
            continue
        tell(f"{name}: {method_name}")
        points += follow(start, until, method_name, method, None, reference.run, None, tolerances, repeats)
    for method_name, k, method in springs(STIFFNESSES[:3:2] if quick else STIFFNESSES):
        tell(f"{name}: {method_name}, k = {k:.0e}")
        own = attempt(start, until, Trial(method, SOLVERS["dop853"](max_steps=MOST_STEPS), TIGHT)).run
        points += follow(start, until, method_name, method, k, reference.run, own, for_springs, repeats)


DAMPERS: dict[str, Callable[[float], float]] = {
    "b = 0": lambda k: 0.0,
    "b = 1000": lambda k: 1e3,
    "b = 2 sqrt(k)": lambda k: 2 * math.sqrt(k),
    "b = k / 1000": lambda k: k / 1e3,
}


def dampers(results: Results, quick: bool) -> None:
    """How the work of a four-bar grows with the stiffness, for several rules of damping."""
    start = cc.library.four_bar().assemble()
    for rule, b in DAMPERS.items():
        for solver in ("dop853", "radau5"):
            for k in STIFFNESSES[:2] if quick else STIFFNESSES:
                by = SOLVERS[solver](max_steps=5 * MOST_STEPS)
                run = attempt(start, 1.0, Trial(cc.VirtualSpring(k, b(k)), by, AT)).run
                evaluations = run.counts.evaluations if run is not None and run.complete else None
                results.dampers.append({"rule": rule, "solver": solver, "k": k, "evaluations": evaluations})


DRIFT_SOLVERS = ("dop853", "dopri5", "radau5", "rodas5p")
DRIFT_TOLERANCES = (1e-6, 1e-8, 1e-10, 1e-12)


def drift(results: Results, quick: bool) -> None:
    """A conservative four-bar for 1000 s: what its energy and its closures lose."""
    start = cc.library.four_bar(torque=0.0).assemble()
    until = 10.0 if quick else 1000.0
    for solver in DRIFT_SOLVERS[:1] if quick else DRIFT_SOLVERS:
        for rtol in DRIFT_TOLERANCES[:2] if quick else DRIFT_TOLERANCES:
            if SOLVERS[solver].order < 8 and rtol < 1e-11:
                continue  # nobody would
            outcome = attempt(start, until, Trial(cc.Multipliers(), solver, rtol, samples=2001))
            assert outcome.run is not None, outcome.failure
            data = outcome.run.dataset
            exchanged = float(data["kinetic_energy"].max())
            results.drift.append(
                {
                    "solver": solver,
                    "rtol": rtol,
                    "until": until,
                    "drift": float(np.abs(data["energy_error"]).max()) / exchanged,
                    "closure": float(data["closure_error"].max()),
                    "rate": float(data["closure_velocity_error"].max()),
                }
            )


def waving_rrr3() -> cc.Mechanism:
    """A 3-RRR whose motors pull back and forth against dampers: it stays where it is well."""
    m = cc.library.rrr3(
        torques=[2.5 * cc.math.sin(cc.pi * cc.t + k * 2 * cc.pi / 3) for k in range(3)], position=(0.0, 0.0)
    )
    for k in range(3):
        m.joint_damper(f"base{k + 1}", 1.0)
    return m


GAP_CASES: dict[str, tuple[Callable[[], cc.Mechanism], float]] = {
    "four-bar": (partial(cc.library.four_bar, torque=0.0), 200.0),
    "rrr3": (waving_rrr3, 50.0),
    "gough-stewart": (cc.library.gough_stewart, 20.0),
}
GAP_TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10)


def gaps(results: Results, quick: bool) -> None:
    """How far loops open in long runs, by formulation and tolerance."""
    for name, (build, until) in GAP_CASES.items():
        if quick and name != "four-bar":
            continue
        start = build().assemble()
        for method_name, method in exact_methods().items():
            adaptive = [s for s in solvers_of(method) if SOLVERS[s].adaptive]
            solver = "dop853" if "dop853" in adaptive else (adaptive or [""])[0]
            for rtol in GAP_TOLERANCES[:2] if quick else GAP_TOLERANCES:
                if not solver:
                    continue
                run = attempt(start, until / 20 if quick else until, Trial(method, solver, rtol, samples=2001)).run
                gap = float(run.dataset["closure_error"].max()) if run is not None and run.complete else None
                row = {"mechanism": name, "method": method_name, "solver": solver, "rtol": rtol, "gap": gap}
                results.gaps.append(row | {"until": until})


# ---- tables ----------------------------------------------------------------------------------------------------------


def cheapest(points: Sequence[Point], goal: float, what: str) -> float | None:
    """The least cost of a run whose error is at most the goal."""
    costs = [getattr(p, what) for p in points if p.error <= goal and math.isfinite(getattr(p, what))]
    return min(costs, default=None)


def by_solver(points: Sequence[Point], name: str, goal: float) -> Table:
    """What each formulation pays for an error, one column for each solver."""
    exact = [p for p in points if p.k is None and not p.failure]
    solvers = [solver for solver in SOLVERS if any(p.solver == solver for p in exact)]
    rows = []
    for method in dict.fromkeys(p.method for p in exact):
        cells = []
        for solver in solvers:
            line = [p for p in exact if (p.method, p.solver) == (method, solver)]
            seconds, counted = (cheapest(line, goal, what) for what in ("seconds", "operations"))
            operations = f" ({counted / 1e3:.0f})" if counted is not None else ""
            cells.append("" if seconds is None else f"{figure(1e3 * seconds)}{operations}")
        rows.append([method, *cells])
    return Table(
        f"{name}: cost of an error of at most {goal:.0e}",
        ["formulation", *solvers],
        rows,
        f"{CASES[name][1]:g} s of motion. Time in ms, in brackets thousands of operations: of the cheapest run that is "
        "good enough. Empty: none was, or the solver cannot march the formulation.",
    )


def floors(points: Sequence[Point], name: str) -> Table:
    """What springs are worth: the error of the model, and of its integration."""
    soft = [p for p in points if p.k is not None]
    solvers = [s for s in ("dop853", "radau5", "rodas5p") if any(p.solver == s for p in soft)]
    rows = []
    for method, k in dict.fromkeys((p.method, p.k) for p in soft):
        good = [p for p in soft if (p.method, p.k) == (method, k) and math.isfinite(p.error)]
        # the motion that the springs themselves have, as far as any integration followed it
        best = min(good, key=lambda p: p.own_error if math.isfinite(p.own_error) else p.error, default=None)
        at = {p.solver: p for p in good if p.ask == AT}
        pairs = [(f"{at[s].own_error:.0e}", figure(1e3 * at[s].seconds)) if s in at else ("", "") for s in solvers]
        model = "" if best is None else f"{best.error:.1e}"
        rows.append([f"{method}, k = {k:.0e}", model, *(cell for pair in pairs for cell in pair)])
    columns = [column for s in solvers for column in (f"{s}: integration error", f"{s} [ms]")]
    return Table(
        f"{name}: springs at rtol = {AT:.0e}",
        ["formulation", "error of the model", *columns],
        rows,
        "Error of the model: how far springs that are integrated well are from rigid joints. Integration error: from "
        f"the same springs at rtol {TIGHT:.0e}.",
    )


def exponent(costs: dict[float, float]) -> float:
    """Of the growth with the stiffness, fitted from the middle one on."""
    upper = [(k, y) for k, y in costs.items() if k >= MIDDLE and y]
    return float(np.polyfit(*np.log(np.array(upper)).T, 1)[0]) if len(upper) > 1 else math.nan


def grown(costs: dict[float, float]) -> list[str]:
    """Costs in a row: for each stiffness, the last by the first, and the exponent."""
    cells = [figure(costs[k]) if k in costs else "" for k in STIFFNESSES]
    first, last = (costs.get(STIFFNESSES[i]) for i in (0, -1))
    return [*cells, figure(last / first) if first and last else "", text(exponent(costs))]


def text(x: float) -> str:
    """An exponent."""
    return f"{x:.2f}" if math.isfinite(x) else ""


def growth(results: Results, name: str) -> Table:
    """The cost of virtual springs against their stiffness."""
    rows = []
    for solver in SOLVERS:
        points = spring_costs(results, name, solver)
        for what, unit, scale in (
            ("evaluations", "evaluations", 1.0),
            ("operations", "thousand operations", 1e-3),
            ("seconds", "ms", 1e3),
        ):
            if points:
                rows.append([f"{solver}: {unit}", *grown({p.k or 0.0: scale * getattr(p, what) for p in points})])
    return Table(
        f"{name}: cost of virtual springs against k, rtol = {AT:.0e}",
        ["", *(f"k = {k:.0e}" for k in STIFFNESSES), "1e8 by 1e4", "exponent"],
        rows,
        f"{CASES[name][1]:g} s of motion, dampers b = 2 sqrt(k). Exponent: fitted from k = {MIDDLE:.0e} on.",
    )


def spring_costs(results: Results, name: str, solver: str) -> list[Point]:
    """Virtual springs under a solver with step control, by stiffness."""
    points = [p for p in results.points.get(name, ()) if p.method == "virtual-spring" and p.solver == solver]
    wanted = [p for p in points if SOLVERS[solver].adaptive and p.ask == AT and not p.failure]
    return sorted(wanted, key=lambda p: p.k or 0.0)


def fixed(results: Results) -> Table:
    """Virtual springs under solvers without step control: the longest step that works."""
    rows = []
    for name, points in results.points.items():
        for solver in (s for s in SOLVERS if not SOLVERS[s].adaptive):
            soft = [p for p in points if p.method == "virtual-spring" and p.solver == solver]
            cells = []
            for k in STIFFNESSES:
                steps = [p.ask for p in soft if p.k == k and p.own_error < 1e-2]
                cells.append(f"{1e3 * max(steps):.3g}" if steps else "")
            if any(cells):
                rows.append([f"{name}: {solver}", *cells])
    return Table(
        "Springs at a fixed step: the longest that works [ms]",
        ["", *(f"k = {k:.0e}" for k in STIFFNESSES)],
        rows,
        "Of the steps that were tried, the longest with an integration error below 0.01 rad or m; empty: none.",
    )


def damper_table(results: Results) -> Table:
    """Evaluations for several rules of damping."""
    rows = []
    for rule, solver in dict.fromkeys((x["rule"], x["solver"]) for x in results.dampers):
        of_rule = [x for x in results.dampers if (x["rule"], x["solver"]) == (rule, solver) and x["evaluations"]]
        rows.append([f"{rule}: {solver}", *grown({x["k"]: x["evaluations"] for x in of_rule})])
    return Table(
        f"four-bar: evaluations for 1 s at rtol = {AT:.0e}, by the rule that the dampers follow",
        ["", *(f"k = {k:.0e}" for k in STIFFNESSES), "1e8 by 1e4", "exponent"],
        rows,
    )


def drift_table(results: Results) -> Table:
    """A conservative four-bar."""
    solvers = list(dict.fromkeys(x["solver"] for x in results.drift))
    rows = []
    for rtol in dict.fromkeys(x["rtol"] for x in results.drift):
        at = {x["solver"]: x for x in results.drift if x["rtol"] == rtol}
        drifts = [f"{at[s]['drift']:.1e} ({at[s]['drift'] / rtol:.0f})" if s in at else "" for s in solvers]
        worst = [max(x[what] for x in at.values()) for what in ("closure", "rate")]
        rows.append([f"{rtol:.0e}", *drifts, *(f"{x:.0e}" for x in worst)])
    return Table(
        f"A conservative four-bar for {results.drift[0]['until']:g} s" if results.drift else "A conservative four-bar",
        ["rtol", *solvers, "closure [m]", "its rate [m/s]"],
        rows,
        "The largest energy error, by the largest kinetic energy, and in brackets as a multiple of rtol. The closure "
        "and its rate: the worst of all solvers. Method: Multipliers, with projection.",
    )


def gap_table(results: Results) -> Table:
    """Closure errors of long runs by rtol."""
    places = list(dict.fromkeys((x["mechanism"], x["until"]) for x in results.gaps))
    tolerances = list(dict.fromkeys(x["rtol"] for x in results.gaps))
    rows = []
    for method, solver in dict.fromkeys((x["method"], x["solver"]) for x in results.gaps):
        cells = []
        for name, _ in places:
            found = {x["rtol"]: x["gap"] for x in results.gaps if (x["mechanism"], x["method"]) == (name, method)}
            cells += [_multiple(found.get(rtol), rtol) for rtol in tolerances]
        rows.append([f"{method} ({solver})", *cells])
    columns = [f"{name}, {rtol:.0e}" for name, _ in places for rtol in tolerances]
    lengths = ", ".join(f"{name} {until:g} s" for name, until in places)
    return Table(
        "Closure error of long runs, as a multiple of rtol",
        ["formulation", *columns],
        rows,
        f"{lengths}. r: rounding, less than {ROUNDING:.0e} m at every sample. Empty: the run did not get to its end.",
    )


ROUNDING = 1e-14


def _multiple(gap: float | None, rtol: float) -> str:
    if gap is None:
        return ""
    return "r" if gap < ROUNDING else f"{gap / rtol:.2g}"


def tables(results: Results) -> list[Table]:
    """All tables of the page."""
    out = []
    for name, points in results.points.items():
        out += [by_solver(points, name, goal) for goal in GOALS]
        out += [floors(points, name), growth(results, name)]
    return [*out, fixed(results), damper_table(results), gap_table(results), drift_table(results)]


# ---- pictures --------------------------------------------------------------------------------------------------------

# apart for most eyes (Okabe and Ito, and darker ones); the markers differ, too
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#000000",
    "#56B4E9", "#7B4FA3", "#7F7F7F", "#8C510A", "#A6C800", "#882255",
)  # fmt: skip
MARKERS = "osD^vP<>X*hpd"
SHADES = ("#FDBE85", "#FD8D3C", "#E6550D", "#A63603", "#5A1E00")  # of springs, from soft to hard
LEAST = 1e-15
PANELS = (("seconds", "processor time"), ("operations", "operations of the run"))
STIFF = "radau5"  # with which springs are drawn
USUAL, DEFAULT = "multipliers", "dop853"


def picture(results: Results, name: str) -> Any:
    """Two rows, solvers and formulations, with time at the left and operations at the right."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    drawing = Figure(figsize=(11.5, 8.6), layout="constrained")
    axes = drawing.subplots(2, 2, sharey=True, sharex="col")
    points = [p for p in results.points[name] if math.isfinite(p.error)]
    draw_solvers(axes[0], [p for p in points if p.k is None])
    draw_formulations(axes[1], points)
    for row in axes:
        row[0].set_ylabel("largest error [rad or m]")
        for ax, (_, label) in zip(row, PANELS, strict=True):
            ax.set(xscale="log", yscale="log", xlabel=label)
            ax.grid(alpha=0.25)
            ax.xaxis.set_tick_params(labelbottom=True)
            ax.spines[["top", "right"]].set_visible(False)
    axes[0][0].set_title(f"solvers, {USUAL} (thin: other formulations)", fontsize="medium", loc="left")
    axes[1][0].set_title(f"formulations with {DEFAULT}; springs with {STIFF}", fontsize="medium", loc="left")
    for row in axes:
        row[0].xaxis.set_major_formatter(_duration)
        row[0].xaxis.set_minor_formatter(NullFormatter())
        row[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small")
    drawing.suptitle(f"{name}, {CASES[name][1]:g} s of motion", fontsize="large")
    return drawing


def _duration(x: float, _: int) -> str:
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if x >= 0.999 * size:
            return f"{x / size:.3g} {unit}"
    return f"{x:.0e} s"


def solver_style(solver: str) -> dict[str, Any]:
    """Colour and marker; "auto", which does what another one does, goes around its markers."""
    i = list(SOLVERS).index(solver)
    style = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)], "ms": 5.5}
    return style | ({"ms": 10, "mfc": "none"} if solver == "auto" else {})


def draw_solvers(axes: Sequence[Any], points: Sequence[Point]) -> None:
    """A colour for each solver."""
    for solver in SOLVERS:
        mine = [p for p in points if p.solver == solver]
        methods = list(dict.fromkeys(p.method for p in mine))
        first = USUAL if USUAL in methods else next(iter(methods), None)
        style = solver_style(solver)
        for method in methods:
            line = [p for p in mine if p.method == method]
            if method == first:
                label = solver if first == USUAL else f"{solver} ({first})"
                _line(axes, line, **style, lw=1.8, zorder=3, label=label)
            else:
                _line(axes, line, color=style["color"], lw=0.6, alpha=0.45, zorder=1)


def draw_formulations(axes: Sequence[Any], points: Sequence[Point]) -> None:
    """A colour for each formulation, and shades for springs."""
    exact = [p for p in points if p.k is None]
    for i, method in enumerate(dict.fromkeys(p.method for p in exact)):
        mine = [p for p in exact if p.method == method]
        solvers = list(dict.fromkeys(p.solver for p in mine))
        solver = DEFAULT if DEFAULT in solvers else solvers[0]
        label = method if solver == DEFAULT else f"{method} ({solver})"
        style = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}
        _line(axes, [p for p in mine if p.solver == solver], **style, lw=1.2, ms=4.5, zorder=2, label=label)
    for k, shade in zip(STIFFNESSES, SHADES, strict=True):
        mine = [p for p in points if p.k == k and p.solver == STIFF and p.method == "virtual-spring"]
        _line(
            axes, mine, color=shade, marker="s", ls="--", lw=1.8, ms=5, zorder=4, label=f"virtual-spring, k = {k:.0e}"
        )


def _line(axes: Sequence[Any], points: Sequence[Point], label: str = "", **style: Any) -> None:
    for ax, (what, _) in zip(axes, PANELS, strict=True):
        drawn = [(getattr(p, what), max(p.error, LEAST)) for p in points]
        if drawn:
            ax.plot(*zip(*drawn, strict=True), label=label or None, **style)


def stiffness_picture(results: Results) -> Any:
    """Evaluations and time against the stiffness, one column for each mechanism."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(11.5, 6.4), layout="constrained")
    rows = (("evaluations", "evaluations"), ("seconds", "processor time"))
    axes = drawing.subplots(2, len(results.points), sharex=True, squeeze=False)
    lines: dict[str, Any] = {}
    for column, name in enumerate(results.points):
        axes[0][column].set_title(name, fontsize="medium")
        axes[1][column].set_xlabel("k [N/m]")
        for (what, label), ax in zip(rows, axes[:, column], strict=True):
            highest = 0.0
            for solver in SOLVERS:
                points = spring_costs(results, name, solver)
                pairs = [(p.k, getattr(p, what)) for p in points]
                if pairs:
                    lines[solver] = ax.plot(*zip(*pairs, strict=True), **solver_style(solver), lw=1.6)[0]
                    highest = max(highest, max(y for _, y in pairs))
            if not highest:
                continue
            k = np.array([1e6, 1e8])
            ax.plot(k, 2.2 * highest * np.sqrt(k / 1e8), color="#888888", ls=":", lw=1.4)
            ax.annotate("sqrt(k)", (1e7, 3.0 * highest * np.sqrt(0.1)), color="#666666", fontsize="small", ha="right")
            ax.set(xscale="log", yscale="log")
            ax.grid(alpha=0.25)
            ax.spines[["top", "right"]].set_visible(False)
            if column == 0:
                ax.set_ylabel(label)
            if what == "seconds":
                ax.yaxis.set_major_formatter(_duration)
    ordered = [name for name in SOLVERS if name in lines]
    drawing.legend(
        [lines[name] for name in ordered], ordered, loc="outside right center", frameon=False, fontsize="small"
    )
    drawing.suptitle(f"virtual springs at rtol = {AT:.0e}, dampers b = 2 sqrt(k)", fontsize="medium")
    return drawing


def pictures(results: Results) -> dict[str, Any]:
    """All figures, by the name of their file."""
    out = {f"work-precision-{name}.png": picture(results, name) for name in results.points}
    return out | {"work-precision-stiffness.png": stiffness_picture(results)}


# ---- keeping ---------------------------------------------------------------------------------------------------------


def save(results: Results, path: Path) -> None:
    """All runs as JSON, one in a line."""
    data = asdict(results)
    data["points"] = {name: [_short(p) for p in points] for name, points in data["points"].items()}
    text = json.dumps(data, default=float)
    path.write_text(text.replace("}, {", "},\n{") + "\n", encoding="utf-8")


def _short(point: dict[str, Any]) -> dict[str, Any]:
    """Without what says nothing, and with four digits."""
    said = {k: x for k, x in point.items() if x not in (None, "", 0) and not (isinstance(x, float) and math.isnan(x))}
    return {k: float(f"{x:.4g}") if isinstance(x, float) and k not in ("ask", "k") else x for k, x in said.items()}


def load(path: Path) -> Results:
    """What `save` wrote."""
    data = json.loads(path.read_text(encoding="utf-8"))
    data["points"] = {name: [Point(**p) for p in points] for name, points in data["points"].items()}
    return Results(**data)


def write(results: Results, page: Path) -> None:
    """Keep all runs beside a page, and draw its pictures: beside it, too, or where the documentation has them."""
    save(results, page.with_suffix(".json"))
    folder = page.parent.parent / "pictures"
    folder = folder if folder.is_dir() else page.parent
    for name, drawing in pictures(results).items():
        # as docs/pictures.py does it
        drawing.savefig(folder / name, dpi=120, metadata={"Software": None}, facecolor="white")


def measure(quick: bool) -> Results:
    """Everything."""
    results = Results()
    for name in ("four-bar",) if quick else CASES:
        diagram(results, name, quick)
    tell("dampers")
    dampers(results, quick)
    tell("drift")
    drift(results, quick)
    tell("gaps")
    gaps(results, quick)
    return results


def main(given: Sequence[str] | None = None) -> None:
    """Measure, print the tables, and write them, all runs and the pictures if a page is given."""
    options = arguments(__doc__.partition("\n")[0], given)
    report = Report("work_precision")
    results = measure(options.quick)
    report.stop()
    report.tables += tables(results)
    finish(report, options.markdown)
    if options.markdown is not None:
        write(results, options.markdown)


if __name__ == "__main__":
    main()
