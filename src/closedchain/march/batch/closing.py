"""Newton's method for the loops of many points, in one call without Python.

Each point is reached from a reference that is closed: parameters and held values go from those of the reference to
those of the point, at once where Newton's method contracts (the natural test of Deuflhard 2004, Newton Methods for
Nonlinear Problems, 2.1, which keeps it on its branch), otherwise in steps that are halved until it does.
"""

from typing import NamedTuple

import numba
import numpy as np

from closedchain.integrate.batch.points import PieceType
from closedchain.integrate.step_control import F1, F2, copy
from closedchain.native.call import call
from closedchain.native.jit import jit

RESTS = 1e-9  # rad or of the length: the error after a step of this size is below rounding
FAR = 0.5  # rad or of the length: what the first step may be at most
CONTRACTS = 0.5  # of the step before: what the next one may be at most
ITERATIONS = 20
FINEST = 1.0 / 512  # of the way from the reference to the point
CLOSED, OPEN, CONTRADICTED, NEVER = range(4)

CLOSING = np.dtype(
    [
        ("position", "i8"),  # addresses: (t, q, held, p) -> residual, Jacobian by the free velocities
        ("retract", "i8"),  # (t, q, d, p) -> q moved by d along the free velocities
        ("counted", "i8"),  # (t, q, p) -> angles of cut joints, 0 if none
        ("rates", "i8"),  # (t, q, held, p) -> matrix and right-hand side for the velocities
        ("fixed", "i8"),  # (t, q, p) -> residuals that no motion changes, 0 if none
        ("t", "f8"),
        ("tolerance", "f8"),  # of a residual
        ("fixed_tolerance", "f8"),
        ("rank", "f8"),  # relative size of singular values that mean nothing
        ("rows", "i8"),  # residuals
        ("columns", "i8"),  # free velocities
        ("rate_rows", "i8"),
        ("fixed_rows", "i8"),
        ("counters", "i8"),  # coordinates at the end of q
    ]
)
ClosingRecord = numba.from_dtype(CLOSING)
I1 = numba.int64[::1]


class Target(NamedTuple):
    """What a pose has to have: parameters (np,), held entries of q, and held values that are functions of q."""

    p: np.ndarray
    values: np.ndarray
    held: np.ndarray


class Targets(NamedTuple):
    """The same for many points, a row for each, with the velocities that are held."""

    p: np.ndarray
    values: np.ndarray
    held: np.ndarray
    velocities: np.ndarray


class Found(NamedTuple):
    """Coordinates (m, nq), velocities (m, nv) and outcomes (m,), as they are found."""

    q: np.ndarray
    v: np.ndarray
    code: np.ndarray


TargetType = numba.types.NamedUniTuple(F1, 3, Target)
TargetsType = numba.types.NamedUniTuple(F2, 4, Targets)
FoundType = numba.types.NamedTuple((F2, F2, I1), Found)


@jit(numba.boolean(F1))
def finite(x):
    """Whether all entries are numbers."""
    strange = 0
    for i in range(x.size):
        strange += not np.isfinite(x[i])
    return strange == 0


@jit(numba.float64(F1))
def largest(x):
    """The largest entry in size, 0 if there is none."""
    most = 0.0
    for i in range(x.size):
        most = max(most, abs(x[i]))
    return most


@jit(numba.void(F2, F1, numba.float64, F1))
def shortest(matrix, right, rank, x):
    """The shortest x that solves those equations that are independent; the others follow if they are consistent.

    The rows are made orthonormal one after another, the longest that is left first (Gram and Schmidt with pivots):
    ``A = L Q`` for the rows that are taken, hence ``L y = b`` and ``x = Q' y``.

    Parameters
    ----------
    matrix : (n, m) transposed, as native functions write it.
    right : (m,).
    rank : a row is left out when what is left of it is shorter than this share of the longest row.
    x : (n,) receives the solution.
    """
    n, m = matrix.shape
    left, lower, y = matrix.T.copy(), np.zeros((m, min(n, m))), np.empty(min(n, m))
    taken = np.zeros(m, np.bool_)
    for i in range(n):
        x[i] = 0.0
    limit = 0.0
    for k in range(y.size):
        best, row = 0.0, -1
        for j in range(m):
            square = 0.0
            for i in range(n):
                square += left[j, i] ** 2
            if not taken[j] and square > best:
                best, row = square, j
        if k == 0:
            limit = rank * rank * best
        if row < 0 or best <= limit:
            break
        taken[row] = True
        unit = left[row]

        size = np.sqrt(best)
        for i in range(n):
            unit[i] /= size
        lower[row, k] = size
        for j in range(m):
            if not taken[j]:
                along = 0.0
                for i in range(n):
                    along += left[j, i] * unit[i]
                for i in range(n):
                    left[j, i] -= along * unit[i]
                lower[j, k] = along
        y[k] = right[row]
        for l in range(k):
            y[k] -= lower[row, l] * y[l]
        y[k] /= size
        for i in range(n):
            x[i] += y[k] * unit[i]


