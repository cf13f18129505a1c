"""The generalised-alpha method on the rotation group, with a fixed step: the index-3 system solved in every step.

Bruels, Cardona, Arnold (2012), Mechanism and Machine Theory 48, 121-137; its numbers after Chung, Hulbert (1993),
Journal of Applied Mechanics 60, 371-375. The equations of a step are in `index3.py`; here Newton's method solves them,
with one matrix a step as a rule, and the steps are put together.

What the method remembers. The state of a run is closed, ``c = 0`` and ``c' = 0``. The method itself has velocities that
leave the closures by some h^2, always the same: its formula for positions is wrong by some h^3, and closed positions
are asked for nevertheless. Beside them it carries ``alpha``, accelerations of a little earlier. These live in the
workspace. Putting the method's own velocities on the closures in every step would only disturb it: they would leave
again, with accelerations of the order of h.

The start. The same disturbance comes from a start with ``alpha = a`` and velocities that are closed (Arnold, Bruels
2007, Multibody System Dynamics 18, 185-202; Arnold, Bruels, Cardona 2015, Numerische Mathematik 129, 149-179): an error
of the order of h in the closing forces, which fades as ``n rho^n``. A first step on trial tells the accelerations at
its end; with them ``alpha`` is extrapolated to where it belongs, and what the formula for positions then leaves open
tells how far the velocities have to be off.

There is no error estimate, and the step is a promise: if Newton's method fails, the run ends. The theory is in
``docs/theory/generalised_alpha.md``.
"""

from typing import NamedTuple

import numba
import numpy as np

from closedchain.integrate.fixed_step import arrive, leave, next_step
from closedchain.integrate.implicit import MemoryRecord
from closedchain.integrate.linear import factorise, substitute
from closedchain.integrate.project import hermite_rows, wants_rows
from closedchain.integrate.step_control import (
    ADVANCE,
    F1,
    F2,
    NOT_SOLVED,
    RESIDUAL,
    EquationsType,
    Scratch,
    Step,
    unowned_views,
)
from closedchain.native.call import call
from closedchain.native.jit import jit

# rows of the workspace; from V to LENGTH what the method remembers of the end of the last step
F_NEW, Y, X_PLUS, V, ALPHA, A, LAM, LENGTH, ROWS = range(1, 10)
DENSE_ROWS = 4
WORK_ROWS = ROWS + DENSE_ROWS

MAX_ITERATIONS = 15
# an update is the last one if it moves velocities by no more than this part of the largest one ...
STILL = 1e-12
# ... or positions or accelerations by no more than their rounding, which no iteration can mend
ROUNDING = 1e-15
# updates that have ceased to shrink are rounding if they are within so many times these bounds
FLOOR = 1e3
# with updates that shrink by less than this, the matrix is evaluated again
SLOW = 0.01
# lengths of steps that differ by less are the same: the last one ends at t1 to the bit
SAME = 1e-6


class Room(NamedTuple):
    """Where numbers live while a run lasts, nv velocities and m closures.

    Attributes
    ----------
    d, r, end : arguments and values of the native functions.
    update : (nv + m,) of the unknowns.
    matrix : (nv + m)^2 entries of K, column after column, then its factors.
    pivots, rows : (nv + m,) of the factors, and workspace.
    """

    d: np.ndarray
    r: np.ndarray
    end: np.ndarray
    update: np.ndarray
    matrix: np.ndarray
    pivots: np.ndarray
    rows: np.ndarray


class StepEquations(NamedTuple):
    """What the kernel needs besides the index-1 equations.

    Attributes
    ----------
    residual : address of ``(t, d, w) -> r, end``.
    w : parameters of this function, then of the next one.
    matrix : address of ``(t, d, w) -> K``.
    sizes : coordinates of the tree, all coordinates, velocities, closures, parameters of the residual.
    numbers : alpha_m, alpha_f, beta, gamma; then units of coordinates, unknowns, equations.
    room : see `Room`.
    memory : one record of `implicit.MEMORY`, for counting.
    """

    residual: int
    w: np.ndarray
    matrix: int
    sizes: np.ndarray
    numbers: np.ndarray
    room: Room
    memory: np.ndarray


_I1, F1, F2 = numba.int64[::1], F1, F2
RoomType = numba.types.NamedTuple((F1, F1, F1, F1, F1, _I1, _I1), Room)

