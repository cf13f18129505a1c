"""Paths from tables: a CSV file or an array, one row for each time, with a spline through the rows.

A file may begin with a line of names, with units in brackets behind them: numbers are converted to s, m and rad, and
units that are not known are refused. Lines that begin with ``#`` are skipped, and columns are separated by commas,
semicolons or tabulators.
"""

from __future__ import annotations

import contextlib
import csv
import math
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from closedchain import arguments
from closedchain.disk.names import text_of
from closedchain.errors import ModelError
from closedchain.model.paths.joining import pose
from closedchain.model.paths.orientation import turns
from closedchain.model.paths.path import Path
from closedchain.model.paths.splines import spline

POSITION, QUATERNION, ANGLES = ("x", "y", "z"), ("qw", "qx", "qy", "qz"), ("roll", "pitch", "yaw")
UNNAMED = {  # columns of tables without names, by how many they are
    2: ("t", "q"),
    4: ("t", *POSITION),
    7: ("t", *POSITION, *ANGLES),
    8: ("t", *POSITION, *QUATERNION),
}

DEGREE = math.pi / 180
TIMES = {"s": 1.0, "ms": 1e-3}
LENGTHS = {"m": 1.0, "mm": 1e-3, "cm": 1e-2}
TURNS = {"rad": 1.0, "deg": DEGREE, "\u00b0": DEGREE}
NONE = {"1": 1.0, "-": 1.0}
UNITS = (  # in s, m and rad, by column; any other column is a coordinate, an angle or a distance
    {"t": TIMES} | dict.fromkeys(POSITION, LENGTHS) | dict.fromkeys(QUATERNION, NONE) | dict.fromkeys(ANGLES, TURNS)
)


def table(source: Any, *, columns: Sequence[str] | None = None, ends: str = "natural") -> Path:
    """The path of a frame, or of one coordinate, through the rows of a table.

    Parameters
    ----------
    source
        A CSV file, or an array with a row for each time.
    columns
        Names of the columns, if the file does not tell: ``t`` (or ``time``), then ``x``, ``y``, ``z`` (one that is
        missing is left free), and for an orientation ``qw``, ``qx``, ``qy``, ``qz`` or ``roll``, ``pitch``, ``yaw``.
        One column of another name beside the time is the path of a coordinate. Default: by their number, 2, 4, 7 or
        8. Units may stand behind names, ``"t [ms]"`` or ``"yaw (deg)"``: s, ms; m, mm, cm; rad, deg. Without one,
        numbers are in s, m and rad.
    ends
        As in `paths.spline`.

    Examples
    --------
    >>> import numpy as np
    >>> from closedchain.model import paths
    >>> t = np.linspace(0, 1, 21)
    >>> paths.table(np.column_stack([t, np.sin(t)]))
    Path(1 component, 1 s, breaks at 0, 1)
    """
    read = _read(source, columns)
    names = [name for name in read.names if name != "t"]
    if len(names) == 1 and names[0] not in (*POSITION, *QUATERNION, *ANGLES):
        return _coordinate(read, names[0], ends)
    for name in names:
        columns_of_poses = (*POSITION, *QUATERNION, *ANGLES)
        arguments.known(f"{read.name}: unknown column", name, columns_of_poses, "; joint_table reads a table of joints")
    position = _position(read, ends) if set(names) & set(POSITION) else None
    orientation = _orientation(read, ends)
    if position is None or orientation is None:
        found = position or orientation
        if found is None:
            raise ModelError(f"{read.name}: beside the time there is no column: add x, y, z, or an orientation")
        return found
    return pose(position, orientation)


