"""Every operation of an expression, with its meaning on plain numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from closedchain.errors import ModelError


def _polynomials(
    x: Any, breaks: tuple[float, ...], coefficients: tuple[tuple[float, ...], ...], order: int
) -> np.ndarray | float:
    """Derivative number ``order`` of a piecewise polynomial: constant beyond its ends, which belong to it."""
    x, ends, rows = np.asarray(x, float), np.array(breaks), np.array(coefficients)
    piece = np.clip(np.searchsorted(ends, x, side="right") - 1, 0, len(rows) - 1)
    inside = horner(np.moveaxis(rows[piece], -1, 0), x - ends[piece], order)
    before, after = (0.0, 0.0) if order else (rows[0, 0], horner(rows[-1], ends[-1] - ends[-2]))
    return np.where(x < ends[0], before, np.where(x > ends[-1], after, inside))[()]


def horner(coefficients: Any, u: Any, order: int = 0) -> Any:
    """Derivative number ``order`` of the sum over j of ``coefficients[j] u^j``, of numbers or of traced scalars."""
    value = 0.0
    for j in range(len(coefficients) - 1, order - 1, -1):
        value = value * u + math.perm(j, order) * coefficients[j]
    return value


def _control(law: Any, index: int, *commands: Any) -> Any:
    raise ModelError(f"the effort of a {law} is known in the equations of its mechanism only")


# `derive.lower` has the traced twin of each
OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "neg": np.negative,
    "abs": np.abs,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "sign": np.sign,
    "floor": np.floor,
    "ceil": np.ceil,
    "mod": np.mod,
    "min": np.minimum,
    "max": np.maximum,
    "lt": lambda a, b: np.less(a, b) * 1.0,
    "le": lambda a, b: np.less_equal(a, b) * 1.0,
    "and": lambda a, b: np.logical_and(a, b) * 1.0,
    "or": lambda a, b: np.logical_or(a, b) * 1.0,
    "not": lambda a: np.logical_not(a) * 1.0,
    "where": np.where,
    "dead_zone": lambda x, low, high: np.maximum(x - high, 0.0) + np.minimum(x - low, 0.0),
    "unless_zero": lambda x, value: np.where(np.equal(x, 0.0), 0.0, value),
    "interp": lambda x, xp, fp: np.interp(x, xp, fp),
    "polynomials": _polynomials,
    "control": _control,
}
