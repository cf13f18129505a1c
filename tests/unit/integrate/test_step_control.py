"""The controller by itself: norms, factors, the start, and the last step."""

import numpy as np
import pytest

from closedchain.integrate import step_control
from closedchain.integrate.trajectory import Status
from tests.unit.integrate import problems
from tests.unit.integrate.flat import integrate


def records(**values):
    """One record of options and one of state, with the fields given."""
    options, state = np.zeros(1, step_control.OPTIONS), np.zeros(1, step_control.STATE)
    options["t1"], options["direction"], options["max_step"], options["max_steps"] = 1.0, 1.0, np.inf, 100
    state["err_old"], state["cause"] = 1e-4, Status.step_too_small
    for name, value in values.items():
        (options if name in options.dtype.names else state)[name] = value
    return options.view(np.recarray)[0], state.view(np.recarray)[0]


def test_numbers_of_the_status_are_those_of_the_enum():
    for name in ("finished", "nan", "step_too_small", "too_many_steps", "correction_failed"):
        assert getattr(step_control, name.upper()) == Status[name]


def test_norm():
    one, two = np.array([3.0, 4.0]), np.array([-1.0, 10.0])
    found = step_control.scaled_norm(one, one, two, np.array([1.0, 2.0]), 0.5, 0, np.zeros(1))
    assert found == pytest.approx(np.sqrt(((3 / 2.5) ** 2 + (4 / 7) ** 2) / 2))


def test_first_nonfinite_reads_stage_by_stage():
    k = np.zeros((3, 4))
    assert step_control.first_nonfinite(k) == -1
    k[2, 0] = np.inf
    k[1, 3] = np.nan
    assert step_control.first_nonfinite(k) == 3


@pytest.mark.parametrize(
    ("t", "h", "max_step", "expected"),
    [
        (0.0, 0.3, np.inf, 0.3),
        (0.0, 0.3, 0.1, 0.1),
        (0.0, 5.0, np.inf, 1.0),
        (0.5, 0.499, np.inf, 0.5),  # stretched by less than one percent
        (0.5, 0.499, 0.499, 0.25),  # may not be stretched: two halves
    ],
)
def test_next_step(t, h, max_step, expected):
    o, s = records(t=t, h=h, max_step=max_step)
    assert step_control.next_step(o, s) == expected
    assert s.status == Status.running


def test_next_step_ends_the_run():
    o, s = records(t=0.5, h=1e-16, cause=Status.nan)
    assert step_control.next_step(o, s) == 0.0 and s.status == Status.nan
    o, s = records(h=0.1, steps=60, rejections=40)
    assert step_control.next_step(o, s) == 0.0 and s.status == Status.too_many_steps


def test_last_step_ends_at_the_end():
    o, s = records(t=0.1, t1=0.7)
    assert step_control.end_time(o, s, 0.7 - 0.1) == 0.7
    assert step_control.end_time(o, s, 0.2) == 0.1 + 0.2


def test_controller():
    """A constant err = 1 keeps the step but for the safety; limits hold; no growth after a rejection."""
    _, s = records(err_old=1.0)
    step_control.propose(s, 0.1, 1.0, 0.17, 0.04, 0.2, 10.0)
    assert s.h == pytest.approx(0.09)
    _, s = records()
    step_control.propose(s, -0.1, 0.0, 0.17, 0.04, 0.2, 10.0)
    assert s.h == pytest.approx(1.0) and s.err_old == 1e-4
    _, s = records(rejected=1)
    step_control.propose(s, 0.1, 1e-9, 0.17, 0.04, 0.2, 10.0)
    assert s.h == pytest.approx(0.1) and s.rejected == 0


@pytest.mark.parametrize(("err", "expected"), [(2.0**5, 0.045), (1e30, 0.02), (np.nan, 0.025), (np.inf, 0.025)])
def test_rejection(err, expected):
    _, s = records()
    step_control.reject(s, -0.1, err, 0.2, np.zeros((2, 2)), 0, np.zeros(1))
    assert s.h == pytest.approx(expected) and s.rejections == 1 and s.cause == Status.step_too_small


def test_rejection_remembers_a_nan():
    _, s = records()
    step_control.reject(s, 0.1, np.nan, 0.2, np.array([[0.0, np.nan]]), 0, np.zeros(1))
    assert s.cause == Status.nan and s.bad_index == 1


def test_failed_corrections_come_to_an_end():
    _, s = records()
    for _ in range(step_control.MAX_FAILED_CORRECTIONS):
        assert s.status == Status.running
        step_control.reject_correction(s, 0.1)
    assert s.status == Status.correction_failed


@pytest.mark.parametrize("span", [(0.0, 1e-3), (0.0, 1e3), (5.0, 4.0)])
@pytest.mark.parametrize("name", ["dopri5", "dop853"])
def test_starting_step_is_of_the_right_size(name, span):
    """It is accepted, and the controller does not have to run away from it for long."""
    run = integrate(name, problems.oscillator.address, [1.0, 0.0], span, [2.0], rtol=1e-6, atol=1e-6, max_steps=20)
    assert run.counts.rejections <= 1
    assert abs(run.steps_t[0] - span[0]) > run.counts.largest_step / 1e3


def test_starting_step_at_rest():
    """Neither state nor derivative tells a scale."""
    run = integrate("dopri5", problems.oscillator.address, [0.0, 0.0], (0.0, 1.0), [2.0])
    assert run.success and np.all(run.x == 0) and run.counts.steps < 12
