"""A cache of values computed from one revision of a drawing.

A function declares that its value is computed once::

    @cached
    def joint_values(mechanism: Mechanism) -> ca.Function: ...

The first argument owns the value: a drawing, or equations derived from it. The key is the function with its other
arguments. A drawing drops all values when it changes; a copy starts empty. Equations keep theirs as long as they live,
so a run of an older drawing never gets functions of a newer one.

If the value belongs to something other than the first argument, or does not depend on all of them, `cached_by` gives
the owner and the key::

    @cached_by(lambda start, held: (start.mechanism, held, start.open_joints))
    def _search(start: State, held: tuple[str, ...]) -> _Search: ...

The value of a function of equations that also reads the drawing (its motors, its forces) belongs to the drawing, with
the equations in the key: a change drops it.

Keys compare as in any dictionary: frozen dataclasses by value, other objects by identity. A key keeps its objects
alive, so that no later object takes over an identity. Values are computed under `closedchain.lock.LOCK`, by one thread.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator
from typing import Any, ParamSpec, Protocol, TypeVar, TypeVarTuple

from closedchain.lock import LOCK

P = ParamSpec("P")
T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


class Derived:
    """Values computed from one owner, by function and arguments.

    Attributes
    ----------
    revision
        Revision of the drawing that the values belong to; 0 for equations, which never change.
    """

    def __init__(self, revision: int = 0) -> None:
        self.revision = revision
        self._values: dict[tuple[Hashable, ...], Any] = {}

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._values.values()))  # another thread may add values meanwhile

    def __contains__(self, value: object) -> bool:
        return any(x is value for x in self)  # arrays and expressions compare element by element

    def copy(self) -> Derived:
        """The same values in a cache of their own."""
        other = Derived(self.revision)
        other._values = dict(self._values)
        return other

    def find(self, key: tuple[Hashable, ...], compute: Callable[[], T]) -> T:
        """Return the value of a key, computed at the first call; the caller holds the lock."""
        if key not in self._values:
            self._values[key] = compute()
        found: T = self._values[key]
        return found


class Owner(Protocol):
    """An object that owns the values computed from it."""

    @property
    def _cache(self) -> Derived:
        """Values that are right for the object as it is now."""
        ...


AnyOwner = TypeVar("AnyOwner", bound=Owner)


def cached(function: Callable[[AnyOwner, *Arguments], T]) -> Callable[[AnyOwner, *Arguments], T]:
    """Compute a function once for its owner, the first argument, and its other arguments.

    All arguments are given by position, so that equal arguments are one key; mypy refuses keywords.

    Examples
    --------
    >>> import closedchain as cc
    >>> @cached
    ... def heavier(m, least):
    ...     print("computed")
    ...     return [x for x in m.bodies if m.values()(m.bodies[x].properties.mass) > least]
    >>> m = cc.library.pendulum()
    >>> heavier(m, 0.5)
    computed
    ['arm']
    >>> heavier(m, 0.5)
    ['arm']
    """

    @functools.wraps(function)
    def found(owner: AnyOwner, /, *arguments: *Arguments) -> T:
        with LOCK:
            return owner._cache.find((function, *arguments), lambda: function(owner, *arguments))

    return found


def cached_by(key: Callable[..., tuple[Any, ...]]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Compute a function once for each ``key(*arguments)``: the `Owner`, then all that the value depends on.

    Examples
    --------
    >>> import closedchain as cc
    >>> @cached_by(lambda m, least, aloud: (m, least))
    ... def heavier(m, least, aloud):
    ...     if aloud:
    ...         print("computed")
    ...     return [x for x in m.bodies if m.values()(m.bodies[x].properties.mass) > least]
    >>> m = cc.library.pendulum()
    >>> heavier(m, 0.5, aloud=False) is heavier(m, 0.5, aloud=True)
    True
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def found(*args: P.args, **kwargs: P.kwargs) -> T:
            with LOCK:
                owner, *rest = key(*args, **kwargs)
                cache: Derived = owner._cache
                return cache.find((function, *rest), lambda: function(*args, **kwargs))

        return found

    return decorate
