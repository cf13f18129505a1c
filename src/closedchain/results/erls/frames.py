"""Frames of a run by ERLS: carried by the section of a beam, or by the node of a rigid body."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from closedchain.erls.beams import along, node_displacements
from closedchain.erls.energy import Samples
from closedchain.model.parts import Frame

if TYPE_CHECKING:
    from closedchain.erls.system import System
    from closedchain.model.mechanism import Mechanism
    from closedchain.results.erls.solution import ErlsSolution
    from closedchain.results.solution import Pose


class Sampled(Protocol):
    """A mechanism by ERLS at some samples: a run, or the swing of a mode."""

    mechanism: Mechanism
    system: System
    parameters: dict[str, float]

    @property
    def samples(self) -> Samples:
        """Poses of links and displacements of nodes."""


def frame_motion(source: Sampled, at: Frame, s: Samples | None = None) -> Pose:
    """Pose and velocity of a frame over time, in world axes; ``s`` are the samples of the source if not given."""
    s = source.samples if s is None else s
    value, m = source.mechanism.values(source.parameters), len(s.q)
    place = np.array([value(x) for x in at.position])
    turned = np.array([[value(x) for x in row] for row in at.rotation])
    if at.body.name == "ground":
        return np.tile(place, (m, 1)), np.tile(turned, (m, 1, 1)), np.zeros((m, 3)), np.zeros((m, 3))
    R, r, v, w = _carried(source, at.body.name, place, turned, s)
    return r, R, v, w


def rigid_pose(source: Sampled, at: Frame) -> tuple[np.ndarray, np.ndarray]:
    """Axes (m, 3, 3) and origin (m, 3) of a frame on the rigid-link system."""
    value, s = source.mechanism.values(source.parameters), source.samples
    place = np.array([[value(x) for x in at.position]])
    turned = np.array([[value(x) for x in row] for row in at.rotation])
    r = carried_points(source, at.body.name, place, rigid=True)[:, 0]
    if at.body.name == "ground":
        return np.tile(turned, (len(s.q), 1, 1)), r
    return s.R[:, source.system.e.topology.link_of[at.body.name]] @ turned, r


class ErlsPoints:
    """Points of bodies at the samples of a solution by ERLS, and on its rigid-link system."""

    def __init__(self, solution: ErlsSolution) -> None:
        self.solution, self.t = solution, solution.t
        self.mechanism, self.parameters = solution.mechanism, solution.parameters

    def points(self, body: str, drawn: np.ndarray) -> np.ndarray:
        """(n, k, 3) in the world."""
        return carried_points(self.solution, body, drawn)

    def rigid_points(self, body: str, drawn: np.ndarray) -> np.ndarray:
        """(n, k, 3) in the world."""
        return carried_points(self.solution, body, drawn, rigid=True)


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
