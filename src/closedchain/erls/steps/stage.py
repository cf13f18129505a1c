"""One implicit stage of an integrator: solve ``R(t, Y + k a, V + c a, a) = 0`` for the accelerations a.

Every method here is a sequence of such stages: of a Runge-Kutta method with ``c = gamma h, k = (gamma h)^2``, of
generalised-alpha with ``c = gamma' h, k = beta' h^2``. Newton's iteration matrix is ``M + c C + k K``: one
factorisation serves all stages of a step, and as many steps as it converges well in.

The functions are called by their addresses, see `kernels`.
"""

from __future__ import annotations

import numba
import numpy as np

from closedchain.erls.steps.records import F1, FACTOR, LINEARISE, RESIDUAL, SOLVE, RunType
from closedchain.native.call import call
from closedchain.native.jit import part

CONVERGED, SLOW, NOT_COMPUTED, SINGULAR = range(4)
ITERATIONS = 10
ENOUGH = 0.05  # of the tolerance: what the error that the iterations leave in the velocities may do within a run
FIRST_RATE = 0.1  # of a new matrix, before it is known


@part(numba.boolean(RunType, F1))
def renew(run, clock):
    """Derivatives at the start of a step."""
    m = run.memory[0]
    m.linearisations += 1
    m.k = 0.0
    clock[0] = run.state[0].t
    call(run.functions[LINEARISE], run.table, clock, run.x[0], run.x[1], run.x[2], run.r)
    m.fresh, m.usable, m.rate = 1, 1, 0.0
    return clock[1] != 0.0


@part(numba.boolean(RunType, numba.float64, numba.float64))
def prepare(run, c, k):
    """Factors of ``M + c C + k K``, if they are not there."""
    m = run.memory[0]
    if m.k == k:
        return True
    weights = np.empty(4)
    weights[0], weights[1], weights[2], weights[3] = 0.0, 1.0, c, k
    call(run.functions[FACTOR], run.table, weights)
    m.factorisations += 1
    m.k = k if weights[0] != 0.0 else 0.0
    return weights[0] != 0.0


@part(numba.int64(RunType, F1, F1, F1, numba.float64, numba.float64, F1))
def solve_stage(run, clock, Y, V, c, k, a):
    """Solve for a, from what is there; y and y' of the stage are put in ``run.end``.

    Parameters
    ----------
    clock : time of the stage, first.
    Y, V, c, k : ``y = Y + k a``, ``v = V + c a``.
    a : (n,) receives the stage.

    Returns
    -------
    CONVERGED, SLOW or NOT_COMPUTED.
    """
    m, y, v, r, scale = run.memory[0], run.end[0], run.end[1], run.r, run.scale
    n = a.size
    before = 0.0
    rate = max(m.rate, 1e-3) if m.rate > 0.0 else FIRST_RATE
    for iteration in range(ITERATIONS):
        for i in range(n):
            y[i] = Y[i] + k * a[i]
            v[i] = V[i] + c * a[i]
        call(run.functions[RESIDUAL], run.table, clock, y, v, a, r)
        if clock[1] == 0.0:
            return NOT_COMPUTED
        call(run.functions[SOLVE], run.table, r)
        m.iterations += 1
        size = 0.0
        for i in range(n):
            a[i] -= r[i]
            size = max(size, abs(c * r[i]) * m.time / scale[i])
        if not np.isfinite(size):
            return NOT_COMPUTED
        if iteration > 0 and before > 0.0:
            rate = size / before
            if rate >= 1.0 and size > ENOUGH:
                return SLOW
            m.rate = max(m.rate, min(rate, 1.0)) if size > 1e-2 * ENOUGH else m.rate
        if size * rate / max(1.0 - rate, 1e-3) <= ENOUGH:
            for i in range(n):
                y[i] = Y[i] + k * a[i]
                v[i] = V[i] + c * a[i]
            m.power, m.health, m.closed = clock[2], clock[3], clock[4]
            return CONVERGED
        before = size
    return SLOW
