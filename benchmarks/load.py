"""Load: memory of many samples, many runs and many mechanisms in one process, and of long tables.

Each figure is taken in a process of its own. ``python -m benchmarks.load`` takes some ten minutes.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest import mock

import numpy as np

import closedchain as cc
from benchmarks.report import Report, Table, arguments, figure, finish

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
FULL = {"samples": 1_000_000, "runs": 10_000, "mechanisms": 1_000, "pieces": (100, 400, 800)}
QUICK = {"samples": 2_000, "runs": 10, "mechanisms": 3, "pieces": (20, 40)}


def resident() -> float:
    """Memory of this process, MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 1e6


class Watch:
    """Peak of the memory of this process above that at the beginning, and processor time, while it is open."""

    def __enter__(self) -> Watch:
        gc.collect()
        self.before, self.peak, self._over = resident(), 0.0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        self._spent = time.process_time()
        return self

    def _look(self) -> None:
        while not self._over.wait(0.01):
            self.peak = max(self.peak, resident() - self.before)

    def __exit__(self, *_: object) -> None:
        self.seconds = time.process_time() - self._spent
        self._over.set()
        self._thread.join()
        gc.collect()
        self.left = resident() - self.before
        self.peak = max(self.peak, self.left)


def drawn(k: int) -> cc.Mechanism:
    """One of many different mechanisms: an arm of two to four links, with a torque of its own."""
    m = cc.Mechanism(f"arm {k}", gravity=(0, -9.81, 0))
    end = m.ground
    for i in range(2 + k % 3):
        link = m.body(f"link{i}", cc.rod(length=1.0, mass=1.0))
        m.revolute(f"joint{i}", end, link)
        end = link.tip
    m.motor("joint0", torque=cc.math.sin(cc.t * (k + 1.0)))
    return m


def samples(n: int) -> list[list[str]]:
    """A run of a four-bar with n samples, and what it is asked."""
    m = cc.library.four_bar()
    warm = cc.simulate(m, until=0.1)
    warm.dataset, warm.reaction("B"), warm.frame("coupler.tip")
    rows, kept = [], []

    def row(what: str, action: Callable[[], object], size: Callable[[object], int]) -> None:
        with Watch() as watch:
            kept.append(action())
        result = size(kept[-1]) / 1e6
        rows.append([what, *map(figure, (result, watch.peak, watch.left, watch.seconds))])

    row(
        "simulate",
        lambda: cc.simulate(m, until=10.0, t_eval=np.linspace(0.0, 10.0, n)),
        lambda run: sum(s.trajectory.x.nbytes + s.trajectory.t.nbytes for s in run.segments),  # type: ignore[attr-defined]
    )
    run = kept[0]
    for what, ask in {
        "run.dataset": lambda: run.dataset,
        'run.frame("coupler.tip")': lambda: run.frame("coupler.tip"),
        'run.reaction("B")': lambda: run.reaction("B"),
        "run.complaints()": lambda: run.complaints(),
    }.items():
        row(what, ask, lambda found: getattr(found, "nbytes", 0))
    return rows


def repeated(n: int) -> list[list[str]]:
    """So many runs of one mechanism."""
    m = cc.library.four_bar()
    for _ in range(5):
        cc.simulate(m, until=0.1)
    with Watch() as watch:
        for _ in range(n):
            cc.simulate(m, until=0.1)
    return [_row(f"{n} runs of a four-bar", watch, n)]


def different(n: int) -> list[list[str]]:
    """So many mechanisms, each drawn, compiled, simulated and forgotten."""
    for k in range(5):
        cc.simulate(drawn(-k - 2), until=0.1)
    with Watch() as watch:
        for k in range(n):
            cc.simulate(drawn(k), until=0.1)
    return [_row(f"{n} different mechanisms", watch, n)]


def _row(what: str, watch: Watch, n: int) -> list[str]:
    return [what, figure(watch.peak), figure(watch.left), figure(1e3 * watch.left / n), figure(1e3 * watch.seconds / n)]


def pieces(n: int) -> list[list[str]]:
    """The first run of a pendulum with a torque of so many cubic pieces; nothing is taken from the cache."""
    from scipy.interpolate import CubicSpline

    from closedchain.native import object_cache

    cc.simulate(cc.library.pendulum(), until=0.1)  # loads what is needed
    t = np.linspace(0.0, 1.0, n + 1)
    m = cc.library.pendulum()
    m.motor("hinge", torque=cc.math.piecewise(cc.t, t, CubicSpline(t, np.sin(20 * t)).c[::-1].T))
    with Watch() as watch, mock.patch.object(object_cache, "load", return_value=None):
        run = cc.simulate(m, until=0.1)
    return [[f"{n}", f"{run.metadata['operations']}", figure(watch.seconds)]]


TASKS = {"samples": samples, "repeated": repeated, "different": different, "pieces": pieces}


def apart(task: str, n: int) -> list[list[str]]:
    """Do it in a process of its own."""
    code = f"import json, benchmarks.load as load; print(json.dumps(load.TASKS[{task!r}]({n})))"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main(given: Sequence[str] | None = None) -> None:
    """Measure, and print the tables."""
    options = arguments(__doc__.partition("\n")[0], given)
    size = QUICK if options.quick else FULL
    do = (lambda task, n: TASKS[task](n)) if options.quick else apart
    report = Report("load", processor_time=lambda: sum(os.times()[:4]))  # of all processes
    report.tables.append(
        Table(
            f"A run of a four-bar with {size['samples']:,} samples",
            ["what", "result, MB", "peak, MB", "stays, MB", "processor, s"],
            do("samples", size["samples"]),
            "Peak: above what the process took before. Stays: with the result, and what the run keeps to answer again.",
        )
    )
    report.tables.append(
        Table(
            "Many runs in one process",
            ["what", "peak, MB", "stays, MB", "stays for each, kB", "processor for each, ms"],
            do("repeated", size["runs"]) + do("different", size["mechanisms"]),
            "Each mechanism is drawn, derived, compiled, simulated and forgotten.",
        )
    )
    report.tables.append(
        Table(
            "A torque from a table (cc.math.piecewise, cubic pieces) on a pendulum",
            ["pieces", "operations", "first run, processor s"],
            [row for n in size["pieces"] for row in do("pieces", n)],
            "All of the first run, with nothing in the cache.",
        )
    )
    finish(report, options.markdown)


if __name__ == "__main__":
    main()
