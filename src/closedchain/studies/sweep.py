"""`sweep`: a mechanism at many points, its results in one dataset."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from closedchain.arguments import instance, listed, shown
from closedchain.disk.save_to import SaveTo
from closedchain.errors import Interrupted, ModelError
from closedchain.integrate.times import Equal, ListedTimes
from closedchain.march.task import Task
from closedchain.model.mechanism import Mechanism
from closedchain.pose.state import State
from closedchain.progress import counted
from closedchain.studies.batched import why_not
from closedchain.studies.layout import Layout, divided
from closedchain.studies.options import RunOptions, as_array, check_names, task_of_points
from closedchain.studies.points import Points, points
from closedchain.studies.start import Start, start_of
from closedchain.studies.store import Memory, Store
from closedchain.studies.study import GOOD, Columns, Measure, Study, completed, described, looks_at
from closedchain.studies.varied import roles
from closedchain.studies.workers import Here, Job, carry_out, crew

if TYPE_CHECKING:
    import xarray

BLOCK = 256  # points that are written together
BYTES = 64e6  # of the results of a block, at most
IN_A_JOB = {"simulate": 8, "batch": 32}  # points that are sent to a worker together, at most
SAMPLES = 200_000  # of all points of a job, at most: a batch looks at some fifty numbers of each
LESS = "take fewer of them, keep less of each (keep=(), t_eval=cc.Every(...)), or write them to a folder, save=..."
JOB = 1.0  # s that a job should take: what is in flight is lost when a study is killed


def sweep(
    mechanism: Mechanism,
    parameters: Any,
    until: float = 1.0,
    *,
    start: State | Start | Mapping[str, Any] | None = None,
    keep: Sequence[str] | None = None,
    measure: Mapping[str, Measure] | None = None,
    save: str | Path | SaveTo | None = None,
    executor: Any = None,
    **options: Unpack[RunOptions],
) -> xarray.Dataset:
    """Simulate a mechanism at many points: all combinations of lists, points one by one, or samples.

    Parameters
    ----------
    mechanism
        What moves.
    parameters
        What is varied, by name. ``{"crank.length": [0.9, 1.0], "O.motor": [5, 6, 7]}``: all combinations, with an
        axis of the dataset for each name. ``cc.Together({...})``: the lists go together, value by value; so do a list
        of mappings and a data frame; with an axis ``point``. ``cc.Samples({...}, count=1000)``: distributions of
        `scipy.stats`, with an axis ``sample``. Names are those of the mechanism's parameters; ``"start.O"`` and
        ``"start.O'"`` are a coordinate and a velocity at the start, ``"k"`` and ``"b"`` stiffness and damping of a
        spring method, ``"method.sigma"`` any number of the method.
    until
        End of all runs, s.
    start
        Coordinates that keep their values at the start of each run, by name, or `Start` with velocities, a guess and a
        time. Or a state: its independent coordinates and velocities are kept, the others close the loops. Default: the
        mechanism's own start.
    keep
        Variables over time, by the names of ``run.dataset``, or frames (``"coupler.tip"``: their positions). Default:
        all joint coordinates; ``()`` for none.
    measure
        Numbers of each run by name: in words, ``{"fastest": "max O'"}`` (`max`, `min`, `peak`, `range`, `mean`, `rms`,
        `first`, `last`), or functions of the run.
    save
        A folder, or `SaveTo`: results are written there as they come, into a dataset in the Zarr format, and memory
        does not grow with the study. Repeat the same call to resume after Ctrl-C, a crash or a power cut: it gives the
        same bits. Of a finished study it gives the dataset at once. Needs ``closedchain[sweep]``.
    executor
        Who computes. None: all processors of this machine. A number: so many processes. Or an executor of
        `concurrent.futures` (a process pool, ``mpi4py.futures.MPIPoolExecutor()``), or a Dask client. The results are
        the same.
    **options
        ``method``, ``solver``, ``rtol``, ``atol``, ``t_eval`` and ``events`` of `simulate`, the same for all points.

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
    instance("the mechanism", mechanism, Mechanism, "a cc.Mechanism")
    check_names(options)
    saving, keep = SaveTo.of(save), _names(keep)
    chosen = points(parameters)
    beginning = start_of(mechanism, start)
    task = task_of_points(options, beginning.time, until)
    _check_room_for(task, chosen, saving is not None, keep)
    study = Study(
        mechanism=mechanism,
        points=chosen,
        roles=roles(chosen.names, mechanism, task.method),
        start=beginning,
        task=replace(task, times=ListedTimes(as_array(task.times))),
        keep=(),
        measure=_measures(measure),
    )
    with counted() as progress:  # also of the run that compiles
        study = _with_engine(completed(study, keep))
        if saving is None:
            _check_room(_size(study) * len(chosen), _results(task, chosen), LESS)
        layout = divided(chosen.shape, _points_in_a_block(study))
        results: Memory | Store = Memory(study, layout) if saving is None else Store(saving.folder, study, layout)
        try:
            _fill(study, results, executor, progress)
            return results.dataset()
        finally:
            results.close()


