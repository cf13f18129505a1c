"""States that leave the integrator are put back on the manifold of the constraints; samples are taken.

Let `x_1` be the end of a step and `P` the correction: Newton steps back to positions that close the loops,
velocities that keep them closed, quaternions of length one. Then (Hairer, Lubich, Wanner 2006, Geometric
Numerical Integration, 2nd ed., IV.4):

- the true solution through the start of the step lies on the manifold, at a distance of the local error from
  `x_1`;
- the correction moves `x_1` by about its distance from the manifold, which is therefore at most of the size
  of that local error;
- so the order is kept, and the estimate of the *uncorrected* step remains a right measure for the step
  size. An estimate taken after the correction would compare two formulas on different terms: the embedded
  one is never corrected;
- the distance that the correction moves `x_1` is an error as well, and known: the larger of both counts (`arrive`).

All this takes for granted that the start lies on the manifold: `settle` sees to it where a march begins.

The correction is a native function `correct(t, x, w, x_plus, residual)` that makes one Newton step;
`residual` holds the largest position and velocity residual at `x`, before the step, and the smallest relative pivot
of the constraints, which falls to zero at a singular configuration; its fourth entry is set where another member of a
team has changed its part of the state. When the position
residual is already small, the velocity part of that same call has been made with the right positions, so it
is complete.
"""

import numba
import numpy as np

from closedchain.integrate.step_control import (
    F1,
    F2,
    RESIDUAL,
    SINGULAR,
    EquationsType,
    OptionsRecord,
    RunType,
    SamplesType,
    Scratch,
    ScratchType,
    StateRecord,
    Step,
    StepType,
    broken,
    copy,
    reject,
    reject_correction,
    together,
)
from closedchain.native.call import call
from closedchain.native.jit import jit

MAX_ITERATIONS = 8
# Newton that no longer contracts has reached the rounding floor if it is within this many tolerances
FLOOR = 1e3
# near a singular pose a small residual may still mean a large step: velocities then need the position after it
STEEP = 1e-2
HARMFUL = 1e-8  # pivot below which a sample is better left where the polynomial has it

# a correction of so much of the largest entry is rounding, and says nothing of the step
ROUNDING = 1e-13

# tolerances that a start may be off the manifold: far less than what rejects a step
NOTICED = 1e-3

FAILED, UNCHANGED, CHANGED = range(3)


@jit(numba.int64(numba.int64, F1, F1, F1, OptionsRecord, StateRecord, F1, F1))
def put_back(correct, clock, w, x, o, s, x_plus, residual):
    """Put a state back on the manifold, in place.

    Parameters
    ----------
    correct : address of the correction, 0 for none.
    clock : (1,) the time.
    w : parameters.
    x : (n,) the state; it is changed.
    o, s : the records of the run.
    x_plus, residual : (n,), (RESIDUAL,) workspace.

    Returns
    -------
    FAILED, UNCHANGED (to the last bit) or CHANGED.
    """
    if correct == 0:
        return UNCHANGED
    outcome = UNCHANGED
    settled = False
    before = np.inf
    for _ in range(MAX_ITERATIONS):
        call(correct, clock, x, w, x_plus, residual)
        s.corrections += 1
        s.pivot = residual[2]
        for i in range(x.size):
            if not np.isfinite(x_plus[i]):
                return FAILED
            if x_plus[i] != x[i]:
                outcome = CHANGED
                x[i] = x_plus[i]
        if residual[3] != 0.0:
            outcome = CHANGED

        r = residual[0]
        if r <= o.correct_tol:
            if settled or not 0.0 < residual[2] < STEEP:
                return outcome
            settled = True
        if not r < before:
            # also when r is not a number
            return outcome if r <= FLOOR * o.correct_tol else FAILED
        before = r
    return outcome if before <= FLOOR * o.correct_tol else FAILED


