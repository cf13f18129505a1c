"""Where the time goes: tracing, closing, compiling, loading, one evaluation, two seconds of motion, a fresh process.

``python -m benchmarks.speed`` takes less than a minute once Numba's cache is warm. Each time is the fastest of several
repetitions, with their median in brackets; where the two are far apart, others were using the processor.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import casadi as ca
import numba
import numpy as np

import closedchain as cc
from benchmarks.operations import GUIDE as MOST_OPERATIONS
from benchmarks.report import Duration, Report, Table, arguments, clock, duration, figure, finish
from closedchain.derive.equations import derive
from closedchain.integrate.integrate import integrate
from closedchain.integrate.problem import Samples, Tolerances
from closedchain.integrate.trajectory import Counts
from closedchain.march.program.compiled import Compiled, compiled, tolerances
from closedchain.march.program.solver_inputs import problem
from closedchain.native import compile_function
from closedchain.native.call import call
from closedchain.native.jit import cache_directory
from closedchain.pose.size import drawn_scale
from closedchain.pose.state import State, parameter_vector

UNTIL, RTOL = 2.0, 1e-6
SAMPLES = np.linspace(0.0, UNTIL, 201)


@numba.njit
def evaluate_often(address, t, x0, w, dx, number):
    """Call a right-hand side again and again, as an integrator does: each call waits for the result before it."""
    x = x0.copy()
    for _ in range(number):
        call(address, t, x, w, dx)
        for i in range(x.size):
            x[i] = x0[i] + 0.0 * dx[i]  # not known to be zero: dx might be infinite


@numba.njit
def correct_often(address, t, x0, w, x_plus, residual, number):
    """The same for a correction."""
    x = x0.copy()
    for _ in range(number):
        call(address, t, x, w, x_plus, residual)
        for i in range(x.size):
            x[i] = x0[i] + 0.0 * x_plus[i]


@dataclass(frozen=True)
class Speed:
    """All times of a mechanism."""

    derive: Duration
    assemble: Duration
    close: Duration
    compile: Duration
    load: Duration
    evaluation: Duration
    correction: Duration | None
    interpreted: Duration
    march: Duration
    simulate: Duration
    counts: Counts
    operations: int


@contextlib.contextmanager
def object_cache(folder: str) -> Iterator[None]:
    """Keep object code in another folder for a while; Numba's code stays where it is."""
    cache_directory()  # remembered from the first call on
    before = os.environ.get("CLOSEDCHAIN_CACHE_DIR")
    os.environ["CLOSEDCHAIN_CACHE_DIR"] = folder
    try:
        yield
    finally:
        if before is None:
            del os.environ["CLOSEDCHAIN_CACHE_DIR"]
        else:
            os.environ["CLOSEDCHAIN_CACHE_DIR"] = before


def measure(name: str, repeats: int) -> Speed:
    """Time everything that happens to a mechanism of the library, stage by stage."""
    build = cc.library.get(name).build
    method = cc.Multipliers()

    # each stage of a fresh drawing, nothing kept from the one before
    stages: dict[str, list[float]] = {"derive": [], "assemble": [], "close": [], "compile": [], "load": []}
    for _ in range(repeats):
        m = build()
        stages["derive"].append(clock(lambda m=m: derive(m), 1).fastest)
        stages["assemble"].append(clock(lambda m=m: m.assemble(), 1).fastest)
        with tempfile.TemporaryDirectory() as folder, object_cache(folder):
            program = compiled(m.assemble(), method)
            if program.rhs.timings.cached:
                raise RuntimeError(f"{name}: the object cache was to be cold")
            stages["close"].append(program.seconds["close"])
            stages["compile"].append(program.seconds["compile"])
            stages["load"].append(clock(lambda program=program: compile_again(program), 1).fastest)

    start = m.assemble()
    evaluation, correction, interpreted = time_functions(program, start, repeats)
    march, counts = time_march(program, start, repeats)
    run = cc.simulate(m, start, until=UNTIL, rtol=RTOL)
    if len(run.segments) == 1 and run.metadata["evaluations"] != counts.evaluations:
        raise RuntimeError(f"{name}: the integration that is timed is not the one that simulate() does")
    whole = clock(lambda: cc.simulate(m, start, until=UNTIL, rtol=RTOL), 3 * repeats)
    taken = {stage: duration(times) for stage, times in stages.items()}
    return Speed(
        **taken,
        evaluation=evaluation,
        correction=correction,
        interpreted=interpreted,
        march=march,
        simulate=whole,
        counts=counts,
        operations=program.rhs.counts.total,
    )


def compile_again(program: Compiled) -> None:
    """The two functions of a program once more, their object code being in the cache."""
    e, closed = program.equations, program.closed
    inputs = {"t": e.limbs.t, "x": closed.x, "p": e.limbs.p}
    made = [compile_function("again", inputs, {"dx": closed.dx}, slow=("p",))]
    if closed.correction is not None:
        made.append(compile_function("again", inputs, closed.correction._asdict(), slow=("p",)))
    if not all(function.timings.cached for function in made):
        raise RuntimeError("the object cache was to be warm")


