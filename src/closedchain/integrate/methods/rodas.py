"""Rodas5P, a Rosenbrock method of order 5: eight linear systems with one matrix a step, and no iteration.

Steinebach (2023), BIT Numerical Mathematics 63, 27. Its numbers: `tableaus.RODAS5P`. It is stiffly accurate and
L-stable, its embedded solution of order 4 is A-stable, its dense output has order 4. It needs the exact Jacobian and
df/dt at the start of every step, and seven evaluations besides the one at the start.
"""

import numba
import numpy as np

from closedchain.integrate.corner_steps import passes
from closedchain.integrate.implicit import ADVANCE_IMPLICIT, STALE, LinearisationType, renew
from closedchain.integrate.linear import factor, solve
from closedchain.integrate.methods.tableaus import RODAS5P
from closedchain.integrate.project import arrive, take_samples, wants_rows
from closedchain.integrate.step_control import (
    F1,
    F2,
    RESIDUAL,
    STEP_TOO_SMALL,
    EquationsType,
    Scratch,
    Step,
    StepType,
    accept,
    end_time,
    first_nonfinite,
    next_step,
    propose,
    reject,
    reject_correction,
    scaled_norm,
    unowned_views,
)
from closedchain.native.call import call
from closedchain.native.jit import jit

A, C, NODES, D_T, B, D = RODAS5P.A, RODAS5P.C, RODAS5P.c, RODAS5P.d, RODAS5P.b, RODAS5P.D
GAMMA = float(RODAS5P.gamma)
STAGES = 8

# rows of the workspace
U, F, Y, X_PLUS, F_NEW, ROWS = 1, 9, 10, 11, 12, 13
DENSE_ROWS = 5
WORK_ROWS = ROWS + DENSE_ROWS

# control: err ~ h^5
EXPONENT = 1 / 5
SHRINK, GROW = 0.2, 6.0


@jit(numba.int64(EquationsType, numba.float64, StepType, F2, LinearisationType))
def attempt(e, t, step, work, lin):
    """One step: the stages `u` and the end `y`; returns how many evaluations it took, fewer if one is not finite."""
    rhs, w, h, x, plan, room = e.rhs, e.w, step.h, step.x, lin.plan, lin.room
    n = x.size
    u, f, y = work[U : U + STAGES], work[F], work[Y]
    clock = np.empty(1)
    for stage in range(STAGES):
        for i in range(n):
            y[i] = x[i]
        for j in range(stage):
            for i in range(n):
                y[i] += A[stage, j] * u[j, i]
        if stage == 0:
            for i in range(n):
                f[i] = work[0, i]
        else:
            clock[0] = t + NODES[stage] * h
            call(rhs, clock, y, w, f)
            if first_nonfinite(work[F : F + 1]) >= 0:
                return stage
        b = u[stage]
        for i in range(n):
            b[i] = f[i] + D_T[stage] * h * room.rate[i]
        for j in range(stage):
            for i in range(n):
                b[i] += C[stage, j] / h * u[j, i]
        solve(plan, room, room.real, room.pivots[0], 1.0 / (GAMMA * h), b, room.b)

    # the last stage began at the embedded solution
    for i in range(n):
        y[i] += u[STAGES - 1, i]
    return STAGES - 1


@jit(numba.void(F2, F1, F1, F2))
def polynomial(u, x, y, rows):
    """The rows (5, n) of the step's polynomial in the nested form of tableaus.py, with the corrected end `y`."""
    for i in range(x.size):
        d0 = d1 = d2 = 0.0
        for j in range(STAGES):
            d0 += D[0, j] * u[j, i]
            d1 += D[1, j] * u[j, i]
            d2 += D[2, j] * u[j, i]
        rows[0, i] = x[i]
        rows[1, i] = y[i] - x[i]
        rows[2, i] = d0
        rows[3, i] = d1 + d2
        rows[4, i] = -d2


@jit(ADVANCE_IMPLICIT)
def advance(e, samples, run, kept, lin):
    """Make up to `attempts` attempts; returns the accepted steps. See the essay in solvers.py."""
    e, samples, run, kept = unowned_views(e, samples, run, kept)
    o, s, m, x, work = run.options[0], run.state[0], lin.memory[0], run.x, run.work
    u, y, f_new, rows = work[U : U + STAGES], work[Y], work[F_NEW : F_NEW + 1], work[ROWS:]
    scratch = Scratch(np.empty(1), work[X_PLUS], np.zeros(RESIDUAL), work[F])
    done = 0
    for _ in range(o.attempts):
        if s.status != 0:
            break
        h = next_step(o, s)
        if s.status != 0:
            break
        step = Step(h, end_time(o, s, h), x, work[0], y, f_new, rows)

        # a rejected step is tried again with the same Jacobian
        if m.age == STALE and not renew(lin, x, s):
            break
        m.factorisations += 1
        if not factor(lin.plan, lin.room, lin.room.real, lin.room.pivots[0], 1.0 / (GAMMA * h)):
            s.rejections += 1
            s.rejected = 1
            s.cause = STEP_TOO_SMALL
            s.h = 0.5 * abs(h)
            continue
        made = attempt(e, s.t, step, work, lin)
        s.evaluations += made
        err = scaled_norm(u[STAGES - 1], x, y, e.atol, o.rtol, 0, e.w) if made == STAGES - 1 else np.nan
        if not err <= 1.0:
            reject(s, h, err, EXPONENT, work[F : F + 1], 0, e.w)
            continue

        if not arrive(e, run, step, scratch, EXPONENT, 1.0, False, True):
            continue
        if o.corners != 0 and not passes(e, run, step):
            continue
        err = max(err, s.moved)

        # the samples on the way
        if wants_rows(samples.t_eval, step.t_new, o, s):
            polynomial(u, x, y, rows)
        if not take_samples(e, samples, run, step, scratch):
            reject_correction(s, h)
            continue

        accept(o, s, step, done, kept)
        propose(s, h, err, EXPONENT, 0.0, SHRINK, GROW)
        m.age = STALE
        done += 1
    return done
