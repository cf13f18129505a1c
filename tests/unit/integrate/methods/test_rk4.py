"""The fixed step: how many, how long, and that the promise is kept."""

import numpy as np
import pytest

from closedchain.integrate.trajectory import Status
from tests.unit.integrate import problems
from tests.unit.integrate.flat import integrate


def swing(span, step, **options):
    return integrate("rk4", problems.oscillator.address, [1.0, 0.0], span, [2.0], step=step, **options)


@pytest.mark.parametrize(
    ("span", "step", "number"),
    [
        ((0.0, 1.0), 0.1, 10),
        ((0.0, 0.3), 0.1, 3),  # 0.3 / 0.1 is a little less than 3
        ((0.0, 1.0), 0.3, 4),
        ((1.0, 0.0), 0.3, 4),
        ((0.0, 1.0), 5.0, 1),
        ((0.0, 100.0), 1e-3, 100_000),
    ],
)
def test_number_of_steps(span, step, number):
    run = swing(span, step)
    assert run.counts.steps == number and run.t[-1] == span[1]
    # all but the last are as long as said, to the rounding of the times
    lengths = np.abs(np.diff(run.t))[:-1]
    np.testing.assert_allclose(lengths, step, rtol=1e-9)
    assert run.counts.largest_step <= step * (1 + 1e-9)


def test_times_do_not_drift():
    run = swing((0.0, 100.0), 1e-3)
    np.testing.assert_allclose(run.t, np.linspace(0, 100, 100_001), rtol=3e-16)


def test_four_evaluations_a_step():
    counts = swing((0.0, 1.0), 0.1).counts
    assert counts.evaluations == 4 * counts.steps + 1 and counts.rejections == 0


def test_two_corrections_a_step():
    x0 = problems.pendulum_exact(np.array(0.0), 9.81)
    run = integrate(
        "rk4", problems.pendulum.address, x0, (0.0, 1.0), [9.81], step=0.01, correct=problems.on_circle.address
    )
    assert run.counts.corrections == 1 + 2 * run.counts.steps  # and one at the start
    p, v = run.x[:, :2], run.x[:, 2:]
    assert max(np.abs((p * p).sum(1) - 1).max(), np.abs((p * v).sum(1)).max()) < 1e-14


def test_one_step_by_hand():
    h, A = 0.1, np.array([[0.0, 1.0], [-4.0, 0.0]])
    series = sum(np.linalg.matrix_power(h * A, k) / f for k, f in enumerate([1, 1, 2, 6, 24]))
    np.testing.assert_allclose(swing((0.0, h), h).x[-1], series @ [1.0, 0.0], rtol=1e-15)


def test_step_is_never_shortened_to_save_a_run():
    run = integrate("rk4", problems.root.address, [0.0, 1.0], (0.0, 3.0), [], step=0.01)
    assert run.status is Status.nan and run.counts.rejections == 0
    assert run.counts.smallest_step == run.counts.largest_step == 0.01


@pytest.mark.parametrize(
    ("step", "words"), [(0.0, "positive"), (-1.0, "positive"), (np.nan, "positive"), (1e-20, "small")]
)
def test_step_is_checked(step, words):
    with pytest.raises(ValueError, match=words):
        swing((0.0, 1.0), step)
