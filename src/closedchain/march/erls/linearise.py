"""The iteration matrix ``Z = m M + c C + k K`` of the equations, taken apart: what it is made of, kept at one state.

M, C, K are the derivatives of the residual by y'', y' and y; m, c, k are numbers of the integrator. For
displacements they are exact on each link (with inertia, gyroscopic and centrifugal terms, damping, elasticity): a piece
gives

    Z = sum_ab W_ab int N_a' N_b dm + c alpha M + (k + c beta) K
    W = m + 2 c omega x + k (omega' x + omega x omega x)

What is left out are rates of T, which are smaller than what is kept by the angle that a joint turns within a step, and
modal damping, which would couple all nodes of a beam: Newton's iterations then gain a factor of the damping ratio each.
The few columns of q are differences of residuals.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from closedchain.march.erls.forces import inertia, tension
from closedchain.march.erls.forces import turning as turning_matrix
from closedchain.march.erls.memory import copy, inner, outer
from closedchain.march.erls.mesh import Mesh
from closedchain.march.erls.problem import Plan, Room
from closedchain.native.call import call3, call6

STEP_Q = 1e-7  # rad or m: differences by coordinates; the residual is smooth in them and exact to rounding
STEP_V = 1e-5  # rad/s or m/s: and by their rates, in which it is quadratic


class Linear(NamedTuple):
    """The equations around one state.

    Attributes
    ----------
    out : output of the motion there.
    u : (3, nodes, k) displacements of the nodes.
    told : derivatives of loads, and of D' f.
    by : (3, n, n_q) derivatives of the residual by q'', q' and q.
    W : (3, 3) turning matrix of a body.
    P, A, Q : (3, 4) fields of a piece.
    y, v, a, r, r0 : (n,) workspace.
    x, hats : input of the motion, and forces on the held nodes.
    """

    out: np.ndarray
    u: np.ndarray
    told: np.ndarray
    by: np.ndarray
    W: np.ndarray
    P: np.ndarray
    A: np.ndarray
    Q: np.ndarray
    y: np.ndarray
    v: np.ndarray
    a: np.ndarray
    r: np.ndarray
    r0: np.ndarray
    x: np.ndarray
    hats: np.ndarray


_F1, _F2, _F3 = numba.float64[::1], numba.float64[:, ::1], numba.float64[:, :, ::1]
LinearType = numba.types.NamedTuple((_F1, _F3, _F1, _F3, _F2, _F2, _F2, _F2, *(_F1,) * 7), Linear)


def make_linear(plan: Plan, mesh: Mesh, room: Room) -> Linear:
    """Memory for the derivatives."""
    n, nodes, k = plan.n, len(mesh.places), len(mesh.names)
    return Linear(
        out=np.zeros_like(room.out),
        u=np.zeros((3, nodes, k)),
        told=np.zeros_like(room.told),
        by=np.zeros((3, n, plan.n_q)),
        W=np.zeros((3, 3)),
        P=np.zeros((3, 4)),
        A=np.zeros((3, 4)),
        Q=np.zeros((3, 4)),
        y=np.zeros(n),
        v=np.zeros(n),
        a=np.zeros(n),
        r=np.zeros(n),
        r0=np.zeros(n),
        x=np.zeros_like(room.x),
        hats=np.zeros_like(room.hats),
    )


@outer
def linearise(plan, room, lin, table, clock, y, v, a):
    """Take the derivatives at a state; False where the residual cannot be computed.

    Parameters
    ----------
    table : memory of the residual, for calls by address.
    clock : the time; the second entry receives whether the residual could be computed.
    """
    for which in range(-1, 3 * plan.n_q):
        j, kind = which // 3, which % 3
        if which < 0:
            copy(lin.y, y)
            copy(lin.v, v)
            copy(lin.a, a)
            call6(plan.residual, table, clock, lin.y, lin.v, lin.a, lin.r0)
            if clock[1] == 0.0:
                return False
            copy(lin.out, room.out)
            copy(lin.u, room.u)
            copy(lin.hats, room.hats)
            copy(lin.x, room.x)
            continue
        step = 1.0 if kind == 0 else STEP_V if kind == 1 else STEP_Q
        moved = lin.a if kind == 0 else lin.v if kind == 1 else lin.y
        at = plan.n_chain + plan.n_u + j
        before = moved[at]
        moved[at] = before + step
        step = moved[at] - before
        call6(plan.residual, table, clock, lin.y, lin.v, lin.a, lin.r)
        moved[at] = before
        if clock[1] == 0.0:
            return False
        for i in range(plan.n):
            lin.by[kind, i, j] = (lin.r[i] - lin.r0[i]) / step
    n = lin.x.size
    for i in range(n):
        room.asked[i] = lin.x[i]
    for i in range(lin.hats.size):
        room.asked[n + i] = lin.hats[i]
    call3(plan.tangent, room.asked, room.w_tangent, lin.told)
    return True


@inner
def element_matrix(mesh, lin, piece, motion, m, c, k, W, Z):
    """Z (2 n, 2 n) of a piece; `lin.W` has to be the turning matrix of its body, W (3, 3) is workspace."""
    x, y, z = motion[0], motion[1], motion[2]
    alpha, beta = mesh.damping[piece, 0], mesh.damping[piece, 1]
    for i in range(3):
        for j in range(3):
            W[i, j] = k * lin.W[i, j]
        W[i, i] += m
    W[0, 1] -= 2.0 * c * z
    W[0, 2] += 2.0 * c * y
    W[1, 0] += 2.0 * c * z
    W[1, 2] -= 2.0 * c * x
    W[2, 0] -= 2.0 * c * y
    W[2, 1] += 2.0 * c * x
    size = Z.shape[0]
    axes = 2 if size == 6 else 3
    for i in range(size):
        for j in range(size):
            total = (k + c * beta) * mesh.K[piece, i, j] + (m + c * alpha) * mesh.spin[piece, i, j]
            for p in range(axes):
                total += c * alpha * mesh.B[piece, p, p, i, j]
                for q in range(axes):
                    total += W[p, q] * mesh.B[piece, p, q, i, j]
            Z[i, j] = total
    if mesh.stiffens[piece]:
        one, two, n = mesh.ends[piece, 0], mesh.ends[piece, 1], size // 2
        N = tension(mesh, piece, lin.u)
        EA = mesh.EA[piece] / mesh.length[piece]
        bent = np.empty(size)
        for i in range(size):
            bent[i] = 0.0
            for j in range(size):
                bent[i] += mesh.slopes[piece, i, j] * (lin.u[0, one, j] if j < n else lin.u[0, two, j - n])
        for i in range(size):
            e_i = -1.0 if i == 0 else 1.0 if i == n else 0.0
            for j in range(size):
                e_j = -1.0 if j == 0 else 1.0 if j == n else 0.0
                Z[i, j] += k * (N * mesh.slopes[piece, i, j] + EA * (bent[i] * bent[j] + e_i * bent[j] + bent[i] * e_j))


@inner
def link_rows(plan, mesh, lin, piece, motion, m, c, k, W, F, rows):
    """``J' F`` (n_q, 2 n): what displacements of a piece's nodes do to the rows of q, through the rigid link.

    W is that of `element_matrix`, F (6, 2 n) is workspace.
    """
    inertia(mesh, piece, motion, lin.u, lin.W, lin.P, lin.A, lin.Q)
    alpha = mesh.damping[piece, 0] if plan.resists else 0.0
    for a in range(3):  # P G
        W[a, a] += c * alpha
        for j in range(4):
            total = 0.0
            for i in range(4):
                total += lin.P[a, i] * mesh.G[piece, i, j]
            lin.A[a, j] = total
    size = F.shape[1]
    for col in range(size):
        for i in range(6):
            F[i, col] = 0.0
        for i in range(4):
            x, y, z = mesh.E[piece, 0, i, col], mesh.E[piece, 1, i, col], mesh.E[piece, 2, i, col]
            if x == 0.0 and y == 0.0 and z == 0.0:
                continue
            ax = W[0, 0] * x + W[0, 1] * y + W[0, 2] * z
            ay = W[1, 0] * x + W[1, 1] * y + W[1, 2] * z
            az = W[2, 0] * x + W[2, 1] * y + W[2, 2] * z
            px, py, pz = lin.A[0, i], lin.A[1, i], lin.A[2, i]
            qx, qy, qz = lin.Q[0, i], lin.Q[1, i], lin.Q[2, i]
            F[0, col] += py * az - pz * ay + k * (y * qz - z * qy)
            F[1, col] += pz * ax - px * az + k * (z * qx - x * qz)
            F[2, col] += px * ay - py * ax + k * (x * qy - y * qx)
        for a in range(3):
            total = W[a, 0] * mesh.N1[piece, 0, col]
            F[3 + a, col] = total + W[a, 1] * mesh.N1[piece, 1, col] + W[a, 2] * mesh.N1[piece, 2, col]
    jx, jy, jz = mesh.j[piece, 0], mesh.j[piece, 1], mesh.j[piece, 2]
    if jx != 0.0 or jy != 0.0 or jz != 0.0:
        weight = m + c * alpha
        x, y, z = c * motion[0], c * motion[1], c * motion[2]
        for col in range(size):
            hx, hy, hz = (
                jx * mesh.turned[piece, 0, col],
                jy * mesh.turned[piece, 1, col],
                jz * mesh.turned[piece, 2, col],
            )
            F[0, col] += weight * hx + y * hz - z * hy
            F[1, col] += weight * hy + z * hx - x * hz
            F[2, col] += weight * hz + x * hy - y * hx
    body = mesh.body[piece]
    for j in range(plan.n_q):
        for col in range(size):
            total = 0.0
            for i in range(6):
                total += lin.out[plan.J + (6 * body + i) * plan.n_q + j] * F[i, col]
            rows[j, col] = total


@inner
def turn(plan, lin, body):
    """Put the turning matrix of a body in its place."""
    turning_matrix(lin.out[plan.bodies + 12 * body : plan.bodies + 12 * body + 12], lin.W)
