"""A right-hand side that first solves for its dependent coordinates: Newton's method inside the evaluation.

The Newton step tells its own size, rad or of the mechanism's length. `SolvedFirst` looks like a native function ``dx
= f(t, x, w)``. What it needs lies in its parameters ``w``: the addresses of the Newton step and of the rates, room to
work in, and the parameters of both.

Newton's method is at its end when it rests: after a step of size d the closures are off by about ``d^2`` times a
length. It has begun too far away, perhaps on the way to another assembly of the loops, if a step is longer than half
the one before (the natural test of Deuflhard 2004, Newton Methods for Nonlinear Problems, 2.1). Then the rates are not
numbers, and the integrator tries a shorter step.

The theory is in ``docs/theory/independent.md``.
"""

from __future__ import annotations

import ctypes
from dataclasses import fields

import numba
import numpy as np

from closedchain.native.call import call4, call5
from closedchain.native.jit import cfunc
from closedchain.native.partial import Bound
from closedchain.native.traced.counts import OperationCounts

RESTS = 1e-9  # rad or of the length: the error after a step of this size is below rounding
FAR = 1.0  # rad or of the length: what the first step may be at most
SMALL = 1e-4  # a first step that need not be halved
CONTRACTS = 0.5  # of the step before: what the next one may be at most
ITERATIONS = 12
HEADER = 8  # two addresses in halves; sizes of x and of the parameters of both; Newton steps made so far
STEPS = 7


@cfunc("void(CPointer(float64), CPointer(float64), CPointer(float64), CPointer(float64))")
def _evaluate(t, x, w, dx):  # type: ignore[no-untyped-def]
    head = numba.carray(w, HEADER)
    newton = np.int64(head[0]) * 4294967296 + np.int64(head[1])
    rates = np.int64(head[2]) * 4294967296 + np.int64(head[3])
    n, n_newton, n_rates = np.int64(head[4]), np.int64(head[5]), np.int64(head[6])
    room = numba.carray(w, HEADER + 2 * n + 3 + n_newton + n_rates)
    state, clock, out = numba.carray(x, n), numba.carray(t, 1), numba.carray(dx, n)
    at = HEADER
    y = room[at : at + n]
    y_plus = room[at + n : at + 2 * n]
    residual = room[at + 2 * n : at + 2 * n + 3]
    at += 2 * n + 3
    w_newton = room[at : at + n_newton]
    w_rates = room[at + n_newton : at + n_newton + n_rates]

    for i in range(n):
        y[i] = state[i]
    most = FAR
    solved = False
    for k in range(ITERATIONS):
        call5(newton, clock, y, w_newton, y_plus, residual)
        head[STEPS] += 1.0
        for i in range(n):
            y[i] = y_plus[i]
        step = residual[0]
        if step <= RESTS:
            solved = True
            break
        if not step <= most:  # also when it is not a number
            break
        # a small first step may have been needed to bring quaternions back to length one: the next may be as long
        most = step if k == 0 and step < SMALL else CONTRACTS * step
    if solved:
        call4(rates, clock, y, w_rates, out)
    else:
        for i in range(n):
            out[i] = np.nan


class SolvedFirst:
    """Rates at solved positions; it is called and counted like the native functions that it consists of.

    Its counts are those of one Newton step and of the rates.
    """

    def __init__(self, newton: Bound, rates: Bound) -> None:
        self.newton, self.rates = newton, rates
        self.address: int = _evaluate.address
        self.timings = rates.timings
        both = (newton.counts, rates.counts)
        self.counts = OperationCounts(
            **{f.name: sum(getattr(c, f.name) for c in both) for f in fields(OperationCounts)}
        )

    def with_numbers(self, numbers: np.ndarray) -> SolvedFirst:
        """The same with other numbers of the formulation."""
        return SolvedFirst(Bound(self.newton.function, numbers), Bound(self.rates.function, numbers))

    def header(self) -> np.ndarray:
        """What comes before the parameters of both: addresses, sizes, and room to work in."""
        n = self.rates.output_shapes["dx"][0]
        halves = [half for f in (self.newton, self.rates) for half in divmod(f.address, 2**32)]
        sizes = [n, self.newton.function.n_work, self.rates.function.n_work]
        return np.array([*halves, *sizes, 0.0, *np.zeros(2 * n + 3)])

    def prepare(self, p: np.ndarray) -> np.ndarray:
        """Parameters for one run; they hold room to work in, so they belong to one thread."""
        return np.concatenate([self.header(), self.newton.prepare(p), self.rates.prepare(p)])

    def __call__(self, t: float, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Evaluate once."""
        return self.evaluate(t, x, self.prepare(p))

    def evaluate(self, t: float, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Evaluate with parameters from `prepare`, whose entry `STEPS` counts the Newton steps."""
        clock, state = np.array([t], float), np.array(x, float)
        dx = np.empty_like(state)
        pointer = ctypes.POINTER(ctypes.c_double)
        _evaluate.ctypes(*(a.ctypes.data_as(pointer) for a in (clock, state, w, dx)))
        return dx
