"""One lock around all that is traced and compiled, so that threads may share mechanisms and make their own.

CasADi marks the nodes of a graph while it walks through it (to make a function, a derivative, a substitution), and
graphs of different mechanisms share nodes, the constants above all. What is derived is kept and must be derived once.
Machine code that runs needs no lock: threads march side by side.

A thread that holds the lock waits for no other one. That is why `once` stands here: `functools.cached_property` of
Python 3.11 holds a lock of its own while it computes, so that two threads could wait for each other.

CasADi also swallows exceptions that Python raises while it looks at its arguments: a Ctrl-C there is lost. While the
main thread holds the lock, or is `patient`, the signal only leaves a note, and ``KeyboardInterrupt`` is raised where a
block ends. A second Ctrl-C does not wait.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # without the enums of `signal`, which take ten times as long
import contextlib
import functools
import os
import signal
import threading
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

T = TypeVar("T")
Function = TypeVar("Function", bound=Callable[..., Any])
SIGINT = int(signal.SIGINT)


class Patience(contextlib.ContextDecorator):
    """A block in which Ctrl-C waits: raised where it ends, or a block within it; only for Python's own handler.

    A block within another costs next to nothing: a function that asks CasADi many times is decorated as a whole.
    """

    def __init__(self) -> None:
        self._depth = 0  # of such blocks, which only the main thread has
        self._noted = False

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            if self._depth:
                self._depth += 1
            elif _signal.getsignal(SIGINT) in (signal.default_int_handler, self._note):  # ours: a second one cut an end
                self._noted = False  # before anything can be noted
                _signal.signal(SIGINT, self._note)
                self._depth = 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._depth and threading.current_thread() is threading.main_thread():
            self._depth -= 1
            if not self._depth:
                _signal.signal(SIGINT, signal.default_int_handler)
            if self._noted and kind is not KeyboardInterrupt:
                raise KeyboardInterrupt

    def forget(self) -> None:
        """Begin anew in a forked process, whose main thread may be another one: no block, Python's own handler."""
        if self._depth:
            self._depth = 0
            _signal.signal(SIGINT, signal.default_int_handler)

    def _note(self, number: int, frame: Any) -> None:
        if self._noted:
            signal.default_int_handler(number, frame)
        self._noted = True


PATIENCE = Patience()


class Lock:
    """A lock that a thread may take several times, and under which Ctrl-C waits."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.acquire, self.release = self._lock.acquire, self._lock.release

    def __enter__(self) -> None:
        self.acquire()
        try:
            PATIENCE.__enter__()
        except BaseException:
            self.release()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            PATIENCE.__exit__(kind, error, at)
        finally:
            self.release()

    def owned(self) -> bool:
        """Whether this thread holds it."""
        return self._lock._is_owned()  # type: ignore[attr-defined, no-any-return]


LOCK = Lock()

if hasattr(os, "register_at_fork"):  # a forked process begins with the lock free and nothing half made
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)
    os.register_at_fork(after_in_child=PATIENCE.forget)


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


def patient(function: Callable[..., Any], first: int | None = None) -> Callable[..., Any]:
    """A function of CasADi's that gives arrays, and that Ctrl-C does not cut in two, where it would be lost.

    Of several outputs the ``first`` ones are given; the default gives all.
    """

    def asked(*args: Any) -> Any:
        with PATIENCE:
            found = function(*args)
            return [np.array(x) for x in found[:first]] if isinstance(found, list | tuple) else np.array(found)

    return asked


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
