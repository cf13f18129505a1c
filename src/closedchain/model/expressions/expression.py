"""Numbers that are known by name: parameters, time, coordinates, and arithmetic on them.

A mechanism is data. Where a user writes a number, an `Expression` may stand instead: a named parameter
(``m.parameter("k", 50.0)``), the time ``cc.t``, a joint coordinate ``joint.q``, or any arithmetic on these
with ``+ - * / **``, comparisons, and the functions of `closedchain.model.expressions.functions`. An expression is a
small immutable tree. It knows nothing of CasADi: `closedchain.derive.lower` turns it into traced scalars, and
`Expression.evaluate` computes it with plain numbers.

The theory is in ``docs/theory/compiled.md``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from closedchain.arguments import one_of
from closedchain.errors import ModelError
from closedchain.model.expressions.operations import OPERATIONS

# Numbers of a drawing, and values that are held, stay below this: a mass times two lengths, squared, is then finite.
HUGE = 1e50

LEAVES = ("parameter", "time", "coordinate", "velocity", "place", "speed", "multiplier", "conditioning", "sampled")


def _scalar(operator: Callable[..., Any]) -> Callable[..., Any]:
    """An operator that refuses what is not a number."""

    @functools.wraps(operator)
    def checked(self: Expression, other: Any) -> Any:
        return operator(self, operand(self, other))

    return checked


def operand(expression: Expression, other: Any) -> Number:
    """Refuse what is no number: a vector hidden in a scalar effort would be summed up silently."""
    if isinstance(other, Expression):
        return other
    if isinstance(other, list | tuple) or getattr(other, "ndim", 0) > 0:
        raise ModelError(f"{expression} is a single number: combine it with numbers, not with the array {other!r}")
    value = _as_float(other)
    if value is None or math.isnan(value):
        raise ModelError(f"{expression} combines with numbers and expressions, not with {other!r}")
    return other if isinstance(other, int) and math.isfinite(value) else value


class Expression:
    """A node of the tree: an operation and its arguments (expressions, floats, or tuples of floats)."""

    __slots__ = ("_rate", "args", "op")  # _rate: what `functions.rate` has found, so that it is found once
    _rate: Number

    def __init__(self, op: str, *args: Any) -> None:
        self.op = op
        self.args = args

    # arithmetic: every operator makes a new node; constants fold when they change nothing

    @_scalar
    def __add__(self, other: Number) -> Number:
        return self if _is(other, 0) else Expression("add", self, other)

    @_scalar
    def __radd__(self, other: Number) -> Number:
        return self if _is(other, 0) else Expression("add", other, self)

    @_scalar
    def __sub__(self, other: Number) -> Number:
        return self if _is(other, 0) else Expression("sub", self, other)

    @_scalar
    def __rsub__(self, other: Number) -> Number:
        return -self if _is(other, 0) else Expression("sub", other, self)

    @_scalar
    def __mul__(self, other: Number) -> Number:
        if _is(other, 0):
            return 0.0
        return self if _is(other, 1) else Expression("mul", self, other)

    @_scalar
    def __rmul__(self, other: Number) -> Number:
        return self * other

    @_scalar
    def __truediv__(self, other: Number) -> Number:
        return self if _is(other, 1) else Expression("div", self, other)

    @_scalar
    def __rtruediv__(self, other: Number) -> Number:
        return 0.0 if _is(other, 0) else Expression("div", other, self)

    @_scalar
    def __pow__(self, other: Number) -> Number:
        return self if _is(other, 1) else Expression("pow", self, other)

    @_scalar
    def __rpow__(self, other: Number) -> Number:
        return Expression("pow", other, self)

    @_scalar
    def __mod__(self, other: Number) -> Number:
        return Expression("mod", self, other)

    @_scalar
    def __rmod__(self, other: Number) -> Number:
        return Expression("mod", other, self)

    def __floordiv__(self, other: object) -> Expression:
        raise ModelError(f"whole quotients are written with cc.math.floor: cc.math.floor({self} / {other})")

    def __rfloordiv__(self, other: object) -> Expression:
        raise ModelError(f"whole quotients are written with cc.math.floor: cc.math.floor({other} / {self})")

    def __neg__(self) -> Expression:
        return Expression("neg", self)

    def __pos__(self) -> Expression:
        return self

    def __abs__(self) -> Expression:
        return Expression("abs", self)

    @_scalar
    def __lt__(self, other: Number) -> Expression:
        return Expression("lt", self, other)

    @_scalar
    def __le__(self, other: Number) -> Expression:
        return Expression("le", self, other)

    @_scalar
    def __gt__(self, other: Number) -> Expression:
        return Expression("lt", other, self)

    @_scalar
    def __ge__(self, other: Number) -> Expression:
        return Expression("le", other, self)

    @_scalar
    def __and__(self, other: Number) -> Expression:
        return Expression("and", self, other)

    @_scalar
    def __or__(self, other: Number) -> Expression:
        return Expression("or", self, other)

    def __invert__(self) -> Expression:
        return Expression("not", self)

    def __bool__(self) -> bool:
        raise ModelError(
            f"the truth of {self} is not known while the mechanism is described: "
            "use cc.math.where(condition, a, b) instead of if, and '&', '|', '~' instead of and, or, not"
        )

    def __float__(self) -> float:
        raise ModelError(f"{self} has no fixed value yet: use cc.math.sin, cc.math.sqrt, ... instead of math or numpy")

    def __int__(self) -> int:
        raise ModelError(f"{self} has no fixed value yet: use cc.math.floor or cc.math.ceil instead of int and round")

    def __round__(self, digits: int | None = None) -> int:
        return int(self)

    # numpy would otherwise walk into an array of objects: `array * expression` and numpy functions say so instead
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, np.ndarray) and x.ndim for x in inputs):
            raise ModelError(f"{self} is a single number: combine it with numbers, not with an array")
        if len(inputs) == 2 and ufunc.__name__ in _SWAPPED and not isinstance(inputs[0], Expression):
            return getattr(self, _SWAPPED[ufunc.__name__])(inputs[0])  # a NumPy number on the left
        raise ModelError(f"NumPy's {ufunc.__name__} does not know expressions: use cc.math.{ufunc.__name__} for {self}")

    # a tree is compared and hashed by identity; == with a number would be a trap: it is never true
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        if isinstance(other, float | int):
            raise ModelError(
                f"{self} == {other} is not known while the mechanism is described; in cc.math.where, use < and >"
            )
        return self is other

    def leaves(self) -> Iterator[Expression]:
        """All parameters, times, coordinates and velocities in the tree, once each."""
        seen: set[int] = set()
        stack: list[Expression] = [self]
        while stack:
            node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if node.op in LEAVES:
                yield node
            else:
                stack.extend(a for a in reversed(node.args) if isinstance(a, Expression))

    def evaluate(self, leaf: Callable[[Expression], Any]) -> Any:
        """Compute with plain numbers; ``leaf`` gives the value of each leaf."""
        return fold(self, leaf, OPERATIONS)

    def __repr__(self) -> str:
        return text(self)


Number: TypeAlias = float | int | Expression
"""What may stand wherever a mechanism has a number."""

t = Expression("time")
"""The time, for use in torques and forces."""


def parameter(name: str) -> Expression:
    """The leaf that stands for the parameter ``name``."""
    return Expression("parameter", name)


def multiplier(joint: str, row: str) -> Expression:
    """The closing force of a cut joint by the name of its row (``"x"``, ``"tilt y"``), for use in events."""
    if not isinstance(joint, str) or not isinstance(row, str):
        raise ModelError(
            f"a closing force is named by two texts, as cc.multiplier('A', 'x'), not {joint!r} and {row!r}"
        )
    return Expression("multiplier", joint, row)


def conditioning(kind: str) -> Expression:
    """How far the pose is from a singular one, 0 to 1, for use in events.

    ``kind`` is ``"closure"``, ``"actuation"`` (type 2) or ``"output"`` (type 1); see
    `closedchain.march.judge.conditioning`.
    """
    one_of("conditioning: kind", kind, ("closure", "actuation", "output"))
    return Expression("conditioning", kind)


def fold(
    node: Any,
    leaf: Callable[[Expression], Any],
    operations: dict[str, Callable[..., Any]],
    special: Callable[[Expression, list[Any]], Any] = lambda node, args: None,
) -> Any:
    """Walk an expression from its leaves up, with any meaning of the operations.

    ``special`` may give the value of a node itself, from the values of its arguments.
    """
    done: dict[int, Any] = {}

    def value(a: Any) -> Any:
        return done[id(a)] if isinstance(a, Expression) else a

    stack = [node]
    while stack:
        top = stack[-1]
        if not isinstance(top, Expression) or id(top) in done:
            stack.pop()
        elif top.op in LEAVES:
            done[id(stack.pop())] = leaf(top)
        else:
            open_args = [a for a in top.args if isinstance(a, Expression) and id(a) not in done]
            if open_args:
                stack.extend(open_args)
            else:
                args = [value(a) for a in top.args]
                own = special(top, args)
                done[id(top)] = operations[top.op](*args) if own is None else own
                stack.pop()
    return value(node)


def is_zero(x: Any) -> bool:
    """Whether a number is exactly zero, and so part of the structure."""
    return _is(x, 0)


def check_number(x: Any, what: str, most: float = HUGE) -> Number:
    """Pass an expression or a float below ``most``; name the culprit otherwise."""
    if isinstance(x, Expression):
        return x
    value = _as_float(x)
    if value is None:
        raise ModelError(f"{what} must be a number, a parameter or an expression, not {x!r}")
    if not math.isfinite(value):
        raise ModelError(f"{what} is {value}: give a finite number")
    if abs(value) > most:
        raise ModelError(f"{what} is {value:g}, too large to compute with: give a number below {most:g}")
    return value


def check_leaves(x: Expression, what: str, *ops: str) -> Expression:
    """An expression of parameters, or of time and parameters, alone."""
    for leaf in x.leaves():
        if leaf.op not in ops:
            allowed = "time and parameters" if "time" in ops else "parameters"
            raise ModelError(f"{what} may depend on {allowed} only, not on {leaf}")
    return x


def _as_float(x: Any) -> float | None:
    """The value of a single real number; None for texts, arrays and all else."""
    if isinstance(x, np.ndarray) and x.ndim == 0:
        x = x.item()
    if isinstance(x, str | bytes) or getattr(x, "ndim", 0) != 0:
        return None
    try:
        return float(x)
    except OverflowError:  # an integer of more than 308 digits
        return math.inf
    except Exception:  # whatever its own conversion says about not being a number
        return None


def _is(x: Any, number: float) -> bool:
    return not isinstance(x, Expression) and _as_float(x) == number


# what a NumPy number on the left means for the expression on the right
_SWAPPED = {
    "add": "__radd__",
    "subtract": "__rsub__",
    "multiply": "__rmul__",
    "divide": "__rtruediv__",
    "power": "__rpow__",
    "remainder": "__rmod__",
    "less": "__gt__",
    "less_equal": "__ge__",
    "greater": "__lt__",
    "greater_equal": "__le__",
}


_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "pow": "**",
    "lt": "<",
    "le": "<=",
    "and": "&",
    "or": "|",
}


def text(node: Any) -> str:
    """The expression in the notation of Python; constants as short as they can be."""
    if not isinstance(node, Expression):
        return f"{node:g}" if isinstance(node, float | int) else repr(node)
    if node.op == "parameter":
        return node.args[0]
    if node.op == "time":
        return "t"
    if node.op in ("coordinate", "velocity"):
        joint, index = node.args
        return f"{'q' if node.op == 'coordinate' else 'v'}[{joint}{'' if index is None else f'.{index}'}]"
    if node.op in ("place", "speed"):
        body, frame, axis = node.args
        return f"{node.op}[{body}.{frame}.{'xyz'[axis]}]"
    if node.op == "multiplier":
        return f"lam[{node.args[0]} {node.args[1]}]"
    if node.op == "conditioning":
        return f"conditioning[{node.args[0]}]"
    if node.op == "sampled":
        controller, index = node.args
        return f"Sampled({controller.name}){'' if controller.outputs == 1 or index is None else f'[{index}]'}"
    if node.op == "control":
        return f"{node.args[0]}[{node.args[1]}]"
    if node.op == "polynomials":
        x, breaks, rows, order = node.args
        pieces = (
            f"{len(rows)} piece{'s' * (len(rows) != 1)} of degree {len(rows[0]) - 1} in {breaks[0]:g}..{breaks[-1]:g}"
        )
        return f"polynomials{chr(39) * order}({text(x)}, {pieces})"
    parts = [text(a) for a in node.args]
    if node.op in _INFIX:
        return f"({parts[0]} {_INFIX[node.op]} {parts[1]})"
    if node.op == "neg":
        return f"-{parts[0]}"
    return f"{node.op}({', '.join(parts)})"
