"""Poses of links, displacements of all nodes and energies at many samples, with arrays over time."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from closedchain.erls.element import Piece
from closedchain.erls.system import System
from closedchain.lock import locked
from closedchain.native.at_samples import at_samples


@dataclass(frozen=True, eq=False)
class Samples:
    """The mechanism at many times.

    Attributes
    ----------
    q : (m, tree) coordinates of the rigid-link system, closed.
    R, r : (m, bodies, 3, 3), (m, bodies, 3) poses of its links in the world.
    twists : (m, bodies, 6) angular, then linear velocities, in their own axes.
    u, u_dot : (m, nodes, k) displacements of all nodes in the axes of their bodies, and their rates.
    kinetic, elastic, gravity, springs : (m,) energies, J.
    """

    q: np.ndarray
    R: np.ndarray
    r: np.ndarray
    twists: np.ndarray
    u: np.ndarray
    u_dot: np.ndarray
    kinetic: np.ndarray
    elastic: np.ndarray
    gravity: np.ndarray
    springs: np.ndarray

    @property
    def energy(self) -> np.ndarray:
        """All of it, J."""
        return self.kinetic + self.elastic + self.gravity + self.springs


def closed_coordinates(system: System, t: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Coordinates of the tree (m, tree) that belong to samples y (m, n) near the start.

    Those of a run are in its `Motion`: found from far away they may belong to another branch.
    """
    newton = system.compiled.newton
    out = np.empty((len(t), len(system.start.q)))
    for k in range(len(t)):
        q = system.start.q.copy()
        q[system.where] = y[k, system.n - system.n_q :]
        for _ in range(12):
            moved = newton(np.concatenate([[t[k]], q]), system.p)
            q = moved[:-1].copy()
            if moved[-1] < 1e-12:
                break
        out[k] = q
    return out


def inputs(system: System, t: np.ndarray, q: np.ndarray, x: np.ndarray) -> np.ndarray:
    """``(t, q, w, w', u, u', u'')`` of samples x (m, 3, n), as the traced functions take them (k, m)."""
    first = system.n_chain + system.n_u
    held = slice(system.n_chain, first)
    parts = [t[:, None], q, x[:, 1, first:], x[:, 2, first:], x[:, 0, held], x[:, 1, held], x[:, 2, held]]
    return np.hstack(parts).T


def evaluate(system: System, key: object, expressions: dict[str, ca.SX], given: np.ndarray) -> dict[str, np.ndarray]:
    """Traced expressions of ``x`` at many samples; leading axis is time."""
    f = _function(system, key, expressions)
    return dict(zip(f.name_out(), at_samples(f, given.shape[1], [given.T, system.p]), strict=True))


@locked
def _function(system: System, key: object, expressions: dict[str, ca.SX]) -> ca.Function:
    traced = system.compiled.traced
    if key not in system.functions:
        dense = [ca.densify(x) for x in expressions.values()]
        system.functions[key] = ca.Function(
            "evaluate", [traced.x, traced.e.limbs.p], dense, ["x", "p"], list(expressions)
        )
    return system.functions[key]


def look(system: System, t: np.ndarray, x: np.ndarray, q: np.ndarray) -> Samples:
    """All that `Samples` has, at samples x (m, 3, n), of a rigid-link system at q (m, tree)."""
    got = evaluate(system, "energies", system.compiled.traced.energies, inputs(system, t, q, x))
    bodies, m = len(system.e.topology.links), len(t)
    R, r = got["R"].reshape(m, bodies, 3, 3), got["r"].reshape(m, bodies, 3)
    twists = got["twists"].reshape(m, bodies, 6)
    u, u_dot = (all_nodes(system, got[name][:, :, 0], x[:, i]) for i, name in enumerate(("u", "u_dot")))
    mesh = system.mesh.arrays
    value = system.twin.values(dict(system.start.parameters))
    g = np.array([value(component) for component in system.twin.gravity])

    kinetic, elastic, gravity = got["kinetic"][:, 0, 0].copy(), np.zeros(m), np.zeros(m)
    for p, piece in enumerate(system.mesh.pieces):
        body, nodes = mesh.body[p], [k for k in mesh.ends[p] if k >= 0]
        mine, rate = (x[:, nodes].reshape(m, len(nodes) * x.shape[2]) for x in (u, u_dot))
        w, v = twists[:, body, :3], twists[:, body, 3:]
        P = piece.P0 + np.einsum("aik,mk->mai", piece.E, mine)
        V = np.einsum("aik,mk->mai", piece.E, rate) + np.cross(w[:, :, None], P, axis=1)
        V += v[:, :, None] * piece.one
        kinetic += 0.5 * np.einsum("mai,ij,maj->m", V, piece.G, V)
        weight = np.einsum("mai,ij,j->ma", P, piece.G, piece.one)
        mass = piece.one @ piece.G @ piece.one
        gravity -= mass * r[:, body] @ g + np.einsum("a,mab,mb->m", g, R[:, body], weight)
        if len(nodes) < 2:
            continue
        elastic += 0.5 * np.einsum("mk,kl,ml->m", mine, piece.K, mine)
        if mesh.elastic.stiffens[p]:
            k = len(system.mesh.names)
            bent, pulled = 0.5 * np.einsum("mk,kl,ml->m", mine, piece.slopes, mine), mine[:, k] - mine[:, 0]
            elastic += 0.5 * piece.EA / piece.length * ((pulled + bent) ** 2 - pulled**2)
        if piece.j.any():
            kinetic += of_sections(piece, w, mine, rate)
    return Samples(q, R, r, twists, u, u_dot, kinetic, elastic, gravity, got["potential"][:, 0, 0])


def of_sections(piece: Piece, w: np.ndarray, u: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Kinetic energy (m,) of the sections of an element that turn, see `sections`: of links that turn with w (m, 3),
    by displacements of the two nodes and their rates (m, k).
    """
    theta, theta_dot = (np.einsum("gak,mk->gma", piece.turns, x) for x in (u, rate))
    e = theta_dot + np.cross(w, theta)
    by_length = ((w / 2 + e - np.cross(theta, e) / 2) * w + e * e / 2) @ piece.j
    return piece.sections[:, 0] @ by_length


def all_nodes(system: System, held: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Displacements, or rates of them, of all nodes (m, nodes, k) from those of held nodes (m, k held) and from y."""
    mesh, k = system.mesh, len(system.mesh.names)
    out = np.empty((len(y), len(mesh.places), k))
    out[:, mesh.chain_nodes] = y[:, : system.n_chain].reshape(len(y), len(mesh.chain_nodes), k)
    out[:, mesh.held_nodes] = held.reshape(len(y), held.shape[1] // k, k)[:, mesh.arrays.nodes.held[mesh.held_nodes]]
    return out
