"""A mechanism under a formulation as native functions: traced, compiled and kept until the drawing changes.

The theory is in ``docs/theory/compiled.md``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from closedchain.close.formulation import Closed, Formulation
from closedchain.derive.equations import Equations, derive
from closedchain.march.redundancy import independent_rows
from closedchain.march.state import State, parameter_vector
from closedchain.native import NativeFunction, compile_function


@dataclass(frozen=True, eq=False)
class Compiled:
    """Native functions of one mechanism under one formulation.

    Attributes
    ----------
    rhs
        ``(t, x, p) -> dx``.
    correct
        ``(t, x, p) -> x_plus, residual``, or None.
    rows
        The closure rows that are solved; all others follow from them.
    active
        All closure rows that hold; those of open joints do not.
    moving, rank
        Those of them that some motion changes, and how many of these are independent at generic poses.
    guarded
        Whether rows that lose their independence on the way are left out while they do.
    seconds
        What tracing and compiling took, by name.
    """

    equations: Equations
    method: Formulation
    closed: Closed
    rhs: NativeFunction
    correct: NativeFunction | None
    rows: tuple[int, ...]
    active: tuple[int, ...]
    moving: tuple[int, ...]
    rank: int
    guarded: bool
    seconds: dict[str, float]
    functions: dict[Any, Any] = field(default_factory=dict)  # of results, made when asked for


def compiled(start: State, method: Formulation, guarded: bool = False) -> Compiled:
    """Trace and compile a mechanism under a formulation, or find it among what was compiled before.

    ``guarded``: watch the pivots of the closures, as a singular pose needs; it is switched on where the start is one.
    """
    m = start.mechanism
    e = derive(m)
    rows = independent_rows(e, start)
    guarded = rows.singular or guarded
    solved = rows.moving if guarded else rows.kept  # guarded equations find out themselves which rows repeat others
    key = ("compiled", method, solved, rows.active, guarded)
    if key not in m._derived:
        clock = time.perf_counter()
        closed = method.close(e, solved, guarded)
        seconds = {"derive": e.seconds, "close": time.perf_counter() - clock}
        inputs = {"t": e.limbs.t, "x": closed.x, "p": e.limbs.p}
        name = m.name
        rhs = compile_function(f"{name} right-hand side", inputs, {"dx": closed.dx}, slow=("p",))
        correct = None
        if closed.x_plus is not None and closed.residual is not None:
            outputs = {"x_plus": closed.x_plus, "residual": closed.residual}
            correct = compile_function(f"{name} correction", inputs, outputs, slow=("p",))
        seconds["compile"] = sum(f.timings.total for f in (rhs, correct) if f is not None)
        m._derived[key] = Compiled(
            e, method, closed, rhs, correct, solved, rows.active, rows.moving, len(rows.kept), guarded, seconds
        )
    return m._derived[key]


def operations(start: State, method: Formulation) -> dict[str, int]:
    """Exact operation counts of the right-hand side, by kind."""
    from dataclasses import asdict

    counts = compiled(start, method).rhs.counts
    return {**asdict(counts), "total": counts.total}


def right_hand_side(start: State, method: Formulation, t: float = 0.0) -> np.ndarray:
    """``dx`` at a state: a single evaluation, for looking at numbers."""
    from closedchain.close.formulation import pack

    p = parameter_vector(start.mechanism, start.parameters)
    return compiled(start, method).rhs(t, pack(start.q, start.v), p)
