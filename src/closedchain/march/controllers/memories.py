"""What sampled controllers remember from call to call: where it is, how it is saved and given back.

A memory is whatever a controller can change and find again at its next call:

- the attributes of an object that is called, or whose method is called;
- lists, dictionaries, arrays and objects that a function captured, has as defaults or attributes, or finds by name in
  its module; and those that functions of the same module find, if it calls them by name;
- the arguments that a `functools.partial` holds.

Objects with ``state()`` and ``restore(state)`` tell their memory themselves. Attributes are assigned when they are
given back; lists, dictionaries and arrays are filled in place, so that all who know them see it.

Numbers, texts, arrays, and lists and dictionaries of them can be saved (`closedchain.disk.plain`). A controller that
remembers anything else is refused by name before a run starts, and so is one that assigns variables outside of itself.
Classes, other modules and the objects of this package are not saved.

Much of what a function can reach is constant: a table, an interpolation. Two kinds of captured values are therefore
known by a digest from the start of a run, and saved only once they have changed: large ones, and those that cannot be
saved but hide nothing (they hold functions, objects, two names for one array). One of the latter is refused when it has
changed.
"""

from __future__ import annotations

import contextlib
import dis
import enum
import hashlib
import logging
import numbers
import types
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from functools import cache, partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from closedchain.disk import plain
from closedchain.errors import ModelError
from closedchain.model.forces.sampled import Controller

T = TypeVar("T")

CONSTANT = (
    type(None), str, bytes, numbers.Number, np.generic, np.dtype, np.ufunc, enum.Enum, range, slice, frozenset, type,
    types.ModuleType, logging.Logger,
)  # fmt: skip
FILLED = (list, dict, np.ndarray)  # in place
LARGE = 1 << 16  # bytes: smaller values are saved with each checkpoint, changed or not
MADE_HERE = 1 << 9  # the flag of types that are made while Python runs, as those of Python code are


class Place:
    """Where something is remembered.

    Parameters
    ----------
    name
        For messages.
    owner
        A list, a dictionary or an array; or an object, with ``state()`` and ``restore(state)`` or with attributes.
    """

    def __init__(self, name: str, owner: Any) -> None:
        self.name, self._owner = name, owner
        self.filled = type(owner) in FILLED
        self._tells = not self.filled and _tells(owner)
        self.captured = name != MEMORY and not self._tells  # so that it may be a constant
        if self._tells:
            self.name = f"{name}.state()" if name != MEMORY else "state()"

    def read(self) -> Any:
        """What is remembered now."""
        if self.filled:
            return self._owner
        return self._owner.state() if self._tells else _attributes(self._owner)

    def large(self) -> bool:
        """Whether it takes long to save."""
        parts = (x for _, x in _leaves(self.name, self._owner, {}))
        return sum(x.nbytes if isinstance(x, np.ndarray) else 8 for x in parts) > LARGE

    def digest(self) -> str:
        """Tells apart what is remembered, in this process and in others."""
        found = hashlib.blake2b(digest_size=16)
        for name, x in _leaves(self.name, self._owner, {}):
            told = f"{x.dtype} {x.shape}" if isinstance(x, np.ndarray) else _told(x)
            found.update(f"{name} {told}\n".encode())
            if isinstance(x, np.ndarray):
                found.update(x.tobytes())
        return found.hexdigest()

    def write(self, value: Any) -> None:
        """Give it back."""
        if self._tells:
            self._owner.restore(value)
        elif not self.filled:
            for name, x in value.items():
                object.__setattr__(self._owner, name, x)
        elif type(value) is not type(self._owner):
            raise ValueError(f"{self.name} is a {type(self._owner).__name__}")
        elif isinstance(value, np.ndarray):
            if (value.shape, value.dtype) != (self._owner.shape, self._owner.dtype):
                raise ValueError(f"{self.name} has another shape or kind")
            if not np.array_equal(value, self._owner):  # which may be one that cannot be written
                self._owner[...] = value
        else:
            self._owner.clear()
            (self._owner.update if isinstance(value, dict) else self._owner.extend)(value)


MEMORY = "memory"  # the name of a controller's own


Digests = list[dict[int, str]]  # of each controller, by the number of a place


def begun(controllers: Iterable[Controller]) -> Digests:
    """Digests of all that is saved only once it has changed, at the start of a run."""
    return [
        {k: x.digest() for k, x in enumerate(places) if x.captured and (x.large() or _fault(x.name, x.read()))}
        for _, places in _places(controllers)
    ]


