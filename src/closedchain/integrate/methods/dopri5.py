"""Dormand and Prince's pair of orders 5 and 4, with step control and dense output of order 4.

Dormand, Prince (1980), Journal of Computational and Applied Mathematics 6(1), 19-26; dense output and
control: Hairer, Norsett, Wanner (1993), II.5 and II.6. Its numbers: `tableaus.DOPRI5`.

The last stage is the derivative at the end of the step, hence the first of the next step (FSAL): six
evaluations a step. A correction that changes the end makes that stage stale, and it is evaluated again
there; the error estimate has been taken before and keeps the old one.
"""

import numba
import numpy as np

from closedchain.integrate.corner_steps import passes
from closedchain.integrate.methods.tableaus import DOPRI5
from closedchain.integrate.project import arrive, hermite_rows, take_samples, wants_rows
from closedchain.integrate.step_control import (
    ADVANCE,
    F1,
    F2,
    OptionsRecord,
    accept,
    end_time,
    next_step,
    propose,
    reject,
    reject_correction,
    scaled_norm,
)
from closedchain.native.call import call
from closedchain.native.jit import jit

A, C, E, D = DOPRI5.A, DOPRI5.c, DOPRI5.E[0], DOPRI5.D[0]

STAGES = 7
DENSE_ROWS = 5
WORK_ROWS = STAGES + 2 + DENSE_ROWS

# control: err ~ h^5
EXPONENT = 1 / 5
BETA = 0.04
SHRINK, GROW = 0.2, 10.0


@jit(numba.float64(numba.int64, F1, F1, OptionsRecord, numba.float64, numba.float64, F1, F2, F1, F1, F1))
def attempt(rhs, w, atol, o, t, h, x, k, y, e, clock):
    """One step: the stages `k[1:7]` and the end `y`, from `x` and `k[0]`.

    Parameters
    ----------
    rhs, w, atol, o : the problem, its tolerances and options.
    t, h : start and signed length.
    x : (n,) the start.
    k : (7, n) stages; row 0 is given.
    y, e, clock : (n,), (n,), (1,) the end; workspace.

    Returns
    -------
    The error in units of the tolerance.
    """
    n = x.size

    clock[0] = t + C[1] * h
    for i in range(n):
        y[i] = x[i] + h * (A[1, 0] * k[0, i])
    call(rhs, clock, y, w, k[1])

    clock[0] = t + C[2] * h
    for i in range(n):
        y[i] = x[i] + h * (A[2, 0] * k[0, i] + A[2, 1] * k[1, i])
    call(rhs, clock, y, w, k[2])

    clock[0] = t + C[3] * h
    for i in range(n):
        y[i] = x[i] + h * (A[3, 0] * k[0, i] + A[3, 1] * k[1, i] + A[3, 2] * k[2, i])
    call(rhs, clock, y, w, k[3])

    clock[0] = t + C[4] * h
    for i in range(n):
        y[i] = x[i] + h * (A[4, 0] * k[0, i] + A[4, 1] * k[1, i] + A[4, 2] * k[2, i] + A[4, 3] * k[3, i])
    call(rhs, clock, y, w, k[4])

    clock[0] = t + h
    for i in range(n):
        y[i] = x[i] + h * (
            A[5, 0] * k[0, i] + A[5, 1] * k[1, i] + A[5, 2] * k[2, i] + A[5, 3] * k[3, i] + A[5, 4] * k[4, i]
        )
    call(rhs, clock, y, w, k[5])

    for i in range(n):
        y[i] = x[i] + h * (
            A[6, 0] * k[0, i] + A[6, 2] * k[2, i] + A[6, 3] * k[3, i] + A[6, 4] * k[4, i] + A[6, 5] * k[5, i]
        )
    call(rhs, clock, y, w, k[6])

    for i in range(n):
        e[i] = h * (E[0] * k[0, i] + E[2] * k[2, i] + E[3] * k[3, i] + E[4] * k[4, i] + E[5] * k[5, i] + E[6] * k[6, i])
    return scaled_norm(e, x, y, atol, o.rtol, o.team, w)


@jit(ADVANCE)
def advance(rhs, correct, w, w_correct, atol, t_eval, samples, options, state, x, work, step_t, step_x, dense):
    """Make up to `attempts` attempts; returns the accepted steps. See the essay in solvers.py."""
    o, s = options[0], state[0]
    k, y, x_plus, rows = work[:STAGES], work[STAGES], work[STAGES + 1], work[STAGES + 2 :]
    clock, residual = np.empty(1), np.zeros(4)
    done = 0
    for _ in range(o.attempts):
        if s.status != 0:
            break
        h = next_step(o, s)
        if s.status != 0:
            break
        t_new = end_time(o, s, h)

        err = attempt(rhs, w, atol, o, s.t, h, x, k, y, x_plus, clock)
        s.evaluations += 6
        if not err <= 1.0:
            reject(s, h, err, EXPONENT, k, o.team, w)
            continue

        if not arrive(
            rhs, correct, w, w_correct, atol, o, s, h, t_new, EXPONENT, 1.0, True,
            x, y, k[6:], x_plus, rows[0], residual, clock,
        ):  # fmt: skip
            continue
        if o.corners != 0 and not passes(rhs, w, atol, o, s, h, x, y, k[0], k[6]):
            continue
        err = max(err, s.moved)

        # the samples on the way
        if wants_rows(t_eval, t_new, o, s):
            hermite_rows(x, y, k[0], k[6], h, rows)
            for i in range(x.size):
                rows[4, i] = h * (
                    D[0] * k[0, i] + D[2] * k[2, i] + D[3] * k[3, i] + D[4] * k[4, i] + D[5] * k[5, i] + D[6] * k[6, i]
                )
        if not take_samples(correct, w_correct, t_eval, samples, o, s, rows, y, h, t_new, clock, x_plus, residual):
            reject_correction(s, h)
            continue

        accept(o, s, h, t_new, x, k[0], y, k[6], rows, done, step_t, step_x, dense)
        propose(s, h, err, EXPONENT - 0.75 * BETA, BETA, SHRINK, GROW)
        done += 1
    return done
