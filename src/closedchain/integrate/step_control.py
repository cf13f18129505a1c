"""How long the next step is: error norm, controller, starting step, and what is said when no step works.

An adaptive solver keeps all that it remembers between steps in one record (`STATE`), next to the constants
of the run (`OPTIONS`). It can therefore stop after any attempt and continue later with the same bits.

The error of a step is measured against `atol_i + rtol |x_i|` in the root-mean-square norm. The controller is
that of Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, 2nd ed., II.4, and of
their codes (IV.2 of the second volume): the next step is `h / factor` with

    factor = err^(1/q - 0.75 beta) / err_old^beta / safety,      limited to [1/grow, 1/shrink],

with `err ~ h^q`, safety 0.9, and `beta = 0.04` for dopri5 (Gustafsson's proportional-integral control, which
damps the sawtooth at the border of stability), `beta = 0` for dop853. After a rejection the step does not
grow. The starting step is the heuristic of the same book, II.4, in units of a time that belongs to the equations.
"""

from typing import NamedTuple

import numba
import numpy as np
from numba.core.cgutils import get_null_value
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from closedchain.integrate.trajectory import Status
from closedchain.native.call import call
from closedchain.native.jit import jit

OPTIONS = np.dtype(
    [
        ("t0", "f8"),
        ("t1", "f8"),
        ("direction", "f8"),  # 1 forward, -1 backward
        ("rtol", "f8"),
        ("asked", "f8"),  # the tolerance relative to the sizes of the entries: rtol, or what atol is of them
        ("first_step", "f8"),  # 0: choose
        ("max_step", "f8"),
        ("step", "f8"),  # length of a fixed step
        ("fixed_steps", "i8"),  # number of fixed steps
        ("steps_before", "i8"),  # made before t0
        ("time", "f8"),  # of what moves: by it rates are compared with states
        ("correct_tol", "f8"),
        ("correct_samples", "i8"),
        ("min_pivot", "f8"),  # stop after a step whose correction tells a smaller one
        ("least_pivot", "f8"),  # stop before a step whose correction tells a smaller one
        ("max_steps", "i8"),
        ("attempts", "i8"),  # of one call of `advance`
        ("keep_states", "i8"),
        ("keep_dense", "i8"),
        ("newton_tol", "f8"),  # what an implicit solver may leave, in units of the tolerance; 0: choose
        ("more_samples", "i8"),  # than fit into `samples`: pause when it is full
        ("look_at", "i8"),  # pause after so many steps
        ("detect_stiffness", "i8"),  # and stop where the equations are stiff
        ("team", "i8"),  # address of what brings numbers of all members together; 0: there are no others
        ("corners", "i8"),  # address of the signals of corners, see `march.program.corners`; 0: there are none
        ("corners_work", "i8"),  # length of their work vector, at the end of w
        ("corner_zeros", "i8"),  # how many of them have a corner at zero
        ("corner_signals", "i8"),  # how many there are; the others have a corner at every integer
    ]
)

STATE = np.dtype(
    [
        ("t", "f8"),
        ("h", "f8"),  # length of the next step, positive
        ("wanted", "f8"),  # the length before it was shortened to end at t1 or at a corner
        ("t_before", "f8"),  # start of the last accepted step
        ("h_before", "f8"),  # and its signed length
        ("err_old", "f8"),
        ("h_min", "f8"),
        ("h_max", "f8"),
        ("rejected", "i8"),  # the last attempt was rejected
        ("steps", "i8"),
        ("rejections", "i8"),
        ("evaluations", "i8"),
        ("corrections", "i8"),
        ("next_sample", "i8"),
        ("status", "i8"),
        ("cause", "i8"),  # the status that a collapse of the step would have
        ("bad_index", "i8"),  # of the first entry that was not finite, else -1
        ("failed_corrections", "i8"),  # in a row
        ("pivot", "f8"),  # of the last correction of a step
        ("moved", "f8"),  # by the last correction of a step, in units of the tolerance
        ("restarted", "i8"),  # what holds has changed since the last step
        ("full", "i8"),  # there is no room for more samples
        ("stiff", "i8"),  # steps that were limited by stability, in a row
        ("calm", "i8"),  # and steps that were not
        ("corner", "f8"),  # the time just after the next corner of a force
        ("hop", "f8"),  # length of the step over it; 0: none is expected
        ("approaches", "i8"),  # the last attempt was shortened because of it
    ]
)

# Numba takes integers as constants
RUNNING, FINISHED, PAUSED = int(Status.running), int(Status.finished), int(Status.paused)
NAN, STEP_TOO_SMALL, TOO_MANY_STEPS = int(Status.nan), int(Status.step_too_small), int(Status.too_many_steps)
CORRECTION_FAILED, INTERRUPTED = int(Status.correction_failed), int(Status.interrupted)
SINGULAR, STIFF, NOT_SOLVED = int(Status.singular), int(Status.stiff), int(Status.not_solved)

