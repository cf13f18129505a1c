"""The index-3 system, which only a solver for differential-algebraic equations can march.

    M a + h = tau - A' lam
    c(t, q) = 0,    q' = N(q) v

Nothing is differentiated: the closures themselves are equations of every step, for which `march.program.index3` traces
them and `integrate.methods.generalised_alpha` solves them (Bruels, Cardona, Arnold 2012, Mechanism and Machine Theory
48, 121-137). What is asked for at a single state (accelerations and closing forces of results, rates between steps)
comes from the index-1 system of `close.multipliers`, and so does the step that puts a sample between two steps on the
closures.

The theory is in ``docs/theory/generalised_alpha.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import casadi as ca

from closedchain.arguments import between
from closedchain.close.formulation import Choice, Closed, Formulation
from closedchain.close.multipliers import Multipliers
from closedchain.derive.equations import Equations


@dataclass(frozen=True)
class Index3(Formulation):
    """Closures solved in every step of the generalised-alpha method, which has a fixed step.

    Attributes
    ----------
    rho
        0 <= rho < 1: what a step leaves of a motion much faster than itself. Smaller numbers calm down sooner, larger
        ones take less from the motion that is wanted. With 1, errors of the closing forces would never fade.

    Examples
    --------
    >>> import closedchain as cc
    >>> m = cc.library.four_bar()
    >>> solver = cc.solvers.GeneralisedAlpha(step=1e-3)
    >>> run = cc.simulate(m, until=0.2, method=cc.Index3(), solver=solver, rtol=1e-6)
    >>> bool(run.closure_error.max() < 1e-13)
    True
    """

    rho: float = 0.8

    guards: ClassVar[bool] = False
    kind: ClassVar[str] = "index 3"

    def __post_init__(self) -> None:
        between("Index3: rho", self.rho, 0, 1, below=True)

    @property
    def family(self) -> object:
        """All rho share their compiled equations."""
        return Index3()

    def numbers(self, equations: Equations, choice: Choice) -> list[float]:
        """Rho alone."""
        return [float(self.rho)]

    def citation(self) -> str:
        """What to cite."""
        return (
            "Bruels, Cardona, Arnold (2012), Lie group generalized-alpha time integration of constrained flexible "
            "multibody systems, Mechanism and Machine Theory 48, 121-137"
        )

    def close(self, equations: Equations, choice: Choice) -> Closed:
        """Trace the index-1 system of the same closures; the step itself is traced by `march.program.index3`."""
        return replace(Multipliers().close(equations, choice), parameters=ca.SX.sym("rho"))


def coefficients(rho: float | ca.SX) -> tuple:
    """``alpha_m, alpha_f, beta, gamma`` from the spectral radius at infinite frequency.

    Chung, Hulbert (1993), Journal of Applied Mechanics 60, 371-375: of all methods of this form and order 2 that are
    stable at any step, these have the least damping at low frequencies for a given rho, a number or traced.
    """
    alpha_m, alpha_f = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    gamma = 0.5 - alpha_m + alpha_f
    return alpha_m, alpha_f, (1 - alpha_m + alpha_f) ** 2 / 4, gamma
