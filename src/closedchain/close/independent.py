"""Independent coordinates: the position closure is solved inside every evaluation, to machine precision.

The closed-form kinematic solution approach (Kecskemethy, Krupp and Hiller 1997; Wang et al. 2002, section 3.1.2,
compare with it), made general: where a four-bar's loop has formulas, any loop is solved by Newton steps for its
dependent coordinates,

    q_D <- q_D - A_D^-1 c(q)

Khan and Krovi, section 3, name it among the ways to integrate the projected equations: 2 (n - m) first-order equations,
with the position problem solved at each step. The motion is determined by ``(y, y')``, with y a subset of the
coordinates, chosen by pivoting. Velocities and accelerations are then linear (see `close.parts.feasible`)::

    v = S y' + eta,      S' M S y'' = S' (tau - h - M a_0),      A a_0 + gamma = 0

The dependent coordinates travel with the state, with their velocities as rates. They are a prediction, from which
Newton's method begins near the solution and on the branch on which the run began; every accepted step renews them, and
no error of them reaches y. Between steps they are interpolated as the others are.

A quaternion is one coordinate with three velocities. It is all independent or all dependent where that is possible;
where not, its independent velocities turn it, and Newton steps along the others.

The theory is in ``docs/theory/independent.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

import casadi as ca

from closedchain.close.formulation import Choice, Closed, Correction, Formulation, normalise
from closedchain.close.parts.feasible import FeasibleMotions
from closedchain.derive.equations import Equations
from closedchain.derive.size import traced_sizes


@dataclass(frozen=True)
class IndependentCoordinates(Formulation):
    """As many coordinates as freedoms; the others are solved for in every evaluation."""

    chooses: ClassVar[str | None] = "coordinates"
    guards: ClassVar[bool] = False

    def citation(self) -> str:
        """What to cite."""
        return (
            "Kecskemethy, Krupp, Hiller (1997), Symbolic processing of multiloop mechanism dynamics using closed-form "
            "kinematic solutions, Multibody System Dynamics 1(1), 23-45"
        )

    def close(self, equations: Equations, choice: Choice) -> Closed:
        """Trace the closed system at solved positions, and the Newton step that solves them."""
        e = equations
        motions = FeasibleMotions(e, choice.pivots)
        y_dot = ca.SX.sym("y_dot", len(motions.independent))
        x = ca.vertcat(e.limbs.q, y_dot, ca.SX.sym("W"))

        # the loops are closed and stay so: c' = 0, c'' = 0
        v = motions.velocities(y_dot, ca.SX(len(e.closure), 1))
        force = e.tau - e.h
        y_ddot, a = motions.accelerations(force, e.closure.gamma)
        lam = motions.multipliers(force, a)

        # prescribed motions do work
        rows = sorted(motions.rows)
        power = e.energies.power + (lam.T @ e.closure.c_t[rows, :] if rows else 0)
        # everything so far is a function of v; the state knows y'
        qdot, y_ddot, a, lam, power = ca.substitute([e.qdot, y_ddot, a, lam, power], [e.limbs.v], [v])

        # the Newton step moves dependent coordinates only
        dq = ca.densify(-motions.dependent(ca.sparsify(e.closure.c)))
        moved = normalise(e, e.limbs.q + ca.substitute(e.qdot, e.limbs.v, dq))
        for counter in e.topology.counters:  # turns of cut joints are counted, not closed
            moved[counter.q] = e.limbs.q[counter.q]
        sizes = traced_sizes(e, [e.closure.units[row] for row in rows])
        c = ca.vertsplit(ca.densify(e.closure.c[rows, :] / sizes)) if rows else []
        error = reduce(ca.fmax, (ca.fabs(r) for r in c), ca.SX(0))
        return Closed(
            x,
            ca.vertcat(qdot, y_ddot, power),
            e.limbs.q,
            v,
            a,
            lam,
            Correction(ca.vertcat(moved, y_dot, x[-1]), ca.vertcat(error, 0, motions.health)),
            velocities=tuple(motions.independent),
            solved_first=bool(rows),
        )
