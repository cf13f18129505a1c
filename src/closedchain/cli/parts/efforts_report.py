"""What a motion takes, in numbers: as a dictionary for programs, as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.cli.parts import output, reactions_report
from closedchain.cli.parts import run_report as report
from closedchain.cli.parts.reactions_report import tidy

if TYPE_CHECKING:
    import xarray
    from rich.table import Table

    from closedchain.cli.parts.paths import Followed
    from closedchain.results.efforts.efforts import Efforts

AGREE = 1e-6  # of the largest effort: methods that differ by more do not agree

ORIENTATION = {
    "kept": "orientation kept",
    "follows": "orientation follows from the position",
    "free": "orientation left free",
}


def summary(
    need: Efforts,
    followed: Sequence[Followed],
    carried: Mapping[str, xarray.Dataset],
    differences: Mapping[str, float],
) -> dict[str, Any]:
    """Everything but the samples; of a single instant the efforts themselves.

    Parameters
    ----------
    need
        What the motion takes.
    followed
        The paths; none for a mechanism that is held.
    carried
        Reactions by joint.
    differences
        Of the efforts of other methods, over the largest effort.
    """
    motion, sizing = need.motion, need.sizing()
    at_rest = len(need.t) == 1
    out: dict[str, Any] = {
        "mechanism": need.mechanism.name,
        "paths": [{"target": x.name, "path": x.said, "orientation": x.orientation} for x in followed],
        "method": need.method,
        "actuators": list(need.actuators),
        "redundancy": need.redundancy,
        "begin": float(need.t[0]),
        "end": float(need.t[-1]),
        "samples": len(need.t),
        "complaints": [
            *map(str, motion.violations),
            *(f"beyond its limits: {sentence}" for sentence in sizing.shortfalls),
            *(
                f"{need.method} and {name} differ by {x:.1e} of the largest effort: the pose may be singular"
                for name, x in differences.items()
                if not x <= AGREE
            ),
        ],
        "demands": [vars(x).copy() for x in sizing.demands],
        "violations": [vars(x).copy() for x in motion.violations],
        "actuation_conditioning": _least(need.t, need.conditioning),
    }
    if at_rest:
        efforts = zip(need.actuators, need.tau[0], strict=True)
        out["efforts"] = {name: {"value": float(x), "unit": need.units[name]} for name, x in efforts}
    else:
        out["path_conditioning"] = _least(need.t, motion.conditioning)
        out["sizing"] = sizing.rows()
    if differences:
        out["differences"] = dict(differences)
    if carried:
        out["reactions"] = reactions_report.summary(carried)
    return out


def facts(s: dict[str, Any], complete: bool, chosen: str) -> Table:
    """What was done, as a table; ``chosen`` says which of the efforts that are possible were taken."""
    rows = []
    for one in s["paths"]:
        about = ORIENTATION.get(one["orientation"])
        rows.append(("path", f"{one['target']}: {one['path']}" + (f"; {about}" if about else "")))
    if "efforts" in s:
        rows.append(("held", "at rest, as at the start"))
    else:
        reached = f"{s['begin']:g} to {s['end']:g} s, {s['samples']} samples"
        rows.append(("followed", reached + ("" if complete else "  INCOMPLETE")))
    more = f", {s['redundancy']} more than needed: {chosen}" if s["redundancy"] else ""
    rows.append(("actuators", f"{len(s['actuators'])}{more}"))
    rows.append(("method", s["method"]))
    for name, x in s.get("differences", {}).items():
        rows.append((f"{name} differs", f"by {x:.1e} of the largest effort"))
    for key, name in (("path_conditioning", "path"), ("actuation_conditioning", "actuation")):
        if key in s:
            at = "" if "efforts" in s else f" at t = {s[key]['time']:.4g} s"
            rows.append((f"{name} conditioning", f"{s[key]['least']:.2g}{at} (0 singular, 1 best)"))
    spent = {name: report.seconds(x) for name, x in s["seconds"].items()}
    rows.append(("time", f"{spent['motion']} for the motion, {spent['efforts']} for the efforts"))
    return output.facts(s["mechanism"], rows)


def sizing_table(s: dict[str, Any]) -> Table:
    """What motors must be able to do; of a single instant, how they hold."""
    if "efforts" in s:
        held = [(name, f"{tidy(x['value']):.6g}", x["unit"]) for name, x in s["efforts"].items()]
        return output.table(("actuator", "effort", "unit"), held, right=("effort",))
    columns = ("actuator", "peak", "rms", "unit", "at [s]", "speed", "power [W]", "back [W]", "work [J]")
    rows = [
        (
            x["name"],
            f"{x['peak']:.4g}",
            f"{x['rms']:.4g}",
            x["unit"],
            f"{x['peak_time']:.3f}",
            f"{tidy(x['top_speed']):.3g} {'rad/s' if x['unit'] == 'N m' else 'm/s'}",
            f"{tidy(max(0.0, x['peak_power'])):.3g}",
            f"{tidy(max(0.0, -x['least_power'])):.3g}",
            f"{tidy(x['work']):.3g}",
        )
        for x in s["sizing"]
    ]
    return output.table(columns, rows, right=[c for c in columns if c not in ("actuator", "unit")])


def demands_table(s: dict[str, Any]) -> Table:
    """What motors and cylinders need inside, where a model of them is drawn."""
    columns = ("actuator", "needs", "peak", "rms", "unit")
    rows = [(x["name"], x["quantity"], f"{x['peak']:.4g}", f"{x['rms']:.4g}", x["unit"]) for x in s["demands"]]
    return output.table(columns, rows, right=("peak", "rms"))


def dataset(need: Efforts, carried: Mapping[str, xarray.Dataset]) -> xarray.Dataset:
    """Efforts, speeds and powers over time, and the components of reactions."""
    return reactions_report.beside(need.dataset, carried)


def _least(t: np.ndarray, conditioning: np.ndarray) -> dict[str, float]:
    k = int(np.argmin(conditioning))
    return {"least": float(conditioning[k]), "time": float(t[k])}
