"""Solve ``Z x = b`` link by link: nodes between joints are eliminated chain by chain, what is left is small and dense.

A chain of nodes between two held ones is block tridiagonal. Eliminated, it acts on the displacements of its two ends
and on q as one element would: cost grows in proportion to the number of elements. The dense system has the
displacements u at joints and q, with the rows and columns of zeroed displacements left out; with ``terms="paper"`` it
has all rows of u and none of q instead.

Modal damping ``F F' u_hat'`` would couple all nodes of a beam. Its *swings* ``s = F' u_hat'``, a few for each beam, are
unknowns of the dense system instead (what q does to them is in the columns of q):

    ... + F s = b,        s - F' u_hat' = 0
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from closedchain.erls.kernels.condense import condense, connect
from closedchain.erls.kernels.problem import Plan
from closedchain.integrate.linear import factorise, substitute
from closedchain.native.memory import fill, inner, outer


class Kept(NamedTuple):
    """Which rows and columns of the dense system (u, q, swings) are solved, and the pivots of its factors."""

    rows: np.ndarray
    columns: np.ndarray
    pivots: np.ndarray
    work: np.ndarray


KeptType = numba.types.NamedUniTuple(numba.int64[::1], 4, Kept)


def make_kept(plan: Plan, zeroed: np.ndarray, swings: int) -> Kept:
    """Rows and columns of the dense system (u, q, swings) that are solved; zeroed are numbers among u."""
    left = np.array([i for i in range(plan.n_u) if i not in set(zeroed.tolist())], np.int64)
    q, s = np.split(plan.n_u + np.arange(plan.n_q + swings), [plan.n_q])
    rows = np.concatenate([left, zeroed if plan.options.paper else q, s]).astype(np.int64)
    columns = np.concatenate([left, q, s]).astype(np.int64)
    return Kept(rows, columns, np.zeros(rows.size, np.int64), np.zeros(rows.size, np.int64))


@outer
def assemble(plan, mesh, lin, z, m, c, k):
    """Condense all chains and add up the dense matrix of u, q and swings, in `z.rest`; False if a chain is singular."""
    q, nu = plan.n_q, plan.n_u
    A = z.rest.full
    told, by, begin = lin.told, lin.by, plan.tangent
    fill(A, 0.0)
    for i in range(nu + q):
        at = plan.n_chain + i
        for j in range(nu):
            loads = k * told[begin.by_u + i * nu + j] + c * told[begin.by_u_dot + i * nu + j]
            A[i, j] = -loads - m * told[begin.by_u_ddot + i * nu + j]
            if i >= nu:
                A[i, j] += k * told[begin.turning + (i - nu) * nu + j]
        for j in range(q):
            A[i, nu + j] = m * by[0, at, j] + c * by[1, at, j] + k * by[2, at, j]
    if z.rest.swings.size > 0:
        swing(plan, mesh, lin, z, c, k)
    for chain in range(mesh.chains.shape[0]):
        if not condense(plan, mesh, lin, z, chain, m, c, k):
            return False
        connect(plan, mesh, lin, z, chain)
    return True


@inner
def swing(plan, mesh, lin, z, c, k):
    """Rows and columns of swings, without what nodes between joints do to them."""
    A, n, q = z.rest.full, z.work.block.shape[0], plan.n_q
    nodes, entries = mesh.nodes, mesh.entries
    for i in range(plan.n_u + q, A.shape[0]):
        A[i, i] = 1.0
    for node in range(nodes.held.size):
        first = z.places.first[nodes.owner[node]]
        if nodes.held[node] < 0 or first < 0:
            continue
        for i in range(n):
            hat = nodes.held[node] * n + i
            for j in range(nodes.modal.shape[2]):
                F = nodes.modal[node, i, j]
                for s in range(entries.begin[hat], entries.begin[hat + 1]):
                    entry = entries.order[s]
                    T = lin.out[plan.motion.T + entry]
                    rate = c * T if plan.options.resists else c * T + k * lin.told[plan.tangent.T_dot + entry]
                    A[entries.columns[entry], first + j] += T * F
                    A[first + j, entries.columns[entry]] -= F * rate
                for p in range(q):
                    A[plan.n_u + p, first + j] += lin.out[plan.motion.D + hat * q + p] * F


@outer
def factor(plan, mesh, lin, z, kept, m, c, k):
    """Factorise ``m M + c C + k K``; False if it is singular."""
    if not assemble(plan, mesh, lin, z, m, c, k):
        return False
    for i in range(kept.rows.size):
        for j in range(kept.columns.size):
            z.rest.factors[j, i] = z.rest.full[kept.rows[i], kept.columns[j]]
    return factorise(z.rest.factors, kept.pivots, kept.work)


@outer
def solve(plan, mesh, lin, z, kept, b):
    """Solve ``Z x = b`` in place (n,); zeroed displacements stay zero."""
    n, q, nu, first = z.work.block.shape[0], plan.n_q, plan.n_u, plan.n_chain + plan.n_u
    ends, chains, rest, to, nodes, entries = z.work.ends, z.chains, z.rest, z.places.to, mesh.nodes, mesh.entries
    fill(rest.swings, 0.0)

    # downwards through the chains
    for chain in range(mesh.chains.shape[0]):
        one, two, inner = mesh.chains[chain, 0], mesh.chains[chain, 1], mesh.chains[chain, 3]
        if inner <= 0:
            continue
        begin = nodes.chain[one + 1]
        for i in range(begin, begin + inner):
            if i > begin:
                for row in range(n):  # workspace: inverse of the block before, times its part of b
                    total = 0.0
                    for j in range(n):
                        total += chains.inverse[i - 1, row, j] * b[(i - 1) * n + j]
                    ends[row] = total
                for row in range(n):
                    for j in range(n):
                        b[i * n + row] -= chains.lower[i, row, j] * ends[j]
        for i in range(begin + inner - 1, begin - 1, -1):
            if i < begin + inner - 1:
                for row in range(n):
                    for j in range(n):
                        b[i * n + row] -= chains.upper[i, row, j] * b[(i + 1) * n + j]
            for row in range(n):
                total = 0.0
                for j in range(n):
                    total += chains.inverse[i, row, j] * b[i * n + j]
                ends[row] = total
            for row in range(n):
                b[i * n + row] = ends[row]
        # what that does to the ends, and to q
        for end in range(2):
            at, node = (begin, one) if end == 0 else (begin + inner - 1, two)
            for row in range(n):
                total = 0.0
                for j in range(n):
                    entry = chains.left[chain, row, j] if end == 0 else chains.right[chain, row, j]
                    total += entry * b[at * n + j]
                hat = nodes.held[node] * n + row
                for s in range(entries.begin[hat], entries.begin[hat + 1]):
                    entry = entries.order[s]
                    b[plan.n_chain + entries.columns[entry]] -= lin.out[plan.motion.T + entry] * total
                for p in range(q):
                    b[first + p] -= lin.out[plan.motion.D + hat * q + p] * total
        for i in range(begin, begin + inner):
            for j in range(n):
                for p in range(q):
                    b[first + p] -= chains.below[i, p, j] * b[i * n + j]
                for p in range(nodes.modal.shape[2]):
                    row = to[chain, to.shape[1] - nodes.modal.shape[2] + p] - nu - q
                    if row >= 0:
                        rest.swings[row] -= chains.below[i, q + p, j] * b[i * n + j]

    for i in range(kept.rows.size):
        row = kept.rows[i]
        rest.b[i] = b[plan.n_chain + row] if row < nu + q else rest.swings[row - nu - q]
    substitute(rest.factors, kept.pivots, rest.b)
    for i in range(nu + q):
        b[plan.n_chain + i] = 0.0
    for i in range(kept.columns.size):
        col = kept.columns[i]
        if col < nu + q:
            b[plan.n_chain + col] = rest.b[i]
        else:
            rest.swings[col - nu - q] = rest.b[i]

    # and back to the chains
    width = to.shape[1]
    for chain in range(mesh.chains.shape[0]):
        inner = mesh.chains[chain, 3]
        if inner <= 0:
            continue
        for j in range(width):
            col = to[chain, j]
            ends[j] = 0.0 if col < 0 else b[plan.n_chain + col] if col < nu + q else rest.swings[col - nu - q]
        begin = nodes.chain[mesh.chains[chain, 0] + 1]
        for i in range(begin, begin + inner):
            for row in range(n):
                for j in range(width):
                    b[i * n + row] -= chains.X[i, row, j] * ends[j]
