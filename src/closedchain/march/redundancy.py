"""Which closure equations are independent: the others follow from them at every pose, and are left out of the solution.

A planar loop drawn in space, or a platform held more often than needed, has closure rows that say the same thing twice.
The rank is taken at the given state and at closed poses near it; rows that are redundant at all of them are dropped
once, before compiling. A rank that is smaller at the given state than nearby means a singular pose.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from closedchain.derive.equations import Equations
from closedchain.errors import RedundancyError
from closedchain.march.assemble import close_near
from closedchain.march.state import State, parameter_vector

RANK = 1e-8  # relative size of a pivot that counts as zero


def independent_rows(e: Equations, state: State) -> tuple[int, ...]:
    """Numbers of the closure rows to solve.

    Raises
    ------
    RedundancyError
        If the state is singular: fewer equations are independent there than at poses nearby.
    """
    total = len(e.closure)
    if total == 0:
        return ()
    derived = e.topology.mechanism._derived
    p = parameter_vector(e.topology.mechanism, state.parameters)
    if "rows at" not in derived:
        derived["rows at"] = e.function("jacobian", {"A": e.closure.A})
    jacobian = derived["rows at"]

    def A(q: np.ndarray) -> np.ndarray:
        return np.array(jacobian(0, q, np.zeros(e.topology.nv), p))

    here = A(state.q)
    rank_here = _rank(here)
    if rank_here == total:
        return tuple(range(total))
    # the generic rank: at closed poses a little away
    rng = np.random.default_rng(0)
    nearby = [A(close_near(e, state.q, 0.05 * rng.normal(size=e.topology.nv), p)) for _ in range(4)]
    ranks = [_rank(a) for a in nearby]
    rank = max(ranks)
    if rank > rank_here:
        lost = _lost(e, here)
        raise RedundancyError(
            f"mechanism {e.topology.mechanism.name!r} is in a singular pose: only {rank_here} of {rank} closure "
            f"equations are independent here (weakest: {lost}); start a little away from it"
        )
    stacked = np.hstack(nearby + [here])  # independent if independent anywhere
    _, _, order = qr(stacked.T, mode="economic", pivoting=True)
    keep = tuple(sorted(int(i) for i in order[:rank]))
    if _rank(here[list(keep)]) < rank:
        _, _, order = qr(here.T, mode="economic", pivoting=True)
        keep = tuple(sorted(int(i) for i in order[:rank]))
    return keep


def _rank(A: np.ndarray) -> int:
    R = np.abs(np.diag(qr(A.T, mode="r", pivoting=True)[0]))
    return int((RANK * max(R[0], 1e-300) < R).sum()) if R.size else 0


def _lost(e: Equations, A: np.ndarray) -> str:
    """The joint that the direction without resistance weighs most on."""
    u = np.linalg.svd(A)[0][:, -1]
    i = int(np.argmax(np.abs(u)))
    return f"{e.closure.labels[i]!r} of joint {e.closure.joints[i]!r}"
