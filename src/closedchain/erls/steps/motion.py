"""What comes of a march of finite elements: samples with the rigid-link system beside them, and forces in balance."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from closedchain.erls.system import System
from closedchain.erls.workspace import Workspace
from closedchain.integrate.trajectory import Trajectory
from closedchain.march.marks import Happening

ITERATIONS = 20  # for accelerations between the ends of steps
BALANCED = 1e-11  # of accelerations: what is left of them


@dataclass(frozen=True, eq=False, kw_only=True)
class Motion(Trajectory):
    """A trajectory of y, with the rigid-link system beside it.

    Its states x are (m, 3, n): y, y', y'' at the samples; y'' is linear between the ends of steps, see `in_balance`.
    ``failure.x`` is the rigid-link system (tree,) where the march stopped.

    Attributes
    ----------
    tree : (m, tree) coordinates of the rigid-link system at the samples, closed.
    work : (m,) done on the mechanism until then, J.
    lengths : (m,) of the step around each sample; 0 at the start.
    t_end : the time reached, s.
    health, closed : determinant of the zeroed block over that at the start, and smallest pivot of the closures, at the
        end.
    record : a motion that ran away, see `march.judge.divergence`; empty if it did not.
    """

    tree: np.ndarray
    work: np.ndarray
    lengths: np.ndarray
    t_end: float
    health: float
    closed: float
    record: tuple[Happening, ...] = ()

    def part(self, chosen: np.ndarray) -> Motion:
        """The same at some of its samples."""
        return replace(self, **{name: getattr(self, name)[chosen] for name in ("t", "x", "tree", "work", "lengths")})


def in_balance(system: System, motion: Motion) -> Motion:
    """Samples at which the equations hold, with their accelerations.

    Between the ends of steps the solution is a polynomial. Accelerations that belong to it exactly have its error times
    the square of the highest frequency. So a stage is solved there as in a step of the same length h,

        R(t, y + c^2 (a - a_0), y' + c (a - a_0), a) = 0,        c = h / 4

    from the interpolated y, y', a_0: it moves them by less than the tolerance, and forces are in balance.
    """
    ws, out, tree = Workspace(system), motion.x.copy(), motion.tree.copy()
    for k, (y, v, a) in enumerate(motion.x):
        t, c = float(motion.t[k]), motion.lengths[k] / 4
        ws.room.tree.q[:] = motion.tree[k]
        moved = a.copy()
        if not (ws.linearise(t, y, v, a) and ws.factor(1.0, c, c * c)):
            out[k, 2] = np.nan
            continue
        for _ in range(ITERATIONS):
            step = ws.solve(ws.residual(t, y + c * c * (moved - a), v + c * (moved - a), moved))
            moved -= step
            if not np.abs(step).max(initial=0.0) > BALANCED * np.abs(moved).max(initial=0.0):
                break
        out[k] = y + c * c * (moved - a), v + c * (moved - a), moved
        tree[k] = ws.room.tree.q
    return replace(motion, x=out, tree=tree)
