"""Pieces of work shared out among threads that run compiled code; the calling thread listens meanwhile."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import NamedTuple

import numpy as np

PIECES = 8  # for each thread, so that none waits long for another at the end
MOST = 64  # points in a piece: one that is told to stop comes to an end soon
LISTEN = 0.05  # s between two looks at whether to stop


class Piece(NamedTuple):
    """Items that one thread works on: ``range(first, last)``, until ``flag[0]`` is not zero."""

    first: int
    last: int
    flag: np.ndarray


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share_out(
    work: Callable[[Piece], object],
    number: int,
    threads: int,
    stop: Callable[[], bool] | None = None,
    multiple: int = 1,
) -> None:
    """Call ``work(piece)`` for pieces of ``range(number)``, on several threads.

    Parameters
    ----------
    work
        Must release the GIL to gain anything, and should end soon once ``piece.flag[0]`` is not zero.
    number, threads
        How much there is to do, and by how many.
    stop
        Asked by the calling thread now and then; when it says True, the flag is raised.
    multiple
        Pieces are whole multiples of it.
    """
    flag = np.zeros(1, np.int64)
    size = max(1, min(MOST, number // (PIECES * threads)))
    size = -(-size // multiple) * multiple
    pieces = iter(range(0, number, size))
    lock = threading.Lock()

    def worker() -> None:
        try:
            while not flag[0]:
                with lock:
                    first = next(pieces, None)
                if first is None:
                    return
                work(Piece(first, min(first + size, number), flag))
        except BaseException:
            flag[0] = 1  # the others need not go on
            raise

    with ThreadPoolExecutor(threads, thread_name_prefix="closedchain") as pool:
        waiting = {pool.submit(worker) for _ in range(min(threads, -(-number // size)))}
        try:
            while waiting:
                done, waiting = wait(waiting, None if stop is None else LISTEN, FIRST_EXCEPTION)
                for each in done:
                    each.result()
                if stop is not None and waiting and not flag[0] and stop():
                    flag[0] = 1
        except BaseException:  # also Ctrl-C
            flag[0] = 1
            raise
