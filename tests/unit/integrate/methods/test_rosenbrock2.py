"""The Rosenbrock method of order 2: its stability, its costs, and stiff springs at a given step."""

from functools import cache

import numpy as np
import pytest

import closedchain as cc
from closedchain.integrate.methods.tableaus import ROSENBROCK2
from closedchain.integrate.trajectory import Status
from closedchain.testing import problems
from tests.unit.integrate.flat import integrate
from tests.unit.integrate.methods.test_radau5 import linear, linear_jac

GAMMA = ROSENBROCK2.gamma


@pytest.mark.parametrize("z", [-1.0, -1e2, -1e6, 0.3])
def test_one_step_is_the_stability_function(z):
    R = (1 + (1 - 2 * GAMMA) * z) / (1 - GAMMA * z) ** 2
    run = integrate("rosenbrock2", linear.address, [1.0], (0.0, 1.0), [z], jac=linear_jac.address, step=1.0)
    # weights of size 30 cancel
    assert run.counts.steps == 1 and run.x[-1, 0] == pytest.approx(R, abs=1e-14)


def test_the_derivative_by_time_is_used():
    @problems.jacobian
    def timeless(t, x, w, entries, rate):
        entries[0], entries[1], entries[2], entries[3] = np.cos(t[0]), 0.0, 0.0, -4.0 * t[0] * x[1]
        rate[0] = rate[1] = 0.0

    found = []
    for jac in (problems.driven_jac, timeless):
        run = integrate("rosenbrock2", problems.driven.address, [1.0, 1.0], (0.0, 3.0), [], jac=jac.address, step=0.01)
        found.append(np.abs(run.x - problems.driven_exact(run.t)).max())
    # of order 2 and 1
    assert 10 * found[0] < found[1]


def test_parabola_between_the_steps():
    """Order 2 at its ends and inside: the second derivative is that of the solution, to first order."""
    w = 2.0
    for h in (0.02, 0.01):
        run = integrate(
            "rosenbrock2", problems.oscillator.address, [1.0, 0.0], (0.0, 1.0), [w], step=h, dense_output=True,
            jac=problems.oscillator_jac.address,
        )  # fmt: skip
        bend = run.sol.rows[:, 2] / (-(h**2) / 2)
        exact = -(w**2) * problems.oscillator_exact(run.t[:-1])
        assert np.abs(bend - exact).max() < 10 * h


# a bead on a parabola, held by a spring: c = z - y^2 / 2


@problems.rhs
def bead(t, x, w, dx):
    force = -w[0] * (x[1] - 0.5 * x[0] ** 2)
    dx[0], dx[1], dx[2], dx[3] = x[2], x[3], -force * x[0], force


@problems.jacobian
def bead_jac(t, x, w, entries, rate):
    J = entries
    for i in range(16):
        J[i] = 0.0
    c = x[1] - 0.5 * x[0] ** 2
    J[2], J[3] = w[0] * (c - x[0] ** 2), w[0] * x[0]
    J[6], J[7] = w[0] * x[0], -w[0]
    J[8] = J[13] = 1.0
    for i in range(4):
        rate[i] = 0.0


def slide(h, stiffness=1e12, until=0.4):
    return integrate(
        "rosenbrock2", bead.address, [0.5, 0.125, 1.0, 0.5], (0.0, until), [stiffness], step=h, jac=bead_jac.address
    )


def test_what_a_stiff_spring_is_left_with():
    """The gap is 0.0858 h^2 c_qq(v, v), and its rate, which would be of order h, vanishes; see tableaus.py."""
    B = ROSENBROCK2.b[1] * GAMMA * ROSENBROCK2.c[1] ** 2
    for h in (1e-3, 5e-4):
        x = slide(h).x[5:]
        bend = -(x[:, 2] ** 2)  # c_qq(v, v)
        gap = x[:, 1] - 0.5 * x[:, 0] ** 2
        rate = x[:, 3] - x[:, 0] * x[:, 2]
        np.testing.assert_allclose(gap, h**2 * bend * (1 - B / GAMMA) / 2, rtol=10 * h)
        assert np.abs(rate).max() < 20 * h**2


@pytest.mark.parametrize("stiffness", [1e8, 1e9])
def test_motion_along_the_soft_direction(stiffness):
    """On the rigid parabola v^2 (1 + y^2) is constant: its error has no part k h^3, the first one left is k h^4.

    Where that part is the largest by far, half the step makes it 16 times smaller, and not 8 times.
    """
    found = []
    for h in (2e-3, 1e-3, 5e-4):
        x = slide(h, stiffness).x[-1]
        found.append(abs(x[2] ** 2 * (1 + x[0] ** 2) - 1.25))
    assert found[0] > 12 * found[1] > 12**2 * found[2]


# springs in the closures of mechanisms

CASES = {"four_bar": (0.5, 500), "gough_stewart": (0.3, 60)}


@cache
def error(name, stiffness, damping):
    """Against the solution of the same equations, or of rigid loops where the springs are not damped."""
    m = getattr(cc.library, name)()
    until, steps = CASES[name]
    start = m.assemble(O=cc.pi / 2) if name == "four_bar" else m.assemble()
    springs = cc.VirtualSpring(stiffness, damping * 2 * stiffness**0.5)
    options = {"until": until, "t_eval": [until]}
    got = cc.simulate(m, start, method=springs, solver=cc.solvers.Rosenbrock2(step=until / steps), rtol=1.0, **options)
    if damping:
        want = cc.simulate(m, start, method=springs, solver="radau5", rtol=1e-9, **options)
    else:
        want = cc.simulate(m, start, rtol=1e-10, **options)
    return np.abs(got.x[-1] - want.x[-1])[: start.q.size].max()


@pytest.mark.parametrize("stiffness", [1e6, 1e8])
@pytest.mark.parametrize("name", CASES)
def test_error_does_not_grow_with_the_stiffness(name, stiffness):
    """At 1e8 the period of the springs is a twentieth of the step; an error that grows with k would be 1e4 as large."""
    assert error(name, stiffness, 1) < 1.5 * error(name, 1e4, 1)


@pytest.mark.parametrize("name", CASES)
def test_undamped_springs_do_not_ring(name):
    """Errors are those of the step, 2e-7 and 1e-6, and the stretch of the springs, which is below."""
    assert error(name, 1e8, 0) < 2 * error(name, 1e8, 1)


def test_very_hard_springs():
    """Far beyond what springs are good for: the error grows in the end, but slowly."""
    assert error("four_bar", 1e10, 1) < 10 * error("four_bar", 1e4, 1)


def test_matrix_that_cannot_be_factorised_ends_the_run():
    """A growing solution, and a step at which 1 / (gamma h) is its rate."""
    run = integrate("rosenbrock2", linear.address, [1.0], (0.0, 2.0), [1.0 / GAMMA], jac=linear_jac.address, step=1.0)
    assert run.status is Status.nan and run.counts.steps == 0 and run.failure.x[0] == 1.0
