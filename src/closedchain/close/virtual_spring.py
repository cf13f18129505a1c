"""Virtual springs (Wang, Gosselin and Cheng 2002, Multibody System Dynamics 7, 145-170).

Each cut is closed by a spring and a damper instead of a multiplier. With Delta the vector from one side of the cut to
the other (13), (34), our c, the equations (15) of the four-bar and (38) to (43) of the platform read

    M a + h = tau - A' lam,    lam = k c + b c',    A = dDelta/dq

The inertia matrix is block diagonal, (17) and (39): given lam, the limbs are independent of each other, each is solved
alone, and may be computed elsewhere. The error falls with 1/k; the highest frequency, and with it the number of steps
of an explicit solver, grows with sqrt(k). `choose_stiffness` measures both.

Misprints of the paper that concern these lines: (3) and (4) must have the vectors [r 0] and [l 0]; (8) lacks m_3; (40)
is transposed and runs over all 24 coordinates.

The theory is in ``docs/theory/virtual_spring.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from closedchain.close.formulation import Choice, Closed, state_symbols
from closedchain.close.parts.elimination import TreeFactor
from closedchain.close.parts.springs import SpringFormulation, quaternions_only
from closedchain.derive.equations import Equations


@dataclass(frozen=True)
class VirtualSpring(SpringFormulation):
    """Springs at the cuts.

    Attributes
    ----------
    stiffness
        k > 0: one number for all closure rows (N/m for lengths, N m/rad for angles), or a mapping by joint
        (``{"B": 1e6}``) or by row (``{"B x": 1e6}``); a row's own number goes before its joint's.
    damping
        b >= 0, N s/m or N m s/rad, in the same ways; what a mapping leaves out has none.

    Examples
    --------
    >>> import closedchain as cc
    >>> run = cc.simulate(cc.library.four_bar(), until=0.1, method=cc.VirtualSpring(1e6, 1e3), rtol=1e-9)
    >>> bool(1e-7 < run.closure_error.max() < 1e-4)
    True
    """

    def citation(self) -> str:
        """What to cite."""
        return (
            "Wang, Gosselin, Cheng (2002), Modeling and simulation of robotic systems with closed kinematic chains "
            "using the virtual spring approach, Multibody System Dynamics 7, 145-170"
        )

    def close(self, equations: Equations, choice: Choice) -> Closed:
        """Trace the closed system; see the module's docstring for the equations."""
        e = equations
        picked = list(choice.rows)
        A, c_t = e.closure.A[picked, :], e.closure.c_t[picked, :]
        springs = self.springs(e, choice.rows, ca.densify(A @ e.limbs.v + c_t))

        # each limb by itself
        tree = TreeFactor(e.M)
        force = ca.densify(e.tau - e.h - A.T @ springs.lam)
        a = tree.finish(tree.half(dict(enumerate(ca.vertsplit(force)))))

        x = state_symbols(e)
        # what the springs store is energy; what moves with the time does work, and the dampers take some
        power = e.energies.power + springs.lam.T @ c_t - springs.loss
        correction = quaternions_only(e, x, e.limbs.v)
        dx = ca.vertcat(e.qdot, a, power)
        return Closed(
            x, dx, e.limbs.q, e.limbs.v, a, springs.lam, correction,
            stored=springs.stored, parameters=springs.parameters,
        )  # fmt: skip
