"""Paths out of several: one after another, again and again, position and orientation at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Expression, t
from closedchain.model.expressions.functions import floor, maximum, minimum, where
from closedchain.model.paths.checks import whole
from closedchain.model.paths.path import Path

SAME = 1e-9  # of the size of the motion: ends that differ by less are the same


def pose(position: Path, orientation: Path) -> Path:
    """Position of one path and orientation of another; it lasts as long as the longer one.

    Examples
    --------
    >>> from closedchain.model import paths
    >>> move = paths.line((0, 0, 0), (1, 0, 0), duration=2.0)
    >>> paths.pose(move, paths.turn((0, 0, 0), (0, 0, 1.57), duration=1.0))
    Path(3 components, orientation, 2 s)
    """
    if not isinstance(position, Path) or not position.components:
        raise ModelError(f"pose takes a path with components first, not {position!r}")
    if not isinstance(orientation, Path) or orientation.rotation is None:
        raise ModelError(f"pose takes a path with an orientation in second place, not {orientation!r}")
    return together(position, orientation)


def together(position: Path, orientation: Path) -> Path:
    """The components of one path and the orientation of another."""
    if orientation.rotation is None:
        raise ModelError(f"{orientation} has no orientation to give")
    return Path(
        position.components,
        orientation.rotation,
        max(position.duration, orientation.duration),
        position.breaks + orientation.breaks,
        position.endless or orientation.endless,
    )


def chain(*paths: Path, shift: bool = False) -> Path:
    """Paths one after another. Each begins where the one before ends; with ``shift=True`` it is shifted there.

    Examples
    --------
    >>> from closedchain.model import paths
    >>> paths.chain(paths.line(0, 1, duration=1), paths.rest(1, 0.5), paths.line(1, 0, duration=2))
    Path(1 component, 3.5 s)
    """
    wrong = [path for path in paths if not isinstance(path, Path)]
    if wrong or not paths:
        raise ModelError(f"a path is followed by a path, not by {wrong[0]!r}" if wrong else "chain needs paths")
    pieces, begins, breaks = [paths[0]], [0.0], set(paths[0].breaks)
    for number, path in enumerate(paths[1:], start=2):
        before, begin = pieces[-1], begins[-1] + pieces[-1].duration
        _check_alike(before, path, number)
        if shift and path.components:
            path = _shifted_onto(before, path)
        smooth = _check_meeting(
            before, path, (f"path {number}", "the one before"), "let it begin there, or say shift=True"
        )
        # where one path takes over from another it counts whether the two go on smoothly together
        breaks = {x for x in breaks if x < begin} | {begin + x for x in path.breaks if x > 0}
        breaks |= set() if smooth else {begin}
        pieces.append(path)
        begins.append(begin)
    moved = [path._at_time(t - begin) if begin else path for path, begin in zip(pieces, begins, strict=True)]
    # the conditions are shared by all components, so that a run meets each of them once
    earlier = [t < begin for begin in begins]
    entries = [_choose(options, earlier) for options in zip(*(path.entries for path in moved), strict=True)]
    whole_path = moved[0].with_entries(entries)
    return replace(
        whole_path, duration=begins[-1] + paths[-1].duration, breaks=tuple(breaks), endless=paths[-1].endless
    )


def then(path: Path, other: Path, shift: bool = False) -> Path:
    """One path after another; it must begin where the first one ends.

    With ``shift=True`` the components of the other are shifted so that it does.
    """
    return chain(path, other, shift=shift)


def repeated(path: Path, times: int) -> Path:
    """A path several times, one after another; it must end where it begins."""
    n = whole(times, "repeated: how many times")
    T = path.duration
    if path.endless:
        return replace(path, duration=n * T)
    if T == 0.0:
        raise ModelError("repeated: this path takes no time, and so cannot be repeated")
    smooth = _check_meeting(path, path, ("repeated: the path", "it"), "go back first, path.then(path.reversed())")
    # the time within the round has the rate 1, and the path itself says what is beyond its ends
    local = t - T * minimum(maximum(floor(t / T), 0), n - 1)
    breaks = {i * T + x for i in range(n) for x in path.breaks if 0 < x < T}
    breaks |= {x for x in path.breaks if x <= 0} | {(n - 1) * T + x for x in path.breaks if x >= T}
    breaks |= set() if smooth else {i * T for i in range(1, n)}
    return replace(path._at_time(local), duration=n * T, breaks=tuple(breaks))


def _choose(options: Sequence[Any], earlier: list[Any], low: int = 0, high: int | None = None) -> Any:
    """The expression of the path whose time it is; halved again and again, so that no nest of conditions is deep."""
    high = len(options) if high is None else high
    if high - low == 1:
        return options[low]
    middle = (low + high) // 2
    a, b = _choose(options, earlier, low, middle), _choose(options, earlier, middle, high)
    known = not isinstance(a, Expression) and not isinstance(b, Expression)
    return a if a is b or (known and a == b) else where(earlier[middle], a, b)


def _check_alike(before: Path, path: Path, number: int) -> None:
    if [x is None for x in before.components] != [x is None for x in path.components]:
        raise ModelError(f"path {number} has other components than the one before: {path} after {before}")
    if (before.rotation is None) != (path.rotation is None):
        raise ModelError(f"path {number}: give both paths an orientation, or none of them: {path} after {before}")


def _depends_on_parameters(*paths: Path) -> bool:
    leaves = (leaf for path in paths for x in path.entries if isinstance(x, Expression) for leaf in x.leaves())
    return any(leaf.op == "parameter" for leaf in leaves)


def _shifted_onto(before: Path, path: Path) -> Path:
    if _depends_on_parameters(before, path):
        raise ModelError("shift=True needs paths whose ends are known: they must not depend on parameters")
    ends = np.atleast_1d(before.at(before.duration).value) - np.atleast_1d(path.at(0.0).value)
    return path.shifted(np.nan_to_num(ends).tolist())


def _check_meeting(before: Path, path: Path, names: tuple[str, str], remedy: str) -> bool:
    """Refuse paths that do not meet; returns whether velocity and acceleration go on, too."""
    if _depends_on_parameters(before, path):
        return False  # nobody knows: taken at its word, and noted as a break
    end, begin = before.at(before.duration), path.at(0.0)
    size = max(_largest(path.at(np.linspace(0.0, path.duration, 33)).value) for path in (before, path))
    for a, b, kind in ((end.value, begin.value, "at "), (end.rotation, begin.rotation, "with the orientation ")):
        if a is None or b is None:
            continue
        if _largest(a - b) > SAME * (size if kind == "at " else 1.0):
            raise ModelError(f"{names[0]} begins {kind}{_said(b)}, but {names[1]} ends {kind}{_said(a)}: {remedy}")
    going_on = ("rate", "acceleration", "angular_velocity", "angular_acceleration")
    size = max(size, before.rotation is not None)
    pairs = [(getattr(end, name), getattr(begin, name)) for name in going_on]
    return all(a is None or _largest(a - b) <= SAME * max(_largest(a), _largest(b), size) for a, b in pairs)


def _largest(x: np.ndarray) -> float:
    known = np.abs(x[np.isfinite(x)]) if np.ndim(x) else np.abs(x)
    return float(np.max(known, initial=0.0))


def _said(x: np.ndarray) -> str:
    return f"({', '.join(_said(entry) for entry in x)})" if np.ndim(x) else f"{float(x):.6g}"
