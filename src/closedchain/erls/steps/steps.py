"""What the integrators share about steps: their records, the solution between them, and how long the next one is."""

from __future__ import annotations

import numba
import numpy as np

from closedchain.erls.steps.stage import CLOCK, CLOSE, F1, F2, I1, MemoryRecord
from closedchain.native.call import call
from closedchain.native.jit import jit

STATE = np.dtype(
    [
        ("t", "f8"),
        ("h", "f8"),  # of the next step
        ("W", "f8"),  # work done so far
        ("power", "f8"),  # of all that acts, now
        ("h_old", "f8"),  # of the last accepted step; 0: none
        ("err_old", "f8"),
        ("steps", "i8"),
        ("rejections", "i8"),
        ("next", "i8"),  # sample
        ("status", "i8"),
        ("h_min", "f8"),
        ("h_max", "f8"),
        ("rejected", "i8"),  # the last attempt was
    ]
)
OPTIONS = np.dtype(
    [
        ("end", "f8"),
        ("fixed", "i8"),  # steps have one length
        ("max_step", "f8"),
        ("attempts", "i8"),  # of one call
        ("max_steps", "i8"),
        ("healthy", "f8"),  # determinant of the zeroed block over that at the start: what is less ends the run
        ("closed", "f8"),  # of the loops: the same
        ("rho", "f8"),  # of generalised-alpha
    ]
)
StateRecord, OptionsRecord = numba.from_dtype(STATE), numba.from_dtype(OPTIONS)
F3 = numba.float64[:, :, ::1]

# numbers of integrate.trajectory.Status
RUNNING, FINISHED, NAN, TOO_SMALL, TOO_MANY, UNHEALTHY, NOT_SOLVED = 0, 1, 2, 3, 4, 7, 14

SAFETY, SHRINK, GROW = 0.85, 0.2, 2.0
SAME_STEP = 1.15  # a growth that is not worth new factors
GOOD_RATE = 0.025  # of convergence up to which derivatives are used again
NEAR = 1e-7  # of a step: an end nearer than this is reached by it


@jit(numba.void(numba.float64, numba.float64, F2, F2, F2))
def hermite(x, h, start, end, out):
    """y, y' and y'' (rows) at x (0 to 1) of a step, by the polynomial of fifth degree that has all three at both
    ends.
    """
    z = 1.0 - x
    p, dp = x * x * x * (10.0 - x * (15.0 - 6.0 * x)), 30.0 * x * x * z * z
    q0, dq0 = x * z * z * z * (1.0 + 3.0 * x), 1.0 - x * x * (18.0 - x * (32.0 - 15.0 * x))
    q1, dq1 = -x * x * x * z * (1.0 + 3.0 * z), -x * x * (12.0 - x * (28.0 - 15.0 * x))
    s0, ds0 = 0.5 * x * x * z * z * z, 0.5 * x * (2.0 - x * (9.0 - x * (12.0 - 5.0 * x)))
    s1, ds1 = 0.5 * x * x * x * z * z, 0.5 * x * x * (3.0 - x * (8.0 - 5.0 * x))
    for i in range(start.shape[1]):
        move = end[0, i] - start[0, i]
        bend = s0 * start[2, i] + s1 * end[2, i]
        out[0, i] = start[0, i] + p * move + h * (q0 * start[1, i] + q1 * end[1, i] + h * bend)
        out[1, i] = dp * move / h + dq0 * start[1, i] + dq1 * end[1, i] + h * (ds0 * start[2, i] + ds1 * end[2, i])
        out[2, i] = z * start[2, i] + x * end[2, i]


@jit(numba.float64(OptionsRecord, StateRecord, MemoryRecord))
def length(o, s, m):
    """Length of the next attempt; 0 with a status if there is none."""
    if s.steps + s.rejections >= o.max_steps:
        s.status = TOO_MANY
        return 0.0
    h = min(s.h, o.max_step)
    if s.t + h * (1.0 + NEAR) >= o.end:
        h = o.end - s.t
    if not h > 1e-14 * abs(s.t) + 1e-20 * (o.end - s.t):
        s.status = m.cause if m.cause != 0 else TOO_SMALL
        return 0.0
    return h


