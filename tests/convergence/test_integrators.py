"""Observed order of every solver and of its samples: plain, with quaternions, and on a manifold."""

import pytest

from closedchain.integrate.solvers import SOLVERS
from closedchain.testing.measured import Measured
from closedchain.testing.solvers import SLACK, STEEP, error_follows_tolerance, march, observed_order

GENERAL = [name for name, solver in SOLVERS.items() if solver.general]
CASES = ("driven", "quaternion", "pendulum")

COARSEST = {"radau5": 60}  # steps; otherwise by the order


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", GENERAL)
def test_order_of_the_steps(name, case):
    order = observed_order(SOLVERS[name], case, coarsest=COARSEST.get(name))
    assert order > SOLVERS[name].order - SLACK


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("correct_samples", [True, False])
@pytest.mark.parametrize("name", GENERAL)
def test_order_between_the_steps(name, correct_samples, case):
    order = observed_order(
        SOLVERS[name], case, between=True, correct_samples=correct_samples, coarsest=COARSEST.get(name)
    )
    assert order > SOLVERS[name].dense_order - SLACK


@pytest.mark.parametrize("name", GENERAL)
def test_order_is_not_claimed_too_low(name):
    """On a smooth problem the order is seen, not exceeded by a whole one."""
    order = observed_order(SOLVERS[name], "quaternion", corrected=False, coarsest=COARSEST.get(name))
    assert order < SOLVERS[name].order + STEEP


@pytest.mark.parametrize("case", ["quaternion", "pendulum"])
@pytest.mark.parametrize("name", [name for name in GENERAL if SOLVERS[name].adaptive])
def test_error_follows_the_tolerance_with_a_correction(name, case):
    found = Measured()
    error_follows_tolerance(SOLVERS[name], case, found)
    assert found["error, in tolerances"] < 300


@pytest.mark.parametrize("name", GENERAL)
def test_correction_does_not_change_the_number_of_steps(name):
    """The estimate of the uncorrected step drives the control: the same steps with and without, nearly."""
    options = {"rtol": 1e-8, "atol": 1e-8} if SOLVERS[name].adaptive else {"step": 0.01}
    free, held = (march(SOLVERS[name], "pendulum", options, corrected=corrected) for corrected in (False, True))
    assert abs(free.counts.steps - held.counts.steps) <= 0.05 * free.counts.steps
