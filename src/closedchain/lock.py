"""One lock around all that is traced and compiled, so that threads may share mechanisms and make their own.

CasADi marks the nodes of a graph while it walks through it (to make a function, a derivative, a substitution), and
graphs of different mechanisms share nodes, the constants above all. What is derived is kept and must be derived once.
Machine code that runs needs no lock: threads march side by side.

A thread that holds the lock waits for no other one. That is why `once` stands here: `functools.cached_property` of
Python 3.11 holds a lock of its own while it computes, so that two threads could wait for each other.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")
Function = TypeVar("Function", bound=Callable[..., Any])

LOCK = threading.RLock()

if hasattr(os, "register_at_fork"):  # a forked process begins with the lock free and nothing half made
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)


def locked(function: Function) -> Function:
    """A function that one thread runs at a time, and that may call others of this kind.

    Examples
    --------
    >>> @locked
    ... def twice(x):
    ...     return 2 * x
    >>> twice(3)
    6
    """

    @functools.wraps(function)
    def alone(*args: Any, **kwargs: Any) -> Any:
        with LOCK:
            return function(*args, **kwargs)

    return alone  # type: ignore[return-value]


class once(functools.cached_property[T]):  # noqa: N801  (it is used as a decorator)
    """A property that is computed under the lock, by the first who asks, and kept."""

    if not TYPE_CHECKING:

        def __get__(self, instance, owner=None):
            """The value that is kept; from the second time on it is found without asking here."""
            if instance is None:
                return self
            with LOCK:
                kept = vars(instance)
                if self.attrname not in kept:
                    kept[self.attrname] = self.func(instance)
                return kept[self.attrname]
