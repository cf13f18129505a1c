"""Solvers: order of the steps and of the samples, backward and chunked runs, failures that are values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from closedchain.errors import ModelError
from closedchain.integrate.hooks import Hooks
from closedchain.integrate.integrate import integrate
from closedchain.integrate.problem import Samples, Tolerances
from closedchain.integrate.solvers import SOLVERS, Solver
from closedchain.integrate.trajectory import Status, Trajectory
from closedchain.testing.measured import Measured

SLACK = 0.35  # a slope over finite steps is seen with some error; a method of the next lower order would miss by 1
STEEP = 0.8  # on a smooth problem the order is seen, not exceeded by a whole one
REFINED = (1.0, 1.5, 2.0, 3.0)
COARSEST = {1: 60, 2: 60, 3: 40, 4: 40, 5: 30, 8: 12}  # steps by order: errors of high orders reach rounding soon


class Case(NamedTuple):
    """A problem with a known solution: right-hand side, start, span, parameters, solution, correction."""

    problem: Any
    x0: Any
    span: tuple[float, float]
    w: list[float]
    exact: Any
    correct: Any


def cases() -> dict[str, Case]:
    """Nonlinear and driven; with quaternions; and on a manifold. The first call compiles them."""
    from closedchain.testing import problems as p

    falling = p.pendulum_exact(np.array(0.0), 9.81)
    return {
        "driven": Case(p.driven, [1.0, 1.0], (0.0, 3.0), [], p.driven_exact, None),
        "quaternion": Case(
            p.quaternion,
            [1.0, 0, 0, 0],
            (0.0, 3.0),
            [2.0, 3.0],
            lambda t: p.quaternion_exact(t, (2.0, 3.0)),
            p.normalise,
        ),
        "pendulum": Case(p.pendulum, falling, (0.0, 1.5), [9.81], lambda t: p.pendulum_exact(t, 9.81), p.on_circle),
    }


def check_solver(kind: type[Solver], *, coarsest: int | None = None) -> Measured:
    """Check a solver of ``x' = f(t, x)`` on problems with known solutions.

    The orders of its steps and of its samples are those that it claims; with step control the error follows the
    tolerance. A run backwards retraces one forwards, samples do not disturb the steps, and a run in many calls has the
    same bits as one in a single call. What cannot be computed ends a run with a status, not with an exception.

    Parameters
    ----------
    kind
        The class, such as `closedchain.integrate.solvers.RK4`; it need not be in `SOLVERS`.
    coarsest
        Number of steps of the coarsest run from which the order is observed. Default: by the order.

    Returns
    -------
    Measured
        Observed orders, and the largest differences.

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.testing import check_solver
    >>> found = check_solver(cc.solvers.RK4)
    >>> 3.6 < found["order on 'quaternion'"] < 4.8
    True
    """
    if isinstance(kind, str):
        kind = SOLVERS.get(kind, kind)  # type: ignore[arg-type]
    if not (isinstance(kind, type) and issubclass(kind, Solver)):
        raise ModelError(f"check_solver needs a class of a solver, such as cc.solvers.RK4, not {kind!r}")
    if not kind.general or kind.driver:
        raise ModelError(f"check_solver: {kind.name} marches mechanisms only, not any x' = f(t, x)")
    found = Measured()
    for case in cases():
        order = observed_order(kind, case, coarsest=coarsest)
        found.at_least(f"order on {case!r}", order, kind.order - SLACK)
        if case == "quaternion":
            free = observed_order(kind, case, corrected=False, coarsest=coarsest)
            found.at_most(f"order on {case!r}, not corrected", free, kind.order + STEEP)
        between = observed_order(kind, case, between=True, coarsest=coarsest)
        found.at_least(f"order between steps on {case!r}", between, kind.dense_order - SLACK)
        if kind.adaptive and case != "driven":
            error_follows_tolerance(kind, case, found)
    _check_runs(kind, found)
    _check_failures(kind)
    return found


def observed_order(
    kind: type[Solver],
    case: str,
    *,
    between: bool = False,
    corrected: bool = True,
    correct_samples: bool = True,
    coarsest: int | None = None,
) -> float:
    """The slope of the largest error against the length of the steps; ``between`` them, or at their ends."""
    from closedchain.testing import problems

    x = cases()[case]
    lengths, errors = [], []
    for refine in REFINED:
        steps = round((coarsest or COARSEST.get(kind.order, 30)) * refine)
        h = (x.span[1] - x.span[0]) / steps
        options = problems.step_options(kind, h)
        run = march(kind, case, options, 301 if between else None, corrected=corrected, correct_samples=correct_samples)
        if not run.success:
            raise AssertionError(f"{kind.name} on {case!r} with steps of {h:.3g}: {run.message}")
        lengths.append(h)
        errors.append(np.abs(run.x - x.exact(run.t)).max())
    return float(np.polyfit(np.log(lengths), np.log(errors), 1)[0])


def march(
    kind: type[Solver],
    case: str,
    options: dict[str, Any],
    times: int | None = None,
    *,
    corrected: bool = True,
    correct_samples: bool = True,
) -> Trajectory:
    """A run of a case, at so many equal times or at the ends of all steps; options of solver and tolerances."""
    from closedchain.testing import problems

    x = cases()[case]
    solver, tolerances = _split(kind, options)
    problem = problems.equations(kind, x.problem, x.w, x.correct if corrected else None, correct_samples)
    samples = Samples(None if times is None else np.linspace(*x.span, times))
    return integrate(solver, problem, x.x0, x.span, tolerances, samples)


def _split(kind: type[Solver], options: dict[str, Any]) -> tuple[Solver, Tolerances]:
    of_tolerances = {name: options[name] for name in ("rtol", "atol", "newton") if name in options}
    of_solver = {name: value for name, value in options.items() if name not in of_tolerances}
    return kind(**of_solver), Tolerances(**of_tolerances)


def error_follows_tolerance(kind: type[Solver], case: str, found: Measured) -> None:
    """Two decades of tolerance give between one and three decades of error."""
    x, errors = cases()[case], []
    for rtol in (1e-5, 1e-7, 1e-9, 1e-11):
        run = march(kind, case, {"rtol": rtol, "atol": rtol})
        errors.append(np.abs(run.x - x.exact(run.t)).max())
        # some 100 steps pass on their errors
        found.at_most("error, in tolerances", float(errors[-1] / rtol), 300)
    ratios = np.diff(np.log10(errors))
    found.at_most("decades of error by two of tolerance, largest", float(-ratios.min()), 3)
    found.at_least("decades of error by two of tolerance, smallest", float(-ratios.max()), 1)


class _Chunks(Hooks):
    """A run in calls of so many attempts."""

    def __init__(self, size: int) -> None:
        self.steps_per_call = size


def _check_runs(kind: type[Solver], found: Measured) -> None:
    """Backward, sampled and chunked runs of an oscillator."""
    from closedchain.testing import problems

    problem = problems.equations(kind, problems.oscillator, [2.0])
    solver, tolerances = _split(kind, problems.tight(kind))
    times, start = np.linspace(0.0, 3.0, 31), np.array([1.0, 0.0])
    there = integrate(solver, problem, start, (0.0, 3.0), tolerances)
    back = integrate(solver, problem, there.x[-1], (3.0, 0.0), tolerances)
    # of both runs; where the step is fixed, of its order
    error = float(np.abs(there.x - problems.oscillator_exact(there.t)).max())
    found["error forwards"] = error
    found.at_most("start after a run there and back", float(np.abs(back.x[-1] - start).max()), 4 * error + 1e-9)
    if not (np.diff(back.steps_t) < 0).all():
        raise AssertionError(f"{kind.name}: the times of a run backwards do not fall")
    sampled = integrate(solver, problem, start, (0.0, 3.0), tolerances, Samples(times))
    _same(kind, "sampling changes the steps", sampled.steps_t, there.steps_t)
    _same(kind, "samples at the ends of steps are not these ends", integrate(
        solver, problem, start, (0.0, 3.0), tolerances, Samples(there.t)
    ).x, there.x)  # fmt: skip
    for size in (1, 7):
        chunked = integrate(solver, problem, start, (0.0, 3.0), tolerances, Samples(times), _Chunks(size))
        _same(kind, f"results depend on the attempts in one call ({size})", chunked.x, sampled.x)
        if chunked.counts != sampled.counts:
            raise AssertionError(f"{kind.name}: counts depend on the attempts in one call ({size})")


def _same(kind: type[Solver], what: str, one: np.ndarray, other: np.ndarray) -> None:
    if not np.array_equal(one, other):
        raise AssertionError(f"{kind.name}: {what}")


def _check_failures(kind: type[Solver]) -> None:
    from closedchain.testing import problems

    options = problems.tight(kind)
    solver, tolerances = _split(kind, options)
    root = problems.equations(kind, problems.root)
    _ends(kind, "not a number at the start", integrate(solver, root, [0.0, -1.0], (0.0, 1.0), tolerances), Status.nan)
    _ends(kind, "not a number on the way", integrate(solver, root, [0.0, 1.0], (0.0, 3.0), tolerances), Status.nan)
    few, _ = _split(kind, {**options, "max_steps": 10})
    swing = problems.equations(kind, problems.oscillator, [2.0])
    _ends(kind, "more steps than allowed", integrate(few, swing, [1.0, 0.0], (0.0, 3.0), tolerances),
          Status.too_many_steps)  # fmt: skip
    never = problems.equations(kind, problems.root, [2.0, 1.0], problems.never)
    _ends(kind, "a correction that gets nowhere", integrate(solver, never, [0.0, 1.0], (0.0, 1.0), tolerances),
          Status.correction_failed)  # fmt: skip
    if kind.adaptive:
        pole = problems.equations(kind, problems.blow_up)
        run = integrate(solver, pole, [1.0], (0.0, 2.0), Tolerances(1e-6, 1e-6))
        _ends(kind, "a pole", run, Status.step_too_small)


def _ends(kind: type[Solver], what: str, run: Trajectory, status: Status) -> None:
    if run.status is not status:
        raise AssertionError(f"{kind.name}: {what} ends a run with the status {run.status.name!r}, not {status.name!r}")
