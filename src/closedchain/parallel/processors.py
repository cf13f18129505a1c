"""Processors for members that wait for each other, microseconds at a time: one for each, and nobody else on it.

The system puts a new thread where it likes, often two on one processor, and may take tens of milliseconds to see that
there is another one: longer than many a march. So each is held on a processor of its own for a moment. After that the
system may move it again, as it must when others want that processor.

Threads of a linear algebra library go on looking for work for some 30 ms after each product or decomposition that they
shared, and keep a processor busy with that. So they are not used while a team is at work.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Sequence
from functools import cache

from threadpoolctl import ThreadpoolController

MOMENT = 5e-3  # s


def start_apart(crew: Sequence[threading.Thread]) -> None:
    """Start threads, each on a processor of its own where there are enough of them."""
    for thread in crew:
        thread.start()
    if sys.platform != "linux":
        return
    allowed = sorted(os.sched_getaffinity(0))
    if len(crew) == 1 or len(crew) > len(allowed):
        return
    for thread, processor in zip(crew, allowed, strict=False):
        _hold(thread, [processor])
    crew[0].join(MOMENT)
    for thread in crew:
        _hold(thread, allowed)


def _hold(thread: threading.Thread, processors: Sequence[int]) -> None:
    # a thread may have ended, and some systems do not let one choose: then it is where it is
    with contextlib.suppress(OSError):
        if thread.is_alive() and thread.native_id is not None:
            os.sched_setaffinity(thread.native_id, processors)


def one_thread_of_linear_algebra() -> contextlib.AbstractContextManager[None]:
    """As long as this lasts, NumPy and SciPy work in the thread that asks them to."""
    return _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401  which brings another library than NumPy's: what is loaded is found

    return ThreadpoolController()
