"""Ctrl-C during a run: noted at once, acted on where nothing is half done.

An exception in the middle of CasADi or of a checkpoint would lose what is there. Inside of ``with interrupts():`` the
signal only leaves a note, and `check` raises ``KeyboardInterrupt`` from it between two calls of a solver. A note that
nobody has looked at is raised when the block ends: no Ctrl-C is lost. A second Ctrl-C is not patient.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

_noted = False


@contextlib.contextmanager
def interrupts() -> Iterator[None]:
    """Note Ctrl-C instead of raising it before the end; only where Python's own handler would be called."""
    global _noted
    if not _main():
        yield
        return
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:  # somebody else's, or ours further out
        try:
            yield
        finally:
            check()
        return

    def hear(number: int, frame: Any) -> None:
        if _noted:
            signal.default_int_handler(number, frame)
        note()

    _noted = False
    signal.signal(signal.SIGINT, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        check()


def noted() -> bool:
    """Whether there was a Ctrl-C."""
    return _noted


def note() -> None:
    """Leave a note, as Ctrl-C does: for an interruption that a callback raises in a member of a team."""
    global _noted
    _noted = True


def postpone() -> None:
    """Raise it where the block ends: what was interrupted has come to its end already."""
    global _noted
    _noted = _noted or _main()


def _main() -> bool:
    return threading.current_thread() is threading.main_thread()


def check(wanted: bool | None = None) -> None:
    """Raise what was noted here, or by somebody else; the note is gone when the main thread has raised it."""
    global _noted
    if _noted if wanted is None else wanted:
        _noted = _noted and not _main()
        raise KeyboardInterrupt
