"""What a beam does at many samples: displacements of its nodes, and forces at the ends of its elements."""

from __future__ import annotations

import numpy as np

from closedchain.march.erls.energy import Samples, all_nodes, evaluate, inputs
from closedchain.march.erls.system import System


def node_displacements(system: System, samples: Samples, body: str) -> tuple[np.ndarray, np.ndarray]:
    """Places of the nodes of a beam (nodes,), and their six displacements over time (m, nodes, 6)."""
    nodes = list(system.mesh.nodes_of(body))
    out = np.zeros((len(samples.u), len(nodes), 6))
    out[:, :, system.mesh.axes] = samples.u[:, nodes]
    return system.mesh.places[nodes, 0], out


def end_forces(system: System, samples: Samples, t: np.ndarray, x: np.ndarray, body: str) -> np.ndarray:
    """Section forces N, Vy, Vz, T, My, Mz just inside both ends of each element (m, elements, 2, 6).

    They are what the rest of the mechanism exerts on an element, ``K u`` and its inertia, with gravity; damping is left
    out.
    """
    mesh, m, k = system.mesh, len(t), len(system.mesh.names)
    given = inputs(system, t, samples.q, x)
    traced = system.compiled.traced
    if "motion" not in system.functions:
        names = ("bodies", "u_ddot")
        system.functions["motion parts"] = dict(
            zip(names, traced.closed([traced.parts[n] for n in names]), strict=True)
        )
    got = evaluate(system, "motion", system.functions["motion parts"], given)
    motions = got["bodies"][:, :, 0].reshape(m, len(system.e.topology.links), 12)
    u_ddot = all_nodes(system, got["u_ddot"][:, :, 0], x[:, 2])

    mine = [p for p in range(len(mesh.pieces)) if mesh.arrays.body[p] == system.e.topology.link_of[body]]
    out = np.zeros((m, len(mine), 2, 6))
    for row, p in enumerate(mine):
        piece, ends = mesh.pieces[p], mesh.arrays.ends[p]
        w, alpha, a = (motions[:, mesh.arrays.body[p], i : i + 3] for i in (0, 3, 6))
        u, u_dot, u_dd = (z[:, ends].reshape(m, 2 * k) for z in (samples.u, samples.u_dot, u_ddot))
        D, D_dot, D_dd = (np.einsum("aik,mk->mai", piece.E, z) for z in (u, u_dot, u_dd))
        P = piece.P0 + D
        spin = np.cross(w[:, :, None], P, axis=1)
        A = D_dd + 2 * np.cross(w[:, :, None], D_dot, axis=1) + np.cross(w[:, :, None], spin, axis=1)
        A += np.cross(alpha[:, :, None], P, axis=1) + a[:, :, None] * piece.one
        f = np.einsum("aik,ij,maj->mk", piece.E, piece.G, A) + u @ piece.K
        f += u_dd @ piece.spin + (alpha * piece.j) @ piece.turned
        if mesh.arrays.stiffens[p]:
            bent = 0.5 * np.einsum("mk,kl,ml->m", u, piece.slopes, u)
            N = piece.EA / piece.length * (u[:, k] - u[:, 0] + bent)
            f += N[:, None] * (u @ piece.slopes)
            f[:, 0] -= piece.EA / piece.length * bent
            f[:, k] += piece.EA / piece.length * bent
        f = f.reshape(m, 2, k)
        out[:, row, 0, mesh.axes], out[:, row, 1, mesh.axes] = -f[:, 0], f[:, 1]
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
