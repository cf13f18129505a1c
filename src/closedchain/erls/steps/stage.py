"""One implicit stage of an integrator: solve ``R(t, Y + k a, V + c a, a) = 0`` for the accelerations a.

Every method here is a sequence of such stages: of a Runge-Kutta method with ``c = gamma h, k = (gamma h)^2``, of
generalised-alpha with ``c = gamma' h, k = beta' h^2``. Newton's iteration matrix is ``M + c C + k K``: one
factorisation serves all stages of a step, and as many steps as it converges well in.

The functions are called by their addresses, see `kernels`.
"""

from __future__ import annotations

import numba
import numpy as np

from closedchain.native.call import call
from closedchain.native.jit import jit

F1, F2 = numba.float64[::1], numba.float64[:, ::1]
I1 = numba.int64[::1]

MEMORY = np.dtype(
    [
        ("linearisations", "i8"),
        ("factorisations", "i8"),
        ("iterations", "i8"),
        ("fresh", "i8"),  # the derivatives belong to the start of this step
        ("usable", "i8"),  # there are derivatives that have served well
        ("k", "f8"),  # the coefficient for which the factors are right; 0: none
        ("rate", "f8"),  # of convergence, the worst of the last stages
        ("power", "f8"),  # at the last stage
        ("health", "f8"),  # of the zeroed block at the last stage
        ("closed", "f8"),  # and of the loops
        ("cause", "i8"),  # of the last failure
        ("time", "f8"),  # s, for which an error of the velocities goes on
    ]
)
MemoryRecord = numba.from_dtype(MEMORY)

CLOCK = 5  # numbers that go to the kernels and come back: time, whether it worked, power, health of two kinds
RESIDUAL, LINEARISE, FACTOR, SOLVE, CLOSE = range(5)
CONVERGED, SLOW, NOT_COMPUTED, SINGULAR = range(4)
ITERATIONS = 10
ENOUGH = 0.05  # of the tolerance: what the error that the iterations leave in the velocities may do within a run
FIRST_RATE = 0.1  # of a new matrix, before it is known


@jit(numba.boolean(I1, I1, F1, F1, F1, F1, F1, MemoryRecord))
def renew(functions, table, clock, y, v, a, r, m):
    """Derivatives at the start of a step."""
    m.linearisations += 1
    m.k = 0.0
    call(functions[LINEARISE], table, clock, y, v, a, r)
    m.fresh, m.usable, m.rate = 1, 1, 0.0
    return clock[1] != 0.0


@jit(numba.boolean(I1, I1, numba.float64, numba.float64, MemoryRecord))
def prepare(functions, table, c, k, m):
    """Factors of ``M + c C + k K``, if they are not there."""
    if m.k == k:
        return True
    weights = np.empty(4)
    weights[0], weights[1], weights[2], weights[3] = 0.0, 1.0, c, k
    call(functions[FACTOR], table, weights)
    m.factorisations += 1
    m.k = k if weights[0] != 0.0 else 0.0
    return weights[0] != 0.0


@jit(numba.int64(I1, I1, F1, F1, F1, numba.float64, numba.float64, F1, F1, F1, F1, F1, MemoryRecord))
def solve_stage(functions, table, clock, Y, V, c, k, a, y, v, r, scale, m):
    """Solve for a, from what is there.

    Parameters
    ----------
    functions, table : addresses, and their memory.
    clock : time of the stage, first.
    Y, V, c, k : ``y = Y + k a``, ``v = V + c a``.
    a, y, v : (n,) receive the stage.
    r : (n,) workspace.
    scale : (n,) tolerance of y.

    Returns
    -------
    CONVERGED, SLOW or NOT_COMPUTED.
    """
    n = a.size
    before = 0.0
    rate = max(m.rate, 1e-3) if m.rate > 0.0 else FIRST_RATE
    for iteration in range(ITERATIONS):
        for i in range(n):
            y[i] = Y[i] + k * a[i]
            v[i] = V[i] + c * a[i]
        call(functions[RESIDUAL], table, clock, y, v, a, r)
        if clock[1] == 0.0:
            return NOT_COMPUTED
        call(functions[SOLVE], table, r)
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
