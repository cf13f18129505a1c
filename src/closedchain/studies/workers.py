"""Who computes: this process, a pool of processes, or whatever executor a user brings (MPI, Dask, ...).

A worker may die: killed by the system because memory is short, or by a point that breaks the interpreter itself. With a
process pool nobody knows which of the points in flight it was. All of them become suspects, the pool is replaced, and
suspects are computed one at a time: who kills a worker `PATIENCE` times while alone is recorded as failed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from typing import Any

from closedchain.errors import ClosedChainError, ModelError
from closedchain.integrate.batch.threads import cores
from closedchain.integrate.interrupt import check, interrupts
from closedchain.studies.compute import compute, failed
from closedchain.studies.study import Columns, Study

PATIENCE = 3  # deaths of a worker that a point may cause
KEPT = 4  # studies that a worker remembers
LOOK = 0.2  # s between two looks for a Ctrl-C while others compute
UNKNOWN = 32  # jobs in flight where nobody knows how many workers there are

Job = tuple[int, tuple[int, ...]]  # a block, and some of its points
Arrived = Callable[[Job, Columns], None]


# ---- what a worker does ----------------------------------------------------------------------------------------------

_known: dict[str, Study] = {}  # studies by key; forked workers find them here without being sent anything


def work(key: str, sent: bytes | None, numbers: tuple[int, ...]) -> Columns:
    """Compute points in a worker; the study is unpacked once."""
    if key not in _known:
        if sent is None:
            raise ModelError("this worker knows nothing of the study")
        while len(_known) >= KEPT:
            _known.pop(next(iter(_known)))
        _known[key] = pickle.loads(sent)
    return compute(_known[key], numbers, threads=1)


def begin_worker(parent: int) -> None:
    """Of a process pool: leave Ctrl-C to the parent, and end with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.2)
        os._exit(1)

    if hasattr(os, "getppid"):
        threading.Thread(target=watch, daemon=True).start()


def packed(study: Study) -> bytes | None:
    """The study as it is sent; None if it has something that cannot be, a function of a notebook for instance."""
    for package in ("pickle", "cloudpickle"):  # the second sends functions that have no module; Dask brings it along
        if importlib.util.find_spec(package) is not None:
            with contextlib.suppress(Exception):
                return importlib.import_module(package).dumps(study)
    return None


# ---- crews -----------------------------------------------------------------------------------------------------------


class Here:
    """The process itself, one job after the other."""

    workers = 1

    def __init__(self, study: Study) -> None:
        self._study = study

    def submit(self, numbers: tuple[int, ...]) -> Future[Columns]:
        """Compute points."""
        future: Future[Columns] = Future()
        future.set_result(compute(self._study, numbers))
        return future

    def renew(self) -> None:
        """Never needed."""

    def close(self, in_haste: bool) -> None:
        """Nothing to do."""


class Crew:
    """Workers behind an executor.

    Parameters
    ----------
    make
        Makes an executor; called again when one is broken. None: there is only one.
    executor
        The first one, if there is one already.
    workers
        How many there are; None if nobody knows.
    forked
        Whether workers are copies of this process, which know the study.
    """

    def __init__(
        self,
        study: Study,
        make: Callable[[], Executor] | None,
        executor: Executor | None = None,
        workers: int | None = None,
        forked: bool = False,
    ) -> None:
        self._make, self._ours = make, executor is None
        self._sent = packed(study)
        if self._sent is None and not forked:
            raise ModelError(_cannot_be_sent(study))
        # of two studies only the same bytes are the same; what cannot be packed is known by where it is
        self._key = hashlib.sha256(self._sent or f"{os.getpid()} {id(study)}".encode()).hexdigest()
        if forked:
            _known[self._key], self._sent = study, None
        self._forked = forked
        self.workers = workers
        assert make is not None or executor is not None
        self._executor = make() if executor is None and make is not None else executor

    def submit(self, numbers: tuple[int, ...]) -> Future[Columns]:
        """Compute points."""
        assert self._executor is not None
        with warnings.catch_warnings():
            # newer Pythons warn of forking beside threads: the workers use none of the locks that ours may hold
            warnings.simplefilter("ignore", DeprecationWarning)
            try:
                return self._executor.submit(work, self._key, self._sent, numbers)
            except BrokenExecutor:
                raise
            except RuntimeError as error:
                raise ClosedChainError(f"the executor takes no more work ({error}): what is done is kept") from error

    def renew(self) -> None:
        """Replace an executor that is broken."""
        if self._make is None:
            raise ClosedChainError(
                "a worker died, and with it this executor, which cannot be replaced: what is done is kept, and with "
                "save=... the same call with a new executor goes on. executor=PROCESSES makes executors that are "
                "replaced"
            )
        if self._ours and self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
        self._executor, self._ours = self._make(), True

    def close(self, in_haste: bool) -> None:
        """Let the workers go; ``in_haste``: in the middle of what they do."""
        _known.pop(self._key, None)
        if self._executor is None or not self._ours:
            return
        processes = list((getattr(self._executor, "_processes", None) or {}).values())
        self._executor.shutdown(wait=not in_haste, cancel_futures=True)
        for process in processes if in_haste else ():
            process.terminate()


