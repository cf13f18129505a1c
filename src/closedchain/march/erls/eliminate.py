"""Solve ``Z x = b`` link by link: nodes between joints are eliminated chain by chain, what is left is small and dense.

A chain of nodes between two held ones is block tridiagonal. Eliminated, it acts on the displacements of its two ends and on
q as one element would: cost grows in proportion to the number of elements. The dense system has the displacements u at
joints and q, with the rows and columns of zeroed displacements left out; with ``terms="paper"`` it has all rows of u and
none of q instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from closedchain.march.erls.evaluate import Plan
from closedchain.march.erls.linearise import element_matrix, link_rows, turn
from closedchain.march.erls.memory import copy, fill, inner, outer
from closedchain.march.erls.mesh import Mesh
from closedchain.march.linear import factorise, substitute


class Factors(NamedTuple):
    """Factors of an iteration matrix.

    Attributes
    ----------
    inverse, lower, upper : (chain nodes, k, k) eliminated diagonal blocks, inverted, and their neighbours.
    X : (chain nodes, k, 2 k + n_q) what the two ends of the chain and q do to each node.
    left, right : (chains, k, k) rows of the ends of a chain on its first and last node.
    on_q : (chain nodes, n_q, k) rows of q.
    full : (u and q, u and q) what is left; dense : (m, m) the factors of its rows and columns that are solved, by columns.
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


class Kept(NamedTuple):
    """Which rows and columns of the dense system (u, q) are solved, and the pivots of its factors."""

    rows: np.ndarray
    columns: np.ndarray
    pivots: np.ndarray
    work: np.ndarray


_I1, _F1, _F2, _F3 = numba.int64[::1], numba.float64[::1], numba.float64[:, ::1], numba.float64[:, :, ::1]
FactorsType = numba.types.NamedTuple((_F3,) * 7 + (_F2,) * 9 + (_F1,) * 3, Factors)
KeptType = numba.types.NamedUniTuple(_I1, 4, Kept)


def make_factors(plan: Plan, mesh: Mesh) -> Factors:
    """Memory for the factors."""
    k, q, nodes, chains = len(mesh.names), plan.n_q, len(mesh.chain_nodes), len(mesh.arrays.chains)
    m = 2 * k + q
    kept = plan.n_u  # as many displacements are zeroed as there are coordinates
    size = plan.n_u + q
    shapes = [(nodes, k, k)] * 3 + [(nodes, k, m)] + [(chains, k, k)] * 2 + [(nodes, q, k)]
    shapes += [(kept, kept), (size, size), (2 * k, 2 * k), (6, 2 * k), (3, 3), (q, 2 * k), (m, m), (k, k), (k, m)]
    return Factors(*map(np.zeros, shapes), *map(np.zeros, (kept, m, plan.n_held)))


def make_kept(plan: Plan, zeroed: np.ndarray) -> Kept:
    """Rows and columns of the dense system (u, q) that are solved; zeroed are numbers among u."""
    left = np.array([i for i in range(plan.n_u) if i not in set(zeroed.tolist())], np.int64)
    q = plan.n_u + np.arange(plan.n_q)
    rows = np.concatenate([left, zeroed if plan.paper else q]).astype(np.int64)
    columns = np.concatenate([left, q]).astype(np.int64)
    return Kept(rows, columns, np.zeros(plan.n_u, np.int64), np.zeros(plan.n_u, np.int64))


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


@outer
def assemble(plan, mesh, lin, z, m, c, k):
    """Condense all chains and add up the dense matrix of u and q, in `z.full`; False if a chain is singular."""
    q, nu = plan.n_q, plan.n_u
    A = z.full
    for i in range(nu + q):
        at = plan.n_chain + i
        for j in range(nu):
            loads = k * lin.told[plan.by_u + i * nu + j] + c * lin.told[plan.by_u_dot + i * nu + j]
            A[i, j] = -loads - m * lin.told[plan.by_u_ddot + i * nu + j]
            if i >= nu:
                A[i, j] += k * lin.told[plan.turning + (i - nu) * nu + j]
        for j in range(q):
            A[i, nu + j] = m * lin.by[0, at, j] + c * lin.by[1, at, j] + k * lin.by[2, at, j]
    for chain in range(mesh.chains.shape[0]):
        turn(plan, lin, mesh.body[mesh.chains[chain, 2]])
        if not condense(plan, mesh, lin, z, chain, m, c, k):
            return False
        connect(plan, mesh, lin, z, mesh.chains[chain, 0], mesh.chains[chain, 1])
    return True


