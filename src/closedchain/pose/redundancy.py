"""Which closure equations are independent: the others follow from them at every pose, and are left out of the solution.

A planar loop drawn in space, or a platform held more often than needed, has closure rows that say the same thing twice.
Rows are compared at the given state and at closed poses around it. What is redundant at all of them is structural: it
is removed once, before compiling, and costs nothing in a run. Where the given state has a smaller rank than its
surroundings, the pose is singular, and the rows are treated with care while running (see `close.parts.elimination`).

The theory is in ``docs/theory/closures.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from closedchain.derive.equations import Equations
from closedchain.pose.closing import Closing, active_rows
from closedchain.pose.rank import ALIKE, EXACT, LOOSE, independent, rank, relative_tolerance, without_units
from closedchain.pose.state import State, parameter_vector

AROUND = 4  # poses to look at besides the given one


@dataclass(frozen=True)
class Rows:
    """Closure rows that hold, those of them to solve, and whether the state they were chosen at is singular.

    ``moving`` are the rows that some motion changes: where pivots are watched while running, a row that is nothing but
    rounding would be compared with rounding. ``loops_rank`` is the rank of those that are not drives.
    """

    active: tuple[int, ...]
    kept: tuple[int, ...]
    moving: tuple[int, ...]
    singular: bool
    loops_rank: int = 0


def independent_rows(e: Equations, state: State) -> Rows:
    """Choose the closure rows to solve."""
    active = active_rows(e, state.open_joints)
    if not active:
        return Rows((), (), (), False)
    closing = Closing(e, parameter_vector(e.topology.mechanism, state.parameters), time=state.t, rows=active)
    here = closure_jacobian(closing, state.q)
    loops = [k for k, row in enumerate(active) if row not in driven(e)]
    tolerance = relative_tolerance(e, closing.p)
    if rank(here, tolerance) == len(active):
        return Rows(tuple(active), tuple(active), tuple(active), False, len(loops))
    stacked = [closure_jacobian(closing, q) for q in spread(closing, state.q)]
    kept = choose_rows(stacked, tolerance)
    size = np.max([np.linalg.norm(A, axis=1) for A in stacked], axis=0)
    moves = size > max(ALIKE * size.max(), LOOSE * tolerance)
    moving = tuple(row for k, row in enumerate(active) if moves[k] or k in kept)
    loops_rank = max(rank(A[loops], tolerance) for A in stacked)
    return Rows(tuple(active), tuple(active[i] for i in kept), moving, rank(here, tolerance) < len(kept), loops_rank)


def generic_rank(e: Equations, state: State, rows: Sequence[int]) -> int:
    """How many of some closure rows are independent at closed poses around a state."""
    if not rows:
        return 0
    active = active_rows(e, state.open_joints)
    closing = Closing(e, parameter_vector(e.topology.mechanism, state.parameters), time=state.t, rows=active)
    places = [active.index(row) for row in rows]
    tolerance = relative_tolerance(e, closing.p)
    here = rank(closure_jacobian(closing, state.q)[places], tolerance)
    if here == len(rows):
        return here
    return max(rank(closure_jacobian(closing, q)[places], tolerance) for q in spread(closing, state.q))


def driven(e: Equations) -> set[int]:
    """Closure rows that are prescribed motions."""
    return {i for i, joint in enumerate(e.closure.joints) if joint in e.topology.mechanism.drives}


def closure_jacobian(closing: Closing, q: np.ndarray) -> np.ndarray:
    """``A`` of the active rows without units: lengths over the drawing's length, in rows and velocities."""
    A = without_units(closing.e, closing.p, closing.active, closing.jacobian(q))
    return np.where(np.linalg.norm(A, axis=1, keepdims=True) > EXACT, A, 0.0)  # rounding, where nothing else is left


def spread(closing: Closing, q: np.ndarray) -> list[np.ndarray]:
    """The pose q and closed poses around it, the same ones each time; prescribed motions may be at any time."""
    rng = np.random.default_rng(0)
    n = closing.topology.nv
    loops = [row for row in closing.active if row not in driven(closing.e)]
    free = Closing(closing.e, closing.p, time=closing.t, rows=loops)
    around = [free.near(q, 0.1 * free.velocity_size * rng.normal(size=n)) for _ in range(AROUND)]
    return [q, *(x for x in around if free.error(x) < max(1e-9, 10 * free.tolerance))]


def rank_lost(closing: Closing, q: np.ndarray) -> int:
    """By how much the rank of the closures is smaller at a pose than around it."""
    tolerance = relative_tolerance(closing.e, closing.p)
    ranks = [rank(closure_jacobian(closing, x), tolerance) for x in spread(closing, q)]
    return max(ranks) - ranks[0]


def choose_rows(stacked: list[np.ndarray], tolerance: float = 0.0) -> tuple[int, ...]:
    """Numbers of independent rows: as many as the largest rank found, well conditioned where it is found."""
    ranks = [rank(A, tolerance) for A in stacked]
    return independent(stacked[int(np.argmax(ranks))], max(ranks))
