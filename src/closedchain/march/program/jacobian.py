"""The exact Jacobian of a program's right-hand side, for implicit solvers: traced, compiled, its zeros known.

    J = d(dx)/dx,    rate = d(dx)/dt

Where the right-hand side solves for dependent coordinates first (`integrate.solved_first`), ``dx = f(t, x*)`` with
``x*`` the place at which the Newton step ``x_plus(t, x)`` rests. There the derivative of the step is that of its
resting place: what it contains of ``d(A_D^-1) c`` vanishes with the closure c, so that by the chain rule

    J = df/dx  dx_plus/dx,    rate = df/dt + df/dx  dx_plus/dt

at states with closed loops, where every step of an integrator begins.

The theory is in ``docs/theory/integrators.md``.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from closedchain.integrate import problem
from closedchain.integrate.structure import Structure, structure
from closedchain.lock import locked
from closedchain.march.program.compiled import Compiled
from closedchain.native import compile_function
from closedchain.native.partial import WithNumbers


class Jacobian(WithNumbers):
    """A native function ``(t, x, p) -> entries, rate``, and where its nonzeros lie.

    Attributes
    ----------
    pattern
        (n, n), True where an entry may differ from zero; the entries go through it column after column.
    structure
        How linear systems with it are solved.
    """

    pattern: np.ndarray
    structure: Structure

    def matrix(self, t: float, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """The Jacobian (n, n) at a state, for looking at numbers."""
        entries, _ = self(t, x, p)
        dense = np.zeros(self.pattern.shape)
        columns, rows = np.nonzero(self.pattern.T)
        dense[rows, columns] = entries
        return dense


@locked
def jacobian(program: Compiled) -> Jacobian:
    """The Jacobian of a program, compiled when it is first asked for.

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.march.program.compiled import compiled
    >>> start = cc.library.pendulum().assemble()
    >>> J = jacobian(compiled(start, cc.Multipliers()))
    >>> J.pattern.astype(int)  # angle, rate, work
    array([[0, 1, 0],
           [1, 0, 0],
           [0, 0, 0]])
    """
    if "jacobian" not in program.functions:
        e = program.equations
        # all numbers of one family of methods share it, as they share the right-hand side
        if "jacobian" not in program.shared:
            program.shared["jacobian"] = _traced(e.topology.mechanism.name, program)
        function, pattern = program.shared["jacobian"]
        made = Jacobian(function, program.numbers)
        made.pattern = pattern
        made.structure = _structure(program, pattern)
        program.functions["jacobian"] = made
    return program.functions["jacobian"]


def _structure(program: Compiled, pattern: np.ndarray) -> Structure:
    """The coordinates are eliminated first; so are velocities whose rate is an unknown of its own, ``v' = a``."""
    topology, unknowns, last = program.equations.topology, program.closed.algebraic, len(pattern) - 1
    coordinates = list(range(topology.nq))
    if unknowns:
        coordinates += [i for i in range(topology.nq, last - unknowns) if pattern[i].sum() == 1]
    return structure(pattern, coordinates, range(last - unknowns, last))


def _traced(name: str, program: Compiled) -> tuple[Any, np.ndarray]:
    """The native function and its pattern."""
    t, closed = program.equations.limbs.t, program.closed
    J, rate = ca.jacobian(closed.dx, closed.x), ca.jacobian(closed.dx, t)
    if closed.solved_first:
        assert closed.correction is not None
        rate += J @ ca.jacobian(closed.correction.x_plus, t)
        J = J @ ca.jacobian(closed.correction.x_plus, closed.x)
    J = ca.sparsify(J)
    pattern = np.array(ca.DM(J.sparsity(), 1).full(), bool)
    inputs = {"t": t, "x": closed.x, "p": ca.vertcat(program.equations.limbs.p, closed.parameters)}
    entries = ca.SX(0, 1)
    if J.nnz():
        entries = ca.densify(J.nz[:])
    outputs = {"entries": entries, "rate": ca.densify(rate)}
    return compile_function(f"{name} Jacobian", inputs, outputs, slow=("p",), seldom=True), pattern


def arguments(program: Compiled, p: np.ndarray) -> problem.Jacobian:
    """What a solver that uses the Jacobian needs besides the right-hand side."""
    made = jacobian(program)
    return problem.Jacobian(made.address, made.prepare(p), made.structure)
