"""Motions that keep the loops closed, in independent velocities: what `Projection` and `IndependentCoordinates` share.

The closure rows, ordered so that column ``c_k`` is the pivot of row ``r_k``, give the dependent velocities as functions
of the independent ones. With D and I for dependent and independent columns::

    v = S nu + eta,    S = [1; -A_D^-1 A_I],    A v + c_t = -w

where w is what the closure residual shall do (zero, or sigma c). Differentiated, ``a = S nu' + a_0``, and the equations
of motion, multiplied by S' from the left, lose their multipliers, because A S = 0::

    S' M S nu' = S' (tau - h - M a_0)

The multipliers follow from the dependent rows of the same equations: ``A_D' lam = (tau - h - M a)_D``.

Which columns are dependent, and in which order, is decided where there are numbers (`pose.independent`): a traced
elimination cannot look for pivots. It watches them instead, and tells how far it is from needing others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import casadi as ca

from closedchain.close.formulation import Sums
from closedchain.close.parts.elimination import TreeFactor
from closedchain.derive.equations import Equations
from closedchain.derive.size import traced_length

Sparse = dict[int, ca.SX]

TINY = 1e-12  # of the mechanism's length: keeps a ratio of lengths finite where a pose has none


class DependentFactor:
    """``A_D`` eliminated in the order of its pivots ``(row, column)``; structural zeros are skipped."""

    def __init__(self, A: ca.SX, pivots: Sequence[tuple[int, int]]) -> None:
        self.pivots = tuple(pivots)
        columns = {column for _, column in pivots}
        left = {row: {j: x for j, x in _row(A, row).items() if j in columns} for row, _ in pivots}
        self.below: list[Sparse] = []  # of each pivot: rows further down, and the multiple of its row they lose
        self.row: list[Sparse] = []  # of each pivot: its row, as it is when its turn comes
        for row, column in self.pivots:
            mine = left.pop(row)
            lost: Sparse = {}
            for other, entries in left.items():
                if column not in entries:
                    continue
                lost[other] = entries.pop(column) / mine[column]
                for j, x in mine.items():
                    if j != column:
                        term = lost[other] * x
                        entries[j] = entries[j] - term if j in entries else -term
            self.below.append(lost)
            self.row.append(mine)

    def solve(self, b: Sparse) -> Sparse:
        """``A_D^-1 b``: b by row, the result by column."""
        b, y = dict(b), []
        for (row, _), lost in zip(self.pivots, self.below, strict=True):
            y.append(b.get(row))
            if y[-1] is not None:
                for other, factor in lost.items():
                    term = factor * y[-1]
                    b[other] = b[other] - term if other in b else -term
        x: Sparse = {}
        for (_, column), mine, value in reversed(list(zip(self.pivots, self.row, y, strict=True))):
            for j, entry in mine.items():
                if j != column and j in x:
                    value = value - entry * x[j] if value is not None else -entry * x[j]
            if value is not None:
                x[column] = value / mine[column]
        return x

    def solve_transposed(self, b: Sparse) -> Sparse:
        """``A_D'^-1 b``: b by column, the result by row."""
        b, lam = dict(b), {}
        for (row, column), mine in zip(self.pivots, self.row, strict=True):
            if column in b:
                lam[row] = b[column] / mine[column]
                for j, entry in mine.items():
                    if j != column:
                        term = entry * lam[row]
                        b[j] = b[j] - term if j in b else -term
        for (row, _), lost in reversed(list(zip(self.pivots, self.below, strict=True))):
            for other, factor in lost.items():
                if other in lam:
                    term = factor * lam[other]
                    lam[row] = lam[row] - term if row in lam else -term
        return lam


