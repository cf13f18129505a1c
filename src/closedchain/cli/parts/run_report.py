"""A run in numbers: as a dictionary for programs, as a table for people."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.cli.parts import output

if TYPE_CHECKING:
    from rich.table import Table

    from closedchain.results.run import Run


def summary(run: Run, complaints: list[str]) -> dict[str, Any]:
    """Everything about a run but its samples. What a run without samples cannot know is None."""
    data = run.thinned().dataset
    if run.partition is None:
        operations = {**asdict(run.program.rhs.counts), "total": run.program.rhs.counts.total}
    else:
        operations = {"total": max(member.operations for member in run.partition.members)}
    exchanged = float(data["energy_error"].attrs["exchanged"])
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
        "operations": operations,
        **({} if run.partition is None else {"partition": asdict(run.partition)}),
        "closure_error": _largest(data["closure_error"]),
        "closure_velocity_error": _largest(data["closure_velocity_error"]),
        "energy_error": _largest(data["energy_error"]),
        "energy_exchanged": exchanged,
        "record": [h.text for h in run.record],
        "seconds": dict(run.seconds),
        "machine_code_from_cache": bool(run.program.rhs.timings.cached),
        "parameters": run.parameters,
        "coordinates": last.coordinates if last else {},
        "velocities": last.velocities if last else {},
    }


def table(s: dict[str, Any], *timings: tuple[str, str]) -> Table:
    """The summary as a table; ``timings`` are more rows for its end."""
    reached = "nothing" if s["end"] is None else f"{s['begin']:g} to {s['end']:g} s, {s['samples']} samples"
    kinds = ", ".join(f"{n} {kind}" for kind, n in s["operations"].items() if n and kind != "total")
    rows = [
        ("simulated", reached + ("" if s["complete"] else "  INCOMPLETE")),
        ("method", s["method"]),
        ("solver", f"{s['solver']}, rtol {s['rtol']:g}" + ("" if s["atol"] is None else f", atol {s['atol']:g}")),
        ("closure error", _number(s["closure_error"], "m or rad")),
        ("closure velocity error", _number(s["closure_velocity_error"], "m/s or rad/s")),
        ("energy error", _number(s["energy_error"], "J") + f"  (exchanged: {s['energy_exchanged']:.3g} J)"),
        ("steps", f"{s['steps']} accepted, {s['rejections']} rejected"),
        ("evaluations", f"{s['evaluations']} of the right-hand side, {s['corrections']} corrections"),
        ("operations", f"{s['operations']['total']} in one evaluation ({kinds or 'of the member that has most'})"),
        *timings,
    ]
    return output.facts(s["mechanism"], rows)


def seconds(x: float) -> str:
    """A duration in a unit that suits it."""
    if x < 1e-3:
        return f"{1e6 * x:.0f} us"
    return f"{1e3 * x:.1f} ms" if x < 0.1 else f"{x:.2f} s"


def _largest(values: Any) -> float | None:
    return float(np.abs(values).max()) if values.size else None


def _number(x: float | None, unit: str) -> str:
    return "unknown" if x is None else f"{x:.2e} {unit}"
