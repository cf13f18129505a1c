"""How large a mechanism is, as a number at parameter values."""

from __future__ import annotations

from functools import lru_cache

import casadi as ca
import numpy as np

from closedchain.derive.equations import Equations
from closedchain.derive.size import traced_length


def drawn_length(e: Equations, p: np.ndarray) -> float:
    """The length by which angles and lengths are compared, m; see `closedchain.derive.size.traced_length`."""
    return float(_length(e)(p))


@lru_cache(maxsize=32)
def _length(e: Equations) -> ca.Function:
    return ca.Function("length", [e.limbs.p], [traced_length(e)])
