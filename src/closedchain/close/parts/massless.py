"""Bodies without mass that only their loop holds: equations whose inertia matrix has been made regular.

A rod without mass at the end of a limb leaves ``M`` singular, although the closed mechanism moves as it must:
``[M A'; A 0]`` is regular as soon as no motion that the closures allow is free of inertia. Accelerations satisfy
``A a + gamma = 0``, so any multiple of ``A' (A a + gamma)`` may be added to the equations of motion:

    (M + A' W A) a + (h + A' W gamma) = tau - A' lam

has the same ``a`` and the same ``lam`` for any positive weights W, and a regular matrix on the left. What is built on
``M, h, c, A, gamma`` needs no other change; limbs that meet at a cut are no longer independent of each other, which
costs operations, and only mechanisms that need it pay. It is the augmented Lagrangian of optimisation in one step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca

from closedchain.derive.equations import Equations
from closedchain.derive.size import traced_length


def fortify(equations: Equations, rows: Sequence[int]) -> Equations:
    """The same equations with the closures ``rows`` added to the inertia matrix, weighted by the mass in motion."""
    e = equations
    weight = sum((traced.inertia.m for traced in e.limbs.links), ca.SX(0))
    A, gamma = e.closure.A[list(rows), :], e.closure.gamma[list(rows), :]
    # an angle weighs as much as what it moves at the end of the mechanism's length
    arm = ca.vertcat(ca.SX(0, 1), *(ca.SX(1) if e.closure.units[r] == "m" else traced_length(e) for r in rows))
    A, gamma = ca.sparsify(ca.diag(arm) @ A), arm * gamma
    M = ca.sparsify(e.M + weight * (A.T @ A))
    return replace(e, M=M, h=e.h + ca.densify(weight * (A.T @ gamma)), by_limbs=False)
