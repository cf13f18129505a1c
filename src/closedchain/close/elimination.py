"""Factorisations of traced sparse symmetric matrices, unrolled: every structural zero is skipped.

Matrices are dictionaries of scalars, so that fill-in is created only where elimination makes it.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

Entries = dict[tuple[int, int], ca.SX]
Columns = list[dict[int, ca.SX]]


class TreeFactor:
    """``M = L' D L`` from the leaves to the root: no fill-in for the inertia matrix of trees.

    Featherstone 2008, section 6.5, table 6.3 (LTDL). ``L`` has unit diagonal; entries (k, i) exist for ancestors i of k.
    """

    def __init__(self, M: ca.SX) -> None:
        self.n = M.shape[0]
        low = lower_entries(M)
        self.above: list[list[int]] = [[] for _ in range(self.n)]  # non-zero columns of each row of L
        self.d_inv: list[ca.SX] = [ca.SX(0)] * self.n
        self.L: Entries = {}
        for k in reversed(range(self.n)):
            self.d_inv[k] = 1 / low[k, k]
            columns = sorted((i for i in range(k) if (k, i) in low), reverse=True)
            self.above[k] = columns
            for i in columns:
                ratio = low[k, i] * self.d_inv[k]
                for j in (j for j in columns if j <= i):
                    _subtract(low, i, j, ratio * low[k, j])
                self.L[k, i] = ratio

    def half(self, b: dict[int, ca.SX]) -> dict[int, ca.SX]:
        """``L'^-1 b`` for a sparse column."""
        y = dict(b)
        for k in reversed(range(self.n)):
            if k in y:
                for i in self.above[k]:
                    term = self.L[k, i] * y[k]
                    y[i] = y[i] - term if i in y else -term
        return y

    def finish(self, y: dict[int, ca.SX]) -> list[ca.SX]:
        """``L^-1 D^-1 y``."""
        x: list[ca.SX] = []
        for k in range(self.n):
            value = y[k] * self.d_inv[k] if k in y else ca.SX(0)
            for i in self.above[k]:
                value = value - self.L[k, i] * x[i]
            x.append(value)
        return x


class SparseFactor:
    """``S = L D L'`` in an order that keeps the fill-in small."""

    def __init__(self, entries: Entries, n: int) -> None:
        self.n = n
        self.order = least_degree(entries, n)
        place = {row: k for k, row in enumerate(self.order)}
        low: Entries = {}
        for (i, j), value in entries.items():
            a, b = max(place[i], place[j]), min(place[i], place[j])
            low[a, b] = value
        self.below: list[list[int]] = [[] for _ in range(n)]
        self.d_inv: list[ca.SX] = []
        self.L: Entries = {}
        for k in range(n):
            d_inv = 1 / low[k, k]
            self.d_inv.append(d_inv)
            rows = sorted(i for i in range(k + 1, n) if (i, k) in low)
            self.below[k] = rows
            for i in rows:
                ratio = low[i, k] * d_inv
                for j in (j for j in rows if j <= i):
                    _subtract(low, i, j, ratio * low[j, k])
                self.L[i, k] = ratio

    def solve(self, b: Sequence[ca.SX]) -> list[ca.SX]:
        """``S^-1 b``."""
        y = [b[row] for row in self.order]
        for k in range(self.n):
            for i in self.below[k]:
                y[i] = y[i] - self.L[i, k] * y[k]
        y = [value * d for value, d in zip(y, self.d_inv, strict=True)]
        for k in reversed(range(self.n)):
            for i in self.below[k]:
                y[k] = y[k] - self.L[i, k] * y[i]
        out = [ca.SX(0)] * self.n
        for row, value in zip(self.order, y, strict=True):
            out[row] = value
        return out


def least_degree(entries: Entries, n: int) -> list[int]:
    """Order of elimination: always the row with the fewest neighbours left; ties by number."""
    near: list[set[int]] = [set() for _ in range(n)]
    for i, j in entries:
        if i != j:
            near[i].add(j)
            near[j].add(i)
    order: list[int] = []
    left = set(range(n))
    while left:
        k = min(left, key=lambda i: (len(near[i]), i))
        order.append(k)
        left.remove(k)
        for i in near[k]:
            near[i] |= near[k]
            near[i] -= {i, k}
    return order


def lower_entries(M: ca.SX) -> Entries:
    """Structural non-zeros of the lower triangle."""
    rows, columns = M.sparsity().get_triplet()
    values = M.nonzeros()
    return {(i, j): x for i, j, x in zip(rows, columns, values, strict=True) if i >= j}


def columns_of_transpose(A: ca.SX) -> Columns:
    """The rows of A as sparse columns of A'."""
    out: Columns = [{} for _ in range(A.shape[0])]
    rows, columns = A.sparsity().get_triplet()
    for i, j, x in zip(rows, columns, A.nonzeros(), strict=True):
        out[i][j] = x
    return out


def _subtract(entries: Entries, i: int, j: int, term: ca.SX) -> None:
    entries[i, j] = entries[i, j] - term if (i, j) in entries else -term
