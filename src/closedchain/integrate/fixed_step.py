"""What solvers with a fixed step share: times that are counted, and an end of a step that always costs the same.

In a loop with hardware in it a step must be done when the next sample is due. Here every step of a run makes the same
calls: none depends on how well the one before went. In particular the end of a step is put back on the manifold by
exactly `CORRECTIONS` Newton steps, where an adaptive solver iterates until a residual is small (`integrate.project`).
One Newton step squares the distance from the manifold, and makes the velocities tangent where it began; the second
makes them tangent where the first has ended, and tells how far that was off the manifold: unless the first has brought
it down to a share `CONTRACTS`, or to rounding, the run ends.

Nothing is tried again with a shorter step: what an adaptive solver answers in this way ends the run here. Samples
between two steps are put back as everywhere, by iteration; a loop in real time has none.

The theory is in ``docs/theory/fixed_step.md``.
"""

import numba
import numpy as np

from closedchain.integrate.project import FLOOR, take_samples
from closedchain.integrate.step_control import (
    CORRECTION_FAILED,
    F1,
    F2,
    NAN,
    SINGULAR,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
    EquationsType,
    KeptType,
    OptionsRecord,
    RunType,
    SamplesType,
    ScratchType,
    StateRecord,
    StepType,
    accept,
    broken,
    copy,
)
from closedchain.native.call import call
from closedchain.native.jit import jit

CORRECTIONS = 2  # Newton steps at the end of each step
# the share of the residual that the first may leave: those after it then leave less than the square of this share
CONTRACTS = 0.1


@jit(numba.types.UniTuple(numba.float64, 2)(OptionsRecord, StateRecord))
def next_step(o, s):
    """Signed length and end of the next step; with a status set when there must be none.

    Times are counted, not summed: they do not drift, and the last step ends at t1 without a crumb.
    """
    if s.steps >= o.max_steps:
        s.status = TOO_MANY_STEPS
        return 0.0, s.t
    made = s.steps - o.steps_before
    last = made + 1 >= o.fixed_steps
    t_new = o.t1 if last else o.t0 + o.direction * o.step * (made + 1)
    h = o.t1 - s.t if last else o.direction * o.step
    if t_new == s.t:
        s.status = STEP_TOO_SMALL
    return h, t_new


@jit(numba.boolean(numba.int64, F1, F1, F1, OptionsRecord, StateRecord, F1, F1))
def put_back(correct, clock, w, x, o, s, x_plus, residual):
    """Put a state back on the manifold, in place, by `CORRECTIONS` Newton steps; False if they do not lead there.

    Parameters
    ----------
    correct : address of the correction, 0 for none.
    clock : (1,) the time.
    w : parameters.
    x : (n,) the state; it is changed.
    o, s : the records of the run.
    x_plus, residual : (n,), (RESIDUAL,) workspace.
    """
    if correct == 0:
        return True
    before = np.inf
    converges = False
    for _ in range(CORRECTIONS):
        call(correct, clock, x, w, x_plus, residual)
        s.corrections += 1
        copy(x_plus, x)
        converges = residual[0] <= max(CONTRACTS * before, FLOOR * o.correct_tol)  # not so if it is not a number
        before = residual[0]
    s.pivot = residual[2]
    for i in range(x.size):
        converges = converges and np.isfinite(x[i])
    return converges


@jit(numba.boolean(F2, OptionsRecord, StateRecord, F1))
def finite(k, o, s, w):
    """Whether all derivatives are numbers; otherwise the status is set."""
    if broken(o.team, w, k, s):
        s.status = NAN
        return False
    return True


@jit(numba.boolean(EquationsType, RunType, StepType, ScratchType))
def arrive(e, run, step, scratch):
    """The end of a step: put back on the manifold, and the derivative there; False with a status set if that fails.

    Parameters
    ----------
    e, run : as for `ADVANCE`.
    step : the step; its end is changed, and gets its derivative.
    scratch : workspace.
    """
    o, s, clock = run.options[0], run.state[0], scratch.clock
    clock[0] = step.t_new
    if not put_back(e.correct, clock, e.w_correct, step.y, o, s, scratch.x_plus, scratch.residual):
        s.status = CORRECTION_FAILED
        return False
    if s.pivot < o.least_pivot:
        s.status = SINGULAR
        return False
    call(e.rhs, clock, step.y, e.w, step.f_new[0])
    s.evaluations += 1
    return finite(step.f_new, o, s, e.w)


@jit(numba.boolean(EquationsType, SamplesType, RunType, StepType, ScratchType, numba.int64, KeptType))
def leave(e, samples, run, step, scratch, done, kept):
    """Take the samples on the way, and move to the end of the step; False with a status set if a sample cannot be.

    Parameters
    ----------
    e, samples, run, kept : as for `ADVANCE`.
    step : the step, with its corrected end; its start becomes its end.
    scratch : workspace.
    done : the number of steps kept before.
    """
    o, s = run.options[0], run.state[0]
    if not take_samples(e, samples, run, step, scratch):
        s.status = CORRECTION_FAILED
        return False
    accept(o, s, step, done, kept)
    return True
