"""Lagrange multipliers: the index-1 system solved for accelerations and closing forces.

    M a + h = tau - A' lam
    A a + gamma = s(c, c')

With ``M = L' D L`` limb by limb and ``u = L'^-1 (tau - h)``, the closing forces follow from the small system of the
closures,

    S lam = A M^-1 (tau - h) + gamma - s,    S = A M^-1 A'

and the accelerations from ``a = L^-1 D^-1 (u - L'^-1 A' lam)``; see `close.parts.elimination`. The right-hand side s is
zero for ``stabilise="none"`` and ``"projection"``, and ``-2 alpha c' - beta^2 c`` after Baumgarte (1972), Computer
Methods in Applied Mechanics and Engineering 1, 1-16. Projection puts the state back after each accepted step, with
the inertia matrix as the metric: ``dq = -M^-1 A' (A M^-1 A')^-1 c`` and likewise for the velocities (Lubich 1991;
Eich 1993, SIAM J. Numer. Anal. 30, 1467-1482).

The theory is in ``docs/theory/multipliers.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from closedchain.arguments import not_negative
from closedchain.close.denoc import factor_limbs
from closedchain.close.formulation import Choice, Closed, Correction, Formulation, state_symbols
from closedchain.close.parts.elimination import ClosureFactor, TreeFactor
from closedchain.close.parts.manifold import newton_step, split
from closedchain.derive.equations import Equations
from closedchain.errors import ModelError


@dataclass(frozen=True)
class Baumgarte:
    """Closure errors decay as ``c'' + 2 alpha c' + beta^2 c = 0``.

    Alpha and beta are in 1/s; beta defaults to alpha, which is critical damping. Without alpha both are derived from
    the steps of the run, and so from its tolerance: ``alpha = 0.05 / h``, renewed on the way when h has changed by more
    than a factor of three (`march.stabilisation`).
    """

    alpha: float | None = None
    beta: float | None = None

    def __post_init__(self) -> None:
        if self.alpha is None and self.beta is not None:
            raise ModelError(f"Baumgarte: beta = {self.beta!r} needs alpha, too")
        for name, rate in (("alpha", self.alpha), ("beta", self.beta)):
            if rate is not None:
                not_negative(f"Baumgarte: {name}", rate)

    @property
    def rates(self) -> tuple[float, float]:
        """Alpha and beta; zero where they are derived from steps."""
        alpha = 0.0 if self.alpha is None else self.alpha
        return alpha, alpha if self.beta is None else self.beta


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

    @property
    def unstabilised(self) -> bool:
        """Where neither gains nor projections call errors back."""
        return self.stabilise == "none"

    @property
    def family(self) -> object:
        """Gains are numbers of the method: others compile nothing."""
        return (type(self), "Baumgarte" if isinstance(self.stabilise, Baumgarte) else self.stabilise)

    def numbers(self, equations: Equations, choice: Choice) -> list[float]:
        """Alpha and beta."""
        return list(self.stabilise.rates) if isinstance(self.stabilise, Baumgarte) else []

    @property
    def decays(self) -> tuple[int, ...]:
        """Alpha; beta is squared."""
        return (0,) if isinstance(self.stabilise, Baumgarte) else ()

    @property
    def follows_steps(self) -> bool:
        """Where no gains are given."""
        return isinstance(self.stabilise, Baumgarte) and self.stabilise.alpha is None

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
        gains = ca.SX.sym("gains", 2 if isinstance(self.stabilise, Baumgarte) else 0)
        c, c_t = e.closure.c[picked, :], e.closure.c_t[picked, :]
        c_dot = ca.densify(e.closure.A[picked, :] @ e.limbs.v + c_t)
        tree = factor_limbs(e)
        cuts = ClosureFactor(tree, e.closure, choice.rows, choice.guarded, choice.redundant)

        # closing forces balance what the free limbs would do; the limbs then move under both
        u = tree.half(dict(enumerate(ca.vertsplit(e.tau - e.h))))
        stabiliser = -(2 * gains[0] * c_dot + gains[1] ** 2 * c) if gains.numel() else ca.SX(c.numel(), 1)
        lam, reaction = cuts.solve(split(e.closure.gamma[picked, :] - stabiliser), u)
        a = tree.finish({k: x - reaction[k] if k in reaction else x for k, x in u.items()})

        x = state_symbols(e)
        # prescribed motions do work, lam' c_t; where nothing is put back, so do the closing forces of open loops
        worked = c_t if self.stabilise == "projection" else c_t - c_dot
        power = e.energies.power + (ca.vertcat(*lam).T @ worked if lam else 0)
        dx = ca.vertcat(e.qdot, a, power)
        correction = self._correction(e, x, c, c_dot, tree, cuts)
        force = ca.vertcat(ca.SX(0, 1), *lam)
        return Closed(x, dx, e.limbs.q, e.limbs.v, a, force, correction, parameters=gains)

    def _correction(
        self, e: Equations, x: ca.SX, c: ca.SX, c_dot: ca.SX, tree: TreeFactor, cuts: ClosureFactor
    ) -> Correction | None:
        """One Newton step of positions and velocities back to the manifold; quaternions to length one."""
        return newton_step(e, x, c, c_dot, tree, cuts, project=self.stabilise == "projection")
