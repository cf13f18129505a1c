"""What every solver promises: samples, directions, chunks, counts, and failures that are values."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from closedchain.integrate import integrate as module
from closedchain.integrate.problem import Problem
from closedchain.integrate.solvers import SOLVERS
from closedchain.integrate.trajectory import Status
from tests.unit.integrate import problems
from tests.unit.integrate.flat import integrate

GENERAL = [name for name, solver in SOLVERS.items() if solver.general]
ADAPTIVE = [name for name in GENERAL if SOLVERS[name].adaptive]
# an error of 1e-9 at the fixed step of `problems.tight`, 1 ms, is a matter of order 4
PRECISE = [name for name in GENERAL if SOLVERS[name].adaptive or SOLVERS[name].order >= 4]
PARTNER = {"dopri5": "RK45", "dop853": "DOP853"}


def run(name, problem, x0, span, w=(), **options):
    solver = SOLVERS[name]
    settings = problems.tight(solver) | problems.jac(solver, problem) | options
    return integrate(name, problem.address, x0, span, w, **settings)


def swing(name, span=(0.0, 3.0), **options):
    return run(name, problems.oscillator, [1.0, 0.0], span, [2.0], **options)


@pytest.mark.parametrize("name", PRECISE)
def test_accuracy(name):
    result = swing(name)
    assert result.success and result.failure is None
    np.testing.assert_allclose(result.x, problems.oscillator_exact(result.t), atol=1e-9)


@pytest.mark.parametrize("name", GENERAL)
def test_every_step_is_returned_without_t_eval(name):
    result = swing(name)
    assert result.t[0] == 0.0 and result.t[-1] == 3.0
    np.testing.assert_array_equal(result.t[1:], result.steps_t)
    assert len(result.steps_t) == result.counts.steps
    assert np.diff(result.t).min() == pytest.approx(result.counts.smallest_step, rel=1e-9)
    assert np.diff(result.t).max() == pytest.approx(result.counts.largest_step, rel=1e-9)


@pytest.mark.parametrize("name", PRECISE)
@pytest.mark.parametrize(
    "times",
    [[], [0.0], [3.0], [0.0, 3.0], [1.234], np.linspace(0, 3, 1001), [0.0, 1e-9, 2.0, 3.0 - 1e-12, 3.0]],
    ids=["none", "start", "end", "both", "one", "many", "close"],
)
def test_samples(name, times):
    result = swing(name, t_eval=times)
    np.testing.assert_array_equal(result.t, times)
    assert result.x.shape == (len(times), 2)
    np.testing.assert_allclose(result.x, problems.oscillator_exact(result.t), atol=2e-9)


@pytest.mark.parametrize("name", GENERAL)
def test_samples_at_the_steps_are_the_steps(name):
    every = swing(name)
    again = swing(name, t_eval=every.t)
    np.testing.assert_array_equal(again.x, every.x)


@pytest.mark.parametrize("name", GENERAL)
def test_samples_do_not_disturb_the_steps(name):
    sampled = swing(name, t_eval=np.linspace(0, 3, 50), dense_output=True)
    np.testing.assert_array_equal(sampled.steps_t, swing(name).steps_t)


@pytest.mark.parametrize("name", GENERAL)
@pytest.mark.parametrize("span", [(0.0, 3.0), (3.0, 0.0)])
def test_dense_output(name, span):
    times = np.linspace(*span, 61)
    result = swing(name, span=span, t_eval=times, dense_output=True)
    np.testing.assert_allclose(result.sol(times), result.x, atol=1e-14)
    assert result.sol(1.0).shape == (2,)
    assert result.sol(times.reshape(1, 61)).shape == (1, 61, 2)
    with pytest.raises(ValueError, match="range"):
        result.sol(3.5)


@pytest.mark.parametrize("name", GENERAL)
def test_dense_output_joins_corrected_steps(name):
    """With steps so long that the correction is visible, the polynomials still meet."""
    w = [9.81]
    x0 = problems.pendulum_exact(np.array(0.0), 9.81)
    options = problems.step_options(SOLVERS[name], 0.125)
    result = integrate(
        name, problems.pendulum.address, x0, (0.0, 1.0), w, correct=problems.on_circle.address,
        dense_output=True, **options, **problems.jac(SOLVERS[name], problems.pendulum),
    )  # fmt: skip
    for index, time in enumerate(result.steps_t[:-1]):
        before = result.sol(np.nextafter(time, 0.0))
        np.testing.assert_allclose(before, result.x[index + 1], atol=1e-13)
        np.testing.assert_array_equal(result.sol(time), result.x[index + 1])


@pytest.mark.parametrize("name", GENERAL)
def test_samples_are_corrected_unless_told_otherwise(name):
    x0 = problems.pendulum_exact(np.array(0.0), 9.81)
    options = problems.step_options(SOLVERS[name], 0.1) | {"correct": problems.on_circle.address}
    options["t_eval"] = np.linspace(0.03, 0.97, 20)
    closure = {}
    for wanted in (True, False):
        result = run(name, problems.pendulum, x0, (0.0, 1.0), [9.81], correct_samples=wanted, **options)
        p, v = result.x[:, :2], result.x[:, 2:]
        closure[wanted] = max(np.abs((p * p).sum(1) - 1).max(), np.abs((p * v).sum(1)).max())
    assert closure[True] < 1e-12 < 1e-9 < closure[False]


@pytest.mark.parametrize("name", PRECISE)
def test_backward_retraces_forward(name):
    there = swing(name)
    back = run(name, problems.oscillator, there.x[-1], (3.0, 0.0), [2.0], t_eval=[3.0, 1.5, 0.2, 0.0])
    np.testing.assert_allclose(back.x, problems.oscillator_exact(back.t), atol=2e-9)
    assert np.all(np.diff(back.steps_t) < 0) and back.counts.smallest_step > 0


@pytest.mark.parametrize("name", GENERAL)
def test_no_time_at_all(name):
    result = swing(name, span=(1.0, 1.0), dense_output=True)
    assert result.success and result.counts.steps == 0 and result.counts.evaluations == 0
    np.testing.assert_array_equal(result.t, [1.0])
    np.testing.assert_array_equal(result.x, [[1.0, 0.0]])
    assert result.sol is None and np.isnan(result.counts.smallest_step)
    assert swing(name, span=(1.0, 1.0), t_eval=[1.0]).x.shape == (1, 2)


@pytest.mark.parametrize("name", GENERAL)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_chunks_leave_no_trace(name, size):
    x0 = problems.pendulum_exact(np.array(0.0), 9.81)
    options = {
        "correct": problems.on_circle.address,
        "t_eval": np.linspace(0, 2, 33),
        "dense_output": True,
    }
    a = run(name, problems.pendulum, x0, (0.0, 2.0), [9.81], **options)
    b = run(name, problems.pendulum, x0, (0.0, 2.0), [9.81], steps_per_call=size, **options)
    np.testing.assert_array_equal(a.x, b.x)
    np.testing.assert_array_equal(a.steps_t, b.steps_t)
    np.testing.assert_array_equal(a.sol.rows, b.sol.rows)
    assert a.counts == b.counts


@pytest.mark.parametrize("name", PARTNER)
def test_agrees_with_scipy(name):
    x0, times = problems.pendulum_exact(np.array(0.0), 9.81), np.linspace(0, 2, 101)

    def f(t, x):
        force = (x[2] ** 2 + x[3] ** 2 - 9.81 * x[1]) / (x[0] ** 2 + x[1] ** 2)
        return [x[2], x[3], -force * x[0], -force * x[1] - 9.81]

    theirs = solve_ivp(f, (0, 2), x0, PARTNER[name], times, rtol=1e-10, atol=1e-10)
    ours = integrate(name, problems.pendulum.address, x0, (0, 2), [9.81], t_eval=times, rtol=1e-10, atol=1e-10)
    # both are within the tolerance, passed on over some 100 steps
    np.testing.assert_allclose(ours.x, theirs.y.T, atol=1e-7)
    # another controller and another interpolant, but the same method: the same work
    assert 0.8 < ours.counts.evaluations / theirs.nfev < 1.25


@pytest.mark.parametrize("name", ADAPTIVE)
def test_vector_of_absolute_tolerances(name):
    """A loose tolerance on the entry that limits the step makes steps longer."""
    both = run(name, problems.driven, [1.0, 1.0], (0.0, 3.0), rtol=0.0, atol=[1e-10, 1e-10])
    one = run(name, problems.driven, [1.0, 1.0], (0.0, 3.0), rtol=0.0, atol=[1e-10, 1.0])
    assert one.counts.steps < both.counts.steps


@pytest.mark.parametrize("name", ADAPTIVE)
def test_limits_of_the_step(name):
    result = swing(name, rtol=1e-3, atol=1e-3, first_step=0.001, max_step=0.01)
    assert result.steps_t[0] == 0.001
    assert result.counts.largest_step <= 0.01


def test_dense_evaluations_of_dop853_happen_only_when_needed():
    plain = swing("dop853", t_eval=[3.0]).counts
    assert plain.evaluations == 2 + 11 * (plain.steps + plain.rejections) + plain.steps
    assert swing("dop853", t_eval=[1.0]).counts.evaluations == plain.evaluations + 3
    assert swing("dop853", dense_output=True).counts.evaluations == plain.evaluations + 3 * plain.steps


# failures


@pytest.mark.parametrize("name", GENERAL)
def test_nan_at_the_start(name):
    result = run(name, problems.root, [0.0, -1.0], (0.0, 1.0), dense_output=True)
    assert result.status is Status.nan and not result.success
    assert (result.failure.t, result.failure.index) == (0.0, 1)
    assert "entry 1" in result.message and "t = 0.0" in result.message
    np.testing.assert_array_equal(result.x, [[0.0, -1.0]])


@pytest.mark.parametrize("name", PRECISE)
def test_nan_on_the_way_keeps_what_was_computed(name):
    times = np.linspace(0, 3, 31)
    result = run(name, problems.root, [0.0, 1.0], (0.0, 3.0), t_eval=times)
    assert result.status is Status.nan and result.failure.index == 1
    # x = (1 - t/2)^2 is zero at t = 2
    assert result.failure.t == pytest.approx(2.0, abs=2e-3)
    assert 19 <= len(result.t) <= 21
    np.testing.assert_allclose(result.x[:, 1], (1 - result.t / 2) ** 2, atol=1e-7)


@pytest.mark.parametrize("name", ADAPTIVE)
def test_nan_at_a_trial_point_only_shortens_the_step(name):
    result = run(name, problems.root, [0.0, 1.0], (0.0, 1.9), first_step=1.9, rtol=1e-6, atol=1e-6)
    assert result.success and result.counts.rejections > 0
    assert result.x[-1, 1] == pytest.approx(0.05**2, abs=1e-5)


@pytest.mark.parametrize("name", ADAPTIVE)
def test_step_collapses_at_a_pole(name):
    result = run(name, problems.blow_up, [1.0], (0.0, 2.0), rtol=1e-6, atol=1e-6)
    assert result.status is Status.step_too_small
    assert result.failure.t == pytest.approx(1.0, abs=1e-5) and result.failure.x[0] > 1e5
    assert result.failure.index is None and "singular" in result.failure.advice


@pytest.mark.parametrize("name", GENERAL)
def test_too_many_steps(name):
    result = swing(name, max_steps=10)
    assert result.status is Status.too_many_steps
    assert result.counts.steps + result.counts.rejections == 10
    assert result.t[-1] == result.failure.t and "max_steps" in result.message
    np.testing.assert_array_equal(result.x[-1], result.failure.x)


@pytest.mark.parametrize("name", GENERAL)
@pytest.mark.parametrize("residual", [1.0, -1.0], ids=["stuck", "nan"])
def test_correction_that_fails(name, residual):
    options = {"correct": problems.never.address}
    result = run(name, problems.root, [0.0, 1.0], (0.0, 1.0), [2.0, residual], **options)
    assert result.status is Status.correction_failed
    assert result.failure.t == 0.0 and result.counts.steps == 0
    np.testing.assert_array_equal(result.failure.x, [0.0, 1.0])


@pytest.mark.parametrize("name", GENERAL)
def test_interrupt_keeps_what_was_computed(name):
    def progress(t, steps):
        if steps >= 20:
            raise KeyboardInterrupt

    result = swing(name, progress=progress, steps_per_call=5)
    assert result.status is Status.interrupted
    assert result.counts.steps == len(result.steps_t) >= 20
    np.testing.assert_array_equal(result.x, swing(name).x[: len(result.t)])


@pytest.mark.parametrize("name", GENERAL)
def test_progress_is_told(name):
    seen = []
    result = swing(name, progress=lambda t, steps: seen.append((t, steps)), steps_per_call=10)
    assert seen[-1] == (3.0, result.counts.steps)
    assert seen == sorted(seen) and len(seen) >= result.counts.steps / 10


# arguments that cannot be right


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"t_eval": [0.0, 1.0, 1.0]}, "entry 2 .1.0. follows 1.0"),
        ({"t_eval": [1.0, 0.5]}, "strictly"),
        ({"t_eval": [0.0, 3.1]}, "3.1, outside"),
        ({"t_eval": [-0.1]}, "-0.1, outside"),
        ({"t_eval": [[0.1]]}, "vector"),
        ({"t_eval": [0.0, np.nan]}, "finite"),
        ({"atol": [1e-8] * 3}, "2 entries"),
        ({"rtol": 0.0, "atol": 0.0}, "both zero"),
        ({"rtol": -1.0}, "negative"),
        ({"rtol": np.nan}, "negative"),
        ({"max_step": 0.0}, "max_step must be a positive number"),
        ({"first_step": -1.0}, "first_step must be a positive number"),
        ({"steps_per_call": 0}, "steps_per_call"),
        ({"span": (0.0, np.inf)}, "t_span must be a vector of finite numbers"),
    ],
)
def test_arguments_are_checked(changes, words):
    with pytest.raises(ValueError, match=words):
        swing("dopri5", **changes)


def test_other_arguments_are_checked():
    with pytest.raises(ValueError, match="there are dop853"):
        integrate("euler", problems.oscillator.address, [1.0, 0.0], (0, 1), [2.0])
    with pytest.raises(ValueError, match="x0 must be a vector of finite numbers"):
        integrate("dopri5", problems.oscillator.address, [1.0, np.nan], (0, 1), [2.0])
    with pytest.raises(ValueError, match="empty"):
        integrate("dopri5", problems.oscillator.address, [], (0, 1), [2.0])
    with pytest.raises(ValueError, match="address 0"):
        integrate("dopri5", 0, [1.0, 0.0], (0, 1), [2.0])
    with pytest.raises(ValueError, match="radau5 is implicit and needs the Jacobian"):
        integrate("radau5", problems.oscillator.address, [1.0, 0.0], (0, 1), [2.0])
    with pytest.raises(ValueError, match="cvodes is not a solver of integrate: SUNDIALS"):
        integrate("cvodes", problems.oscillator.address, [1.0, 0.0], (0, 1), [2.0])


def test_a_solver_takes_its_own_options_only():
    with pytest.raises(TypeError, match="step"):
        swing("dopri5", step=0.1)
    with pytest.raises(TypeError, match="step"):
        integrate("rk4", problems.oscillator.address, [1.0, 0.0], (0, 1), [2.0])
    with pytest.raises(TypeError, match="max_step"):
        swing("rk4", max_step=0.1)
    # the name alone means the defaults, and a fixed step has none
    with pytest.raises(ValueError, match="say its length"):
        module.integrate("rk4", Problem(problems.oscillator.address, [2.0]), [1.0, 0.0], (0, 1))


def test_arguments_are_left_alone():
    x0, w, times = np.array([1.0, 0.0]), np.array([2.0]), np.array([0.0, 1.0])
    integrate("dopri5", problems.oscillator.address, x0, (0, 1), w, t_eval=times)
    np.testing.assert_array_equal(x0, [1.0, 0.0])
    np.testing.assert_array_equal(times, [0.0, 1.0])


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_tells_its_source(name):
    solver = SOLVERS[name]
    assert solver.name == name and re.search(r"\((19|20)\d\d\)", solver.citation)


def test_listing_of_the_docs_runs():
    page = Path(__file__).parents[3] / "docs" / "theory" / "integrators.md"
    listing = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)[-1]
    exec(compile(listing, str(page), "exec"), {})
