"""Variables of a run by ERLS: true joint coordinates, displacements, efforts and energies over time, with units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
import xarray

from closedchain.derive.erls.loads import TrueJoints
from closedchain.erls import choice
from closedchain.erls.energy import evaluate, inputs
from closedchain.results.dataset import effort_variable, joint_variables
from closedchain.results.erls.reactions import efforts_of_drives

if TYPE_CHECKING:
    from closedchain.results.erls.solution import ErlsSolution
    from closedchain.results.solution import Variables


def erls_variables(solution: ErlsSolution) -> tuple[Variables, dict[str, Any]]:
    """Everything a run knows over time, but for efforts of drives, and the names of the displacements."""
    system, s = solution.system, solution.samples
    traced, m = system.compiled.traced, system.twin
    true = TrueJoints(system.d)
    joints = system.e.topology.joints
    columns = {
        "q": ca.vertcat(ca.SX(0, 1), *(true.coordinates(j) for j in joints)),
        "v": ca.vertcat(ca.SX(0, 1), *(true.velocities(j) for j in joints)),
        "power": traced.loads.power,
        "block": traced.parts["block"],
        "closure": ca.vertcat(
            ca.SX(1, 1), ca.densify(system.e.closure.c), *(row.value for row in system.e.closure.fixed)
        ),
        **{f"effort {name}": effort for name, effort in traced.loads.efforts.items()},
    }
    got = evaluate(system, "outputs", _once(solution, "outputs", columns), _inputs(solution))
    variables = _joints(solution, got["q"][:, :, 0], got["v"][:, :, 0], "with elasticity")
    for name in traced.loads.efforts:
        variables[name] = effort_variable(m, name, got[f"effort {name}"][:, :, 0])
    energy, work = s.energy, solution.motion.work
    health = choice.health(got["block"].reshape(len(solution.t), system.n_q, system.n_q), system.units)
    variables |= {
        "u": (("time", "displacement"), solution.motion.x[:, 0, solution.order], {"units": "m or rad"}),
        "u'": (("time", "displacement"), solution.motion.x[:, 1, solution.order], {"units": "m/s or rad/s"}),
        "kinetic_energy": ("time", s.kinetic, {"units": "J"}),
        "elastic_energy": ("time", s.elastic, {"units": "J", "about": "of the beams"}),
        "potential_energy": ("time", s.gravity + s.springs, {"units": "J", "about": "of gravity and springs"}),
        "power": ("time", got["power"][:, 0, 0], {"units": "W", "about": "of motors, dampers and forces"}),
        "work": ("time", work, {"units": "J", "about": "of these, of drives, and of damping in beams"}),
        "energy_error": (
            "time",
            energy - energy[:1] - (work - work[:1]),
            {"units": "J"},
        ),
        "closure_error": ("time", np.abs(got["closure"][:, :, 0]).max(axis=1), {"units": "m or rad"}),
        "zeroed_health": ("time", np.sign(system.begun) * health, {"units": "1", "about": _HEALTH}),
    }
    return variables, {"displacement": list(solution.displacements)}


_HEALTH = "mean pivot of the zeroed block of J; 0 where these displacements cannot be zeroed"


def drive_variables(solution: ErlsSolution) -> Variables:
    """Efforts of drives, which take the reactions."""
    m = solution.system.twin
    variables: Variables = {}
    if not m.drives:
        return variables
    for name, effort in efforts_of_drives(solution).items():
        drive = m.drives[name]
        turning = m.joints[drive.joint].type.velocity_units[drive.index] == "rad/s"
        about = {"units": "N m" if turning else "N", "about": "effort on the held coordinate"}
        variables[name] = ("time", effort, about)
    return variables


def rigid_dataset(solution: ErlsSolution) -> xarray.Dataset:
    """Coordinates and velocities of the equivalent rigid-link system."""
    e = solution.system.e
    joints = e.topology.joints
    columns = {
        "q": ca.vertcat(ca.SX(0, 1), *(e.measures.coordinates(j) for j in joints)),
        "v": ca.vertcat(ca.SX(0, 1), *(e.measures.velocities(j) for j in joints)),
    }
    got = evaluate(solution.system, "rigid", _once(solution, "rigid", columns), _inputs(solution))
    variables = _joints(solution, got["q"][:, :, 0], got["v"][:, :, 0], "of the equivalent rigid-link system")
    return xarray.Dataset(variables, coords={"time": ("time", solution.t, {"units": "s"})})


def acceleration(solution: ErlsSolution, name: str) -> xarray.DataArray | None:
    """A true joint acceleration over time, by its name with two primes; None if there is none."""
    system, true = solution.system, TrueJoints(solution.system.d)
    for joint in system.e.topology.joints:
        for index, label in enumerate(joint.velocity_labels()):
            if f"{label}''" == name:
                columns = {"a": true.acceleration(joint, index)}
                given = inputs(system, solution.t, solution.balanced.tree, solution.balanced.x)
                values = evaluate(system, name, _once(solution, name, columns), given)["a"][:, 0, 0]
                units = f"{joint.type.velocity_units[index]}^2"
                coords = {"time": ("time", solution.t, {"units": "s"})}
                return xarray.DataArray(values, coords, "time", name, {"units": units, "joint": joint.name})
    return None


def _inputs(solution: ErlsSolution) -> np.ndarray:
    return inputs(solution.system, solution.t, solution.motion.tree, solution.motion.x)


def _once(solution: ErlsSolution, key: str, columns: dict[str, ca.SX]) -> dict[str, ca.SX]:
    """Expressions with the velocities of the tree put in; done once for each system."""
    system = solution.system
    if key in system.functions:
        return columns
    return dict(zip(columns, system.compiled.traced.closed(list(columns.values())), strict=True))


def _joints(solution: ErlsSolution, q: np.ndarray, v: np.ndarray, about: str) -> Variables:
    joints = solution.system.e.topology.joints
    return joint_variables(joints, q, v, lambda unit, joint: {"units": unit, "joint": joint, "about": about})
