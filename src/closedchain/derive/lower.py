"""From a drawing's numbers and expressions to traced CasADi scalars.

The theory is in ``docs/theory/compiled.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import casadi as ca

from closedchain.model.expressions.expression import Expression, fold
from closedchain.model.expressions.operations import horner
from closedchain.model.forces.sampled import JUMPS


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


def _polynomials(x: Any, breaks: tuple[float, ...], coefficients: tuple[tuple[float, ...], ...], order: int) -> Any:
    """The coefficients of the piece that x is in, selected without rounding, then Horner's rule.

    Outside all coefficients but the constant one are zero: derivatives by CasADi are exact there, too. The ends belong
    to the polynomials. Derivatives of several orders share the selections, which the native compiler computes once.
    """
    x = ca.SX(x)
    inside = ca.logic_and(x >= ca.DM(breaks[:-1]), x < ca.DM(breaks[1:]))
    inside[-1] = ca.logic_and(x >= breaks[-2], x <= breaks[-1])

    def select(numbers: Sequence[float]) -> ca.SX:
        some = [k for k, number in enumerate(numbers) if number]
        return ca.sum1(ca.if_else(inside[some], ca.DM([numbers[k] for k in some]), 0)) if some else ca.SX(0)

    chosen = [select(numbers) for numbers in zip(*coefficients, strict=True)]
    chosen[0] += ca.if_else(x < breaks[0], coefficients[0][0], 0)
    chosen[0] += ca.if_else(x > breaks[-1], horner(coefficients[-1], breaks[-1] - breaks[-2]), 0)
    return horner(chosen, x - select(breaks[:-1]), order)


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
    "dead_zone": lambda x, low, high: ca.fmax(x - high, 0) + ca.fmin(x - low, 0),
    "unless_zero": lambda x, value: ca.if_else(x == 0, 0, value),
    "interp": _interp,
    "polynomials": _polynomials,
    "control": lambda law, index, *commands: law.unknown[index],  # `derive.equations` puts in what it is
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
    return lower_all((x,), leaf, held)[0]


def lower_all(
    xs: Iterable[Any], leaf: Callable[[Expression], ca.SX], held: Callable[[Expression, ca.SX], ca.SX] | None = None
) -> list[ca.SX]:
    """The traced twins of several numbers or expressions; what they have in common is traced once."""

    def special(node: Expression, args: list[Any]) -> ca.SX | None:
        if held is None or node.op not in JUMPS:
            return None
        if node.op == "mod":
            return args[0] - args[1] * held(node, ca.floor(args[0] / args[1]))
        return held(node, OPERATIONS[node.op](*args))

    def together(node: Expression, args: list[Any]) -> Any:
        return args if node is whole else special(node, args)

    whole = Expression("all", *xs)
    return [ca.SX(x) if isinstance(x, ca.SX) else ca.SX(float(x)) for x in fold(whole, leaf, OPERATIONS, together)]
