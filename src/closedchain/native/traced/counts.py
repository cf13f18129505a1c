"""How many operations a function has: the performance figure that no noise can touch."""

from __future__ import annotations

from collections import Counter
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from closedchain.native.emit.operations import OPERATIONS, SEARCHES

if TYPE_CHECKING:
    from closedchain.native.traced.graph import Graph


@dataclass(frozen=True, slots=True)
class OperationCounts:
    """Scalar operations of a function, by kind.

    They are counted on the graph that is given to the compiler, after common subexpressions are merged and dead
    values dropped. A multiplication that the compiler later fuses with an addition still counts as one of each.

    Attributes
    ----------
    add : int
        Additions and subtractions (``x + x`` for a doubling included).
    mul : int
        Multiplications (``x * x`` for a square included).
    div : int
        Divisions and reciprocals.
    sqrt : int
        Square roots.
    neg : int
        Negations that are left after ``a + (-b)`` has become ``a - b``. Most cost nothing: the machine has fused
        instructions for ``a*b - c`` and ``c - a*b``.
    trig : int
        sin, cos, tan, asin, acos, atan, atan2. The sine and the cosine of one angle count as two.
    call : int
        exp, log, pow, the hyperbolic functions and their inverses, erf, log1p, expm1, hypot, fmod, remainder.
    other : int
        Comparisons, logic, selections, min, max, abs, sign, copysign, floor, ceil.

    Examples
    --------
    >>> OperationCounts(add=2, mul=3).total
    5
    """

    add: int = 0
    mul: int = 0
    div: int = 0
    sqrt: int = 0
    neg: int = 0
    trig: int = 0
    call: int = 0
    other: int = 0

    @property
    def total(self) -> int:
        """All operations together, each counted once."""
        return sum(astuple(self))


def count_operations(graph: Graph) -> OperationCounts:
    """Count the operations of a graph."""
    kinds: Counter[str] = Counter()
    for name, number in Counter(graph.name).items():
        operation = OPERATIONS.get(name) or SEARCHES.get(name)
        if operation is not None and operation.kind:
            kinds[operation.kind] += number
    return OperationCounts(**kinds)