def time_functions(program: Compiled, start: State, repeats: int) -> tuple[Duration, Duration | None, Duration]:
    """One evaluation of the right-hand side, one correction, and one evaluation by CasADi's interpreter."""
    p = parameter_vector(start.mechanism)
    rng = np.random.default_rng(1)
    # off the manifold and in motion: every term has something to do
    x = program.pack(start.q, start.v)
    x = x + rng.uniform(0.01, 0.02, len(x))
    t, dx = np.array([0.3]), np.empty_like(x)
    number = 200 + 2_000_000 // (program.rhs.counts.total + 100)

    rhs, w = program.rhs.address, program.rhs.prepare(p)
    evaluate_often(rhs, t, x, w, dx, 1)
    evaluation = clock(lambda: evaluate_often(rhs, t, x, w, dx, number), 5 * repeats, number)

    correction = None
    if program.correct is not None:
        address, w_c = program.correct.address, program.correct.prepare(p)
        residual = np.empty(program.correct.output_shapes["residual"][0])
        correct_often(address, t, x, w_c, dx, residual, 1)
        correction = clock(lambda: correct_often(address, t, x, w_c, dx, residual, number), 5 * repeats, number)

    e, closed = program.equations, program.closed
    many = 200
    f = ca.Function("f", [e.limbs.t, closed.x, e.limbs.p], [closed.dx], {"cse": True}).map(many)
    columns = [ca.DM(np.tile(a.reshape(-1, 1), (1, many))) for a in (t, x, p)]
    interpreted = clock(lambda: f(*columns), 3 * repeats, many)
    return evaluation, correction, interpreted


def time_march(program: Compiled, start: State, repeats: int) -> tuple[Duration, Counts]:
    """The integration that `simulate` does by default, alone."""
    p = parameter_vector(start.mechanism)
    scale = drawn_scale(program.equations, p, UNTIL)

    def march():
        return integrate(
            "dop853",
            problem("dop853", program, p, scale.time),
            program.pack(start.q, start.v),
            (0.0, UNTIL),
            Tolerances(RTOL, tolerances(program, scale, RTOL, None)),
            Samples(SAMPLES),
        )

    return clock(march, 5 * repeats), march().counts


# ---- a fresh process ------------------------------------------------------------------------------------------------

IMPORT = """
import json, time
clock = time.perf_counter()
import {modules}
print(json.dumps(dict(imported=time.perf_counter() - clock)))
"""
IMPORTS = {
    "import closedchain": "closedchain",
    "import what a simulation needs": "closedchain.simulation, closedchain.integrate.methods.dop853",
}

FIRST = """
import json, time
clock = time.perf_counter()
import closedchain as cc
imported = time.perf_counter()
m = cc.library.get({name!r}).build()
first = cc.simulate(m, until={until}, rtol={rtol})
done = time.perf_counter()
cc.simulate(m, until={until}, rtol={rtol})
again = time.perf_counter()
cached = first.metadata["machine_code_from_cache"]
print(json.dumps(dict(imported=imported - clock, first=done - clock, second=again - done, cached=cached)))
"""


def in_process(code: str, folder: str) -> dict[str, float]:
    """What a fresh interpreter prints as JSON, with a cache folder of its own."""
    environment = {**os.environ, "CLOSEDCHAIN_CACHE_DIR": folder}
    return json.loads(subprocess.check_output([sys.executable, "-c", code], env=environment, text=True))


def start_up(names: Sequence[str], repeats: int) -> dict[str, Duration]:
    """Import, first and second simulation in a fresh process; Numba's cache is warm, the object cache is not."""
    report: dict[str, Duration] = {}
    with tempfile.TemporaryDirectory() as folder:
        code = FIRST.format(name="pendulum", until=UNTIL, rtol=RTOL)
        warm = cache_directory()
        if warm is not None:
            others = shutil.ignore_patterns("*.tmp.*")  # being written by another process
            shutil.copytree(warm, Path(folder) / "numba" / warm.name, ignore=others)
        in_process(code, folder)  # for the files that the system has not read for long
        for what, modules in IMPORTS.items():
            bare = IMPORT.format(modules=modules)
            report[what] = duration([in_process(bare, folder)["imported"] for _ in range(3 * repeats)])
        for name in names:
            code = FIRST.format(name=name, until=UNTIL, rtol=RTOL)
            cold, warm_objects, second = [], [], []
            for _ in range(repeats):
                shutil.rmtree(Path(folder) / "native")
                for times, cached in ((cold, False), (warm_objects, True)):
                    got = in_process(code, folder)
                    if got["cached"] is not cached:
                        raise RuntimeError(f"{name}: expected machine code from the cache: {cached}")
                    times.append(got["first"])
                    second.append(got["second"])
            report[f"{name}: import and first simulation, new mechanism"] = duration(cold)
            report[f"{name}: import and first simulation, known mechanism"] = duration(warm_objects)
            report[f"{name}: second simulation in the same process"] = duration(second)
    return report


# ---- tables ---------------------------------------------------------------------------------------------------------


