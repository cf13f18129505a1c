"""`sweep`: a mechanism at many points, its results in one dataset."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.close.formulation import Formulation
from closedchain.close.multipliers import Multipliers
from closedchain.errors import Interrupted, ModelError
from closedchain.integrate.solvers import SOLVERS
from closedchain.integrate.times import Equal, Every
from closedchain.march.marks import Event, SingularPoses
from closedchain.march.options import end_time, sample_times, solver_for, tolerances, usual_solver
from closedchain.model.mechanism import Mechanism
from closedchain.pose.state import State
from closedchain.progress import counted, reported
from closedchain.studies.batched import why_not
from closedchain.studies.layout import Layout, divided
from closedchain.studies.points import SAMPLINGS, points
from closedchain.studies.store import Memory, Store
from closedchain.studies.study import GOOD, Columns, Measure, Study, completed, described, looks_at
from closedchain.studies.varied import roles, start_of
from closedchain.studies.workers import Here, Task, carry_out, crew

if TYPE_CHECKING:
    import xarray

BLOCK = 256  # points that are written together
BYTES = 64e6  # of the results of a block, at most
IN_A_TASK = {"simulate": 8, "batch": 32}  # points that are sent to a worker together, at most
SAMPLES = 200_000  # of all points of a task, at most: a batch looks at some fifty numbers of each
LESS = "take fewer of them, keep less of each (keep=(), every=...), or write them to a folder, to=..."
TASK = 1.0  # s that a task should take: what is in flight is lost when a study is killed


def sweep(
    mechanism: Mechanism,
    parameters: Any,
    until: float = 1.0,
    *,
    together: bool = False,
    samples: int | None = None,
    sampling: str = SAMPLINGS[0],
    seed: int = 0,
    start: State | Mapping[str, Any] | None = None,
    velocity: Mapping[str, float] | None = None,
    guess: Mapping[str, Any] | None = None,
    keep: Sequence[str] | None = None,
    measure: Mapping[str, Measure] | None = None,
    method: Formulation | None = None,
    solver: str | None = None,
    rtol: float = 1e-8,
    atol: float | None = None,
    step: float | None = None,
    t_eval: Any = None,
    every: float | None = None,
    begin: float | None = None,
    events: Sequence[Event] = (),
    singularity: str = "pass",
    max_steps: int = 10_000_000,
    executor: Any = None,
    to: str | Path | None = None,
    progress: Callable[[int, int, str], object] | None = None,
) -> xarray.Dataset:
    """Simulate a mechanism at many points: all combinations of lists, points one by one, or samples.

    Parameters
    ----------
    mechanism
        What moves.
    parameters
        What is varied, by name. ``{"crank.length": [0.9, 1.0], "O.motor": [5, 6, 7]}``: all combinations, with an
        axis of the dataset for each name; distributions of `scipy.stats` instead of lists are sampled, with an axis
        ``sample``. A list of mappings or a data frame: points one by one, with an axis ``point``. Names are those of
        the mechanism's parameters; ``"start.O"`` and ``"start.O'"`` are a coordinate and a velocity at the start,
        ``"k"`` and ``"b"`` stiffness and damping of a spring method, ``"method.sigma"`` any number of the method.
    until, begin
        End and beginning of all runs, s.
    together
        Lists go together, value by value, instead of in all combinations.
    samples, sampling, seed
        How many samples of the distributions; ``"latin-hypercube"`` (default) or ``"monte-carlo"``; where they come
        from.
    start, velocity, guess
        Coordinates to hold at the start of each run, velocities, and where the search begins, as in `assemble`. Or a
        state: its independent coordinates and velocities are kept, the others close the loops. Default: the mechanism's
        own start.
    keep
        Variables over time, by the names of ``run.dataset``, or frames (``"coupler.tip"``: their positions). Default:
        all joint coordinates; ``()`` for none.
    measure
        Numbers of each run by name: in words, ``{"fastest": "max O'"}`` (`max`, `min`, `peak`, `range`, `mean`, `rms`,
        `first`, `last`), or functions of the run.
    method, solver, rtol, atol, step, t_eval, every, events, singularity, max_steps
        As in `simulate`, the same for all points.
    executor
        Who computes. None: all processors of this machine. A number: so many processes. Or an executor of
        `concurrent.futures` (a process pool, ``mpi4py.futures.MPIPoolExecutor()``), or a Dask client. The results are
        the same.
    to
        A folder: results are written there as they come, into a dataset in the Zarr format, and memory does not grow
        with the study. The same call goes on where it was left, after Ctrl-C, a crash or a power cut, to the same bits;
        of a finished study it gives the dataset at once. Needs ``closedchain[sweep]``.
    progress
        Called with the number of points done, their total, and a few words.

    Returns
    -------
    Dataset with what was kept and measured, and for each point ``status`` (``"finished"``, ``"event"``, or how it
    failed), ``reason``, ``complaint``, ``steps``, ``end`` and the largest closure and energy errors. A point that fails
    costs no other one.

    Raises
    ------
    Interrupted
        After Ctrl-C: a ``KeyboardInterrupt`` with the points that were done in its ``dataset``.

    Examples
    --------
    >>> import closedchain as cc
    >>> found = cc.sweep(cc.library.four_bar(), {"O.motor": [5.0, 6.0]}, until=0.5, measure={"fastest": "max O'"})
    >>> found["fastest"].round(3).values
    array([0.509, 0.854])
    """
    method = Multipliers() if method is None else method
    if not isinstance(mechanism, Mechanism):
        raise ModelError(f"sweep needs a cc.Mechanism, not {mechanism!r}")
    if not isinstance(method, Formulation):
        raise ModelError(f"method must be a formulation, for instance cc.Multipliers(), not {method!r}")
    if progress is not None and not callable(progress):
        raise ModelError(f"progress takes a function of points done, their total and words, not {progress!r}")
    if to is not None and not isinstance(to, str | Path):
        raise ModelError(f"to takes the name of a folder, not {to!r}")
    solver = usual_solver(method) if solver is None else solver
    chosen_options: dict[str, Any] = {"max_steps": max_steps} | ({} if step is None else {"step": step})
    by: Any = solver
    if solver in SOLVERS and (step is not None or SOLVERS[solver].adaptive):
        by = SOLVERS[solver](**chosen_options)
    rtol, atol = tolerances(solver_for(method, by), rtol, atol)
    SingularPoses(singularity)
    until, begin = end_time("until", until), None if begin is None else end_time("begin", begin)
    chosen = points(parameters, together=together, samples=samples, sampling=sampling, seed=seed)
    beginning = start_of(mechanism, start, velocity, guess, begin)
    times = sample_times(beginning.time, until, t_eval if every is None else Every(every))
    many = len(times) if isinstance(times, Equal) else len(times.array)
    _check_room(8 * many, f"{many:.3g} times", "take fewer of them, every=...")
    keep, what = _names(keep), f"the results of {many:.3g} times of {len(chosen):.3g} points"
    if to is None and (keep is None or len(keep)):  # one variable at least, before its times are made
        _check_room(8 * many * len(chosen), what, LESS)
    study = Study(
        mechanism=mechanism,
        points=chosen,
        roles=roles(chosen.names, mechanism, method),
        start=beginning,
        until=until,
        method=method,
        solver=solver,
        times=times[:] if isinstance(times, Equal) else times.array,
        options={"rtol": rtol, "atol": atol, "step": step, "singularity": singularity, "max_steps": max_steps},
        keep=(),
        measure=_measures(measure),
        events=tuple(events),
    )
    study = completed(study, keep)
    reason = why_not(study)
    study = replace(study, engine=f"simulate: {reason}" if reason else "batch")
    study = replace(study, about=described(study))
    if to is None:
        _check_room(_size(study) * len(chosen), what, LESS)
    layout = divided(chosen.shape, _points_in_a_block(study))
    results: Memory | Store = Memory(study, layout) if to is None else Store(to, study, layout)
    try:
        with nullcontext() if progress is None else reported(progress), counted() as told:
            _fill(study, results, executor, told)
        return results.dataset()
    finally:
        results.close()


def _measures(measure: Mapping[str, Measure] | None) -> dict[str, Measure]:
    if measure is not None and not isinstance(measure, Mapping):
        raise ModelError(f"measure takes words or functions by name, {{'fastest': \"max O'\"}}, not {measure!r}")
    for name, how in (measure or {}).items():
        if not isinstance(name, str) or not name or "/" in name:
            raise ModelError(f"a measure has a name that can be used in files, not {name!r}")
        if isinstance(how, str):
            looks_at(how)
        elif not callable(how):
            raise ModelError(f'measure {name!r} takes words, "max O\'", or a function of the run, not {how!r}')
    return dict(measure or {})


def _names(keep: Sequence[str] | None) -> Sequence[str] | None:
    keep = [keep] if isinstance(keep, str) else keep
    if keep is not None and not all(isinstance(x, str) for x in keep):
        raise ModelError(f"keep takes names of variables, not {keep!r}")
    return keep


def _size(study: Study) -> int:
    """Of the results of a point, bytes."""
    return sum(8 * math.prod(v.shape) for v in study.variables)


def _points_in_a_block(study: Study) -> int:
    return max(1, min(BLOCK, int(BYTES / _size(study))))


def _check_room(size: float, what: str, advice: str) -> None:
    """Refuse what this machine cannot hold before it tries."""
    try:
        room = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not on every system
        return
    if size > room:
        raise ModelError(
            f"{what} would take {size / 2**30:.3g} GB, more than the {room / 2**30:.3g} GB of this machine: {advice}"
        )


# ---- carrying it out -------------------------------------------------------------------------------------------------


def _fill(study: Study, results: Memory | Store, executor: Any, progress: Callable[[int, int, str], object]) -> None:
    """Compute all points that are not there yet."""
    blocks = _Blocks(study, results, progress)
    progress(blocks.done, len(study.points), blocks.words())
    if blocks.done == len(study.points):
        return
    who = crew(study, executor)
    here = isinstance(who, Here) and study.engine == "batch"
    blocks.most = min(
        BLOCK if here else IN_A_TASK[study.engine.partition(":")[0]], max(1, SAMPLES // max(len(study.times), 1))
    )
    blocks.size = min(BLOCK // 8, blocks.most) if here else 1
    well = False
    try:
        carry_out(study, blocks.tasks(), who, blocks.arrived)
        well = True
    except KeyboardInterrupt:
        blocks.hand_over()
        there = f"{blocks.done} of {len(study.points)} points are"
        kept = f"{there} done; with to=FOLDER the same call would go on"
        if isinstance(results, Store):
            kept = f"{there} in {str(results.folder)!r}: the same call goes on from there"
        stop = Interrupted(f"the study was interrupted. {kept}", dataset=results.dataset())
        stop.add_note("what was computed is in the exception's .dataset")
        raise stop from None
    finally:
        who.close(in_haste=not well)


class _Blocks:
    """Blocks of a study as they fill up."""

    def __init__(self, study: Study, results: Memory | Store, progress: Callable[[int, int, str], object]) -> None:
        self.study, self.results, self._progress = study, results, progress
        self._open: dict[int, tuple[Columns, np.ndarray]] = {}  # columns, and which points are there
        self.done = sum(len(results.layout.points(block)) for block in results.done)
        self.failed = results.failures()
        self.size = self.most = 1  # points in a task, now and at most
        self._begun: dict[Task, float] = {}

    def words(self) -> str:
        """How it goes."""
        return f"{self.failed or 'none'} failed"

    def tasks(self) -> Iterator[Task]:
        """What is left to do, block by block; points that were saved are taken up on the way."""
        layout: Layout = self.results.layout
        for block in range(len(layout)):
            if block in self.results.done:
                continue
            numbers = layout.points(block)
            columns = {v.name: v.empty(len(numbers)) for v in self.study.variables}
            self._open[block] = columns, np.zeros(len(numbers), bool)
            for known, part in list(self.results.partial(block)):
                self._take(block, known, part)
            missing = [number for number in numbers if not self._open[block][1][number - numbers.start]]
            if not missing:  # killed between the last point and the block
                self._complete(block)
            while missing:
                task = block, tuple(missing[: self.size])
                del missing[: self.size]
                self._begun[task] = time.perf_counter()
                yield task

    def arrived(self, task: Task, columns: Columns) -> None:
        """Points came from a worker."""
        block, numbers = task
        if task in self._begun:
            each = (time.perf_counter() - self._begun.pop(task)) / len(numbers)
            self.size = max(1, min(self.most, int(TASK / each)))
        self._take(block, numbers, columns)
        if self._open[block][1].all():
            self._complete(block)
        else:
            self.results.keep(block, numbers, columns)
        self._progress(self.done, len(self.study.points), self.words())

    def _take(self, block: int, numbers: Sequence[int], columns: Columns) -> None:
        whole, there = self._open[block]
        rows = np.asarray(numbers) - self.results.layout.points(block).start
        fresh = ~there[rows]
        for name, values in columns.items():
            whole[name][rows] = values
        there[rows] = True
        self.done += int(fresh.sum())
        self.failed += sum(x not in GOOD for x in columns["status"][fresh])

    def hand_over(self) -> None:
        """Blocks that are not complete, as they are; a folder has their points already."""
        if isinstance(self.results, Memory):
            for block, (columns, _) in self._open.items():
                self.results.write(block, columns)

    def _complete(self, block: int) -> None:
        self.results.write(block, self._open.pop(block)[0])
