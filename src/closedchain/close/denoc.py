"""Decoupled natural orthogonal complement: Newton-Euler limbs, factored by recursion and closed by multipliers.

J. Angeles and S. K. Lee, Journal of Applied Mechanics 55 (1988) 243-244; S. K. Saha, IEEE Transactions on Robotics and
Automation 13 (1997) 301-304; for closed loops S. K. Saha and W. O. Schiehlen, Mechanics of Structures and Machines 29
(2001) 143-175. The numbers are those of A. Raoofian and others, Modares Mechanical Engineering 17(6) (2017) 377-384:

    M t' = -M' t + w^A + w^G + w^C + w^CS     Newton and Euler for a limb      (2), where the prime of M' is lost
    t = T q',  T = N_l N_d                    twists from joint rates          (4), (6)
    T' w^C = 0                                joints of the limb do no work    (10)
    I q'' + C q' = tau^A + tau^G - A' lam     what is left, in joint rates     (16), (21) with its sign mended
    A = K T                                   closures: c' = K t = A q'        (3), (5)

In the letters of the other files ``I`` is ``M``, ``C q' - tau^G`` is ``h``, and ``lam`` has the sign that they give it.
With ``I = U D U'`` from the recursions of `derive.denoc`,

    S lam = A I^-1 (tau - h) + gamma,  S = A I^-1 A' = (U^-1 A')' D^-1 (U^-1 A')
    q'' = U'^-1 D^-1 U^-1 (tau - h - A' lam)

which are the equations of `close.multipliers` by another road: neither ``I`` nor ``h`` is formed, the cost of a limb
grows with the number of its links and not with its third power, and the state is put back in the same way.

Misprints of the paper that concern these lines: (1) the wrench is [n; f], to pair with [omega; v]; (4) q' holds joint
rates; (15) and (17) have M' in their last term; (13) and (20) have the other sign if c is the stretch and A = dc/dq.

The theory is in ``docs/theory/denoc.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from closedchain.close.formulation import Choice, Closed, Formulation, state_symbols
from closedchain.close.parts.elimination import ClosureFactor, Column, TreeFactor
from closedchain.close.parts.manifold import newton_step, split
from closedchain.derive.denoc import ReverseElimination
from closedchain.derive.equations import Equations
from closedchain.derive.rnea import body_forces
from closedchain.derive.rotors import with_rotors
from closedchain.derive.spatial import Vector6
from closedchain.errors import ModelError

LONG = 10  # freedoms in a row from which the recursion pays


@dataclass(frozen=True)
class DeNOC(Formulation):
    """Decoupled natural orthogonal complement, with the multipliers of the cuts; closed to rounding by projection."""

    by_limbs: ClassVar[bool] = True

    def citation(self) -> str:
        """What to cite."""
        return (
            "Angeles and Lee (1988), J. Appl. Mech. 55, 243-244; "
            "Saha (1997), IEEE Trans. Robot. Autom. 13, 301-304; "
            "Saha and Schiehlen (2001), Mech. Struct. Mach. 29, 143-175"
        )

    def close(self, equations: Equations, choice: Choice) -> Closed:
        """Trace the closed system; see the module's docstring for the equations."""
        e = equations
        picked = list(choice.rows)
        c, c_t = e.closure.c[picked, :], e.closure.c_t[picked, :]
        c_dot = ca.densify(e.closure.A[picked, :] @ e.limbs.v + c_t)
        limbs = LimbFactor(e)
        cuts = ClosureFactor(limbs, e.closure, choice.rows, choice.guarded, choice.redundant)

        # (21): closing forces balance what the free limbs would do; the limbs then move under both
        u = limbs.free()
        lam, reaction = cuts.solve(split(e.closure.gamma[picked, :]), u)
        none = ca.SX(0)  # a limb may feel nothing but the closing forces
        a = limbs.finish({k: u.get(k, none) - reaction.get(k, none) for k in {**u, **reaction}})

        x = state_symbols(e)
        force = ca.vertcat(ca.SX(0, 1), *lam)
        power = e.energies.power + (force.T @ c_t if picked else 0)  # prescribed motions do work
        correction = newton_step(e, x, c, c_dot, limbs, cuts)
        dx = ca.vertcat(e.qdot, a, power)
        return Closed(x, dx, e.limbs.q, e.limbs.v, a, force, correction)