@jit(numba.void(OptionsRecord, StateRecord, MemoryRecord, numba.float64, numba.float64, numba.float64))
def reject(o, s, m, h, err, exponent):
    """A shorter step: after an error that is too large, or (err is not a number) one that could not be solved."""
    s.rejections += 1
    s.rejected = 1
    solved = np.isfinite(err)
    m.cause = TOO_SMALL if solved else NOT_SOLVED
    s.h = h * max(SHRINK, SAFETY * err**-exponent) if solved else 0.4 * h
    if not solved:
        m.usable = 0
        if o.fixed:
            s.status = NOT_SOLVED


@jit(
    numba.void(
        I1, I1, OptionsRecord, StateRecord, MemoryRecord, numba.float64, numba.float64, numba.float64, numba.float64,
        numba.float64, F2, F2, F1, F3, F2, F2,
    )
)  # fmt: skip
def accept(functions, table, o, s, m, h, err, exponent, work, power, x, end, t_eval, samples, trees, works):
    """Take samples on the way, go to the end of the step, and say how long the next one is.

    Parameters
    ----------
    functions, table : addresses of the kernels, and their memory.
    h, err, exponent : length and error of the step; ``err ~ h^(1 / exponent)``.
    work, power : work done in the step, and power at its end.
    x, end : (3, n) y, y', y'' at its start, which is overwritten, and at its end.
    t_eval, samples, trees, works : (m,), (m, 3, n), (m, tree), (m, 2) times; solution and closed tree there; work done
        until then, and the length of the step around it.
    """
    clock = np.empty(CLOCK)
    last = s.t + h * (1.0 + NEAR) >= o.end
    t_new = o.end if last else s.t + h
    healthy = m.health > o.healthy and not m.closed < o.closed
    while healthy and s.next < t_eval.size and t_eval[s.next] <= t_new:  # not past a pose where the run ends
        theta = min(max((t_eval[s.next] - s.t) / h, 0.0), 1.0)
        z = 1.0 - theta
        hermite(theta, h, x, end, samples[s.next])
        clock[0] = t_eval[s.next]
        call(functions[CLOSE], table, clock, samples[s.next, 0], trees[s.next])
        if clock[1] == 0.0:
            for k in range(trees.shape[1]):
                trees[s.next, k] = np.nan
        slopes = theta * z * h * (z * s.power - theta * power)
        works[s.next, 0] = s.W + theta * theta * (3.0 - 2.0 * theta) * work + slopes
        works[s.next, 1] = h
        s.next += 1
    for k in range(x.shape[1]):
        x[0, k], x[1, k], x[2, k] = end[0, k], end[1, k], end[2, k]
    s.W += work
    s.power = power
    s.t = t_new
    s.steps += 1
    s.h_min, s.h_max = min(s.h_min, h), max(s.h_max, h)
    if not healthy:
        s.status = UNHEALTHY
    elif last:
        s.status = FINISHED

    factor = SAFETY * max(err, 1e-8) ** -exponent
    if s.h_old > 0.0 and not s.rejected:  # Gustafsson's prediction
        factor = min(factor, SAFETY * h / s.h_old * (s.err_old / max(err, 1e-8) ** 2) ** exponent)
    factor = min(GROW, max(SHRINK, factor))
    if s.rejected:
        factor = min(factor, 1.0)
    s.h_old, s.err_old, s.rejected = h, max(err, 1e-2), 0
    m.fresh = 0
    if m.rate > GOOD_RATE:
        m.usable = 0
    elif 1.0 <= factor <= SAME_STEP:
        factor = 1.0
    m.rate *= 0.5  # the worst of the last stages is forgotten slowly
    if not last and not o.fixed:
        s.h = h * factor
