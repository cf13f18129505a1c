"""Elimination with structure, unrolled on traced scalars: every structural zero is skipped.

Two factorisations solve ``[M A'; A 0]``:

`TreeFactor` is ``M = L' D L`` from the leaves to the root, which creates no fill-in (Featherstone 2008, section 6.5).

`ClosureFactor` eliminates the closing forces row by row from ``S = A M^-1 A'``, without forming S where it would be
large. A closure row sees a limb through few numbers, its *terminals*: either the row's own value, or, where many rows
act on one body (the platform of a parallel robot), the twist of that body. With ``B`` the Jacobian of the terminals
and ``A = C B``, the matrix ``G = B M^-1 B'`` says how terminals accelerate under forces on terminals. Closing row r
with the coefficients c_r on the terminals changes it to::

    g = G c_r,   delta = c_r . g,   G <- G - g g' / delta

which is the physical picture too: the body is a little stiffer with each row that holds it. The pivots delta are those
of a Cholesky factorisation of S, so this is as stable, also when a limb alone is in a singular pose; the cost grows
linearly with the number of limbs that meet at a body.

A *guarded* factorisation compares each pivot with ``c_r . G c_r`` of its joint before anything was eliminated. A row
whose pivot has vanished says nothing that the rows before it have not said; it gets no force, which is one of the many
solutions that a singular pose allows, and the accelerations are those of the constraints that are left.

The theory is in ``docs/theory/elimination.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

import casadi as ca

from closedchain.derive.closure import Closure

Column = dict[int, ca.SX]

# A pivot this much smaller than the row alone counts as zero. Pivots fall with the square of the distance to a singular
# pose, errors of the equations grow with its inverse: this leaves the row out within some 1e-4 rad of the pose.
REDUNDANT = 1e-8
# So many times earlier, rows are left out whose residuals are corrected.
EARLIER = 10.0


class TreeFactor:
    """``M = L' D L`` for the inertia matrix of trees; L has unit diagonal and entries (k, i) for ancestors i of k."""

    def __init__(self, M: ca.SX) -> None:
        self.n = M.shape[0]
        low = _lower(M)
        self.above: list[list[int]] = [[] for _ in range(self.n)]  # non-zero columns of each row of L
        self.d_inv: list[ca.SX] = [ca.SX(0)] * self.n
        self.L: dict[tuple[int, int], ca.SX] = {}
        for k in reversed(range(self.n)):
            self.d_inv[k] = 1 / low.get((k, k), ca.SX(0))  # infinite without inertia: simulate refuses that
            columns = sorted((i for i in range(k) if (k, i) in low), reverse=True)
            self.above[k] = columns
            for i in columns:
                ratio = low[k, i] * self.d_inv[k]
                for j in (j for j in columns if j <= i):
                    term = ratio * low[k, j]
                    low[i, j] = low[i, j] - term if (i, j) in low else -term
                self.L[k, i] = ratio

    def half(self, b: Column) -> Column:
        """``L'^-1 b``."""
        y = dict(b)
        for k in reversed(range(self.n)):
            if k in y:
                for i in self.above[k]:
                    _subtract(y, i, self.L[k, i] * y[k])
        return y

    def product(self, y: Column, z: Column) -> ca.SX | None:
        """``y' D^-1 z``; None where the two have nothing in common."""
        terms = [y[k] * self.d_inv[k] * z[k] for k in y if k in z]
        return _sum(terms) if terms else None

    def finish(self, y: Column) -> ca.SX:
        """``L^-1 D^-1 y``."""
        x: list[ca.SX] = []
        for k in range(self.n):
            value = y[k] * self.d_inv[k] if k in y else ca.SX(0)
            for i in self.above[k]:
                value = value - self.L[k, i] * x[i]
            x.append(value)
        return ca.vertcat(ca.SX(0, 1), *x)