class FeasibleMotions:
    """``S``, and with it velocities, accelerations and multipliers; see the module's docstring for the letters."""

    def __init__(self, equations: Equations, pivots: Sequence[tuple[int, int]]) -> None:
        self.e = equations
        self.rows = [row for row, _ in pivots]
        self.factor = DependentFactor(equations.closure.A, pivots)
        n = equations.topology.nv
        dependent = {column for _, column in pivots}
        self.independent = [k for k in range(n) if k not in dependent]
        self.S = ca.SX(n, len(self.independent))
        A = equations.closure.A
        for i, k in enumerate(self.independent):
            self.S[k, i] = 1
            hits = {row: A[row, k] for row in self.rows if A[row, k].nnz()}
            for column, x in self.factor.solve(hits).items():
                self.S[column, i] = -x

    @property
    def health(self) -> ca.SX:
        """Near 1 for a good choice of independent velocities; falls to zero where others, or other rows, are needed.

        The smaller one of two: one over the largest velocity that a unit of an independent one makes; and the smallest
        pivot over the size of all closure rows of its unit. Slides are measured in lever arms, so that the unit of
        length does not matter.
        """
        e = self.e
        arm = self._lever()
        unit = [arm if slides else ca.SX(1) for slides in sliding(e)]
        A = e.closure.A @ ca.diag(ca.vertcat(*unit))
        same = {x: [r for r, y in enumerate(e.closure.units) if y == x] for x in e.closure.units}
        size = {x: ca.sqrt(ca.sumsqr(A[rows, :])) for x, rows in same.items()}

        steps = zip(self.factor.pivots, self.factor.row, strict=True)
        pivots = [ca.fabs(mine[j]) * unit[j] / size[e.closure.units[r]] for (r, j), mine in steps]
        places = zip(*self.S.sparsity().get_triplet(), strict=True)
        made = [ca.fabs(self.S[j, i]) * unit[self.independent[i]] / unit[j] for j, i in places]
        return reduce(ca.fmin, pivots, 1 / reduce(ca.fmax, made, ca.SX(1)))

    def _lever(self) -> ca.SX:
        rows, turns, slides = lever_entries(self.e)
        A = self.e.closure.A
        if not (rows and turns and slides):
            return ca.SX(1)
        arms, ways = (ca.norm_fro(A[rows, columns]) / len(columns) ** 0.5 for columns in (turns, slides))
        return (arms + TINY * traced_length(self.e)) / (ways + TINY)

    def dependent(self, values: ca.SX) -> ca.SX:
        """Column of n velocities: ``A_D^-1 values`` at the dependent places; values are those of all closure rows."""
        out = ca.SX(self.e.topology.nv, 1)
        hits = {row: values[row] for row in self.rows if values[row].nnz()}
        for column, x in self.factor.solve(hits).items():
            out[column] = x
        return out

    def velocities(self, nu: ca.SX, w: ca.SX) -> ca.SX:
        """``v = S nu + eta`` for residuals that shall change as ``c' = -w``."""
        return ca.densify(self.S @ nu - self.dependent(ca.sparsify(self.e.closure.c_t + w)))

    def accelerations(self, force: ca.SX, bias: ca.SX, sums: Sums | None = None) -> tuple[ca.SX, ca.SX]:
        """``nu'`` and ``a`` under ``force = tau - h``, for ``A a + bias = 0``; sums over limbs are made elsewhere."""
        a_0 = -self.dependent(ca.sparsify(bias))
        if sums is None:
            MS = ca.sparsify(self.e.M @ self.S)
            right = self.S.T @ (force - self.e.M @ a_0)
            inertia = ca.sparsify(self.S.T @ MS)
        else:  # M is block diagonal by limbs
            both = {}
            for i, rows in enumerate(self.e.topology.limb_velocities):
                S, M = self.S[rows, :], self.e.M[rows, rows]
                both[i] = ca.sparsify(ca.horzcat(ca.tril(S.T @ M @ S), S.T @ (force[rows, :] - M @ a_0[rows, :])))
            total = sums.total(both)
            n = len(self.independent)
            right, low = total[:, n], total[:, :n]
            inertia = ca.sparsify(low + ca.triu(low.T, False))
        reduced = TreeFactor(inertia)
        nu_dot = reduced.finish(reduced.half(dict(enumerate(ca.vertsplit(ca.densify(right))))))
        return nu_dot, ca.densify(self.S @ nu_dot + a_0)

    def multipliers(self, force: ca.SX, a: ca.SX) -> ca.SX:
        """``lam`` of the solved rows, in the order of their numbers, with ``force = tau - h``."""
        left = ca.densify(force - self.e.M @ a)
        lam = self.factor.solve_transposed({column: left[column] for _, column in self.factor.pivots})
        return ca.vertcat(ca.SX(0, 1), *(lam[row] for row in sorted(self.rows)))


def coordinate_groups(e: Equations) -> list[list[int]]:
    """Velocities that belong to one coordinate: those of a quaternion, and those of the position of a free body."""
    out = []
    for link in e.topology.links:
        if link.joint.type.has_quaternion:
            v = range(link.v.start, link.v.stop)
            out += [list(v[:3]), list(v[3:])] if len(v) > 3 else [list(v)]
    return out


def sliding(e: Equations) -> list[bool]:
    """Of each velocity: whether it is one along a line, m/s, and not an angular one."""
    return [unit == "m/s" for unit in e.topology.v_units]


def lever_entries(e: Equations) -> tuple[list[int], list[int], list[int]]:
    """Closure rows in metres, turning and sliding columns: the ratio of their sizes is the length of a lever arm."""
    slides = sliding(e)
    turning, moving = ([k for k, x in enumerate(slides) if x is wanted] for wanted in (False, True))
    return [r for r, unit in enumerate(e.closure.units) if unit == "m"], turning, moving


def _row(A: ca.SX, row: int) -> Sparse:
    _, columns = A[row, :].sparsity().get_triplet()
    return dict(zip(columns, (ca.SX(x) for x in A[row, :].nonzeros()), strict=True))  # type: ignore[call-overload]
