"""The residual of the equations of motion at ``(t, y, y', y'')``: close the loops, move the links, add up the forces.

    r = sum B_i' f_i - loads,      B_i = [0 J_i; T_i D_i]

see `close.erls`. What all of it needs is in three tuples: the `problem.Plan`, the mesh (`mesh.Arrays`), and the
`problem.Room`.
"""

from __future__ import annotations

import numpy as np

from closedchain.erls.kernels.closing import close_loops
from closedchain.erls.kernels.forces import (
    damping,
    elastic,
    inertia,
    modal_damping,
    on_link,
    scatter,
    spinning,
    turning,
)
from closedchain.native.call import call
from closedchain.native.memory import fill, inner, outer


@inner
def move(plan, mesh, room, t, y, v, a):
    """Motions of bodies and nodes; False where the loops do not close or something is not a number."""
    if not close_loops(plan, room, t, y):
        return False
    x = room.motion.x
    x[0] = t
    for i in range(plan.tree):
        x[1 + i] = room.tree.q[i]
    at, first = 1 + plan.tree, plan.n_chain + plan.n_u
    for j in range(plan.n_q):
        x[at + j] = v[first + j]
        x[at + plan.n_q + j] = a[first + j]
    at += 2 * plan.n_q
    for j in range(plan.n_u):
        x[at + j] = y[plan.n_chain + j]
        x[at + plan.n_u + j] = v[plan.n_chain + j]
        x[at + 2 * plan.n_u + j] = a[plan.n_chain + j]
    call(plan.functions.motion, x, room.motion.w, room.motion.out)
    room.counts[0] += 1

    nodes, entries, moving, begin = mesh.nodes, mesh.entries, room.nodes, plan.motion
    out, u, n = room.motion.out, moving.u, moving.u.shape[2]
    hats = moving.hats
    fill(hats, 0.0)
    for m in range(entries.rows.size):
        hats[entries.rows[m]] += out[begin.T + m] * v[plan.n_chain + entries.columns[m]]
    for node in range(u.shape[1]):
        k = nodes.held[node]
        if k >= 0:
            for i in range(n):
                u[0, node, i] = out[begin.u + k * n + i]
                u[1, node, i] = out[begin.u_dot + k * n + i]
                u[2, node, i] = out[begin.u_ddot + k * n + i]
                moving.rates[node, i] = hats[k * n + i] if plan.options.resists else u[1, node, i]
        else:
            k = nodes.chain[node]
            for i in range(n):
                u[0, node, i] = y[k * n + i]
                u[1, node, i] = v[k * n + i]
                u[2, node, i] = a[k * n + i]
                moving.rates[node, i] = v[k * n + i]
    return np.isfinite(out[plan.loads.power])


@inner
def collect(plan, mesh, room, r):
    """From forces on nodes and links to the rows of the equations."""
    f, out, n, first = room.nodes.f, room.motion.out, room.nodes.f.shape[1], plan.n_chain + plan.n_u
    nodes, entries, begin = mesh.nodes, mesh.entries, plan.motion
    hats = room.nodes.hats
    for node in range(f.shape[0]):
        k = nodes.held[node]
        if k >= 0:
            for i in range(n):
                hats[k * n + i] = f[node, i]
        else:
            k = nodes.chain[node]
            for i in range(n):
                r[k * n + i] = f[node, i]
    for j in range(plan.n_u):
        r[plan.n_chain + j] = -out[plan.loads.on_u + j]
    for m in range(entries.rows.size):
        r[plan.n_chain + entries.columns[m]] += out[begin.T + m] * hats[entries.rows[m]]
    for j in range(plan.n_q):
        total = -out[plan.loads.on_q + j]
        for h in range(plan.n_held):
            total += out[begin.D + h * plan.n_q + j] * hats[h]
        for body in range(room.wrenches.shape[0]):
            for i in range(6):
                total += out[begin.J + (6 * body + i) * plan.n_q + j] * room.wrenches[body, i]
        r[first + j] = total


@inner
def of_drives(plan, room, v, r):
    """Power of drives: forces times all velocities, less what loads give, and what the velocities y' take from r."""
    out, nodes = room.motion.out, room.nodes
    total = -out[plan.loads.pushed]
    for body in range(room.wrenches.shape[0]):
        at = plan.motion.bodies + 12 * body
        for i in range(3):
            total += room.wrenches[body, i] * out[at + i] + room.wrenches[body, 3 + i] * out[at + 9 + i]
    for node in range(nodes.f.shape[0]):
        for i in range(nodes.f.shape[1]):
            total += nodes.f[node, i] * nodes.u[1, node, i]
    for i in range(r.size):
        total -= v[i] * r[i]
    return total


@outer
def residual(plan, mesh, room, t, y, v, a, r):
    """The residual r (n,) of all rows: chain nodes, u, q. False where it cannot be computed."""
    if not move(plan, mesh, room, t, y, v, a):
        return False
    moving, piece_room = room.nodes, room.piece
    u, f, out = moving.u, moving.f, room.motion.out
    fill(f, 0.0)
    kept = moving.ends.shape[0] > 0
    fill(moving.ends, 0.0)
    fill(room.wrenches, 0.0)
    body = -1
    motion = out[plan.motion.bodies : plan.motion.bodies + 12]
    lost = 0.0
    for piece in range(mesh.body.size):
        if mesh.body[piece] != body:
            body = mesh.body[piece]
            motion = out[plan.motion.bodies + 12 * body : plan.motion.bodies + 12 * body + 12]
            turning(motion, piece_room.W)
        one, two = mesh.ends[piece, 0], mesh.ends[piece, 1]
        inertia(mesh, piece, motion, u, piece_room.W, piece_room.P, piece_room.A, piece_room.Q)
        near, far, wrench = f[one], f[two], room.wrenches[body]
        if kept:
            near, far = moving.ends[piece, 0], moving.ends[piece, 1]
        scatter(piece_room.Q, mesh.length[piece], near, far)
        on_link(mesh, piece, piece_room.P, piece_room.Q, wrench)
        if two >= 0:
            if mesh.sections.j[piece, 0] + mesh.sections.j[piece, 1] + mesh.sections.j[piece, 2] > 0.0:
                spinning(mesh, piece, motion, u, piece_room.Q, near, far, wrench)
            elastic(mesh, piece, u, near, far)
            if mesh.elastic.damping[piece, 0] != 0.0 or mesh.elastic.damping[piece, 1] != 0.0:
                lost += damping(plan, mesh, room.nodes, piece, motion, near, far, wrench)
        for i in range(f.shape[1] if kept else 0):
            f[one, i] += near[i]
            if two >= 0:
                f[two, i] += far[i]
    if moving.swings.shape[1] > 0:
        lost += modal_damping(mesh, room.nodes)
    collect(plan, mesh, room, r)
    room.work[0] = out[plan.loads.power] + (of_drives(plan, room, v, r) if plan.options.driven else 0.0)
    room.work[1] = -lost
    total = 0.0
    for i in range(r.size):
        total += r[i]
    return np.isfinite(total)