class LimbFactor(TreeFactor):
    """``I = U D U'`` of the limbs by recursion, in the place of the ``L' D L`` of the whole matrix."""

    def __init__(self, equations: Equations) -> None:
        self.equations = e = equations
        self.recursion = ReverseElimination(e.limbs, e.measures)
        self.n, self.d_inv = self.recursion.n, self.recursion.d_inv
        for m_hat, label in zip(self.recursion.m_hat, e.topology.v_labels, strict=True):
            if m_hat.is_zero():
                raise ModelError(
                    f"joint velocity {label!r} has no inertia of its own limb, which the recursions of the natural "
                    "orthogonal complement divide by: give the body a mass or a moment of inertia, or use "
                    "cc.Multipliers()"
                )

    def half(self, b: Column) -> Column:
        """``U^-1 b``."""
        return self.recursion.half(b)

    def free(self, w: Mapping[int, Vector6] | None = None, b: Mapping[int, ca.SX] | None = None) -> Column:
        """``U^-1 (tau - h + T' w + b)``: Newton and Euler, with further wrenches on links and forces on joints.

        All wrenches go towards the ground in one pass, so that ``h`` is never formed.
        """
        e = self.equations
        wrenches = {i: -f for i, f in enumerate(body_forces(e.limbs, e.motion, e.applied.wrenches))}
        for i, more in (w or {}).items():
            wrenches[i] = wrenches[i] + more
        # rotors on cut joints have a bias, too
        bias = with_rotors(e.measures, ca.SX(self.n, self.n), ca.SX.zeros(self.n, 1))[1]
        tau = ca.sparsify(e.tau - bias)
        forces = {k: ca.SX(tau[k]) for k in range(self.n) if tau[k].nnz()}
        for k, force in (b or {}).items():
            forces[k] = forces[k] + force if k in forces else force
        return self.recursion.half(forces, wrenches)

    def finish(self, y: Column) -> ca.SX:
        """``U'^-1 D^-1 y``."""
        return self.recursion.finish(y)


def factor_limbs(equations: Equations) -> TreeFactor:
    """The cheaper factor of the inertia matrix: ``L' D L`` of short limbs, the recursion for long ones.

    Operations of the first grow with the square of a limb's length or more, of the second linearly; they are equal at
    some six planar or twelve spatial freedoms in a row.
    """
    e = equations
    links = e.topology.links
    own = [link.joint.type.nv + link.shapes for link in links]
    paths = [sum(own[i] for i in e.topology.path(link.index)) for link in links]
    return LimbFactor(e) if e.by_limbs and max(paths, default=0) > LONG else TreeFactor(e.M)


def minimal_order(equations: Equations, rows: Sequence[int], independent: Sequence[int]) -> tuple[ca.SX, ca.SX]:
    """The equations in independent joint rates alone, ``I nu' = phi``: multipliers eliminated.

    Joint accelerations that keep the cuts closed are ``q'' = L nu' + l`` with ``A L = 0`` and ``A l = -gamma``, so that
    ``L'`` takes ``A' lam`` away (Saha and Schiehlen): ``I = L' M L`` and ``phi = L' (tau - h - M l)``.

    Parameters
    ----------
    equations
        Of the cut mechanism.
    rows
        Independent closure rows.
    independent
        Numbers of the velocities to keep, as many as there are freedoms; the others must follow from them.

    Returns
    -------
    Inertia matrix as felt at the independent joints, and the forces there.
    """
    e, n = equations, equations.topology.nv
    dependent = [k for k in range(n) if k not in set(independent)]
    if len(dependent) != len(rows) or len(set(independent)) != len(independent):
        raise ModelError(
            f"{len(rows)} closures leave {n - len(rows)} independent velocities, but {len(independent)} are named"
        )
    A, gamma = e.closure.A[list(rows), :], e.closure.gamma[list(rows), :]
    L, drift = ca.SX(n, len(independent)), ca.SX.zeros(n, 1)
    L[list(independent), :] = ca.SX.eye(len(independent))
    if dependent:
        follow = ca.solve(A[:, dependent], ca.horzcat(A[:, list(independent)], gamma))
        L[dependent, :] = -follow[:, :-1]
        drift[dependent] = -follow[:, -1]
    return ca.densify(L.T @ e.M @ L), ca.densify(L.T @ (e.tau - e.h - e.M @ drift))