RESIDUAL = 4  # numbers that a correction tells, at most; see `project`

SAFETY = 0.9
MAX_FAILED_CORRECTIONS = 20
# of the way to a corner: how far before it a step ends, as the place of the corner is not known exactly
BEFORE = 1e-3
EPS = float(np.finfo(float).eps)

# the types of arrays and records in Numba
F1, F2, F3 = numba.float64[::1], numba.float64[:, ::1], numba.float64[:, :, ::1]
OptionsRecord = numba.from_dtype(OPTIONS)
StateRecord = numba.from_dtype(STATE)


class Equations(NamedTuple):
    """What is integrated, as the kernels take it.

    Attributes
    ----------
    rhs, correct : addresses of the right-hand side, and of the correction; 0 for none.
    w, w_correct : their parameters.
    atol : (n,) absolute tolerances.
    """

    rhs: int
    correct: int
    w: np.ndarray
    w_correct: np.ndarray
    atol: np.ndarray


class SampleRoom(NamedTuple):
    """Times of samples (k,), and room for the states there (k, n)."""

    t_eval: np.ndarray
    x: np.ndarray


class RunArrays(NamedTuple):
    """Everything that a run remembers.

    Attributes
    ----------
    options, state : one record each.
    x : (n,) the state.
    work : (rows, n) the derivative at x in row 0, and what the method needs.
    """

    options: np.ndarray
    state: np.ndarray
    x: np.ndarray
    work: np.ndarray


class KeptSteps(NamedTuple):
    """Room for the steps of one call of `advance`.

    Attributes
    ----------
    t : (attempts,) their ends.
    x : (attempts or 0, n) the states there.
    dense : (attempts or 0, rows, n) their polynomials.
    """

    t: np.ndarray
    x: np.ndarray
    dense: np.ndarray


class Step(NamedTuple):
    """One attempt at a step.

    Attributes
    ----------
    h, t_new : its signed length, and its end.
    x, f : (n,) state and derivative at the start.
    y, f_new : (n,), (1, n) state and derivative at the end.
    rows : (m, n) its polynomial, filled where `project.wants_rows` says so.
    """

    h: float
    t_new: float
    x: np.ndarray
    f: np.ndarray
    y: np.ndarray
    f_new: np.ndarray
    rows: np.ndarray


class Scratch(NamedTuple):
    """Workspace for corrections: (1,), (n,), (RESIDUAL,), (n,)."""

    clock: np.ndarray
    x_plus: np.ndarray
    residual: np.ndarray
    before: np.ndarray


EquationsType = numba.types.NamedTuple((numba.int64, numba.int64, F1, F1, F1), Equations)
SamplesType = numba.types.NamedTuple((F1, F2), SampleRoom)
RunType = numba.types.NamedTuple((OptionsRecord[::1], StateRecord[::1], F1, F2), RunArrays)
KeptType = numba.types.NamedTuple((F1, F2, F3), KeptSteps)
StepType = numba.types.NamedTuple((numba.float64, numba.float64, F1, F1, F1, F2, F2), Step)
ScratchType = numba.types.NamedUniTuple(F1, 4, Scratch)

# the signature of every solver's `advance`, for solvers that need nothing else; see the essay in solvers.py
ADVANCE = numba.int64(EquationsType, SamplesType, RunType, KeptType)


@intrinsic
def _view(context, array):
    """The same array without an owner: references to it are not counted."""

    def generate(target, builder, signature, arguments):
        view = make_array(signature.args[0])(target, builder, value=arguments[0])
        view.meminfo = get_null_value(view.meminfo.type)
        view.parent = get_null_value(view.parent.type)
        return view._getvalue()

    return array(array), generate


@jit(numba.types.Tuple((EquationsType, SamplesType, RunType, KeptType))(*ADVANCE.args))
def unowned_views(e, samples, run, kept):
    """The same arrays without counted references, which cost as much as the arithmetic; the caller owns the arrays."""
    return (
        Equations(e.rhs, e.correct, _view(e.w), _view(e.w_correct), _view(e.atol)),
        SampleRoom(_view(samples.t_eval), _view(samples.x)),
        RunArrays(_view(run.options), _view(run.state), _view(run.x), _view(run.work)),
        KeptSteps(_view(kept.t), _view(kept.x), _view(kept.dense)),
    )


@jit(
    numba.types.UniTuple(numba.float64, 4)(numba.int64, F1, numba.float64, numba.float64, numba.float64, numba.float64)
)
def together(team, w, one, two, three, largest):
    """Sums of three numbers over all members of a team, and the largest of a fourth one; w is that of `rhs`.

    Members of a team march together, each with a part of the state: whatever decides what is done next must be the same
    number for all of them, to the last bit.
    """
    if team == 0:
        return one, two, three, largest
    values = np.empty(4)
    values[0], values[1], values[2], values[3] = one, two, three, largest
    call(team, values)
    return values[0], values[1], values[2], values[3]


