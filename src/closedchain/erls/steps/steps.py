"""What the integrators share about steps: the solution between them, and how long the next one is."""

from __future__ import annotations

import numba
import numpy as np

from closedchain.erls.steps.records import CLOCK, CLOSE, F2, RunType
from closedchain.integrate.trajectory import Status
from closedchain.native.call import call
from closedchain.native.jit import jit, part

# Numba takes integers as constants
RUNNING, FINISHED, NAN = int(Status.running), int(Status.finished), int(Status.nan)
TOO_SMALL, TOO_MANY = int(Status.step_too_small), int(Status.too_many_steps)
UNHEALTHY, NOT_SOLVED = int(Status.singular), int(Status.not_solved)

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


@part(numba.float64(RunType))
def length(run):
    """Length of the next attempt; 0 with a status if there is none."""
    o, s, m = run.options[0], run.state[0], run.memory[0]
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


@part(numba.void(RunType, numba.float64, numba.float64, numba.float64))
def reject(run, h, err, exponent):
    """A shorter step: after an error that is too large, or (err is not a number) one that could not be solved."""
    o, s, m = run.options[0], run.state[0], run.memory[0]
    s.rejections += 1
    s.rejected = 1
    solved = np.isfinite(err)
    m.cause = TOO_SMALL if solved else NOT_SOLVED
    s.h = h * max(SHRINK, SAFETY * err**-exponent) if solved else 0.4 * h
    if not solved:
        m.usable = 0
        if o.fixed:
            s.status = NOT_SOLVED


@part(numba.void(RunType, numba.float64, numba.float64, numba.float64, numba.float64))
def take_samples(run, t_new, h, work, power):
    """Samples on the way of a step of length h to t_new, with the work done in it, and the power at its end."""
    s, samples, clock = run.state[0], run.samples, np.empty(CLOCK)
    while s.next < samples.t.size and samples.t[s.next] <= t_new:
        theta = min(max((samples.t[s.next] - s.t) / h, 0.0), 1.0)
        z = 1.0 - theta
        hermite(theta, h, run.x, run.end, samples.x[s.next])
        clock[0] = samples.t[s.next]
        call(run.functions[CLOSE], run.table, clock, samples.x[s.next, 0], samples.trees[s.next])
        if clock[1] == 0.0:
            for k in range(samples.trees.shape[1]):
                samples.trees[s.next, k] = np.nan
        slopes = theta * z * h * (z * s.power - theta * power)
        samples.works[s.next, 0] = s.W + theta * theta * (3.0 - 2.0 * theta) * work + slopes
        samples.works[s.next, 1] = h
        s.next += 1


@part(numba.void(RunType, numba.float64, numba.float64, numba.float64, numba.float64, numba.float64))
def accept(run, h, err, exponent, work, power):
    """Take samples on the way, go to the end of the step, and say how long the next one is.

    Parameters
    ----------
    h, err, exponent : length and error of the step; ``err ~ h^(1 / exponent)``.
    work, power : work done in the step, and power at its end.
    """
    o, s, m = run.options[0], run.state[0], run.memory[0]
    last = s.t + h * (1.0 + NEAR) >= o.end
    t_new = o.end if last else s.t + h
    healthy = m.health > o.healthy and not m.closed < o.closed
    if healthy:  # not past a pose where the run ends
        take_samples(run, t_new, h, work, power)
    for row in range(3):
        for k in range(run.x.shape[1]):
            run.x[row, k] = run.end[row, k]
    s.W += work
    s.power = power
    s.t = t_new
    run.ends[s.steps - s.before] = t_new
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
