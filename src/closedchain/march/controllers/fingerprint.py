"""A few digits that change when a user's function does: what was computed with another one must not be gone on with.

They follow the function's own code, the functions within it, the values that it captured or has by default, those that
it finds by name in its module, the functions of that module that it calls, and the attributes and the class of an
object that is called. Not what is in other modules, nor in objects of this package (a mechanism that it captured, say):
that would be the whole world.
"""

from __future__ import annotations

import functools
import hashlib
import random
import types
from collections import deque
from typing import Any

import numpy as np

from closedchain.march.controllers import memories

DEPTH = 32  # of what is within what


def fingerprint(function: Any, values: bool = True, private: bool = False) -> str:
    """Digits of a function, a method, a partial one or an object that can be called.

    Parameters
    ----------
    function
        Whatever is called.
    values
        Whether the values count that it reads, and attributes; not where it remembers something there from call to
        call.
    private
        Whether attributes count that begin with an underscore.

    Examples
    --------
    >>> fingerprint(lambda x: max(y * 2 for y in x)) == fingerprint(lambda x: max(y * 3 for y in x))
    False
    """
    return hashlib.sha256(_Teller(function, values, private).told(function, DEPTH).encode()).hexdigest()[:8]


def home_of(function: Any) -> str:
    """The module of a function, or of the class of an object that is called."""
    while isinstance(function, functools.partial | types.MethodType):
        function = function.func if isinstance(function, functools.partial) else function.__func__
    return str(getattr(function, "__module__", "") if isinstance(function, types.FunctionType) else _module(function))


def of_class(x: Any, home: str) -> dict[str, Any]:
    """Functions and values in the classes of an object that are defined in a module."""
    out: dict[str, Any] = {}
    for kind in reversed(type(x).__mro__):
        for name, y in vars(kind).items() if kind.__module__ == home else ():
            y = getattr(y, "__func__", getattr(y, "fget", y))  # of a static method, of a property
            if isinstance(y, types.FunctionType) or not name.startswith("__"):
                out[name] = y
    return out


def random_state(x: Any) -> Any:
    """Where a generator of random numbers is; None for anything else."""
    if isinstance(x, np.random.Generator):
        return x.bit_generator.state
    if isinstance(x, np.random.RandomState):
        return x.get_state(legacy=False)
    return x.getstate() if isinstance(x, random.Random) else None


def _module(x: Any) -> str:
    return type(x).__module__


class _Teller:
    """Puts values into words that are the same in every process."""

    def __init__(self, function: Any, values: bool, private: bool) -> None:
        self._values, self._private, self._home = values, private, home_of(function)
        self._seen: dict[int, tuple[Any, str]] = {}  # with the objects, so that no other one gets their numbers

    def told(self, x: Any, depth: int) -> str:
        if x is None or isinstance(x, bool | int | float | complex | str | bytes | np.generic):
            return repr(x)
        if depth == 0:
            return ""
        if id(x) not in self._seen:
            self._seen[id(x)] = x, "itself"  # it may contain itself
            told = self._told(x, depth - 1)
            self._seen[id(x)] = x, told if len(told) < 64 else hashlib.sha256(told.encode()).hexdigest()
        return self._seen[id(x)][1]

    def _told(self, x: Any, depth: int) -> str:
        inner = functools.partial(self.told, depth=depth)
        values = self._values
        if isinstance(x, types.CodeType):
            return f"{x.co_code!r} {x.co_names} {[inner(y) for y in x.co_consts]}"
        if isinstance(x, types.FunctionType):
            return " ".join(
                map(inner, (x.__code__, x.__defaults__, x.__kwdefaults__, memories.visible(x) if values else None))
            )
        if isinstance(x, types.MethodType):
            return f"{inner(x.__func__)} {self._object(x.__self__, depth) if values else None}"
        if isinstance(x, functools.partial):
            return f"{inner(x.func)} {inner(x.args)} {inner(x.keywords)}"
        if isinstance(x, list | set | dict | np.ndarray) and not values:  # these may change
            return type(x).__name__
        if isinstance(x, np.ndarray):
            if x.dtype.hasobject:
                return f"{x.shape} {inner(x.tolist())}"
            return f"{x.dtype} {x.shape} {hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()}"
        if isinstance(x, list | tuple | deque):
            return str([inner(y) for y in x])
        if isinstance(x, set | frozenset):
            return str(sorted(inner(y) for y in x))
        if isinstance(x, dict):
            return str(sorted((inner(k), inner(y)) for k, y in x.items()))
        if isinstance(x, type | types.ModuleType):
            return x.__name__
        if callable(x) and not values:
            return f"{type(x).__qualname__} {inner(getattr(type(x).__call__, '__code__', None))} None"
        return self._object(x, depth) if values else type(x).__qualname__

    def _object(self, x: Any, depth: int) -> str:
        """Its class, and the attributes that it shows: what it keeps to itself may change at any time."""
        kind = type(x)
        if kind.__module__.partition(".")[0] in ("closedchain", "builtins") or memories._hides(x):
            return f"{kind.__qualname__} {self.told(random_state(x), depth)}"
        own = {name: y for name, y in memories._attributes(x).items() if self._private or not name.startswith("_")}
        return f"{kind.__qualname__} {self.told(of_class(x, self._home), depth)} {self.told(own, depth)}"
