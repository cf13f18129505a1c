"""The method of order 8 with estimates of orders 5 and 3 (DOP853), step control and dense output of order 7.

Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, 2nd ed., II.5, II.6 and II.10,
after Dormand and Prince. Its numbers: `tableaus.DOP853`.

Eleven evaluations an attempt, and one at the end of an accepted step, which is the first of the next: a
correction of the end costs no further evaluation. The polynomial of a step takes three more, made only if a
sample lies inside the step or the polynomials are kept.
"""

import numba
import numpy as np

from closedchain.integrate.corner_steps import passes
from closedchain.integrate.methods.tableaus import DOP853
from closedchain.integrate.project import arrive, hermite_rows, take_samples, wants_rows
from closedchain.integrate.step_control import (
    ADVANCE,
    F1,
    F2,
    RESIDUAL,
    STIFF,
    EquationsType,
    OptionsRecord,
    Scratch,
    ScratchType,
    StateRecord,
    Step,
    StepType,
    accept,
    broken,
    end_time,
    next_step,
    propose,
    reject,
    reject_correction,
    together,
    unowned_views,
)
from closedchain.native.call import call
from closedchain.native.jit import jit

A, C, E, D = DOP853.A, DOP853.c, DOP853.E, DOP853.D

STAGES = 16
DENSE_ROWS = 8
WORK_ROWS = STAGES + 2 + DENSE_ROWS

# control: err ~ h^8
EXPONENT = 1 / 8
BETA = 0.0
SHRINK, GROW = 0.333, 6.0
# on the negative real axis the method is stable up to |h lambda| = 6.1; equations are stiff that hold it there
BORDER = 6.1
STIFF_STEPS, CALM_STEPS = 15, 6


# fmt: off
@jit(numba.float64(EquationsType, OptionsRecord, numba.float64, StepType, F2, F1))
def attempt(e, o, t, step, k, clock):
    """One step: the stages `k[1:12]` and the end `y`, from `x` and `k[0]`.

    Parameters
    ----------
    e, o : the equations, and the options of the run.
    t, step : time of the start; the step, whose end is filled.
    k : (16, n) stages; row 0 is given.
    clock : (1,) workspace.

    Returns
    -------
    The error in units of the tolerance: `h e5^2 / sqrt(e5^2 + 0.01 e3^2)`, which behaves like `h^8`.
    """
    rhs, w, atol, h, x, y = e.rhs, e.w, e.atol, step.h, step.x, step.y
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
        y[i] = x[i] + h * (A[3, 0] * k[0, i] + A[3, 2] * k[2, i])
    call(rhs, clock, y, w, k[3])

    clock[0] = t + C[4] * h
    for i in range(n):
        y[i] = x[i] + h * (A[4, 0] * k[0, i] + A[4, 2] * k[2, i] + A[4, 3] * k[3, i])
    call(rhs, clock, y, w, k[4])

    clock[0] = t + C[5] * h
    for i in range(n):
        y[i] = x[i] + h * (A[5, 0] * k[0, i] + A[5, 3] * k[3, i] + A[5, 4] * k[4, i])
    call(rhs, clock, y, w, k[5])

    clock[0] = t + C[6] * h
    for i in range(n):
        y[i] = x[i] + h * (A[6, 0] * k[0, i] + A[6, 3] * k[3, i] + A[6, 4] * k[4, i] + A[6, 5] * k[5, i])
    call(rhs, clock, y, w, k[6])

    clock[0] = t + C[7] * h
    for i in range(n):
        y[i] = x[i] + h * (
            A[7, 0] * k[0, i] + A[7, 3] * k[3, i] + A[7, 4] * k[4, i] + A[7, 5] * k[5, i]
            + A[7, 6] * k[6, i]
        )
    call(rhs, clock, y, w, k[7])

    clock[0] = t + C[8] * h
    for i in range(n):
        y[i] = x[i] + h * (
            A[8, 0] * k[0, i] + A[8, 3] * k[3, i] + A[8, 4] * k[4, i] + A[8, 5] * k[5, i]
            + A[8, 6] * k[6, i] + A[8, 7] * k[7, i]
        )
    call(rhs, clock, y, w, k[8])

    clock[0] = t + C[9] * h
    for i in range(n):
        y[i] = x[i] + h * (
            A[9, 0] * k[0, i] + A[9, 3] * k[3, i] + A[9, 4] * k[4, i] + A[9, 5] * k[5, i]
            + A[9, 6] * k[6, i] + A[9, 7] * k[7, i] + A[9, 8] * k[8, i]
        )
    call(rhs, clock, y, w, k[9])

    clock[0] = t + C[10] * h
    for i in range(n):
        y[i] = x[i] + h * (
            A[10, 0] * k[0, i] + A[10, 3] * k[3, i] + A[10, 4] * k[4, i] + A[10, 5] * k[5, i]
            + A[10, 6] * k[6, i] + A[10, 7] * k[7, i] + A[10, 8] * k[8, i] + A[10, 9] * k[9, i]
        )
    call(rhs, clock, y, w, k[10])

    clock[0] = t + h
    for i in range(n):
        y[i] = x[i] + h * (
            A[11, 0] * k[0, i] + A[11, 3] * k[3, i] + A[11, 4] * k[4, i] + A[11, 5] * k[5, i]
            + A[11, 6] * k[6, i] + A[11, 7] * k[7, i] + A[11, 8] * k[8, i] + A[11, 9] * k[9, i]
            + A[11, 10] * k[10, i]
        )
    call(rhs, clock, y, w, k[11])

    for i in range(n):
        y[i] = x[i] + h * (
            A[12, 0] * k[0, i] + A[12, 5] * k[5, i] + A[12, 6] * k[6, i] + A[12, 7] * k[7, i]
            + A[12, 8] * k[8, i] + A[12, 9] * k[9, i] + A[12, 10] * k[10, i] + A[12, 11] * k[11, i]
        )

    square5 = square3 = 0.0
    for i in range(n):
        scale = atol[i] + o.rtol * max(abs(x[i]), abs(y[i]))
        e5 = (
            E[0, 0] * k[0, i] + E[0, 5] * k[5, i] + E[0, 6] * k[6, i] + E[0, 7] * k[7, i]
            + E[0, 8] * k[8, i] + E[0, 9] * k[9, i] + E[0, 10] * k[10, i] + E[0, 11] * k[11, i]
        )
        e3 = (
            E[1, 0] * k[0, i] + E[1, 5] * k[5, i] + E[1, 6] * k[6, i] + E[1, 7] * k[7, i]
            + E[1, 8] * k[8, i] + E[1, 9] * k[9, i] + E[1, 10] * k[10, i] + E[1, 11] * k[11, i]
        )
        square5 += (e5 / scale) ** 2
        square3 += (e3 / scale) ** 2
    square5, square3, number, _ = together(o.team, w, square5, square3, float(n), 0.0)
    if square5 == 0.0:
        return 0.0
    return abs(h) * square5 / np.sqrt(number * (square5 + 0.01 * square3))


