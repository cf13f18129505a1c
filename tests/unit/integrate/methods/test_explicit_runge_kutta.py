"""The kernel that a tableau drives: methods that are not among the solvers, FSAL and others."""

from dataclasses import dataclass

import numpy as np
import pytest

from closedchain.errors import ModelError
from closedchain.integrate.integrate import integrate
from closedchain.integrate.methods.explicit_runge_kutta import kernel
from closedchain.integrate.methods.tableaus import Tableau
from closedchain.integrate.problem import Problem, Tolerances
from closedchain.integrate.solvers import SOLVERS, FixedStep, StepControlled, explicit, listed
from closedchain.testing import problems

NONE = np.zeros((0, 2))
HEUN = Tableau(np.array([[0, 0], [1.0, 0]]), np.array([0.5, 0.5]), np.array([0.0, 1.0]), NONE, NONE)
EULER = Tableau(np.zeros((1, 1)), np.ones(1), np.zeros(1), np.zeros((0, 1)), np.zeros((0, 1)))
# Bogacki, Shampine (1989), Appl. Math. Lett. 2(4), 321-325
BS3 = Tableau(
    np.array([[0, 0, 0, 0], [1 / 2, 0, 0, 0], [0, 3 / 4, 0, 0], [2 / 9, 1 / 3, 4 / 9, 0]]),
    np.array([2 / 9, 1 / 3, 4 / 9, 0]),
    np.array([0, 1 / 2, 3 / 4, 1]),
    np.array([[2 / 9 - 7 / 24, 1 / 3 - 1 / 4, 4 / 9 - 1 / 3, -1 / 8]]),
    np.zeros((0, 4)),
)
# Heun and Euler as a pair: its last stage is not the derivative at the end
PAIR = HEUN._replace(E=np.array([[-0.5, 0.5]]))


def fixed(tableau, step):
    @dataclass(frozen=True, kw_only=True)
    class Mine(FixedStep):
        home = explicit(tableau)

    return Mine(step=step)


def controlled(tableau, q):
    @dataclass(frozen=True, kw_only=True)
    class Mine(StepControlled):
        error_order = q
        home = explicit(tableau)

    return Mine(dense_output=True)


@pytest.mark.parametrize(("tableau", "order"), [(EULER, 1), (HEUN, 2), (BS3, 3)], ids=["euler", "heun", "bs3"])
def test_fixed_steps_have_the_order_of_the_tableau(tableau, order):
    problem, exact = Problem(problems.driven.address), problems.driven_exact(2.0)
    steps = np.array([0.02, 0.01])
    errors = [np.abs(integrate(fixed(tableau, h), problem, [1.0, 1.0], (0, 2)).x[-1] - exact).max() for h in steps]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


@pytest.mark.parametrize(("tableau", "q", "stages"), [(PAIR, 2, 2), (BS3, 3, 3)], ids=["pair", "bs3"])
def test_steps_are_controlled_by_the_first_estimate(tableau, q, stages):
    problem, tolerances = Problem(problems.driven.address), Tolerances(1e-7, 1e-7)
    run = integrate(controlled(tableau, q), problem, [1.0, 1.0], (0, 2), tolerances)
    assert run.success
    np.testing.assert_allclose(run.x[-1], problems.driven_exact(2.0), atol=1e-5)
    times = np.linspace(0, 2, 77)
    np.testing.assert_allclose(run.sol(times), problems.driven_exact(times), atol=1e-5)
    # two at the start; then a stage after the first, or the derivative at the end, costs one each
    attempts, counts = run.counts.steps + run.counts.rejections, run.counts
    inside = stages - 1 if tableau is PAIR else stages
    assert counts.evaluations == 2 + inside * attempts + (counts.steps if tableau is PAIR else 0)


@pytest.mark.parametrize(
    ("wrong", "q", "said"),
    [
        ({}, 2, "this tableau's E is empty"),
        ({"A": np.eye(2)}, 0, "strictly lower triangular"),
        ({"A": np.zeros((3, 3))}, 0, r"with 2 nodes in c, A must have the shape \(2, 2\), not \(3, 3\)"),
        ({"b": np.ones(1)}, 0, r"b must have the shape \(2,\), not \(1,\)"),
        ({"c": np.array([0.5, 1.0])}, 0, "c begin with 0"),
        ({"c": np.zeros(0)}, 0, "with 0 nodes in c"),
        ({"E": np.ones(2)}, 2, r"E must have the shape \(any, 2\), not \(2,\)"),
        ({"D": np.zeros((0, 3))}, 0, r"D must have the shape \(any, 2\), not \(0, 3\)"),
        ({"b": np.array([np.nan, 1.0])}, 0, "b must be an array of finite numbers"),
        ({"b": None}, 0, "b must be an array of finite numbers"),
    ],
)
def test_a_tableau_that_kernels_cannot_read_is_refused(wrong, q, said):
    with pytest.raises(ModelError, match=said):
        kernel(HEUN._replace(**wrong), q)


@pytest.mark.parametrize(
    ("base", "q", "said"),
    [(StepControlled, 0, "say the order of its error estimate"), (FixedStep, 2, "leave error_order at 0")],
)
def test_a_class_and_its_error_order_agree(base, q, said):
    @dataclass(frozen=True, kw_only=True)
    class Mine(base):
        name = "mine"
        error_order = q
        home = explicit(PAIR)

    with pytest.raises(ModelError, match=f"solver 'mine'.*{said}"):
        Mine.load()
    with pytest.raises(ModelError, match=said):
        listed(Mine)
    assert "mine" not in SOLVERS


def test_a_last_stage_at_the_end_is_left_out_of_fixed_steps():
    run = integrate(fixed(BS3, 0.1), Problem(problems.driven.address), [1.0, 1.0], (0, 1))
    assert run.counts.evaluations == 1 + 3 * 10  # two stages and the end
