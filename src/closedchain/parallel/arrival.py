"""All ranks come to a run before it begins: one that does not come is not waited for for ever.

Nobody watches over ranks yet, and a script may end on one of them, or fail there, without a word to the others. Who is
missing can be told from messages, which need a communicator of their own, since a receive of the script may take any
on that of all. It is made when ranks meet for the first time; until then all that is known is that somebody is missing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

TAG = 31013  # of a message that says nothing but "here I am"
PATIENT = 10  # times the patience of a run: a rank may have a plot to draw before
LOOK = 0.001  # s between two looks
SAME = "every rank has to make the same call"
ENDED = "All ranks have been ended, see patience="

_OWN: dict[Any, Any] = {}


def await_all(comm: Any, patience: float) -> None:
    """Wait until all ranks have come."""
    key = comm.handle
    if key in _OWN:
        _by_messages(_OWN[key], patience)
        return
    own, request = comm.Idup()

    def words(seconds: float, last: bool) -> str:
        """One of the first two ranks says that somebody is missing."""
        if last:
            return f"not all ranks began this run in {seconds:g} s"
        return f"rank {comm.rank} has waited {seconds:g} s for others to begin this run" if comm.rank < 2 else ""

    _wait(request.Test, words, comm, patience)
    _OWN[key] = own


def _by_messages(comm: Any, patience: float) -> None:
    """Wait for a message from each: the first rank that is there says who is missing."""
    others = [rank for rank in range(comm.size) if rank != comm.rank]
    sent = [comm.isend(None, dest=rank, tag=TAG) for rank in others]
    missing = {rank: comm.irecv(source=rank, tag=TAG) for rank in others}

    def all_came() -> bool:
        for rank in [rank for rank, request in missing.items() if request.test()[0]]:
            del missing[rank]
        return not missing

    def words(seconds: float, last: bool) -> str:
        if not all(rank in missing for rank in range(comm.rank)):
            return ""
        ranks = ", ".join(f"rank {rank}" for rank in missing)
        return f"others have waited for {ranks} for {seconds:g} s, which did not begin this run"

    _wait(all_came, words, comm, patience)
    for request in sent:
        request.wait()


def _wait(all_came: Callable[[], bool], words: Callable[[float, bool], str], comm: Any, patience: float) -> None:
    """Wait with a timeout that warns, and one that ends the job; a rank without words leaves both to others."""
    begun, warned = time.monotonic(), False
    while not all_came():
        waited = time.monotonic() - begun
        if waited > patience and not warned and (said := words(patience, False)):
            warned = True
            _say(f"{said}: {SAME}")
        if waited > PATIENT * patience and (said := words(PATIENT * patience, True)):
            _say(f"{said}. {ENDED}")
            comm.Abort(1)
        time.sleep(LOOK)


def _say(words: str) -> None:
    sys.stdout.flush()
    print(f"closedchain: {words}", file=sys.stderr, flush=True)
