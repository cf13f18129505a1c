"""Several points of a study at a fixed step, together in the lanes of vector registers.

Native functions with lanes (`native.emit.lanes`) evaluate as many points at once as a register holds numbers; the lanes
of an entry stand side by side in memory. What a step does with these values is the same for every number, so that
`explicit_runge_kutta.stages`, `hermite_rows` and `interpolate` are those of one point, on longer arrays. What depends
on a point alone is decided here lane by lane: whether the correction converges, whether a derivative is a number. A
lane that fails stays where it was, and the others go on; none depends on another one, to the last bit.

A lane makes the steps and corrections that the kernel of `RK4` or `semi_implicit_euler.advance` makes, so it ends where
`cc.simulate` does, to rounding.
"""

import numba
import numpy as np

from closedchain.integrate.batch.points import BatchRecord, leave
from closedchain.integrate.fixed_step import CONTRACTS, CORRECTIONS, next_step
from closedchain.integrate.methods.explicit_runge_kutta import Coefficients, coefficients, stages
from closedchain.integrate.methods.tableaus import RK4
from closedchain.integrate.project import FLOOR, HARMFUL, MAX_ITERATIONS, STEEP, hermite_rows, interpolate
from closedchain.integrate.step_control import (
    CORRECTION_FAILED,
    F1,
    F2,
    F3,
    FINISHED,
    INTERRUPTED,
    NAN,
    RUNNING,
    SINGULAR,
    OptionsRecord,
    StateRecord,
    Step,
    copy,
)
from closedchain.native.call import call
from closedchain.native.jit import jit

I1 = numba.int64[::1]

# the classic method, and the rows of its polynomial
A, B, C, E, D, CONTROL, FSAL = coefficients(RK4)
STAGES, DENSE_ROWS = 4, 4
# rows of the workspace
F_NEW, Y, X_PLUS, SAMPLE, DRAWN, POLYNOMIAL = range(STAGES, STAGES + 6)
ROWS = POLYNOMIAL + DENSE_ROWS


@jit(numba.void(F2, numba.int64, numba.int64, F1))
def gather(points, first, lanes, block):
    """Rows of `points` from ``first`` on, side by side; lanes beyond the last point repeat it."""
    for l in range(lanes):
        row = points[min(first + l, points.shape[0] - 1)]
        for i in range(row.size):
            block[i * lanes + l] = row[i]


@jit(numba.void(F1, numba.int64, I1, numba.int64))
def strike(values, lanes, status, why):
    """Give this status to running lanes with a value that is not a number."""
    strange = 0
    for i in range(values.size):
        strange += not np.isfinite(values[i])
    if strange == 0:
        return
    for i in range(values.size):
        if status[i % lanes] == RUNNING and not np.isfinite(values[i]):
            status[i % lanes] = why


@jit(numba.int64(I1))
def running(status):
    """How many lanes run."""
    number = 0
    for l in range(status.size):
        number += status[l] == RUNNING
    return number


@jit(numba.void(I1, F1, F1))
def move(status, source, target):
    """`target[:] = source` in the lanes that run."""
    lanes = status.size
    if running(status) == lanes:
        copy(source, target)
        return
    for i in range(source.size):
        if status[i % lanes] == RUNNING:
            target[i] = source[i]


@jit(numba.void(numba.int64, F1, F1, F1, numba.float64, I1, F1, F1, F1, F1))
def put_back(correct, clock, w, y, tolerance, status, pivot, x_plus, residual, before):
    """Put all lanes back on the manifold, in place, by `CORRECTIONS` Newton steps, as `fixed_step.put_back` does one.

    Parameters
    ----------
    correct : address of the correction with lanes.
    clock : (1,) the time.
    w : its parameters.
    y : (n lanes,) the states; they are changed.
    tolerance : of the position residual.
    status, pivot : (lanes,) lanes that do not converge are marked; the pivots.
    x_plus, residual, before : (n lanes,), (3 lanes,), (lanes,) workspace.
    """
    lanes = status.size
    for l in range(lanes):
        before[l] = np.inf
    for k in range(CORRECTIONS):
        call(correct, clock, y, w, x_plus, residual)
        copy(x_plus, y)
        for l in range(lanes):
            converges = residual[l] <= max(CONTRACTS * before[l], FLOOR * tolerance)  # not so if it is not a number
            before[l] = residual[l]
            if k == CORRECTIONS - 1 and status[l] == RUNNING and not converges:
                status[l] = CORRECTION_FAILED
    for l in range(lanes):
        pivot[l] = residual[2 * lanes + l]
    strike(y, lanes, status, CORRECTION_FAILED)


