"""Studies: thousands of four-bars in one call, by step control and in vector lanes, against one run at a time.

``python -m benchmarks.sweep`` takes less than a minute once Numba's cache is warm. Points differ in all lengths, masses
and the torque, and are put together, marched for two seconds and sampled 21 times each. Times of the processor are
those of all threads: what others take of the machine is not in them.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import closedchain as cc
from benchmarks.report import Report, Table, arguments, figure, finish
from benchmarks.speed import evaluate_often
from closedchain.integrate.batch.threads import cores
from closedchain.integrate.trajectory import Status
from closedchain.march.batch.batch import batch_assemble, batch_march
from closedchain.march.batch.ways import in_lanes
from closedchain.march.program.compiled import Compiled, compiled
from closedchain.native.engine import vector_width
from closedchain.pose.state import State, parameter_vector

UNTIL = 2.0
TIMES = np.linspace(0.0, UNTIL, 21)
NUMBERS = (100, 1_000, 10_000, 40_000)
BLOCK = 500  # points of one call, as a sweep hands them over
STEPS = (1e-2, 2e-3)
REPEATS = 3


@dataclass(frozen=True)
class Cost:
    """Seconds of the clock and of the processor, the fastest of several repetitions each."""

    clock: float
    processor: float

    @staticmethod
    def of(action: Callable[[], object], repeats: int = REPEATS) -> Cost:
        """What an action costs."""
        found = []
        for _ in range(repeats):
            clock, processor = time.perf_counter(), time.process_time()
            action()
            found.append((time.perf_counter() - clock, time.process_time() - processor))
        return Cost(min(c for c, _ in found), min(p for _, p in found))


def points(m: cc.Mechanism, number: int) -> np.ndarray:
    """Parameters of random points: all but gravity within five percent."""
    names = list(m.parameters.merged(None))
    varied = [i for i, name in enumerate(names) if not name.startswith("gravity")]
    p = np.tile(parameter_vector(m), (number, 1))
    p[:, varied] *= np.random.default_rng(1).uniform(0.95, 1.05, (number, len(varied)))
    return p


def march(program: Compiled, start: State, p: np.ndarray, **how: object) -> np.ndarray:
    """All points, block by block; the samples of the last block."""
    x = np.empty(0)
    for first in range(0, len(p), BLOCK):
        block = p[first : first + BLOCK]
        found = batch_assemble(start, block, ["O"])
        x0 = np.hstack([found.q, found.v, np.zeros((len(block), 1))])
        result = batch_march(program, (start.t, UNTIL), x0, block, TIMES, **how)  # type: ignore[arg-type]
        assert found.ok.all() and (result.status == Status.finished).all()
        x = result.x
    return x


def spent(number: int, cost: Cost) -> list[str]:
    """What so many runs cost: clock, processor, processor for a run, and memory so far."""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    each = 1e6 * cost.processor / number
    return [f"{number:,}", figure(cost.clock), figure(cost.processor), figure(each), figure(memory)]


def growth(program: Compiled, start: State, numbers: Sequence[int]) -> Table:
    """Time and memory against the number of points."""
    rows = []
    for number in numbers:
        p = points(start.mechanism, number)
        cost = Cost.of(lambda p=p: march(program, start, p))  # type: ignore[misc]
        rows.append(spent(number, cost))
    return Table(
        f"Four-bar, {UNTIL:g} s by dop853 at rtol 1e-8, {cores()} threads: growth with the number of runs",
        ("runs", "clock, s", "processor, s", "processor for a run, us", "most memory so far, MB"),
        rows,
        f"Starts included. Runs are handed over in blocks of {BLOCK}.",
    )


def ways(program: Compiled, start: State, number: int) -> Table:
    """Step control, lanes and one run at a time, with their errors."""
    p = points(start.mechanism, number)
    last = p[-BLOCK:]
    exact = march(program, start, last, rtol=1e-12, atol=1e-12)
    kinds: dict[str, dict[str, object]] = {f"dop853, rtol {rtol:g}": {"rtol": rtol} for rtol in (1e-6, 1e-8)}
    for step in STEPS:
        for lanes in sorted({1, vector_width()}):
            name = f"rk4, step {1e3 * step:g} ms, " + (f"{lanes} lanes" if lanes > 1 else "one by one")
            kinds[name] = {"solver": cc.solvers.RK4(step=step), "lanes": lanes}
    rows = []
    for name, how in kinds.items():
        error = np.abs(march(program, start, last, **how) - exact).max()
        cost = Cost.of(lambda how=how: march(program, start, p, **how))  # type: ignore[misc]
        rows.append(
            [name, figure(cost.clock), figure(cost.processor), figure(1e6 * cost.processor / number), f"{error:.0e}"]
        )
    few = min(20, number)
    names = list(start.mechanism.parameters.merged(None))

    def one_at_a_time() -> None:
        for row in p[:few]:
            own = dict(zip(names, row, strict=True))
            cc.simulate(start.mechanism, start.mechanism.assemble(O=start["O"], parameters=own), UNTIL, t_eval=TIMES)

    cost = Cost.of(one_at_a_time)
    share = number / few
    rows.append(
        [
            f"cc.simulate, from {few} runs",
            *(figure(share * x) for x in (cost.clock, cost.processor)),
            figure(1e6 * cost.processor / few),
            "",
        ]
    )
    return Table(
        f"Four-bar, {number:,} runs of {UNTIL:g} s",
        ("way", "clock, s", "processor, s", "processor for a run, us", "largest error"),
        rows,
        "Errors of coordinates, velocities and work at the samples, against rtol 1e-12.",
    )


def evaluation(program: Compiled, start: State, lanes: int) -> float:
    """Processor seconds of one evaluation, for one point."""
    function = program.rhs if lanes == 1 else in_lanes(program, lanes)["rhs"]
    x, w = program.pack(start.q, start.v), program.rhs.prepare(parameter_vector(start.mechanism))
    arrays = (np.zeros(1), np.repeat(x, lanes), np.repeat(w, lanes), np.empty(lanes * len(x)))
    number = max(10, 4_000_000 // program.rhs.counts.total)
    evaluate_often(function.address, *arrays, 1)
    return Cost.of(lambda: evaluate_often(function.address, *arrays, number), 7).processor / number / lanes


def evaluations(names: Sequence[str]) -> Table:
    """One evaluation alone and in lanes, for some mechanisms."""
    rows, width = [], vector_width()
    for name in names:
        start = cc.library.MECHANISMS[name].build().assemble()
        program = compiled(start, cc.Multipliers())
        times = [evaluation(program, start, lanes) for lanes in sorted({1, width})]
        cells = [figure(1e9 * x) for x in times] + [figure(times[0] / times[-1])]
        rows.append([name, str(program.rhs.counts.total), *cells])
    columns = ["mechanism", "operations", "alone, ns", f"in {width} lanes, ns for a point", "ratio"]
    if width == 1:
        del columns[3]
    return Table("One evaluation of the right-hand side", columns, rows)


def studies(m: cc.Mechanism, numbers: Sequence[int]) -> Table:
    """Whole studies on disk: time and memory against the number of points."""
    rows = []
    for number in numbers:
        with tempfile.TemporaryDirectory() as folder:
            varied = {"crank.length": np.linspace(0.95, 1.05, number)}
            cost = Cost.of(lambda v=varied, f=folder: cc.sweep(m, v, UNTIL, t_eval=TIMES, save=f), 1)  # type: ignore[misc]
            size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        rows.append([*spent(number, cost), figure(size / 1e6)])
    return Table(
        f"Four-bar, {UNTIL:g} s: cc.sweep(..., save=folder), with its checks and all coordinates at {len(TIMES)} times",
        ("runs", "clock, s", "processor, s", "processor for a run, us", "most memory so far, MB", "on disk, MB"),
        rows,
    )


def main(given: Sequence[str] | None = None) -> None:
    """Measure, and print the tables."""
    options = arguments(__doc__.partition("\n")[0], given)
    m = cc.library.four_bar()
    start = m.assemble(O=cc.pi / 2)
    program = compiled(start, cc.Multipliers())
    numbers = (20, 40) if options.quick else NUMBERS
    march(program, start, points(m, BLOCK if not options.quick else 20))  # imports, Numba
    report = Report("sweep", processor_time=time.process_time)
    report.tables += [
        studies(m, numbers),  # first: memory is the most that there has been
        growth(program, start, numbers),
        ways(program, start, 40 if options.quick else 10_000),
        evaluations(["four-bar"] if options.quick else ["four-bar", "rrr3", "gough-stewart"]),
    ]
    finish(report, options.markdown)


if __name__ == "__main__":
    main()
