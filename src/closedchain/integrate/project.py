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
    SINGULAR,
    OptionsRecord,
    StateRecord,
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
    x_plus, residual : (n,), (4,) workspace.

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
    clock, y, x_plus, residual = np.empty(1), x.copy(), np.empty(x.size), np.zeros(4)
    clock[0] = s.t
    pivot = s.pivot
    outcome = put_back(correct, clock, w_correct, y, o, s, x_plus, residual)
    if outcome == CHANGED and s.pivot > STEEP and distance(x, y, x, atol, 1.0, o, w) > NOTICED:
        copy(y, x)
    s.pivot = pivot


@jit(
    numba.boolean(
        numba.int64,
        numba.int64,
        F1,
        F1,
        F1,
        OptionsRecord,
        StateRecord,
        numba.float64,
        numba.float64,
        numba.float64,
        numba.float64,
        numba.boolean,
        F1,
        F1,
        F2,
        F1,
        F1,
        F1,
        F1,
    )
)
def arrive(
    rhs, correct, w, w_correct, atol, o, s, h, t_new, exponent, loosened, known,
    x, y, f, x_plus, before, residual, clock,
):  # fmt: skip
    """The end of a step: put back on the manifold, and the derivative there; False if the step is rejected or stops.

    The distance by which the correction moves the end is an error of the step that is known exactly, along the
    directions that leave the manifold. In units of the tolerance it is left in `s.moved`, and a step that it is too
    large for is rejected, as one whose estimate is too large.

    Parameters
    ----------
    rhs, correct, w, w_correct, atol : as for `ADVANCE`.
    o, s : the records of the run.
    h, t_new, exponent : signed length and end of the step; the exponent of its control.
    loosened : the tolerance of the solver's own estimate, in units of what is asked for.
    known : whether `f` is the derivative at the end before the correction.
    x, y, f : (n,), (n,), (1, n) start, end, and the derivative there; the end is changed.
    x_plus, before, residual, clock : (n,), (n,), (4,), (1,) workspace.
    """
    copy(y, before)
    clock[0] = t_new
    outcome = put_back(correct, clock, w_correct, y, o, s, x_plus, residual)
    if outcome == FAILED:
        reject_correction(s, h)
        return False
    if s.pivot < o.least_pivot:
        s.status = SINGULAR
        return False
    s.moved = 0.0
    if outcome == CHANGED and s.pivot > STEEP:
        s.moved = distance(x, y, before, atol, loosened, o, w)
        if s.moved > 1.0:
            reject(s, h, s.moved, exponent, f, o.team, w)
            return False
    if outcome == CHANGED or not known:
        call(rhs, clock, y, w, f[0])
        s.evaluations += 1
        if broken(o.team, w, f, s):
            reject(s, h, np.nan, exponent, f, o.team, w)
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


@jit(
    numba.boolean(numba.int64, F1, F1, F2, OptionsRecord, StateRecord, F2, F1, numba.float64, numba.float64, F1, F1, F1)
)
def take_samples(correct, w, t_eval, samples, o, s, rows, y, h, t_new, clock, x_plus, residual):
    """Fill the samples up to the end of a step; False (and no sample taken) if one could not be put back.

    Parameters
    ----------
    correct, w, t_eval, samples, o, s : as for `ADVANCE`.
    rows : (m, n) polynomial of the step, needed if a sample lies inside.
    y : (n,) the corrected end of the step.
    h, t_new : its length and its end.
    clock, x_plus, residual : (1,), (n,), (4,) workspace.
    """
    first, pivot = s.next_sample, s.pivot
    while s.next_sample < t_eval.size and (t_eval[s.next_sample] - t_new) * o.direction <= 0.0:
        sample = samples[s.next_sample]
        time = t_eval[s.next_sample]
        if time == t_new:
            copy(y, sample)
        else:
            interpolate(rows, (time - s.t) / h, sample)
            if o.correct_samples:
                clock[0] = time
                if put_back(correct, clock, w, sample, o, s, x_plus, residual) == FAILED:
                    s.next_sample = first
                    return False
                if s.pivot < HARMFUL and o.least_pivot > 0.0:
                    # at a singular pose a correction does more harm than good
                    interpolate(rows, (time - s.t) / h, sample)
        s.next_sample += 1
    s.pivot = pivot  # samples have no influence on the run
    s.full = o.more_samples != 0 and s.next_sample == t_eval.size
    return True


@jit(numba.void(numba.int64, F1, F1, F2, OptionsRecord[::1], StateRecord[::1], F2, F1))
def more_samples(correct, w, t_eval, samples, options, state, rows, x):
    """Samples of the last accepted step for which there was no room before; `x` is its end, `rows` its polynomial."""
    o, s = options[0], state[0]
    clock, x_plus, residual = np.empty(1), np.empty(x.size), np.zeros(4)
    t_new, s.t = s.t, s.t_before
    if not take_samples(correct, w, t_eval, samples, o, s, rows, x, s.h_before, t_new, clock, x_plus, residual):
        # the step has been accepted with others of its samples: these stay where the polynomial has them
        put_samples_back = o.correct_samples
        o.correct_samples = 0
        take_samples(correct, w, t_eval, samples, o, s, rows, x, s.h_before, t_new, clock, x_plus, residual)
        o.correct_samples = put_samples_back
    s.t = t_new
