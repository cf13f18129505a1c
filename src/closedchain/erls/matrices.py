"""Mass and stiffness of a whole mechanism as dense matrices, undeformed at a pose: for frequencies, statics and checks.

Rows and columns are those of y, zeroed displacements included. ``K J = 0``: the rigid motions ``u = J dq`` strain
nothing; and the rank of K is the number of displacements less the number of coordinates q.
"""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca
import numpy as np

from closedchain.erls.energy import closed_coordinates
from closedchain.erls.system import System
from closedchain.erls.workspace import Workspace
from closedchain.lock import locked

STEP = 1e-6  # rad, or of the longest beam: differences of forces of springs, which are smooth


def nodal_map(ws: Workspace) -> np.ndarray:
    """``d u_hat / d y`` of all nodes, where the kernels have been last (nodes k, n): T at joints, 1 between them."""
    system, plan, mesh, k = ws.system, ws.plan, ws.mesh, len(ws.system.mesh.names)
    T = np.zeros((plan.n_held, plan.n_u))
    rows = mesh.entries.rows
    T[rows, mesh.entries.columns] = ws.room.motion.out[plan.motion.T : plan.motion.T + len(rows)]
    out = np.zeros((len(system.mesh.places), k, system.n))
    held, chain = system.mesh.held_nodes, system.mesh.chain_nodes
    out[held, :, system.n_chain : system.n_chain + system.n_u] = T.reshape(-1, k, plan.n_u)[mesh.nodes.held[held]]
    for node in chain:
        out[node, range(k), mesh.nodes.chain[node] * k + np.arange(k)] = 1.0
    return out.reshape(-1, system.n)


def element_stiffness(system: System, body: str | None = None) -> np.ndarray:
    """Stiffness of all elements, or of those of one body, on the displacements of the nodes (nodes k, nodes k)."""
    k, n = len(system.mesh.names), len(system.mesh.places) * len(system.mesh.names)
    K = np.zeros((n, n))
    for p, (one, two) in enumerate(system.mesh.arrays.ends):
        if two < 0 or (body is not None and system.mesh.arrays.body[p] != system.e.topology.link_of[body]):
            continue
        at = np.r_[one * k : (one + 1) * k, two * k : (two + 1) * k]
        K[np.ix_(at, at)] += system.mesh.pieces[p].K
    return K


def matrices(system: System) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mass M and stiffness K (n, n) at the start, undeformed and at rest, and the forces r (n,) there, so that M a =
    -r.

    K is that of the beams and of springs; what gravity does to it is left out, since a pose need not be one of rest.
    """
    ws = Workspace(system)
    y, v = system.at_rest()
    a, t = np.zeros(system.n), system.start.t
    rest = ws.residual(t, y, np.zeros_like(v), a)
    M = np.empty((system.n, system.n))
    for j in range(system.n):
        a[j] = 1.0
        M[:, j] = ws.residual(t, y, np.zeros_like(v), a) - rest
        a[j] = 0.0
    ws.residual(t, y, np.zeros_like(v), a)
    N = nodal_map(ws)
    return M, N.T @ element_stiffness(system) @ N + _springs(system, y), rest


def nodal_jacobian(system: System) -> np.ndarray:
    """J = dr/dq as displacements (n, n_q): those of y that a unit of each coordinate q makes rigidly; rows of q are
    zero.
    """
    ws = Workspace(system)
    y, v = system.at_rest()
    ws.residual(system.start.t, y, v, np.zeros_like(y))
    k = len(system.mesh.names)
    J = np.zeros((system.n, system.n_q))
    J[system.n_chain : system.n_chain + system.n_u] = system.rigid(system.start.t, system.start.q)
    for node in system.mesh.chain_nodes:
        body = system.e.topology.link_of[system.mesh.bodies[node]]
        at = ws.plan.motion.J + 6 * body * system.n_q
        ang, lin = np.split(ws.room.motion.out[at : at + 6 * system.n_q].reshape(6, -1), 2)
        moved = np.vstack([lin + np.cross(ang.T, system.mesh.places[node]).T, ang])
        J[system.mesh.arrays.nodes.chain[node] * k + np.arange(k)] = moved[system.mesh.axes]
    return J


@locked
def _springs(system: System, y: np.ndarray) -> np.ndarray:
    """Stiffness of springs (n, n): differences of their forces."""
    traced, e, d = system.compiled.traced, system.e, system.d
    V = traced.loads.potential
    out = np.zeros((system.n, system.n))
    if V.is_constant():
        return out
    by_tree = ca.jacobian(V, e.limbs.q) @ ca.jacobian(e.qdot, e.limbs.v) @ traced.motions.S
    force = ca.horzcat(ca.jacobian(V, d.u), by_tree).T
    f = ca.Function("springs", [e.limbs.t, e.limbs.q, d.u, e.limbs.p], [ca.densify(force)])
    held = slice(system.n_chain, system.n_chain + system.n_u)
    for j in range(system.n_chain, system.n):
        sides, step = [], STEP * system.sizes[j]
        for sign in (1.0, -1.0):
            moved = y.copy()
            moved[j] += sign * step
            q = closed_coordinates(system, np.array([system.start.t]), moved[None])[0]
            sides.append(np.array(f(system.start.t, q, moved[held], system.p)).ravel())
        out[system.n_chain :, j] = (sides[0] - sides[1]) / (2 * step)
    return (out + out.T) / 2


State = tuple[np.ndarray, np.ndarray, np.ndarray]
STEPS = (1e-8, 1e-3, 1.0)  # rad, or of the longest beam, in the mechanism's time: differences by y, y' and y''


def derivative(ws: Workspace, t: float, state: State, which: int, columns: Iterable[int]) -> np.ndarray:
    """Derivatives of the residual by entries of y, y' or y'' (which is 0, 1 or 2), by central differences (n, m).

    The residual is quadratic in y', and linear in y''.
    """
    out, steps = [np.zeros((len(state[0]), 0))], STEPS[which] * ws.system.sizes / ws.system.time**which
    for j in columns:
        sides, step = [], steps[j]
        for sign in (1.0, -1.0):
            moved = [x.copy() for x in state]
            moved[which][j] += sign * step
            sides.append(ws.residual(t, *moved))
        out.append(((sides[0] - sides[1]) / (2 * step))[:, None])
    return np.hstack(out)


def tangents(ws: Workspace, t: float, y: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, ...]:
    """Derivatives of the residual by y'', y' and y (n, n each) at any state."""
    return tuple(derivative(ws, t, (y, v, a), which, range(len(y))) for which in (2, 1, 0))


def steady(ws: Workspace, t: float, y: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Displacements (n,) that stay as they are while the rigid-link system moves steadily: Newton's method from y."""
    y, zero = y.copy(), np.zeros_like(y)
    for _ in range(20):
        if not ws.linearise(t, y, v, zero) or not ws.factor(0.0, 0.0, 1.0):
            break
        step = ws.solve(ws.residual(t, y, v, zero))
        y -= step
        if np.abs(step / ws.system.sizes).max() < 1e-14:
            break
    return y
