"""Every operation of an expression, with its meaning on plain numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

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
    "interp": lambda x, xp, fp: np.interp(x, xp, fp),
}