@jit(numba.float64(F1, F1, F1, F1, numba.float64, numba.int64, F1))
def scaled_norm(e, x, y, atol, rtol, team, w):
    """Root mean square of `e_i / (atol_i + rtol max(|x_i|, |y_i|))`."""
    total = 0.0
    for i in range(e.size):
        total += (e[i] / (atol[i] + rtol * max(abs(x[i]), abs(y[i])))) ** 2
    total, n, _, _ = together(team, w, total, float(e.size), 0.0, 0.0)
    return np.sqrt(total / n)


@jit(numba.void(F1, F1))
def copy(source, target):
    """`target[:] = source`, without the checks of an array assignment, which take long to compile."""
    for i in range(source.size):
        target[i] = source[i]


@jit(numba.int64(F2))
def first_nonfinite(k):
    """Column of the first entry of `k` that is not finite, reading row by row; -1 if all are finite."""
    for j in range(k.shape[0]):
        for i in range(k.shape[1]):
            if not np.isfinite(k[j, i]):
                return i
    return -1


@jit(numba.boolean(numba.int64, F1, F2, StateRecord))
def broken(team, w, k, s):
    """Whether an entry of `k` is not finite, here or at another member; which one here is told in `bad_index`."""
    s.bad_index = first_nonfinite(k)
    return together(team, w, 0.0, 0.0, 0.0, 1.0 if s.bad_index >= 0 else 0.0)[3] > 0.0


@jit(numba.float64(OptionsRecord, StateRecord))
def up_to_corner(o, s):
    """Length of a step that ends just before a corner, or hops over it; see `integrate.corner_steps`."""
    left = (s.corner - s.t) * o.direction
    if left <= 0.0:
        s.hop = 0.0
        return np.inf
    return s.hop if left <= 0.5 * s.hop else (1.0 - BEFORE) * left - 0.25 * s.hop


@jit(numba.void(StateRecord))
def go_on(s):
    """The step after one that a corner has shortened is as long as it would have been."""
    if s.approaches:
        s.h = max(s.h, s.wanted)
        s.approaches = 0


@jit(numba.float64(OptionsRecord, StateRecord))
def next_step(o, s):
    """Signed length of the step to attempt; 0 with a status set when there must be none."""
    if s.steps + s.rejections >= o.max_steps:
        s.status = TOO_MANY_STEPS
        return 0.0

    # a step below the resolution of t says that something else is wrong: the last cause of rejection
    if s.h <= 16.0 * EPS * abs(s.t) + EPS * EPS * abs(o.t1 - o.t0):
        s.status = s.cause
        return 0.0

    # stretch by one percent rather than leave a crumb for the last step
    rest = abs(o.t1 - s.t)
    h = min(s.h, o.max_step)
    s.wanted = h
    if s.hop > 0.0:
        h = min(h, up_to_corner(o, s))
        s.approaches = h < s.wanted
    if rest < 1.01 * h:
        h = rest if rest <= o.max_step else 0.5 * rest
    return o.direction * h


@jit(numba.float64(OptionsRecord, StateRecord, numba.float64))
def end_time(o, s, h):
    """The time at the end of a step, exactly `t1` for the last one."""
    return o.t1 if abs(h) >= abs(o.t1 - s.t) else s.t + h


@jit(numba.void(StateRecord, numba.float64, numba.float64, numba.float64, F2, numba.int64, F1))
def reject(s, h, err, exponent, k, team, w):
    """Book a step whose error was too large or not finite, and shorten the next one.

    Parameters
    ----------
    s : the record of `STATE`.
    h : the step that was tried.
    err : its error, `> 1` or not finite.
    exponent : `1 / q`.
    k : (stages, n) derivatives of the attempt.
    team, w : as for `together`; the cause is the same for all members.
    """
    s.rejections += 1
    s.rejected = 1
    if np.isfinite(err):
        s.cause = STEP_TOO_SMALL
        s.h = abs(h) * max(0.2, SAFETY * err**-exponent)
        return

    # perhaps a trial point left the domain of the right-hand side: come closer before giving up
    s.cause = NAN if broken(team, w, k, s) else STEP_TOO_SMALL
    s.h = 0.25 * abs(h)


@jit(numba.void(StateRecord, numba.float64))
def reject_correction(s, h):
    """Book a step whose end could not be put back on the manifold: half the step, but not for ever."""
    s.rejections += 1
    s.rejected = 1
    s.cause = CORRECTION_FAILED
    s.h = 0.5 * abs(h)
    s.failed_corrections += 1
    if s.failed_corrections >= MAX_FAILED_CORRECTIONS:
        s.status = CORRECTION_FAILED


