"""Generalised-alpha on ``R(t, y, y', y'') = 0``: order 2, with the damping of high frequencies as a choice.

J. Chung and G. M. Hulbert (1993), Journal of Applied Mechanics 60, 371-375; in the form of M. Arnold and O. Bruels
(2007), Multibody System Dynamics 18, 185-202, the equations hold at the end of each step, and accelerations a of a
little earlier are carried along:

    (1 - alpha_m) a_1 + alpha_m a_0 = (1 - alpha_f) y''_1 + alpha_f y''_0
    y_1 = y_0 + h y'_0 + h^2 ((1/2 - beta) a_0 + beta a_1),       y'_1 = y'_0 + h ((1 - gamma) a_0 + gamma a_1)

All numbers follow from the spectral radius rho at infinity: 1 damps nothing, 0 what the step does not resolve at once.
The error estimate is the difference of the accelerations, ``h^2 |beta - 1/6| (a_1 - a_0)``, after O. C. Zienkiewicz and
Y. M. Xie (1991), Earthquake Engineering and Structural Dynamics 20, 871-887.
"""

from __future__ import annotations

import numba
import numpy as np

from closedchain.erls.steps.records import CLOCK, RunType
from closedchain.erls.steps.stage import CONVERGED, prepare, renew, solve_stage
from closedchain.erls.steps.steps import NAN, RUNNING, accept, length, reject
from closedchain.native.jit import jit

EXPONENT = 1 / 3
# rows of the workspace: the accelerations that are carried along, now, for this step and at its end; what a step starts
# from
EARLIER, SHIFTED, NEXT, ACCELERATIONS, Y, V, ROWS = 0, 1, 2, 3, 4, 5, 6


@jit(numba.void(RunType))
def advance(run):
    """Make up to `attempts` attempts; row EARLIER of the workspace is kept from step to step."""
    o, s, m, x, work = run.options[0], run.state[0], run.memory[0], run.x, run.work
    s.before = s.steps
    clock, n = np.empty(CLOCK), run.scale.size
    alpha_m, alpha_f = (2.0 * o.rho - 1.0) / (o.rho + 1.0), o.rho / (o.rho + 1.0)
    gamma = 0.5 + alpha_f - alpha_m
    beta = 0.25 * (1.0 + alpha_f - alpha_m) ** 2
    share = (1.0 - alpha_f) / (1.0 - alpha_m)
    a = work[ACCELERATIONS]
    for _ in range(o.attempts):
        if s.status != RUNNING:
            break
        h = length(run)
        if h == 0.0:
            break
        ratio = h / s.h_old if s.h_old > 0.0 else 1.0
        for k in range(n):
            # what is carried along is of a time that is earlier by a part of the step: another step, another time
            work[SHIFTED, k] = x[2, k] + ratio * (work[EARLIER, k] - x[2, k])
            rest = (alpha_f * x[2, k] - alpha_m * work[SHIFTED, k]) / (1.0 - alpha_m)
            work[Y, k] = x[0, k] + h * x[1, k] + h * h * ((0.5 - beta) * work[SHIFTED, k] + beta * rest)
            work[V, k] = x[1, k] + h * ((1.0 - gamma) * work[SHIFTED, k] + gamma * rest)
            work[NEXT, k] = rest
        c, factor = gamma * h * share, beta * h * h * share
        outcome = 1
        while True:
            if not m.usable and not renew(run, clock):
                s.status = NAN
                return
            if prepare(run, c, factor):
                for k in range(n):
                    a[k] = x[2, k]
                clock[0] = s.t + h
                outcome = solve_stage(run, clock, work[Y], work[V], c, factor, a)
            if outcome == CONVERGED or m.fresh:
                break
            m.usable = 0
        if outcome != CONVERGED:
            reject(run, h, np.nan, EXPONENT)
            continue

        err = 0.0
        for k in range(n):
            run.end[2, k] = a[k]
            work[NEXT, k] += share * a[k]
            err = max(err, h * h * abs((beta - 1.0 / 6.0) * (work[NEXT, k] - work[SHIFTED, k])) / run.scale[k])
        if not err <= 1.0 and not o.fixed:
            reject(run, h, err, EXPONENT)
            continue
        for k in range(n):
            work[EARLIER, k] = work[NEXT, k]
        done = 0.5 * h * (s.power + m.power)
        accept(run, h, err, EXPONENT, done, m.power)
