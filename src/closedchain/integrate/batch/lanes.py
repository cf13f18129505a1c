"""Several points of a study at a fixed step, together in the lanes of vector registers.

Native functions with lanes (`native.emit.lanes`) evaluate as many points at once as a register holds numbers; the lanes
of an entry stand side by side in memory. What a step does with these values is the same for every number, so that
`explicit_runge_kutta.stages`, `hermite_rows` and `interpolate` are those of one point, on longer arrays. What depends
on a point alone is decided here lane by lane: whether the correction converges, whether a derivative is a number. A
lane that fails stays where it was, and the others go on; none depends on another one, to the last bit.

A lane makes the steps and corrections that the kernel of `RK4` or `semi_implicit_euler.advance` makes, so it ends where
`cc.simulate` does, to rounding.
"""

from typing import NamedTuple

import numba
import numpy as np

from closedchain.integrate.batch.points import BatchRecord, PieceType, SamplesType, leave
from closedchain.integrate.fixed_step import CONTRACTS, CORRECTIONS, next_step
from closedchain.integrate.methods.explicit_runge_kutta import Coefficients, coefficients, stages
from closedchain.integrate.methods.tableaus import RK4
from closedchain.integrate.project import FLOOR, HARMFUL, MAX_ITERATIONS, STEEP, hermite_rows, interpolate
from closedchain.integrate.step_control import (
    CORRECTION_FAILED,
    F1,
    F2,
    FINISHED,
    INTERRUPTED,
    NAN,
    RESIDUAL,
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


class LanePoints(NamedTuple):
    """Points of a study, one row or record for each: parameters (m, np), starts (m, n), and records (m,)."""

    p: np.ndarray
    x: np.ndarray
    options: np.ndarray
    state: np.ndarray


class Correction(NamedTuple):
    """What puts lanes back on the manifold.

    Attributes
    ----------
    address : of the correction with lanes; 0 if there is none.
    w : its parameters.
    tolerance, least_pivot : of the position residual; the pivot below which a run stops.
    clock : (1,) the time.
    x_plus, residual, before : (n lanes,), (RESIDUAL lanes,), (lanes,) workspace.
    """

    address: int
    w: np.ndarray
    tolerance: float
    least_pivot: float
    clock: np.ndarray
    x_plus: np.ndarray
    residual: np.ndarray
    before: np.ndarray


class Block(NamedTuple):
    """Points that march together, one in each lane.

    Attributes
    ----------
    first : the point in the first lane.
    w, w_kinematics : parameters, with lanes.
    x : (n lanes,) the states; row 0 of work holds their derivatives.
    work : (ROWS, n lanes).
    status, pivot, min_pivot : (lanes,) of each lane; the pivot, and the least one after a step.
    """

    first: int
    w: np.ndarray
    w_kinematics: np.ndarray
    x: np.ndarray
    work: np.ndarray
    status: np.ndarray
    pivot: np.ndarray
    min_pivot: np.ndarray


LanePointsType = numba.types.NamedTuple((F2, F2, OptionsRecord[::1], StateRecord[::1]), LanePoints)
CorrectionType = numba.types.NamedTuple((numba.int64, F1, numba.float64, numba.float64, F1, F1, F1, F1), Correction)
BlockType = numba.types.NamedTuple((numba.int64, F1, F1, F1, F2, I1, F1, F1), Block)


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


@jit(numba.void(CorrectionType, F1, I1, F1))
def put_back(c, y, status, pivot):
    """Put all lanes back on the manifold, in place, by `CORRECTIONS` Newton steps, as `fixed_step.put_back` does one.

    Parameters
    ----------
    c : see `Correction`.
    y : (n lanes,) the states; they are changed.
    status, pivot : (lanes,) lanes that do not converge are marked; the pivots.
    """
    lanes, residual, before = status.size, c.residual, c.before
    for l in range(lanes):
        before[l] = np.inf
    for k in range(CORRECTIONS):
        call(c.address, c.clock, y, c.w, c.x_plus, residual)
        copy(c.x_plus, y)
        for l in range(lanes):
            converges = residual[l] <= max(CONTRACTS * before[l], FLOOR * c.tolerance)  # not so if it is not a number
            before[l] = residual[l]
            if k == CORRECTIONS - 1 and status[l] == RUNNING and not converges:
                status[l] = CORRECTION_FAILED
    for l in range(lanes):
        pivot[l] = residual[2 * lanes + l]
    strike(y, lanes, status, CORRECTION_FAILED)


@jit(numba.void(CorrectionType, F1, F1, I1))
def put_sample_back(c, y, drawn, status):
    """Put samples back by iteration, each lane as `project.put_back` does; those that fail are marked.

    The names are those of `put_back`; ``drawn`` (n lanes,) holds the samples as they were, for lanes that are better
    left alone.
    """
    lanes, x_plus, residual, before = status.size, c.x_plus, c.residual, c.before
    going, settled = np.empty(lanes, np.bool_), np.empty(lanes, np.bool_)
    for l in range(lanes):
        going[l], settled[l], before[l] = status[l] == RUNNING, False, np.inf
    for k in range(MAX_ITERATIONS):
        some = False
        for l in range(lanes):
            some = some or going[l]
        if not some:
            break
        call(c.address, c.clock, y, c.w, x_plus, residual)
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
            if r <= c.tolerance:
                done = settled[l] or not 0.0 < pivot < STEEP
                settled[l] = True
            if not done and (not r < before[l] or k == MAX_ITERATIONS - 1):
                done = True
                if not r <= FLOOR * c.tolerance:
                    status[l] = CORRECTION_FAILED
            before[l] = r
            going[l] = not done and status[l] == RUNNING
            if not going[l] and pivot < HARMFUL and c.least_pivot > 0.0:
                for i in range(l, y.size, lanes):
                    y[i] = drawn[i]


@jit(numba.void(F1, SamplesType, numba.int64, numba.int64, I1))
def store(y, samples, first, j, status):
    """Sample number j of all lanes that run."""
    lanes = status.size
    for l in range(lanes):
        if status[l] == RUNNING:
            sample = samples.x[first + l, j]
            for i in range(sample.size):
                sample[i] = y[i * lanes + l]


@jit(numba.void(I1, numba.int64))
def finish(status, how):
    """Lanes that run end in this way."""
    for l in range(status.size):
        if status[l] == RUNNING:
            status[l] = how


@jit(numba.void(BatchRecord, BlockType, CorrectionType, numba.float64, numba.float64))
def euler(b, block, c, t, h):
    """A step of semi-implicit Euler from `x` with its derivative `f`: the end `y`, before it is put back."""
    f, rates, y = block.work[0], block.work[1], block.work[Y]
    moving = b.nq * block.status.size  # where the coordinates end
    c.clock[0] = t
    copy(block.x, y)
    for i in range(moving, y.size):
        y[i] += h * f[i]
    if b.tangent != 0:
        call(b.correct, c.clock, y, c.w, c.x_plus, c.residual)
        copy(c.x_plus, y)
    call(b.kinematics, c.clock, y, block.w_kinematics, rates)
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


@jit(numba.void(BatchRecord, BlockType, CorrectionType, SamplesType, OptionsRecord, StateRecord[::1], StateRecord, I1))
def march_block(b, block, c, samples, o, state, s, flag):
    """March the lanes that run to their end, or until they fail.

    Parameters
    ----------
    b, o : the records of the batch, and of the run, which is the same for all lanes.
    block, c, samples : see `Block`, `Correction` and `PointSamples`.
    state : (m,) records of all points.
    s : a record that counts the steps of the block.
    flag : not 0 to stop.
    """
    first, x, status, pivot, work = block.first, block.x, block.status, block.pivot, block.work
    t_eval, clock, lanes = samples.t, c.clock, block.status.size
    k, f_new, y, sample, drawn, rows = work[:STAGES], work[F_NEW], work[Y], work[SAMPLE], work[DRAWN], work[POLYNOMIAL:]
    last = y.size - lanes
    while flag[0] == 0 and running(status) > 0:
        h, t_new = next_step(o, s)
        if s.status != RUNNING:
            finish(status, s.status)
            break
        if b.kinematics == 0:
            step = Step(h, t_new, x, k[0], y, work[F_NEW : F_NEW + 1], rows)
            stages(Coefficients(A, B, C, E, D, CONTROL, FSAL), b.rhs, block.w, s.t, step, k, clock)
        else:
            euler(b, block, c, s.t, h)
        strike(y, lanes, status, NAN)  # a stage that is not a number makes an end that is none

        # the end: put back on the manifold, and the derivative there
        clock[0] = t_new
        if b.correct != 0:
            put_back(c, y, status, pivot)
            for l in range(lanes):
                if status[l] == RUNNING and pivot[l] < o.least_pivot:
                    status[l] = SINGULAR
        call(b.rhs, clock, y, block.w, f_new)
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
                    put_sample_back(c, sample, drawn, status)
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
                if status[l] == RUNNING and pivot[l] < block.min_pivot[l]:
                    status[l] = SINGULAR


@jit(numba.void(BatchRecord[::1], LanePointsType, SamplesType, StateRecord[::1], numba.int64, PieceType))
def march_in_lanes(batch, points, samples, clockwork, lanes, piece):
    """The points of a piece at a fixed step, in lanes.

    Parameters
    ----------
    batch : one record of `BATCH`; its addresses are those with lanes.
    points, samples : see `LanePoints` and `PointSamples`.
    clockwork : one record to count steps in.
    lanes : how many.
    piece : see `Piece`.
    """
    b, n, state, last = batch[0], points.x.shape[1], points.state, piece.last
    parameters, w = np.empty(points.p.shape[1] * lanes), np.empty(b.n_w * lanes)
    w_correct, w_kinematics = np.empty(b.n_w_correct * lanes), np.empty(b.n_w_kinematics * lanes)
    x, work = np.empty(n * lanes), np.zeros((ROWS, n * lanes))
    min_pivot, pivot, before, residual = np.empty(lanes), np.ones(lanes), np.empty(lanes), np.ones(RESIDUAL * lanes)
    status, clock = np.empty(lanes, np.int64), np.empty(1)
    for first in range(piece.first, last, lanes):
        if piece.flag[0] != 0:
            return
        o, s = points.options[first], clockwork[0]
        block = Block(first, w, w_kinematics, x, work, status, pivot, min_pivot)
        c = Correction(b.correct, w_correct, o.correct_tol, o.least_pivot, clock, work[X_PLUS], residual, before)
        gather(points.p, first, lanes, parameters)
        gather(points.x, first, lanes, x)
        call(b.prepare, parameters, w)
        if b.kinematics != 0:
            call(b.prepare_kinematics, parameters, w_kinematics)
        for l in range(lanes):
            status[l] = RUNNING if first + l < last else INTERRUPTED  # lanes without a point never run
            min_pivot[l] = -np.inf
        clock[0] = o.t0
        if b.correct != 0:
            call(b.prepare_correct, parameters, w_correct)
            call(b.correct, clock, x, w_correct, c.x_plus, residual)
            for l in range(lanes):
                if b.faded > 0.0:
                    min_pivot[l] = b.faded * residual[2 * lanes + l]
                if residual[2 * lanes + l] < b.watched and status[l] == RUNNING:
                    status[l] = SINGULAR
        s.status, s.steps, s.next_sample, s.t = RUNNING, 0, 0, o.t0
        if samples.t.size > 0 and samples.t[0] == o.t0:
            store(x, samples, first, 0, status)
            s.next_sample = 1
        for l in range(lanes):
            if status[l] == RUNNING:
                state[first + l].next_sample = s.next_sample
                state[first + l].evaluations = 1
        if o.t0 == o.t1:
            finish(status, FINISHED)
        call(b.rhs, clock, x, w, work[0])
        strike(work[0], lanes, status, NAN)
        march_block(b, block, c, samples, o, state, s, piece.flag)
        for l in range(min(lanes, last - first)):
            state[first + l].status = status[l]
            leave(state[first + l], samples.x[first + l])
