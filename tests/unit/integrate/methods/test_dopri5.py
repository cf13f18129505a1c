"""The pair 5(4): evaluations saved, and made again where a correction made them stale."""

import numpy as np
import pytest

from tests.unit.integrate import problems
from tests.unit.integrate.flat import integrate

X0 = problems.pendulum_exact(np.array(0.0), 9.81)


def swing(correct=0, **options):
    return integrate("dopri5", problems.pendulum.address, X0, (0.0, 1.0), [9.81, 1.0], correct=correct, **options)


def test_six_evaluations_a_step():
    counts = swing().counts
    # two at the start: the derivative, and the Euler step of the starting heuristic
    assert counts.evaluations == 2 + 6 * (counts.steps + counts.rejections)
    assert swing(first_step=1e-3).counts.evaluations % 6 == 1


def test_samples_cost_no_evaluation():
    assert swing(t_eval=np.linspace(0, 1, 100)).counts == swing().counts


def test_correction_that_changes_the_end_costs_one_evaluation():
    counts = swing(problems.on_circle.address, rtol=1e-5, atol=1e-5).counts
    assert counts.evaluations == 2 + 6 * (counts.steps + counts.rejections) + counts.steps
    assert counts.corrections >= 2 * counts.steps


def test_correction_that_changes_nothing_costs_none():
    """`never` with residual 0 says that all is well and returns the state as it is."""
    span, w = (0.0, 1.0), [2.0, 0.0]
    plain = integrate("dopri5", problems.root.address, [0.0, 1.0], span, w)
    held = integrate("dopri5", problems.root.address, [0.0, 1.0], span, w, correct=problems.never.address)
    assert held.counts.evaluations == plain.counts.evaluations
    assert held.counts.corrections == 1 + held.counts.steps  # and one at the start
    np.testing.assert_array_equal(held.x, plain.x)


def test_next_step_begins_with_the_derivative_at_the_corrected_state():
    """One run of two steps equals two runs of one step, to the last bit."""
    options = {"rtol": 1e9, "atol": 1e9, "first_step": 0.125, "max_step": 0.125}
    correct = problems.on_circle.address
    both = integrate("dopri5", problems.pendulum.address, X0, (0.0, 0.25), [9.81], correct=correct, **options)
    middle = both.x[1]
    last = integrate("dopri5", problems.pendulum.address, middle, (0.125, 0.25), [9.81], correct=correct, **options)
    np.testing.assert_array_equal(both.x[2], last.x[1])
    assert np.hypot(*middle[:2]) == pytest.approx(1.0, abs=1e-15)