@jit(numba.void(numba.int64, F1, F1, F1, numba.float64, numba.float64, I1, F1, F1, F1, F1))
def put_sample_back(correct, clock, w, y, tolerance, least_pivot, status, drawn, x_plus, residual, before):
    """Put samples back by iteration, each lane as `project.put_back` does; those that fail are marked.

    The names are those of `put_back`; ``drawn`` (n lanes,) holds the samples as they were, for lanes that are better
    left alone.
    """
    lanes = status.size
    going, settled = np.empty(lanes, np.bool_), np.empty(lanes, np.bool_)
    for l in range(lanes):
        going[l], settled[l], before[l] = status[l] == RUNNING, False, np.inf
    for k in range(MAX_ITERATIONS):
        some = False
        for l in range(lanes):
            some = some or going[l]
        if not some:
            break
        call(correct, clock, y, w, x_plus, residual)
        for i in range(y.size):
            l = i % lanes
            if going[l]:
                y[i] = x_plus[i]
                if not np.isfinite(x_plus[i]):
                    status[l] = CORRECTION_FAILED
        for l in range(lanes):
            if not going[l]:
                continue
            r, pivot = residual[l], residual[2 * lanes + l]
            done = False
            if r <= tolerance:
                done = settled[l] or not 0.0 < pivot < STEEP
                settled[l] = True
            if not done and (not r < before[l] or k == MAX_ITERATIONS - 1):
                done = True
                if not r <= FLOOR * tolerance:
                    status[l] = CORRECTION_FAILED
            before[l] = r
            going[l] = not done and status[l] == RUNNING
            if not going[l] and pivot < HARMFUL and least_pivot > 0.0:
                for i in range(l, y.size, lanes):
                    y[i] = drawn[i]


@jit(numba.void(F1, F3, numba.int64, numba.int64, I1))
def store(y, samples, first, j, status):
    """Sample number j of all lanes that run."""
    lanes = status.size
    for l in range(lanes):
        if status[l] == RUNNING:
            sample = samples[first + l, j]
            for i in range(sample.size):
                sample[i] = y[i * lanes + l]


@jit(numba.void(I1, numba.int64))
def finish(status, how):
    """Lanes that run end in this way."""
    for l in range(status.size):
        if status[l] == RUNNING:
            status[l] = how


@jit(numba.void(BatchRecord, F1, F1, numba.float64, numba.float64, F1, F1, F1, F1, F1, F1, F1, numba.int64))
def euler(b, w_correct, w_kinematics, t, h, x, f, y, rates, x_plus, residual, clock, lanes):
    """A step of semi-implicit Euler from `x` with its derivative `f`: the end `y`, before it is put back."""
    moving = b.nq * lanes  # where the coordinates end
    clock[0] = t
    copy(x, y)
    for i in range(moving, y.size):
        y[i] += h * f[i]
    if b.tangent != 0:
        call(b.correct, clock, y, w_correct, x_plus, residual)
        copy(x_plus, y)
    call(b.kinematics, clock, y, w_kinematics, rates)
    for i in range(moving):
        y[i] += h * rates[i]


@jit(numba.void(StateRecord[::1], numba.int64, I1, numba.float64, numba.int64, numba.int64))
def book(state, first, status, t_new, next_sample, evaluations):
    """Book a step in the records of the lanes that run."""
    for l in range(status.size):
        if status[l] == RUNNING:
            s = state[first + l]
            s.t = t_new
            s.steps += 1
            s.evaluations += evaluations
            s.next_sample = next_sample


@jit(
    numba.void(
        BatchRecord,
        F1,
        F3,
        OptionsRecord,
        StateRecord[::1],
        StateRecord,
        F1,
        F1,
        F1,
        F1,
        F1,
        I1,
        F1,
        F1,
        F1,
        F2,
        numba.int64,
        I1,
    )
)
def march_block(
    b, t_eval, samples, o, state, s, w, w_correct, w_kinematics, x, min_pivot, status, pivot, residual, before, work,
    first, flag,
):  # fmt: skip
    """March the lanes that run to their end, or until they fail.

    Parameters
    ----------
    b, o : the records of the batch, and of the run, which is the same for all lanes.
    t_eval, samples, state : as for `MARCH`.
    s : a record that counts the steps of the block.
    w, w_correct, w_kinematics : parameters, with lanes.
    x : (n lanes,) the states; row 0 of work holds their derivatives.
    min_pivot, status, pivot : (lanes,).
    residual, before, work : (3 lanes,), (lanes,), (ROWS, n lanes) workspace.
    first : the point in the first lane.
    flag : not 0 to stop.
    """
    lanes = status.size
    k, f_new, y, x_plus = work[:STAGES], work[F_NEW], work[Y], work[X_PLUS]
    sample, drawn, rows = work[SAMPLE], work[DRAWN], work[POLYNOMIAL:]
    clock, last = np.empty(1), y.size - lanes
    while flag[0] == 0 and running(status) > 0:
        h, t_new = next_step(o, s)
        if s.status != RUNNING:
            finish(status, s.status)
            break
        if b.kinematics == 0:
            step = Step(h, t_new, x, k[0], y, work[F_NEW : F_NEW + 1], rows)
            stages(Coefficients(A, B, C, E, D, CONTROL, FSAL), b.rhs, w, s.t, step, k, clock)
        else:
            euler(b, w_correct, w_kinematics, s.t, h, x, k[0], y, k[1], x_plus, residual, clock, lanes)
        strike(y, lanes, status, NAN)  # a stage that is not a number makes an end that is none

        # the end: put back on the manifold, and the derivative there
        clock[0] = t_new
        if b.correct != 0:
            put_back(b.correct, clock, w_correct, y, o.correct_tol, status, pivot, x_plus, residual, before)
            for l in range(lanes):
                if status[l] == RUNNING and pivot[l] < o.least_pivot:
                    status[l] = SINGULAR
        call(b.rhs, clock, y, w, f_new)
        strike(f_new, lanes, status, NAN)
        if b.kinematics != 0:  # the work, by the trapezoidal rule
            for i in range(last, y.size):
                y[i] = x[i] + 0.5 * h * (k[0, i] + f_new[i])

        # the samples on the way
        taken = s.next_sample
        while taken < t_eval.size and (t_eval[taken] - t_new) * o.direction <= 0.0:
            if t_eval[taken] == t_new:
                store(y, samples, first, taken, status)
            else:
                if taken == s.next_sample:
                    hermite_rows(x, y, k[0], f_new, h, rows)
                interpolate(rows, (t_eval[taken] - s.t) / h, sample)
                if b.correct != 0:
                    clock[0] = t_eval[taken]
                    copy(sample, drawn)
                    put_sample_back(
                        b.correct, clock, w_correct, sample, o.correct_tol, o.least_pivot, status, drawn, x_plus,
                        residual, before,
                    )  # fmt: skip
                store(sample, samples, first, taken, status)
            taken += 1

        # lanes that have failed stay where they were
        move(status, y, x)
        move(status, f_new, k[0])
        book(state, first, status, t_new, taken, STAGES if b.kinematics == 0 else 1)
        s.next_sample, s.t = taken, t_new
        s.steps += 1
        if t_new == o.t1:
            finish(status, FINISHED)
        elif b.correct != 0:
            for l in range(lanes):
                if status[l] == RUNNING and pivot[l] < min_pivot[l]:
                    status[l] = SINGULAR


