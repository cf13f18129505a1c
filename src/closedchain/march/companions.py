"""What solvers need besides the right-hand side, by the names in `march.solvers`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from closedchain.march import index3, jacobian, kinematics
from closedchain.march.compiled import Compiled
from closedchain.march.solvers import SOLVERS

COMPANIONS: dict[str, Callable[[Compiled, np.ndarray], dict[str, Any]]] = {
    "": lambda program, p: {},
    "jacobian": jacobian.arguments,
    "index3": index3.arguments,
    "kinematics": kinematics.arguments,
}


def for_solver(solver: str, program: Compiled, p: np.ndarray) -> dict[str, Any]:
    """Arguments of `integrate` that belong to a solver; what they need is compiled when first asked for."""
    return COMPANIONS[SOLVERS[solver].needs](program, p)
