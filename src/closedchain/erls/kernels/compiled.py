"""The functions that integrators call by address: ``residual``, ``linearise``, ``factor``, ``solve`` and ``close``.

    void residual(memory, clock, y, v, a, r)      r = R(t, y, v, a); clock = (t, ok, power, health, closed)
    void linearise(memory, clock, y, v, a, _)     derivatives there; clock = (t, ok, ...)
    void factor(memory, weights)                  m M + c C + k K at that place; weights = (ok, m, c, k)
    void solve(memory, b)                         with these factors, in place
    void close(memory, clock, y, q)               coordinates q of the tree that belong to y; clock = (t, ok, ...)

The memory is the table of a `Memory` with the tuples of `KINDS`; all other arguments are float64 arrays.
"""

from __future__ import annotations

import numba

from closedchain.erls.kernels import closing, condense, eliminate, evaluate, problem
from closedchain.erls.kernels import linearise as around
from closedchain.erls.kernels.tables import ArraysType
from closedchain.erls.steps.records import CLOCK
from closedchain.native.jit import cfunc
from closedchain.native.memory import unpacker

PROBLEM = (problem.PlanType, ArraysType, problem.RoomType)
KINDS = (*PROBLEM, around.LinearType, condense.FactorsType, eliminate.KeptType)
_problem, _around, _unpack = unpacker(*PROBLEM), unpacker(*KINDS[:4]), unpacker(*KINDS)
_SIX = "void(CPointer(int64), " + ", ".join(["CPointer(float64)"] * 5) + ")"


@cfunc(_SIX)
def residual(memory, clock, y, v, a, r):  # type: ignore[no-untyped-def]
    """Forces that are left over: ``R(t, y, v, a)``."""
    plan, mesh, room = _problem(memory)
    n, now = plan.n, numba.carray(clock, CLOCK)
    y, v, a, r = numba.carray(y, n), numba.carray(v, n), numba.carray(a, n), numba.carray(r, n)
    now[1] = 1.0 if evaluate.residual(plan, mesh, room, now[0], y, v, a, r) else 0.0
    now[2] = room.work[0] + room.work[1]
    now[3] = closing.determinant(plan, room)
    now[4] = room.motion.out[plan.motion.closed]


@cfunc(_SIX)
def linearise(memory, clock, y, v, a, unused):  # type: ignore[no-untyped-def]
    """Derivatives of the residual at a state."""
    plan, mesh, room, lin = _around(memory)
    n, now = plan.n, numba.carray(clock, CLOCK)
    y, v, a = numba.carray(y, n), numba.carray(v, n), numba.carray(a, n)
    now[1] = 1.0 if around.linearise(plan, mesh, room, lin, memory, now, (y, v, a)) else 0.0


@cfunc("void(CPointer(int64), CPointer(float64), CPointer(float64), CPointer(float64))")
def close(memory, clock, y, q):  # type: ignore[no-untyped-def]
    """Close the loops at a state."""
    plan, _, room = _problem(memory)
    now = numba.carray(clock, CLOCK)
    y, q = numba.carray(y, plan.n), numba.carray(q, plan.tree)
    now[1] = 1.0 if closing.closed_at(plan, room, now[0], y, q) else 0.0


@cfunc("void(CPointer(int64), CPointer(float64))")
def factor(memory, weights):  # type: ignore[no-untyped-def]
    """Factors of ``m M + c C + k K``."""
    plan, mesh, _, lin, factors, kept = _unpack(memory)
    w = numba.carray(weights, 4)
    w[0] = 1.0 if eliminate.factor(plan, mesh, lin, factors, kept, w[1], w[2], w[3]) else 0.0


@cfunc("void(CPointer(int64), CPointer(float64))")
def solve(memory, b):  # type: ignore[no-untyped-def]
    """Solve with the factors."""
    plan, mesh, _, lin, factors, kept = _unpack(memory)
    eliminate.solve(plan, mesh, lin, factors, kept, numba.carray(b, plan.n))
