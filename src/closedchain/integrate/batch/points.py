"""Many points of a study, each marched by a solver's own `advance`, in one call without Python.

A point is a start and parameters. Threads call these functions at the same time on different points of the same
arrays; what they compute does not depend on how the points are divided.
"""

from typing import NamedTuple

import numba
import numpy as np

from closedchain.integrate.batch.threads import Piece
from closedchain.integrate.project import settle
from closedchain.integrate.step_control import (
    ADVANCE,
    F1,
    F2,
    F3,
    FINISHED,
    INTERRUPTED,
    RESIDUAL,
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


class Points(NamedTuple):
    """Points of a study, one row or record for each.

    Attributes
    ----------
    w, w_correct : (m, n_w), (m, n_wc) parameters of the right-hand side and of the correction.
    atol : (m, n) absolute tolerances.
    options, state : (m,) records.
    x : (m, n) the starts; they are changed.
    """

    w: np.ndarray
    w_correct: np.ndarray
    atol: np.ndarray
    options: np.ndarray
    state: np.ndarray
    x: np.ndarray


class PointSamples(NamedTuple):
    """Times of the samples (k,), and room for those of all points (m, k, n)."""

    t: np.ndarray
    x: np.ndarray


PointsType = numba.types.NamedTuple((F2, F2, F2, OptionsRecord[::1], StateRecord[::1], F2), Points)
SamplesType = numba.types.NamedTuple((F1, F3), PointSamples)
PieceType = numba.types.NamedTuple((numba.int64, numba.int64, numba.int64[::1]), Piece)


@jit(numba.void(numba.int64, F2, F2))
def prepare_all(prepare, p, w):
    """The work vectors `w` (m, n_w) of parameters `p` (m, n_p), by a native ``prepare``."""
    for i in range(p.shape[0]):
        call(prepare, p[i], w[i])


@jit(numba.void(BatchRecord, PointsType, SamplesType, numba.int64, F2))
def enter(b, points, samples, i, work):
    """Begin point i: look at its pivots, take the sample at the start, choose the first step."""
    options, state, x = points.options[i : i + 1], points.state[i : i + 1], points.x[i]
    w, w_correct, atol = points.w[i], points.w_correct[i], points.atol[i]
    o, s = options[0], state[0]
    if b.correct != 0:
        clock, x_plus, residual = np.empty(1), np.empty(x.size), np.ones(RESIDUAL)
        clock[0] = s.t
        call(b.correct, clock, x, w_correct, x_plus, residual)
        if b.faded > 0.0:
            o.min_pivot = b.faded * residual[2]
        if residual[2] < b.watched:
            s.status = SINGULAR
            return
    settle(b.correct, w, w_correct, atol, options, state, x)
    if samples.t.size > 0 and samples.t[0] == o.t0:
        copy(x, samples.x[i, 0])
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


# the solver's function is called by its address: this loop is compiled once, and serves all of them
@jit(numba.void(numba.types.FunctionType(ADVANCE), BatchRecord[::1], PointsType, SamplesType, F2, PieceType))
def march_points(advance, batch, points, samples, work, piece):
    """The points of a piece.

    Parameters
    ----------
    advance : of the solver.
    batch : one record of `BATCH`.
    points, samples : see `Points` and `PointSamples`.
    work : (rows, n) workspace of the solver.
    piece : see `Piece`.
    """
    b = batch[0]
    kept = KeptSteps(np.empty(ATTEMPTS), np.empty((0, points.x.shape[1])), np.empty((0, 0, 0)))
    for i in range(piece.first, piece.last):
        o, s = points.options[i : i + 1], points.state[i : i + 1]
        enter(b, points, samples, i, work)
        e = Equations(b.rhs, b.correct, points.w[i], points.w_correct[i], points.atol[i])
        room, run = SampleRoom(samples.t, samples.x[i]), RunArrays(o, s, points.x[i], work)
        while s[0].status == RUNNING and piece.flag[0] == 0:
            advance(e, room, run, kept)
        leave(s[0], samples.x[i])