@jit(numba.void(OptionsRecord, StateRecord, StepType, numba.int64, KeptType))
def accept(o, s, step, done, kept):
    """Move to the end of a step, and keep what is asked for.

    Parameters
    ----------
    o, s : the records of the run.
    step : the step; its start becomes its end.
    done : the number of steps kept before.
    kept : room for them.
    """
    h, t_new = step.h, step.t_new
    kept.t[done] = t_new
    if o.keep_states:
        copy(step.y, kept.x[done])
    if o.keep_dense:
        for j in range(step.rows.shape[0]):
            copy(step.rows[j], kept.dense[done, j])
    copy(step.y, step.x)
    copy(step.f_new[0], step.f)

    s.t_before = s.t
    s.h_before = h
    s.t = t_new
    s.steps += 1
    s.h_min = min(s.h_min, abs(h))
    s.h_max = max(s.h_max, abs(h))
    s.restarted = 0
    s.failed_corrections = 0
    s.bad_index = -1
    s.cause = STEP_TOO_SMALL
    if t_new == o.t1:
        s.status = FINISHED
    elif s.pivot < o.min_pivot:
        s.status = SINGULAR
    elif s.full or s.steps == o.look_at:
        s.status = PAUSED


@jit(numba.void(StateRecord, numba.float64, numba.float64, numba.float64, numba.float64, numba.float64, numba.float64))
def propose(s, h, err, exponent, beta, shrink, grow):
    """Choose the step after an accepted one, by proportional-integral control.

    Parameters
    ----------
    s : the record of `STATE`.
    h, err : the accepted step and its error, `err <= 1`.
    exponent, beta, shrink, grow : the letters of the module's docstring; exponent is `1/q - 0.75 beta`.
    """
    factor = err**exponent / s.err_old**beta / SAFETY
    factor = min(1.0 / shrink, max(1.0 / grow, factor))
    if s.rejected:
        factor = max(factor, 1.0)
    s.h = abs(h) / factor
    s.err_old = max(err, 1e-4)
    s.rejected = 0
    go_on(s)


@jit(numba.void(numba.int64, F1, F1, OptionsRecord[::1], StateRecord[::1], F1, F2, numba.float64))
def begin(rhs, w, atol, options, state, x, work, q):
    """Evaluate the derivative at the start, and choose the first step unless it is given.

    Parameters
    ----------
    rhs, w, atol, options, state, x, work : as for `ADVANCE`; row 0 of work receives the derivative.
    q : the order of the error estimate plus one; 0 for a fixed step.
    """
    o, s = options[0], state[0]
    clock = np.empty(1)
    clock[0] = s.t
    f = work[0]
    call(rhs, clock, x, w, f)
    s.evaluations += 1
    if broken(o.team, w, work[:1], s):
        s.status = NAN
        return
    if q == 0.0:
        return
    limit = min(o.max_step, abs(o.t1 - o.t0))
    if o.first_step > 0.0:
        s.h = min(o.first_step, limit)
        return

    # a first guess: one percent of |x| / |x'|
    d0 = scaled_norm(x, x, x, atol, o.rtol, o.team, w)
    d1 = o.time * scaled_norm(f, x, x, atol, o.rtol, o.team, w)
    h0 = o.time * (1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1)
    h0 = min(h0, limit)

    # an explicit Euler step estimates the second derivative
    y, fy = work[1], work[2]
    for i in range(x.size):
        y[i] = x[i] + o.direction * h0 * f[i] if atol[i] < np.inf else x[i]
    clock[0] = s.t + o.direction * h0
    call(rhs, clock, y, w, fy)
    s.evaluations += 1
    for i in range(x.size):
        fy[i] -= f[i]
    d2 = o.time * scaled_norm(fy, x, x, atol, o.rtol, o.team, w) / (h0 / o.time)

    # h^q max(|x'|, |x''|) = 0.01
    steepest = max(d1, d2)
    if not np.isfinite(d2):
        s.h = 1e-3 * h0
    elif steepest <= 1e-15:
        s.h = min(max(1e-6 * o.time, 1e-3 * h0), limit)
    else:
        s.h = min(100.0 * h0, o.time * (0.01 / steepest) ** (1.0 / q), limit)


@jit(numba.void(numba.int64, F1, OptionsRecord[::1], StateRecord[::1], F1, F2))
def renew(rhs, w, options, state, x, work):
    """Evaluate the derivative at the start of the next step again, after parameters have changed."""
    o, s = options[0], state[0]
    clock = np.empty(1)
    clock[0] = s.t
    call(rhs, clock, x, w, work[0])
    s.evaluations += 1
    if broken(o.team, w, work[:1], s):
        s.status = NAN
