"""The loop around a solver: samples in windows, new inputs, and runs that resume from a copy, all to the same bits."""

import numpy as np
import pytest

from closedchain.integrate.hooks import InputsError
from closedchain.integrate.solvers import SOLVERS
from closedchain.integrate.times import Equal
from closedchain.integrate.trajectory import Status
from tests.unit.integrate import problems
from tests.unit.integrate.flat import integrate

GENERAL = [name for name, solver in SOLVERS.items() if solver.general]
TIMES = np.linspace(0.0, 3.0, 701)


def swing(name, problem=problems.pendulum, x0=(0.0, -1.0, 1.5, 0.0), w=(9.81,), span=(0.0, 3.0), **options):
    """A pendulum in Cartesian coordinates, put back on its circle after every step."""
    solver = SOLVERS[name]
    settings = problems.step_options(solver, 0.02) | problems.jac(solver, problem)
    settings |= {"correct": problems.on_circle.address} if problem is problems.pendulum else {}
    return integrate(name, problem.address, x0, span, w, **(settings | options))


class Kept:
    """Takes samples over."""

    def __init__(self):
        self.t, self.x, self.calls = np.empty(0), None, 0

    def __call__(self, t, x):
        self.calls += 1
        self.t = np.concatenate([self.t, t])
        self.x = x.copy() if self.x is None else np.concatenate([self.x, x])

    def with_rest(self, run):
        self(run.t, run.x)
        return self


@pytest.mark.parametrize("name", GENERAL)
@pytest.mark.parametrize("window", [1, 7, 100, 10_000])
def test_samples_in_windows_are_the_same_to_the_bit(name, window):
    whole = swing(name, t_eval=TIMES)
    kept = Kept()
    run = swing(name, t_eval=TIMES, store=kept, window=window)
    kept.with_rest(run)
    np.testing.assert_array_equal(kept.t, TIMES)
    np.testing.assert_array_equal(kept.x, whole.x)
    assert run.counts.steps == whole.counts.steps and len(run.steps_t) == 0
    assert kept.calls >= 701 // window  # and nothing larger was ever held


def test_equal_times_need_not_be_an_array():
    whole, kept = swing("dop853", t_eval=TIMES), Kept()
    kept.with_rest(swing("dop853", t_eval=Equal(0.0, 3.0, 700), store=kept, window=64))
    np.testing.assert_allclose(kept.t, whole.t, rtol=0, atol=1e-15)
    np.testing.assert_allclose(kept.x, whole.x, atol=1e-13)


@pytest.mark.parametrize("name", GENERAL)
def test_a_copy_goes_on_with_the_same_bits(name):
    """Copies are taken after each call of the solver; a run from any of them ends as the first one does."""
    whole, copies = swing(name, t_eval=TIMES), []
    kept = Kept()

    def checkpoint(snapshot, final=False):
        copies.append((snapshot(), kept.t.copy(), kept.x.copy()))

    swing(name, t_eval=TIMES, store=kept, window=50, steps_per_call=9, checkpoint=checkpoint)
    assert len(copies) >= 2
    for saved, t, x in copies[:: max(1, len(copies) // 3)]:
        again = Kept()
        run = swing(name, t_eval=TIMES, store=again, window=33, steps_per_call=500, resume=saved)
        again.with_rest(run)
        np.testing.assert_array_equal(np.concatenate([t, again.t]), TIMES)
        np.testing.assert_array_equal(np.concatenate([x, again.x]), whole.x)
        assert run.counts == whole.counts


# ---- inputs ----------------------------------------------------------------------------------------------------------


class Kicks:
    """A rate that changes at given times: x' = w, exactly solvable."""

    def __init__(self, times, rates):
        self.times, self.rates, self.seen = times, rates, []

    def __call__(self, t, x):
        self.seen.append((t, x.copy()))
        k = int(np.searchsorted(self.times, t, side="right"))
        return (self.times[k] if k < len(self.times) else np.inf), {"w": np.array([self.rates[k]])}


@pytest.mark.parametrize("name", GENERAL)
def test_steps_end_where_something_changes(name):
    """A oscillator whose frequency changes twice: each piece is the exact solution of its own."""
    kicks = Kicks([0.4, 1.1], [2.0, 5.0, 0.5])
    free = {"rtol": 1e-11, "atol": 1e-11, "first_step": None, "max_step": np.inf, "newton": None}
    precise = free if SOLVERS[name].adaptive else {}
    run = swing(name, problems.oscillator, (1.0, 0.0), (2.0,), (0.0, 2.0), inputs=kicks, **precise)
    assert {0.4, 1.1, 2.0} <= set(run.steps_t.tolist())
    assert [t for t, _ in kicks.seen] == [0.0, 0.4, 1.1]
    x = np.array([1.0, 0.0])
    for w, length in zip((2.0, 5.0, 0.5), (0.4, 0.7, 0.9), strict=True):
        c, s = np.cos(w * length), np.sin(w * length)
        x = np.array([c * x[0] + s * x[1] / w, -w * s * x[0] + c * x[1]])
    # fixed steps of 0.02: their error is that of their order, (0.1)^p
    tolerance = 1e-8 if SOLVERS[name].adaptive else 3 * 0.1 ** SOLVERS[name].order
    np.testing.assert_allclose(run.x[-1], x, atol=tolerance)


def test_inputs_that_cannot_be_found_end_the_run():
    def inputs(t, x):
        if t > 0:
            raise InputsError("the thing is broken")
        return 1.0, None

    run = swing("dop853", inputs=inputs, t_eval=TIMES)
    assert run.status is Status.controller and run.failure.t == 1.0
    assert run.message.startswith("at t = 1.0 the thing is broken: ")
    assert run.t[-1] <= 1.0 and len(run.t) > 200


def test_a_fixed_step_that_does_not_fit_is_shortened_before_a_change():
    kicks = Kicks([0.05], [2.0, 2.0])
    run = swing("rk4", problems.oscillator, (1.0, 0.0), (2.0,), (0.0, 0.1), inputs=kicks, step=0.02)
    np.testing.assert_allclose(run.steps_t, [0.02, 0.04, 0.05, 0.07, 0.09, 0.1], atol=1e-15)


# ---- looks -----------------------------------------------------------------------------------------------------------


def test_a_look_may_end_a_run():
    looks = []

    def handover(t, x, h):
        looks.append(t)
        return Status.calm if t > 1.0 else None

    run = swing("dop853", handover=handover, handover_every=5)
    assert run.status is Status.calm and run.failure.t == looks[-1] > 1.0 > looks[-2]
    assert run.next_step > 0


def test_stiffness_is_noticed_and_only_where_it_is():
    stiff = integrate("dop853", problems.relaxing.address, [2.0], (0.0, 10.0), [1e5], detects_stiffness=True)
    assert stiff.status is Status.stiff and stiff.counts.steps < 200
    calm = integrate("dop853", problems.relaxing.address, [2.0], (0.0, 10.0), [2.0], detects_stiffness=True)
    assert calm.success
    # nobody asked
    slow = integrate("dop853", problems.relaxing.address, [2.0], (0.0, 0.1), [1e5])
    assert slow.success
