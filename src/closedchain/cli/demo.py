"""``closedchain demo``: a Gough-Stewart platform under leg control, from nothing to pictures."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from closedchain.cli.parts import output, save
from closedchain.cli.parts import run_report as report
from closedchain.cli.parts.exits import DOUBTFUL, GOOD
from closedchain.cli.parts.march import march
from closedchain.errors import RunError

UNTIL = 2.0  # s: each leg makes its stroke and comes back


def demo(
    out: Annotated[str, typer.Option(metavar="FOLDER", help="Where the plots go.")] = "out",
    as_json: output.Json = False,
) -> int:
    """Simulate a Gough-Stewart platform: a table here, plots in ./out.

    Six legs (universal joint, driven slide, ball joint) carry a platform and follow strokes of 5 to 15 cm and back in
    2 s. The run is made twice: cold, with all that is imported, derived and compiled on the way, and warm.
    """
    with output.only_json(as_json):
        folder = save.folder(out)
        with output.bar(UNTIL, quiet=as_json):
            clock = time.perf_counter()
            import closedchain.simulation  # noqa: F401  (which march needs: it is timed)

            imported = time.perf_counter()
            from closedchain.model.library import gough_stewart

            m = gough_stewart(drive="pd")
            start = m.assemble()
            assembled = time.perf_counter()
            first, error, complaints = march(start, UNTIL)
            finished = time.perf_counter()
        if error:
            raise RunError(error)
        run = march(start, UNTIL)[0]
        cold = {
            "import": imported - clock,
            "derive": assembled - imported,
            "load the solver": first.seconds["load"],
            "compile": first.seconds["prepare"],
            "march": first.seconds["march"],
            "total": finished - clock,
        }
        warm = {"prepare": run.seconds["prepare"], "march": run.seconds["march"]}
        summary = report.summary(first, complaints) | {"seconds": {"cold": cold, "warm": warm}}

        from closedchain.cli.parts import figures

        written = [str(path) for path in figures.write(run, folder)]

    if as_json:
        output.print_json({**summary, "wrote": written})
        return DOUBTFUL if complaints else GOOD
    parts = ", ".join(f"{report.seconds(cold[k])} to {k}" for k in cold if k != "total")
    cached = ", machine code from the cache" if summary["machine_code_from_cache"] else ""
    timings = [
        ("time, cold", f"{report.seconds(cold['total'])} ({parts}{cached})"),
        ("time, warm", f"{report.seconds(warm['march'])} for {UNTIL:g} s of motion"),
    ]
    output.show(report.table(summary, *timings), *(f"wrote {path}" for path in written))
    for complaint in complaints:
        output.say("warning", complaint)
    return DOUBTFUL if complaints else GOOD
