"""Orientations that change with time: turns about an axis, splines through several orientations, Euler angles.

A path of orientations is a rotation matrix of expressions. None of them passes a singularity but those of Euler angles
themselves: `turn` is a rotation about one axis, `turns` a spline of unit quaternions that is normalised.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from closedchain.arguments import listed
from closedchain.errors import ModelError
from closedchain.model.bodies.rotation import IDENTITY, Rotation, from_matrix, from_rpy, unit
from closedchain.model.expressions.expression import Expression, Number
from closedchain.model.expressions.functions import cos, sin
from closedchain.model.paths.checks import of_time, plain, seconds
from closedchain.model.paths.joining import together
from closedchain.model.paths.laws import TimeLaw, find
from closedchain.model.paths.path import Path
from closedchain.model.paths.splines import Fitted, fit

HALF_TURN = math.pi - 1e-6  # rad: further apart, the shorter way between two orientations is a matter of rounding
SMALLEST = 0.3  # length of a spline of unit quaternions: below, it cuts across and its orientation turns fast
WAYS_TO_SAY = "three angles (roll, pitch, yaw), a quaternion (w, x, y, z) or a 3 x 3 matrix"


def turn(a: Any, b: Any, *, duration: float | None = None, law: str | TimeLaw = "minimum-jerk") -> Path:
    """Turn from one orientation to another the short way, about the one axis that does it.

    Parameters
    ----------
    a, b
        Three angles (roll, pitch, yaw), a quaternion (w, x, y, z), or a 3 x 3 matrix each.
    duration, law
        As in `paths.line`; limits are those of the angle, rad/s and rad/s^2.

    Examples
    --------
    >>> from closedchain.model import paths
    >>> turn = paths.turn((0, 0, 0), (0, 0, 1.0), duration=2.0)
    >>> turn.at(1.0).angular_velocity.round(12) + 0.0
    array([0.    , 0.    , 0.9375])
    """
    first, last = as_matrix(a, "turn: its beginning"), as_matrix(b, "turn: its end")
    if any(isinstance(x, Expression) for row in (*first, *last) for x in row):
        raise ModelError("turn: its ends are plain numbers; use turned(about=..., angle=...) to vary the angle")
    w, *xyz = _quaternion(np.array(last) @ np.array(first).T)
    angle = 2.0 * math.atan2(float(np.linalg.norm(xyz)), w)
    if angle > HALF_TURN:
        raise ModelError(
            "turn: its ends are half a turn apart, so that there are two ways: use turned(about=..., angle=...)"
        )
    plan = find(law, "turn").schedule(duration, angle, "turn")
    if angle < 1e-15:
        return Path((), first, plan.duration)
    return Path((), _about(unit(xyz, "turn"), angle * plan.progress, first), plan.duration, plan.breaks)


def turns(
    keys: Any, times: Any = None, *, duration: float | None = None, ends: str = "natural", law: Any = None
) -> Path:
    """A twice differentiable turning through several orientations.

    The four components of the unit quaternions, with signs that go on, are splines of time; their sum of squares is
    divided out. Neighbours must be less than half a turn apart.

    Parameters
    ----------
    keys
        At least two: three angles (roll, pitch, yaw), a quaternion (w, x, y, z), or a 3 x 3 matrix each.
    times, duration, ends, law
        As in `paths.spline`; a duration is spread by the angles between neighbours.

    Examples
    --------
    >>> from closedchain.model import paths
    >>> paths.turns([(0, 0, 0), (0, 0.5, 0), (0, 0.5, 1.0)], times=[0, 1, 2], ends="rest")
    Path(orientation, 2 s)
    """
    listed_keys = listed(keys)
    if listed_keys is None or len(listed_keys) < 2:
        raise ModelError(f"turns needs a list of at least two orientations, not {keys!r}")
    q = np.array([as_quaternion(key, f"turns: orientation {i + 1}") for i, key in enumerate(listed_keys)])
    for last, this in itertools.pairwise(q):
        this *= 1.0 if last @ this >= 0 else -1.0  # the same orientation on the nearer side
    angles = 2.0 * np.arccos(np.clip(np.einsum("ij,ij->i", q[1:], q[:-1]), -1.0, 1.0))
    for i in np.flatnonzero(angles > HALF_TURN):
        raise ModelError(f"turns: orientations {i + 1} and {i + 2} are half a turn apart: put one between them")
    around = ends == "periodic" and q[0] @ q[-1] < 0
    if around:  # a whole turn brings a quaternion to its negative: two rounds bring it back
        at = None if times is None else listed(times)
        if at is not None and len(at) == len(q):
            last = plain(at[-1], "turns: the last time")
            times = [*at, *(last + plain(x, "turns: a time") for x in at[1:])]
        duration = None if duration is None else 2 * plain(duration, "turns: the duration")
        q, angles = np.vstack([q, -q[1:]]), np.append(angles, angles)
    fitted = fit(q, angles, times, duration, ends, law, "turns")
    duration = fitted.duration / 2 if around else fitted.duration
    path = Path((), _of_quaternion(fitted.entries), duration, fitted.breaks, fitted.endless)
    _check_length(fitted)
    return path


def euler(sequence: str, a: Any, b: Any, c: Any, *, duration: float | None = None) -> Path:
    """Orientation by three angles about axes that turn along: ``euler("zyz", a, b, c)`` is Rz(a) Ry(b) Rz(c).

    Parameters
    ----------
    sequence
        Three of the letters x, y, z, no two neighbours the same.
    a, b, c
        rad: numbers, expressions of time, or paths of one coordinate.
    duration
        s. Default: that of the longest path among the angles.

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.model import paths
    >>> paths.euler("zyz", 0.3, paths.line(0.0, 0.5, duration=1.0), -0.3)
    Path(orientation, 1 s)
    """
    known = isinstance(sequence, str) and len(sequence) == 3 and set(sequence) <= set("xyz")
    if not known or sequence[0] == sequence[1] or sequence[1] == sequence[2]:
        raise ModelError(
            f"euler: the sequence is three axes such as 'zyz' or 'xyz', no neighbours the same, not {sequence!r}"
        )
    angles = [_angle(x, f"euler: angle {i + 1}") for i, x in enumerate((a, b, c))]
    R: Rotation = IDENTITY
    for letter, (angle, _) in zip(reversed(sequence), reversed(angles), strict=True):
        R = _about(np.eye(3)["xyz".index(letter)], angle, R)
    return _as_long_as([path for _, path in angles], R, duration, "euler")


def rpy(roll: Any, pitch: Any, yaw: Any, *, duration: float | None = None) -> Path:
    """Orientation by roll, pitch and yaw about the fixed axes x, y, z: Rz(yaw) Ry(pitch) Rx(roll); as `euler`."""
    return euler("zyx", yaw, pitch, roll, duration=duration)


def turned(path: Path, about: Any, angle: Any) -> Path:
    """Turn the frame of a path about an axis of the world.

    Parameters
    ----------
    path
        Without an orientation it gets one; that of another is turned further.
    about
        The axis, three numbers.
    angle
        rad: a number, an expression of time, or the path of one coordinate.
    """
    by, angles = _angle(angle, "turned: the angle")
    R = _about(unit(about, "turned"), by, path.rotation or IDENTITY)
    return together(path, Path((), R, angles.duration, angles.breaks, angles.endless))


def oriented(path: Path, orientation: Any) -> Path:
    """A path with an orientation: that of a path (`paths.turn`, `paths.turns`), or a fixed one.

    A fixed one is three angles (roll, pitch, yaw), a quaternion (w, x, y, z), or a 3 x 3 matrix.
    """
    fixed = not isinstance(orientation, Path)
    return together(path, Path((), as_matrix(orientation, "oriented")) if fixed else orientation)


def as_matrix(x: Any, what: str) -> Rotation:
    """An orientation in any of the ways to say it."""
    entries = listed(x)
    if entries is not None and len(entries) == 3 and listed(entries[0]) is not None:
        return from_matrix(x, what)
    if entries is not None and len(entries) == 3:
        return from_rpy(entries, what)
    if entries is not None and len(entries) == 4:
        R = _of_quaternion(tuple(as_quaternion(x, what).tolist()))
        return from_matrix(R, what)
    raise ModelError(f"{what}: an orientation is {WAYS_TO_SAY}, not {x!r}")


def as_quaternion(x: Any, what: str) -> np.ndarray:
    """The unit quaternion (w, x, y, z) of an orientation of plain numbers."""
    entries = listed(x)
    if entries is not None and len(entries) == 4:
        q = np.array([plain(entry, f"{what}: the quaternion") for entry in entries])
        length = float(np.linalg.norm(q))
        if abs(length - 1.0) > 1e-3:  # three printed digits are enough to say one
            raise ModelError(f"{what}: the quaternion {tuple(q.tolist())} has the length {length:.6g}, not 1")
        return q / length
    R = as_matrix(x, what)
    return _quaternion(np.array([[plain(entry, what) for entry in row] for row in R]))


def _quaternion(R: np.ndarray) -> np.ndarray:
    """The unit quaternion of a rotation matrix, w >= 0: from the largest of its components, which is never small."""
    squares = np.array([np.trace(R), *(2 * np.diag(R) - np.trace(R))]) + 1.0  # 4 w^2, 4 x^2, 4 y^2, 4 z^2
    skew = R - R.T
    sums = R + R.T
    table = np.array(
        [
            [squares[0], skew[2, 1], skew[0, 2], skew[1, 0]],
            [skew[2, 1], squares[1], sums[0, 1], sums[0, 2]],
            [skew[0, 2], sums[0, 1], squares[2], sums[1, 2]],
            [skew[1, 0], sums[0, 2], sums[1, 2], squares[3]],
        ]
    )  # 4 q q^T
    q = table[int(np.argmax(squares))]
    q = q / np.linalg.norm(q)
    return -q if q[0] < 0 else q


def _of_quaternion(q: Sequence[Number]) -> Rotation:
    """The rotation of a quaternion of any length: its square is divided out."""
    w, x, y, z = q
    n = w * w + x * x + y * y + z * z
    scale = 2.0 / n
    return (
        (1 - scale * (y * y + z * z), scale * (x * y - w * z), scale * (x * z + w * y)),
        (scale * (x * y + w * z), 1 - scale * (x * x + z * z), scale * (y * z - w * x)),
        (scale * (x * z - w * y), scale * (y * z + w * x), 1 - scale * (x * x + y * y)),
    )


def _check_length(fitted: Fitted) -> None:
    """A spline that overshoots may pass near zero, where its direction turns fast."""
    n = len(fitted.times)
    times = np.interp(np.linspace(0, n - 1, 32 * n), np.arange(n), fitted.times)  # many looks at each piece
    values = Path(fitted.entries, duration=fitted.duration).at(times).value
    lengths = np.linalg.norm(values, axis=1)
    if lengths.min() < SMALLEST:
        raise ModelError(
            f"turns: at {times[lengths.argmin()]:.4g} s the spline of the quaternions is {lengths.min():.2g} long, "
            "and its orientation would turn fast: put more orientations between, or move their times apart"
        )


def _about(axis: np.ndarray, angle: Number, before: Rotation) -> Rotation:
    """A rotation turned about an axis of the world; zeros and ones of the axis stay exact (Rodrigues' formula)."""
    n, c, s = axis.tolist(), cos(angle), sin(angle)
    skew = ((0.0, -n[2], n[1]), (n[2], 0.0, -n[0]), (-n[1], n[0], 0.0))
    R = [[n[i] * n[j] + c * ((i == j) - n[i] * n[j]) + s * skew[i][j] for j in range(3)] for i in range(3)]
    return tuple(tuple(_sum(R[i][k] * before[k][j] for k in range(3)) for j in range(3)) for i in range(3))


def _sum(terms: Any) -> Number:
    total: Number = 0.0
    for term in terms:
        total = total + term
    return total


def _angle(x: Any, what: str) -> tuple[Number, Path]:
    """A number, an expression, or the path of one coordinate: the angle itself, and its path."""
    if not isinstance(x, Path):
        return of_time(x, what), Path((x,))
    angle = x.components[0] if len(x.components) == 1 else None
    if angle is None or x.rotation is not None:
        raise ModelError(f"{what} is a number, an expression, or a path of one coordinate, not {x}")
    return angle, x


def _as_long_as(angles: list[Path], R: Rotation, duration: float | None, what: str) -> Path:
    if duration is None:
        duration = max(path.duration for path in angles)
        varies = any(leaf.op == "time" for row in R for x in row if isinstance(x, Expression) for leaf in x.leaves())
        if duration == 0.0 and varies:
            raise ModelError(f"{what}: say how long it takes, duration=...: expressions of time do not tell")
    breaks = tuple(x for path in angles for x in path.breaks)
    return Path((), R, seconds(duration, f"{what}: the duration"), breaks, any(path.endless for path in angles))
