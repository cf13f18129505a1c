"""`cc.math`: functions for torques, forces and parameters, of numbers, arrays and expressions.

``cc.math.sin(x)`` is NumPy's sine for a number or an array, and a traced sine for an `Expression`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Expression, Number, check_number, operand
from closedchain.model.expressions.operations import OPERATIONS, horner

pi = float(np.pi)

_NO_NUMBERS = (TypeError, ValueError, AttributeError, OverflowError)  # what NumPy raises when it is given none


def _function(op: str, doc: str, takes: int = 1, name: str | None = None) -> Callable[..., Any]:
    plain, known_as = OPERATIONS[op], f"cc.math.{name or op}"

    def function(*args: Any) -> Any:
        if len(args) != takes:
            raise ModelError(f"{known_as} takes {takes} argument{'s' * (takes != 1)}, not {len(args)}")
        traced = next((a for a in args if isinstance(a, Expression)), None)
        if traced is not None:
            return Expression(op, *(operand(traced, a) for a in args))
        try:
            return plain(*args)
        except _NO_NUMBERS as error:
            said = ", ".join(map(repr, args))
            raise ModelError(f"{known_as} takes numbers, arrays or expressions, not {said} ({error})") from None

    function.__name__ = function.__qualname__ = op
    function.__doc__ = doc
    return function


sin = _function("sin", "Sine of an angle in radians.")
cos = _function("cos", "Cosine of an angle in radians.")
tan = _function("tan", "Tangent of an angle in radians.")
asin = _function("asin", "Inverse sine, in radians.")
acos = _function("acos", "Inverse cosine, in radians.")
atan = _function("atan", "Inverse tangent, in radians.")
atan2 = _function("atan2", "Angle of the point (x, y), from atan2(y, x), in radians.", takes=2)
sinh = _function("sinh", "Hyperbolic sine.")
cosh = _function("cosh", "Hyperbolic cosine.")
tanh = _function("tanh", "Hyperbolic tangent.")
exp = _function("exp", "Exponential function.")
log = _function("log", "Natural logarithm.")
sqrt = _function("sqrt", "Square root.")
sign = _function("sign", "-1, 0 or 1.")
floor = _function("floor", "Largest integer not above x.")
ceil = _function("ceil", "Smallest integer not below x.")
minimum = _function("min", "The smaller of two numbers.", takes=2, name="minimum")
maximum = _function("max", "The larger of two numbers.", takes=2, name="maximum")
where = _function("where", "where(condition, a, b): a where the condition holds, b elsewhere.", takes=3)
dead_zone = _function(
    "dead_zone", "dead_zone(x, low, high): how far x is above high or, below zero, under low; 0 between them.", takes=3
)
unless_zero = _function(
    "unless_zero", "unless_zero(x, value): 0 where x is exactly zero, as in a dead zone; value elsewhere.", takes=2
)


def interp(x: Any, xp: Sequence[float], fp: Sequence[float]) -> Any:
    """Piecewise linear table, constant beyond its ends, as `numpy.interp`.

    Parameters
    ----------
    x
        Number, array or expression.
    xp, fp
        Increasing places and the values there.

    Examples
    --------
    >>> import closedchain as cc
    >>> float(cc.math.interp(0.5, [0, 1, 2], [0, 10, 0]))
    5.0
    """
    places, values = _plain(xp, "interp", "places"), _plain(fp, "interp", "values")
    if places.ndim != 1 or places.shape != values.shape or len(places) < 2:
        raise ModelError(f"interp needs two lists of equal length >= 2, got {places.shape} and {values.shape}")
    if not (np.isfinite(places).all() and np.isfinite(values).all() and (np.diff(places) > 0).all()):
        raise ModelError("interp needs finite values at strictly increasing places")
    if isinstance(x, Expression):
        return Expression("interp", x, tuple(places.tolist()), tuple(values.tolist()))
    return np.interp(_plain(x, "interp"), places, values)


def piecewise(x: Any, breaks: Sequence[float], coefficients: Sequence[Sequence[float]]) -> Any:
    """Piecewise polynomial, constant beyond its ends.

    Between ``breaks[i]`` and ``breaks[i + 1]`` it is the sum over j of ``coefficients[i][j] (x - breaks[i])^j``. All
    derivatives are exact (that of `rate`, too), and zero beyond the ends; the ends themselves belong to the pieces.

    Parameters
    ----------
    x
        Number, array or expression.
    breaks
        k + 1 increasing places.
    coefficients
        k rows, lowest power first. The pieces must meet: a jump is written with `where`.

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.model.expressions.functions import piecewise
    >>> float(piecewise(1.5, [0, 1, 2], [[0, 0, 1], [1, 2, 0]]))
    2.0
    """
    places, rows = _plain(breaks, "piecewise", "breaks"), _plain(coefficients, "piecewise", "coefficients")
    if places.ndim != 1 or rows.ndim != 2 or len(rows) != len(places) - 1 or rows.size == 0:
        raise ModelError(
            f"piecewise needs k + 1 breaks and k rows of coefficients, k >= 1, got {places.shape} and {rows.shape}"
        )
    if not (np.isfinite(places).all() and np.isfinite(rows).all() and (np.diff(places) > 0).all()):
        raise ModelError("piecewise needs finite coefficients between strictly increasing breaks")
    widths = np.diff(places)
    ends, size = horner(rows.T, widths), horner(np.abs(rows).T, widths)
    for i, gap in enumerate(np.abs(rows[1:, 0] - ends[:-1])):
        if gap > 1e-9 * max(size[i], abs(rows[i + 1, 0])):  # coefficients may be printed with ten digits
            raise ModelError(
                f"piecewise: at {places[i + 1]:g} the value jumps from {ends[i]:g} to {rows[i + 1, 0]:g}; pieces must "
                "meet (write a jump as cc.math.where(x < ..., a, b))"
            )
    known = tuple(places.tolist()), tuple(map(tuple, rows.tolist())), 0
    if isinstance(x, Expression):
        return Expression("polynomials", x, *known)
    return OPERATIONS["polynomials"](_plain(x, "piecewise"), *known)


def _plain(numbers: Any, function: str, kind: str | None = None) -> np.ndarray:
    try:
        array = np.asarray(numbers)
    except ValueError:  # lists in lists of unequal length
        array = np.array(None)
    if array.dtype.kind not in "biuf":
        what = f"plain numbers as its {kind}" if kind else "a number, an array or an expression to look up"
        raise ModelError(f"{function} needs {what}, not {numbers!r}")
    return array.astype(float)


def rate(x: Number) -> Number:
    """The derivative with respect to time of an expression of time and parameters alone.

    It is exact, and an expression itself: ``cc.rate(cc.rate(x))`` is the acceleration. Where a condition jumps it is
    the derivative between the jumps.

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.model.expressions.functions import rate
    >>> rate(5 * cc.t**2 + 1)
    ((t * 2) * 5)
    >>> rate(rate(cc.math.sin(cc.t)))
    -sin(t)
    """
    if not isinstance(x, Expression):
        check_number(x, "rate: what is differentiated")
        return 0.0
    for leaf in x.leaves():
        if leaf.op not in ("time", "parameter"):
            raise ModelError(
                f"rate: {leaf} is neither time nor a parameter; the rate of a coordinate is its velocity, joint.v"
            )
    stack: list[Expression] = [x]
    while stack:
        node = stack[-1]
        waits_for = [a for a in node.args if isinstance(a, Expression) and not hasattr(a, "_rate")]
        if waits_for and not hasattr(node, "_rate"):
            stack.extend(waits_for)
            continue
        stack.pop()
        if hasattr(node, "_rate"):
            continue
        if node.op in ("time", "parameter"):
            node._rate = 1.0 if node.op == "time" else 0.0
        elif node.op in _STEPS:
            node._rate = 0.0
        else:
            rates = (a._rate if isinstance(a, Expression) else 0.0 for a in node.args)
            node._rate = _RATES[node.op](*node.args, *rates)
    return x._rate


def _rate_of_power(a: Number, b: Number, da: Number, db: Number) -> Number:
    of_base = b * a ** (b - 1) * da
    return of_base if _is_zero(db) else of_base + a**b * log(a) * db


def _rate_of_choice(condition: Any, a: Number, b: Number, _: Number, da: Number, db: Number) -> Number:
    if isinstance(condition, Expression):
        return 0.0 if _is_zero(da) and _is_zero(db) else where(condition, da, db)
    return da if condition else db


def _rate_of_table(x: Number, xp: tuple[float, ...], fp: tuple[float, ...], dx: Number, *_: Number) -> Number:
    """Slopes between the places, selected by conditions, so that a run knows where they jump."""
    if _is_zero(dx):
        return 0.0
    slopes = [0.0, *(np.diff(fp) / np.diff(xp)).tolist(), 0.0]

    def choose(low: int, high: int) -> Number:
        if len(set(slopes[low:high])) == 1:
            return slopes[low]
        middle = (low + high) // 2
        before = Expression("lt" if middle < len(xp) else "le", x, xp[middle - 1])  # the ends belong to the table
        return where(before, choose(low, middle), choose(middle, high))

    return choose(0, len(slopes)) * dx


def _rate_of_polynomials(x: Number, breaks: Any, rows: Any, order: int, dx: Number, *_: Number) -> Number:
    return dx * Expression("polynomials", x, breaks, rows, order + 1) if order + 1 < len(rows[0]) else 0.0


def _rate_of_control(law: Any, index: int, *_: Any) -> Number:
    raise ModelError(f"rate: the effort of a {law} is no formula of time alone")


def _is_zero(x: Number) -> bool:
    return not isinstance(x, Expression) and x == 0


# constant between the instants at which they jump
_STEPS = ("lt", "le", "and", "or", "not", "sign", "floor", "ceil")

# of every other operation, from its arguments and their rates; zeros and ones fold by themselves
_RATES: dict[str, Callable[..., Number]] = {
    "add": lambda a, b, da, db: da + db,
    "sub": lambda a, b, da, db: da - db,
    "mul": lambda a, b, da, db: da * b + a * db,
    "div": lambda a, b, da, db: da / b - (0.0 if _is_zero(db) else a * db / b**2),
    "pow": _rate_of_power,
    "neg": lambda a, da: -da,
    "abs": lambda a, da: sign(a) * da,
    "sin": lambda a, da: cos(a) * da,
    "cos": lambda a, da: -(sin(a) * da),
    "tan": lambda a, da: (1 + tan(a) ** 2) * da,
    "asin": lambda a, da: da / sqrt(1 - a**2),
    "acos": lambda a, da: -(da / sqrt(1 - a**2)),
    "atan": lambda a, da: da / (1 + a**2),
    "atan2": lambda y, x, dy, dx: (dy * x - y * dx) / (x**2 + y**2),
    "sinh": lambda a, da: cosh(a) * da,
    "cosh": lambda a, da: sinh(a) * da,
    "tanh": lambda a, da: (1 - tanh(a) ** 2) * da,
    "exp": lambda a, da: exp(a) * da,
    "log": lambda a, da: da / a,
    "sqrt": lambda a, da: da / (2 * sqrt(a)),
    "mod": lambda a, b, da, db: da - (0.0 if _is_zero(db) else db * floor(a / b)),
    "min": lambda a, b, da, db: _rate_of_choice(Expression("lt", a, b), a, b, 0.0, da, db),
    "max": lambda a, b, da, db: _rate_of_choice(Expression("lt", b, a), a, b, 0.0, da, db),
    "where": _rate_of_choice,
    "dead_zone": lambda x, low, high, dx, d_low, d_high: where(x < low, dx - d_low, where(x > high, dx - d_high, 0.0)),
    "unless_zero": lambda x, value, dx, d_value: unless_zero(x, d_value),
    "interp": _rate_of_table,
    "polynomials": _rate_of_polynomials,
    "control": _rate_of_control,
}
