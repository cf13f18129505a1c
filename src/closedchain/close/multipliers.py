"""Lagrange multipliers: the index-1 system solved for accelerations and closing forces.

    M a + h = tau - A' lam
    A a + gamma = s(c, c')

With ``M = L' D L`` limb by limb and ``Y = L'^-1 A'``, the closing forces follow from the small system of the closures,

    (Y' D^-1 Y) lam = Y' D^-1 L'^-1 (tau - h) + gamma - s

and the accelerations from ``a = L^-1 D^-1 (L'^-1 (tau - h) - Y lam)``. The right-hand side s is zero for
``stabilise="none"`` and ``"projection"``, and ``-2 alpha c' - beta^2 c`` after Baumgarte (1972), Computer Methods in Applied
Mechanics and Engineering 1, 1-16. Projection puts the state back after each accepted step, with the inertia matrix
as the metric: ``dq = -M^-1 A' (A M^-1 A')^-1 c`` and likewise for the velocities (Lubich 1991; Eich 1993, SIAM J. Numer.
Anal. 30, 1467-1482).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import casadi as ca

from closedchain.close.elimination import SparseFactor, TreeFactor, columns_of_transpose
from closedchain.close.formulation import Closed, has_quaternions, normalise, state_symbols
from closedchain.derive.equations import Equations
from closedchain.errors import ModelError


@dataclass(frozen=True)
class Baumgarte:
    """Closure errors decay as ``c'' + 2 alpha c' + beta^2 c = 0``; alpha and beta in 1/s, equal for critical damping."""

    alpha: float = 10.0
    beta: float | None = None

    def __post_init__(self) -> None:
        if self.alpha < 0 or (self.beta is not None and self.beta < 0):
            raise ModelError(f"Baumgarte needs alpha, beta >= 0, got {self.alpha:g} and {self.beta}")


@dataclass(frozen=True)
class Multipliers:
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
                f"Multipliers: stabilise must be 'projection', 'none' or cc.Baumgarte(alpha, beta), not {self.stabilise!r}"
            )

    def citation(self) -> str:
        """What to cite."""
        if isinstance(self.stabilise, Baumgarte):
            return "Baumgarte (1972), Comput. Methods Appl. Mech. Eng. 1, 1-16"
        if self.stabilise == "projection":
            return "Eich (1993), SIAM J. Numer. Anal. 30, 1467-1482"
        return "Featherstone (2008), Rigid Body Dynamics Algorithms, chapter 8"

    def close(self, equations: Equations, rows: tuple[int, ...]) -> Closed:
        """Trace the closed system; see the module's docstring for the equations."""
        e = equations
        picked = list(rows)
        c, A, gamma = e.closure.c[picked], e.closure.A[picked, :], e.closure.gamma[picked]
        c_dot = ca.densify(A @ e.limbs.v)

        # the two factorisations
        factor = TreeFactor(e.M)
        Y = [factor.half(column) for column in columns_of_transpose(A)]
        S = SparseFactor(_gram(Y, factor.d_inv), len(Y))

        # accelerations and multipliers
        u = factor.half(dict(enumerate(ca.vertsplit(e.tau - e.h))))
        s = 0
        if isinstance(self.stabilise, Baumgarte):
            beta = self.stabilise.alpha if self.stabilise.beta is None else self.stabilise.beta
            s = -(2 * self.stabilise.alpha * c_dot + beta**2 * c)
        free = [_sum(y_k * factor.d_inv[k] * u[k] for k, y_k in y.items()) for y in Y]
        lam = S.solve([f + g for f, g in zip(free, _split(gamma - s), strict=True)])
        for y, force in zip(Y, lam, strict=True):
            for k, y_k in y.items():
                u[k] = u[k] - y_k * force
        a = ca.vertcat(*factor.finish(u))

        x = state_symbols(e)
        dx = ca.vertcat(e.qdot, a, e.power)
        x_plus, residual = self._correction(e, x, c, c_dot, factor, Y, S)
        return Closed(x, dx, e.limbs.q, e.limbs.v, a, ca.vertcat(ca.SX(0, 1), *lam), x_plus, residual)

    def _correction(self, e, x, c, c_dot, factor, Y, S):
        """One Newton step of positions and velocities back to the manifold; quaternions to length one."""
        project = self.stabilise == "projection" and len(Y) > 0
        if not project and not has_quaternions(e):
            return None, None
        q, v, W = e.limbs.q, e.limbs.v, x[-1]
        residual = ca.SX.zeros(2, 1)
        if project:
            dq, dv = (_least_change(r, factor, Y, S) for r in (c, c_dot))
            q = q + ca.substitute(e.qdot, v, dq)
            v = v + dv
            residual = ca.vertcat(_largest(c), _largest(c_dot))
        return ca.vertcat(normalise(e, q), v, W), residual


def _least_change(r, factor, Y, S) -> ca.SX:
    """``-M^-1 A' (A M^-1 A')^-1 r``."""
    force = S.solve(_split(r))
    y: dict[int, ca.SX] = {}
    for column, f in zip(Y, force, strict=True):
        for k, y_k in column.items():
            y[k] = y[k] - y_k * f if k in y else -y_k * f
    return ca.vertcat(*factor.finish(y))


def _gram(Y, d_inv) -> dict[tuple[int, int], ca.SX]:
    """``Y' D^-1 Y``, lower triangle, where two columns meet."""
    out: dict[tuple[int, int], ca.SX] = {}
    for i, left in enumerate(Y):
        scaled = {k: value * d_inv[k] for k, value in left.items()}
        for j in range(i + 1):
            common = [k for k in scaled if k in Y[j]]
            if common:
                out[i, j] = _sum(scaled[k] * Y[j][k] for k in common)
    return out


def _sum(terms) -> ca.SX:
    return reduce(lambda a, b: a + b, terms, ca.SX(0))


def _split(column: ca.SX) -> list[ca.SX]:
    return ca.vertsplit(ca.densify(column)) if column.numel() else []


def _largest(column: ca.SX) -> ca.SX:
    return reduce(ca.fmax, (ca.fabs(x) for x in _split(column)))
