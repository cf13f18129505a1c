"""Linear systems ``(g E - J) z = r`` of the implicit methods, real and complex, along a `Structure`.

E is the unit matrix, or has zeros in its diagonal for algebraic states.

The kept unknowns are factorised as a dense matrix with row pivots. Zeros are made use of where they turn up, and the
numbering leaves many of them (`integrate.structure`): columns without an entry in the pivot's row are passed over, and
where few rows have one in its column, only those are visited. A diagonal entry that is not much smaller than the
largest below it stays the pivot, so that the order is followed. Matrices are stored column after column (``A[j, i]`` is
row i of column j): all inner loops then add a multiple of one contiguous column to another, which the machine does
several entries at a time. Nothing is allocated.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from closedchain.integrate.structure import Structure
from closedchain.native.call import call
from closedchain.native.jit import jit

# a pivot may be this much smaller than the largest candidate: errors grow by up to its inverse, fill does not
THRESHOLD = 0.1
# with fewer than one in so many entries below the pivot they are visited one by one, otherwise all together
SPARSE = 2


class Room(NamedTuple):
    """Where numbers live while a run lasts.

    Attributes
    ----------
    entries, rate : the Jacobian's nonzeros, and df/dt (n,).
    inside, product : (k, k) J_kk and J_kf J_fk, by columns.
    real, complex : (k, k) the factors, by columns.
    pivots : (2, k) of the real ones and of the complex ones.
    rows : (k,) workspace.
    b, c : (k,) right-hand sides, real and complex.
    z : (n,) complex workspace of a method.
    """

    entries: np.ndarray
    rate: np.ndarray
    inside: np.ndarray
    product: np.ndarray
    real: np.ndarray
    complex: np.ndarray
    pivots: np.ndarray
    rows: np.ndarray
    b: np.ndarray
    c: np.ndarray
    z: np.ndarray


def room(plan: Structure, n: int) -> Room:
    """Memory for one run."""
    k = plan.kept.size
    square = (k, k)
    return Room(
        np.zeros(plan.entries[0]), np.zeros(n), np.zeros(square), np.zeros(square), np.zeros(square),
        np.zeros(square, complex), np.zeros((2, k), np.int64), np.zeros(k, np.int64), np.zeros(k),
        np.zeros(k, complex), np.zeros(n, complex),
    )  # fmt: skip


_I1, _I2 = numba.int64[::1], numba.int64[:, ::1]
_F1, _F2 = numba.float64[::1], numba.float64[:, ::1]
_C1, _C2 = numba.complex128[::1], numba.complex128[:, ::1]
StructureType = numba.types.NamedTuple((_I1, _I1, _I1, _I2, _I2, _I2, _I2, _I2, _I1, _F1, _F1), Structure)
RoomType = numba.types.NamedTuple((_F1, _F1, _F2, _F2, _F2, _C2, _I2, _I1, _F1, _C1, _C1), Room)


@jit([numba.boolean(_F2, _I1, _I1), numba.boolean(_C2, _I1, _I1)])
def factorise(A, pivots, rows):
    """LU factors in place, with row pivots; False if the matrix is singular or not finite.

    Parameters
    ----------
    A, pivots : (k, k) by columns, (k,); they receive the factors.
    rows : (k,) workspace.
    """
    n = A.shape[0]
    for k in range(n):
        column = A[k]
        diagonal = abs(column[k].real) + abs(column[k].imag)
        largest, p = diagonal, k
        for i in range(k + 1, n):
            size = abs(column[i].real) + abs(column[i].imag)
            if size > largest:
                largest, p = size, i
        if not 0.0 < largest < np.inf or np.isnan(diagonal):
            return False
        if diagonal >= THRESHOLD * largest:
            p = k
        pivots[k] = p
        if p != k:
            for j in range(n):
                swap = A[j, k]
                A[j, k] = A[j, p]
                A[j, p] = swap
        inverse = 1.0 / column[k]
        count = 0
        for i in range(k + 1, n):
            if column[i] != 0.0:
                column[i] *= inverse
                rows[count] = i
                count += 1
        few = SPARSE * count < n - k
        for j in range(k + 1, n):
            factor = A[j, k]
            if factor != 0.0:
                if few:
                    for m in range(count):
                        A[j, rows[m]] -= factor * column[rows[m]]
                else:
                    for i in range(k + 1, n):
                        A[j, i] -= factor * column[i]
    return True


@jit([numba.void(_F2, _I1, _F1), numba.void(_C2, _I1, _C1)])
def substitute(A, pivots, b):
    """Solve with the factors, in place."""
    n = A.shape[0]
    for k in range(n):
        p = pivots[k]
        if p != k:
            swap = b[k]
            b[k] = b[p]
            b[p] = swap
    for k in range(n):
        factor = b[k]
        if factor != 0.0:
            for i in range(k + 1, n):
                b[i] -= factor * A[k, i]
    for k in range(n - 1, -1, -1):
        factor = b[k] / A[k, k]
        b[k] = factor
        for i in range(k):
            b[i] -= factor * A[k, i]


@jit(numba.boolean(numba.int64, _F1, _F1, _F1, StructureType, RoomType))
def evaluate(jac, clock, x, w, plan, room):
    """Evaluate the Jacobian, and prepare what does not depend on the step; False if it is not finite."""
    call(jac, clock, x, w, room.entries, room.rate)
    for i in range(room.entries.size):
        if not np.isfinite(room.entries[i]):
            return False
    room.inside[:] = 0.0
    room.product[:] = 0.0
    for m in range(plan.inside.shape[0]):
        room.inside[plan.inside[m, 1], plan.inside[m, 0]] = room.entries[plan.inside[m, 2]]
    for m in range(plan.product.shape[0]):
        i, j = plan.product[m, 0], plan.product[m, 1]
        room.product[j, i] += room.entries[plan.product[m, 2]] * room.entries[plan.product[m, 3]]
    return True


_FACTOR = [
    numba.boolean(StructureType, RoomType, _F2, _I1, numba.float64),
    numba.boolean(StructureType, RoomType, _C2, _I1, numba.complex128),
]


@jit(_FACTOR)
def factor(plan, room, A, pivots, g):
    """Factorise ``g E - J``; False if that cannot be done.

    Parameters
    ----------
    plan, room : the structure, and the room with a Jacobian.
    A, pivots : (k, k), (k,) receive the factors.
    g : the shift.
    """
    size = abs(g.real) + abs(g.imag)
    for m in range(plan.back.shape[0]):
        if not size >= plan.slowest[0] * abs(room.entries[plan.back[m, 2]]):
            return False
    n = A.shape[0]
    inverse = 1.0 / g
    for j in range(n):
        for i in range(n):
            A[j, i] = -room.inside[j, i] - inverse * room.product[j, i]
        A[j, j] += g * plan.mass[plan.kept[j]]
    return factorise(A, pivots, room.rows)


_SOLVE = [
    numba.void(StructureType, RoomType, _F2, _I1, numba.float64, _F1, _F1),
    numba.void(StructureType, RoomType, _C2, _I1, numba.complex128, _C1, _C1),
]


@jit(_SOLVE)
def solve(plan, room, A, pivots, g, r, b):
    """Solve ``(g E - J) z = r`` with the factors of `factor`.

    Parameters
    ----------
    plan, room, A, pivots, g : as for `factor`.
    r : (n,) becomes z.
    b : (k,) workspace.
    """
    inverse = 1.0 / g
    entries = room.entries
    for m in range(plan.kept.size):
        b[m] = r[plan.kept[m]]
    for m in range(plan.first.size):
        r[plan.first[m]] *= inverse
    for m in range(plan.into.shape[0]):
        b[plan.into[m, 0]] += entries[plan.into[m, 2]] * r[plan.into[m, 1]]
    substitute(A, pivots, b)
    for m in range(plan.kept.size):
        r[plan.kept[m]] = b[m]
    for m in range(plan.back.shape[0]):
        r[plan.back[m, 0]] += inverse * entries[plan.back[m, 2]] * r[plan.back[m, 1]]
    for m in range(plan.end.shape[0]):
        r[plan.end[m, 0]] += entries[plan.end[m, 2]] * r[plan.end[m, 1]]
    for m in range(plan.tail.size):
        r[plan.tail[m]] *= inverse
