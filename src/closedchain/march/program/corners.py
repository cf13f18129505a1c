"""Corners of forces for the solvers: the signals of `model.forces.corners` as one native function.

The function is ``void corners(const double* t, const double* x, const double* w, double* signals)``. Its work vector
lies behind that of the right-hand side, in the same array: what is renewed together stays together.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from closedchain.integrate.solvers import SOLVERS
from closedchain.lock import locked
from closedchain.march.program.compiled import Compiled
from closedchain.model.forces.corners import corners as drawn
from closedchain.native import LazyFunction
from closedchain.native.partial import WithNumbers


@locked
def corners(program: Compiled) -> WithNumbers | None:
    """The native function of a program, compiled when first asked for; None if nothing has a corner."""
    e, closed = program.equations, program.closed
    found = drawn(e.topology.mechanism)
    if not found:
        return None
    if "corners" not in program.shared:
        traced = [e.expression(x, held=e.limbs.held) for x in (*found.zeros, *found.counted)]
        inputs = {"t": e.limbs.t, "x": closed.x, "p": ca.vertcat(e.limbs.p, closed.parameters)}
        outputs = {"signals": ca.densify(ca.vertcat(*program.of_state(traced)))}
        program.shared["corners"] = LazyFunction(f"{e.topology.mechanism.name} corners", inputs, outputs, ("p",))
    return WithNumbers(program.shared["corners"], program.numbers)


def signals(solver: str, program: Compiled) -> WithNumbers | None:
    """The native function, for solvers that look at corners: those of our own with step control."""
    return corners(program) if SOLVERS[solver].adaptive and not SOLVERS[solver].driver else None


def work(solver: str, program: Compiled, p: np.ndarray) -> np.ndarray:
    """The work vector of the right-hand side, with that of the signals behind it."""
    w, found = program.rhs.prepare(p), signals(solver, program)
    return w if found is None else np.concatenate([w, found.prepare(p)])


def options(solver: str, program: Compiled) -> dict[str, int]:
    """What a solver must know of them, by the names in `step_control.OPTIONS`."""
    made, found = signals(solver, program), drawn(program.equations.topology.mechanism)
    if made is None:
        return {}
    zeros = len(found.zeros)
    work = made.function.n_work
    return {
        "corners": made.address,
        "corners_work": work,
        "corner_zeros": zeros,
        "corner_signals": zeros + len(found.counted),
    }
