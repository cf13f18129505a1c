"""Small symmetric matrices as ``L D L'``, unrolled on traced scalars in a fixed order: structural zeros stay zeros.

The theory is in ``docs/theory/operational_space.md``.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca


class LDL:
    """``A = L D L'`` with a unit diagonal of L; only the lower triangle of A is read.

    Parameters
    ----------
    A
        n x n, sparse.
    invert
        ``(k, pivot) -> 1 / pivot``, for callers that watch pivots.
    """

    def __init__(self, A: ca.SX, invert: Callable[[int, ca.SX], ca.SX] = lambda k, pivot: 1 / pivot) -> None:
        self.n = A.shape[0]
        rows, columns = A.sparsity().get_triplet()
        low = {(i, j): A[i, j] for i, j in zip(rows, columns, strict=True) if i >= j}
        d_inv = []
        self.below: list[list[tuple[int, ca.SX]]] = []  # non-zero entries of each column of L
        for k in range(self.n):
            d_inv.append(invert(k, low.get((k, k), ca.SX(0))))
            column = [(i, low[i, k]) for i in range(k + 1, self.n) if (i, k) in low]
            self.below.append([(i, x * d_inv[k]) for i, x in column])
            for i, ratio in self.below[k]:
                for j, x in column:
                    if j <= i:
                        low[i, j] = low[i, j] - ratio * x if (i, j) in low else -ratio * x
        self.d_inv = ca.vertcat(ca.SX(0, 1), *d_inv)

    def forward(self, B: ca.SX) -> ca.SX:
        """``L^-1 B`` for all columns of B at once."""
        rows = [B[i, :] for i in range(self.n)]
        for k, column in enumerate(self.below):
            for i, x in column:
                rows[i] = ca.sparsify(rows[i] - x * rows[k])
        return ca.sparsify(ca.vertcat(ca.SX(0, B.shape[1]), *rows))

    def backward(self, B: ca.SX) -> ca.SX:
        """``L'^-1 B``."""
        rows = [B[i, :] for i in range(self.n)]
        for k in reversed(range(self.n)):
            for i, x in self.below[k]:
                rows[k] = ca.sparsify(rows[k] - x * rows[i])
        return ca.sparsify(ca.vertcat(ca.SX(0, B.shape[1]), *rows))