@jit(numba.void(EquationsType, numba.float64, StepType, F2, ScratchType))
def polynomial(e, t, step, k, scratch):
    """The rows (8, n) of the step's polynomial; `k[12]` and `rows[:4]` are given."""
    rhs, w, h, x, rows, y, clock = e.rhs, e.w, step.h, step.x, step.rows, scratch.x_plus, scratch.clock
    n = x.size

    clock[0] = t + C[13] * h
    for i in range(n):
        y[i] = x[i] + h * (
            A[13, 0] * k[0, i] + A[13, 6] * k[6, i] + A[13, 7] * k[7, i] + A[13, 8] * k[8, i]
            + A[13, 9] * k[9, i] + A[13, 10] * k[10, i] + A[13, 11] * k[11, i] + A[13, 12] * k[12, i]
        )
    call(rhs, clock, y, w, k[13])

    clock[0] = t + C[14] * h
    for i in range(n):
        y[i] = x[i] + h * (
            A[14, 0] * k[0, i] + A[14, 5] * k[5, i] + A[14, 6] * k[6, i] + A[14, 7] * k[7, i]
            + A[14, 10] * k[10, i] + A[14, 11] * k[11, i] + A[14, 12] * k[12, i] + A[14, 13] * k[13, i]
        )
    call(rhs, clock, y, w, k[14])

    clock[0] = t + C[15] * h
    for i in range(n):
        y[i] = x[i] + h * (
            A[15, 0] * k[0, i] + A[15, 5] * k[5, i] + A[15, 6] * k[6, i] + A[15, 7] * k[7, i]
            + A[15, 8] * k[8, i] + A[15, 12] * k[12, i] + A[15, 13] * k[13, i] + A[15, 14] * k[14, i]
        )
    call(rhs, clock, y, w, k[15])

    for i in range(n):
        rows[4, i] = h * (
            D[0, 0] * k[0, i] + D[0, 5] * k[5, i] + D[0, 6] * k[6, i] + D[0, 7] * k[7, i]
            + D[0, 8] * k[8, i] + D[0, 9] * k[9, i] + D[0, 10] * k[10, i] + D[0, 11] * k[11, i]
            + D[0, 12] * k[12, i] + D[0, 13] * k[13, i] + D[0, 14] * k[14, i] + D[0, 15] * k[15, i]
        )
        rows[5, i] = h * (
            D[1, 0] * k[0, i] + D[1, 5] * k[5, i] + D[1, 6] * k[6, i] + D[1, 7] * k[7, i]
            + D[1, 8] * k[8, i] + D[1, 9] * k[9, i] + D[1, 10] * k[10, i] + D[1, 11] * k[11, i]
            + D[1, 12] * k[12, i] + D[1, 13] * k[13, i] + D[1, 14] * k[14, i] + D[1, 15] * k[15, i]
        )
        rows[6, i] = h * (
            D[2, 0] * k[0, i] + D[2, 5] * k[5, i] + D[2, 6] * k[6, i] + D[2, 7] * k[7, i]
            + D[2, 8] * k[8, i] + D[2, 9] * k[9, i] + D[2, 10] * k[10, i] + D[2, 11] * k[11, i]
            + D[2, 12] * k[12, i] + D[2, 13] * k[13, i] + D[2, 14] * k[14, i] + D[2, 15] * k[15, i]
        )
        rows[7, i] = h * (
            D[3, 0] * k[0, i] + D[3, 5] * k[5, i] + D[3, 6] * k[6, i] + D[3, 7] * k[7, i]
            + D[3, 8] * k[8, i] + D[3, 9] * k[9, i] + D[3, 10] * k[10, i] + D[3, 11] * k[11, i]
            + D[3, 12] * k[12, i] + D[3, 13] * k[13, i] + D[3, 14] * k[14, i] + D[3, 15] * k[15, i]
        )
