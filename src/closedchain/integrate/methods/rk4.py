"""The classic Runge-Kutta method of order 4 with a fixed step.

Kutta (1901), Zeitschrift fuer Mathematik und Physik 46, 435-453. Its numbers: `tableaus.RK4`. Samples come
from the cubic Hermite polynomial of each step, whose error is of order 4 as well.

A step costs four evaluations and `fixed_step.CORRECTIONS` corrections, whatever the state.

There is no error estimate and the step is a promise: what an adaptive solver answers with a smaller step (a
derivative that is not finite, a correction that fails) ends the run here.
"""

import numba
import numpy as np

from closedchain.integrate.fixed_step import arrive, finite, leave, next_step
from closedchain.integrate.project import hermite_rows, wants_rows
from closedchain.integrate.step_control import ADVANCE, F1, F2
from closedchain.native.call import call
from closedchain.native.jit import jit

STAGES = 4

# rows of the workspace
F_NEW, Y, X_PLUS, ROWS = STAGES, STAGES + 1, STAGES + 2, STAGES + 3
DENSE_ROWS = 4
WORK_ROWS = ROWS + DENSE_ROWS


@jit(numba.void(numba.int64, F1, numba.float64, numba.float64, F1, F2, F1, F1))
def stages(rhs, w, t, h, x, k, y, clock):
    """One step: the stages `k[1:4]` and the end `y`; `k[0]` is given."""
    n = x.size

    clock[0] = t + 0.5 * h
    for i in range(n):
        y[i] = x[i] + 0.5 * h * k[0, i]
    call(rhs, clock, y, w, k[1])

    for i in range(n):
        y[i] = x[i] + 0.5 * h * k[1, i]
    call(rhs, clock, y, w, k[2])

    clock[0] = t + h
    for i in range(n):
        y[i] = x[i] + h * k[2, i]
    call(rhs, clock, y, w, k[3])

    for i in range(n):
        y[i] = x[i] + h / 6.0 * (k[0, i] + 2.0 * (k[1, i] + k[2, i]) + k[3, i])


@jit(ADVANCE)
def advance(rhs, correct, w, w_correct, atol, t_eval, samples, options, state, x, work, step_t, step_x, dense):
    """Advance by up to `attempts` steps; returns how many were made. See the essay in solvers.py."""
    o, s = options[0], state[0]
    k, f_new, y, x_plus, rows = work[:STAGES], work[F_NEW : F_NEW + 1], work[Y], work[X_PLUS], work[ROWS:]
    clock, residual = np.empty(1), np.zeros(4)
    done = 0
    while done < o.attempts and s.status == 0:
        h, t_new = next_step(o, s)
        if s.status != 0:
            break

        stages(rhs, w, s.t, h, x, k, y, clock)
        s.evaluations += STAGES - 1
        if not finite(k, o, s, w) or not arrive(
            rhs, correct, w, w_correct, o, s, t_new, y, f_new, x_plus, residual, clock
        ):
            break

        if wants_rows(t_eval, t_new, o, s):
            hermite_rows(x, y, k[0], f_new[0], h, rows)
        if not leave(
            correct, w_correct, t_eval, samples, o, s, h, t_new, x, k[0], y, f_new[0], rows, x_plus, residual, clock,
            done, step_t, step_x, dense,
        ):  # fmt: skip
            break
        done += 1
    return done
