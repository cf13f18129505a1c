"""Radau IIA: what an attempt costs, what is kept from step to step, and what stiffness does to it."""

import numpy as np
import pytest

from closedchain.integrate.solvers import SOLVERS
from closedchain.integrate.structure import structure
from tests.unit.integrate import problems
from tests.unit.integrate.flat import integrate


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


def test_the_polynomial_is_the_collocation_with_the_derivative_at_the_start():
    """Rates of a linear equation are right at the three nodes in which a quartic has those of the cubic, and at 0."""
    w, h = -2e-2, 0.5
    options = problems.step_options(SOLVERS["radau5"], h) | {"dense_output": True}
    run = integrate("radau5", linear.address, [1.0], (0.0, h), [w], jac=linear_jac.address, **options)
    assert run.counts.steps == 1
    times = np.linspace(0, h, 8)
    quartic = np.polynomial.Polynomial.fit(times, run.sol(times)[:, 0], 4)
    nodes = h * np.array([0.0, (4 - np.sqrt(6)) / 10, (4 + np.sqrt(6)) / 10, 1.0])
    # where a cubic misses the derivative by (h w)^4 / 60, the filtered estimate leaves h w of that
    off = np.abs(quartic.deriv()(nodes) - w * quartic(nodes))
    assert off.max() < 1e-2 * abs(w) ** 4 * h**3
    np.testing.assert_allclose(quartic(times), np.exp(w * times), rtol=abs(h * w) ** 5)


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


# ---- algebraic states ------------------------------------------------------------------------------------------------


@problems.rhs
def lagging(t, x, w, dx):
    """x' = -z / w, 0 = w sin(x) - z: index 1, with z in a unit of its own."""
    dx[0] = -x[1] / w[0]
    dx[1] = w[0] * np.sin(x[0]) - x[1]


@problems.jacobian
def lagging_jac(t, x, w, entries, rate):
    entries[0], entries[1], entries[2], entries[3] = 0.0, w[0] * np.cos(x[0]), -1.0 / w[0], -1.0
    rate[0] = rate[1] = 0.0


@problems.rhs
def solved(t, x, w, dx):
    """The same with z put in."""
    dx[0] = -np.sin(x[0])


@problems.jacobian
def solved_jac(t, x, w, entries, rate):
    entries[0] = -np.cos(x[0])
    rate[0] = 0.0


@problems.rhs
def held(t, x, w, dx):
    """A pendulum in Cartesian coordinates, stabilised, index 2: place, velocity, a multiplier for each (lam, mu)."""
    for i in range(2):
        dx[i] = x[2 + i] - x[i] * x[5]
        dx[2 + i] = -x[i] * x[4]
    dx[3] -= w[0]
    dx[4] = x[0] * x[2] + x[1] * x[3]
    dx[5] = 0.5 * (x[0] ** 2 + x[1] ** 2 - 1.0)


@problems.jacobian
def held_jac(t, x, w, entries, rate):
    for i in range(36):
        entries[i] = 0.0
    for i in range(2):
        p, v, column = x[i], x[2 + i], 6 * i
        entries[column + i], entries[column + 2 + i], entries[column + 4], entries[column + 5] = -x[5], -x[4], v, p
        column = 6 * (2 + i)
        entries[column + i], entries[column + 4] = 1.0, p
        entries[24 + 2 + i] = -p
        entries[30 + i] = -p
    for i in range(6):
        rate[i] = 0.0


@problems.correction
def back_on_circle(t, x, w, x_plus, residual):
    """The algebraic states stay."""
    square = x[0] ** 2 + x[1] ** 2
    c, rate = 0.5 * (square - 1.0), x[0] * x[2] + x[1] * x[3]
    residual[0], residual[1], residual[2] = abs(c), abs(rate), 0.5
    for i in range(2):
        x_plus[i] = x[i] - x[i] * c / square
        x_plus[2 + i] = x[2 + i] - x[i] * rate / square
        x_plus[4 + i] = x[4 + i]


HELD = structure(np.ones((6, 6), bool), algebraic=[4, 5])


def hold(**options):
    x0 = np.append(problems.pendulum_exact(np.array(0.0), 9.81), [0.0, 0.0])
    return integrate("radau5", held.address, x0, (0.0, 1.0), [9.81], jac=held_jac.address, structure=HELD, **options)


