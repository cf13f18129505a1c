"""Modified decoupled natural orthogonal complement: virtual springs in the place of multipliers.

A. Raoofian, A. Taghvaeipour and A. Kamali Eigoli, Modares Mechanical Engineering 17(6) (2017) 377-384. The limbs are
those of `close.denoc`. At each cut springs pull the two sides together, and their wrenches act on the bodies like any
others:

    lam = K_s c + b c'                               forces of the springs; the paper has b = 0
    w^CS = -K' lam                                   wrenches on the bodies: (13), with c' = K t from (3)
    I q'' + C q' = tau^A + tau^G + T' w^CS           (16), (18); T' w^CS = -A' lam, (20)

The paper prints (13) and (20) with the other sign: with c the stretch of the springs and A = dc/dq they would push. Its
second recursion is the first one here as well: ``T' w`` is gathered on the way from the tips to the ground, on which
``I`` is factored. Rates of the cuts are ``c' = K t`` (5); neither the Jacobian A nor its rate is needed.

The springs must measure real lengths, says the paper, and so they do: translational rows of a closure are metres along
fixed directions, or along the axes of the first frame for slides; rotational rows are radians for small angles. So a
stiffness is in N/m or N m/rad.

Nothing is projected: c is the stretch that carries the load. Errors fall with 1/K_s, steps with 1/sqrt(K_s). Without
damping the springs ring, and ``K_s c`` is the reaction only in the mean.

The theory is in ``docs/theory/denoc.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from closedchain.close.denoc import LimbFactor
from closedchain.close.formulation import Choice, Closed, state_symbols
from closedchain.close.parts.springs import SpringFormulation, quaternions_only
from closedchain.derive.equations import Equations
from closedchain.derive.spatial import Vector6


@dataclass(frozen=True)
class ModifiedDeNOC(SpringFormulation):
    """Virtual springs between limbs that are factored by the decoupled natural orthogonal complement.

    Attributes
    ----------
    stiffness, damping
        As for `VirtualSpring`; the paper has no damping.

    Examples
    --------
    >>> import closedchain as cc
    >>> spring = cc.ModifiedDeNOC(1e4, damping=30.0)
    >>> run = cc.simulate(cc.library.slider_crank(), until=0.1, method=spring, rtol=1e-5)
    >>> float(run.closure_error.max()) < 1e-2
    True
    """

    def citation(self) -> str:
        """What to cite."""
        return "Raoofian, Taghvaeipour and Kamali Eigoli (2017), Modares Mech. Eng. 17(6), 377-384"

    def close(self, equations: Equations, choice: Choice) -> Closed:
        """Trace the closed system."""
        e, rows = equations, choice.rows
        c_t = e.closure.c_t[list(rows), :]
        springs = self.springs(e, rows, row_rates(e, rows) + c_t)

        limbs = LimbFactor(e)
        w, b = spring_wrenches(e, rows, springs.lam)
        a = limbs.finish(limbs.free(w, b))

        x = state_symbols(e)
        power = e.energies.power + springs.lam.T @ c_t - springs.loss
        correction = quaternions_only(e, x, e.limbs.v)
        dx = ca.vertcat(e.qdot, a, power)
        return Closed(
            x, dx, e.limbs.q, e.limbs.v, a, springs.lam, correction,
            stored=springs.stored, parameters=springs.parameters,
        )  # fmt: skip


def row_rates(e: Equations, rows: tuple[int, ...]) -> ca.SX:
    """``K t``, from the twists of the bodies (5); ``A q'`` for rows that are not given by twists."""
    rates = []
    for r in rows:
        sides = e.closure.sides[r]
        rate = ca.SX(0) if sides else e.closure.A[r, :] @ e.limbs.v
        for link, C in sides.items():
            t, R = e.motion.twist[link], e.motion.X[link].R
            rate += C[0, :3] @ ca.sparsify(R @ t.ang) + C[0, 3:6] @ ca.sparsify(R @ t.lin)
            if t.shape is not None:
                rate += C[0, 6:] @ t.shape
        rates.append(ca.densify(rate))
    return ca.vertcat(ca.SX(0, 1), *rates)


def spring_wrenches(e: Equations, rows: tuple[int, ...], lam: ca.SX) -> tuple[dict[int, Vector6], dict[int, ca.SX]]:
    """``-K' lam`` on the links, in their own frames; and ``-A' lam`` of rows that are not given by twists."""
    world: dict[int, ca.SX] = {}
    b: dict[int, ca.SX] = {}
    for i, r in enumerate(rows):
        for link, C in e.closure.sides[r].items():
            world[link] = ca.sparsify(world.get(link, ca.SX(C.shape[1], 1)) - C.T * lam[i])
        if not e.closure.sides[r]:
            A = e.closure.A[r, :]
            for k in (k for k in range(A.numel()) if A[0, k].nnz()):
                force = -A[0, k] * lam[i]
                b[k] = b[k] + force if k in b else force
    return {i: Vector6.split(f).turned(e.motion.X[i].R.T) for i, f in world.items()}, b