def saved(controllers: Iterable[Controller], begun: Digests | None = None) -> list[list[Any]]:
    """All that some controllers remember, as plain data of their own; ModelError names what cannot be saved.

    Of what has not changed since it had begun, the digest is kept instead.
    """
    out, known = [], []
    for i, (controller, places) in enumerate(_places(controllers)):
        values = []
        for k, place in enumerate(places):
            digest = None if begun is None else begun[i].get(k)
            if digest is not None and place.captured and place.digest() == digest:
                values.append(digest)
                continue
            value = _asked(controller, "tell what it remembers", place.read)
            # an array that is filled in place may well look at the numbers of another one
            alone = place.filled and isinstance(value, np.ndarray)
            known += [] if alone else [value]
            fault = _fault(place.name, value)
            if fault:
                raise _unsavable(controller, fault)
            values.append(value)
        out.append(values)
    try:
        plain.refuse(known, MEMORY)
    except plain.NotPlain:
        raise ModelError(
            "two things that controllers remember share a list, a dictionary or an array, and would be two when they "
            f"come back: {ADVICE}"
        ) from None
    return deepcopy(out)


def restore(controllers: Iterable[Controller], memories: list[Any]) -> Digests:
    """Give back what was saved, and tell the digests of all that was not, which must be as it was.

    ValueError if it was saved by other controllers, ModelError names one that fails.
    """
    out = []
    for (controller, places), values in zip(_places(controllers), memories, strict=True):
        plain.check(values, list, MEMORY)
        out.append({k: x for k, x in enumerate(values) if type(x) is str and places[k : k + 1] and places[k].captured})
        for k, (place, value) in enumerate(zip(places, values, strict=True)):
            if k not in out[-1]:
                _asked(controller, "restore what it had saved", partial(place.write, value))
            elif place.digest() != value:
                raise ModelError(
                    f"{place.name}, which the controller {controller.name!r} looks at, is not what it was when the run "
                    "began, and was not saved: give it its first value, and the same call goes on"
                )
    return out


def reset(controllers: Iterable[Controller]) -> None:
    """Let those forget everything that know how to."""
    for controller in controllers:
        if hasattr(controller.owner, "reset"):
            _asked(controller, "be reset", controller.owner.reset)


# ---- what may go wrong -----------------------------------------------------------------------------------------------

ADVICE = (
    "a memory holds numbers, texts, arrays, and lists and dictionaries of them. Keep it so, give the controller "
    "state() and restore(state) that do, or leave save out"
)


def _asked(controller: Controller, what: str, how: Callable[[], T]) -> T:
    """What a user's method returns; what it raises names the controller."""
    try:
        return how()
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(
            f"the controller {controller.name!r} cannot {what} ({type(error).__name__}: {error}): mend it, and the "
            "same call goes on"
        ) from error


def _fault(name: str, value: Any) -> str:
    """Why a value cannot be saved; nothing if it can."""
    try:
        plain.refuse(value, name)
    except plain.NotPlain as error:
        return str(error)
    return ""


def _unsavable(controller: Controller, what: str) -> ModelError:
    return ModelError(f"the controller {controller.name!r} remembers something that cannot be saved, {what}: {ADVICE}")


# ---- where it is -----------------------------------------------------------------------------------------------------


def _places(controllers: Iterable[Controller]) -> Iterator[tuple[Controller, list[Place]]]:
    """The places of each controller; what two of them share belongs to the first."""
    seen: dict[int, Any] = {}  # with the objects, so that no other one gets their numbers
    for controller in controllers:
        yield controller, list(_search(controller, controller.function, MEMORY, seen, called=True))


def _search(who: Controller, x: Any, name: str, seen: dict[int, Any], called: bool = False) -> Iterator[Place]:
    """Places in a value and in all that it leads to; ``called``: as the controller itself."""
    if isinstance(x, CONSTANT) or id(x) in seen or _ours(x):
        return
    seen[id(x)] = x
    inside: dict[str, Any] = {}
    if isinstance(x, types.FunctionType):
        if _marks_itself(x):
            yield Place(x.__name__, x)
        inside = _around(who, x)
    elif isinstance(x, types.MethodType):
        inside = {name: x.__self__} | ({"function": x.__func__} if called else {})
    elif isinstance(x, types.BuiltinFunctionType | types.MethodWrapperType):
        inside = {name: x.__self__}
    elif isinstance(x, partial):
        arguments = {f"argument {i}": y for i, y in enumerate(x.args)}
        yield from _search(who, x.func, name, seen, called)
        inside = {**arguments, **x.keywords, **vars(x)}
    elif isinstance(x, tuple):
        inside = {f"{name}[{i}]": y for i, y in enumerate(x)}
    elif "__wrapped__" in getattr(x, "__dict__", ()):  # a function that Numba or `functools.cache` has taken in hand
        inside = {name: x.__wrapped__}
    elif type(x) in FILLED or not _hides(x) or _tells(x):
        place = Place(name, x)
        yield place
        inside = {"function": type(x).__call__} if called else {}
        if place.captured:
            inside |= {key: y for key, y in _leaves(name, x, {}) if not isinstance(y, np.ndarray)}
    else:
        raise _unsavable(who, f"{name} is of type {type(x).__name__}")
    for key, y in inside.items():
        yield from _search(who, y, key, seen)


