"""Several threads at once: fresh and shared mechanisms, studies, saved runs, copies. The same bits as one by one."""

from __future__ import annotations

import copy
import pickle
import tempfile
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import closedchain as cc
from benchmarks.attack.bases import SMALL, pick, random_data
from benchmarks.attack.data import as_python, drawn, simulated
from benchmarks.attack.outcome import Outcome, found, unforeseen
from closedchain.model.library import MECHANISMS
from tests.invariants.killed_sweeps import reach

BUDGET = 120.0  # s of processor time


Task = tuple[Callable[[], bytes], str]  # something that draws and runs, and how to say so in Python


def simulate(rng: np.random.Generator) -> Task:
    """A mechanism of the library, or a random one."""
    if rng.random() < 0.5:
        name = pick(rng, SMALL)
        text = f"cc.simulate(cc.library.get({name!r}), until=0.05)"
        return (lambda: cc.simulate(MECHANISMS[name].build(), until=0.05).x.tobytes()), text
    for _ in range(20):
        data = random_data(rng, bodies=4, library=0.0)
        data["simulate"] = {"until": 0.05}
        try:
            drawn(data).assemble(data["assemble"]["hold"] or None)
        except cc.ClosedChainError:
            continue
        return (lambda data=data: simulated(data).x.tobytes()), as_python(data)
    return (
        lambda: cc.simulate(cc.library.five_bar(), until=0.05).x.tobytes()
    ), "cc.simulate(cc.library.five_bar(), 0.05)"


def together(rng: np.random.Generator) -> Task:
    """One mechanism, which all threads share, with other parameters each time."""
    m, torques = cc.library.four_bar(), iter(np.linspace(5.0, 7.0, 1000))

    def work() -> bytes:
        torque = float(next(torques))
        once, twice = (cc.simulate(m, until=0.05, parameters={"O.motor": torque}).x.tobytes() for _ in "ab")
        return b"same" if once == twice else b"not the same twice"

    return (
        work,
        "m = cc.library.four_bar(), cc.simulate(m, until=0.05, parameters={'O.motor': ...}) twice in each thread",
    )


def sweep(rng: np.random.Generator) -> Task:
    """A study, in a batch or point by point."""
    measured = bool(rng.integers(2))

    def work() -> bytes:
        options = {"measure": {"reach": reach}} if measured else {"t_eval": cc.Every(0.01)}
        got = cc.sweep(cc.library.four_bar(), {"O.motor": [5.0, 6.0, 7.0]}, until=0.05, **options)
        return np.asarray(got["reach" if measured else "O"].values).tobytes()

    return work, f"cc.sweep(cc.library.four_bar(), {{'O.motor': [5.0, 6.0, 7.0]}}, until=0.05), measured: {measured}"


def save(rng: np.random.Generator) -> Task:
    """A run that is saved, each in a folder of its own, or a file."""
    what = pick(rng, ["run", "study", "netcdf"])

    def work() -> bytes:
        with tempfile.TemporaryDirectory(prefix="attack-") as home:
            m = cc.library.four_bar()
            if what == "study":
                got = cc.sweep(m, {"O.motor": [5.0, 6.0]}, until=0.05, t_eval=cc.Every(0.01), save=Path(home) / "study")
                return np.asarray(got["O"].values).tobytes()
            run = cc.simulate(m, until=0.2, save_to=Path(home) / "run" if what == "run" else None)
            if what == "netcdf":
                run.to_netcdf(Path(home) / "run.nc")
                return (Path(home) / "run.nc").read_bytes()[:4] + run.x.tobytes()
            return run.x.tobytes()

    return work, f"four-bars saved as {what}, each in a new folder"


def copies(rng: np.random.Generator) -> Task:
    """Copies of one run and its mechanism, which are asked and simulated."""
    run = cc.simulate(MECHANISMS[pick(rng, SMALL)].build(), until=0.05)
    pickled = bool(rng.integers(2))

    def work() -> bytes:
        twin = pickle.loads(pickle.dumps(run)) if pickled else copy.deepcopy(run)
        again = cc.simulate(copy.deepcopy(run.mechanism), until=0.05)
        joint = next(iter(run.mechanism.joints))
        return twin.x.tobytes() + again.x.tobytes() + twin.reaction(joint)["force"].values.tobytes()

    return work, f"{'pickled' if pickled else 'deep'} copies of one run of {run.mechanism.name!r}, its reactions"


TASKS = (simulate, simulate, together, sweep, save, copies)


def attack(rng: np.random.Generator) -> Outcome:
    """Some tasks in some threads, all starting at once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.RunWarning)
        return at_once(rng)


def at_once(rng: np.random.Generator) -> Outcome:
    """The same, with the warnings of runs silent."""
    many = int(rng.integers(2, 9))
    alike, first = bool(rng.random() < 0.5), pick(rng, TASKS)(rng)
    given = [first, *(first if alike else pick(rng, TASKS)(rng) for _ in range(many - 1))]
    results: list[object] = [None] * many
    gate = threading.Barrier(many)

    def work(i: int) -> None:
        gate.wait()
        try:
            results[i] = given[i][0]()
        except BaseException as error:
            results[i] = error

    crowd = [threading.Thread(target=work, args=(i,)) for i in range(many)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    reproduce = {"threads": many, "tasks": sorted({python for _, python in given})}
    for i, result in enumerate(results):
        try:
            alone = given[i][0]()
        except cc.ClosedChainError as error:
            alone = error
        if isinstance(result, BaseException) and not (type(result) is type(alone) and str(result) == str(alone)):
            return unforeseen(result, reproduce)
        if not isinstance(alone, BaseException) and result != alone:
            return found(
                "other bits", f"thread {i + 1} of {many} computed other bits than alone", reproduce, "other bits"
            )
    return Outcome(f"{many} threads")
