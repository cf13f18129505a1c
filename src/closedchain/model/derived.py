"""A cache for values computed from one revision of a drawing.

A function declares that its value is computed once::

    @cached
    def joint_values(mechanism: Mechanism) -> ca.Function: ...

The first argument owns the value: a drawing, or equations derived from it. The key is the function with its other
arguments. A drawing drops all values when it changes; a copy starts empty. Equations keep theirs as long as they live, so
a run of an older drawing never gets functions of a newer one.

If the value does not depend on every argument, or belongs to something else than the first one, `cached_by` gives the
owner and the key::

    @cached_by(lambda e, method, choice, now: (e.topology.mechanism, method.family, choice, e.by_limbs))
    def _native(e: Equations, method: Formulation, choice: Choice, now: bool) -> Native: ...

Keys compare as in any dictionary: frozen dataclasses by value, other objects by identity. A key holds its objects, so no
later object has the same identity. Values are computed under `closedchain.lock.LOCK`, by one thread.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator
from typing import Any, ParamSpec, Protocol, TypeVar, TypeVarTuple, Unpack

from closedchain.lock import LOCK

P = ParamSpec("P")
T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")
Key = tuple[Hashable, ...]


class Derived:
    """Values computed from one owner, by key.

    Attributes
    ----------
    revision
        The revision of the drawing that the values belong to; not used for equations, which never change.
    """

    def __init__(self, revision: int = 0) -> None:
        self.revision = revision
        self._values: dict[Key, Any] = {}

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._values.values()))  # another thread may add some meanwhile

    def copy(self) -> Derived:
        """The same values in a cache of their own."""
        other = Derived(self.revision)
        other._values = dict(self._values)
        return other

    def find(self, key: Key, make: Callable[[], T]) -> T:
        """Return the value of a key; make it at the first call. Call this under the lock."""
        if key not in self._values:
            self._values[key] = make()
        found: T = self._values[key]
        return found


class Owner(Protocol):
    """An object that owns the values computed from it."""

    @property
    def derived(self) -> Derived:
        """The values that are right for the object as it is now."""
        ...


O = TypeVar("O", bound=Owner)


def cached(function: Callable[[O, Unpack[Arguments]], T]) -> Callable[[O, Unpack[Arguments]], T]:
    """Compute a function once for its owner, the first argument, and its other arguments, all given by position.

    Examples
    --------
    >>> import closedchain as cc
    >>> @cached
    ... def heavier(m, least):
    ...     print("looked for")
    ...     return [x for x in m.bodies if m.values()(m.bodies[x].properties.mass) > least]
    >>> m = cc.library.pendulum()
    >>> heavier(m, 0.5)
    looked for
    ['arm']
    >>> heavier(m, 0.5)
    ['arm']
    """

    @functools.wraps(function)
    def found(owner: O, *arguments: *Arguments) -> T:
        with LOCK:
            return owner.derived.find((function, *arguments), lambda: function(owner, *arguments))

    return found


def cached_by(key: Callable[..., tuple[Any, ...]]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Compute a function once for each ``key(*arguments)``, which returns the `Owner` and all that the value depends on.

    Examples
    --------
    >>> import closedchain as cc
    >>> @cached_by(lambda m, least, aloud: (m, least))
    ... def heavier(m, least, aloud):
    ...     if aloud:
    ...         print("looked for")
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
                derived: Derived = owner.derived
                return derived.find((function, *rest), lambda: function(*args, **kwargs))

        return found

    return decorate
