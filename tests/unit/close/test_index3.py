"""`Index3`: its numbers, what it shares with `Multipliers`, and what it refuses."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.index3 import coefficients
from closedchain.march.program.compiled import compiled
from closedchain.march.program.index3 import step_equations
from closedchain.pose.state import parameter_vector

RHOS = (0.0, 0.3, 0.8, 0.95)


def amplification(rho, z):
    """What a step makes of ``(x, h v, h^2 alpha)`` of an oscillator, z = h omega, from the equations of the method."""
    alpha_m, alpha_f, beta, gamma = coefficients(rho)
    new = np.array([[1, 0, -beta], [0, 1, -gamma], [(1 - alpha_f) * z**2, 0, 1 - alpha_m]])
    old = np.array([[1, 1, 0.5 - beta], [0, 1, 1 - gamma], [-alpha_f * z**2, 0, -alpha_m]])
    return np.linalg.solve(new, old)


def radius(rho, z):
    return np.abs(np.linalg.eigvals(amplification(rho, z))).max()


@pytest.mark.parametrize("rho", RHOS)
def test_rho_is_the_spectral_radius_at_infinite_frequency(rho):
    # a triple eigenvalue moves with the third root of what is left, 1/z^2
    assert radius(rho, 1e6) == pytest.approx(rho, abs=3e-4)
    assert radius(rho, 1e-3) == pytest.approx(1.0, abs=1e-9)  # 1 - O(z^4)


@pytest.mark.parametrize("rho", RHOS)
def test_no_frequency_grows(rho):
    assert max(radius(rho, z) for z in np.logspace(-3, 6, 200)) <= 1 + 1e-12  # roundings of 3 x 3 matrices


@pytest.mark.parametrize("rho", RHOS)
def test_conditions_of_order_two(rho):
    alpha_m, alpha_f, beta, gamma = coefficients(rho)
    assert gamma == pytest.approx(0.5 - alpha_m + alpha_f, abs=1e-15)
    assert beta == pytest.approx((gamma + 0.5) ** 2 / 4, abs=1e-15)


@pytest.mark.parametrize("rho", [-0.1, 1, 1.0, 2.0, float("nan"), "0.8", None, True])
def test_rho_is_checked(rho):
    with pytest.raises(cc.ModelError, match="rho must be a number from 0 below 1"):
        cc.Index3(rho)


def test_another_rho_compiles_nothing():
    start = cc.library.four_bar().assemble()
    calm, lively = (compiled(start, cc.Index3(rho)) for rho in (0.2, 0.9))
    assert calm.rhs.address == lively.rhs.address
    one, other = step_equations(calm), step_equations(lively)
    assert one.residual.address == other.residual.address and one.matrix.address == other.matrix.address
    # but it is another method
    p = parameter_vector(start.mechanism)
    assert not np.array_equal(one.residual.prepare(p), other.residual.prepare(p))


@pytest.mark.parametrize("name", ["four_bar", "gough_stewart"])
def test_index_1_at_a_state_is_that_of_the_multipliers(name):
    m = getattr(cc.library, name)()
    start = m.assemble()
    rng = np.random.default_rng(5)
    ours, theirs = (compiled(start, method) for method in (cc.Index3(), cc.Multipliers()))
    x = ours.pack(start.q, rng.normal(size=len(start.v)))
    p = parameter_vector(m)
    np.testing.assert_array_equal(ours.rhs(0.1, x, p), theirs.rhs(0.1, x, p))
    for mine, wanted in zip(ours.correct(0.1, x, p), theirs.correct(0.1, x, p), strict=True):
        np.testing.assert_array_equal(mine, wanted)


def test_its_solver_is_found_and_no_other_marches_it():
    m = cc.library.four_bar()
    run = cc.simulate(m, until=0.01, method=cc.Index3(), solver=cc.solvers.GeneralisedAlpha(step=1e-3), rtol=1e-6)
    assert run.solver == "generalised-alpha"
    assert "Bruels" in run.citation() and "Chung" in run.citation()
    with pytest.raises(cc.ModelError, match="generalised-alpha"):
        cc.simulate(m, until=0.01, method=cc.Index3(), solver="dop853")


def test_other_methods_have_no_step_equations():
    program = compiled(cc.library.four_bar().assemble(), cc.Multipliers())
    with pytest.raises(cc.ModelError, match=r"cc\.Index3"):
        step_equations(program)


def test_a_singular_start_is_refused():
    """Flat on the line of its ground, a parallelogram could go on in two ways."""
    m = cc.library.four_bar_chain(1)
    flat = cc.State(m, np.zeros(m.assemble().q.size), np.zeros(3))
    with pytest.raises(cc.ModelError, match="Index3 cannot start at a singular pose"):
        cc.simulate(m, flat, until=0.01, method=cc.Index3(), solver=cc.solvers.GeneralisedAlpha(step=1e-3))
