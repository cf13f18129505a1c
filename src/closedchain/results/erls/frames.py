"""Frames of a run by ERLS: carried by the section of a beam, or by the node of a rigid body."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from closedchain.erls.beams import along, node_displacements
from closedchain.erls.energy import Samples
from closedchain.model.parts import Frame

if TYPE_CHECKING:
    import xarray

    from closedchain.erls.system import System
    from closedchain.model.mechanism import Mechanism
    from closedchain.results.erls.run import ErlsRun


class Sampled(Protocol):
    """A mechanism by ERLS at some samples: a run, or the swing of a mode."""

    mechanism: Mechanism
    system: System
    parameters: dict[str, float]

    @property
    def samples(self) -> Samples:
        """Poses of links and displacements of nodes."""


def frame_motion(run: ErlsRun, at: Frame, s: Samples | None = None) -> xarray.Dataset:
    """Pose and velocity of a frame over time, in world axes; ``s`` are the run's samples if not given."""
    import xarray

    value, m = run.mechanism.values(run.parameters), len(run.t)
    place = np.array([value(x) for x in at.position])
    turned = np.array([[value(x) for x in row] for row in at.rotation])
    if at.body.name == "ground":
        R, r = np.tile(turned, (m, 1, 1)), np.tile(place, (m, 1))
        v, w = np.zeros((m, 3)), np.zeros((m, 3))
    else:
        R, r, v, w = _carried(run, at.body.name, place, turned, s)
    axes = list("xyz")
    return xarray.Dataset(
        {
            "position": (("time", "axis"), r, {"units": "m"}),
            "rotation": (("time", "axis", "frame_axis"), R, {"units": "1"}),
            "velocity": (("time", "axis"), v, {"units": "m/s"}),
            "angular_velocity": (("time", "axis"), w, {"units": "rad/s"}),
        },
        coords={"time": ("time", run.t, {"units": "s"}), "axis": axes, "frame_axis": axes},
        attrs={"frame": f"{at.body.name}.{at.name}", "axes": "world"},
    )


def _carried(
    run: Sampled, body: str, place: np.ndarray, turned: np.ndarray, s: Samples | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pose and velocities of a frame on a body."""
    s = run.samples if s is None else s
    system, flexible = run.system, run.mechanism.flexible
    base = np.zeros(3)
    if body in flexible:
        base[0] = min(max(place[0], 0.0), run.mechanism.values(run.parameters)(flexible[body].length))
        d, theta, d_dot, theta_dot = along(system, s, body, float(base[0]))
    else:
        (_, moved), (_, rates) = (node_displacements(system, x, body) for x in (s, replace(s, u=s.u_dot)))
        d, theta, d_dot, theta_dot = moved[:, 0, :3], moved[:, 0, 3:], rates[:, 0, :3], rates[:, 0, 3:]
    arm = place - base
    index = system.e.topology.link_of[body]
    R, r = s.R[:, index], s.r[:, index]
    w, v = s.twists[:, index, :3], s.twists[:, index, 3:]
    p = place + d + np.cross(theta, arm)
    v = v + np.cross(w, p) + d_dot + np.cross(theta_dot, arm)
    p, v, w = (np.einsum("mab,mb->ma", R, x) for x in (p, v, w + theta_dot))
    return R @ rotations(theta) @ turned, r + p, v, w


def carried_points(run: Sampled, body: str, drawn: np.ndarray, *, rigid: bool = False) -> np.ndarray:
    """Points of a body (k, 3) in the world (m, k, 3), carried by its sections or node, or by the rigid link."""
    if body == "ground":
        return np.broadcast_to(drawn, (len(run.samples.q), *drawn.shape))
    if rigid:
        s, index = run.samples, run.system.e.topology.link_of[body]
        return s.r[:, None, index] + drawn @ s.R[:, index].transpose(0, 2, 1)
    return np.stack([_carried(run, body, place, np.eye(3))[1] for place in drawn], axis=1)


def rotations(theta: np.ndarray) -> np.ndarray:
    """Rotation matrices (m, 3, 3) of rotation vectors (m, 3)."""
    angle = np.linalg.norm(theta, axis=1)[:, None, None]
    K = np.zeros((len(theta), 3, 3))
    K[:, 0, 1], K[:, 0, 2], K[:, 1, 2] = -theta[:, 2], theta[:, 1], -theta[:, 0]
    K -= K.transpose(0, 2, 1)
    return np.eye(3) + np.sinc(angle / np.pi) * K + 0.5 * np.sinc(angle / (2 * np.pi)) ** 2 * (K @ K)
