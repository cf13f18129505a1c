"""Diagonally implicit Runge-Kutta methods on ``R(t, y, y', y'') = 0``, with step control.

C. A. Kennedy and M. H. Carpenter (2003), Additive Runge-Kutta schemes for convection-diffusion-reaction equations,
Applied Numerical Mathematics 44, 139-181: the implicit part of ARK4(3)6L[2]SA, of order 4 with an estimate of order 3.
Its first stage is explicit, the last one is the end of the step; all others share one coefficient gamma, and so one
real matrix; what oscillates too fast for the step dies out (it is L-stable).

On a system of second order the stages are

    V_i = v + h sum_j a_ij A_j,     Y_i = y + h sum_j a_ij V_j,     R(t + c_i h, Y_i, V_i, A_i) = 0

Displacements of an equivalent rigid-link system are small in its stiff directions, and its coordinates q are soft: so
the order of the method is what is seen in q, however stiff the links are.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numba
import numpy as np

from closedchain.erls.steps.records import CLOCK, F1, F2, RunType
from closedchain.erls.steps.stage import CONVERGED, prepare, renew, solve_stage
from closedchain.erls.steps.steps import NAN, RUNNING, accept, length, reject
from closedchain.native.jit import jit, part


class Tableau(NamedTuple):
    """A (s, s), c (s,), and e = b - b_hat (s,) of the error estimate; b is the last row of A."""

    A: np.ndarray
    c: np.ndarray
    e: np.ndarray


def _ark4() -> Tableau:
    F, quarter = Fraction, Fraction(1, 4)
    rows = [
        [F(0)],
        [quarter, quarter],
        [F(8611, 62500), F(-1743, 31250), quarter],
        [F(5012029, 34652500), F(-654441, 2922500), F(174375, 388108), quarter],
        [F(15267082809, 155376265600), F(-71443401, 120774400), F(730878875, 902184768), F(2285395, 8070912), quarter],
        [F(82889, 524892), F(0), F(15625, 83664), F(69875, 102672), F(-2260, 8211), quarter],
    ]
    lower = [F(4586570599, 29645900160), F(0), F(178811875, 945068544), F(814220225, 1159782912)]
    lower += [F(-3700637, 11593932), F(61727, 225920)]
    A = np.zeros((6, 6))
    for i, row in enumerate(rows):
        A[i, : len(row)] = [float(x) for x in row]
    e = [float(b - x) for b, x in zip(rows[-1], lower, strict=True)]
    return Tableau(A, np.array([float(sum(row)) for row in rows]), np.array(e))


ARK4 = _ark4()
A, C, E = ARK4
STAGES, GAMMA, EXPONENT = 6, float(A[1, 1]), 1 / 4
# rows of the workspace: accelerations and velocities of the stages; the third and fifth acceleration of the last step;
# and what a stage starts from
ACCELERATIONS, VELOCITIES, OLD, Y, V, ROWS = 0, 6, 12, 14, 15, 16


@part(numba.void(F2, numba.int64, numba.float64, F1))
def predict(work, i, ratio, a):
    """Accelerations of stage i: the polynomial through those before it, and through some of the last step.

    ``ratio`` is the length of the last step over that of this one; 0: there is none.
    """
    places, rows = np.empty(STAGES + 2), np.empty(STAGES + 2, np.int64)
    count = i
    for j in range(i):
        places[j], rows[j] = C[j], ACCELERATIONS + j
    for old in range(2):
        if ratio > 0.0 and i <= 2 + old:
            places[count], rows[count] = (C[2 + 2 * old] - 1.0) * ratio, OLD + old
            count += 1
    for k in range(a.size):
        a[k] = 0.0
    for j in range(count):
        weight = 1.0
        for k in range(count):
            if k != j:
                weight *= (C[i] - places[k]) / (places[j] - places[k])
        for k in range(a.size):
            a[k] += weight * work[rows[j], k]


@part(numba.int64(RunType, numba.float64, F1))
def stages_of(run, h, powers):
    """All stages of a step of length h; the end is put in ``run.end``, and the power at each stage in ``powers``."""
    s, x, end, work = run.state[0], run.x, run.end, run.work
    n, clock = run.scale.size, np.empty(CLOCK)
    for k in range(n):
        work[ACCELERATIONS, k], work[VELOCITIES, k] = x[2, k], x[1, k]
    powers[0] = s.power
    for i in range(1, STAGES):
        for k in range(n):
            dv = 0.0
            dy = 0.0
            for j in range(i):
                dv += A[i, j] * work[ACCELERATIONS + j, k]
                dy += A[i, j] * work[VELOCITIES + j, k]
            work[V, k] = x[1, k] + h * dv
            work[Y, k] = x[0, k] + h * (dy + GAMMA * work[V, k])
        a = work[ACCELERATIONS + i]
        predict(work, i, s.h_old / h, a)
        clock[0] = s.t + C[i] * h
        c = GAMMA * h
        outcome = solve_stage(run, clock, work[Y], work[V], c, c * c, a)
        if outcome != CONVERGED:
            return outcome
        powers[i] = run.memory[0].power
        for k in range(n):
            work[VELOCITIES + i, k] = end[1, k]
            end[2, k] = a[k]
    return CONVERGED


@jit(numba.void(RunType))
def advance(run):
    """Make up to `attempts` attempts; rows OLD of the workspace are kept from step to step."""
    o, s, m, work = run.options[0], run.state[0], run.memory[0], run.work
    s.before = s.steps
    clock, powers = np.empty(CLOCK), np.empty(STAGES)
    for _ in range(o.attempts):
        if s.status != RUNNING:
            break
        h = length(run)
        if h == 0.0:
            break

        # the stages; old derivatives have a second chance as new ones
        outcome = 1
        while True:
            if not m.usable and not renew(run, clock):
                s.status = NAN
                return
            if prepare(run, GAMMA * h, (GAMMA * h) ** 2):
                outcome = stages_of(run, h, powers)
            if outcome == CONVERGED or m.fresh:
                break
            m.usable = 0
        if outcome != CONVERGED:
            reject(run, h, np.nan, EXPONENT)
            continue

        # the error of the positions
        err = 0.0
        for k in range(run.scale.size):
            e = 0.0
            for j in range(STAGES):
                e += E[j] * work[VELOCITIES + j, k]
            err = max(err, abs(h * e) / run.scale[k])
        if not err <= 1.0 and not o.fixed:
            reject(run, h, err, EXPONENT)
            continue

        done = 0.0
        for j in range(STAGES):
            done += h * A[STAGES - 1, j] * powers[j]
        for k in range(run.scale.size):
            work[OLD, k], work[OLD + 1, k] = work[ACCELERATIONS + 2, k], work[ACCELERATIONS + 4, k]
        accept(run, h, err, EXPONENT, done, powers[STAGES - 1])