def joint_table(source: Any, *, columns: Sequence[str] | None = None, ends: str = "natural") -> dict[str, Path]:
    """Paths of coordinates by name, through the rows of a table; what `follow` takes.

    Parameters
    ----------
    source
        A CSV file, or an array with a row for each time. One column is ``t`` (or ``time``); every other one is named
        after a coordinate. Units are as in `table`; a name that itself ends in brackets needs one behind them,
        ``"leg (left) [rad]"``.
    columns
        Names of the columns, if the file does not tell.
    ends
        As in `paths.spline`.

    Examples
    --------
    >>> from closedchain.model import paths
    >>> paths.joint_table([(0, 0, 0), (1, 0.5, 0.1), (2, 0, 0)], columns=("t", "A", "B"), ends="rest")
    {'A': Path(1 component, 2 s), 'B': Path(1 component, 2 s)}
    """
    read = _read(source, columns)
    names = [name for name in read.names if name != "t"]
    if not names:
        raise ModelError(f"{read.name}: beside the time there is no column: name one after each coordinate")
    return {name: _coordinate(read, name, ends) for name in names}


@dataclass(frozen=True, eq=False)
class Table:
    """What was read: names and numbers, and on which line of the file (or in which row) each row stands."""

    name: str
    names: tuple[str, ...]
    rows: np.ndarray
    lines: tuple[int, ...]
    word: str = "line"

    def column(self, name: str) -> np.ndarray:
        """The numbers of a column."""
        return self.rows[:, self.names.index(name)]

    def at(self, row: Any) -> str:
        """Where a row is, for messages."""
        return f"{self.name}, {self.word} {self.lines[row]}"


def _coordinate(read: Table, name: str, ends: str) -> Path:
    with _named(read, f"column {name!r}"):
        return spline(read.column(name), read.column("t"), ends=ends)


def _position(read: Table, ends: str) -> Path:
    parts = [_coordinate(read, name, ends) if name in read.names else None for name in POSITION]
    made = [path for path in parts if path is not None]
    breaks = tuple(x for path in made for x in path.breaks)
    components = tuple(None if path is None else path.components[0] for path in parts)
    return Path(components, None, made[0].duration, breaks, made[0].endless)


def _orientation(read: Table, ends: str) -> Path | None:
    ways = [kind for kind in (QUATERNION, ANGLES) if set(kind) & set(read.names)]
    if not ways:
        return None
    if len(ways) == 2:
        raise ModelError(f"{read.name}: give the orientation by a quaternion or by roll, pitch, yaw, not by both")
    for name in ways[0]:
        if name not in read.names:
            raise ModelError(f"{read.name}: the column {name!r} is missing: an orientation has {', '.join(ways[0])}")
    keys = np.column_stack([read.column(name) for name in ways[0]])
    if ways[0] is QUATERNION:
        lengths = np.linalg.norm(keys, axis=1)
        for i in np.flatnonzero(np.abs(lengths - 1.0) > 1e-3):
            raise ModelError(f"{read.at(i)}: the quaternion has the length {lengths[i]:.6g}, not 1")
    with _named(read, "orientation"):
        return turns(keys.tolist(), read.column("t"), ends=ends)


@contextlib.contextmanager
def _named(read: Table, what: str) -> Iterator[None]:
    """Errors of splines say which table and column they are about."""
    try:
        yield
    except ModelError as error:
        raise ModelError(f"{read.name}: {what}: {error}") from None


def _read(source: Any, columns: Sequence[str] | None) -> Table:
    if isinstance(source, str | os.PathLike):
        read = _read_file(FilePath(source), columns)
    else:
        read = _read_array(source, columns)
    if "t" not in read.names:
        raise ModelError(f"{read.name}: no column 't' or 'time' among {', '.join(map(repr, read.names))}")
    if len(set(read.names)) < len(read.names):
        twice = next(name for name in read.names if read.names.count(name) > 1)
        raise ModelError(f"{read.name}: two columns are named {twice!r}")
    for i, j in zip(*np.nonzero(~np.isfinite(read.rows)), strict=True):
        raise ModelError(f"{read.at(i)}: {read.names[j]!r} is {read.rows[i, j]}: give a finite number")
    if len(read.rows) < 2:
        raise ModelError(
            f"{read.name}: a path needs at least two rows, there {'is one' if len(read.rows) else 'are none'}"
        )
    time = read.column("t")
    for i in np.flatnonzero(np.diff(time) <= 0):
        raise ModelError(f"{read.at(i + 1)}: times must increase, but {time[i + 1]:g} s comes after {time[i]:g} s")
    if time[0] < 0:
        raise ModelError(f"{read.at(0)}: the first time is {time[0]:g} s: a path begins at 0 or later")
    return read


