"""What solvers need besides the right-hand side, by the names in `integrate.solvers`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from closedchain.integrate.solvers import SOLVERS
from closedchain.march.program import index3, jacobian, kinematics
from closedchain.march.program.compiled import Compiled

COMPANIONS: dict[str, Callable[[Compiled, np.ndarray], dict[str, Any]]] = {
    "": lambda program, p: {},
    "jacobian": jacobian.arguments,
    "index3": index3.arguments,
    "kinematics": kinematics.arguments,
}


def for_solver(solver: str, program: Compiled, p: np.ndarray) -> dict[str, Any]:
    """Arguments of `integrate` that belong to a solver; what they need is compiled when first asked for."""
    return COMPANIONS[SOLVERS[solver].needs](program, p)
