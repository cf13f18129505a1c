"""Many points of a study, each marched by a solver's own `advance`, in one call without Python.

A point is a start and parameters. Threads call these functions at the same time on different points of the same
arrays; what they compute does not depend on how the points are divided.
"""

import numba
import numpy as np

from closedchain.integrate.project import settle
from closedchain.integrate.step_control import (
    ADVANCE,
    F1,
    F2,
    F3,
    FINISHED,
    INTERRUPTED,
    RUNNING,
    SINGULAR,
    Equations,
    KeptSteps,
    OptionsRecord,
    RunArrays,
    SampleRoom,
    StateRecord,
    begin,
    copy,
)
from closedchain.native.call import call
from closedchain.native.jit import jit

ATTEMPTS = 100  # between two looks at whether the study is to stop

# what is the same for all points, and how they begin
BATCH = np.dtype(
    [
        ("rhs", "i8"),  # addresses
        ("correct", "i8"),
        ("error_order", "f8"),  # of the solver, see `begin`
        ("watched", "f8"),  # a point that starts with a smaller pivot is singular
        ("faded", "f8"),  # share of the first pivot at which a run stops
        # with lanes also
        ("prepare", "i8"),  # addresses of what gives the parameters of rhs, of correct and of the kinematics
        ("prepare_correct", "i8"),
        ("prepare_kinematics", "i8"),
        ("n_w", "i8"),  # how many there are for a point
        ("n_w_correct", "i8"),
        ("n_w_kinematics", "i8"),
        ("kinematics", "i8"),  # address, for semi-implicit Euler
        ("tangent", "i8"),  # whether the correction changes velocities
        ("nq", "i8"),  # coordinates
    ]
)
BatchRecord = numba.from_dtype(BATCH)

MARCH = numba.void(
    # the solver's function is called by its address: this loop is compiled once, and serves all of them
    numba.types.FunctionType(ADVANCE),
    BatchRecord[::1],  # one record
    F2,  # w (m, n_w): parameters of rhs
    F2,  # w_correct (m, n_wc): parameters of correct
    F2,  # atol (m, n)
    F1,  # t_eval (k)
    F3,  # samples (m, k, n)
    OptionsRecord[::1],  # m records
    StateRecord[::1],  # m records
    F2,  # x (m, n)
    F2,  # work (rows, n)
    numba.int64,  # first point
    numba.int64,  # the one after the last
    numba.int64[::1],  # one flag: not 0 to stop
)


@jit(numba.void(numba.int64, F2, F2))
def prepare_all(prepare, p, w):
    """The work vectors `w` (m, n_w) of parameters `p` (m, n_p), by a native ``prepare``."""
    for i in range(p.shape[0]):
        call(prepare, p[i], w[i])


@jit(numba.void(BatchRecord, F1, F1, F1, F1, F2, OptionsRecord[::1], StateRecord[::1], F1, F2))
def enter(b, w, w_correct, atol, t_eval, samples, options, state, x, work):
    """Begin one point: look at its pivots, take the sample at the start, choose the first step."""
    o, s = options[0], state[0]
    if b.correct != 0:
        clock, x_plus, residual = np.empty(1), np.empty(x.size), np.ones(3)
        clock[0] = s.t
        call(b.correct, clock, x, w_correct, x_plus, residual)
        if b.faded > 0.0:
            o.min_pivot = b.faded * residual[2]
        if residual[2] < b.watched:
            s.status = SINGULAR
            return
    settle(b.correct, w, w_correct, atol, options, state, x)
    if t_eval.size > 0 and t_eval[0] == o.t0:
        copy(x, samples[0])
        s.next_sample = 1
    if o.t0 == o.t1:
        s.status = FINISHED
        return
    begin(b.rhs, w, atol, options, state, x, work, b.error_order)


@jit(numba.void(StateRecord, F2))
def leave(s, samples):
    """End one point: samples that it did not reach hold nothing."""
    if s.status == RUNNING:
        s.status = INTERRUPTED
    for j in range(s.next_sample, samples.shape[0]):
        for i in range(samples.shape[1]):
            samples[j, i] = np.nan


@jit(MARCH)
def march_points(advance, batch, w, w_correct, atol, t_eval, samples, options, state, x, work, first, last, flag):
    """Points ``first`` to ``last``."""
    b = batch[0]
    kept = KeptSteps(np.empty(ATTEMPTS), np.empty((0, x.shape[1])), np.empty((0, 0, 0)))
    for i in range(first, last):
        o, s = options[i : i + 1], state[i : i + 1]
        enter(b, w[i], w_correct[i], atol[i], t_eval, samples[i], o, s, x[i], work)
        e = Equations(b.rhs, b.correct, w[i], w_correct[i], atol[i])
        room, run = SampleRoom(t_eval, samples[i]), RunArrays(o, s, x[i], work)
        while s[0].status == RUNNING and flag[0] == 0:
            advance(e, room, run, kept)
        leave(s[0], samples[i])