@outer
def factor(plan, mesh, lin, z, kept, m, c, k):
    """Factorise ``m M + c C + k K``; False if it is singular."""
    if not assemble(plan, mesh, lin, z, m, c, k):
        return False
    for i in range(kept.rows.size):
        for j in range(kept.columns.size):
            z.dense[j, i] = z.full[kept.rows[i], kept.columns[j]]
    return factorise(z.dense, kept.pivots, kept.work)


@outer
def solve(plan, mesh, lin, z, kept, b):
    """Solve ``Z x = b`` in place (n,); zeroed displacements stay zero."""
    n, q, nu, first = z.left.shape[1], plan.n_q, plan.n_u, plan.n_chain + plan.n_u

    # downwards through the chains
    for chain in range(mesh.chains.shape[0]):
        one, two, inner = mesh.chains[chain, 0], mesh.chains[chain, 1], mesh.chains[chain, 3]
        if inner <= 0:
            continue
        begin = mesh.chain[one + 1]
        for i in range(begin, begin + inner):
            if i > begin:
                for row in range(n):  # z.ends serves as workspace: inverse of the block before, times its part of b
                    total = 0.0
                    for j in range(n):
                        total += z.inverse[i - 1, row, j] * b[(i - 1) * n + j]
                    z.ends[row] = total
                for row in range(n):
                    for j in range(n):
                        b[i * n + row] -= z.lower[i, row, j] * z.ends[j]
        for i in range(begin + inner - 1, begin - 1, -1):
            if i < begin + inner - 1:
                for row in range(n):
                    for j in range(n):
                        b[i * n + row] -= z.upper[i, row, j] * b[(i + 1) * n + j]
            for row in range(n):
                total = 0.0
                for j in range(n):
                    total += z.inverse[i, row, j] * b[i * n + j]
                z.ends[row] = total
            for row in range(n):
                b[i * n + row] = z.ends[row]
        # what that does to the ends, and to q
        for end in range(2):
            at, node = (begin, one) if end == 0 else (begin + inner - 1, two)
            for row in range(n):
                total = 0.0
                for j in range(n):
                    entry = z.left[chain, row, j] if end == 0 else z.right[chain, row, j]
                    total += entry * b[at * n + j]
                hat = mesh.held[node] * n + row
                for s in range(mesh.begin[hat], mesh.begin[hat + 1]):
                    entry = mesh.order[s]
                    b[plan.n_chain + mesh.columns[entry]] -= lin.out[plan.T + entry] * total
                for p in range(q):
                    b[first + p] -= lin.out[plan.D + hat * q + p] * total
        for i in range(begin, begin + inner):
            for p in range(q):
                for j in range(n):
                    b[first + p] -= z.on_q[i, p, j] * b[i * n + j]

    for i in range(kept.rows.size):
        z.b[i] = b[plan.n_chain + kept.rows[i]]
    substitute(z.dense, kept.pivots, z.b)
    for i in range(nu + q):
        b[plan.n_chain + i] = 0.0
    for i in range(kept.columns.size):
        b[plan.n_chain + kept.columns[i]] = z.b[i]

    # and back to the chains
    hats = z.hats
    for hat in range(plan.n_held):
        total = 0.0
        for s in range(mesh.begin[hat], mesh.begin[hat + 1]):
            entry = mesh.order[s]
            total += lin.out[plan.T + entry] * b[plan.n_chain + mesh.columns[entry]]
        hats[hat] = total
    for chain in range(mesh.chains.shape[0]):
        one, two, inner = mesh.chains[chain, 0], mesh.chains[chain, 1], mesh.chains[chain, 3]
        if inner <= 0:
            continue
        begin = mesh.chain[one + 1]
        for j in range(n):
            z.ends[j] = hats[mesh.held[one] * n + j]
            z.ends[n + j] = hats[mesh.held[two] * n + j]
        for p in range(q):
            z.ends[2 * n + p] = b[first + p]
        for i in range(begin, begin + inner):
            for row in range(n):
                for j in range(2 * n + q):
                    b[i * n + row] -= z.X[i, row, j] * z.ends[j]
