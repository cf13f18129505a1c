"""Rodas5P: what a step costs, its stability, and what it needs of the time."""

import numpy as np
import pytest

from closedchain.integrate.methods.tableaus import RODAS5P
from closedchain.integrate.solvers import SOLVERS
from tests.unit.integrate import problems
from tests.unit.integrate.flat import integrate
from tests.unit.integrate.methods.test_radau5 import linear, linear_jac, relax


def swing(**options):
    x0 = problems.pendulum_exact(np.array(0.0), 9.81)
    jac = problems.pendulum_jac.address
    return integrate("rodas5p", problems.pendulum.address, x0, (0.0, 1.0), [9.81], jac=jac, **options)


def test_costs_are_known_beforehand():
    """Eight evaluations and one Jacobian for a step, seven evaluations for a rejected one, factors for both."""
    counts = swing(first_step=0.5).counts
    assert counts.rejections > 0
    assert counts.evaluations == 1 + 7 * (counts.steps + counts.rejections) + counts.steps
    assert counts.jacobians == counts.steps
    assert counts.factorisations == counts.steps + counts.rejections


def test_samples_cost_no_evaluation():
    assert swing(t_eval=np.linspace(0, 1, 100)).counts == swing().counts


@pytest.mark.parametrize("z", [-1.0, -1e2, -1e6, 0.3])
def test_one_step_is_the_stability_function(z):
    """R(z) = 1 + z b' (1 - z beta)^-1 e, from the coefficients before their transformation."""
    Gamma = np.linalg.inv(np.eye(8) / RODAS5P.gamma - RODAS5P.C)
    b, beta = RODAS5P.b @ Gamma, RODAS5P.A @ Gamma + Gamma
    R = 1 + z * b @ np.linalg.solve(np.eye(8) - z * beta, np.ones(8))
    options = problems.step_options(SOLVERS["rodas5p"], 1.0)
    run = integrate("rodas5p", linear.address, [1.0], (0.0, 1.0), [z], jac=linear_jac.address, **options)
    assert run.counts.steps == 1
    # coefficients of size 100 cancel in the stages
    assert run.x[-1, 0] == pytest.approx(R, abs=1e-11)


@pytest.mark.parametrize("w", [1.0, 1e3, 1e6, 1e9])
def test_stiffness_costs_little_on_a_smooth_solution(w):
    run = relax(w, solver="rodas5p")
    assert run.success and run.counts.steps <= 5 * relax(1.0, solver="rodas5p").counts.steps
    np.testing.assert_allclose(run.x[:, 0], np.cos(run.t), atol=1e-5)


def test_the_derivative_by_time_is_used():
    """Without df/dt the order is lost: the error at the same steps is a hundred times as large."""

    @problems.jacobian
    def timeless(t, x, w, entries, rate):
        entries[0], entries[1], entries[2], entries[3] = np.cos(t[0]), 0.0, 0.0, -4.0 * t[0] * x[1]
        rate[0] = rate[1] = 0.0

    options = problems.step_options(SOLVERS["rodas5p"], 0.05)
    found = []
    for jac in (problems.driven_jac, timeless):
        run = integrate("rodas5p", problems.driven.address, [1.0, 1.0], (0.0, 3.0), [], jac=jac.address, **options)
        found.append(np.abs(run.x - problems.driven_exact(run.t)).max())
    assert 100 * found[0] < found[1]
