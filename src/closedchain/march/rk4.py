"""The classic Runge-Kutta method of order 4 with a fixed step.

Kutta (1901), Zeitschrift fuer Mathematik und Physik 46, 435-453. Its numbers: `tableaus.RK4`. Samples come
from the cubic Hermite polynomial of each step, whose error is of order 4 as well.

There is no error estimate and the step is a promise: what an adaptive solver answers with a smaller step (a
derivative that is not finite, a correction that fails) ends the run here.
"""

import numba
import numpy as np

from closedchain.march.jit import jit
from closedchain.march.project import FAILED, hermite_rows, put_back, take_samples, wants_rows
from closedchain.march.step_control import (
    ADVANCE,
    CORRECTION_FAILED,
    NAN,
    SINGULAR,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
    accept,
    first_nonfinite,
)
from closedchain.native.call import call4

STAGES = 4
WORK_ROWS = STAGES + 3 + 4
DENSE_ROWS = 4


@jit(
    numba.void(
        numba.int64,
        numba.float64[::1],
        numba.float64,
        numba.float64,
        numba.float64[::1],
        numba.float64[:, ::1],
        numba.float64[::1],
        numba.float64[::1],
    )
)
def stages(rhs, w, t, h, x, k, y, clock):
    """One step: the stages `k[1:4]` and the end `y`; `k[0]` is given."""
    n = x.size

    clock[0] = t + 0.5 * h
    for i in range(n):
        y[i] = x[i] + 0.5 * h * k[0, i]
    call4(rhs, clock, y, w, k[1])

    for i in range(n):
        y[i] = x[i] + 0.5 * h * k[1, i]
    call4(rhs, clock, y, w, k[2])

    clock[0] = t + h
    for i in range(n):
        y[i] = x[i] + h * k[2, i]
    call4(rhs, clock, y, w, k[3])

    for i in range(n):
        y[i] = x[i] + h / 6.0 * (k[0, i] + 2.0 * (k[1, i] + k[2, i]) + k[3, i])


@jit(ADVANCE)
def advance(rhs, correct, w, w_correct, atol, t_eval, samples, options, state, x, work, step_t, step_x, dense):
    """Advance by up to `attempts` steps; returns how many were made. See the essay in solvers.py."""
    o, s = options[0], state[0]
    k, y, x_plus, rows = work[:STAGES], work[STAGES + 1], work[STAGES + 2], work[STAGES + 3 :]
    clock, residual = np.empty(1), np.ones(3)
    done = 0
    while done < o.attempts and s.status == 0:
        if s.steps >= o.max_steps:
            s.status = TOO_MANY_STEPS
            break

        # times are counted, not summed: the last step ends at t1 without a crumb
        made = s.steps - o.steps_before
        last = made + 1 >= o.fixed_steps
        t_new = o.t1 if last else o.t0 + o.direction * o.step * (made + 1)
        h = o.t1 - s.t if last else o.direction * o.step
        if t_new == s.t:
            s.status = STEP_TOO_SMALL
            break

        stages(rhs, w, s.t, h, x, k, y, clock)
        s.evaluations += 3

        s.bad_index = first_nonfinite(k)
        if s.bad_index >= 0:
            s.status = NAN
            break

        # the end, its derivative, and the samples on the way
        clock[0] = t_new
        if put_back(correct, clock, w_correct, y, o, s, x_plus, residual) == FAILED:
            s.status = CORRECTION_FAILED
            break
        if s.pivot < o.least_pivot:
            s.status = SINGULAR
            break
        f_new = work[STAGES]
        clock[0] = t_new
        call4(rhs, clock, y, w, f_new)
        s.evaluations += 1
        s.bad_index = first_nonfinite(work[STAGES : STAGES + 1])
        if s.bad_index >= 0:
            s.status = NAN
            break
        if wants_rows(t_eval, t_new, o, s):
            hermite_rows(x, y, k[0], f_new, h, rows)
        if not take_samples(correct, w_correct, t_eval, samples, o, s, rows, y, h, t_new, clock, x_plus, residual):
            s.status = CORRECTION_FAILED
            break

        accept(o, s, h, t_new, x, k[0], y, f_new, rows, done, step_t, step_x, dense)
        done += 1
    return done