def lag(unit, z=None, **options):
    plan = structure(np.ones((2, 2), bool), algebraic=[1])
    x0 = [1.0, unit * np.sin(1.0) if z is None else z]
    jac = lagging_jac.address
    return integrate("radau5", lagging.address, x0, (0.0, 3.0), [unit], jac=jac, structure=plan, **options)


def test_index_1_is_the_equation_with_its_unknown_put_in():
    """Stages agree to what Newton's method leaves, and with them errors and steps."""
    options = {"rtol": 1e-8, "atol": 1e-8, "newton": 1e-8, "first_step": 0.01}
    plain = integrate("radau5", solved.address, [1.0], (0.0, 3.0), [0.0], jac=solved_jac.address, **options)
    ours = lag(1.0, **options)
    assert ours.counts.steps == plain.counts.steps
    np.testing.assert_allclose(ours.x[:, 0], plain.x[:, 0], atol=1e-12)
    np.testing.assert_allclose(ours.x[:, 1], np.sin(ours.x[:, 0]), atol=1e-12)


def test_the_unit_of_an_algebraic_state_does_not_matter():
    """A million times larger numbers: neither the estimate nor Newton's method looks at them."""
    one, other = (lag(unit, rtol=1e-6, atol=1e-6, first_step=0.01) for unit in (1.0, 2.0**20))
    assert one.counts.steps == other.counts.steps and one.counts.evaluations == other.counts.evaluations
    np.testing.assert_allclose(other.x[:, 0], one.x[:, 0], atol=1e-14)


def test_a_wrong_algebraic_start_does_no_harm():
    """It is no part of the solution: the first step finds the right value."""
    good, poor = lag(1.0, rtol=1e-8, atol=1e-8), lag(1.0, z=-3.0, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(poor.x[-1], good.x[-1], atol=1e-8)
    # Newton's method may leave a few hundredths of the estimate's tolerance, 0.1 rtol^(2/3), over the step
    np.testing.assert_allclose(poor.x[1:, 1], np.sin(poor.x[1:, 0]), atol=1e-6)


def test_index_2():
    """The error follows the tolerance; places and velocities hold at all steps, as well as Newton's method solves."""
    for rtol in (1e-4, 1e-7, 1e-10):
        run = hold(rtol=rtol, atol=rtol)
        assert run.success and run.counts.rejections < 0.2 * run.counts.steps
        off = np.abs(run.x[:, :4] - problems.pendulum_exact(run.t, 9.81)).max()
        assert 1e-3 * rtol < off < 300 * rtol
        p, v = run.x[:, :2], run.x[:, 2:4]
        assert np.abs(np.linalg.norm(p, axis=1) - 1.0).max() < rtol
        assert np.abs(np.sum(p * v, axis=1)).max() < 10 * rtol


def test_orders_of_index_2():
    """5 for differential states, 3 for multipliers; the exact ones: lam = |v|^2 - g y, and mu = 0."""
    errors = []
    for n in (64, 128):
        run = hold(**problems.step_options(SOLVERS["radau5"], 1.0 / n))
        exact = problems.pendulum_exact(run.t[-1], 9.81)
        lam = exact[2:] @ exact[2:] - 9.81 * exact[1]
        errors.append([np.linalg.norm(run.x[-1, :4] - exact), abs(run.x[-1, 4] - lam), abs(run.x[-1, 5])])
    # the next power of h shows in the second digit
    np.testing.assert_allclose(np.log2(np.array(errors[0]) / errors[1]), [5, 3, 3], atol=0.3)


def test_ends_of_steps_are_not_put_back_but_samples_are():
    times = np.linspace(0, 1, 50)
    options = {"rtol": 1e-5, "atol": 1e-5, "t_eval": times}
    free, put = hold(**options), hold(**options, correct=back_on_circle.address)
    np.testing.assert_array_equal(put.x[-1], free.x[-1])  # the end of a step
    assert put.counts.steps == free.counts.steps
    off = [np.abs(np.linalg.norm(run.x[:-1, :2], axis=1) - 1.0).max() for run in (free, put)]
    assert off[0] > 1e-6 and off[1] < 1e-13


def test_the_pivot_of_the_correction_is_watched():
    run = hold(rtol=1e-5, atol=1e-5, correct=back_on_circle.address, pivot_before=0.6)
    assert run.status.name == "singular" and run.counts.steps == 0