@jit(
    numba.void(
        BatchRecord[::1],
        F2,
        F1,
        F3,
        OptionsRecord[::1],
        StateRecord[::1],
        StateRecord[::1],
        F2,
        numba.int64,
        numba.int64,
        numba.int64,
        I1,
    )
)
def march_in_lanes(batch, p, t_eval, samples, options, state, clockwork, x0, lanes, first, last, flag):
    """Points ``first`` to ``last`` at a fixed step, in lanes.

    Parameters
    ----------
    batch, t_eval, samples, options, state, first, last, flag : as for `MARCH`; addresses are those with lanes.
    p, x0 : (m, np), (m, n) parameters and starts.
    clockwork : one record to count steps in.
    lanes : how many.
    """
    b, n = batch[0], x0.shape[1]
    parameters, w = np.empty(p.shape[1] * lanes), np.empty(b.n_w * lanes)
    w_correct, w_kinematics = np.empty(b.n_w_correct * lanes), np.empty(b.n_w_kinematics * lanes)
    x, work = np.empty(n * lanes), np.zeros((ROWS, n * lanes))
    min_pivot, pivot, before, residual = np.empty(lanes), np.ones(lanes), np.empty(lanes), np.ones(3 * lanes)
    status, clock = np.empty(lanes, np.int64), np.empty(1)
    for block in range(first, last, lanes):
        if flag[0] != 0:
            return
        o, s = options[block], clockwork[0]
        gather(p, block, lanes, parameters)
        gather(x0, block, lanes, x)
        call(b.prepare, parameters, w)
        if b.kinematics != 0:
            call(b.prepare_kinematics, parameters, w_kinematics)
        for l in range(lanes):
            status[l] = RUNNING if block + l < last else INTERRUPTED  # lanes without a point never run
            min_pivot[l] = -np.inf
        clock[0] = o.t0
        if b.correct != 0:
            call(b.prepare_correct, parameters, w_correct)
            call(b.correct, clock, x, w_correct, work[X_PLUS], residual)
            for l in range(lanes):
                if b.faded > 0.0:
                    min_pivot[l] = b.faded * residual[2 * lanes + l]
                if residual[2 * lanes + l] < b.watched and status[l] == RUNNING:
                    status[l] = SINGULAR
        s.status, s.steps, s.next_sample, s.t = RUNNING, 0, 0, o.t0
        if t_eval.size > 0 and t_eval[0] == o.t0:
            store(x, samples, block, 0, status)
            s.next_sample = 1
        for l in range(lanes):
            if status[l] == RUNNING:
                state[block + l].next_sample = s.next_sample
                state[block + l].evaluations = 1
        if o.t0 == o.t1:
            finish(status, FINISHED)
        call(b.rhs, clock, x, w, work[0])
        strike(work[0], lanes, status, NAN)
        march_block(
            b, t_eval, samples, o, state, s, w, w_correct, w_kinematics, x, min_pivot, status, pivot, residual, before,
            work, block, flag,
        )  # fmt: skip
        for l in range(min(lanes, last - block)):
            state[block + l].status = status[l]
            leave(state[block + l], samples[block + l])
