"""Points that share controllers, and each of them starts from the controllers' memory as drawn.

A snapshot holds every list, dictionary, set, array and object that a controller can reach, with its content. Afterwards
each of them is filled in place, so that shared objects stay shared. Other objects (an iterator, a table of another
library) cannot be filled: their pickles show whether a point changed them, and one that did is refused by name.

A controller with ``reset()`` is responsible for its memory itself: where it cannot be restored, nothing is refused.
"""

from __future__ import annotations

import pickle
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from functools import partial
from typing import Any

import numpy as np

from closedchain.errors import ModelError
from closedchain.march.controllers import memories
from closedchain.march.controllers.fingerprint import home_of, of_class, random_state
from closedchain.model.forces.sampled import Controller

MEMORY = "memory"  # the name of a controller's own
FILLED = (list, dict, set, deque, bytearray)  # in place
FOREIGN = ("closedchain", "casadi")  # packages whose objects remember nothing that changes a result
ADVICE = (
    "every point of a study starts from the memory as drawn. Keep the memory in attributes of an object, as numbers, "
    "arrays, lists and dictionaries, or give the controller a method reset(), which is called when a run begins"
)


@contextmanager
def as_drawn(controllers: Iterable[Controller]) -> Iterator[None]:
    """Restore the memory of controllers at the end; ModelError names one whose memory cannot be."""
    snapshots = [(controller, _Snapshot(controller)) for controller in controllers]
    try:
        yield
    finally:
        for controller, snapshot in snapshots:
            try:
                snapshot.restore()
            except Exception as error:
                if not _resets(controller):
                    raise _refused(controller, error) from error


def _resets(controller: Controller) -> bool:
    return callable(getattr(controller.owner, "reset", None))


def _refused(controller: Controller, error: Exception) -> ModelError:
    told = str(error) if isinstance(error, _Lasting) else f"{type(error).__name__}: {error}"
    return ModelError(f"the controller {controller.name!r} has a memory that cannot be restored ({told}): {ADVICE}")


class _Lasting(Exception):
    """Something that cannot be restored; the message says what."""


class _Snapshot:
    """All that a controller can change, and how each thing gets its content back."""

    def __init__(self, controller: Controller) -> None:
        self._seen: dict[int, Any] = {}  # with the objects, so that no other one gets their numbers
        self._home = home_of(controller.function)
        self._restoring: list[Callable[[], None]] = []
        try:
            self._keep(controller.function, MEMORY)
        except Exception as error:
            if not _resets(controller):
                raise _refused(controller, error) from error

    def restore(self) -> None:
        """Fill everything as it was."""
        for restored in self._restoring:
            restored()

    def _keep(self, x: Any, name: str) -> None:
        foreign = type(x).__module__.partition(".")[0] in FOREIGN
        if isinstance(x, memories.CONSTANT) or id(x) in self._seen or foreign:
            return
        self._seen[id(x)] = x
        inside: dict[str, Any] = {}
        if isinstance(x, types.FunctionType):
            inside = self._around(x)
        elif isinstance(x, types.MethodType):
            inside = {name: x.__self__, x.__func__.__name__: x.__func__}
        elif isinstance(x, types.BuiltinFunctionType | types.MethodWrapperType):
            inside = {name: x.__self__}
        elif isinstance(x, partial):
            inside = {name: x.func, "its arguments": [*x.args], **x.keywords}
        elif isinstance(x, tuple):
            inside = {f"{name}[{i}]": y for i, y in enumerate(x)}
        elif "__wrapped__" in getattr(x, "__dict__", ()):  # taken in hand by Numba or `functools.cache`
            inside = {name: x.__wrapped__}
        elif memories._tells(x):
            state = deepcopy(x.state())
            self._restoring.append(lambda: x.restore(deepcopy(state)))
        else:
            self._keep_content(x, name)
            self._keep_class(x, name)
        for key, y in inside.items():
            self._keep(y, key)

    def _around(self, function: types.FunctionType) -> dict[str, Any]:
        """Values that a function can look at; names that it assigns outside of itself get theirs back."""
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        found = memories.visible(function)
        of_module, captured = memories.assigned(function)
        for name in captured & found.keys():
            self._restoring.append(partial(setattr, cells[name], "cell_contents", found[name]))
        home = function.__globals__
        before = {name: home[name] for name in of_module if name in home}
        self._restoring.append(partial(_fill_names, home, of_module, before))
        found |= before
        return found

    def _keep_content(self, x: Any, name: str) -> None:
        """Content that is filled in place; else a pickle, to see whether it changes."""
        try:
            self._restoring.append(_filling(x))
            for key, y in _inside(x).items():
                self._keep(y, f"{name}[{key!r}]" if isinstance(x, FILLED) else f"{name}.{key}")
        except _Lasting as lasting:
            try:
                before = pickle.dumps(x)
            except Exception:
                raise _Lasting(*(lasting.args or (f"{name} is of type {type(x).__name__}",))) from None
            self._restoring.append(partial(_verify, x, before, name))

    def _keep_class(self, x: Any, name: str) -> None:
        """What is in an object's classes, as far as they are of the controller's module."""
        for kind in type(x).__mro__:
            if kind.__module__ == self._home:
                content = {key: y for key, y in vars(kind).items() if not key.startswith("__")}
                self._restoring.append(partial(_fill_class, kind, content))
        for key, y in of_class(x, self._home).items():
            self._keep(y, f"{name}.{key}")


def _filling(x: Any) -> Callable[[], None]:
    """What gives an object its content back."""
    if isinstance(x, np.ndarray):
        return partial(_fill_array, x, x.copy())
    if isinstance(x, FILLED):
        return partial(_fill, x, copy(x))
    if random_state(x) is not None:
        return partial(_fill_random, x, deepcopy(random_state(x)))
    if memories._hides(x):
        raise _Lasting
    return partial(_fill_attributes, x, memories._attributes(x))


def _inside(x: Any) -> dict[Any, Any]:
    if isinstance(x, np.ndarray):
        return dict(enumerate(x.ravel().tolist())) if x.dtype.hasobject else {}
    if isinstance(x, FILLED):
        return x if isinstance(x, dict) else dict(enumerate(x))
    return {} if memories._hides(x) else memories._attributes(x)


def _fill(x: Any, content: Any) -> None:
    x.clear()
    (x.update if isinstance(x, dict | set) else x.extend)(content)


def _fill_array(x: np.ndarray, content: np.ndarray) -> None:
    if x.flags.writeable:
        x[...] = content


def _fill_random(x: Any, state: Any) -> None:
    if isinstance(x, np.random.Generator):
        x.bit_generator.state = state
    else:
        (x.set_state if isinstance(x, np.random.RandomState) else x.setstate)(state)


def _fill_names(home: dict[str, Any], names: Iterable[str], before: dict[str, Any]) -> None:
    for name in names:
        home.pop(name, None)
    home.update(before)


def _fill_class(kind: type, content: dict[str, Any]) -> None:
    for name, value in content.items():
        if vars(kind).get(name) is not value:
            setattr(kind, name, value)


def _fill_attributes(x: Any, content: dict[str, Any]) -> None:
    current = memories._attributes(x)
    for name in current.keys() - content.keys():
        object.__delattr__(x, name)
    for name, value in content.items():
        if name not in current or current[name] is not value:
            object.__setattr__(x, name, value)


def _verify(x: Any, before: bytes, name: str) -> None:
    if pickle.dumps(x) != before:
        raise _Lasting(f"{name} is of type {type(x).__name__}, and a point has changed it")