@jit(numba.float64(F1, F1, F1, F1, numba.float64, OptionsRecord, F1))
def distance(x, y, before, atol, loosened, o, w):
    """How far a correction has moved a state from `before` to `y`, in units of the tolerance; rounding does not count.

    Parameters
    ----------
    x : (n,) the start of the step; sizes are the larger ones of both its ends.
    y, before : (n,) the state, with the correction and without.
    atol, o, w : as for `ADVANCE`.
    loosened : the tolerance, in units of what is asked for.
    """
    # rounding is a share of the largest entry that is corrected (the work never is); entries compare by their sizes,
    # which the absolute tolerances know
    largest = 1.0
    for i in range(y.size):
        if atol[i] > 0.0 and y[i] != before[i]:
            largest = max(largest, o.rtol * abs(y[i]) / atol[i])
    largest = together(o.team, w, 0.0, 0.0, 0.0, largest)[3]
    total = 0.0
    for i in range(y.size):
        size = max(abs(x[i]), abs(y[i]))
        floor = ROUNDING * largest * atol[i] / o.rtol if o.rtol > 0.0 else 0.0
        total += ((y[i] - before[i]) / (loosened * (atol[i] + o.rtol * size) + floor)) ** 2
    total, n, _, _ = together(o.team, w, total, float(y.size), 0.0, 0.0)
    return np.sqrt(total / n)


@jit(numba.void(numba.int64, F1, F1, F1, OptionsRecord[::1], StateRecord[::1], F1))
def settle(correct, w, w_correct, atol, options, state, x):
    """Put the start of a march on the manifold, in place.

    A start that is off, by whatever the piece of the run before has left, costs the first step its correction, whatever
    the length of that step. Unless it is put back before, a distance of more than the tolerance rejects every step. A
    start that is off by next to nothing stays as it is, to the last bit; so does one near a singular pose, where
    corrections do not count.

    Parameters
    ----------
    correct, w, w_correct, atol, options, state : as for `ADVANCE`.
    x : (n,) the start; it is changed.
    """
    o, s = options[0], state[0]
    if correct == 0:
        return
    clock, y, x_plus, residual = np.empty(1), x.copy(), np.empty(x.size), np.zeros(RESIDUAL)
    clock[0] = s.t
    pivot = s.pivot
    outcome = put_back(correct, clock, w_correct, y, o, s, x_plus, residual)
    if outcome == CHANGED and s.pivot > STEEP and distance(x, y, x, atol, 1.0, o, w) > NOTICED:
        copy(y, x)
    s.pivot = pivot


@jit(
    numba.boolean(
        EquationsType, RunType, StepType, ScratchType, numba.float64, numba.float64, numba.boolean, numba.boolean
    )
)
def arrive(e, run, step, scratch, exponent, loosened, known, corrected):
    """The end of a step: put back on the manifold, and the derivative there; False if the step is rejected or stops.

    The distance by which the correction moves the end is an error of the step that is known exactly, along the
    directions that leave the manifold. In units of the tolerance it is left in `s.moved`, and a step that it is too
    large for is rejected, as one whose estimate is too large.

    Parameters
    ----------
    e, run : as for `ADVANCE`.
    step : the step; its end is changed, and gets its derivative.
    scratch : workspace.
    exponent : of the step control.
    loosened : the tolerance of the solver's own estimate, in units of what is asked for.
    known : whether `step.f_new` is the derivative at the end before the correction.
    corrected : whether the end is put back at all.
    """
    o, s = run.options[0], run.state[0]
    copy(step.y, scratch.before)
    scratch.clock[0] = step.t_new
    correct = e.correct if corrected else 0
    outcome = put_back(correct, scratch.clock, e.w_correct, step.y, o, s, scratch.x_plus, scratch.residual)
    if outcome == FAILED:
        reject_correction(s, step.h)
        return False
    if s.pivot < o.least_pivot:
        s.status = SINGULAR
        return False
    s.moved = 0.0
    if outcome == CHANGED and s.pivot > STEEP:
        s.moved = distance(step.x, step.y, scratch.before, e.atol, loosened, o, e.w)
        if s.moved > 1.0:
            reject(s, step.h, s.moved, exponent, step.f_new, o.team, e.w)
            return False
    if outcome == CHANGED or not known:
        call(e.rhs, scratch.clock, step.y, e.w, step.f_new[0])
        s.evaluations += 1
        if broken(o.team, e.w, step.f_new, s):
            reject(s, step.h, np.nan, exponent, step.f_new, o.team, e.w)
            return False
    return True


