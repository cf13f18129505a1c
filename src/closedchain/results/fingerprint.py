"""A few digits that change when a user's function does: what was computed with another one must not be gone on with.

They follow the function's own code, the functions within it, the numbers that it captured or has by default, and the
attributes of an object that is called. Not what it finds by name in its module, nor what is in other objects (of a
mechanism that it captured, say): that would be the whole world.
"""

from __future__ import annotations

import functools
import hashlib
import types
from typing import Any

import numpy as np

DEPTH = 8  # of what is within what; a function may have captured itself


def fingerprint(function: Any, values: bool = True) -> str:
    """Digits of a function, a method, a partial one or an object that can be called.

    Parameters
    ----------
    function
        Whatever is called.
    values
        Whether what it captured counts, and attributes; not where it remembers something there from call to call.

    Examples
    --------
    >>> fingerprint(lambda x: max(y * 2 for y in x)) == fingerprint(lambda x: max(y * 3 for y in x))
    False
    """
    return hashlib.sha256(_told(function, values, DEPTH).encode()).hexdigest()[:8]


def _told(x: Any, values: bool, depth: int) -> str:
    """A value in words that are the same in every process."""
    if depth == 0:
        return ""
    inner = functools.partial(_told, values=values, depth=depth - 1)
    if x is None or isinstance(x, bool | int | float | complex | str | bytes | np.generic):
        return repr(x)
    if isinstance(x, types.CodeType):
        return f"{x.co_code!r} {x.co_names} {[inner(y) for y in x.co_consts]}"
    if isinstance(x, types.FunctionType):
        captured = [_content(cell) for cell in x.__closure__ or ()] if values else []
        return " ".join(map(inner, (x.__code__, x.__defaults__, x.__kwdefaults__, captured)))
    if isinstance(x, types.MethodType):
        return f"{inner(x.__func__)} {inner(_attributes(x.__self__) if values else None)}"
    if isinstance(x, functools.partial):
        return f"{inner(x.func)} {inner(x.args)} {inner(x.keywords)}"
    if isinstance(x, list | set | dict | np.ndarray) and not values:  # these may change
        return type(x).__name__
    if isinstance(x, np.ndarray):
        return f"{x.dtype} {x.shape} {hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()}"
    if isinstance(x, list | tuple):
        return str([inner(y) for y in x])
    if isinstance(x, set | frozenset):
        return str(sorted(inner(y) for y in x))
    if isinstance(x, dict):
        return str(sorted((inner(k), inner(y)) for k, y in x.items()))
    if callable(x) and not isinstance(x, type):
        code = getattr(type(x).__call__, "__code__", None)
        return f"{type(x).__qualname__} {inner(code)} {inner(_attributes(x) if values else None)}"
    return type(x).__qualname__


def _attributes(x: Any) -> dict[str, Any]:
    """Those that an object shows; what it keeps to itself may change at any time."""
    return {name: y for name, y in getattr(x, "__dict__", {}).items() if not name.startswith("_")}


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not yet filled
        return None
