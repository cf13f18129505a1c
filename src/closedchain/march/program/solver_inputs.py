"""What solvers need besides the right-hand side, by the names in `integrate.solvers`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from closedchain.integrate.problem import Correction, Problem
from closedchain.integrate.solvers import SOLVERS
from closedchain.march.program import corners, index3, jacobian, kinematics
from closedchain.march.program.compiled import Compiled

EXTRA: dict[str, Callable[[Compiled, np.ndarray], Any]] = {
    "": lambda program, p: None,
    "jacobian": jacobian.arguments,
    "index3": index3.arguments,
    "kinematics": kinematics.arguments,
}


def for_solver(solver: str, program: Compiled, p: np.ndarray) -> Any:
    """What a solver needs besides the right-hand side, compiled when first asked for; None if nothing."""
    return EXTRA[SOLVERS[solver].needs](program, p)


def problem(
    solver: str,
    program: Compiled,
    p: np.ndarray,
    time: float | None = None,
    *,
    pivot_after: float = -np.inf,
    pivot_before: float = -np.inf,
) -> Problem:
    """The equations of a program as `integrate` takes them."""
    correct = program.correct
    return Problem(
        program.rhs.address,
        corners.work(solver, program, p),
        Correction(correct.address, correct.prepare(p)) if correct else None,
        for_solver(solver, program, p),
        corners.options(solver, program),
        time,
        pivot_after,
        pivot_before,
    )


def renewed(solver: str, program: Compiled, p: np.ndarray) -> dict[str, np.ndarray]:
    """The parameters of a `Problem` once more, by the names that `Hooks.inputs` gives them."""
    found = {"w": corners.work(solver, program, p)}
    if program.correct is not None:
        found["w_correct"] = program.correct.prepare(p)
    needed = for_solver(solver, program, p)
    if needed is not None:
        found["w_extra"] = needed.w
    return found