class ClosureFactor:
    """The closure rows eliminated one after another; see the module's docstring for the letters."""

    def __init__(
        self,
        factor: TreeFactor,
        closure: Closure,
        rows: Sequence[int],
        guarded: bool = False,
        redundant: float = REDUNDANT,
    ) -> None:
        self.factor, self.rows = factor, rows
        self._made_of = (closure, rows, guarded, redundant)
        jacobian, coefficients = terminals(closure, rows)
        self.Y = {z: factor.half(column) for z, column in jacobian.items()}
        G: dict[tuple[object, object], ca.SX] = {}
        near: dict[object, set[object]] = {z: set() for z in self.Y}
        names = list(self.Y)
        for i, z in enumerate(names):
            for y in names[: i + 1]:
                value = factor.product(self.Y[z], self.Y[y])
                if value is not None:
                    G[z, y] = G[y, z] = value
                    near[z].add(y)
                    near[y].add(z)

        self.open = dict(G)  # before anything is eliminated
        whole = self._scales(closure, rows)
        self.order = least_degree(coefficients, near)
        self.c = coefficients
        self.g: list[dict[object, ca.SX]] = [{} for _ in coefficients]  # divided by delta
        self.d_inv: list[ca.SX] = [ca.SX(0)] * len(coefficients)
        self.pivots: list[ca.SX] = [ca.SX(1)] * len(coefficients)  # relative to the row alone
        self.counts: list[ca.SX] = [ca.SX(1)] * len(coefficients)  # whether a guarded row takes part
        last = {z: k for k, r in enumerate(self.order) for z in coefficients[r]}  # when a terminal is used last
        for k, r in enumerate(self.order):
            c = coefficients[r]
            g: dict[object, ca.SX] = {}
            for z in names:
                terms = [G[z, y] * x for y, x in c.items() if (z, y) in G]
                if terms and last.get(z, -1) >= k:
                    g[z] = _sum(terms)
            delta = _sum(g[z] * x for z, x in c.items() if z in g)
            self.pivots[r] = delta / whole[r]
            self.d_inv[r] = 1 / delta
            if guarded:  # a row that says nothing new here takes no part: its force is zero, the others carry on
                self.counts[r] = delta > redundant * whole[r]
                self.d_inv[r] = ca.if_else(self.counts[r], self.d_inv[r], 0)
            left = [z for z in g if last[z] > k]
            self.g[r] = {z: g[z] * self.d_inv[r] for z in left}
            for i, z in enumerate(left):
                for y in left[: i + 1]:
                    value = self.g[r][z] * g[y]
                    G[z, y] = G[y, z] = G[z, y] - value if (z, y) in G else -value

    def for_corrections(self) -> ClosureFactor:
        """The factor that puts states back: near a singular pose it leaves rows out earlier.

        A row with a small pivot would be corrected by a large step, whose errors are larger than what it mends.
        """
        closure, rows, guarded, redundant = self._made_of
        return ClosureFactor(self.factor, closure, rows, True, EARLIER * redundant) if guarded else self

    def _scales(self, closure: Closure, rows: Sequence[int]) -> list[ca.SX]:
        """What each pivot is compared with: ``sum A_s M^-1 A_s'`` over all rows s of its joint with the same unit.

        A single row could vanish as a whole, so it is compared with all rows of its unit.
        """
        kinds = list(zip(closure.joints, closure.units, strict=True))
        alone: dict[int, ca.SX] = {}
        out = []
        for r in rows:
            like = [s for s in range(len(closure)) if kinds[s] == kinds[r]]
            if len(like) == 1:
                like = [s for s in range(len(closure)) if closure.units[s] == closure.units[r]]
            for s in like:
                if s not in alone:
                    y = self.factor.half(_column(closure.A[s, :]))
                    alone[s] = _sum(value * self.factor.d_inv[k] * value for k, value in y.items())
            out.append(_sum(alone[s] for s in like))
        return out

    def forward(self, values: Sequence[ca.SX] | None, u: Column | None = None) -> list[ca.SX | None]:
        """What each row still has to balance of ``A M^-1 b + values`` when its turn comes; None: nothing."""
        moving: dict[object, ca.SX] = {}  # terminal accelerations that are not yet balanced
        if u is not None:
            for z, y in self.Y.items():
                value = self.factor.product(y, u)
                if value is not None:
                    moving[z] = value
        out: list[ca.SX | None] = [None] * len(self.c)
        for r in self.order:
            terms = [moving[z] * x for z, x in self.c[r].items() if z in moving]
            if values is not None:
                terms.append(values[r])
            if not terms:
                continue
            out[r] = mine = _sum(terms)
            for z, g in self.g[r].items():
                _subtract(moving, z, g * mine)
        return out

    def solve(self, values: Sequence[ca.SX], u: Column | None = None) -> tuple[list[ca.SX], Column]:
        """Forces ``lam`` with ``S lam = A M^-1 b + values``, where ``u = L'^-1 b``; and ``L'^-1 A' lam``."""
        open_ = [ca.SX(0) if x is None else x for x in self.forward(values, u)]
        lam: list[ca.SX] = [ca.SX(0)] * len(self.c)
        force: dict[object, ca.SX] = {}  # on terminals, of the rows done so far
        for r in reversed(self.order):
            terms = [g * force[z] for z, g in self.g[r].items() if z in force]
            lam[r] = open_[r] * self.d_inv[r] - _sum(terms) if terms else open_[r] * self.d_inv[r]
            for z, x in self.c[r].items():
                term = lam[r] * x
                force[z] = force[z] + term if z in force else term
        reaction: Column = {}
        for z, f in force.items():
            for k, y_k in self.Y[z].items():
                reaction[k] = reaction[k] + y_k * f if k in reaction else y_k * f
        return lam, reaction


