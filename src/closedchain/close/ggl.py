"""The stabilised index-2 form: positions and velocities close the loops, both by multipliers of their own.

C. W. Gear, B. Leimkuhler, G. K. Gupta, Journal of Computational and Applied Mathematics 12-13 (1985) 77-90. The motion
obeys the closures in the differentiated and in the original form; a second set of multipliers, mu, makes room for both:

    q' = N(q) u                           1
    v' = a                                2
    0 = tau - h - M a - A' lam            3
    0 = A v + c_t                         4
    0 = M (v - u) - A' mu                 5
    0 = c(q)                              6

In exact arithmetic ``A u + c_t = 0`` follows from (6), hence ``mu = 0`` and ``u = v``. Of an integrator's errors, mu
takes up what would open the loops. Nothing drifts.

The paper has ``q' = v - A' mu``, which adds lengths to angles. Here (5) measures by the inertia matrix, as the
projection of `close.parts.manifold` does: ``u = v - M^-1 A' mu`` is the velocity nearest to v by its kinetic energy.
With a and u as unknowns of their own no matrix is inverted, so that the derivatives of the equations are hardly larger
than the equations; a solver eliminates q and v by hand, as (1) and (2) allow, and what is left are two systems ``[M A';
A 0]``, one for accelerations and one for velocities. That matrix must be regular, not M.

The length of a quaternion is a constraint, too: ``q' = N(q) u + nu q`` and ``0 = |q|^2 - 1`` keep it.

The state is ``x = (q, v, a, lam, u, mu, nu, W)``. Rows (4) and (6) stand in the places of lam and mu, where elimination
makes their diagonals ``A M^-1 A'``. The algebraic unknowns serve the integrator; accelerations and multipliers of
results are those of the index-1 system at the coordinates and velocities. Samples between the steps of an integrator,
which is less exact there, are put back on the closures.

The theory is in ``docs/theory/ggl.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import casadi as ca

from closedchain.close.formulation import Choice, Closed, Formulation, Unknowns
from closedchain.close.multipliers import Multipliers
from closedchain.derive.equations import Equations, derive


@dataclass(frozen=True)
class GGL(Formulation):
    """Multipliers for positions and velocities: a differential-algebraic system of index 2.

    Examples
    --------
    >>> import closedchain as cc
    >>> run = cc.simulate(cc.library.four_bar(), until=1.0, method=cc.GGL(), solver="radau5", rtol=1e-10)
    >>> f"{float(run['O'][-1]):.6f}"
    '2.829418'
    """

    guards: ClassVar[bool] = False
    kind: ClassVar[str] = "index 2"

    def citation(self) -> str:
        """What to cite."""
        return "Gear, Leimkuhler, Gupta (1985), J. Comput. Appl. Math. 12-13, 77-90"

    def close(self, equations: Equations, choice: Choice) -> Closed:
        """Trace the closed system; see the module's docstring for the equations."""
        # what massless bodies need in other methods is not needed here
        e = equations
        if not e.by_limbs:
            e = replace(derive(e.topology.mechanism), closure=e.closure)
        picked = list(choice.rows)
        c, A, c_t = (X[picked, :] for X in (e.closure.c, e.closure.A, e.closure.c_t))
        q, v, W = e.limbs.q, e.limbs.v, ca.SX.sym("W")
        fours = [slice(link.q.stop - 4, link.q.stop) for link in e.topology.links if link.joint.type.has_quaternion]
        a, u = (ca.SX.sym(name, e.topology.nv) for name in ("a", "u"))
        lam, mu = (ca.SX.sym(name, len(picked)) for name in ("lam", "mu"))
        nu = ca.SX.sym("nu", len(fours))

        q_dot = ca.densify(ca.substitute(e.qdot, v, u))
        for k, four in enumerate(fours):
            q_dot[four] += nu[k] * q[four]
        equations_of_z = [
            e.tau - e.h - e.M @ a - A.T @ lam,
            A @ v + c_t,
            e.M @ (v - u) - A.T @ mu,
            c,
            *(ca.sumsqr(q[four]) - 1 for four in fours),
        ]
        z = ca.vertcat(a, lam, u, mu, nu)
        power = e.energies.power + lam.T @ c_t  # prescribed motions do work
        x = ca.vertcat(q, v, z, W)
        dx = ca.densify(ca.vertcat(q_dot, a, *equations_of_z, power))

        index_1 = Multipliers().close(equations, choice)
        correction = index_1.correction
        if correction is not None:
            correction = correction._replace(x_plus=ca.vertcat(correction.x_plus[:-1], z, W))

        # their units
        rates, rows, norms = e.topology.v_units, [e.closure.units[row] for row in picked], len(fours)
        on_v, on_c = ["N" if x == "m/s" else "N m" for x in rates], ["N" if x == "m" else "N m" for x in rows]
        unknowns = [*(f"{x}^2" for x in rates), *on_c, *rates, *(f"{x} s" for x in on_c), *["1/s"] * norms]
        balances = [*on_v, *(f"{x}/s" for x in rows), *(f"{x} s" for x in on_v), *rows, *["1"] * norms]
        return Closed(
            x, dx, q, v, index_1.a, index_1.lam, correction, unknowns=Unknowns(tuple(unknowns), tuple(balances))
        )
