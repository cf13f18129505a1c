"""The residual of the equations of motion at ``(t, y, y', y'')``: close the loops, move the links, add up the forces.

    r = sum B_i' f_i - loads,      B_i = [0 J_i; T_i D_i]

see `close.erls`. What all of it needs is in three tuples: the `Plan` (addresses and sizes), the mesh (`mesh.Arrays`), and
the `Room` in which numbers live. The dependent coordinates of the rigid-link system are found by Newton's method from
where they were last.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from closedchain.march.erls.forces import damping, elastic, inertia, on_link, scatter, spinning, turning
from closedchain.march.erls.memory import copy, fill, inner, outer
from closedchain.native.call import call3

RESTS = 1e-10  # rad or m: the error after a Newton step of this size is below rounding
FAR = 0.5  # what the first step may be at most
CONTRACTS = 0.5  # of the step before: what the next one may be at most
ITERATIONS = 15
STEPS = 8  # in which the loops are closed where that cannot be done at once


class Plan(NamedTuple):
    """Addresses of native functions, sizes, and where the parts of their outputs begin.

    Attributes
    ----------
    motion, newton, tangent, residual : addresses.
    loops : whether there are loops to close.
    tree, n_q, n_u, n_held, n_chain, n : coordinates of the tree; q; u; displacements of held nodes; displacements of chain
        nodes; all of y.
    bodies, J, u, u_dot, u_ddot, T, D, on_u, on_q, power, block : beginnings in the output of `motion`.
    turning, by_u, by_u_dot, by_u_ddot : beginnings in the output of `tangent`.
    paper : whether only the rows of u count.
    """

    motion: int
    newton: int
    tangent: int
    residual: int
    loops: int
    tree: int
    n_q: int
    n_u: int
    n_held: int
    n_chain: int
    n: int
    bodies: int
    J: int
    u: int
    u_dot: int
    u_ddot: int
    T: int
    D: int
    on_u: int
    on_q: int
    power: int
    block: int
    turning: int
    by_u: int
    by_u_dot: int
    by_u_ddot: int
    paper: int


class Room(NamedTuple):
    """Where numbers live.

    Attributes
    ----------
    w_motion, w_newton, w_tangent : parameters of the native functions.
    where : (n_q,) places of the independent coordinates in the tree.
    q, last : (tree,) coordinates of the tree, closed; and workspace.
    x, out : input and output of `motion`.
    into, moved : input and output of `newton`.
    asked, told : input and output of `tangent`.
    u : (3, nodes, k) displacements, rates and accelerations of all nodes, in the axes of their bodies.
    rates : (nodes, k) ``T u'``: rates in the frames of the joints, for damping.
    f : (nodes, k) forces on them.
    wrenches : (bodies, 6) on the rigid links.
    W, P, A, Q : (3, 3), (3, 4), ... of one piece.
    hats : (n_held,) forces on the held nodes.
    work : (2,) power of all that acts, and of damping.
    counts : evaluations, Newton steps for loops.
    block, units : (n_q, n_q) workspace for the zeroed block of J, and the units of its rows and columns.
    """

    w_motion: np.ndarray
    w_newton: np.ndarray
    w_tangent: np.ndarray
    where: np.ndarray
    q: np.ndarray
    last: np.ndarray
    x: np.ndarray
    out: np.ndarray
    into: np.ndarray
    moved: np.ndarray
    asked: np.ndarray
    told: np.ndarray
    u: np.ndarray
    rates: np.ndarray
    f: np.ndarray
    wrenches: np.ndarray
    W: np.ndarray
    P: np.ndarray
    A: np.ndarray
    Q: np.ndarray
    hats: np.ndarray
    work: np.ndarray
    counts: np.ndarray
    block: np.ndarray
    units: np.ndarray


_I1, _F1, _F2, _F3 = numba.int64[::1], numba.float64[::1], numba.float64[:, ::1], numba.float64[:, :, ::1]
PlanType = numba.types.NamedUniTuple(numba.int64, len(Plan._fields), Plan)
RoomType = numba.types.NamedTuple(
    (_F1, _F1, _F1, _I1, _F1, _F1, _F1, _F1, _F1, _F1, _F1, _F1, _F3, _F2, _F2, _F2, _F2, _F2, _F2, _F2, _F1, _F1, _I1, _F2, _F2), Room
)


@inner
def newton(plan, room, t):
    """Solve for the dependent coordinates in `room.q`; False if that fails."""
    room.into[0] = t
    most = FAR
    for _ in range(ITERATIONS):
        for i in range(plan.tree):
            room.into[1 + i] = room.q[i]
        call3(plan.newton, room.into, room.w_newton, room.moved)
        room.counts[1] += 1
        step = room.moved[plan.tree]
        for i in range(plan.tree):
            room.q[i] = room.moved[i]
        if step <= RESTS:
            return True
        if not step <= most:
            return False
        most = max(CONTRACTS * step, RESTS)
    return False


@inner
def close_loops(plan, room, t, y):
    """Put the independent coordinates of y in the tree, and solve for the others; False if that fails.

    It is tried from where the loops were closed last, at once, and if that is too far, in some steps.
    """
    first = plan.n_chain + plan.n_u
    copy(room.last, room.q)
    steps = 1
    while steps <= STEPS:
        closed = True
        for k in range(1, steps + 1):
            for j in range(plan.n_q):
                at = room.where[j]
                room.q[at] = room.last[at] + (y[first + j] - room.last[at]) * k / steps
                if k == steps:
                    room.q[at] = y[first + j]
            if plan.loops and not newton(plan, room, t):
                closed = False
                break
        if closed:
            return True
        copy(room.q, room.last)
        steps *= STEPS
    return False


@inner
def move(plan, mesh, room, t, y, v, a):
    """Motions of bodies and nodes; False where the loops do not close or something is not a number."""
    if not close_loops(plan, room, t, y):
        return False
    x = room.x
    x[0] = t
    for i in range(plan.tree):
        x[1 + i] = room.q[i]
    at, first = 1 + plan.tree, plan.n_chain + plan.n_u
    for j in range(plan.n_q):
        x[at + j] = v[first + j]
        x[at + plan.n_q + j] = a[first + j]
    at += 2 * plan.n_q
    for j in range(plan.n_u):
        x[at + j] = y[plan.n_chain + j]
        x[at + plan.n_u + j] = v[plan.n_chain + j]
        x[at + 2 * plan.n_u + j] = a[plan.n_chain + j]
    call3(plan.motion, x, room.w_motion, room.out)
    room.counts[0] += 1

    out, u, n = room.out, room.u, room.u.shape[2]
    hats = room.hats
    fill(hats, 0.0)
    for m in range(mesh.rows.size):
        hats[mesh.rows[m]] += out[plan.T + m] * v[plan.n_chain + mesh.columns[m]]
    for node in range(u.shape[1]):
        k = mesh.held[node]
        if k >= 0:
            for i in range(n):
                u[0, node, i] = out[plan.u + k * n + i]
                u[1, node, i] = out[plan.u_dot + k * n + i]
                u[2, node, i] = out[plan.u_ddot + k * n + i]
                room.rates[node, i] = hats[k * n + i]
        else:
            k = mesh.chain[node]
            for i in range(n):
                u[0, node, i] = y[k * n + i]
                u[1, node, i] = v[k * n + i]
                u[2, node, i] = a[k * n + i]
                room.rates[node, i] = v[k * n + i]
    return np.isfinite(out[plan.power])


@inner
def collect(plan, mesh, room, r):
    """From forces on nodes and links to the rows of the equations."""
    f, out, n, first = room.f, room.out, room.f.shape[1], plan.n_chain + plan.n_u
    hats = room.hats
    for node in range(f.shape[0]):
        k = mesh.held[node]
        if k >= 0:
            for i in range(n):
                hats[k * n + i] = f[node, i]
        else:
            k = mesh.chain[node]
            for i in range(n):
                r[k * n + i] = f[node, i]
    for j in range(plan.n_u):
        r[plan.n_chain + j] = -out[plan.on_u + j]
    for m in range(mesh.rows.size):
        r[plan.n_chain + mesh.columns[m]] += out[plan.T + m] * hats[mesh.rows[m]]
    for j in range(plan.n_q):
        total = -out[plan.on_q + j]
        for h in range(plan.n_held):
            total += out[plan.D + h * plan.n_q + j] * hats[h]
        for body in range(room.wrenches.shape[0]):
            for i in range(6):
                total += out[plan.J + (6 * body + i) * plan.n_q + j] * room.wrenches[body, i]
        r[first + j] = total


@inner
def health(plan, room):
    """Smallest pivot of the zeroed block of J, without units: zero where these displacements cannot be zeroed."""
    n, B = plan.n_q, room.block
    for i in range(n):
        for j in range(n):
            B[i, j] = room.out[plan.block + i * n + j] / room.units[i, j]
    smallest = 1.0
    for k in range(n):
        row, column, largest = k, k, 0.0
        for i in range(k, n):
            for j in range(k, n):
                if abs(B[i, j]) > largest:
                    row, column, largest = i, j, abs(B[i, j])
        if not largest > 0.0:
            return 0.0
        smallest = min(smallest, largest)
        for j in range(n):
            B[k, j], B[row, j] = B[row, j], B[k, j]
        for i in range(n):
            B[i, k], B[i, column] = B[i, column], B[i, k]
        for i in range(k + 1, n):
            factor = B[i, k] / B[k, k]
            for j in range(k, n):
                B[i, j] -= factor * B[k, j]
    return smallest


@outer
def residual(plan, mesh, room, t, y, v, a, r):
    """The residual r (n,) of all rows: chain nodes, u, q. False where it cannot be computed."""
    if not move(plan, mesh, room, t, y, v, a):
        return False
    u, f, out, n = room.u, room.f, room.out, room.u.shape[2]
    fill(f, 0.0)
    fill(room.wrenches, 0.0)
    body = -1
    motion = out[plan.bodies : plan.bodies + 12]
    lost = 0.0
    for piece in range(mesh.body.size):
        if mesh.body[piece] != body:
            body = mesh.body[piece]
            motion = out[plan.bodies + 12 * body : plan.bodies + 12 * body + 12]
            turning(motion, room.W)
        one, two = mesh.ends[piece, 0], mesh.ends[piece, 1]
        inertia(mesh, piece, motion, u, room.W, room.P, room.A, room.Q)
        scatter(room.Q, mesh.length[piece], f[one], f[two])
        on_link(mesh, piece, room.P, room.Q, room.wrenches[body])
        if two >= 0:
            spinning(mesh, piece, motion, u, f[one], f[two], room.wrenches[body])
            elastic(mesh, piece, u, f[one], f[two])
            if mesh.damping[piece, 0] != 0.0 or mesh.damping[piece, 1] != 0.0:
                lost += damping(mesh, piece, motion, u, room.rates, f[one], f[two], room.wrenches[body])
    room.work[0] = out[plan.power]
    room.work[1] = -lost
    collect(plan, mesh, room, r)
    total = 0.0
    for i in range(r.size):
        total += r[i]
    return np.isfinite(total)
