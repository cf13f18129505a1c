"""A run of ranks that ends with one clear message, whatever happens to one of them.

    a rank dies                a guardian process on its host says which one, with which limbs, and when
    nothing moves any more     the guardian says which rank is behind, and ends all
    a rank raises              it says so itself, and ends all; unless all of them raise, as a wrong argument makes them

See `guardian` for the process. What ranks count is in a file in memory that it looks at.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from closedchain.parallel.kernels import COUNTS, TALKING, TIME

# a row for each rank: counts of rates and of corrections (see `kernels`), and these
MARCHING, IN_PYTHON, SPOKEN = range(2 * COUNTS, 2 * COUNTS + 3)
WIDTH = 2 * COUNTS + 4
PLACES = {
    "time": [TIME, COUNTS + TIME],
    "talking": [TALKING, COUNTS + TALKING, IN_PYTHON],
    "marching": [MARCHING],
    "spoken": [SPOKEN],
}
LAST_MOMENTS = 5.0  # in which mpiexec ends the others when one has died, s
GRACE = 3.0  # in which all ranks raise what they raise together, s


class Guarded:
    """The ranks of a run, from its beginning to its end; to be made, and left, by all of them.

    Parameters
    ----------
    comm
        The ranks.
    limbs
        Names by rank.
    saved
        The folder of the run.
    patience
        After so many seconds in which nothing moves the run is ended.
    """

    def __init__(self, comm: Any, limbs: Sequence[Sequence[str]], saved: Path | None, patience: float) -> None:
        from mpi4py import MPI

        self.limbs = limbs
        self.comm = comm.Dup()  # for what is said after an error: nobody mistakes it for what the march says
        self.march = comm.Dup()  # for that: nobody mistakes it for messages of a user's script
        self.march.Set_errhandler(MPI.ERRORS_ARE_FATAL)  # mpi4py asks for return codes, and compiled code reads none
        self.node = comm.Split_type(MPI.COMM_TYPE_SHARED)
        here = self.node.rank
        who = self.node.gather((comm.rank, os.getpid()))
        several = comm.allreduce(int(here == 0)) > 1
        self.process: subprocess.Popen[bytes] | None = None
        file, path = tempfile.mkstemp(prefix="closedchain", dir=_memory()) if here == 0 else (-1, "")
        if here == 0:
            os.truncate(file, 8 * WIDTH * self.node.size)
        path = self.node.bcast(path)
        with open(path, "r+b") as same:
            self._map = mmap.mmap(same.fileno(), 0)
        self.notes = np.frombuffer(self._map, float).reshape(-1, WIDTH)[here]
        if who is not None and hasattr(os, "pidfd_open"):  # elsewhere than on Linux nobody watches
            told = {
                "ranks": [{"rank": rank, "pid": pid, "limbs": list(limbs[rank])} for rank, pid in who],
                "host": MPI.Get_processor_name() if several else "",
                "saved": "" if saved is None else str(saved),
                "patience": patience,
                "grace": LAST_MOMENTS,
                "notes": file,
                "width": WIDTH,
                "places": PLACES,
            }
            with contextlib.suppress(OSError):  # a run is no worse for having no guardian
                self.process = subprocess.Popen(
                    [sys.executable, "-I", "-S", str(Path(__file__).with_name("guardian.py"))],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    pass_fds=(file,),
                    start_new_session=True,
                )
                self._tell(json.dumps(told))
        self.node.Barrier()
        if here == 0:
            os.unlink(path)
            os.close(file)

    def counts(self, number: int) -> np.ndarray:
        """Room for what is counted of rates (0) or corrections (1)."""
        room = self.notes[number * COUNTS : (number + 1) * COUNTS]
        room[:] = 0.0
        return room

    def listening(self, allgather: Callable[[Any], list[Any]]) -> Callable[[Any], list[Any]]:
        """The same, with a note that this rank waits for the others."""

        def noted(mine: Any) -> list[Any]:
            self.notes[IN_PYTHON] = 1.0
            everyone = allgather(mine)
            self.notes[IN_PYTHON] = 0.0
            return everyone

        return noted

    @contextlib.contextmanager
    def marching(self) -> Iterator[None]:
        """From here on something has to move; all come here together, when nothing is left to compile."""
        if self.process is not None and self.process.stdout is not None:
            self.process.stdout.read()  # the guardian is ready
        self.comm.Barrier()
        self.notes[MARCHING] = 1.0
        yield
        self.notes[MARCHING] = 0.0

    def fail(self, error: BaseException) -> None:
        """If this rank alone has failed, say so, and end all; otherwise come back."""
        if self._all_failed():
            return
        self.notes[SPOKEN] = 1.0
        reached = max(self.notes[PLACES["time"]], key=abs)
        frames = traceback.extract_tb(error.__traceback__)
        where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
        limbs = self.limbs[self.comm.rank]
        sys.stdout.flush()
        print(
            f"closedchain: rank {self.comm.rank} ({'limb' if len(limbs) == 1 else 'limbs'} {', '.join(limbs)}) failed "
            f"at t = {reached:.6g} s: {type(error).__name__}: {error}{where}. All ranks have been ended.",
            file=sys.__stderr__ or sys.stderr,  # also where one rank speaks for all
            flush=True,
        )
        self.comm.Abort(1)

    def _all_failed(self) -> bool:
        request, end = self.comm.Ibarrier(), time.monotonic() + GRACE
        while not request.Test():
            if time.monotonic() > end:
                return False
            time.sleep(0.001)
        return True

    def over(self) -> None:
        """The run has ended, well or not, for all ranks alike."""
        self.node.Barrier()
        if self.process is not None:
            self._tell("over")
            with contextlib.suppress(OSError):
                self.process.communicate()
        for comm in (self.node, self.march, self.comm):
            comm.Free()

    def _tell(self, what: str) -> None:
        assert self.process is not None and self.process.stdin is not None
        with contextlib.suppress(OSError):  # nor for having lost it
            self.process.stdin.write(what.encode() + b"\n")
            self.process.stdin.flush()


def _memory() -> str | None:
    """A folder that is no disk, where there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
