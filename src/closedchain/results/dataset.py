"""The dataset of a run: one variable for each coordinate and velocity, with units."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray

from closedchain.march.judge.conditioning import Conditioning
from closedchain.model.forces.force import Along, reported, turns
from closedchain.results.checks import closure_norm, energy_balance

if TYPE_CHECKING:
    from closedchain.cut.topology import ShapeCoordinates
    from closedchain.derive.equations import Equations
    from closedchain.model.mechanism import Mechanism
    from closedchain.model.parts import Frame, Joint
    from closedchain.results.run import Run
    from closedchain.results.solution import Pose, Variables


def dataset(run: Run) -> xarray.Dataset:
    """Collect everything a run knows over time, but for what takes long.

    Coordinates are named after their joint, velocities with a prime, accelerations with two; quantities that are not
    the rate of a coordinate (the angular velocity of a ball joint) have names of their own.
    """
    known, others = run.solution.variables(run)
    attrs = {
        k: v if isinstance(v, str | int | float) and not isinstance(v, bool) else str(v)
        for k, v in run.metadata.items()
    }
    attrs["parameters"] = json.dumps(run.parameters)
    return xarray.Dataset(known, coords={"time": ("time", run.t, {"units": "s"}), **others}, attrs=attrs)


def frame_dataset(frame: Frame, t: np.ndarray, pose: Pose) -> xarray.Dataset:
    """The motion of a frame over time, with units."""
    r, R, v, w = pose
    axes = list("xyz")
    return xarray.Dataset(
        {
            "position": (("time", "axis"), r, {"units": "m"}),
            "rotation": (("time", "axis", "frame_axis"), R, {"units": "1"}),
            "velocity": (("time", "axis"), v, {"units": "m/s"}),
            "angular_velocity": (("time", "axis"), w, {"units": "rad/s"}),
        },
        coords={"time": ("time", t, {"units": "s"}), "axis": axes, "frame_axis": axes},
        attrs={"frame": f"{frame.body.name}.{frame.name}", "axes": "world"},
    )


def variables(run: Run, out: dict[str, np.ndarray]) -> tuple[Variables, dict[str, Any]]:
    """Variables of a march, and the names of its closure rows."""
    e = run.program.equations
    found = motion_variables(e, out)
    error, exchanged = energy_balance(run, out)
    found["energy_error"] = ("time", error, {"units": "J", "exchanged": exchanged})
    for what, values in _conditioning(run).items():
        found[f"{what}_conditioning"] = ("time", values, {"units": "1", "about": "0 at a singular pose"})
    rows = [f"{joint} {label}" for joint, label in zip(e.closure.joints, e.closure.labels, strict=True)]
    return found, {"closure": rows}


def motion_variables(e: Equations, out: dict[str, np.ndarray]) -> dict[str, tuple]:
    """Coordinates, rates, efforts, multipliers and energies by name, from results at samples (see `evaluate`)."""
    own = e.topology.own
    variables = joint_variables(
        e.topology.measured, out["q"], out["v"], lambda unit, joint: _about(unit, joint, joint not in own)
    )
    for joint in e.topology.measured:
        if joint.name not in e.topology.own:
            continue
        kind, at = joint.type, e.topology.own[joint.name][1].start
        for i, (name, label) in enumerate(zip(kind.velocities, joint.velocity_labels(), strict=True)):
            about = _about(f"{kind.velocity_units[i]}^2", joint.name, False)
            variables[f"{label}''" if name in kind.coordinates else f"{label}'"] = ("time", out["a"][:, at + i], about)

    for name in e.applied.efforts:
        variables[name] = effort_variable(e.topology.mechanism, name, out[f"effort {name}"])
    # what a drive or a gear exerts is the multiplier of its row
    for name in (*e.topology.mechanism.drives, *e.topology.mechanism.couplings):
        row = e.closure.joints.index(name)
        units = "N m" if e.closure.units[row] == "rad" else "N"
        variables[name] = ("time", out["lam"][:, row], {"units": units, "about": "effort on the held coordinate"})
    return variables | {
        "lam": (
            ("time", "closure"),
            out["lam"],
            {
                "units": "N or N m",
                "about": "of the cut joint's first body on its second; rows that repeat others have none",
            },
        ),
        "closure_error": ("time", closure_norm(out["c"], out["fixed"]), {"units": "m or rad"}),
        "closure_velocity_error": ("time", closure_norm(out["c_dot"]), {"units": "m/s or rad/s"}),
        "kinetic_energy": ("time", out["kinetic"][:, 0], {"units": "J"}),
        "potential_energy": ("time", out["potential"][:, 0], {"units": "J"}),
        "power": ("time", out["power"][:, 0], {"units": "W", "about": "of all that has no potential"}),
        "work": ("time", out["work"][:, 0], {"units": "J", "about": "integral of power"}),
    }


def joint_variables(
    joints: Iterable[Joint | ShapeCoordinates],
    q: np.ndarray,
    v: np.ndarray,
    about: Callable[[str, str], dict[str, str]],
) -> dict[str, tuple]:
    """Coordinates q and velocities v (m, ...) of joints over time, by name; ``about(unit, joint)`` are attributes."""
    variables: dict[str, tuple] = {}
    iq = iv = 0
    for joint in joints:
        kind = joint.type
        for label, unit in zip(joint.labels(), kind.coordinate_units, strict=True):
            variables[label] = ("time", q[:, iq], about(unit, joint.name))
            iq += 1
        for name, label, unit in zip(kind.velocities, joint.velocity_labels(), kind.velocity_units, strict=True):
            rate = f"{label}'" if name in kind.coordinates else label
            variables[rate] = ("time", v[:, iv], about(unit, joint.name))
            iv += 1
    return variables


def effort_variable(mechanism: Mechanism, name: str, values: np.ndarray) -> tuple:
    """The effort of a motor (m, 1), or the wrench of a force (m, 6), over time."""
    if values.shape[1] > 1:
        return ("time", "wrench"), values, {"units": "N and N m", "components": "force, moment"}
    part = reported(mechanism)[name]
    turning = isinstance(part, Along) and turns(mechanism, part)
    return "time", values[:, 0], {"units": "N m" if turning else "N"}


def _conditioning(run: Run) -> dict[str, np.ndarray]:
    """Conditioning of closure, actuation and output at the samples; only those that all pieces of the run have."""
    moved = [s for s in run.segments if len(s.trajectory.t)]
    pieces = [Conditioning(s.program, run.p)(s.trajectory.t, s.trajectory.x) for s in moved]
    names = [name for name in pieces[0] if all(name in piece for piece in pieces)] if pieces else []
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in names}


def _about(unit: str, joint: str, cut: bool) -> dict[str, str]:
    return {"units": unit, "joint": joint} | ({"cut": "measured on the cut joint"} if cut else {})