StepEquationsType = numba.types.NamedTuple(
    (numba.int64, F1, numba.int64, _I1, F1, RoomType, MemoryRecord[::1]), StepEquations
)


@jit(numba.boolean(F1, StepEquationsType))
def refactor(clock, g):
    """Evaluate the matrix of a step, and factorise it, without units; False if that cannot be done."""
    room, memory, sizes, numbers = g.room, g.memory, g.sizes, g.numbers
    k = room.r.size
    memory[0].jacobians += 1
    memory[0].factorisations += 1
    call(g.matrix, clock, room.d, g.w[sizes[4] :], room.matrix)
    unit, by = numbers[4 + sizes[1] : 4 + sizes[1] + k], numbers[4 + sizes[1] + k :]
    for j in range(k):
        for i in range(k):
            room.matrix[j * k + i] *= unit[j] / by[i]
    return factorise(room.matrix.reshape((k, k)), room.pivots, room.rows)


@jit(numba.boolean(F1, StepEquationsType))
def newton(clock, g):
    """Solve the equations of a step from the unknowns in `room.d`; False if there is no convergence.

    The end of the step is left in `room.end`, the unknowns in `room.d`.
    """
    room, memory, sizes, numbers = g.room, g.memory, g.sizes, g.numbers
    n, nv = sizes[1], sizes[2]
    first = n + 3 * nv + 1
    k = room.r.size
    h = abs(room.d[first - 1])
    alpha_m, alpha_f, beta, gamma = numbers[0], numbers[1], numbers[2], numbers[3]
    kappa = (1.0 - alpha_f) / (1.0 - alpha_m)

    # sizes without units
    farthest, fastest, largest = 1.0, 0.0, 0.0
    of_q, unit, by = numbers[4 : 4 + n], numbers[4 + n : 4 + n + k], numbers[4 + n + k :]
    for i in range(nv):
        fastest = max(fastest, abs(room.d[n + i]) / unit[i])
        largest = max(largest, abs(room.d[n + nv + i]) / unit[i], abs(room.d[n + 2 * nv + i]) / unit[i])
    for i in range(n):
        farthest = max(farthest, abs(room.d[i]) / of_q[i])

    before = np.inf
    fresh, settled = True, False
    for _ in range(MAX_ITERATIONS):
        call(g.residual, clock, room.d, g.w[: sizes[4]], room.r, room.end)
        memory[0].iterations += 1
        if settled:
            return True
        if fresh and not refactor(clock, g):
            return False
        for i in range(k):
            room.update[i] = -room.r[i] / by[i]
        substitute(room.matrix.reshape((k, k)), room.pivots, room.update)
        size = 0.0
        for i in range(k):
            if not np.isfinite(room.update[i]):
                return False
            room.d[first + i] += unit[i] * room.update[i]
            if i < nv:
                size = max(size, abs(room.update[i]))
                largest = max(largest, abs(room.d[first + i]) / unit[i])

        # updates of accelerations that matter no more
        small = max(STILL * fastest / (gamma * kappa * h), ROUNDING * farthest / (beta * kappa * h * h))
        small = max(small, ROUNDING * largest)
        slow = size > SLOW * before
        settled = size <= small or (slow and size <= FLOOR * small)
        fresh = slow
        before = size
    return False


@jit(numba.void(F1, F2, numba.float64, _I1, F1))
def pack(x, work, h, sizes, d):
    """The start of a step and a first guess of its unknowns."""
    tree, n, nv, m = sizes[0], sizes[1], sizes[2], sizes[3]
    for i in range(tree):
        d[i] = x[i]
    for i in range(tree, n):
        d[i] = x[i] + h * work[0, i]  # counters tell whole turns only
    for i in range(nv):
        d[n + i] = work[V, i]
        d[n + nv + i] = work[ALPHA, i]
        d[n + 2 * nv + i] = work[A, i]
        d[n + 3 * nv + 1 + i] = work[A, i]
    d[n + 3 * nv] = h
    for i in range(m):
        d[n + 4 * nv + 1 + i] = work[LAM, i]


