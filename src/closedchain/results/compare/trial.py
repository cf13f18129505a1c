"""One run of many: a method, a solver and a tolerance to try, and what came of it. Failures are values here."""

from __future__ import annotations

import statistics
import warnings
from dataclasses import asdict, dataclass, fields, is_dataclass, replace

import numpy as np

from closedchain.close.formulation import Formulation
from closedchain.errors import ClosedChainError, RunError, RunWarning
from closedchain.integrate import solvers
from closedchain.integrate.integrate import integrate
from closedchain.integrate.methods.tableaus import DOP853, DOPRI5, RK4
from closedchain.integrate.problem import Tolerances
from closedchain.integrate.solvers import Solver
from closedchain.integrate.trajectory import Trajectory
from closedchain.march.program.compiled import relative_tolerances, tolerances
from closedchain.march.program.solver_inputs import problem
from closedchain.native.traced.counts import OperationCounts
from closedchain.pose.state import State
from closedchain.results.run import Run
from closedchain.simulation import simulate

USUAL = solvers.DOP853(max_steps=1_000_000)
LONG = 0.5  # s: a march that takes longer is not repeated
STEPS_LOOKED_AT = 100  # to see how many Newton steps an evaluation takes


@dataclass(frozen=True)
class Trial:
    """What to run."""

    method: Formulation
    solver: Solver = USUAL
    rtol: float = 1e-8
    samples: int = 201


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a trial.

    Attributes
    ----------
    run
        As far as it got; None if the method refused.
    failure
        Why there is no complete run; empty if there is one.
    complaints
        What is worse than the tolerance promises.
    """

    run: Run | None
    failure: str = ""
    complaints: tuple[str, ...] = ()


def attempt(start: State, until: float, trial: Trial) -> Outcome:
    """Make a run."""
    try:
        run, said = _simulate(start, until, trial)
    except RunError as error:
        return Outcome(error.run if isinstance(error.run, Run) else None, str(error))
    except ClosedChainError as error:
        return Outcome(None, str(error))
    except Exception as error:  # one method that breaks must not cost the results of the others
        return Outcome(None, f"{type(error).__name__}: {error}")
    return Outcome(run, "", said)


def _simulate(start: State, until: float, trial: Trial) -> tuple[Run, tuple[str, ...]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RunWarning)
        run = simulate(
            start.mechanism,
            start,
            until,
            method=trial.method,
            solver=trial.solver,
            rtol=trial.rtol,
            t_eval=np.linspace(start.t, until, trial.samples),
        )
    return run, tuple(str(w.message) for w in caught if issubclass(w.category, RunWarning))


# ---- what a run cost -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cost:
    """What the march of a run takes, without its samples.

    Attributes
    ----------
    seconds
        The median of the repeats.
    evaluations, corrections
        Calls of the right-hand side, and Newton steps back to the manifold.
    kinds
        Operations of one evaluation, by kind and in ``total``.
    operations
        Of all evaluations and corrections; nan for implicit solvers, which spend most on linear equations.
    """

    seconds: float
    evaluations: int
    corrections: int
    kinds: dict[str, float]
    operations: float


def cost(run: Run, repeats: int = 1) -> Cost:
    """March once more along a run, piece by piece, with nothing else around it."""
    times: list[float] = []
    while not times or (len(times) < repeats and times[-1] < LONG):
        again = run.solution.again(run.task)
        times.append(again.seconds)
    counts, kinds = again.counts, operations(run)
    return Cost(
        statistics.median(times), counts.evaluations, counts.corrections, kinds, again.operations(kinds["total"])
    )


def _steps(run: Run) -> Trajectory:
    """The first piece of a run once more, with the ends of its steps as samples."""
    segment, task = run.segments[0], run.task
    program, start = segment.program, segment.start
    return integrate(
        replace(task.solver, dense_output=False),
        problem(segment.solver, program, run.p, run.scale.time),
        program.pack(start.q, start.v),
        (start.t, task.until if len(run.segments) == 1 else run.segments[1].start.t),
        Tolerances(
            task.rtol,
            tolerances(program, run.scale, task.rtol, task.atol),
            relative_tolerances(program, run.scale, task.rtol, task.atol),
        ),
    )


def operations(run: Run) -> dict[str, float]:
    """Operations of one evaluation by kind and in total; Newton steps inside it count as often as they are taken.

    Those of finite elements are not counted: nan.
    """
    if run.solution.has_elements:
        return dict.fromkeys(KINDS, float("nan"))
    # pieces of a run may have different equations: weighed by their evaluations
    weights = np.array([s.trajectory.counts.evaluations for s in run.segments], float)
    weights = weights / weights.sum() if weights.sum() else np.full(len(weights), 1 / len(weights))
    pieces = [asdict(s.program.rhs.counts) for s in run.segments]
    kinds = {name: float(sum(w * x[name] for w, x in zip(weights, pieces, strict=True))) for name in pieces[0]}
    newton = getattr(run.program.rhs, "newton", None)
    if newton is not None:
        more = max(newton_steps(run) - 1.0, 0.0)  # one is counted already
        kinds = {name: n + more * getattr(newton.counts, name) for name, n in kinds.items()}
    return {**kinds, "total": sum(kinds.values())}


def newton_steps(run: Run) -> float:
    """How many Newton steps an evaluation takes on average, where it solves for positions first."""
    from closedchain.integrate.solved_first import STEPS, SolvedFirst

    rhs = run.program.rhs
    if not isinstance(rhs, SolvedFirst):
        return 0.0
    tableau = {"rk4": RK4, "dopri5": DOPRI5, "dop853": DOP853}.get(run.solver)
    if tableau is None:  # stages of implicit solvers are corrected themselves until they fit
        return 1.0
    path = _steps(run)
    # the stages of each step, as the integrator makes them
    stages = int(np.flatnonzero(tableau.b)[-1]) + 1
    w = rhs.prepare(run.p)
    ends = path.t[: STEPS_LOOKED_AT + 1]
    for t, h, x in zip(ends, np.diff(ends), path.x, strict=False):
        k = np.zeros((stages, len(x)))
        for j in range(stages):
            k[j] = rhs.evaluate(t + tableau.c[j] * h, x + h * (tableau.A[j, :j] @ k[:j]), w)
    return float(w[STEPS]) / (stages * max(len(ends) - 1, 1))


KINDS = (*(field.name for field in fields(OperationCounts)), "total")


# ---- names -----------------------------------------------------------------------------------------------------------


def label(method: Formulation) -> str:
    """A method in a few words, for tables and legends: its class, and its options where they have been chosen."""
    name = type(method).__name__
    if not is_dataclass(method):
        return name
    short = {"stiffness": "k", "damping": "b"}
    words = []
    for field in fields(method):
        value = getattr(method, field.name)
        if is_dataclass(value) and not isinstance(value, type):
            inner = [
                f"{f.name} {getattr(value, f.name):g}" for f in fields(value) if getattr(value, f.name) is not None
            ]
            words.append(" ".join([type(value).__name__, *inner]))
        elif value == field.default and not isinstance(value, float):
            continue
        elif isinstance(value, int | float):
            words.append(f"{short.get(field.name, field.name)} {number(value)}")
        elif isinstance(value, tuple):
            words.append(f"{short.get(field.name, field.name)} {' '.join(f'{k}={number(x)}' for k, x in value)}")
        elif value == "none":
            words.append(f"not {field.name}d")
        else:
            words.append(f"{field.name} {value}")
    return ", ".join([name, *words])


def number(x: float) -> str:
    """1e6 and 3.2e5 rather than 1e+06 and 320000."""
    if x != 0 and not 1e-3 <= abs(x) < 1e4:
        mantissa, _, exponent = f"{x:.3g}".partition("e") if "e" in f"{x:.3g}" else f"{x:.2e}".partition("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return f"{mantissa}e{int(exponent)}"
    return f"{x:.3g}" if x < 1000 else f"{x:.0f}"
