"""States that leave the integrator are put back on the manifold of the constraints; samples are taken.

Let `x_1` be the end of a step and `P` the correction: Newton steps back to positions that close the loops,
velocities that keep them closed, quaternions of length one. Then (Hairer, Lubich, Wanner 2006, Geometric
Numerical Integration, 2nd ed., IV.4):

- the true solution through the start of the step lies on the manifold, at a distance of the local error from
  `x_1`;
- the correction moves `x_1` by about its distance from the manifold, which is therefore at most of the size
  of that local error;
- so the order is kept, and the estimate of the *uncorrected* step remains the right measure for the step
  size. An estimate taken after the correction would compare two formulas on different terms: the embedded
  one is never corrected.

The correction is a native function `correct(t, x, w, x_plus, residual)` that makes one Newton step;
`residual` holds the largest position and velocity residual at `x`, before the step, and the smallest relative pivot
of the constraints, which falls to zero at a singular configuration. When the position
residual is already small, the velocity part of that same call has been made with the right positions, so it
is complete.
"""

import numba
import numpy as np

from closedchain.march.jit import jit
from closedchain.march.step_control import OptionsRecord, StateRecord, copy
from closedchain.native.call import call5

MAX_ITERATIONS = 8
# Newton that no longer contracts has reached the rounding floor if it is within this many tolerances
FLOOR = 1e3
# near a singular pose a small residual may still mean a large step: velocities then need the position after it
STEEP = 1e-2
HARMFUL = 1e-8  # pivot below which a sample is better left where the polynomial has it

FAILED, UNCHANGED, CHANGED = range(3)


@jit(
    numba.int64(
        numba.int64,
        numba.float64[::1],
        numba.float64[::1],
        numba.float64[::1],
        OptionsRecord,
        StateRecord,
        numba.float64[::1],
        numba.float64[::1],
    )
)
def put_back(correct, clock, w, x, o, s, x_plus, residual):
    """Put a state back on the manifold, in place.

    Parameters
    ----------
    correct : address of the correction, 0 for none.
    clock : (1,) the time.
    w : parameters.
    x : (n,) the state; it is changed.
    o, s : the records of the run.
    x_plus, residual : (n,), (3,) workspace.

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
        call5(correct, clock, x, w, x_plus, residual)
        s.corrections += 1
        s.pivot = residual[2]
        for i in range(x.size):
            if not np.isfinite(x_plus[i]):
                return FAILED
            if x_plus[i] != x[i]:
                outcome = CHANGED
                x[i] = x_plus[i]

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


@jit(numba.void(numba.float64[:, ::1], numba.float64, numba.float64[::1]))
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


@jit(
    numba.void(
        numba.float64[::1],
        numba.float64[::1],
        numba.float64[::1],
        numba.float64[::1],
        numba.float64,
        numba.float64[:, ::1],
    )
)
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


@jit(numba.boolean(numba.float64[::1], numba.float64, OptionsRecord, StateRecord))
def wants_rows(t_eval, t_new, o, s):
    """Whether the polynomial of the step to `t_new` is needed: it is kept, or a sample lies inside."""
    if o.keep_dense:
        return True
    return s.next_sample < t_eval.size and (t_eval[s.next_sample] - t_new) * o.direction < 0.0


@jit(
    numba.boolean(
        numba.int64,
        numba.float64[::1],
        numba.float64[::1],
        numba.float64[:, ::1],
        OptionsRecord,
        StateRecord,
        numba.float64[:, ::1],
        numba.float64[::1],
        numba.float64,
        numba.float64,
        numba.float64[::1],
        numba.float64[::1],
        numba.float64[::1],
    )
)
def take_samples(correct, w, t_eval, samples, o, s, rows, y, h, t_new, clock, x_plus, residual):
    """Fill the samples up to the end of a step; False (and no sample taken) if one could not be put back.

    Parameters
    ----------
    correct, w, t_eval, samples, o, s : as for `ADVANCE`.
    rows : (m, n) polynomial of the step, needed if a sample lies inside.
    y : (n,) the corrected end of the step.
    h, t_new : its length and its end.
    clock, x_plus, residual : (1,), (n,), (3,) workspace.
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
    return True
