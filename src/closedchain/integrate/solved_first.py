"""A right-hand side that first solves for its dependent coordinates: Newton's method inside the evaluation.

The Newton step tells its own size, rad or of the mechanism's length. `SolvedFirst` looks like a native function ``dx
= f(t, x, w)``. Its memory holds the addresses and sizes of the Newton step and of the rates (see `native.call`), its
parameters ``w`` hold room to work in and the parameters of both.

Newton's method is at its end when it rests: after a step of size d the closures are off by about ``d^2`` times a
length. It has begun too far away, perhaps on the way to another assembly of the loops, if a step is longer than half
the one before (the natural test of Deuflhard 2004, Newton Methods for Nonlinear Problems, 2.1). Then the rates are not
numbers, and the integrator tries a shorter step.

The theory is in ``docs/theory/independent.md``.
"""

from __future__ import annotations

from dataclasses import fields
from typing import NamedTuple

import numba
import numpy as np

from closedchain.lock import once
from closedchain.native.call import call
from closedchain.native.engine import entry_point
from closedchain.native.jit import cfunc
from closedchain.native.memory import Memory, unpacker
from closedchain.native.memory_function import MemoryFunction
from closedchain.native.partial import WithNumbers
from closedchain.native.traced.counts import OperationCounts

RESTS = 1e-9  # rad or of the length: the error after a step of this size is below rounding
FAR = 1.0  # rad or of the length: what the first step may be at most
SMALL = 1e-4  # a first step that need not be halved
CONTRACTS = 0.5  # of the step before: what the next one may be at most
ITERATIONS = 12
STEPS = 0  # entry of w: Newton steps made so far
NEWTON_RESIDUAL = 3  # numbers that a Newton step tells


class Parts(NamedTuple):
    """What the evaluation consists of.

    Attributes
    ----------
    newton, rates : addresses of both functions.
    n : entries of the state.
    n_newton, n_rates : lengths of the parameters of both.
    """

    newton: int
    rates: int
    n: int
    n_newton: int
    n_rates: int


_unpack = unpacker(numba.types.NamedUniTuple(numba.int64, len(Parts._fields), Parts))


@cfunc("void(CPointer(int64), CPointer(float64), CPointer(float64), CPointer(float64), CPointer(float64))")
def _evaluate(memory, t, x, w, dx):  # type: ignore[no-untyped-def]
    (parts,) = _unpack(memory)
    n = parts.n
    state, clock, out = numba.carray(x, n), numba.carray(t, 1), numba.carray(dx, n)
    at = 1 + 2 * n + NEWTON_RESIDUAL
    room = numba.carray(w, at + parts.n_newton + parts.n_rates)
    y, y_plus, residual = room[1 : 1 + n], room[1 + n : 1 + 2 * n], room[1 + 2 * n : at]
    w_newton, w_rates = room[at : at + parts.n_newton], room[at + parts.n_newton :]

    for i in range(n):
        y[i] = state[i]
    most = FAR
    solved = False
    for k in range(ITERATIONS):
        call(parts.newton, clock, y, w_newton, y_plus, residual)
        room[STEPS] += 1.0
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
        call(parts.rates, clock, y, w_rates, out)
    else:
        for i in range(n):
            out[i] = np.nan


class _Evaluation:
    """The native function of a Newton step and rates, whatever their parameters; linked when first asked for."""

    def __init__(self, newton: WithNumbers, rates: WithNumbers) -> None:
        self.newton, self.rates = newton.function, rates.function

    @once
    def parts(self) -> Parts:
        """Addresses and sizes."""
        n = self.rates.output_shapes["dx"][0]
        return Parts(self.newton.address, self.rates.address, n, self.newton.n_work, self.rates.n_work)

    @once
    def native(self) -> MemoryFunction:
        """Machine code ``dx = f(t, x, w)``."""
        return MemoryFunction(_evaluate.address, Memory(self.parts).table, arguments=4)


class SolvedFirst:
    """Rates at solved positions; it is called and counted like the native functions that it consists of.

    Its counts are those of one Newton step and of the rates.
    """

    def __init__(self, newton: WithNumbers, rates: WithNumbers, evaluation: _Evaluation | None = None) -> None:
        self.newton, self.rates = newton, rates
        self._evaluation = evaluation or _Evaluation(newton, rates)
        self.timings = rates.timings
        both = (newton.counts, rates.counts)
        self.counts = OperationCounts(
            **{f.name: sum(getattr(c, f.name) for c in both) for f in fields(OperationCounts)}
        )

    @property
    def address(self) -> int:
        """Of the machine code."""
        return self._evaluation.native.address

    def with_numbers(self, numbers: np.ndarray) -> SolvedFirst:
        """The same with other numbers of the formulation."""
        newton, rates = (WithNumbers(f.function, numbers) for f in (self.newton, self.rates))
        return SolvedFirst(newton, rates, self._evaluation)

    def room(self) -> np.ndarray:
        """What comes before the parameters of both: the count of Newton steps, and room to work in."""
        return np.zeros(1 + 2 * self._evaluation.parts.n + NEWTON_RESIDUAL)

    def prepare(self, p: np.ndarray) -> np.ndarray:
        """Parameters for one run; they hold room to work in, so they belong to one thread."""
        return np.concatenate([self.room(), self.newton.prepare(p), self.rates.prepare(p)])

    def __call__(self, t: float, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Evaluate once."""
        return self.evaluate(t, x, self.prepare(p))

    def evaluate(self, t: float, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Evaluate with parameters from `prepare`, whose entry `STEPS` counts the Newton steps."""
        clock, state = np.array([t], float), np.array(x, float)
        dx = np.empty_like(state)
        entry_point(self.address, 4)(*(a.ctypes.data for a in (clock, state, w, dx)))
        return dx
