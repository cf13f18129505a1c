"""Functions for torques, forces and parameters: the same names for numbers, arrays and expressions.

``cc.sin(x)`` is NumPy's sine for a number or an array, and a traced sine for an `Expression`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from closedchain.errors import ModelError
from closedchain.model.expression import Expression, operand
from closedchain.model.operations import OPERATIONS

pi = float(np.pi)

_NO_NUMBERS = (TypeError, ValueError, AttributeError, OverflowError)  # what NumPy raises when it is given none


def _function(op: str, doc: str, takes: int = 1, name: str | None = None) -> Callable[..., Any]:
    plain, known_as = OPERATIONS[op], f"cc.{name or op}"

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
    >>> float(cc.interp(0.5, [0, 1, 2], [0, 10, 0]))
    5.0
    """
    places, values = _plain(xp, "plain numbers as its places"), _plain(fp, "plain numbers as its values")
    if places.ndim != 1 or places.shape != values.shape or len(places) < 2:
        raise ModelError(f"interp needs two lists of equal length >= 2, got {places.shape} and {values.shape}")
    if not (np.isfinite(places).all() and np.isfinite(values).all() and (np.diff(places) > 0).all()):
        raise ModelError("interp needs finite values at strictly increasing places")
    if isinstance(x, Expression):
        return Expression("interp", x, tuple(places.tolist()), tuple(values.tolist()))
    return np.interp(_plain(x, "a number, an array or an expression to look up"), places, values)


def _plain(numbers: Any, what: str) -> np.ndarray:
    try:
        array = np.asarray(numbers)
    except ValueError:  # lists in lists of unequal length
        array = np.array(None)
    if array.dtype.kind not in "biuf":
        raise ModelError(f"interp needs {what}, not {numbers!r}")
    return array.astype(float)
