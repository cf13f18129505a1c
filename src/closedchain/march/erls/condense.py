"""A chain of beam nodes between two held ones, condensed: what it does to its ends and to q, as one element would.

The chain is block tridiagonal; it is eliminated downwards and upwards, in a time in proportion to its elements. A rigid
body is a chain with one end.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from closedchain.march.erls.linearise import element_matrix, link_rows
from closedchain.march.erls.memory import copy, fill, inner
from closedchain.march.erls.mesh import Mesh
from closedchain.march.erls.problem import Plan


class Factors(NamedTuple):
    """Factors of an iteration matrix.

    Attributes
    ----------
    inverse, lower, upper : (chain nodes, k, k) eliminated diagonal blocks, inverted, and their neighbours.
    X : (chain nodes, k, 2 k + n_q) what the two ends of the chain and q do to each node.
    left, right : (chains, k, k) rows of the ends of a chain on its first and last node.
    on_q : (chain nodes, n_q, k) rows of q.
    full : (u and q, u and q) what is left; dense : (m, m) the factors of its rows and columns that are solved, by
        columns.
    Z, F, W, last, condensed, block, other : workspace.
    b, ends, hats : (m,), (2 k + n_q,), (n_held,) right-hand side, ends of a chain, displacements of held nodes.
    """

    inverse: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    X: np.ndarray
    left: np.ndarray
    right: np.ndarray
    on_q: np.ndarray
    dense: np.ndarray
    full: np.ndarray
    Z: np.ndarray
    F: np.ndarray
    W: np.ndarray
    last: np.ndarray
    condensed: np.ndarray
    block: np.ndarray
    other: np.ndarray
    b: np.ndarray
    ends: np.ndarray
    hats: np.ndarray


_F1, _F2, _F3 = numba.float64[::1], numba.float64[:, ::1], numba.float64[:, :, ::1]
FactorsType = numba.types.NamedTuple((_F3,) * 7 + (_F2,) * 9 + (_F1,) * 3, Factors)


def make_factors(plan: Plan, mesh: Mesh) -> Factors:
    """Memory for the factors."""
    k, q, nodes, chains = len(mesh.names), plan.n_q, len(mesh.chain_nodes), len(mesh.arrays.chains)
    m = 2 * k + q
    kept = plan.n_u  # as many displacements are zeroed as there are coordinates
    size = plan.n_u + q
    return Factors(
        inverse=np.zeros((nodes, k, k)),
        lower=np.zeros((nodes, k, k)),
        upper=np.zeros((nodes, k, k)),
        X=np.zeros((nodes, k, m)),
        left=np.zeros((chains, k, k)),
        right=np.zeros((chains, k, k)),
        on_q=np.zeros((nodes, q, k)),
        dense=np.zeros((kept, kept)),
        full=np.zeros((size, size)),
        Z=np.zeros((2 * k, 2 * k)),
        F=np.zeros((6, 2 * k)),
        W=np.zeros((3, 3)),
        last=np.zeros((q, 2 * k)),
        condensed=np.zeros((m, m)),
        block=np.zeros((k, k)),
        other=np.zeros((k, m)),
        b=np.zeros(kept),
        ends=np.zeros(m),
        hats=np.zeros(plan.n_held),
    )


@inner
def invert(A, out):
    """The inverse of a small matrix by elimination with row pivots; A is lost. False if it is singular."""
    n = A.shape[0]
    for i in range(n):
        for j in range(n):
            out[i, j] = 0.0
        out[i, i] = 1.0
    for k in range(n):
        p, largest = k, 0.0
        for i in range(k, n):
            size = abs(A[i, k])
            if size > largest:
                p, largest = i, size
        if not 0.0 < largest < np.inf:
            return False
        if p != k:
            for j in range(n):
                A[k, j], A[p, j] = A[p, j], A[k, j]
                out[k, j], out[p, j] = out[p, j], out[k, j]
        inverse = 1.0 / A[k, k]
        for j in range(n):
            A[k, j] *= inverse
            out[k, j] *= inverse
        for i in range(n):
            factor = A[i, k]
            if i != k and factor != 0.0:
                for j in range(n):
                    A[i, j] -= factor * A[k, j]
                    out[i, j] -= factor * out[k, j]
    return True


@inner
def subtract(A, B, out):
    """``out -= A B``."""
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            factor = A[i, k]
            if factor != 0.0:
                for j in range(B.shape[1]):
                    out[i, j] -= factor * B[k, j]


@inner
def multiply(A, B, out):
    """``out = A B``."""
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            out[i, j] = 0.0
        for k in range(A.shape[1]):
            factor = A[i, k]
            if factor != 0.0:
                for j in range(B.shape[1]):
                    out[i, j] += factor * B[k, j]


@inner
def condense(plan, mesh, lin, z, chain, m, c, k):
    """Eliminate the nodes of a chain; `z.condensed` is then what the chain does to its ends and to q.

    A rigid body is a chain with one end.
    """
    first, piece, inner = mesh.chains[chain, 0], mesh.chains[chain, 2], mesh.chains[chain, 3]
    n, q = z.left.shape[1], plan.n_q
    both = 2 * n + q
    body = mesh.body[piece]
    motion = lin.out[plan.bodies + 12 * body : plan.bodies + 12 * body + 12]
    begin = mesh.chain[first + 1] if inner > 0 else 0
    S = z.condensed
    fill(S, 0.0)
    for i in range(begin, begin + inner):
        fill(z.X[i], 0.0)
        fill(z.inverse[i], 0.0)
        for row in range(n):
            for j in range(q):
                at = i * n + row
                z.X[i, row, 2 * n + j] = m * lin.by[0, at, j] + c * lin.by[1, at, j] + k * lin.by[2, at, j]

    # elements: blocks of inner nodes, of the ends, and rows of q
    for e in range(max(inner + 1, 1)):
        element_matrix(mesh, lin, piece + e, motion, m, c, k, z.W, z.Z)
        link_rows(plan, mesh, lin, piece + e, motion, m, c, k, z.W, z.F, z.last)
        left, right = begin + e - 1, begin + e
        for i in range(n):
            for j in range(n):
                if e == 0:
                    S[i, j] += z.Z[i, j]
                else:
                    z.inverse[left, i, j] += z.Z[i, j]
                if inner < 0:
                    continue
                if e == inner:
                    S[n + i, n + j] += z.Z[n + i, n + j]
                else:
                    z.inverse[right, i, j] += z.Z[n + i, n + j]
                if inner == 0:
                    S[i, n + j] += z.Z[i, n + j]
                    S[n + i, j] += z.Z[n + i, j]
                elif e == 0:
                    z.left[chain, i, j] = z.Z[i, n + j]
                    z.X[right, i, j] = z.Z[n + i, j]
                elif e == inner:
                    z.right[chain, i, j] = z.Z[n + i, j]
                    z.X[left, i, n + j] = z.Z[i, n + j]
                if 0 < e < inner:
                    z.upper[left, i, j] = z.Z[i, n + j]
                    z.lower[right, i, j] = z.Z[n + i, j]
        for j in range(q):
            for i in range(n):
                if e == 0:
                    S[2 * n + j, i] += z.last[j, i]
                else:
                    z.on_q[left, j, i] += z.last[j, i]
                if inner < 0:
                    continue
                if e == inner:
                    S[2 * n + j, n + i] += z.last[j, n + i]
                else:
                    z.on_q[right, j, i] = z.last[j, n + i]
    if inner <= 0:
        return True

    # block elimination downwards, then upwards
    for i in range(begin, begin + inner):
        if i > begin:
            multiply(z.lower[i], z.inverse[i - 1], z.block)
            subtract(z.block, z.upper[i - 1], z.inverse[i])
            subtract(z.block, z.X[i - 1], z.X[i])
        copy(z.block, z.inverse[i])
        if not invert(z.block, z.inverse[i]):
            return False
    for i in range(begin + inner - 1, begin - 1, -1):
        if i < begin + inner - 1:
            subtract(z.upper[i], z.X[i + 1], z.X[i])
        multiply(z.inverse[i], z.X[i], z.other)
        copy(z.X[i], z.other)

    # what is left at the ends and for q
    subtract(z.left[chain], z.X[begin], S[:n])
    subtract(z.right[chain], z.X[begin + inner - 1], S[n : 2 * n])
    for i in range(begin, begin + inner):
        subtract(z.on_q[i], z.X[i], S[2 * n : both])
    return True


@inner
def connect(plan, mesh, lin, z, one, two):
    """Add a condensed chain between the held nodes one and two (-1: a rigid body) to the dense matrix."""
    n, q = z.left.shape[1], plan.n_q
    S, A = z.condensed, z.full
    ends = 2 * n if two >= 0 else n
    for i in range(ends):
        row = mesh.held[one] * n + i if i < n else mesh.held[two] * n + i - n
        for s in range(mesh.begin[row], mesh.begin[row + 1]):
            entry = mesh.order[s]
            u, T = mesh.columns[entry], lin.out[plan.T + entry]
            for j in range(ends):
                col = mesh.held[one] * n + j if j < n else mesh.held[two] * n + j - n
                for o in range(mesh.begin[col], mesh.begin[col + 1]):
                    other = mesh.order[o]
                    A[u, mesh.columns[other]] += T * S[i, j] * lin.out[plan.T + other]
            for j in range(q):
                A[u, plan.n_u + j] += T * S[i, 2 * n + j]
        for p in range(q):  # rows of q: through D, and directly
            D = lin.out[plan.D + row * q + p]
            if D != 0.0:
                for j in range(ends):
                    col = mesh.held[one] * n + j if j < n else mesh.held[two] * n + j - n
                    for o in range(mesh.begin[col], mesh.begin[col + 1]):
                        other = mesh.order[o]
                        A[plan.n_u + p, mesh.columns[other]] += D * S[i, j] * lin.out[plan.T + other]
                for j in range(q):
                    A[plan.n_u + p, plan.n_u + j] += D * S[i, 2 * n + j]
            for o in range(mesh.begin[row], mesh.begin[row + 1]):
                other = mesh.order[o]
                A[plan.n_u + p, mesh.columns[other]] += S[2 * n + p, i] * lin.out[plan.T + other]
    for p in range(q):
        for j in range(q):
            A[plan.n_u + p, plan.n_u + j] += S[2 * n + p, 2 * n + j]
