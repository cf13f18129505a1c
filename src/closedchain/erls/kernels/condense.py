"""A chain of beam nodes between two held ones, condensed: what it does to its ends and to q, as one element would.

Its ends follow displacements u at joints: columns of the chain are these at once, so that the rates of T are in them.

The chain is block tridiagonal; it is eliminated downwards and upwards, in a time in proportion to its elements. A rigid
body is a chain with one end.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from closedchain.erls.kernels.linearise import ACCELERATIONS, DAMPING, DISPLACEMENTS, RATES
from closedchain.erls.kernels.problem import Plan
from closedchain.erls.mesh import Mesh
from closedchain.native.memory import copy, fill, inner


class Chains(NamedTuple):
    """Eliminated chains.

    Attributes
    ----------
    inverse, lower, upper : (chain nodes, k, k) eliminated diagonal blocks, inverted, and their neighbours.
    X : (chain nodes, k, w + n_q + m) what the columns of the chain do to each node.
    left, right : (chains, k, k) rows of the ends of a chain on its first and last node.
    below : (chain nodes, n_q + m, k) rows of q and of swings.
    """

    inverse: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    X: np.ndarray
    left: np.ndarray
    right: np.ndarray
    below: np.ndarray


class OneChain(NamedTuple):
    """Workspace for one chain.

    Attributes
    ----------
    Z : (2 k + n_q, 2 k) matrix of a piece; held : (2 k + n_q, w) of the displacements that its ends follow.
    condensed : (2 k + n_q + m, w + n_q + m) of the chain.
    block, other : (k, k), (k, w + n_q + m).
    ends : values of the columns of the chain.
    """

    Z: np.ndarray
    held: np.ndarray
    condensed: np.ndarray
    block: np.ndarray
    other: np.ndarray
    ends: np.ndarray


class Rest(NamedTuple):
    """What is left when all chains are eliminated.

    Attributes
    ----------
    full : (u, q and swings, the same) the matrix.
    factors : those of its rows and columns that are solved, by columns.
    b, swings : right-hand side, and that of swings.
    """

    full: np.ndarray
    factors: np.ndarray
    b: np.ndarray
    swings: np.ndarray


class Places(NamedTuple):
    """Where columns are.

    Attributes
    ----------
    to : (chains, w + n_q + m) those of a chain in `Rest.full`; -1: nowhere.
    slots : (2, entries of T) the column, in the chain that begins at its node, and in that which ends there.
    first : (bodies,) the first of a beam's swings in `Rest.full`; -1: it has none.
    """

    to: np.ndarray
    slots: np.ndarray
    first: np.ndarray


class Factors(NamedTuple):
    """Factors of an iteration matrix.

    Rows of a chain are those of its two ends (2 k), of q, and of the swings of its beam (see `eliminate`); its columns
    are the w displacements u that its ends follow, q, and swings.
    """

    chains: Chains
    work: OneChain
    rest: Rest
    places: Places


_F1, _F2, _F3 = numba.float64[::1], numba.float64[:, ::1], numba.float64[:, :, ::1]
_I1, _I2 = numba.int64[::1], numba.int64[:, ::1]
FactorsType = numba.types.NamedTuple(
    (
        numba.types.NamedUniTuple(_F3, 7, Chains),
        numba.types.NamedTuple((_F2, _F2, _F2, _F2, _F2, _F1), OneChain),
        numba.types.NamedTuple((_F2, _F2, _F1, _F1), Rest),
        numba.types.NamedTuple((_I2, _I2, _I1), Places),
    ),
    Factors,
)


def make_factors(plan: Plan, mesh: Mesh) -> Factors:
    """Memory for the factors."""
    k, q, nodes, on = len(mesh.names), plan.n_q, len(mesh.chain_nodes), mesh.arrays
    m, chains = on.nodes.modal.shape[2], len(on.chains)
    damped = sorted({int(on.nodes.owner[i]) for i in np.flatnonzero(on.nodes.modal.any(axis=(1, 2)))})
    places, w = _make_places(plan, mesh, damped)
    kept = plan.n_u + m * len(damped)  # as many displacements are zeroed as there are coordinates
    return Factors(
        chains=Chains(
            inverse=np.zeros((nodes, k, k)),
            lower=np.zeros((nodes, k, k)),
            upper=np.zeros((nodes, k, k)),
            X=np.zeros((nodes, k, w + q + m)),
            left=np.zeros((chains, k, k)),
            right=np.zeros((chains, k, k)),
            below=np.zeros((nodes, q + m, k)),
        ),
        work=OneChain(
            Z=np.zeros((2 * k + q, 2 * k)),
            held=np.zeros((2 * k + q, w)),
            condensed=np.zeros((2 * k + q + m, w + q + m)),
            block=np.zeros((k, k)),
            other=np.zeros((k, w + q + m)),
            ends=np.zeros(max(w + q + m, k)),
        ),
        rest=Rest(
            full=np.zeros((kept + q, kept + q)),
            factors=np.zeros((kept, kept)),
            b=np.zeros(kept),
            swings=np.zeros(m * len(damped)),
        ),
        places=places,
    )


def _make_places(plan: Plan, mesh: Mesh, damped: list[int]) -> tuple[Places, int]:
    """Where columns are, and how many displacements u a chain has at most."""
    k, q, on, T = len(mesh.names), plan.n_q, mesh.arrays, mesh.arrays.entries
    m, chains, held = on.nodes.modal.shape[2], len(on.chains), on.nodes.held
    first = np.full(1 + int(on.nodes.owner.max(initial=-1)), -1, np.int64)
    first[damped] = plan.n_u + q + m * np.arange(len(damped))

    # the displacements u that the ends of each chain follow
    follows = [[T.columns[T.rows // k == held[node]] for node in chain[:2] if node >= 0] for chain in on.chains]
    uses = [np.unique(np.concatenate(x)) for x in follows]
    w = max((len(x) for x in uses), default=0)
    to, slots = np.full((chains, w + q + m), -1, np.int64), np.full((2, len(T.rows)), -1, np.int64)
    for i, (chain, used) in enumerate(zip(on.chains, uses, strict=True)):
        to[i, : len(used)], to[i, w : w + q] = used, plan.n_u + np.arange(q)
        swings = first[on.body[chain[2]]]
        to[i, w + q :] = swings + np.arange(m) if swings >= 0 else -1
        for end in range(2 if chain[1] >= 0 else 1):
            mine = T.rows // k == held[chain[end]]
            slots[end, mine] = np.searchsorted(used, T.columns[mine])
    return Places(to, slots, first), w


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
def hold(plan, mesh, lin, z, place, weights):
    """Add to `held` what the displacements do that an end of a piece follows; place is (piece, node, 0 or 1).

    With increments k of u, c of u' and m of u'', those of ``u_hat = T u``, of its rates and accelerations are

        k T,        c T + k T',        m T + 2 c T' + k T''
    """
    piece, node, end = place
    m, c, k = weights
    entries, held, of, told, at = mesh.entries, z.work.held, lin.of, lin.told, plan.tangent
    n = z.work.block.shape[0]
    for i in range(n):
        hat = mesh.nodes.held[node] * n + i
        for s in range(entries.begin[hat], entries.begin[hat + 1]):
            entry = entries.order[s]
            T, T_dot = lin.out[plan.motion.T + entry], told[at.T_dot + entry]
            weight = m * T + 2.0 * c * T_dot + k * told[at.T_ddot + entry]
            rate = c * T + k * T_dot
            damped = c * T if plan.options.resists else rate
            slot, col = z.places.slots[end, entry], end * n + i
            for row in range(held.shape[0]):
                held[row, slot] += (
                    weight * of[piece, ACCELERATIONS, row, col]
                    + rate * of[piece, RATES, row, col]
                    + k * T * of[piece, DISPLACEMENTS, row, col]
                    + damped * of[piece, DAMPING, row, col]
                )


@inner
def condense(plan, mesh, lin, z, chain, m, c, k):
    """Eliminate the nodes of a chain; `z.work.condensed` is then what its columns do to its ends, to q and to swings.

    A rigid body is a chain with one end.
    """
    first, last, piece, inner = (
        mesh.chains[chain, 0],
        mesh.chains[chain, 1],
        mesh.chains[chain, 2],
        mesh.chains[chain, 3],
    )
    n, q, w, swings = z.work.block.shape[0], plan.n_q, z.work.held.shape[1], mesh.nodes.modal.shape[2]
    begin = mesh.nodes.chain[first + 1] if inner > 0 else 0
    S, Z, held, chains = z.work.condensed, z.work.Z, z.work.held, z.chains
    fill(S, 0.0)
    for i in range(begin, begin + inner):
        fill(chains.X[i], 0.0)
        fill(chains.inverse[i], 0.0)
        fill(chains.below[i], 0.0)
        for row in range(n):
            at = i * n + row
            for j in range(q):
                chains.X[i, row, w + j] = m * lin.by[0, at, j] + c * lin.by[1, at, j] + k * lin.by[2, at, j]
            for j in range(swings):
                F = mesh.nodes.modal[first + 1 + i - begin, row, j]
                chains.X[i, row, w + q + j] = F
                chains.below[i, q + j, row] = -c * F

    # elements: blocks of inner nodes, of the ends, and rows of q
    for e in range(max(inner + 1, 1)):
        left, right = begin + e - 1, begin + e
        if e == 0 or e == inner:
            fill(held, 0.0)
            if e == 0:
                hold(plan, mesh, lin, z, (piece + e, first, 0), (m, c, k))
            if e == inner:
                hold(plan, mesh, lin, z, (piece + e, last, 1), (m, c, k))
            for j in range(w):
                for i in range(n):
                    if e == 0:
                        S[i, j] += held[i, j]
                    else:
                        chains.X[left, i, j] += held[i, j]
                    if e == inner:
                        S[n + i, j] += held[n + i, j]
                    elif inner > 0:
                        chains.X[right, i, j] += held[n + i, j]
                for p in range(q):
                    S[2 * n + p, j] += held[2 * n + p, j]
        if inner <= 0:
            continue
        combine(lin.of[piece + e], m, c, k, Z)
        for i in range(n):
            for j in range(n):
                if e == 0:
                    chains.left[chain, i, j] = Z[i, n + j]
                else:
                    chains.inverse[left, i, j] += Z[i, j]
                if e == inner:
                    chains.right[chain, i, j] = Z[n + i, j]
                else:
                    chains.inverse[right, i, j] += Z[n + i, n + j]
                if 0 < e < inner:
                    chains.upper[left, i, j] = Z[i, n + j]
                    chains.lower[right, i, j] = Z[n + i, j]
            for p in range(q):
                if e > 0:
                    chains.below[left, p, i] += Z[2 * n + p, i]
                if e < inner:
                    chains.below[right, p, i] += Z[2 * n + p, n + i]
    if inner <= 0:
        return True

    # block elimination downwards, then upwards
    for i in range(begin, begin + inner):
        if i > begin:
            multiply(chains.lower[i], chains.inverse[i - 1], z.work.block)
            subtract(z.work.block, chains.upper[i - 1], chains.inverse[i])
            subtract(z.work.block, chains.X[i - 1], chains.X[i])
        copy(z.work.block, chains.inverse[i])
        if not invert(z.work.block, chains.inverse[i]):
            return False
    for i in range(begin + inner - 1, begin - 1, -1):
        if i < begin + inner - 1:
            subtract(chains.upper[i], chains.X[i + 1], chains.X[i])
        multiply(chains.inverse[i], chains.X[i], z.work.other)
        copy(chains.X[i], z.work.other)

    # what is left at the ends, for q and for swings
    subtract(chains.left[chain], chains.X[begin], S[:n])
    subtract(chains.right[chain], chains.X[begin + inner - 1], S[n : 2 * n])
    for i in range(begin, begin + inner):
        subtract(chains.below[i], chains.X[i], S[2 * n :])
    return True


@inner
def combine(of, m, c, k, Z):
    """The matrix of a piece between nodes that follow nothing: all of its derivatives, with their weights."""
    for i in range(Z.shape[0]):
        for j in range(Z.shape[1]):
            moving = m * of[ACCELERATIONS, i, j] + c * (of[RATES, i, j] + of[DAMPING, i, j])
            Z[i, j] = moving + k * of[DISPLACEMENTS, i, j]


@inner
def connect(plan, mesh, lin, z, chain):
    """Add a condensed chain to the dense matrix: its ends through T' and D', other rows directly."""
    n, q, A, S = z.work.block.shape[0], plan.n_q, z.rest.full, z.work.condensed
    swings, T = mesh.nodes.modal.shape[2], mesh.entries
    ends = 2 if mesh.chains[chain, 1] >= 0 else 1
    for j in range(S.shape[1]):
        col = z.places.to[chain, j]
        if col < 0:
            continue
        for i in range(ends * n):
            hat = mesh.nodes.held[mesh.chains[chain, i // n]] * n + i % n
            for s in range(T.begin[hat], T.begin[hat + 1]):
                entry = T.order[s]
                A[T.columns[entry], col] += lin.out[plan.motion.T + entry] * S[i, j]
            for p in range(q):
                A[plan.n_u + p, col] += lin.out[plan.motion.D + hat * q + p] * S[i, j]
        for p in range(q):
            A[plan.n_u + p, col] += S[2 * n + p, j]
        for p in range(swings):
            row = z.places.to[chain, S.shape[1] - swings + p]
            if row >= 0:
                A[row, col] += S[2 * n + q + p, j]
