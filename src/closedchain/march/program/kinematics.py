"""The rates of a program's coordinates as a native function of their own: ``q' = r(t, x)``.

A solver that moves coordinates with velocities other than those of the state (`integrate.methods.semi_implicit_euler`)
needs q' without the accelerations, which cost nearly all of the right-hand side. With all velocities in the state it is
``q' = N(q) v``, one multiplication for each quaternion's entry and none elsewhere; with independent ones it contains
the solution for the others.

The theory is in ``docs/theory/fixed_step.md``.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from closedchain.lock import locked
from closedchain.march.program.compiled import Compiled
from closedchain.native import compile_function
from closedchain.native.partial import WithNumbers


class Kinematics(WithNumbers):
    """A native function ``(t, x, p) -> rates``.

    Attributes
    ----------
    tangent
        Whether the correction of the program changes velocities: those of the state can leave the manifold.
    """

    tangent: bool


@locked
def kinematics(program: Compiled) -> Kinematics:
    """The rates of the coordinates, compiled when first asked for.

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.march.program.compiled import compiled
    >>> start = cc.library.pendulum().assemble()
    >>> kinematics(compiled(start, cc.Multipliers()))(0.0, [0.1, 2.0, 0.0], np.array([1.0, 1.0, 9.81]))
    array([2.])
    """
    if "kinematics" not in program.functions:
        e, closed = program.equations, program.closed
        nq = e.topology.nq
        # all numbers of one family of methods share it, as they share the right-hand side
        if "kinematics" not in program.shared:
            inputs = {"t": e.limbs.t, "x": closed.x, "p": ca.vertcat(e.limbs.p, closed.parameters)}
            outputs = {"rates": ca.densify(closed.dx[:nq])}
            name = f"{e.topology.mechanism.name} kinematics"
            program.shared["kinematics"] = compile_function(name, inputs, outputs, slow=("p",))
        made = Kinematics(program.shared["kinematics"], program.numbers)
        step = closed.correction
        made.tangent = step is not None and not (step.x_plus[nq:] - closed.x[nq:]).is_zero()
        program.functions["kinematics"] = made
    return program.functions["kinematics"]


def arguments(program: Compiled, p: np.ndarray) -> Any:
    """What a solver that uses the kinematics needs besides the right-hand side."""
    from closedchain.integrate.methods.semi_implicit_euler import Kinematics  # loads Numba

    made = kinematics(program)
    return Kinematics(made.address, made.prepare(p), program.equations.topology.nq, made.tangent)
