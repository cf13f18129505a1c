"""Whether every motion has inertia: of the open limbs, or at least of the closed mechanism.

The theory is in ``docs/theory/multipliers.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from closedchain.derive.equations import Equations
from closedchain.model.derived import cached
from closedchain.pose.size import drawn_length, row_sizes, velocity_sizes
from closedchain.pose.state import State, parameter_vector

NOTHING = 1e-13  # smallest eigenvalue of a matrix with unit diagonal that counts as zero


def limbs_have_inertia(e: Equations, state: State) -> bool:
    """Whether the inertia matrix of the open limbs is regular at a state."""
    M = _numbers(e, state)[0]
    return not M.size or not np.isfinite(M).all() or _weakest(M, M)[0] > NOTHING


def weightless(e: Equations, state: State, rows: Sequence[int]) -> str | None:
    """A sentence about the joint velocity that nothing gives an inertia and no closure of ``rows`` holds, if any."""
    M, A = _numbers(e, state)
    A = A[list(rows)]
    if not M.size or not (np.isfinite(M).all() and np.isfinite(A).all()):
        return None
    weight = max(np.diag(M).max(), 1e-300)
    value, motion = _weakest(M, M + weight * (A.T @ A))
    if value > NOTHING:
        return None
    i = int(np.argmax(np.abs(motion)))
    body = next(link.body.name for link in e.topology.links if link.freedoms.start <= i < link.freedoms.stop)
    return (
        f"Joint velocity {e.topology.v_labels[i]!r} has no inertia (body {body!r} and what hangs on it "
        "weigh nothing against this motion, and no loop holds it): give it a mass or a moment of inertia, for "
        "instance a rod a radius"
    )


def _numbers(e: Equations, state: State) -> tuple[np.ndarray, np.ndarray]:
    """Inertia matrix in kg m^2 and closure rows without units: slides are measured in the mechanism's length."""
    p = parameter_vector(state.mechanism, state.parameters)
    M, A = (np.array(x) for x in _function(e)(state.t, state.q, state.v, p))
    length = drawn_length(e, p)
    size = velocity_sizes(e, length)
    return M * np.outer(size, size), A * size / row_sizes(e, list(range(len(e.closure))), length)[:, None]


@cached
def _function(e: Equations) -> ca.Function:
    return e.function("inertia", {"M": e.M, "A": e.closure.A})


def _weakest(M: np.ndarray, whole: np.ndarray) -> tuple[float, np.ndarray]:
    """Smallest eigenvalue and its motion; the diagonal is scaled to one."""
    size = max(np.diag(M).max(), 1e-300)
    d = np.sqrt(np.where(np.diag(M) > 1e-14 * size, np.diag(M), size))
    value, vector = np.linalg.eigh(whole / np.outer(d, d))
    return float(value[0]), vector[:, 0]
