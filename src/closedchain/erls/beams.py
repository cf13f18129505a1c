"""What a beam does at many samples: displacements of its nodes, and forces at the ends of its elements."""

from __future__ import annotations

import numpy as np

from closedchain.erls.energy import Samples
from closedchain.erls.system import System
from closedchain.erls.workspace import Workspace


def node_displacements(system: System, samples: Samples, body: str) -> tuple[np.ndarray, np.ndarray]:
    """Places of the nodes of a beam (nodes,), and their six displacements over time (m, nodes, 6)."""
    nodes = list(system.mesh.nodes_of(body))
    out = np.zeros((len(samples.u), len(nodes), 6))
    out[:, :, system.mesh.axes] = samples.u[:, nodes]
    return system.mesh.places[nodes, 0], out


def end_forces(system: System, samples: Samples, t: np.ndarray, x: np.ndarray, body: str) -> np.ndarray:
    """Section forces N, Vy, Vz, T, My, Mz just inside both ends of each element (m, elements, 2, 6).

    They are what the rest of the mechanism exerts on an element: inertia and weight, elasticity and damping, as in the
    equations of motion. Modal damping of a beam is a stress in each of its elements, as elasticity is: that of the
    displacements whose elastic forces its forces are. Not a number where the loops do not close.
    """
    mesh, ws, m = system.mesh, Workspace(system, keep_ends=True), len(t)
    mine = np.flatnonzero(mesh.arrays.body == system.e.topology.link_of[body])
    f = np.full((m, len(mine), 2, len(mesh.names)), np.nan)
    swings, resisted = mesh.arrays.nodes.modal[mesh.nodes_of(body)], mesh.resisted[body]
    for sample, (y, v, a) in enumerate(x):
        ws.room.tree.q[:] = samples.q[sample]
        if not np.isfinite(ws.residual(float(t[sample]), y, v, a)).all():
            continue
        f[sample] = ws.room.nodes.ends[mine]
        if swings.shape[2]:
            strained = resisted @ np.einsum("nkm,nk->m", swings, ws.room.nodes.rates[mesh.nodes_of(body)])
            for row, p in enumerate(mine):
                f[sample, row] += (mesh.pieces[p].K @ strained[row : row + 2].ravel()).reshape(2, -1)
    out = np.zeros((m, len(mine), 2, 6))
    out[..., mesh.axes] = f * np.array([-1.0, 1.0])[:, None]
    return out


def along(
    system: System, samples: Samples, body: str, x: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Displacement and rotation of a beam at x (m), and their rates, each (m, 3) in the axes of the body.

    Between nodes they are cubic in bending and linear in stretching and twisting, as in the elements.
    """
    mesh = system.mesh
    nodes = np.array(mesh.nodes_of(body))
    places = mesh.places[nodes, 0]
    i = int(np.clip(np.searchsorted(places, x, side="right") - 1, 0, len(places) - 2))
    h = places[i + 1] - places[i]
    s = min(max((x - places[i]) / h, 0.0), 1.0)
    value = np.array([1 - 3 * s**2 + 2 * s**3, h * s * (1 - s) ** 2, 3 * s**2 - 2 * s**3, -h * s**2 * (1 - s)])
    slope = np.array([-6 * s * (1 - s) / h, (1 - s) * (1 - 3 * s), 6 * s * (1 - s) / h, s * (3 * s - 2)])
    out = []
    for u in (samples.u, samples.u_dot):
        both = np.zeros((len(u), 2, 6))
        both[:, :, mesh.axes] = u[:, nodes[i : i + 2]]
        a, b = both[:, 0], both[:, 1]
        d, theta = (1 - s) * a + s * b, (1 - s) * a + s * b
        v = np.stack([a[:, 1], a[:, 5], b[:, 1], b[:, 5]], axis=1)
        w = np.stack([a[:, 2], -a[:, 4], b[:, 2], -b[:, 4]], axis=1)
        out.append(np.stack([d[:, 0], v @ value, w @ value], axis=1))
        out.append(np.stack([theta[:, 3], -(w @ slope), v @ slope], axis=1))
    return out[0], out[1], out[2], out[3]
