"""A run in numbers: as a dictionary for programs, as a table for people."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.cli.parts import output

if TYPE_CHECKING:
    from rich.table import Table

    from closedchain.results.run import Run

ERRORS = ("closure_error", "closure_velocity_error", "energy_error")


def summary(run: Run, complaints: list[str]) -> dict[str, Any]:
    """Everything about a run but its samples. What a run without samples cannot know is None."""
    data = run.thinned().dataset
    last = run.state(-1) if len(run.t) else None
    return {
        "mechanism": run.mechanism.name,
        "complete": run.complete,
        "complaints": complaints,
        "method": repr(run.task.method),
        "solver": run.solver,
        "rtol": run.rtol,
        "atol": run.atol,
        "begin": float(run.t[0]) if last else None,
        "end": float(run.t[-1]) if last else None,
        "samples": len(run.t),
        **run.counts.known(),
        **_of_its_method(run),
        **({} if run.partition is None else {"partition": asdict(run.partition)}),
        **{name: _largest(data[name]) for name in ERRORS if name in data},
        "energy_exchanged": data["energy_error"].attrs.get("exchanged"),
        "record": [h.text for h in run.record],
        "seconds": dict(run.seconds),
        "parameters": run.parameters,
        "coordinates": last.coordinates if last else {},
        "velocities": last.velocities if last else {},
    }


def _of_its_method(run: Run) -> dict[str, Any]:
    """Operations of a compiled program; displacements of finite elements."""
    if run.solution.has_elements:
        return {"displacements": len(run.displacements), "zeroed": dict(run.zeroed)}
    program = run.program.rhs
    counts = {**asdict(program.counts), "total": program.counts.total}
    if run.partition is not None:
        counts = {"total": max(member.operations for member in run.partition.members)}
    return {"operations": counts, "machine_code_from_cache": bool(program.timings.cached)}


def table(s: dict[str, Any], *timings: tuple[str, str]) -> Table:
    """The summary as a table; ``timings`` are more rows for its end."""
    reached = "nothing" if s["end"] is None else f"{s['begin']:g} to {s['end']:g} s, {s['samples']} samples"
    exchanged = "" if s["energy_exchanged"] is None else f"  (exchanged: {s['energy_exchanged']:.3g} J)"
    rows = [
        ("simulated", reached + ("" if s["complete"] else "  INCOMPLETE")),
        ("method", s["method"]),
        ("solver", f"{s['solver']}, rtol {s['rtol']:g}" + ("" if s["atol"] is None else f", atol {s['atol']:g}")),
    ]
    if "displacements" in s:
        kept = "; ".join(s["zeroed"].values())
        rows += [("displacements", f"{s['displacements']} of nodes"), ("kept at zero", kept)]
    units = {"closure_error": "m or rad", "closure_velocity_error": "m/s or rad/s"}
    rows += [(name.replace("_", " "), _number(s[name], unit)) for name, unit in units.items() if name in s]
    rows += [
        ("energy error", _number(s["energy_error"], "J") + exchanged),
        ("steps", f"{s['steps']} accepted, {s['rejections']} rejected"),
        ("evaluations", f"{s['evaluations']} of the right-hand side, {s['corrections']} corrections"),
    ]
    if "operations" in s:
        kinds = ", ".join(f"{n} {kind}" for kind, n in s["operations"].items() if n and kind != "total")
        of = kinds or "of the member that has most"
        rows.append(("operations", f"{s['operations']['total']} in one evaluation ({of})"))
    return output.facts(s["mechanism"], [*rows, *timings])


def timings(run: Run) -> tuple[str, str]:
    """Where the time went."""
    spent = (run.seconds["march"], run.solution.seconds_to_prepare, run.seconds.get("load", 0.0))
    marching, compiling, loading = map(seconds, spent)
    cached = not run.solution.has_elements and run.program.rhs.timings.cached
    from_cache = " (machine code from the cache)" if cached else ""
    return "time", f"{marching} to march, {compiling} to close and compile{from_cache}, {loading} to load the solver"


def seconds(x: float) -> str:
    """A duration in a unit that suits it."""
    if x < 1e-3:
        return f"{1e6 * x:.0f} us"
    return f"{1e3 * x:.1f} ms" if x < 0.1 else f"{x:.2f} s"


def _largest(values: Any) -> float | None:
    return float(np.abs(values).max()) if values.size else None


def _number(x: float | None, unit: str) -> str:
    return "unknown" if x is None else f"{x:.2e} {unit}"
