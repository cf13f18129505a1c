"""All ranks come to a run before it begins: one that does not come is not waited for for ever.

Nobody watches over ranks yet, and a script may end on one of them, or fail there, without a word to the others. Who is
missing can be told from messages, which need a communicator of their own, since a receive of the script may take any
on that of all. It is made when ranks meet for the first time; until then all that is known is that somebody is missing.
"""

from __future__ import annotations

import sys
import time
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
    if key not in _OWN:
        _OWN[key] = _own(comm, patience)
    else:
        _await(_OWN[key], patience)


def _own(comm: Any, patience: float) -> Any:
    """A communicator of our own, once all have come; one of the first two ranks says that somebody is missing."""
    own, request = comm.Idup()
    begun, said = time.monotonic(), comm.rank > 1
    while not request.Test():
        waited = time.monotonic() - begun
        if waited > patience and not said:
            said = True
            _say(f"rank {comm.rank} has waited {patience:g} s for others to begin this run: {SAME}")
        if waited > PATIENT * patience:
            _say(f"not all ranks began this run in {PATIENT * patience:g} s. {ENDED}")
            comm.Abort(1)
        time.sleep(LOOK)
    return own


def _await(comm: Any, patience: float) -> None:
    """The same by messages: the first that is there says who is missing, and at last ends the job."""
    others = [rank for rank in range(comm.size) if rank != comm.rank]
    sent = [comm.isend(None, dest=rank, tag=TAG) for rank in others]
    missing = {rank: comm.irecv(source=rank, tag=TAG) for rank in others}
    begun, said = time.monotonic(), False
    while True:
        missing = {rank: request for rank, request in missing.items() if not request.test()[0]}
        if not missing:
            break
        waited = time.monotonic() - begun
        speaks = all(rank in missing for rank in range(comm.rank))
        if speaks and waited > patience and not said:
            said = True
            _say(f"{_waited(missing, patience)}: {SAME}")
        if speaks and waited > PATIENT * patience:
            _say(f"{_waited(missing, PATIENT * patience)}. {ENDED}")
            comm.Abort(1)
        time.sleep(LOOK)
    for request in sent:
        request.wait()


def _waited(missing: dict[int, Any], seconds: float) -> str:
    ranks = ", ".join(f"rank {rank}" for rank in missing)
    return f"others have waited for {ranks} for {seconds:g} s, which did not begin this run"


def _say(words: str) -> None:
    sys.stdout.flush()
    print(f"closedchain: {words}", file=sys.stderr, flush=True)