def terminals(closure: Closure, rows: Sequence[int]) -> tuple[dict[object, Column], list[dict[object, ca.SX]]]:
    """Jacobian of each terminal (a sparse column of B'), and each row's coefficients on them.

    A body's twist serves as terminals if at least twice as many rows act on the body as its twist has components that
    can move, and more than two: with fewer rows, their own values are the cheaper description.
    """
    acting: dict[int, int] = {}
    for r in rows:
        for link, C in closure.sides[r].items():
            acting[link] = acting.get(link, 0) + (C.nnz() > 0)
    jacobian: dict[object, Column] = {}
    shared: dict[int, list[int]] = {}
    for link, count in acting.items():
        J = closure.twist(link)
        moving = [i for i in range(J.shape[0]) if J[i, :].nnz() > 0]
        if count > 2 and count >= 2 * len(moving):
            shared[link] = moving
            for i in moving:
                jacobian["twist", link, i] = _column(J[i, :])

    coefficients: list[dict[object, ca.SX]] = []
    for number, r in enumerate(rows):
        own: dict[object, ca.SX] = {}
        rest = _column(closure.A[r, :])
        for link, moving in shared.items():
            if link not in closure.sides[r]:
                continue
            part = closure.sides[r][link]
            for i in moving:
                if part[0, i].nnz() > 0:
                    own["twist", link, i] = part[0, i]
            for k in range(closure.A.shape[1]):  # what the twist carries is no longer the row's own
                if any(k in jacobian["twist", link, i] for i in moving):
                    rest.pop(k, None)
        if rest:
            jacobian["row", number] = rest
            own["row", number] = ca.SX(1)
        coefficients.append(own)
    return jacobian, coefficients


def least_degree(coefficients: Sequence[dict[object, ca.SX]], near: dict[object, set[object]]) -> list[int]:
    """Order of elimination: always the row that couples the fewest others; ties by number."""
    touched = [set().union(*(near[z] for z in c)) for c in coefficients]
    couples = [
        {s for s, c in enumerate(coefficients) if s != r and not touched[r].isdisjoint(c)} for r in range(len(touched))
    ]
    left, order = set(range(len(touched))), []
    while left:
        r = min(left, key=lambda i: (len(couples[i]), i))
        order.append(r)
        left.remove(r)
        for s in couples[r]:
            couples[s] |= couples[r]
            couples[s] -= {s, r}
    return order


def _lower(M: ca.SX) -> dict[tuple[int, int], ca.SX]:
    rows, columns = M.sparsity().get_triplet()
    return {(i, j): x for i, j, x in zip(rows, columns, _scalars(M), strict=True) if i >= j}


def _column(row: ca.SX) -> Column:
    _, columns = row.sparsity().get_triplet()
    return dict(zip(columns, _scalars(row), strict=True))


def _scalars(M: ca.SX) -> list[ca.SX]:
    return [ca.SX(x) for x in M.nonzeros()]  # type: ignore[call-overload]


def _subtract(entries: dict, key: object, term: ca.SX) -> None:
    entries[key] = entries[key] - term if key in entries else -term


def _sum(terms: Iterable[ca.SX]) -> ca.SX:
    return reduce(lambda a, b: a + b, terms)
