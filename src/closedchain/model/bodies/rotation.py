"""Orientation of a frame, written the ways people write it.

A rotation here is a 3x3 nested tuple of numbers or expressions; its columns are the axes of the frame in the body.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from closedchain.arguments import entries, listed
from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Expression, Number, check_number
from closedchain.model.expressions.functions import cos, sin

Rotation: TypeAlias = tuple[tuple[Number, ...], ...]

IDENTITY: Rotation = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def snap(a: Any) -> np.ndarray:
    """Exact zeros and ones where rounding left 1e-17: they are structure, and structure costs nothing."""
    a = np.array(a, float)
    for value in (-1.0, 0.0, 1.0):
        a[np.abs(a - value) < 4e-16] = value
    return a


def from_matrix(R: Any, what: str) -> Rotation:
    """Check that a matrix of numbers is a rotation; matrices of expressions are taken at their word."""
    sentence, example = f"{what}: a rotation matrix has 3 x 3 entries", "((1, 0, 0), (0, 1, 0), (0, 0, 1))"
    rows = tuple(entries(row, 3, sentence, example) for row in entries(R, 3, sentence, example))
    numbers = [[check_number(x, f"{what}: an entry of the rotation matrix") for x in row] for row in rows]
    if any(isinstance(x, Expression) for row in rows for x in row):
        return rows
    a = np.array(numbers)
    error = np.abs(a @ a.T - np.eye(3)).max()
    if error > 1e-6 or np.linalg.det(a) < 0:
        raise ModelError(
            f"{what}: the matrix is not a rotation (R R' differs from 1 by {error:.2g}, det {np.linalg.det(a):.3g}); "
            "its columns must be a right-handed set of orthogonal unit vectors"
        )
    u, _, vt = np.linalg.svd(a)  # the nearest exact rotation: six printed digits are enough to say one
    return tuple(map(tuple, snap(u @ vt if error > 4e-16 else a).tolist()))


def from_rpy(rpy: Sequence[Number], what: str) -> Rotation:
    """Roll, pitch, yaw about the fixed axes x, y, z: ``Rz(yaw) Ry(pitch) Rx(roll)``."""
    angles = entries(rpy, 3, f"{what}: rpy takes three angles in radians", "(0, 0, 0.5)")
    r, p, y = (check_number(a, what) for a in angles)
    (cr, sr), (cp, sp), (cy, sy) = ((cos(a), sin(a)) if not _zero(a) else (1.0, 0.0) for a in (r, p, y))
    R = (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )
    if any(isinstance(x, Expression) for row in R for x in row):
        return R
    return tuple(map(tuple, snap(R).tolist()))


def from_axis(z: Sequence[float], what: str) -> Rotation:
    """A frame whose z axis points along ``z``; x and y are chosen, the same way each time."""
    a = unit(z, what)
    if a[2] == 1.0:
        return IDENTITY
    # the coordinate axis least along z gives x, so that coordinate directions give exact zeros and ones
    e = np.eye(3)[int(np.argmin(np.abs(a)))]
    x = np.cross(np.cross(a, e), a)
    x /= np.linalg.norm(x)
    return tuple(map(tuple, snap(np.column_stack([x, np.cross(a, x), a])).tolist()))


def from_two_axes(x: Sequence[float], y: Sequence[float], what: str) -> Rotation:
    """A frame whose x and y axes are given; they must be perpendicular."""
    a, b = unit(x, what), unit(y, what)
    if abs(a @ b) > 1e-9:
        raise ModelError(f"{what}: the two axes {tuple(x)} and {tuple(y)} are not perpendicular (cosine {a @ b:.3g})")
    return tuple(map(tuple, snap(np.column_stack([a, b, np.cross(a, b)])).tolist()))


def unit(v: Sequence[float], what: str) -> np.ndarray:
    """The direction of ``v`` with length one."""
    numbers = listed(v)
    if numbers is None or len(numbers) != 3 or any(isinstance(x, Expression) for x in numbers):
        raise ModelError(f"{what}: an axis is three plain numbers (turn the frame with rpy to vary it), not {v!r}")
    a = np.array([check_number(x, what, most=np.inf) for x in numbers])  # only its direction counts
    largest = np.abs(a).max()
    if largest == 0:
        raise ModelError(f"{what}: the axis {tuple(v)} has no direction")
    # by a power of two first, which changes no digit: squares of very large or very small numbers are not finite
    a = np.ldexp(a, -int(np.frexp(largest)[1]))
    return snap(a / np.linalg.norm(a))


def _zero(x: Number) -> bool:
    return not isinstance(x, Expression) and x == 0