def _cannot_be_sent(study: Study) -> str:
    parts: dict[str, Any] = {f"measure {name!r}": x for name, x in study.measure.items()}
    parts |= {"the mechanism": study.mechanism}
    for what, part in parts.items():
        try:
            pickle.dumps(part)
        except Exception as error:
            return (
                f"{what} cannot be sent to other processes ({error}): define its functions with def at the top of a "
                "module, install cloudpickle, or leave executor out"
            )
    return "the study cannot be sent to other processes: leave executor out"


def pool(workers: int) -> ProcessPoolExecutor:
    """Processes of our own. On Linux they are forked: they have all that is compiled, and any function."""
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else None)
    return ProcessPoolExecutor(workers, context, begin_worker, (os.getpid(),))


def crew(study: Study, executor: Any) -> Here | Crew:
    """The workers that a user wants; see `closedchain.studies.sweep.sweep`."""
    if executor is None or (isinstance(executor, int) and not isinstance(executor, bool)):
        workers = cores() if executor is None else executor
        if workers < 1:
            raise ModelError(f"executor takes a positive number of processes, or an executor, not {executor!r}")
        workers = min(workers, len(study.points))
        # a process that is forked beside other threads may find a lock held that nobody will release
        threaded = threading.current_thread() is not threading.main_thread()
        childless = multiprocessing.current_process().daemon  # a worker of a `multiprocessing.Pool`
        if executor is None and (workers == 1 or study.engine == "batch" or threaded or childless):
            return Here(study)
        if childless:
            raise ModelError(
                f"executor={executor}: this process belongs to a pool and cannot have processes of its own: leave "
                "executor out"
            )
        return Crew(study, functools.partial(pool, workers), workers=workers, forked=sys.platform == "linux")
    if isinstance(executor, Executor):
        size: int | None = getattr(executor, "_max_workers", None) or getattr(executor, "num_workers", None)
        again = functools.partial(pool, size) if size and isinstance(executor, ProcessPoolExecutor) else None
        return Crew(study, again, executor, size)
    if callable(getattr(executor, "get_executor", None)):  # a Dask client
        if getattr(executor, "status", "running") in ("closed", "closing"):
            raise ModelError("executor: this Dask client is closed, give one that is connected")
        return Crew(study, None, executor.get_executor(), sum(executor.nthreads().values()) or None)
    if callable(executor):
        made = executor()
        if isinstance(made, Executor):
            return Crew(study, executor, made, getattr(made, "_max_workers", None))
    raise ModelError(
        f"executor takes an executor of concurrent.futures, a Dask client, or a number of processes, not {executor!r}"
    )


# ---- the loop --------------------------------------------------------------------------------------------------------


def carry_out(study: Study, jobs: Iterator[Job], who: Here | Crew, arrived: Arrived) -> None:
    """Compute all jobs, a few of them in flight at a time, and hand over their columns as they come.

    A Ctrl-C is noted, and acted on between two jobs: in the middle of CasADi it would be lost.
    """
    flying: dict[Future[Columns], Job] = {}
    try:
        with interrupts():
            _carry_out(study, jobs, who, arrived, flying)
    finally:
        for future in flying:
            future.cancel()


def _carry_out(
    study: Study, jobs: Iterator[Job], who: Here | Crew, arrived: Arrived, flying: dict[Future[Columns], Job]
) -> None:
    window = 1 if isinstance(who, Here) else 2 * who.workers + 1 if who.workers else UNKNOWN
    suspects: deque[Job] = deque()  # one point each
    deaths: dict[int, int] = {}
    left = True
    while True:
        while left and not suspects and len(flying) < window:
            job = next(jobs, None)
            if job is None:
                left = False
            else:
                flying[_submitted(who, job)] = job
        if suspects and not flying:
            job = suspects.popleft()
            flying[_submitted(who, job)] = job
        if not flying:
            return
        alone = len(flying) == 1
        done: set[Future[Columns]] = set()
        while not done:
            done = wait(flying, timeout=LOOK, return_when=FIRST_COMPLETED).done
            check()
        pool_broke = any(isinstance(future.exception(), BrokenExecutor) for future in done)
        if pool_broke:
            done = wait(flying).done  # a moment later all that was in flight has come back, most of it lost
        lost: list[Job] = []
        for future in [x for x in flying if x in done]:  # in the order in which they were sent
            job, error = flying.pop(future), future.exception()
            if error is None:
                arrived(job, future.result())
            elif _worker_died(error):
                lost.append(job)
            else:
                raise error
        if pool_broke:
            who.renew()
        for block, numbers in lost:
            if alone and len(numbers) == 1:
                number = numbers[0]
                deaths[number] = deaths.get(number, 0) + 1
                if deaths[number] >= PATIENCE:
                    told = f"{study.tell(number)} ended its worker process {PATIENCE} times: memory, or a crash"
                    arrived((block, numbers), failed(study, numbers, "killed", told))
                    continue
            suspects.extend((block, (number,)) for number in numbers)


def _submitted(who: Here | Crew, job: Job) -> Future[Columns]:
    try:
        return who.submit(job[1])
    except BrokenExecutor as error:  # it broke since the last look
        future: Future[Columns] = Future()
        future.set_exception(error)
        return future


def _worker_died(error: BaseException) -> bool:
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"  # the second is Dask's


__all__ = ["carry_out", "crew", "pool", "work"]
