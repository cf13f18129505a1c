"""Solve ``Z x = b`` link by link: nodes between joints are eliminated chain by chain, what is left is small and dense.

A chain of nodes between two held ones is block tridiagonal. Eliminated, it acts on the displacements of its two ends
and on q as one element would: cost grows in proportion to the number of elements. The dense system has the
displacements u at joints and q, with the rows and columns of zeroed displacements left out; with ``terms="paper"`` it
has all rows of u and none of q instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from closedchain.march.erls.condense import condense, connect
from closedchain.march.erls.linearise import turn
from closedchain.march.erls.memory import outer
from closedchain.march.erls.problem import Plan
from closedchain.march.linear import factorise, substitute


class Kept(NamedTuple):
    """Which rows and columns of the dense system (u, q) are solved, and the pivots of its factors."""

    rows: np.ndarray
    columns: np.ndarray
    pivots: np.ndarray
    work: np.ndarray


KeptType = numba.types.NamedUniTuple(numba.int64[::1], 4, Kept)


def make_kept(plan: Plan, zeroed: np.ndarray) -> Kept:
    """Rows and columns of the dense system (u, q) that are solved; zeroed are numbers among u."""
    left = np.array([i for i in range(plan.n_u) if i not in set(zeroed.tolist())], np.int64)
    q = plan.n_u + np.arange(plan.n_q)
    rows = np.concatenate([left, zeroed if plan.paper else q]).astype(np.int64)
    columns = np.concatenate([left, q]).astype(np.int64)
    return Kept(rows, columns, np.zeros(plan.n_u, np.int64), np.zeros(plan.n_u, np.int64))


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
