"""The stepper of finite elements in the loop of all runs: checkpoints, Ctrl-C, inputs that cannot be found."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.erls import ERLS
from closedchain.erls.steps.hooks import ErlsHooks
from closedchain.erls.steps.integrate import integrate
from closedchain.erls.steps.stepper import ErlsStepper
from closedchain.erls.system import system
from closedchain.integrate.loop import Loop
from closedchain.integrate.problem import Samples
from closedchain.integrate.solvers import SOLVERS
from closedchain.integrate.trajectory import Status

UNTIL = 0.06


@pytest.fixture(scope="module")
def pushed():
    """An arm whose torque is switched on and off: inputs change at two times."""
    m = cc.library.flexible_arm(3.0 * cc.math.where((cc.t >= 0.0123) & (cc.t < 0.0456), 1.0, 0.0))
    return system(m, m.assemble(), ERLS(elements=2))


class Saved(ErlsHooks):
    """Keeps the snapshots of a run."""

    def __init__(self, made):
        super().__init__(made, UNTIL, np.inf, None, None)
        self.kept = []

    def checkpoint(self, snapshot, final=False):
        self.kept.append(snapshot())


def marched(made, stepping, hooks, resume=None):
    stepper = ErlsStepper(made, UNTIL, 1e-8, stepping)
    times = np.array([UNTIL])
    return stepper, Loop(stepper, (0.0, UNTIL), Samples(times), times, hooks, False).run(resume)


@pytest.mark.parametrize("solver", ["esdirk4", "generalised-alpha"])
def test_a_resumed_run_has_the_same_bits(pushed, solver):
    """Derivatives and factors that later steps use again are in the checkpoint."""
    stepping, hooks = SOLVERS[solver](), Saved(pushed)
    whole, trajectory = marched(pushed, stepping, hooks)
    assert trajectory.status is Status.finished and len(hooks.kept) > 2
    for snapshot in (hooks.kept[0], hooks.kept[-1]):
        again = Saved(pushed)
        t = float(snapshot["state"]["t"][0])
        again.inputs(t, whole.x)  # those that hold are given again
        stepper, resumed = marched_from(pushed, stepping, again, snapshot, t)
        np.testing.assert_array_equal(resumed.x, trajectory.x)
        assert resumed.counts == trajectory.counts
        assert stepper.work == whole.work


def marched_from(made, stepping, hooks, snapshot, t):
    stepper = ErlsStepper(made, UNTIL, 1e-8, stepping)
    _, inputs = hooks.inputs(t, stepper.x)
    for name, w in inputs.items():
        getattr(stepper.ws.room, name).w[:] = w
    times = np.array([UNTIL])
    return stepper, Loop(stepper, (0.0, UNTIL), Samples(times), times, hooks, False).run(snapshot)


def test_the_first_step_is_the_user_s(pushed):
    """Also where inputs change at some times, and hold from the beginning."""
    motion = integrate(pushed, UNTIL, np.array([UNTIL]), atol=1e-5, solver=SOLVERS["esdirk4"](first_step=2e-3))
    free = integrate(pushed, UNTIL, np.array([UNTIL]), atol=1e-5)
    assert motion.steps_t[0] == 2e-3 > free.steps_t[0]


def test_ends_of_steps_are_kept(pushed):
    motion = integrate(pushed, UNTIL, np.array([UNTIL]), atol=1e-8)
    assert len(motion.steps_t) == motion.counts.steps and motion.steps_t[-1] == UNTIL
    assert (np.diff(motion.steps_t) > 0).all()
    assert {0.0123, 0.0456} <= set(motion.steps_t.round(12).tolist())  # steps end where inputs change


def test_ctrl_c_keeps_what_there_is(pushed):
    def stop(t, steps):
        if t > 0.02:
            raise KeyboardInterrupt

    motion = integrate(pushed, UNTIL, np.linspace(0, UNTIL, 61), atol=1e-8, progress=stop)
    assert motion.status is Status.interrupted and motion.failure is not None
    assert 0.02 < motion.t_end < UNTIL and motion.t[-1] <= motion.t_end < motion.t[-1] + 0.0011
    assert len(motion.failure.x) == len(motion.tree[-1])


def test_inputs_that_cannot_be_found_end_the_run():
    m = cc.library.flexible_arm(cc.math.where(cc.math.floor(cc.t * 1e12) > 5, 1.0, 0.0))
    made = system(m, m.assemble(), ERLS(elements=1))
    motion = integrate(made, UNTIL, np.array([0.0, UNTIL]), atol=1e-8)
    assert motion.status is Status.controller and "jumps" in motion.message
