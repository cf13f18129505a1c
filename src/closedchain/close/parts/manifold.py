"""Back to the manifold of closed states: what formulations with the state ``(q, v, W)`` share.

One Newton step takes positions and velocities to where the loops are closed, with the inertia matrix as the metric:
``dq = -M^-1 A' (A M^-1 A')^-1 c`` and likewise for the velocities (Lubich 1991; Eich 1993, SIAM J. Numer. Anal. 30,
1467-1482). Quaternions are brought back to length one.

The theory is in ``docs/theory/multipliers.md``.
"""

from __future__ import annotations

from functools import reduce

import casadi as ca

from closedchain.close.formulation import Correction, has_quaternions, normalise
from closedchain.close.parts.elimination import ClosureFactor, TreeFactor
from closedchain.derive.equations import Equations
from closedchain.derive.size import traced_sizes


def newton_step(
    e: Equations, x: ca.SX, c: ca.SX, c_dot: ca.SX, tree: TreeFactor, cuts: ClosureFactor, project: bool = True
) -> Correction | None:
    """The correction of a `Closed`; None where there is nothing to correct.

    Parameters
    ----------
    e, x
        The equations, and the state ``(q, v, W)``.
    c, c_dot
        Residuals of the rows that are solved, and their rates.
    tree, cuts
        Factors of the inertia matrix and of these rows.
    project
        Whether loops are closed; quaternions are corrected and pivots watched in any case.
    """
    if c.numel() == 0 and not has_quaternions(e):
        return None
    project = project and c.numel() > 0
    q, v, W = e.limbs.q, e.limbs.v, x[-1]
    # pivots are watched in any case: a singular pose must not be passed unseen
    residual = ca.vertcat(0, 0, reduce(ca.fmin, cuts.pivots, ca.SX(1)))
    sizes = traced_sizes(e, [e.closure.units[r] for r in cuts.rows])
    cuts = cuts.for_corrections()
    if project:
        dq, dv = (-tree.finish(cuts.solve(split(r))[1]) for r in (c, c_dot))
        q = q + ca.substitute(e.qdot, v, dq)
        v = v + dv
        weights = ca.vertcat(*cuts.counts) / sizes
        residual = ca.vertcat(_largest(weights * c), _largest(weights * c_dot), reduce(ca.fmin, cuts.pivots))
    x_plus = ca.vertcat(normalise(e, q), v, W)
    if has_quaternions(e):
        # lengths first: a Newton step taken with quaternions of another length would be undone in part
        x_plus, residual = ca.substitute([x_plus, residual], [e.limbs.q], [normalise(e, e.limbs.q)])
    return Correction(x_plus, residual)


def split(column: ca.SX) -> list[ca.SX]:
    """The entries of a column."""
    return ca.vertsplit(ca.densify(column)) if column.numel() else []


def _largest(column: ca.SX) -> ca.SX:
    return reduce(ca.fmax, (ca.fabs(x) for x in split(column)))
