"""Where points of bodies are in the world at samples of a motion: flexible bodies ride on floating frames."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol, runtime_checkable

import casadi as ca
import numpy as np

from closedchain.derive.equations import Equations, derive
from closedchain.model.bodies.flexible import Flexibility
from closedchain.model.mechanism import Mechanism
from closedchain.pose.state import State, parameter_vector
from closedchain.results.beams.numbers import BeamNumbers
from closedchain.results.beams.rigid_twin import RigidTwin
from closedchain.results.samples import Samples


@runtime_checkable
class Points(Protocol):
    """Where points of bodies are at n samples: ``points`` with their elastic displacement, ``rigid_points`` without.

    ``parameters`` are the values that held.

    Both take the name of a body (``"ground"`` too) and k points in its frame (k, 3), drawn, and return (n, k, 3) in the
    world.
    """

    mechanism: Mechanism
    parameters: dict[str, float]
    t: np.ndarray

    def points(self, body: str, drawn: np.ndarray) -> np.ndarray:
        """As they are."""

    def rigid_points(self, body: str, drawn: np.ndarray) -> np.ndarray:
        """As they would be with rigid links."""


class Posed:
    """Points of bodies with coordinates q (n, nq): flexible ones ride on floating frames."""

    def __init__(self, samples: Samples) -> None:
        self.samples = samples
        e = self.equations = samples.equations
        self.mechanism, self.t = e.topology.mechanism, samples.t
        self.parameters = dict(zip(self.mechanism.parameters, samples.parameters.tolist(), strict=False))
        value = self.mechanism.values(self.parameters)
        self._beams = {k: (x, BeamNumbers.of(x, value)) for k, x in self.mechanism.flexible.items()}
        got = samples.evaluate("floating frames", lambda a, lam: _poses(e))
        n, links = len(samples), len(e.topology.links)
        self._R = got["R"].reshape(n, 3, links, 3).transpose(2, 0, 1, 3)
        self._r = got["r"].transpose(2, 0, 1)

    def points(self, body: str, drawn: np.ndarray) -> np.ndarray:
        """(n, k, 3) in the world."""
        k = self.equations.topology.link_of[body]
        if k < 0:
            return np.broadcast_to(drawn, (len(self.t), *drawn.shape))
        link = self.equations.topology.links[k]
        local = np.broadcast_to(drawn, (len(self.t), *drawn.shape))
        if link.shape is not None:
            data, beam = self._beams[body]
            local = bent_points(data, beam, self.samples.q[:, link.shape_q], drawn)
        return local @ self._R[k].transpose(0, 2, 1) + self._r[k][:, None]


class StatePoints(Posed):
    """Points of bodies at some states, and with rigid links beside them.

    ``equations`` and ``p`` are those of the mechanism as it is drawn now, with the parameters of the first state, if
    they are not given.
    """

    def __init__(
        self, states: Sequence[State], equations: Equations | None = None, p: np.ndarray | None = None
    ) -> None:
        mechanism = states[0].mechanism
        e = derive(mechanism) if equations is None else equations
        p = parameter_vector(mechanism, states[0].parameters) if p is None else p
        q, still = np.array([x.q for x in states]), np.zeros((len(states), e.topology.nv))
        super().__init__(Samples(e, np.array([x.t for x in states]), q, still, still, p))
        self.states = states

    @cached_property
    def _rigid(self) -> Posed:
        mechanism = self.states[0].mechanism
        return Posed(RigidTwin.of(mechanism).samples(self.states)) if mechanism.flexible else self

    def rigid_points(self, body: str, drawn: np.ndarray) -> np.ndarray:
        """(n, k, 3) in the world."""
        return self._rigid.points(body, drawn)


def _poses(e: Equations) -> dict[str, ca.SX]:
    """Poses of the frames of all bodies: those that float, of flexible ones."""
    X = [e.motion.X[k] @ traced.X_LB for k, traced in enumerate(e.limbs.links)]
    return {"R": ca.horzcat(*(ca.densify(x.R) for x in X)), "r": ca.horzcat(*(ca.densify(x.r) for x in X))}


def bent_points(data: Flexibility, beam: BeamNumbers, eta: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Points of a flexible body (n, k, 3) in its floating frame: on rigid arms on the nearest section."""
    L = beam.length
    xi = np.clip(drawn[:, 0] / L, 0.0, 1.0)
    foot = np.zeros_like(drawn)
    foot[:, 0] = xi * L
    shapes = data.shapes.fields(xi)
    moved = np.stack([eta @ shapes[f][0].T for f in "uvw"], axis=2)
    if data.stiffening:
        H = np.array([data.shapes.integrals.H(float(x)) for x in xi])
        moved[..., 0] -= np.einsum("ti,xij,tj->tx", eta, H, eta) / (2 * L)
    turned = np.stack([eta @ shapes["t"][0].T, -eta @ shapes["w"][1].T / L, eta @ shapes["v"][1].T / L], axis=2)
    arm = drawn - foot
    # Cayley's rotation: arm + 2 / (1 + |h|^2) (h x arm + h x (h x arm)), h = turned / 2
    h = turned / 2
    once = np.cross(h, arm[None])
    swung = arm + 2 / (1 + np.sum(h**2, axis=2, keepdims=True)) * (once + np.cross(h, once))
    return foot + moved + swung
