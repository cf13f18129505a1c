"""Radau IIA: what an attempt costs, what is kept from step to step, and what stiffness does to it."""

import numpy as np
import pytest

from closedchain.march.integrate import integrate
from closedchain.march.solvers import SOLVERS
from tests.unit.march import problems


@problems.rhs
def relaxing(t, x, w, dx):
    """Prothero and Robinson (1974): x' = -w (x - cos t) - sin t, solved by cos t however stiff."""
    dx[0] = -w[0] * (x[0] - np.cos(t[0])) - np.sin(t[0])


@problems.jacobian
def relaxing_jac(t, x, w, entries, rate):
    entries[0] = -w[0]
    rate[0] = -w[0] * np.sin(t[0]) - np.cos(t[0])


@problems.rhs
def linear(t, x, w, dx):
    dx[0] = w[0] * x[0]


@problems.jacobian
def linear_jac(t, x, w, entries, rate):
    entries[0] = w[0]
    rate[0] = 0.0


def relax(w, solver="radau5", **options):
    jac = relaxing_jac.address
    return integrate(solver, relaxing.address, [1.0], (0.0, 2.0), [w], jac=jac, rtol=1e-6, atol=1e-6, **options)


def swing(**options):
    x0 = problems.pendulum_exact(np.array(0.0), 9.81)
    jac = problems.pendulum_jac.address
    return integrate("radau5", problems.pendulum.address, x0, (0.0, 1.0), [9.81], jac=jac, **options)


def test_evaluations():
    """Three for each Newton iteration, one at the end of each step, two at the start."""
    counts = swing(rtol=1e-11, atol=1e-11).counts
    rest = counts.evaluations - 2 - counts.steps
    assert counts.rejections == 0 and rest % 3 == 0
    assert 1 <= rest / 3 / counts.steps < 4


def test_samples_cost_no_evaluation():
    assert swing(t_eval=np.linspace(0, 1, 100)).counts == swing().counts


def test_a_linear_problem_needs_one_jacobian():
    counts = relax(1e3).counts
    assert counts.jacobians == 1
    assert counts.factorisations <= counts.steps + counts.rejections


def test_factors_are_kept_while_the_step_stays():
    """A limit on the step makes all steps equal, but for the last ones."""
    counts = relax(1e3, first_step=0.01, max_step=0.01).counts
    assert counts.steps >= 200 and counts.factorisations <= 3


def test_jacobians_are_used_again_where_newton_converges():
    counts = swing(rtol=1e-10, atol=1e-10).counts
    assert counts.jacobians < 0.3 * counts.steps
    assert counts.factorisations < 0.8 * counts.steps


@pytest.mark.parametrize("w", [1.0, 1e3, 1e6, 1e9])
def test_stiffness_costs_nothing_on_a_smooth_solution(w):
    run = relax(w)
    # one step, or about twice the steps of the easy problem at most
    assert run.success and run.counts.steps <= 2 * relax(1.0).counts.steps
    np.testing.assert_allclose(run.x[:, 0], np.cos(run.t), atol=1e-5)


@pytest.mark.parametrize("z", [-1.0, -1e2, -1e6, 0.3])
def test_one_step_is_the_stability_function(z):
    """Of the linear equation: R(z) = (1 + 2/5 z + z^2/20) / (1 - 3/5 z + 3/20 z^2 - z^3/60)."""
    options = problems.step_options(SOLVERS["radau5"], 1.0)
    run = integrate("radau5", linear.address, [1.0], (0.0, 1.0), [z], jac=linear_jac.address, **options)
    R = (1 + 2 / 5 * z + z * z / 20) / (1 - 3 / 5 * z + 3 / 20 * z * z - z**3 / 60)
    assert run.counts.steps == 1
    assert run.x[-1, 0] == pytest.approx(R, rel=1e-12, abs=1e-14)


def test_the_polynomial_is_the_collocation():
    """Its derivative equals the right-hand side at the three nodes: the residual of a linear equation is zero there."""
    w = -2.0
    options = problems.step_options(SOLVERS["radau5"], 0.5) | {"dense_output": True}
    run = integrate("radau5", linear.address, [1.0], (0.0, 0.5), [w], jac=linear_jac.address, **options)
    assert run.counts.steps == 1
    times = np.linspace(0, 0.5, 8)
    cubic = np.polynomial.Polynomial.fit(times, run.sol(times)[:, 0], 3)
    nodes = 0.5 * np.array([(4 - np.sqrt(6)) / 10, (4 + np.sqrt(6)) / 10, 1.0])
    np.testing.assert_allclose(cubic.deriv()(nodes), w * cubic(nodes), atol=1e-12)
    assert abs(cubic.deriv()(0.1) - w * cubic(0.1)) > 1e-4


def test_the_tolerance_is_met_without_waste():
    """Two decades of tolerance are two decades of error: between one and three."""
    found = []
    for rtol in (1e-4, 1e-6, 1e-8):
        run = swing(rtol=rtol, atol=rtol)
        found.append(np.abs(run.x - problems.pendulum_exact(run.t, 9.81)).max() / rtol)
    assert max(found) < 100 and min(found) > 1e-3


def test_a_jacobian_that_is_not_a_number_ends_the_run():
    @problems.jacobian
    def bad(t, x, w, entries, rate):
        entries[0] = np.nan
        rate[0] = 0.0

    run = integrate("radau5", linear.address, [1.0], (0.0, 1.0), [-1.0], jac=bad.address)
    assert run.status.name == "nan" and run.counts.steps == 0


def test_a_wrong_jacobian_makes_short_steps_not_wrong_results():
    """Newton's method finds the same stages with any matrix that lets it converge."""

    @problems.jacobian
    def rough(t, x, w, entries, rate):
        entries[0] = 0.5 * w[0]
        rate[0] = 0.0

    good, poor = (
        integrate("radau5", linear.address, [1.0], (0.0, 1.0), [-50.0], jac=j.address, rtol=1e-8, atol=1e-10)
        for j in (linear_jac, rough)
    )
    assert poor.success and poor.counts.evaluations > 1.5 * good.counts.evaluations
    np.testing.assert_allclose(poor.x[-1], good.x[-1], atol=1e-9)


@pytest.mark.parametrize("solver", ["radau5", "rodas5p"])
def test_parameters_of_the_jacobian_may_be_its_own(solver):
    @problems.jacobian
    def other(t, x, w, entries, rate):
        entries[0] = w[1]
        rate[0] = 0.0

    given = {"rtol": 1e-8, "atol": 1e-8}
    a = integrate(solver, linear.address, [1.0], (0.0, 1.0), [-3.0], jac=linear_jac.address, **given)
    b = integrate(solver, linear.address, [1.0], (0.0, 1.0), [-3.0], jac=other.address, w_jac=[7.0, -3.0], **given)
    np.testing.assert_array_equal(a.x, b.x)
