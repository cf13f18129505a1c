"""Closures of a drawing whose numbers are rounded: each is held at the residual that it has at the start.

Rows that repeat others at exact data contradict them at rounded ones, by about what the data are rounded to. `assemble`
distributes the contradiction over all rows, by least squares. A run solves independent rows only. Were it to pull them
to zero, the start would move, and the whole contradiction would show in the rows left out; and where other rows take
over on the way, the mechanism would jump. So a row is solved for ``c(t, q) - aim = 0`` with its residual at the start
for the aim. Derivatives do not know it: ``A``, ``gamma`` and ``c_t`` are as they were.

The theory is in ``docs/theory/closures.md``.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from closedchain.close.formulation import Choice, Closed, Formulation, Sums
from closedchain.derive.equations import Equations


def close(method: Formulation, equations: Equations, choice: Choice, sums: Sums | None = None) -> Closed:
    """Close a mechanism by a method; with aims, they are the last of the parameters, in the order of the rows."""
    e, aims = equations, ca.SX(0, 1)
    if choice.aimed:
        aims = ca.SX.sym("aims", len(choice.rows))
        e = replace(e, closure=replace(e.closure, c=e.closure.c - everywhere(aims, choice.rows, len(e.closure))))
    closed = method.close(e, choice) if sums is None else method.close_with(sums, e, choice)
    return replace(closed, parameters=ca.vertcat(closed.parameters, aims)) if choice.aimed else closed


def everywhere(aims: ca.SX, rows: tuple[int, ...], size: int) -> ca.SX:
    """A column for all closure rows, with aims for some of them."""
    out = ca.SX(size, 1)
    out[list(rows)] = aims
    return out