@jit(numba.boolean(ClosingRecord, F1, F1, F1))
def newton(c, q, held, p):
    """Close the loops at p, in place; False if Newton's method does not contract."""
    clock = np.array([c.t])
    r, J, d, moved = np.empty(c.rows), np.empty((c.columns, c.rows)), np.empty(c.columns), np.empty(q.size)
    for i in range(d.size):
        d[i] = 0.0
    call(c.retract, clock, q, d, p, moved)  # quaternions of length one
    copy(moved, q)
    before = np.inf
    rests = c.columns == 0 or c.rows == 0
    for k in range(ITERATIONS):
        call(c.position, clock, q, held, p, r, J.reshape(J.size))
        if rests or not finite(r) or not finite(J.reshape(J.size)):
            break
        shortest(J, r, c.rank, d)
        for i in range(d.size):
            d[i] = -d[i]
        size = largest(d)
        if not size <= (FAR if k == 0 else max(CONTRACTS * before, RESTS)):
            return False
        call(c.retract, clock, q, d, p, moved)
        copy(moved, q)
        rests = size <= RESTS
        before = size
    if c.counters > 0:
        call(c.counted, clock, q, p, moved)
        for i in range(c.counters):
            q[q.size - c.counters + i] = moved[i]
        call(c.position, clock, q, held, p, r, J.reshape(J.size))
    return rests and finite(r) and largest(r) <= c.tolerance


@jit(numba.boolean(ClosingRecord, I1, TargetType, TargetType, F1))
def reach(c, places, reference, target, q):
    """Go from the closed pose q of a reference to that of a point, in place; False if there is no way.

    Parameters
    ----------
    c : the record of `CLOSING`.
    places : which entries of q are held.
    reference, target : see `Target`.
    """
    done, stride = 0.0, 1.0
    trial, p, held = np.empty(q.size), np.empty(target.p.size), np.empty(target.held.size)
    while done < 1.0:
        share = min(done + stride, 1.0)
        rest = 1.0 - share
        for i in range(p.size):
            p[i] = target.p[i] if rest == 0.0 else rest * reference.p[i] + share * target.p[i]
        for i in range(held.size):
            held[i] = target.held[i] if rest == 0.0 else rest * reference.held[i] + share * target.held[i]
        copy(q, trial)
        for i in range(places.size):
            value = target.values[i]
            trial[places[i]] = value if rest == 0.0 else rest * reference.values[i] + share * value
        if newton(c, trial, held, p):
            copy(trial, q)
            done, stride = share, 2.0 * stride
        else:
            stride *= 0.5
            if stride < FINEST:
                return False
    return True


@jit(numba.boolean(ClosingRecord, F1, F1, F1, F1))
def move(c, q, wanted, p, v):
    """Velocities, relative: they keep the loops closed, have the wanted values, and are else as small as possible."""
    matrix, right = np.empty((v.size, c.rate_rows)), np.empty(c.rate_rows)
    for i in range(v.size):
        v[i] = 0.0
    call(c.rates, np.array([c.t]), q, wanted, p, matrix.reshape(matrix.size), right)
    if not finite(right) or not finite(matrix.reshape(matrix.size)):
        return False
    if largest(right) == 0.0:
        return True
    shortest(matrix, right, 0.1 * c.rank, v)
    size, miss = max(1.0, largest(right)), 0.0
    for j in range(right.size):
        total = reach = 0.0
        for i in range(v.size):
            total += matrix[i, j] * v[i]
            reach += abs(matrix[i, j] * v[i])
        size, miss = max(size, reach), max(miss, abs(total - right[j]))
    return miss <= 10.0 * c.rank * size


@jit(numba.void(ClosingRecord[::1], I1, TargetType, F1, TargetsType, FoundType, PieceType))
def close_points(closing, places, reference, q_reference, targets, found, piece):
    """Close the points of a piece.

    Parameters
    ----------
    closing : one record of `CLOSING`.
    places : which entries of q are held.
    reference, q_reference : the closed pose from which all points are reached.
    targets, found, piece : see `Targets`, `Found` and `Piece`.
    """
    c = closing[0]
    fixed = np.empty(c.fixed_rows)
    for i in range(piece.first, piece.last):
        if piece.flag[0] != 0:
            return
        p, q, v = targets.p[i], found.q[i], found.v[i]
        copy(q_reference, q)
        if not reach(c, places, reference, Target(p, targets.values[i], targets.held[i]), q):
            found.code[i] = OPEN
            continue
        if c.fixed_rows > 0:
            call(c.fixed, np.array([c.t]), q, p, fixed)
            if not largest(fixed) < c.fixed_tolerance or not finite(fixed):
                found.code[i] = NEVER
                continue
        found.code[i] = CLOSED if move(c, q, targets.velocities[i], p, v) else CONTRADICTED
