"""Projection on the feasible motions (Khan and Krovi, Method B, after Yun and Sarkar 1998).

Letters are those of the paper but for its q', which is our v, and its gamma, which is our a_0. The closures are
required to converge (11), (12)::

    c' = -sigma c                                        A v + c_t = -sigma c

The velocities that satisfy this are ``v = S nu + eta`` (13), with nu a subset of v, chosen by pivoting. The state is
``(q, nu)``, 2 n - m numbers (17), (21)::

    q'  = N(q) (S nu + eta)
    nu' = (S' M S)^-1 S' (tau - h - M a_0)

where ``a_0`` (14) makes the closures accelerate as they must, ``A a_0 + gamma = sigma^2 c``: the derivative of (12)
along the motion. Multipliers are not needed, but follow. With sigma = 0 nothing calls errors back.

Misprints: (16) has + S' f for - S' f, (17) is right; eta solves (12), not (11); the left side of (21) is [q'; nu'].

The theory is in ``docs/theory/projection.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from closedchain.arguments import not_negative
from closedchain.close.formulation import Choice, Closed, Correction, Formulation, Sums, normalise
from closedchain.close.parts.feasible import FeasibleMotions
from closedchain.derive.equations import Equations


@dataclass(frozen=True)
class Projection(Formulation):
    """Projection on the feasible motions, with first-order stabilisation.

    Attributes
    ----------
    sigma
        Rate at which closure errors decay, 1/s; 0 lets them drift.
    """

    sigma: float = 10.0

    chooses: ClassVar[str | None] = "velocities"
    guards: ClassVar[bool] = False

    def __post_init__(self) -> None:
        not_negative("Projection: the rate sigma", self.sigma, "in 1/s")

    @property
    def family(self) -> object:
        """All rates are compiled as one, but zero."""
        return type(self), self.sigma == 0

    @property
    def drifts(self) -> bool:
        """By about the integration error, pulled back at the rate sigma."""
        return True

    def numbers(self, equations: Equations, choice: Choice) -> list[float]:
        """The rate."""
        return [self.sigma] if self.sigma else []

    @property
    def decays(self) -> tuple[int, ...]:
        """The rate."""
        return (0,) if self.sigma else ()

    def citation(self) -> str:
        """What to cite."""
        return (
            "Khan, Krovi: Comparison of two alternate methods for distributed forward dynamic simulation of a four-bar "
            "linkage; Yun, Sarkar (1998), Unified formulation of robotic systems with holonomic and nonholonomic "
            "constraints, IEEE Trans. Robot. Autom. 14(4), 640-650"
        )

    def close(self, equations: Equations, choice: Choice) -> Closed:
        """Trace the closed system; see the module's docstring for the equations."""
        return self._close(equations, choice, None)

    def close_with(self, sums: Sums, equations: Equations, choice: Choice) -> Closed:
        """The same, with ``S' M S`` and the forces on nu as sums over limbs."""
        return self._close(equations, choice, sums)

    def _close(self, e: Equations, choice: Choice, sums: Sums | None) -> Closed:
        motions = FeasibleMotions(e, choice.pivots)
        nu = ca.SX.sym("nu", len(motions.independent))
        x = ca.vertcat(e.limbs.q, nu, ca.SX.sym("W"))

        sigma = ca.SX.sym("sigma") if self.sigma else ca.SX(0)

        # the closures converge (11): c' = -sigma c, so that c'' = sigma^2 c
        v = motions.velocities(nu, sigma * e.closure.c)
        bias = e.closure.gamma - sigma**2 * e.closure.c
        force = e.tau - e.h
        nu_dot, a = motions.accelerations(force, bias, sums)
        lam = motions.multipliers(force, a)

        # prescribed motions do work, and so does the force that pulls a loop together: lam' (c_t - c')
        rows = sorted(motions.rows)
        power = e.energies.power + (lam.T @ (e.closure.c_t + sigma * e.closure.c)[rows, :] if rows else 0)
        # everything so far is a function of v; the state knows nu
        qdot, nu_dot, a, lam, power = ca.substitute([e.qdot, nu_dot, a, lam, power], [e.limbs.v], [v])
        if sums is not None:
            sums.parts = ca.substitute(sums.parts, [e.limbs.v], [v])
        return Closed(
            x,
            ca.vertcat(qdot, nu_dot, power),
            e.limbs.q,
            v,
            a,
            lam,
            # a step ends with quaternions of length one; closures are not touched, only the choice is watched
            Correction(ca.vertcat(normalise(e, e.limbs.q), nu, x[-1]), ca.vertcat(0, 0, motions.health)),
            parameters=sigma if self.sigma else ca.SX(0, 1),
            velocities=tuple(motions.independent),
        )
