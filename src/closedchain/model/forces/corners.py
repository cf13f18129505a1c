"""Corners of forces: where the slope of an effort jumps, though its value does not.

Stops begin to push at a corner, a saturation ends at one, and so do `abs`, `minimum`, `maximum` and the pieces of a
table. No method of high order is of high order across a corner, and its error estimate may miss that by chance. Solvers
with step control therefore pass a corner with a short step (`integrate.corner_steps`). They need to know where corners
are: at zeros of signals, and for tables at their integers.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.model.derived import cached
from closedchain.model.expressions.expression import Expression
from closedchain.model.expressions.operations import horner
from closedchain.model.forces.force import efforts
from closedchain.model.forces.sampled import nodes

if TYPE_CHECKING:
    from closedchain.model.mechanism import Mechanism

SAME = 1e-9  # of the largest value or slope of a table: coefficients may be printed with ten digits


@dataclass(frozen=True, eq=False)
class Corners:
    """All corners of what acts on a drawing.

    Attributes
    ----------
    zeros
        Signals with a corner at zero.
    counted
        Signals with a corner at every integer: the number of the piece of a table, and the place in it.
    """

    zeros: tuple[Expression, ...]
    counted: tuple[Expression, ...]

    def __bool__(self) -> bool:
        return bool(self.zeros or self.counted)


@cached
def corners(drawing: Mechanism) -> Corners:
    """The corners of a drawing.

    Examples
    --------
    >>> import closedchain as cc
    >>> m = cc.library.pendulum()
    >>> motor = m.motor("hinge", torque=cc.math.maximum(0, 1 - cc.t) + abs(m.joints["hinge"].q))
    >>> corners(m).zeros
    (q[hinge], -(1 - t))
    """
    zeros: list[Expression] = []
    counted: list[Expression] = []
    for node in nodes(*efforts(drawing)):
        if node.op == "abs":
            zeros.append(node.args[0])
        elif node.op in ("min", "max"):
            zeros.append(node.args[0] - node.args[1])
        elif node.op == "dead_zone":
            zeros += [node.args[0] - node.args[1], node.args[0] - node.args[2]]
        elif node.op in ("interp", "polynomials"):
            counted += _pieces(*node.args)
    return Corners(tuple(filter(_moves, zeros)), tuple(filter(_moves, counted)))


def _moves(signal: Expression) -> bool:
    return any(leaf.op != "parameter" for leaf in signal.leaves())


def _pieces(
    x: Expression, places: tuple[float, ...], values: tuple[Any, ...], order: int | None = None
) -> list[Expression]:
    """The number of the piece of a table, linear in each piece; none if neither value nor slope jumps anywhere."""
    at, widths = np.array(places), np.diff(places)
    rows = np.array(values) if order is not None else np.stack([values[:-1], np.diff(values) / widths], 1)
    jumps = np.zeros(len(at), bool)
    for k in (order or 0, (order or 0) + 1):
        begin, end = (horner(rows.T, u, k) * np.ones(len(widths)) for u in (0.0, widths))
        before, after = np.append(begin[0], end), np.append(begin, end[-1])
        if k > 0:
            before[0] = after[-1] = 0.0  # constant beyond the ends
        jumps |= np.abs(after - before) > SAME * max(np.abs(before).max(), np.abs(after).max())
    if not jumps.any():
        return []
    at, span = at[jumps], at[-1] - at[0]
    breaks = [at[0] - span, *at, at[-1] + span]
    lines = tuple((i - 1.0, float(1 / (b - a))) for i, (a, b) in enumerate(itertools.pairwise(breaks)))
    return [Expression("polynomials", x, tuple(map(float, breaks)), lines, 0)]
