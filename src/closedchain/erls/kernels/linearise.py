"""What the iteration matrix ``Z = m M + c C + k K`` is made of, at one state: derivatives of the forces of each piece.

M, C, K are the derivatives of the residual by y'', y' and y; m, c, k are numbers of the integrator. The forces of a
piece are a function of the displacements of its nodes ``u_hat``, of their rates and accelerations, and of the rates
that damping acts on. Their derivatives by each are

    by u_hat''      sum_ab int N_a' W_ab N_b dm       W = 1
    by u_hat'       the same                          W = 2 omega x
    by u_hat        the same, plus elasticity         W = omega' x + omega x omega x
    by the rates    alpha M + beta K

with what sections do that turn (`sections`), and so are those of what it does to the rows of q. `condense` adds them up
with the weights of the integrator. All derivatives by displacements are exact: rates of T, stiffening, loads and
damping of all kinds are in them.

The few columns of q are differences of residuals. By q'' these are linear, and by q' quadratic but for loads, whose
derivatives are traced: one-sided and central differences of them are exact, with any step. By q central differences
leave an error of about 1e-9.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from closedchain.erls.kernels.forces import arm, inertia, tension, turning
from closedchain.erls.kernels.problem import Plan, Room
from closedchain.erls.kernels.sections import plus, row, section_moments, turned
from closedchain.erls.mesh import Mesh
from closedchain.native.call import call
from closedchain.native.memory import copy, fill, inner, outer

# rad, or of the longest beam, in the mechanism's time; powers of two, so that differences of what is linear are not
# rounded
STEP_A = 1024.0  # large against rounding; the residual is linear
STEP_V = 1.0  # forces of the links are quadratic
STEP_Q = 2.0**-17  # 8e-6: errors of rounding are about as large as those of the third derivative
ACCELERATIONS, RATES, DISPLACEMENTS, DAMPING = range(4)  # what the forces of a piece are differentiated by


class Linear(NamedTuple):
    """The equations around one state.

    Attributes
    ----------
    out : output of the motion there.
    told : rates of T, derivatives of loads, and of D' f.
    of : (pieces, 4, 2 k + n_q, 2 k) derivatives of the forces of a piece on its nodes, and on q through its rigid link,
        by accelerations, rates and displacements of its nodes, and by the rates that damping acts on.
    by : (3, n, n_q) derivatives of the residual by q'', q' and q.
    W, F : (3, 3), (6, 2 k) workspace.
    y, v, a, r, r0, behind : (n,) workspace.
    """

    out: np.ndarray
    told: np.ndarray
    of: np.ndarray
    by: np.ndarray
    W: np.ndarray
    F: np.ndarray
    y: np.ndarray
    v: np.ndarray
    a: np.ndarray
    r: np.ndarray
    r0: np.ndarray
    behind: np.ndarray


_F1, _F2, _F3 = numba.float64[::1], numba.float64[:, ::1], numba.float64[:, :, ::1]
_F4 = numba.types.Array(numba.float64, 4, "C")
LinearType = numba.types.NamedTuple((_F1, _F1, _F4, _F3, _F2, _F2, *(_F1,) * 6), Linear)


def difference_steps(sizes: np.ndarray, time: float) -> np.ndarray:
    """Steps of differences by q'', q' and q of these sizes (n_q + 1, 3); the last row is for rotations of sections."""
    rates = np.array([STEP_A / time**2, STEP_V / time, STEP_Q])
    steps = np.vstack([np.outer(sizes, rates), [STEP_V / time**2, STEP_V / time, STEP_V]])
    return 2.0 ** np.round(np.log2(steps))


def make_linear(plan: Plan, mesh: Mesh, room: Room) -> Linear:
    """Memory for the derivatives."""
    n, k = plan.n, len(mesh.names)
    return Linear(
        out=np.zeros_like(room.motion.out),
        told=np.zeros_like(room.tangent.out),
        of=np.zeros((len(mesh.pieces), 4, 2 * k + plan.n_q, 2 * k)),
        by=np.zeros((3, n, plan.n_q)),
        W=np.zeros((3, 3)),
        F=np.zeros((6, 2 * k)),
        y=np.zeros(n),
        v=np.zeros(n),
        a=np.zeros(n),
        r=np.zeros(n),
        r0=np.zeros(n),
        behind=np.zeros(n),
    )


