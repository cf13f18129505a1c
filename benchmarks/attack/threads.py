"""Fresh mechanisms in several threads at once: the same bits as one after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

import numpy as np

import closedchain as cc
from benchmarks.attack.bases import SMALL, pick, random_data
from benchmarks.attack.data import as_python, drawn, simulated
from benchmarks.attack.outcome import Outcome, found, unforeseen
from closedchain.model.library import MECHANISMS

BUDGET = 60.0  # s of processor time


def task(rng: np.random.Generator) -> tuple[Callable[[], cc.Run], str]:
    """Something that draws a mechanism and runs it, and how to say so in Python."""
    if rng.random() < 0.5:
        name = pick(rng, SMALL)
        return (lambda: cc.simulate(MECHANISMS[name].build(), until=0.05)), f"cc.library.get({name!r}), until=0.05"
    for _ in range(20):
        data = random_data(rng, bodies=4, library=0.0)
        data["simulate"] = {"until": 0.05}
        try:
            drawn(data).assemble(data["assemble"]["hold"] or None)
        except cc.ClosedChainError:
            continue
        return partial(simulated, data), as_python(data)
    return (lambda: cc.simulate(cc.library.five_bar(), until=0.05)), "cc.library.five_bar(), until=0.05"


def attack(rng: np.random.Generator) -> Outcome:
    """Some tasks in some threads, all starting at once."""
    many = int(rng.integers(2, 9))
    given = [task(rng)] * many if rng.random() < 0.5 else [task(rng) for _ in range(many)]
    results: list[object] = [None] * many
    gate = threading.Barrier(many)

    def work(i: int) -> None:
        gate.wait()
        try:
            results[i] = given[i][0]().x.tobytes()
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
            alone = given[i][0]().x.tobytes()
        except cc.ClosedChainError as error:
            alone = error
        if isinstance(result, BaseException) and not (type(result) is type(alone) and str(result) == str(alone)):
            return unforeseen(result, reproduce)
        if not isinstance(alone, BaseException) and result != alone:
            return found(
                "other bits", f"thread {i + 1} of {many} computed other bits than alone", reproduce, "other bits"
            )
    return Outcome(f"{many} threads")
