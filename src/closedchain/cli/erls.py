"""``closedchain erls``: a run with finite elements on an equivalent rigid-link system."""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from closedchain.cli.compare import PICTURES, as_typed, start_of, target
from closedchain.cli.parts import output, reactions_report, save, source, values
from closedchain.cli.parts import run_report as report
from closedchain.cli.parts.exits import DOUBTFUL, FAILED, GOOD, INTERRUPTED, WrongUsage
from closedchain.errors import Interrupted, RunError, RunWarning
from closedchain.progress import Progress, reported

if TYPE_CHECKING:
    from closedchain.results.run import Run

TABLES = (".csv", ".nc")


def erls(
    where: source.Where,
    until: Annotated[float | None, typer.Option(metavar="S", help="End of the run, s.")] = None,
    elements: Annotated[
        list[str] | None,
        typer.Option(metavar="N", help="Elements of each flexible link, or BODY=N for one of them. Repeatable."),
    ] = None,
    terms: Annotated[str, typer.Option(metavar="NAME", help="'consistent' (all terms) or 'paper'.")] = "consistent",
    zero: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Displacements kept at zero: 'chord', 'base', or names. Repeatable."),
    ] = None,
    rho_inf: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="Generalised alpha that damps high frequencies: 1 none, 0 most."),
    ] = None,
    rtol: Annotated[float, typer.Option(metavar="NUMBER", help="Tolerance of a step, of the longest beam.")] = 1e-7,
    sets: source.Sets = None,
    reactions: reactions_report.Asked = None,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw deflections over time: a .png, .svg or .pdf file.")
    ] = None,
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Write all variables: a .csv or .nc file.")] = None,
    as_json: output.Json = False,
) -> int:
    """Simulate flexible links as finite elements on an equivalent rigid-link system (Vidoni et al. 2012).

    The mechanism needs flexible bodies; their shape functions are not used.

    \b
    Examples:
      closedchain erls flexible-pacdrive --plot deflection.png
      closedchain erls my_robot.py --elements 4 --elements arm=8 --until 0.5
      closedchain erls flexible-pacdrive --terms paper --zero base
      closedchain erls flexible-delta --reactions all --out delta.csv
    """  # noqa: D301
    with output.only_json(as_json):
        picture = target("--plot", plot, PICTURES) if plot is not None else None
        table = target("--out", out, TABLES) if out is not None else None
        if table is not None and table.suffix == ".nc" and not save.has_netcdf():
            raise WrongUsage(f"--out {out}: a .nc file needs netCDF4 (pip install 'closedchain[netcdf]')")
        found = source.find(where)
        for name, value in values.assignments("--set", sets or []).items():
            as_typed(partial(found.mechanism.parameters.__setitem__, name, value))
        joints = reactions_report.joints(found.mechanism, reactions)
        start, end = start_of(found), found.until if until is None else until

        from closedchain.close.erls import ERLS
        from closedchain.simulation import simulate

        counts = _elements(found.mechanism.flexible, elements or [])
        chosen = "chord" if not zero else zero[0] if zero[0] in ("chord", "base") and len(zero) == 1 else tuple(zero)
        method = as_typed(lambda: ERLS(elements=counts, terms=terms, zero=chosen, rho_inf=rho_inf))
        clock, error = time.perf_counter(), None
        with warnings.catch_warnings(record=True) as caught, Progress(end, quiet=as_json) as progress:
            warnings.simplefilter("always", RunWarning)
            try:
                with reported(progress):
                    run = as_typed(lambda: simulate(found.mechanism, start, end, method=method, rtol=rtol))
            except RunError as failure:
                run, error = failure.run, str(failure)
            except Interrupted as stop:
                run = stop.run
        taken = time.perf_counter() - clock
        stopped = run.status.name == "interrupted"
        complaints = [str(w.message) for w in caught if issubclass(w.category, RunWarning)]
        complaints += run.complaints() if stopped else []
        carried = {joint: run.reaction(joint) for joint in joints if len(run.t)}
        wrote = _write(run, carried, picture, table)
    code = FAILED if error else INTERRUPTED if stopped else DOUBTFUL if complaints else GOOD
    summary = _summary(run, taken) | {"complaints": complaints, "wrote": wrote} | ({"error": error} if error else {})
    if carried:
        summary["reactions"] = reactions_report.summary(carried)
    if as_json:
        output.print_json(summary)
        return code
    output.show(_table(run, summary))
    if carried:
        output.show(reactions_report.table(summary["reactions"]))
    output.show(*(f"wrote {path}" for path in wrote))
    for sentence in complaints:
        output.say("warning", sentence)
    if error:
        output.say("error", error)
    return code


def _elements(flexible: dict[str, Any], typed: list[str]) -> int | dict[str, int]:
    """``--elements 4 --elements arm=8`` as `ERLS` takes it."""
    every, by_body = 2, {}
    for item in typed:
        body, equals, number = item.rpartition("=")
        if not number.isdecimal():
            raise WrongUsage(f"--elements {item}: give a whole number, or BODY=N")
        count = int(number)
        if equals:
            by_body[body] = count
        else:
            every = count
    return {**dict.fromkeys(flexible, every), **by_body} if by_body else every


def _write(run: Run, carried: dict[str, Any], picture: Any, table: Any) -> list[str]:
    if picture is not None:
        from closedchain.look.plots.flexible import plot_deflection

        plot_deflection(run, path=picture)
    if table is not None:
        from closedchain.results.files import save_csv, save_netcdf

        data = reactions_report.beside(run.dataset, carried)
        if table.suffix == ".nc":
            save_netcdf(data, table)
        else:
            save_csv(data.drop_dims([d for d in data.dims if d != "time"]).to_dataframe(), table)
    return [str(path) for path in (picture, table) if path is not None]


def _summary(run: Run, taken: float) -> dict[str, Any]:
    error = run.energy_error.values
    return {
        "mechanism": run.mechanism.name,
        "complete": run.complete,
        "end": float(run.t[-1]) if len(run.t) else None,
        "solver": run.solver,
        "rtol": run.rtol,
        "displacements": len(run.displacements),
        "zeroed": dict(run.zeroed),
        "energy_error": float(np.abs(error).max()) if error.size else None,
        "steps": run.counts.steps,
        "evaluations": run.counts.evaluations,
        "seconds": taken,
    }


def _table(run: Run, s: dict[str, Any]) -> Any:
    rows = [
        ("simulated", "nothing" if s["end"] is None else f"to {s['end']:g} s, {len(run.t)} samples"),
        ("method", repr(run.method)),
        ("solver", f"{s['solver']}, rtol {s['rtol']:g}"),
        ("displacements", f"{s['displacements']} of nodes"),
        ("kept at zero", "; ".join(s["zeroed"].values())),
        ("energy error", "unknown" if s["energy_error"] is None else f"{s['energy_error']:.2e} J"),
        ("steps", f"{s['steps']}, {s['evaluations']} evaluations"),
        ("time", report.seconds(s["seconds"])),
    ]
    return output.facts(s["mechanism"], rows)
