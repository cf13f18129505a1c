"""What counts as dependent: the one place where singular values are judged.

Of exact data, a singular value that should be zero is rounding, and everything above it counts: a threshold relative to
the largest value decides. Data rounded to a tolerance (`Mechanism.tolerance`) make rows that would repeat others say
something of their own: their singular values are of the size of the tolerance, some tolerances where errors add up.
They are told from the others by the widest gap that ends in that range.

Values compare only if units do: lengths are measured in the drawing's length (`pose.size`), and so is the tolerance.

The theory is in ``docs/theory/closures.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from closedchain.derive.equations import Equations
from closedchain.errors import ModelError
from closedchain.pose.size import drawn_length, row_sizes, velocity_sizes

# Relative sizes below which a singular value is zero, of exact data:
UNDETERMINED = 1e-7  # of paths and closures together: rates beyond this one have no digit to trust
REPEATED = 1e-8  # of closure rows: the square root of rounding, since closed poses are found to about 1e-11
ALIKE = 1e-9  # of coordinates, efforts and balances at one pose: nothing is searched for there
SOLVED = 1e-10  # in Newton's method, which mends the error of a value that is kept
STILL = 1e-11  # in velocities, which nothing mends: a weak row still has to be obeyed
EXACT = 1e-12  # of matrices in which nothing cancels

# Rows whose lengths differ by less, relative to them, are equally good: far more than rounding, far less than a reason.
EQUALLY_GOOD = 1e-6

# Of the drawing's length, or rad: with more, rows of all loops are within what rounded data may make of them (`LOOSE`).
COARSEST = 1e-2

# Of the drawing's length: the arm on which an angle makes a gap as large as the tolerance. Axes are drawn on parts, and
# parts are shorter than the drawing.
ARM = 0.1

# Tolerances: where loops are open by more, the drawing's numbers do not explain it at any pose. A gap beyond the
# tolerance is a complaint, since other poses fit less well than the first; one beyond this ends a run.
APART = 10.0

# Tolerances: rounded data give rows that would repeat others singular values up to about this. The Jacobian of some ten
# rows and columns changes by the tolerance in each entry, and again as much because the pose has moved.
LOOSE = 30.0


def significant(s: np.ndarray, tolerance: float = 0.0, least: float = REPEATED) -> np.ndarray:
    """How many singular values (..., k), in falling order, are not zero.

    Parameters
    ----------
    s
        Singular values of a matrix without units, or of many.
    tolerance
        How exact the data are, relative to the drawing; see `relative_tolerance`.
    least
        Relative size of a value that is zero if data are exact.

    Examples
    --------
    >>> int(significant(np.array([1.0, 0.2, 4e-6, 1e-9])))
    3
    >>> int(significant(np.array([1.0, 0.2, 4e-6, 1e-9]), tolerance=1e-6))
    2
    """
    if not s.shape[-1]:
        return np.zeros(s.shape[:-1], int)
    # one is the natural size of a matrix without units: rounded rows are not made significant by being the largest
    s = s / np.maximum(s[..., :1], 1.0 if tolerance else 1e-300)
    low, high = max(least, tolerance), max(least, LOOSE * tolerance)
    surely, perhaps = ((s > bound).sum(axis=-1) for bound in (high, low))
    if np.array_equal(surely, perhaps):
        return surely
    floored = np.concatenate([np.maximum(s, low), np.full((*s.shape[:-1], 1), low)], axis=-1)
    gaps = floored[..., :-1] / floored[..., 1:]  # after the first value, after the second, ...
    number = np.arange(1, s.shape[-1] + 1)
    among = (number >= surely[..., None]) & (number <= perhaps[..., None])
    return np.where(perhaps > 0, 1 + np.argmax(np.where(among, gaps, 0.0), axis=-1), 0)


def rank(A: np.ndarray, tolerance: float = 0.0, least: float = REPEATED) -> int:
    """Numerical rank of a matrix without units."""
    return int(significant(np.linalg.svd(A, compute_uv=False), tolerance, least)) if A.size else 0


def null_space(A: np.ndarray, tolerance: float = 0.0, least: float = REPEATED) -> np.ndarray:
    """An orthonormal basis of the motions that A allows, as columns."""
    if not A.size:
        return np.eye(A.shape[1])
    _, s, vt = np.linalg.svd(A)
    return vt[int(significant(s, tolerance, least)) :].T


def independent(A: np.ndarray, number: int) -> tuple[int, ...]:
    """Numbers of the best conditioned independent rows; of rows that are equally good, those that come first.

    Where rounding chose among them, runs on other processors would solve other rows.
    """
    from scipy.linalg import qr  # costs a tenth of a second to import, and most mechanisms never need it

    weights = 1.0 - EQUALLY_GOOD * np.arange(len(A))
    order = qr((weights[:, None] * A).T, mode="r", pivoting=True)[1]
    return tuple(sorted(int(i) for i in order[:number]))


def cut_off(A: np.ndarray, scaled: np.ndarray, tolerance: float, least: float = SOLVED) -> float:
    """The ``rcond`` with which `numpy.linalg.lstsq` keeps as many singular values of A as count in ``scaled``.

    ``scaled`` is A without units. Of exact data, ``least`` does.
    """
    if not tolerance or not A.size:
        return least
    kept = rank(scaled, tolerance, least)
    s = np.linalg.svd(A, compute_uv=False)
    if kept == len(s):
        return least
    return float(np.sqrt(max(s[kept - 1], 1e-300) * max(s[kept], least * s[0])) / s[0]) if kept else 1.0


def relative_tolerance(e: Equations, p: np.ndarray) -> float:
    """The tolerance of a drawing over its length."""
    mechanism = e.topology.mechanism
    if not mechanism.tolerance:
        return 0.0
    length = drawn_length(e, p)
    relative = mechanism.tolerance / length
    if relative > COARSEST:
        raise ModelError(
            f"tolerance = {mechanism.tolerance:g} of {mechanism.name!r} is not small against its length of "
            f"{length:.3g} m: no loop would be closed; give at most {COARSEST * length:.1g}"
        )
    return relative


def row_tolerances(units: Sequence[str], tolerance: Any, length: Any) -> np.ndarray:
    """How far rows of these units may be open because the drawing's numbers are rounded, m or rad (..., rows)."""
    return np.where([unit == "m" for unit in units], tolerance, np.minimum(tolerance / (ARM * length), COARSEST))


def apart(units: Sequence[str], closed: float, tolerance: float, length: float) -> np.ndarray:
    """How far rows of these units may be open at a pose that was not searched for, m or rad (rows,).

    ``closed`` is relative, for exact numbers. Rounded ones fit other poses less well than the first: see `APART`.
    """
    exact = closed * np.where([unit == "m" for unit in units], length, 1.0)
    return np.maximum(exact, APART * row_tolerances(units, tolerance, length))


def needed_tolerance(units: Sequence[str], gaps: np.ndarray, length: float) -> float:
    """The least tolerance that explains gaps of rows of these units, m."""
    return float(np.max(gaps * np.where([unit == "m" for unit in units], 1.0, ARM * length), initial=0.0))


def without_units(e: Equations, p: np.ndarray, rows: Sequence[int], A: np.ndarray) -> np.ndarray:
    """The Jacobian (..., rows, velocities) of some closure rows, lengths over the drawing's length."""
    length = drawn_length(e, p)
    return A * velocity_sizes(e, length) / row_sizes(e, rows, length)[:, None]
