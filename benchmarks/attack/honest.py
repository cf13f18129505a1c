"""A run that says it is good is looked at again, from definitions alone: loops, energy, and numbers that are numbers.

Poses, gaps and energies come from `tests.identities.independent`, which shares no line with the library's equations.
"""

from __future__ import annotations

import numpy as np

import closedchain as cc
from closedchain.results.checks import ENERGY, promised
from closedchain.results.run import Run
from tests.identities.independent import Independent

SLACK = 10.0  # gaps are measured otherwise here: distances and angles instead of rows


def gap(kind: str, X: np.ndarray, pitch: float) -> float:
    """How far a joint is open, rad or of the unit of length, at the pose X of its frame S in P."""
    r, R = X[:3, 3], X[:3, :3]
    tilt = np.hypot(R[0, 2], R[1, 2]) if R[2, 2] > 0 else 2.0  # of z
    turned = np.linalg.norm(R - np.eye(3)) / np.sqrt(2)
    if kind == "revolute":
        return max(np.linalg.norm(r), tilt)
    if kind == "prismatic":
        return max(np.hypot(r[0], r[1]), turned)
    if kind == "cylindrical":
        return max(np.hypot(r[0], r[1]), tilt)
    if kind == "screw":
        advance = pitch * np.arctan2(R[1, 0], R[0, 0]) / (2 * np.pi)
        return max(np.hypot(r[0], r[1]), tilt, abs(np.remainder(r[2] - advance + pitch / 2, pitch) - pitch / 2))
    if kind == "universal":
        return max(np.linalg.norm(r), abs(R[0, 1]))  # x of P and y of S stay at right angles
    if kind == "planar":
        return max(abs(r[2]), tilt)
    if kind == "weld":
        return max(np.linalg.norm(r), turned)
    return float(np.linalg.norm(r)) if kind == "spherical" else 0.0


def complaints(run: Run, passive: bool) -> list[str]:
    """What a run that calls itself good should have complained about.

    ``passive``: nothing but gravity acts, so that energy needs no word of the library.
    """
    said = []
    states = run.x if isinstance(run, Run) else 0.0  # finite elements have theirs in the dataset alone
    if not (np.isfinite(run.t).all() and np.isfinite(states).all()):
        return ["a state that is not finite"]
    for name, values in run.dataset.data_vars.items():
        if values.dtype.kind == "f" and not np.isfinite(values.values).all() and "conditioning" not in str(name):
            return [f"{name} is not finite"]
    if not len(run.t) or run.mechanism.flexible:  # the definitions know rigid bodies only
        return said
    model = Independent(run.topology, run.start.parameters)
    at = sorted({0, len(run.t) // 3, 2 * len(run.t) // 3, len(run.t) - 1})
    states = [run.state(i) for i in at]
    joints = [] if run.method.all_rows else run.topology.cuts
    extent = max((np.abs(T[:3, 3]).max() for s in states for T in model.poses(s.q).values()), default=0.0)
    size = max(float(extent), run.scale.length)
    bound = max(promised(run.method, run.solver) * run.rtol, 1e-10, 10 * run.mechanism.tolerance / size)
    for state in states:
        for joint in joints:
            if joint.name in state.open_joints:
                continue
            X = model.relative(joint, state.q)
            X[:3, 3] /= size
            open_by = gap(joint.type.name, X, model.pitch(joint) / size)
            if not open_by <= SLACK * bound:
                said.append(f"loop at {joint.name!r} is open by {open_by:.3g} at t = {state.t:.3g}, bound {bound:.2g}")
    if run.method.all_rows or any("lost" in happening.numbers for happening in run.record):  # to impacts
        return said
    kinetic, falling = np.array([energy(model, s) for s in states]).T
    if run.mechanism.rotors:  # which the definitions do not know
        kinetic = run["kinetic_energy"].values[at]
    potential = falling if passive else run["potential_energy"].values[at]  # springs are the library's to tell
    work = np.zeros(len(at)) if passive else run["work"].values[at]
    error = float(np.abs(np.diff(kinetic + potential - work, prepend=(kinetic + potential - work)[0])).max())
    exchanged = max(float(run["kinetic_energy"].max()), float(np.ptp(run["potential_energy"].values)), np.ptp(work))
    allowed = max(ENERGY * run.rtol * exchanged, run.rtol * float(np.abs(potential).max()), 1e-12 * run.scale.energy)
    if not error <= SLACK * allowed:
        said.append(f"energy changes by {error:.3g} J, bound {allowed:.2g} J")
    return said


def energy(model: Independent, state: cc.State) -> tuple[float, float]:
    """Kinetic and potential energy of a state."""
    g = np.array([model.value(x) for x in model.mechanism.gravity])
    T = model.poses(state.q)
    potential = -sum(
        mass * g @ (T[name][:3, :3] @ com + T[name][:3, 3]) for name, (mass, com, _) in model.bodies.items()
    )
    return 0.5 * float(state.v @ model.inertia_matrix(state.q) @ state.v), float(potential)