@jit(numba.void(F2, numba.float64, F1))
def interpolate(rows, theta, x):
    """Evaluate the nested polynomial of tableaus.py.

    Parameters
    ----------
    rows : (m, n) its rows.
    theta : where, 0 at the start and 1 at the end of the step.
    x : (n,) receives the value.
    """
    last = rows.shape[0] - 1
    for i in range(x.size):
        x[i] = rows[last, i]
    for r in range(last - 1, -1, -1):
        factor = theta if r % 2 == 0 else 1.0 - theta
        for i in range(x.size):
            x[i] = rows[r, i] + factor * x[i]


@jit(numba.void(F1, F1, F1, F1, numba.float64, F2))
def hermite_rows(x, y, fx, fy, h, rows):
    """The first four rows of a step's polynomial: values and derivatives at both ends.

    With the *corrected* end `y` and the derivative there, the polynomials of neighbouring steps join.
    """
    for i in range(x.size):
        difference = y[i] - x[i]
        rows[0, i] = x[i]
        rows[1, i] = difference
        rows[2, i] = h * fx[i] - difference
        rows[3, i] = difference - h * fy[i] - rows[2, i]


@jit(numba.boolean(F1, numba.float64, OptionsRecord, StateRecord))
def wants_rows(t_eval, t_new, o, s):
    """Whether the polynomial of the step to `t_new` is needed: it is kept, or a sample lies inside."""
    if o.keep_dense:
        return True
    return s.next_sample < t_eval.size and (t_eval[s.next_sample] - t_new) * o.direction < 0.0


@jit(numba.boolean(EquationsType, SamplesType, RunType, StepType, ScratchType))
def take_samples(e, samples, run, step, scratch):
    """Fill the samples up to the end of a step; False (and no sample taken) if one could not be put back.

    Parameters
    ----------
    e, samples, run : as for `ADVANCE`.
    step : the step, with its corrected end, and with its polynomial if a sample lies inside.
    scratch : workspace.
    """
    o, s = run.options[0], run.state[0]
    t_eval, h, t_new, clock = samples.t_eval, step.h, step.t_new, scratch.clock
    first, pivot = s.next_sample, s.pivot
    while s.next_sample < t_eval.size and (t_eval[s.next_sample] - t_new) * o.direction <= 0.0:
        sample = samples.x[s.next_sample]
        time = t_eval[s.next_sample]
        if time == t_new:
            copy(step.y, sample)
        else:
            interpolate(step.rows, (time - s.t) / h, sample)
            if o.correct_samples:
                clock[0] = time
                if put_back(e.correct, clock, e.w_correct, sample, o, s, scratch.x_plus, scratch.residual) == FAILED:
                    s.next_sample = first
                    return False
                if s.pivot < HARMFUL and o.least_pivot > 0.0:
                    # at a singular pose a correction does more harm than good
                    interpolate(step.rows, (time - s.t) / h, sample)
        s.next_sample += 1
    s.pivot = pivot  # samples have no influence on the run
    s.full = o.more_samples != 0 and s.next_sample == t_eval.size
    return True


@jit(numba.void(EquationsType, SamplesType, RunType, F2))
def more_samples(e, samples, run, rows):
    """Samples of the last accepted step for which there was no room before; `rows` is its polynomial."""
    o, s, x = run.options[0], run.state[0], run.x
    scratch = Scratch(np.empty(1), np.empty(x.size), np.zeros(RESIDUAL), x)
    t_new, s.t = s.t, s.t_before
    step = Step(s.h_before, t_new, x, x, x, rows[:1], rows)
    if not take_samples(e, samples, run, step, scratch):
        # the step has been accepted with others of its samples: these stay where the polynomial has them
        put_samples_back = o.correct_samples
        o.correct_samples = 0
        take_samples(e, samples, run, step, scratch)
        o.correct_samples = put_samples_back
    s.t = t_new