# fmt: on


@jit(numba.void(StateRecord, StepType, F2))
def count_stiff(s, step, k):
    """Count steps whose length is limited by stability: volume II, IV.2, from two derivatives near the step's end."""
    h, x, y = step.h, step.x, step.y
    above = below = 0.0
    for i in range(x.size):
        stage = x[i]
        for j in range(11):
            stage += h * A[11, j] * k[j, i]
        above += (k[12, i] - k[11, i]) ** 2
        below += (y[i] - stage) ** 2
    if below > 0.0 and abs(h) * np.sqrt(above / below) > BORDER:
        s.stiff += 1
        s.calm = 0
    else:
        s.calm += 1
        if s.calm == CALM_STEPS:
            s.stiff = 0


@jit(ADVANCE)
def advance(e, samples, run, kept):
    """Make up to `attempts` attempts; returns the accepted steps. See the essay in solvers.py."""
    e, samples, run, kept = unowned_views(e, samples, run, kept)
    o, s, work = run.options[0], run.state[0], run.work
    k, y, x_plus, rows = work[:STAGES], work[STAGES], work[STAGES + 1], work[STAGES + 2 :]
    scratch = Scratch(np.empty(1), x_plus, np.zeros(RESIDUAL), k[13])
    done = 0
    for _ in range(o.attempts):
        if s.status != 0:
            break
        h = next_step(o, s)
        if s.status != 0:
            break
        step = Step(h, end_time(o, s, h), run.x, k[0], y, k[12:13], rows)

        err = attempt(e, o, s.t, step, k, scratch.clock)
        s.evaluations += 11
        if not err <= 1.0:
            reject(s, h, err, EXPONENT, k[:12], o.team, e.w)
            continue

        if not arrive(e, run, step, scratch, EXPONENT, 1.0, False, True):
            continue
        if o.corners != 0 and not passes(e, run, step):
            continue
        err = max(err, s.moved)
        if o.detect_stiffness:
            count_stiff(s, step, k)

        # the samples on the way
        if wants_rows(samples.t_eval, step.t_new, o, s):
            hermite_rows(run.x, y, k[0], k[12], h, rows)
            polynomial(e, s.t, step, k, scratch)
            s.evaluations += 3
            if broken(o.team, e.w, k[13:], s):
                reject(s, h, np.nan, EXPONENT, k, o.team, e.w)
                continue
        if not take_samples(e, samples, run, step, scratch):
            reject_correction(s, h)
            continue

        accept(o, s, step, done, kept)
        propose(s, h, err, EXPONENT - 0.75 * BETA, BETA, SHRINK, GROW)
        done += 1
        if s.stiff >= STIFF_STEPS and s.status == 0:
            s.status = STIFF
    return done