def _read_array(source: Any, columns: Sequence[str] | None) -> Table:
    try:
        rows = np.asarray(source, float)
    except (TypeError, ValueError):
        rows = np.array(0.0)
    if rows.ndim != 2:
        raise ModelError(f"table: give a file, or rows of numbers of equal length, not {source!r}")
    names, sizes = _names(columns, None, rows.shape[1], "table")
    return Table("table", names, rows * sizes, tuple(range(1, len(rows) + 1)), "row")


def _read_file(file: FilePath, columns: Sequence[str] | None) -> Table:
    text = text_of(file, "the table")
    kept = [(i, line) for i, line in enumerate(text.splitlines(), start=1) if line.strip() and line.strip()[0] != "#"]
    if not kept:
        raise ModelError(f"{file}: the file has no rows")
    separator = next((sign for sign in (";", "\t", ",") if sign in kept[0][1]), ",")
    try:
        cells = [(i, [x.strip() for x in next(csv.reader([line], delimiter=separator))]) for i, line in kept]
    except csv.Error as error:
        raise ModelError(f"{file}: the table cannot be read ({error})") from None
    header = None
    if not all(_is_number(x) for x in cells[0][1]):
        header, cells = cells[0][1], cells[1:]
    width = len(header) if header is not None else len(cells[0][1])
    names, sizes = _names(columns, header, width, str(file))
    rows = np.empty((len(cells), width))
    for k, (line, row) in enumerate(cells):
        if len(row) != width:
            raise ModelError(f"{file}, line {line}: {len(row)} numbers, but {width} columns")
        for j, x in enumerate(row):
            if not _is_number(x):
                raise ModelError(f"{file}, line {line}: {names[j]!r} is {x!r}: give a number")
            rows[k, j] = float(x)
    return Table(str(file), names, rows * sizes, tuple(line for line, _ in cells))


def _names(
    columns: Sequence[str] | None, header: Sequence[str] | None, width: int, what: str
) -> tuple[tuple[str, ...], list[float]]:
    """Names of columns, those that are given or those that a table of this width has, and the size of their units."""
    if columns is None and header is None and width not in UNNAMED:
        raise ModelError(
            f"{what}: name the {width} columns, in a first line 't,x,...' or by columns=('t', 'x', ...): without names "
            "only 2, 4, 7 or 8 are known"
        )
    if columns is not None and len(arguments.names(f"{what}: columns", columns, "names, ('t', 'x', 'y')")) != width:
        raise ModelError(f"{what}: {len(columns)} names for {width} columns")
    in_file = [_taken_apart(name) for name in (header if header is not None else UNNAMED.get(width, [""] * width))]
    chosen = in_file if columns is None else [_taken_apart(name) for name in columns]
    # whoever renames a column has not changed its unit
    units = [unit if unit is not None else found for (_, unit), (_, found) in zip(chosen, in_file, strict=True)]
    names = tuple("t" if name == "time" else name for name, _ in chosen)
    return names, [_size(name, unit, what) for name, unit in zip(names, units, strict=True)]


def _taken_apart(name: str) -> tuple[str, str | None]:
    """Name and unit of a column: ``"x [mm]"`` or ``"x (mm)"``."""
    found = re.fullmatch(r"(.*?)\s*(?:\[([^]]*)\]|\(([^)]*)\))", name.strip())
    return (name.strip(), None) if found is None else (found[1], (found[2] or found[3] or "").strip())


def _size(name: str, unit: str | None, what: str) -> float:
    """What one of a unit is in s, m or rad."""
    known = UNITS.get(name, LENGTHS | TURNS)
    if unit is None:
        return 1.0
    if unit not in known:
        can_be = ", ".join(x for x in known if x.isascii())
        raise ModelError(f"{what}: the column {name!r} is in {unit!r}, but the units known for it are {can_be}")
    return known[unit]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
