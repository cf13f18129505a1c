"""From a drawing's numbers and expressions to traced CasADi scalars.

The theory is in ``docs/theory/compiled.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

from closedchain.model.expression import Expression, fold
from closedchain.model.held import JUMPS


def _smaller(a: Any, b: Any) -> Any:
    """The smaller of two; a NaN in either stays a NaN, which C's fmin would drop."""
    return ca.if_else(a < b, a, ca.if_else(b <= a, b, a + b))


def _larger(a: Any, b: Any) -> Any:
    return ca.if_else(a > b, a, ca.if_else(b >= a, b, a + b))


def _interp(x: Any, xp: tuple[float, ...], fp: tuple[float, ...]) -> Any:
    """Sum of clamped ramps: exact at the knots to rounding, constant outside."""
    value = fp[0]
    for x0, x1, f0, f1 in zip(xp, xp[1:], fp, fp[1:], strict=False):
        if f1 != f0:
            value += (f1 - f0) / (x1 - x0) * (_smaller(_larger(x, x0), x1) - x0)
    return value


def _mod(a: Any, b: Any) -> Any:
    return a - b * ca.floor(a / b)  # the sign of the divisor, as in Python; C's fmod differs


OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "pow": lambda a, b: a**b,
    "neg": lambda a: -a,
    "abs": ca.fabs,
    "min": _smaller,
    "max": _larger,
    "mod": _mod,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "and": ca.logic_and,
    "or": ca.logic_or,
    "not": ca.logic_not,
    "where": ca.if_else,
    "interp": _interp,
    **{
        name: getattr(ca, name)
        for name in "sin cos tan asin acos atan atan2 sinh cosh tanh exp log sqrt sign floor ceil".split()
    },
}


def lower(
    x: Any, leaf: Callable[[Expression], ca.SX], held: Callable[[Expression, ca.SX], ca.SX] | None = None
) -> ca.SX:
    """The traced twin of a number or expression; ``leaf`` gives the traced parameter, time or coordinate.

    ``held`` may replace the value of an operation that jumps, which it gets as it lives.
    """

    def special(node: Expression, args: list[Any]) -> ca.SX | None:
        if held is None or node.op not in JUMPS:
            return None
        if node.op == "mod":
            return args[0] - args[1] * held(node, ca.floor(args[0] / args[1]))
        return held(node, OPERATIONS[node.op](*args))

    return ca.SX(fold(x, leaf, OPERATIONS, special)) if isinstance(x, Expression) else ca.SX(float(x))