def _with_engine(study: Study) -> Study:
    """The study with what computes its points, and its description."""
    reason = why_not(study)
    study = replace(study, engine=f"simulate: {reason}" if reason else "batch")
    return replace(study, about=described(study))


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
    if keep is None:
        return None
    found = (keep,) if isinstance(keep, str) else listed(keep)
    if found is None or not all(isinstance(x, str) for x in found):
        raise ModelError(f"keep takes names of variables, not {shown(keep)}")
    return found


def _size(study: Study) -> int:
    """Of the results of a point, bytes."""
    return sum(8 * math.prod(v.shape) for v in study.variables)


def _points_in_a_block(study: Study) -> int:
    return max(1, min(BLOCK, int(BYTES / _size(study))))


def _results(task: Task, chosen: Points) -> str:
    return f"the results of {_count(task):.3g} times of {len(chosen):.3g} points"


def _count(task: Task) -> int:
    return len(task.times) if isinstance(task.times, Equal) else len(task.times.array)


def _check_room_for(task: Task, chosen: Points, saved: bool, keep: Sequence[str] | None) -> None:
    """Refuse more times, or results, than this machine can hold, before equal times are made."""
    many = _count(task)
    _check_room(8 * many, f"{many:.3g} times", "take fewer of them, t_eval=cc.Every(...)")
    if not saved and (keep is None or len(keep)):  # one variable at least
        _check_room(8 * many * len(chosen), _results(task, chosen), LESS)


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
        BLOCK if here else IN_A_JOB[study.engine.partition(":")[0]], max(1, SAMPLES // max(len(study.times), 1))
    )
    blocks.size = min(BLOCK // 8, blocks.most) if here else 1
    well = False
    try:
        carry_out(study, blocks.jobs(), who, blocks.arrived)
        well = True
    except KeyboardInterrupt:
        blocks.hand_over()
        there = f"{blocks.done} of {len(study.points)} points are"
        kept = f"{there} done; with save=FOLDER the same call would go on"
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
        self.size = self.most = 1  # points in a job, now and at most
        self._begun: dict[Job, float] = {}

    def words(self) -> str:
        """How it goes."""
        return f"{self.failed or 'none'} failed"

    def jobs(self) -> Iterator[Job]:
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
                job = block, tuple(missing[: self.size])
                del missing[: self.size]
                self._begun[job] = time.perf_counter()
                yield job

    def arrived(self, job: Job, columns: Columns) -> None:
        """Points came from a worker."""
        block, numbers = job
        if job in self._begun:
            each = (time.perf_counter() - self._begun.pop(job)) / len(numbers)
            self.size = max(1, min(self.most, int(JOB / each)))
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
