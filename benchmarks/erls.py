"""PacDrive of flexible links by ERLS: time and counts against the error of its tip, and growth with the elements.

``python -m benchmarks.erls`` takes a minute or two once Numba's cache is warm. The motion is the drop of 0.3 s under
the smooth torque pulse, or under the torques of the paper, which jump, with the 17 beams of the paper (50
displacements, 2 coordinates). Its tip is compared with a run at a small part of the tightest tolerance. Times are those
of the march alone, on one core, by the clock and of the processor: tracing and compiling are told apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import closedchain as cc
from benchmarks.report import Report, Table, arguments, clock, clocks, figure, finish
from closedchain.close.erls import ERLS
from closedchain.erls.steps.integrate import integrate
from closedchain.erls.steps.motion import Motion
from closedchain.erls.system import System, system
from closedchain.erls.workspace import Workspace
from closedchain.integrate.solvers import GeneralisedAlpha
from closedchain.results.erls.solution import ErlsSolution

UNTIL = 0.3
TIMES = np.linspace(0.0, UNTIL, 31)
PAPER = {f"link{k}": 1 for k in (5, 7, 8, 9, 11)}  # table 2 of the paper: two beams for all other links
GOAL = 1e-6  # m: the error of the tip that the project asks for within 0.3 s
MET = 7e-8  # m: the tolerance that meets it
TOLERANCES = (1e-6, 1e-7, MET, 3e-8, 1e-8, 1e-9)
JUMPING = (1e-7, 1e-8, 3e-9)
EXACT = {"smooth": 1e-11, "step": 1e-10}
NAMES = {"smooth": "the smooth pulse", "step": "the torques of the paper, which jump"}
STEPS = (2e-4, 1e-4, 5e-5)  # of generalised-alpha, s
SIZES, QUICK = (1, 2, 4, 8, 16, 32, 64), (1, 2, 4)
WHOLE = (1, 2, 4, 8, 16)
COLUMNS = [
    "tolerance or step",
    "tip error [m]",
    "march [ms]",
    "processor [ms]",
    "steps",
    "rejected",
    "iterations",
    "derivatives",
    "factors",
    "evaluations",
]


def robot(drive: str = "smooth") -> cc.Mechanism:
    """The mechanism."""
    return cc.library.pacdrive(drive, flexible=True)


def tip(made: System, motion: Motion) -> np.ndarray:
    """Where its tip is over time, m."""
    position, *_ = ErlsSolution(made, motion).frame(made.mechanism.find_frame("link5.tip"))
    return position[:, :2]


def work_and_error(made: System, exact: np.ndarray, repeats: int, **options: object) -> list[str]:
    """One row: error, time, counts."""
    motion = integrate(made, UNTIL, TIMES, **options)  # type: ignore[arg-type]
    error = np.abs(tip(made, motion) - exact).max()
    passed, spent = clocks(lambda: integrate(made, UNTIL, TIMES, **options), repeats)  # type: ignore[arg-type]
    c = motion.counts
    numbers = (c.steps, c.rejections, c.iterations, c.jacobians, c.factorisations, c.evaluations)
    return [f"{error:.1e}", passed.text("ms"), spent.text("ms"), *(f"{x}" for x in numbers)]


def against_the_error(drive: str, repeats: int, quick: bool) -> Table:
    """Work against the error of the tip, by both integrators."""
    m = robot(drive)
    made = system(m, m.assemble(), ERLS(elements=PAPER))
    exact = tip(made, integrate(made, UNTIL, TIMES, atol=1e-9 if quick else EXACT[drive]))
    tolerances = TOLERANCES if drive == "smooth" else JUMPING
    rows = []
    for atol in tolerances[:2] if quick else tolerances:
        rows.append([f"esdirk4, {atol:g} m", *work_and_error(made, exact, repeats, atol=atol)])
    for step in () if drive == "step" else STEPS[:1] if quick else STEPS:
        options = {"atol": 1e-8, "solver": GeneralisedAlpha(step=step)}
        rows.append([f"generalised-alpha, {1e6 * step:g} us", *work_and_error(made, exact, repeats, **options)])
    return Table(
        f"PacDrive, drop of 0.3 s under {NAMES[drive]}: work against the error of the tip",
        COLUMNS,
        rows,
        f"The goal is an error of {GOAL:g} m in at most 300 ms. Evaluations are of the residual, differences for "
        "derivatives by q included."
        if drive == "smooth"
        else "Jumps excite all modes of the mesh, which no damping takes away: an error of the tip asks for steps that "
        "follow the fast ones.",
    )


def whole_runs(m: cc.Mechanism, sizes: Sequence[int], repeats: int) -> Table:
    """Time and counts of whole runs by the number of elements per link, at the tolerance that meets the goal."""
    rows = []
    for n in sizes:
        made = system(m, m.assemble(), ERLS(elements=n))
        motion = integrate(made, UNTIL, TIMES, atol=MET)
        passed, spent = clocks(lambda made=made: integrate(made, UNTIL, TIMES, atol=MET), repeats)
        c = motion.counts
        numbers = (c.steps, c.iterations, c.jacobians, c.factorisations)
        rows.append([f"{n}", f"{made.n}", passed.text("ms"), spent.text("ms"), *(f"{x}" for x in numbers)])
    return Table(
        "Whole runs by the elements of each link",
        [
            "elements per link",
            "size of y",
            "march [ms]",
            "processor [ms]",
            "steps",
            "iterations",
            "derivatives",
            "factors",
        ],
        rows,
        f"The drop under the smooth pulse, with a tolerance of {MET:g} m.",
    )


def growth(m: cc.Mechanism, sizes: Sequence[int], repeats: int) -> Table:
    """Time of each kernel by the number of elements per link, and the exponents."""
    start = m.assemble()
    times: list[list[float]] = []
    rows = []
    for n in sizes:
        made = system(m, start, ERLS(elements=n))
        ws = Workspace(made)
        y, v = made.at_rest()
        a = np.zeros_like(y)
        b = ws.residual(0.0, y, v, a)
        ws.linearise(0.0, y, v, a)
        ws.factor(1.0, 1e-3, 1e-6)
        kernels = (
            lambda ws=ws, y=y, v=v, a=a: ws.residual(0.0, y, v, a),
            lambda ws=ws, y=y, v=v, a=a: ws.linearise(0.0, y, v, a),
            lambda ws=ws: ws.factor(1.0, 1e-3, 1e-6),
            lambda ws=ws, b=b: ws.solve(b),
        )

        def often(kernel, number=50):  # type: ignore[no-untyped-def]
            for _ in range(number):
                kernel()

        spent = [clock(lambda kernel=kernel: often(kernel), repeats, inner=50).fastest for kernel in kernels]
        times.append(spent)
        elements = int((made.mesh.arrays.ends[:, 1] >= 0).sum())
        rows.append([f"{n}", f"{elements}", f"{made.n}", *(figure(1e6 * x) for x in spent)])
    if len(sizes) > 3:
        half = len(sizes) // 2
        exponents = [np.polyfit(np.log(sizes[half:]), np.log([row[k] for row in times[half:]]), 1)[0] for k in range(4)]
        rows.append([f"exponent from {sizes[half]} on", "", "", *(f"{x:.2f}" for x in exponents)])
    return Table(
        "Growth with the elements of each link",
        [
            "elements per link",
            "elements",
            "size of y",
            "residual [us]",
            "derivatives [us]",
            "factors [us]",
            "solution [us]",
        ],
        rows,
        "Calls from Python, some 10 us each, are included.",
    )


def main(given: Sequence[str] | None = None) -> None:
    """Run, and print the tables."""
    options = arguments(__doc__.partition("\n")[0], given)
    repeats = 2 if options.quick else 5
    report = Report("erls")
    m = robot()
    report.tables += [against_the_error(drive, repeats, options.quick) for drive in NAMES]
    report.tables.append(whole_runs(m, QUICK if options.quick else WHOLE, repeats))
    report.tables.append(growth(m, QUICK if options.quick else SIZES, repeats))
    c = system(m, m.assemble(), ERLS(elements=PAPER)).compiled
    counts = [
        [name, f"{f.counts.total}"] for name, f in (("motion", c.motion), ("closing", c.newton), ("tangent", c.tangent))
    ]
    report.tables.append(Table("Operations of the traced functions", ["function", "operations"], counts))
    finish(report, options.markdown)


if __name__ == "__main__":
    main()