@jit(numba.boolean(EquationsType, F1, F2, numba.float64, F1, StepEquationsType))
def start(e, x, work, h, clock, g):
    """Fill the method's memory at a state, for steps of length h; False if the step on trial fails.

    Parameters
    ----------
    e : the index-1 equations.
    x, work : (n,) the state, closed, with its derivative in row 0; the rows of the memory are filled.
    h, clock : signed length and end (1,) of the step that follows.
    g : the equations of a step.
    """
    room, memory, sizes, numbers = g.room, g.memory, g.sizes, g.numbers
    n, nv, m = sizes[1], sizes[2], sizes[3]
    first = n + 3 * nv + 1
    alpha_m, alpha_f, beta = numbers[0], numbers[1], numbers[2]
    kappa = (1.0 - alpha_f) / (1.0 - alpha_m)
    for i in range(nv):
        work[V, i] = x[n + i]
        work[ALPHA, i] = work[A, i] = work[0, n + i]
    pack(x, work, h, sizes, room.d)
    if not newton(clock, g):
        return False

    # accelerations at the end of the trial, right to h^2
    y, f = work[Y], work[F_NEW]
    for i in range(n + nv):
        y[i] = room.end[i]
    y[n + nv] = x[n + nv]
    call(e.rhs, clock, y, e.w, f)
    for i in range(nv):
        work[ALPHA, i] += (alpha_m - alpha_f) * (f[n + i] - work[A, i])
        room.d[n + nv + i] = work[ALPHA, i]
        room.d[first + i] = f[n + i]
    for i in range(m):
        work[LAM, i] = room.d[first + nv + i]

    # what they leave open is to be closed by the velocities at the start, along the directions of the closing forces
    call(g.residual, clock, room.d, g.w[: sizes[4]], room.r, room.end)
    memory[0].iterations += 1
    if not refactor(clock, g):
        return False
    for i in range(nv + m):
        room.update[i] = -room.r[i] / numbers[4 + n + nv + m + i] if i >= nv else 0.0
    substitute(room.matrix.reshape((nv + m, nv + m)), room.pivots, room.update)
    for i in range(nv):
        work[V, i] += beta * kappa * h * numbers[4 + n + i] * room.update[i]
        if not np.isfinite(work[V, i]):
            return False
    work[LENGTH, 0] = h
    return True


@jit(numba.int64(*ADVANCE.args, StepEquationsType))
def advance(e, samples, run, kept, g):
    """Advance by up to `attempts` steps; returns how many were made. See the essay in solvers.py."""
    e, samples, run, kept = unowned_views(e, samples, run, kept)
    o, s, x, work = run.options[0], run.state[0], run.x, run.work
    room, memory, sizes = g.room, g.memory, g.sizes
    tree, n, nv, m = sizes[0], sizes[1], sizes[2], sizes[3]
    f, f_new, y, rows = work[0], work[F_NEW : F_NEW + 1], work[Y], work[ROWS:]
    scratch = Scratch(np.empty(1), work[X_PLUS], np.ones(RESIDUAL), work[X_PLUS])
    scratch.residual[3] = 0.0
    clock = scratch.clock
    done = 0
    while done < o.attempts and s.status == 0:
        h, t_new = next_step(o, s)
        if s.status != 0:
            break
        step = Step(h, t_new, x, f, y, f_new, rows)

        # what is remembered belongs to one length of steps and to forces that did not jump
        clock[0] = t_new
        before = memory[0].iterations
        solved = True
        if s.restarted or not abs(h - work[LENGTH, 0]) <= SAME * abs(h):
            solved = start(e, x, work, h, clock, g)
            s.evaluations += 1
        if solved:
            pack(x, work, h, sizes, room.d)
            solved = newton(clock, g)
        s.evaluations += memory[0].iterations - before
        if not solved:
            s.status = NOT_SOLVED
            break

        # the end: positions are closed already, and velocities of the state become so
        for i in range(n + nv):
            y[i] = room.end[i]
        y[n + nv] = x[n + nv]
        if not arrive(e, run, step, scratch):
            break

        # counters and work follow from their rates
        for i in range(tree, n):
            y[i] = x[i] + 0.5 * h * (f[i] + f_new[0, i])
        y[n + nv] = x[n + nv] + 0.5 * h * (f[n + nv] + f_new[0, n + nv])

        if wants_rows(samples.t_eval, t_new, o, s):
            hermite_rows(x, y, f, f_new[0], h, rows)
        if not leave(e, samples, run, step, scratch, done, kept):
            break
        for i in range(nv):
            work[V, i] = room.end[n + i]
            work[ALPHA, i] = room.end[n + nv + i]
            work[A, i] = room.d[n + 3 * nv + 1 + i]
        for i in range(m):
            work[LAM, i] = room.d[n + 4 * nv + 1 + i]
        done += 1
    return done