@outer
def linearise(plan, mesh, room, lin, memory, clock, state):
    """Take the derivatives at a state; False where the residual cannot be computed.

    Parameters
    ----------
    memory : of the residual, for calls by address.
    clock : the time; the second entry receives whether the residual could be computed.
    state : y, y' and y''.
    """
    copy(lin.y, state[0])
    copy(lin.v, state[1])
    copy(lin.a, state[2])
    call(plan.functions.residual, memory, clock, lin.y, lin.v, lin.a, lin.r0)
    if clock[1] == 0.0:
        return False
    copy(lin.out, room.motion.out)
    n = room.motion.x.size
    for i in range(n):
        room.tangent.x[i] = room.motion.x[i]
    for i in range(room.nodes.hats.size):
        room.tangent.x[n + i] = room.nodes.hats[i]
    call(plan.functions.tangent, room.tangent.x, room.tangent.w, lin.told)
    for piece in range(mesh.body.size):
        of_piece(plan, mesh, room, lin, piece)

    # columns of q'', q' and q
    loads = plan.n_u + plan.n_q
    for which in range(3 * plan.n_q):
        j, kind = which // 3, which % 3
        moved = lin.a if kind == 0 else lin.v if kind == 1 else lin.y
        at = plan.n_chain + plan.n_u + j
        now, width = moved[at], 0.0
        copy(lin.behind, lin.r0)
        for side in range(1 if kind == 0 else 0, 2):
            r = lin.r if side else lin.behind
            step = room.steps[j, kind]
            moved[at] = now + (step if side else -step)
            width += abs(moved[at] - now)
            call(plan.functions.residual, memory, clock, lin.y, lin.v, lin.a, r)
            moved[at] = now
            if clock[1] == 0.0:
                return False
            for i in range(loads if kind == 1 else 0):
                r[plan.n_chain + i] += room.motion.out[plan.loads.on_u + i]
        for i in range(plan.n):
            lin.by[kind, i, j] = (lin.r[i] - lin.behind[i]) / width
        for i in range(loads if kind == 1 else 0):
            lin.by[kind, plan.n_chain + i, j] -= lin.told[plan.tangent.by_w + i * plan.n_q + j]
    return True