def preparation(speeds: dict[str, Speed]) -> Table:
    """Until the first step."""
    rows = [
        [name, f"{s.operations}", *(x.text("ms") for x in (s.derive, s.assemble, s.close, s.compile, s.load))]
        for name, s in speeds.items()
    ]
    return Table(
        "Until the first step [ms]",
        ["mechanism", "operations", "derive", "assemble", "close", "compile, cold", "compile, cached"],
        rows,
        "compile: right-hand side and correction, from the traced expression to the address. Cached: the object code "
        "is on disk; what is left is reading the expression and writing the IR.",
    )


def functions(speeds: dict[str, Speed]) -> Table:
    """The native functions alone."""
    rows = []
    for name, s in speeds.items():
        correction = s.correction.text("ns") if s.correction else ""
        each = f"{s.evaluation.fastest / s.operations * 1e9:.2f}"
        interpreter = f"{s.interpreted.fastest / s.evaluation.fastest:.0f}"
        rows.append([name, f"{s.operations}", s.evaluation.text("ns"), each, interpreter, correction])
    return Table(
        "One evaluation [ns]",
        ["mechanism", "operations", "right-hand side", "an operation", "CasADi / native", "correction"],
        rows,
        "Each evaluation waits for the one before it, as in an integrator. CasADi / native: the time of CasADi's "
        "interpreter for the same right-hand side, by the native time.",
    )


def motion(speeds: dict[str, Speed]) -> Table:
    """From the first step on."""
    rows = []
    for name, s in speeds.items():
        inside = s.counts.evaluations * s.evaluation.fastest
        if s.correction is not None:
            inside += s.counts.corrections * s.correction.fastest
        rows.append(
            [
                name,
                f"{s.counts.steps} + {s.counts.rejections}",
                f"{s.counts.evaluations}",
                f"{s.counts.corrections}",
                s.march.text("ms"),
                f"{100 * inside / s.march.fastest:.0f} %",
                s.simulate.text("ms"),
            ]
        )
    return Table(
        f"{UNTIL:g} s of motion: dop853, rtol = {RTOL:g}, {len(SAMPLES)} samples [ms]",
        [
            "mechanism",
            "steps + rejected",
            "evaluations",
            "corrections",
            "integration",
            "of it native",
            "simulate()",
        ],
        rows,
        "Of it native: evaluations and corrections. simulate() is called again with everything compiled; beside the "
        "integration it evaluates multipliers, energies and closure errors at the samples and checks them.",
    )


def processes(times: dict[str, Duration]) -> Table:
    """Fresh interpreters."""
    return Table(
        "In a fresh process, with a warm Numba cache [ms]",
        ["what", "time"],
        [[what, x.text("ms")] for what, x in times.items()],
        "A new mechanism is compiled, the object code of a known one is in the cache.",
    )


def guides(speeds: dict[str, Speed], times: dict[str, Duration]) -> Table:
    """Measured figures beside what they should be."""
    name = "gough-stewart"
    rows: list[tuple[str, float, float, str, float]] = []
    for which, most in MOST_OPERATIONS.items():
        if which in speeds:
            rows.append((f"{which}: operations", most, speeds[which].operations, "", 1.0))
    if name in speeds:
        s = speeds[name]
        rows += [
            (f"{name}: compiled", 1.0, s.compile.fastest, "s", 1.0),
            (f"{name}: one evaluation", 1e-6, s.evaluation.fastest, "us", 1e6),
            (f"{name}: {UNTIL:g} s of motion", 2e-3, s.march.fastest, "ms", 1e3),
        ]
    rows.append(("import closedchain", 0.3, times["import closedchain"].fastest, "s", 1.0))
    first = f"{name}: import and first simulation, new mechanism"
    if first in times:
        rows.append((first, 2.0, times[first].fastest, "s", 1.0))
    lines = []
    for what, guide, got, unit, scale in rows:
        number = (lambda x: f"{x:.0f}") if not unit else figure
        lines.append(
            [
                what,
                f"{guide * scale:g} {unit}".strip(),
                f"{number(got * scale)} {unit}".strip(),
                f"{got / guide:.2f}",
            ]
        )
    return Table(
        "Guide and measured",
        ["figure", "guide", "measured", "measured / guide"],
        lines,
        "A figure three times its guide means that the design was not followed.",
    )


def main(given: Sequence[str] | None = None) -> None:
    """Measure, and print the tables."""
    options = arguments(__doc__.partition("\n")[0], given)
    names = ["pendulum", "four-bar"] if options.quick else list(cc.library.MECHANISMS)
    repeats = 1 if options.quick else 5
    measure("pendulum", 1)  # imports, Numba, pages of the disk
    report = Report("speed")
    speeds = {name: measure(name, repeats) for name in names}
    report.stop()
    times = start_up([] if options.quick else ["four-bar", "gough-stewart"], 1 if options.quick else 3)
    report.tables += [guides(speeds, times), preparation(speeds), functions(speeds), motion(speeds)]
    report.tables.append(processes(times))
    finish(report, options.markdown)


if __name__ == "__main__":
    main()