def _around(who: Controller, function: types.FunctionType) -> dict[str, Any]:
    """What a function can look at, by name; it is refused if it assigns anything outside of itself."""
    for name in sorted(frozenset.union(*assigned(function))):
        raise ModelError(
            f"the controller {who.name!r} remembers {name!r} outside of itself, where it cannot be saved: make it an "
            f"object that keeps {name!r} as an attribute, or leave save out"
        )
    return visible(function)


def visible(function: types.FunctionType) -> dict[str, Any]:
    """Values that a function can look at, by name: of its module, captured, and by default.

    Functions of other modules are left out: they would lead into the whole world.
    """
    home = function.__globals__
    found = {name: home[name] for name in _names(function.__code__)[0] if name in home}
    found = {k: y for k, y in found.items() if not isinstance(y, types.FunctionType) or y.__globals__ is home}
    return found | _captured(function)


def assigned(function: types.FunctionType) -> tuple[frozenset[str], frozenset[str]]:
    """Names outside of a function that it assigns: of its module, and captured."""
    return _names(function.__code__)[1:]


@cache
def _names(code: types.CodeType) -> tuple[tuple[str, ...], frozenset[str], frozenset[str]]:
    """Names of the module that a code and the functions within it read and assign, and captured ones they assign."""
    names: dict[str, dict[str, None]] = {"LOAD_GLOBAL": {}, "STORE_GLOBAL": {}, "STORE_DEREF": {}}
    for inner in _codes(code):
        for step in dis.get_instructions(inner):
            if step.opname in names:
                names[step.opname][step.argval] = None
    read, stored, captured = names.values()
    return tuple(read), frozenset(stored), frozenset(captured) & frozenset(code.co_freevars)


def _marks_itself(function: types.FunctionType) -> bool:
    """Whether a function assigns attributes of its own: ``f.count = ...`` inside of f."""
    return any(
        after.opname == "STORE_ATTR" and before.argval == function.__name__
        for code in _codes(function.__code__)
        for before, after in pairwise(dis.get_instructions(code))
    )


def _captured(function: types.FunctionType) -> dict[str, Any]:
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # not yet filled
            found[name] = cell.cell_contents
    found |= {f"default {i}": y for i, y in enumerate(function.__defaults__ or ())}
    return found | (function.__kwdefaults__ or {}) | {f"{function.__name__}.{k}": y for k, y in vars(function).items()}


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A function's code and that of the functions within it."""
    yield code
    for x in code.co_consts:
        if isinstance(x, types.CodeType):
            yield from _codes(x)


def _leaves(name: str, x: Any, seen: dict[int, tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """All that a captured value is made of, by name: kinds of containers, arrays, constants, and other things."""
    if isinstance(x, CONSTANT) or (type(x) is np.ndarray and not x.dtype.hasobject):
        yield name, x
        return
    if id(x) in seen:
        yield name, f"again {seen[id(x)][0]}"
        return
    seen[id(x)] = name, x
    whole, inside = False, {}
    if type(x) is dict:
        inside = {f"{name}[{key!r}]": y for key, y in x.items()}
    elif type(x) in (list, tuple, np.ndarray):
        inside = {f"{name}[{i}]": y for i, y in enumerate(x if type(x) is not np.ndarray else x.ravel().tolist())}
    elif isinstance(x, types.FunctionType):
        whole, inside = True, {f"{name}.{key}": y for key, y in _captured(x).items()}
    elif _ours(x) or _hides(x) or _tells(x):
        whole = True
    else:
        inside = {f"{name}[{key!r}]": y for key, y in _attributes(x).items()}
    yield name, x if whole else type(x)
    for key, y in inside.items():
        yield from _leaves(key, y, seen)


def _told(x: Any) -> str:
    """A constant, or the name of something else, without where it is in memory."""
    if isinstance(x, frozenset):
        return str(sorted(map(_told, x)))
    if isinstance(x, CONSTANT) and not isinstance(x, type | types.ModuleType):
        return repr(x)
    code = getattr(x, "__code__", None)
    return f"{getattr(x, '__qualname__', type(x).__qualname__)} {code.co_code.hex() if code else ''}"


def _ours(x: Any) -> bool:
    return type(x).__module__.partition(".")[0] == "closedchain"


def _tells(owner: Any) -> bool:
    return callable(getattr(owner, "state", None)) and callable(getattr(owner, "restore", None))


def _attributes(owner: Any) -> dict[str, Any]:
    """Those of an object itself, in its dictionary and in its slots."""
    found = object.__getstate__(owner)  # type: ignore[attr-defined]  # as the language has them, not as the class tells
    own, slots = found if isinstance(found, tuple) else (found, None)
    return {**(own or {}), **(slots or {})}


def _hides(x: Any) -> bool:
    """Whether an object may remember more than its attributes: it, or a class it comes from, is not of Python code."""
    kinds = [kind for kind in type(x).__mro__ if kind is not object]
    of_python = {"__dict__", "__weakref__", "__slots__"}
    return any(
        not kind.__flags__ & MADE_HERE or (kind.__base__ is object and not of_python & vars(kind).keys())
        for kind in kinds
    )
