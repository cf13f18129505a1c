"""Observed order of every solver and of its samples: plain, with quaternions, and on a manifold."""

import numpy as np
import pytest

from closedchain.integrate.solvers import SOLVERS
from tests.unit.integrate import problems
from tests.unit.integrate.flat import integrate

# a slope over finite steps is seen with some error; a method of the next lower order would miss by 1
SLACK = 0.35

GENERAL = [name for name, solver in SOLVERS.items() if solver.general]

# number of steps: few for high orders, whose errors reach rounding soon
COARSEST = {"rk4": 40, "dopri5": 30, "dop853": 12, "auto": 12, "radau5": 60, "rodas5p": 30}


def errors(solver, problem, x0, span, w, exact, t_eval, **options):
    """Lengths of steps and the largest errors over the samples."""
    lengths, found = [], []
    for refine in (1.0, 1.5, 2.0, 3.0):
        steps = round(COARSEST.get(solver.name, 30) * refine)
        h = (span[1] - span[0]) / steps
        settings = problems.step_options(solver, h) | problems.jac(solver, problem) | options
        run = integrate(solver.name, problem.address, x0, span, w, t_eval=t_eval, **settings)
        assert run.success
        lengths.append(h)
        found.append(np.abs(run.x - exact(run.t)).max())
    return np.array(lengths), np.array(found)


def slope(lengths, found):
    return np.polyfit(np.log(lengths), np.log(found), 1)[0]


CASES = {
    "driven": (problems.driven, [1.0, 1.0], (0.0, 3.0), [], problems.driven_exact, None),
    "quaternion": (
        problems.quaternion,
        [1.0, 0, 0, 0],
        (0.0, 3.0),
        [2.0, 3.0],
        lambda t: problems.quaternion_exact(t, (2.0, 3.0)),
        problems.normalise,
    ),
    "pendulum": (
        problems.pendulum,
        problems.pendulum_exact(np.array(0.0), 9.81),
        (0.0, 1.5),
        [9.81],
        lambda t: problems.pendulum_exact(t, 9.81),
        problems.on_circle,
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", GENERAL)
def test_order_of_the_steps(name, case):
    solver = SOLVERS[name]
    problem, x0, span, w, exact, correct = CASES[case]
    correct = {} if correct is None else {"correct": correct.address}
    order = slope(*errors(solver, problem, x0, span, w, exact, None, **correct))
    assert order > solver.order - SLACK


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("correct_samples", [True, False])
@pytest.mark.parametrize("name", GENERAL)
def test_order_between_the_steps(name, correct_samples, case):
    solver = SOLVERS[name]
    problem, x0, span, w, exact, correct = CASES[case]
    correct = {} if correct is None else {"correct": correct.address, "correct_samples": correct_samples}
    times = np.linspace(*span, 301)
    order = slope(*errors(solver, problem, x0, span, w, exact, times, **correct))
    assert order > solver.dense_order - SLACK


@pytest.mark.parametrize("name", GENERAL)
def test_order_is_not_claimed_too_low(name):
    """On a smooth problem the order is seen, not exceeded by a whole one."""
    solver = SOLVERS[name]
    problem, x0, span, w, exact, _ = CASES["quaternion"]
    order = slope(*errors(solver, problem, x0, span, w, exact, None))
    assert order < solver.order + 0.8


@pytest.mark.parametrize("case", ["quaternion", "pendulum"])
@pytest.mark.parametrize("name", [name for name in GENERAL if SOLVERS[name].adaptive])
def test_error_follows_the_tolerance_with_a_correction(name, case):
    problem, x0, span, w, exact, correct = CASES[case]
    found = []
    for rtol in (1e-5, 1e-7, 1e-9, 1e-11):
        options = {"rtol": rtol, "atol": rtol, "correct": correct.address} | problems.jac(SOLVERS[name], problem)
        run = integrate(name, problem.address, x0, span, w, **options)
        found.append(np.abs(run.x - exact(run.t)).max())
        # some 100 steps pass on their errors
        assert found[-1] < 300 * rtol
    # two decades of tolerance give between one and three decades of error
    ratios = np.diff(np.log10(found))
    assert np.all((ratios < -1) & (ratios > -3))


@pytest.mark.parametrize("name", GENERAL)
def test_correction_does_not_change_the_number_of_steps(name):
    """The estimate of the uncorrected step drives the control: the same steps with and without, nearly."""
    problem, x0, span, w, _, correct = CASES["pendulum"]
    options = {"rtol": 1e-8, "atol": 1e-8} if SOLVERS[name].adaptive else {"step": 0.01}
    options |= problems.jac(SOLVERS[name], problem)
    free = integrate(name, problem.address, x0, span, w, **options)
    held = integrate(name, problem.address, x0, span, w, correct=correct.address, **options)
    assert abs(free.counts.steps - held.counts.steps) <= 0.05 * free.counts.steps
