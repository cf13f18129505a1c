"""The method of order 8: evaluations, and polynomials of degree 7 without error."""

import numpy as np
import pytest

from tests.unit.integrate import problems
from tests.unit.integrate.flat import integrate


@problems.rhs
def power_six(t, x, w, dx):
    dx[0] = 7.0 * t[0] ** 6


def test_polynomials_of_degree_seven_are_exact_between_steps():
    times = np.linspace(-1, 1, 41)
    run = integrate("dop853", power_six.address, [-1.0], (-1.0, 1.0), [], t_eval=times, first_step=0.6, max_step=0.6)
    np.testing.assert_allclose(run.x[:, 0], times**7, atol=1e-14)


@pytest.mark.parametrize(("wanted", "extra"), [({}, 0), ({"dense_output": True}, 3), ({"t_eval": [0.5]}, None)])
def test_evaluations(wanted, extra):
    run = integrate("dop853", problems.oscillator.address, [1.0, 0.0], (0.0, 1.0), [2.0], **wanted)
    counts = run.counts
    plain = 2 + 11 * (counts.steps + counts.rejections) + counts.steps
    assert counts.evaluations == plain + (3 if extra is None else extra * counts.steps)


def test_correction_costs_no_evaluation():
    x0 = problems.pendulum_exact(np.array(0.0), 9.81)
    counts = integrate(
        "dop853", problems.pendulum.address, x0, (0.0, 1.0), [9.81], correct=problems.on_circle.address
    ).counts
    assert counts.evaluations == 2 + 11 * (counts.steps + counts.rejections) + counts.steps


def test_zero_error_is_no_trouble():
    @problems.rhs
    def still(t, x, w, dx):
        dx[0] = 0.0

    run = integrate("dop853", still.address, [1.0], (0.0, 10.0), [])
    assert run.success and np.all(run.x == 1.0)
