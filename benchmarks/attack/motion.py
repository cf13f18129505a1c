"""How far two runs are apart, and how far a motion carries two neighbours apart.

Runs are compared by the poses of their bodies: lengths by the size of the mechanism, rotations as matrices. So it does
not matter which joints are cut, and which way round a quaternion is.
"""

from __future__ import annotations

import numpy as np

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.pose.closing import Closing
from closedchain.pose.state import State, parameter_vector
from closedchain.results.run import Run
from tests.identities.independent import Independent

SAMPLES = 9
BESIDE = 1e-6  # how far beside the neighbour starts: far above the errors of a reference, far below what bends a path


def poses(run: Run, length: float = 1.0) -> np.ndarray:
    """Poses of the bodies, by name in order, at some samples: samples x bodies x 3 x 4, in units of length."""
    model = Independent(run.topology, run.start.parameters)
    names = sorted(run.mechanism.bodies)
    at = np.linspace(0, len(run.t) - 1, SAMPLES).round().astype(int)
    out = []
    for i in at:
        T = model.poses(run.state(int(i)).q)
        out.append([T[name][:3] for name in names])
    out = np.array(out)
    out[..., 3] /= length
    return out


def size(of: np.ndarray) -> float:
    """Of a mechanism: how far bodies are from the origin, or from each other."""
    return max(float(np.abs(of[..., 3]).max()), 1e-300)


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference of two motions, relative to the size of the second."""
    difference = np.abs(a - b)
    difference[..., 3] /= size(b)
    return float(difference.max())


def neighbour(start: State, rng: np.random.Generator) -> State:
    """A start a little beside another one, with all loops closed."""
    m = start.mechanism
    closing = Closing(derive(m), parameter_vector(m, start.parameters))
    n = len(start.v)
    direction = rng.normal(size=n)
    q = closing.near(start.q, BESIDE * direction / max(np.linalg.norm(direction), 1e-300))
    A = closing.jacobian(q)
    v = start.v + BESIDE * max(1.0, np.abs(start.v).max(initial=0.0)) * rng.normal(size=n) / np.sqrt(n)
    return State(m, q, v - np.linalg.lstsq(A, A @ v, rcond=1e-10)[0] if len(A) else v, dict(start.parameters), start.t)


def growth(run: Run, rng: np.random.Generator) -> float:
    """How far the motion of a run carries a neighbour away, relative to where it started; at least one."""
    other = cc.simulate(run.mechanism, neighbour(run.start, rng), float(run.t[-1]), rtol=1e-11)
    return max(1.0, distance(poses(other), poses(run)) / BESIDE)
