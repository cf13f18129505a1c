"""Ctrl-C during a run: noted at once, acted on where nothing is half done.

An exception in the middle of CasADi or of a checkpoint would lose what is there. Inside of ``with interrupts():`` the
signal only leaves a note, and `check` raises ``KeyboardInterrupt`` from it between two calls of a solver. A second
Ctrl-C is not patient.
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
    """Note Ctrl-C instead of raising it; only where Python's own handler would be called."""
    global _noted
    mine = threading.current_thread() is threading.main_thread()
    if not mine or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def note(number: int, frame: Any) -> None:
        global _noted
        if _noted:
            signal.default_int_handler(number, frame)
        _noted = True

    _noted = False
    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _noted = False


def noted() -> bool:
    """Whether there was a Ctrl-C."""
    return _noted


def check(wanted: bool | None = None) -> None:
    """Raise what was noted here, or by somebody else."""
    global _noted
    if _noted if wanted is None else wanted:
        _noted = False
        raise KeyboardInterrupt
