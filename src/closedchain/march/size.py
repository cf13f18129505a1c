"""How large a mechanism is at parameter values, and how its velocities and closure rows compare by that length."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from closedchain.derive.equations import Equations
from closedchain.derive.size import traced_length
from closedchain.lock import locked


def drawn_length(e: Equations, p: np.ndarray) -> float:
    """The length by which angles and lengths are compared, m; see `closedchain.derive.size.traced_length`."""
    return float(_length(e)(p))


def velocity_sizes(e: Equations, length: float) -> np.ndarray:
    """By which velocities compare: the length for a slide, one for a hinge."""
    return np.array([length if unit == "m/s" else 1.0 for unit in e.topology.v_units])


def row_sizes(e: Equations, rows: Sequence[int], length: float) -> np.ndarray:
    """By which closure rows compare: the length for one that is a length, one for an angle."""
    return np.array([length if e.closure.units[row] == "m" else 1.0 for row in rows])


@locked
def _length(e: Equations) -> ca.Function:
    derived, key = e.topology.mechanism._derived, ("length", e)
    if key not in derived:
        derived[key] = ca.Function("length", [e.limbs.p], [traced_length(e)])
    return derived[key]
