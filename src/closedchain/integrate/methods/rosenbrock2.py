"""A Rosenbrock method of order 2 with a fixed step, for stiff springs: two linear systems, one matrix, no iteration.

With one Jacobian J and df/dt at the start of the step::

    (1 / (gamma h) - J) u_1 = f(t, x) + gamma h df/dt
    (1 / (gamma h) - J) u_2 = f(t + c h, x + A u_1) + C u_1 / h + d h df/dt,    x_1 = x + b_1 u_1 + b_2 u_2

Verwer, Spee, Blom, Hundsdorfer (1999), SIAM J. Sci. Comput. 20(4), 1456-1480, use the family (their method ROS2 is a
member) for its L-stability with gamma = 1 - 1/sqrt(2). Two numbers of it are free. Here they are such that springs in
the closures, however hard, leave no error of the leading order in the motion: see `tableaus.ROSENBROCK2`.

A step costs one Jacobian, one factorisation, two solutions, two evaluations, and `fixed_step.CORRECTIONS` corrections.
The factorisation passes over zeros and looks for pivots (`integrate.linear`): that is the only work whose amount
depends on numbers, and it is bounded by that of a full matrix.
"""

import numba
import numpy as np

from closedchain.integrate.fixed_step import arrive, finite, leave, next_step
from closedchain.integrate.implicit import ADVANCE_IMPLICIT, LinearisationType, renew
from closedchain.integrate.linear import factor, solve
from closedchain.integrate.methods.tableaus import ROSENBROCK2
from closedchain.integrate.project import wants_rows
from closedchain.integrate.step_control import (
    F1,
    F2,
    NAN,
    RESIDUAL,
    EquationsType,
    Scratch,
    Step,
    StepType,
    unowned_views,
)
from closedchain.native.call import call
from closedchain.native.jit import jit

A, C, NODE, B_1, B_2 = (float(x) for x in (ROSENBROCK2.A[1, 0], ROSENBROCK2.C[1, 0], ROSENBROCK2.c[1], *ROSENBROCK2.b))
D_1, D_2 = (float(x) for x in ROSENBROCK2.d)
BENT_1, BENT_2 = (float(x) for x in ROSENBROCK2.D[0])
GAMMA = float(ROSENBROCK2.gamma)

# rows of the workspace
U, F, Y, X_PLUS, F_NEW, ROWS = 1, 3, 4, 5, 6, 7
DENSE_ROWS = 3
WORK_ROWS = ROWS + DENSE_ROWS


@jit(numba.void(EquationsType, numba.float64, StepType, F2, LinearisationType, F1))
def stages(e, t, step, work, lin, clock):
    """One step: the stages `u`, the evaluation `f` and the end `y`; `work[0]` is given."""
    rhs, w, h, x, plan, room = e.rhs, e.w, step.h, step.x, lin.plan, lin.room
    n = x.size
    u, f, y = work[U : U + 2], work[F], work[Y]
    shift = 1.0 / (GAMMA * h)

    for i in range(n):
        u[0, i] = work[0, i] + D_1 * h * room.rate[i]
    solve(plan, room, room.real, room.pivots[0], shift, u[0], room.b)

    clock[0] = t + NODE * h
    for i in range(n):
        y[i] = x[i] + A * u[0, i]
    call(rhs, clock, y, w, f)

    for i in range(n):
        u[1, i] = f[i] + C / h * u[0, i] + D_2 * h * room.rate[i]
    solve(plan, room, room.real, room.pivots[0], shift, u[1], room.b)

    for i in range(n):
        y[i] = x[i] + B_1 * u[0, i] + B_2 * u[1, i]


@jit(numba.void(F2, F1, F1, F2))
def polynomial(u, x, y, rows):
    """The rows (3, n) of the step's parabola in the nested form of tableaus.py, with the corrected end `y`."""
    for i in range(x.size):
        rows[0, i] = x[i]
        rows[1, i] = y[i] - x[i]
        rows[2, i] = BENT_1 * u[0, i] + BENT_2 * u[1, i]


@jit(ADVANCE_IMPLICIT)
def advance(e, samples, run, kept, lin):
    """Advance by up to `attempts` steps; returns how many were made. See the essay in solvers.py."""
    e, samples, run, kept = unowned_views(e, samples, run, kept)
    o, s, x, work, room = run.options[0], run.state[0], run.x, run.work, lin.room
    u, y, f_new, rows = work[U : U + 2], work[Y], work[F_NEW : F_NEW + 1], work[ROWS:]
    scratch = Scratch(np.empty(1), work[X_PLUS], np.zeros(RESIDUAL), work[X_PLUS])
    done = 0
    while done < o.attempts and s.status == 0:
        h, t_new = next_step(o, s)
        if s.status != 0 or not renew(lin, x, s):
            break
        step = Step(h, t_new, x, work[0], y, f_new, rows)
        lin.memory[0].factorisations += 1
        if not factor(lin.plan, room, room.real, room.pivots[0], 1.0 / (GAMMA * h)):
            s.status = NAN
            break

        stages(e, s.t, step, work, lin, scratch.clock)
        s.evaluations += 1
        if not finite(work[F : F + 1], o, s, e.w) or not arrive(e, run, step, scratch):
            break

        if wants_rows(samples.t_eval, t_new, o, s):
            polynomial(u, x, y, rows)
        if not leave(e, samples, run, step, scratch, done, kept):
            break
        done += 1
    return done
