"""How large the loads are that cancel at a pose at rest: what is left of their sum may be rounding.

Springs and gravity are left out: rounding of springs is compared with their stiffness, and that of gravity with the
time that it gives a mechanism (`pose.size`).
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from closedchain.derive.equations import Equations
from closedchain.model.derived import cached_by
from closedchain.model.forces.force import Along, reported


def load_sizes(e: Equations, t: float, q: np.ndarray, v: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Sum of the sizes of the generalised forces (n,) of all motors and forces: ``sum_k |J_k' u_k|``, N m or N."""
    return np.array(_loads(e)(t, q, v, p)).ravel()


@cached_by(lambda e: (e.topology.mechanism, e))
def _loads(e: Equations) -> ca.Function:
    m, n = e.topology.mechanism, e.topology.nv
    total = ca.SX.zeros(n, 1)
    for name, part in reported(m).items():
        effort = e.applied.efforts[name]
        if isinstance(part, Along):
            J = e.measures.velocity_row(part.joint, part.index)[0]
            total += ca.fabs(ca.densify(J.T) * effort)
            continue
        at = e.motion.frame(part.frame)
        J = ca.densify(ca.jacobian(ca.vertcat(at.velocity.lin, at.velocity.ang), e.limbs.v))
        if not part.world:
            effort = ca.vertcat(at.X.R @ effort[:3], at.X.R @ effort[3:])
        total += ca.fabs(J.T) @ ca.fabs(effort)
    return e.function("loads", {"loads": total})
