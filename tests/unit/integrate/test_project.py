"""States are put back, completely, or it is said that they could not be."""

import numpy as np
import pytest

from closedchain.integrate import project, step_control
from closedchain.testing import problems


def put_back(correct, x, w=(), tol=1e-13):
    """Outcome, state and number of calls."""
    o = np.zeros(1, step_control.OPTIONS).view(np.recarray)[0]
    state = np.zeros(1, step_control.STATE)
    s = state.view(np.recarray)[0]
    o.correct_tol = tol
    x = np.array(x, dtype=float)
    workspace = np.empty_like(x), np.zeros(4)
    outcome = project.put_back(correct, np.zeros(1), np.array(w, dtype=float), x, o, s, *workspace)
    return outcome, x, int(state["corrections"][0])


def test_no_correction():
    outcome, x, calls = put_back(0, [3.0, 4.0])
    assert (outcome, calls) == (project.UNCHANGED, 0)
    np.testing.assert_array_equal(x, [3.0, 4.0])


def test_state_on_the_manifold_is_unchanged():
    outcome, _, calls = put_back(problems.on_circle.address, [1.0, 0.0, 0.0, 2.0])
    assert (outcome, calls) == (project.UNCHANGED, 1)


@pytest.mark.parametrize("off", [1e-12, 1e-6, 1e-2, 0.3])
def test_position_and_velocity_are_both_complete(off):
    outcome, x, calls = put_back(problems.on_circle.address, [1.0 + off, off, 0.5, 2.0])
    assert outcome == project.CHANGED and 2 <= calls <= project.MAX_ITERATIONS
    assert abs(np.hypot(*x[:2]) - 1) < 1e-15
    # the velocity was made tangent at positions within the tolerance
    assert abs(x[:2] @ x[2:]) < 1e-12


@pytest.mark.parametrize("residual", [1.0, -1.0], ids=["stuck", "nan"])
def test_failure(residual):
    outcome, _, _ = put_back(problems.never.address, [1.0], [1.0, residual])
    assert outcome == project.FAILED


def test_state_that_becomes_nan_is_a_failure():
    assert put_back(problems.on_circle.address, [1.0, 0.0, np.nan, 1.0])[0] == project.FAILED


def test_rounding_floor_above_the_tolerance_is_accepted():
    """Newton that stands still within a thousand tolerances has done what numbers of 16 digits allow."""
    assert put_back(problems.never.address, [1.0], [1.0, 5e-12])[0] == project.UNCHANGED
    assert put_back(problems.never.address, [1.0], [1.0, 5e-10])[0] == project.FAILED


@pytest.mark.parametrize("theta", [0.0, 0.25, 1.0])
def test_hermite_rows_are_exact_for_cubics(theta):
    cubic = np.polynomial.Polynomial([1.0, -2.0, 0.5, 3.0])
    t, h = 0.7, 0.4
    rows, value = np.empty((4, 1)), np.empty(1)
    ends = [np.array([f(time)]) for f in (cubic, cubic.deriv()) for time in (t, t + h)]
    project.hermite_rows(*ends, h, rows)
    project.interpolate(rows, theta, value)
    assert value[0] == pytest.approx(cubic(t + theta * h), abs=1e-14)
