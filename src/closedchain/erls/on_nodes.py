"""What a motion takes at samples: forces on all nodes, and wrenches on the rigid links, before they are projected."""

from __future__ import annotations

import numpy as np

from closedchain.erls.steps.motion import Motion
from closedchain.erls.system import System
from closedchain.erls.workspace import Workspace


def forces_on_nodes(system: System, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Forces (m, nodes, k) on nodes, and wrenches (m, bodies, 6) on links about their origins, moment and force.

    Both are in the axes of the rigid links: inertia, weight, elasticity and damping of the pieces, so that they are
    what joints and loads together exert. Not a number where the loops do not close.
    """
    ws, m = Workspace(system), len(motion.t)
    f, wrenches = np.empty((m, *ws.room.nodes.f.shape)), np.empty((m, *ws.room.wrenches.shape))
    for k, (y, v, a) in enumerate(motion.x):
        ws.room.tree.q[:] = motion.tree[k]
        moved = np.isfinite(ws.residual(float(motion.t[k]), y, v, a)).all()
        f[k], wrenches[k] = (ws.room.nodes.f, ws.room.wrenches) if moved else (np.nan, np.nan)
    return f, wrenches