@inner
def of_piece(plan, mesh, room, lin, piece):
    """Derivatives of the forces of a piece, where the residual has been computed last."""
    one, elastic = room.piece, mesh.elastic
    body = mesh.body[piece]
    motion = lin.out[plan.motion.bodies + 12 * body : plan.motion.bodies + 12 * body + 12]
    turning(motion, one.W)
    inertia(mesh, piece, motion, room.nodes.u, one.W, one.P, one.A, one.Q)
    for a in range(3):  # P G, in place of the accelerations
        for j in range(4):
            total = 0.0
            for i in range(4):
                total += one.P[a, i] * mesh.field.G[piece, i, j]
            one.A[a, j] = total
    size = lin.F.shape[1]
    for kind in range(3):
        fields(motion, kind, one.W, lin.W)
        on_nodes(mesh, piece, kind, lin.W, lin.of[piece, kind])
        through_link(mesh, piece, kind, lin.W, one.A, one.Q, lin.F)
        if mesh.sections.j[piece, 0] + mesh.sections.j[piece, 1] + mesh.sections.j[piece, 2] > 0.0:
            step = room.steps[plan.n_q, kind]
            of_sections(mesh, room, piece, kind, step, motion, lin.F, lin.of[piece, kind])
        on_coordinates(plan, lin, body, lin.F, lin.of[piece, kind])
    if elastic.stiffens[piece]:
        stiffened(mesh, piece, room.nodes.u, lin.of[piece, DISPLACEMENTS])

    alpha, beta = elastic.damping[piece, 0], elastic.damping[piece, 1]
    Z = lin.of[piece, DAMPING]
    for i in range(size):
        for j in range(size):
            Z[i, j] = alpha * lin.of[piece, ACCELERATIONS, i, j] + beta * elastic.K[piece, i, j]
    if plan.options.resists:  # the paper's acts on the rigid link, too, by mass
        fill(lin.F, 0.0)
        for i in range(size):
            row, turns, lever = arm(mesh, piece, i, size // 2)
            for j in range(size):
                mass = alpha * lin.of[piece, ACCELERATIONS, i, j]
                lin.F[row, j] += mass
                lin.F[turns, j] += lever * mass
        on_coordinates(plan, lin, body, lin.F, Z)


@inner
def fields(motion, kind, turns, W):
    """What turns a field of displacements, rates or accelerations into accelerations of points (3, 3)."""
    if kind == DISPLACEMENTS:
        copy(W, turns)
        return
    fill(W, 0.0)
    if kind == RATES:
        x, y, z = 2.0 * motion[0], 2.0 * motion[1], 2.0 * motion[2]
        W[0, 1], W[0, 2], W[1, 2] = -z, y, -x
        W[1, 0], W[2, 0], W[2, 1] = z, -y, x
    else:
        W[0, 0], W[1, 1], W[2, 2] = 1.0, 1.0, 1.0


@inner
def on_nodes(mesh, piece, kind, W, Z):
    """Forces on the nodes: inertia and elasticity."""
    size = Z.shape[1]
    axes = 2 if size == 6 else 3
    for i in range(size):
        for j in range(size):
            total = 0.0
            if kind == DISPLACEMENTS:
                total = mesh.elastic.K[piece, i, j]
            for p in range(axes):
                for q in range(axes):
                    total += W[p, q] * mesh.field.B[piece, p, q, i, j]
            Z[i, j] = total


@inner
def stiffened(mesh, piece, u, Z):
    """Add what axial strain by bending does: the tension's part, and that of its change."""
    size = Z.shape[1]
    one, two, n = mesh.ends[piece, 0], mesh.ends[piece, 1], size // 2
    N = tension(mesh, piece, u)
    EA = mesh.elastic.EA[piece] / mesh.length[piece]
    bent = np.empty(size)
    for i in range(size):
        bent[i] = 0.0
        for j in range(size):
            bent[i] += mesh.elastic.slopes[piece, i, j] * (u[0, one, j] if j < n else u[0, two, j - n])
    for i in range(size):
        e_i = -1.0 if i == 0 else 1.0 if i == n else 0.0
        for j in range(size):
            e_j = -1.0 if j == 0 else 1.0 if j == n else 0.0
            Z[i, j] += N * mesh.elastic.slopes[piece, i, j] + EA * (bent[i] * bent[j] + e_i * bent[j] + bent[i] * e_j)


@inner
def through_link(mesh, piece, kind, W, PG, Q, F):
    """Moment and force F (6, 2 k) on the rigid link by displacements of the nodes, or by their rates."""
    field = mesh.field
    size = F.shape[1]
    for col in range(size):
        for i in range(6):
            F[i, col] = 0.0
        for i in range(4):
            x, y, z = field.E[piece, 0, i, col], field.E[piece, 1, i, col], field.E[piece, 2, i, col]
            if x == 0.0 and y == 0.0 and z == 0.0:
                continue
            ax = W[0, 0] * x + W[0, 1] * y + W[0, 2] * z
            ay = W[1, 0] * x + W[1, 1] * y + W[1, 2] * z
            az = W[2, 0] * x + W[2, 1] * y + W[2, 2] * z
            px, py, pz = PG[0, i], PG[1, i], PG[2, i]
            F[0, col] += py * az - pz * ay
            F[1, col] += pz * ax - px * az
            F[2, col] += px * ay - py * ax
            if kind == DISPLACEMENTS:  # points move under the forces on them
                qx, qy, qz = Q[0, i], Q[1, i], Q[2, i]
                F[0, col] += y * qz - z * qy
                F[1, col] += z * qx - x * qz
                F[2, col] += x * qy - y * qx
        for a in range(3):
            total = W[a, 0] * field.N1[piece, 0, col]
            F[3 + a, col] = total + W[a, 1] * field.N1[piece, 1, col] + W[a, 2] * field.N1[piece, 2, col]


@inner
def of_sections(mesh, room, piece, kind, step, motion, F, Z):
    """Add what sections do that turn, to the nodes and to the rigid link.

    Their moments are of second degree in rotations: central differences of them are exact, with any step.
    """
    u, turn = room.nodes.u, room.piece.turn
    jx, jy, jz = mesh.sections.j[piece, 0], mesh.sections.j[piece, 1], mesh.sections.j[piece, 2]
    size = F.shape[1]
    if size == 6:  # in a plane: jz (omega' + theta'')
        if kind == ACCELERATIONS:
            for i in range(size):
                F[2, i] += jz * mesh.sections.turned[piece, 2, i]
                for j in range(size):
                    Z[i, j] += mesh.sections.spin[piece, i, j]
        return
    i1, i2 = mesh.ends[piece, 0], mesh.ends[piece, 1]
    omega, omega_dot = (motion[0], motion[1], motion[2]), (motion[3], motion[4], motion[5])
    moved = 2 - kind  # displacements, rates and accelerations are in the other order in u
    for point in range(mesh.sections.at.shape[1]):
        section, turns = mesh.sections.at[piece, point], mesh.sections.turns[piece, point]
        for i in range(3):
            turn[i, 0], turn[i, 1], turn[i, 2] = turned(section, u[i, i1], u[i, i2])
        for axis in range(3):
            now = turn[moved, axis]
            turn[moved, axis] = now + step
            m1, link1 = section_moments((jx, jy, jz), omega, omega_dot, row(turn, 0), row(turn, 1), row(turn, 2))
            turn[moved, axis] = now - step
            m0, link0 = section_moments((jx, jy, jz), omega, omega_dot, row(turn, 0), row(turn, 1), row(turn, 2))
            turn[moved, axis] = now
            by, on = plus(m1, m0, -1.0), plus(link1, link0, -1.0)
            for j in range(size):
                factor = section[0] * turns[axis, j] / (2.0 * step)
                if factor == 0.0:
                    continue
                for i in range(3):
                    F[i, j] += factor * on[i]
                x, y, z = factor * by[0], factor * by[1], factor * by[2]
                for i in range(size):
                    Z[i, j] += x * turns[0, i] + y * turns[1, i] + z * turns[2, i]


@inner
def on_coordinates(plan, lin, body, F, Z):
    """Rows of q of a piece: ``J' F``, below those of its nodes."""
    size = F.shape[1]
    for j in range(plan.n_q):
        for col in range(size):
            total = 0.0
            for i in range(6):
                total += lin.out[plan.motion.J + (6 * body + i) * plan.n_q + j] * F[i, col]
            Z[size + j, col] = total
