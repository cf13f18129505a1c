"""Lagrange multipliers: the index-1 system solved for accelerations and closing forces.

    M a + h = tau - A' lam
    A a + gamma = s(c, c')

With ``M = L' D L`` limb by limb and ``u = L'^-1 (tau - h)``, the closing forces follow from the small system of the
closures,

    S lam = A M^-1 (tau - h) + gamma - s,    S = A M^-1 A'

and the accelerations from ``a = L^-1 D^-1 (u - L'^-1 A' lam)``; see `close.elimination`. The right-hand side s is
zero for ``stabilise="none"`` and ``"projection"``, and ``-2 alpha c' - beta^2 c`` after Baumgarte (1972), Computer
Methods in Applied Mechanics and Engineering 1, 1-16. Projection puts the state back after each accepted step, with
the inertia matrix as the metric: ``dq = -M^-1 A' (A M^-1 A')^-1 c`` and likewise for the velocities (Lubich 1991;
Eich 1993, SIAM J. Numer. Anal. 30, 1467-1482).

The theory is in ``docs/theory/multipliers.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from closedchain.close.denoc import factor_limbs
from closedchain.close.elimination import ClosureFactor, TreeFactor
from closedchain.close.formulation import Choice, Closed, Formulation, state_symbols
from closedchain.close.manifold import newton_step, split
from closedchain.derive.equations import Equations
from closedchain.errors import ModelError


@dataclass(frozen=True)
class Baumgarte:
    """Closure errors decay as ``c'' + 2 alpha c' + beta^2 c = 0``.

    Alpha and beta are in 1/s; beta defaults to alpha, which is critical damping.
    """

    alpha: float = 10.0
    beta: float | None = None

    def __post_init__(self) -> None:
        rates = (self.alpha, self.alpha if self.beta is None else self.beta)
        if not all(isinstance(x, int | float) and 0 <= x < float("inf") for x in rates):
            raise ModelError(f"Baumgarte needs alpha, beta >= 0, got {self.alpha!r} and {self.beta!r}")


@dataclass(frozen=True)
class Multipliers(Formulation):
    """Index-1 multipliers.

    Attributes
    ----------
    stabilise
        ``"projection"`` (default), ``"none"``, or ``Baumgarte(alpha, beta)``.
    """

    stabilise: str | Baumgarte = "projection"

    def __post_init__(self) -> None:
        if not isinstance(self.stabilise, Baumgarte) and self.stabilise not in ("projection", "none"):
            raise ModelError(
                "Multipliers: stabilise must be 'projection', 'none' or cc.Baumgarte(alpha, beta), "
                f"not {self.stabilise!r}"
            )

    @property
    def drifts(self) -> bool:
        """Unless the state is projected."""
        return self.stabilise != "projection"

    def backward(self) -> Multipliers:
        """Baumgarte's damping turned round."""
        if not isinstance(self.stabilise, Baumgarte):
            return self
        alpha, beta = self.stabilise.alpha, self.stabilise.beta
        turned = Baumgarte(alpha, alpha if beta is None else beta)
        object.__setattr__(turned, "alpha", -alpha)  # which users may not
        return Multipliers(turned)

    def citation(self) -> str:
        """What to cite."""
        if isinstance(self.stabilise, Baumgarte):
            return "Baumgarte (1972), Comput. Methods Appl. Mech. Eng. 1, 1-16"
        if self.stabilise == "projection":
            return "Eich (1993), SIAM J. Numer. Anal. 30, 1467-1482"
        return "Featherstone (2008), Rigid Body Dynamics Algorithms, chapter 8"

    def close(self, equations: Equations, choice: Choice) -> Closed:
        """Trace the closed system; see the module's docstring for the equations."""
        e = equations
        picked = list(choice.rows)
        c, c_t = e.closure.c[picked, :], e.closure.c_t[picked, :]
        c_dot = ca.densify(e.closure.A[picked, :] @ e.limbs.v + c_t)
        tree = factor_limbs(e)
        cuts = ClosureFactor(tree, e.closure, choice.rows, choice.guarded)

        # closing forces balance what the free limbs would do; the limbs then move under both
        u = tree.half(dict(enumerate(ca.vertsplit(e.tau - e.h))))
        lam, reaction = cuts.solve(split(e.closure.gamma[picked, :] - self._stabiliser(c, c_dot)), u)
        a = tree.finish({k: x - reaction[k] if k in reaction else x for k, x in u.items()})

        x = state_symbols(e)
        # prescribed motions do work, lam' c_t; where nothing is put back, so do the closing forces of open loops
        worked = c_t if self.stabilise == "projection" else c_t - c_dot
        power = e.power + (ca.vertcat(*lam).T @ worked if lam else 0)
        dx = ca.vertcat(e.qdot, a, power)
        x_plus, residual = self._correction(e, x, c, c_dot, tree, cuts)
        force = ca.vertcat(ca.SX(0, 1), *lam)
        return Closed(x, dx, e.limbs.q, e.limbs.v, a, force, x_plus, residual)

    def _stabiliser(self, c: ca.SX, c_dot: ca.SX) -> ca.SX:
        if not isinstance(self.stabilise, Baumgarte):
            return ca.SX(c.numel(), 1)
        alpha = self.stabilise.alpha
        beta = alpha if self.stabilise.beta is None else self.stabilise.beta
        return -(2 * alpha * c_dot + beta**2 * c)

    def _correction(
        self, e: Equations, x: ca.SX, c: ca.SX, c_dot: ca.SX, tree: TreeFactor, cuts: ClosureFactor
    ) -> tuple[ca.SX | None, ca.SX | None]:
        """One Newton step of positions and velocities back to the manifold; quaternions to length one."""
        return newton_step(e, x, c, c_dot, tree, cuts, project=self.stabilise == "projection")
