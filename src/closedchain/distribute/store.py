"""The results of a study on disk: one dataset in the Zarr format, written block by block, and what is needed to go on.

A folder holds

``results.zarr``
    the dataset; ``xarray.open_zarr`` reads it at any time, points that are not done have an empty ``status``
``study.json``
    what the study is: it goes on only where all of that is the same
``done.txt``
    a line for each block that is in the dataset, with a digest of its numbers
``partial/``
    points of blocks that are not complete

A block enters the dataset in one piece: its numbers are written, then its line. Blocks whose numbers do not have the
digest of their line, because a disk was full or lost power, are computed again. Points of a block that is not complete
are appended to a file of their own as they come; of a record that is not whole nothing is taken.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import pickle
import shutil
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.distribute.layout import Layout
from closedchain.distribute.study import GOOD, Columns, Study, Variable, described
from closedchain.errors import ModelError

if TYPE_CHECKING:
    import xarray

FORMAT = 1
HEADER = struct.Struct("<QL")  # length and checksum of a record
KEPT = ("results.zarr", "study.json", "study.new", "done.txt", "done.new", "partial", "lock")

_in_use: set[Path] = set()  # folders that this process writes to: its own locks do not stop it


class Memory:
    """Results of a study that are not saved."""

    def __init__(self, study: Study, layout: Layout) -> None:
        self.study, self.layout = study, layout
        self.done: set[int] = set()
        shape = study.points.shape
        self._arrays = {v.name: v.empty(*shape) for v in study.variables}

    def failures(self) -> int:
        """How many points failed, of those that are there."""
        return 0

    def partial(self, block: int) -> Iterator[tuple[list[int], Columns]]:
        """Points of a block that are known already."""
        return iter(())

    def keep(self, block: int, numbers: Sequence[int], columns: Columns) -> None:
        """Points of a block that is not complete."""

    def write(self, block: int, columns: Columns) -> None:
        """A complete block."""
        place = self.layout.place(block)
        for name, array in self._arrays.items():
            array[place] = columns[name].reshape(array[place].shape)
        self.done.add(block)

    def dataset(self) -> xarray.Dataset:
        """All results."""
        import xarray

        dims = self.study.points.dims
        variables = {v.name: ((*dims, *v.dims), self._arrays[v.name], v.attrs) for v in self.study.variables}
        return xarray.Dataset(variables, coords(self.study), attributes(self.study))

    def close(self) -> None:
        """Nothing more is written."""


class Store:
    """Results of a study in a folder, which is made if it is not there.

    ``done`` are the blocks that are complete.
    """

    def __init__(self, folder: str | Path, study: Study, layout: Layout) -> None:
        if importlib.util.find_spec("zarr") is None:
            raise ModelError("saving a study needs the package zarr: pip install 'closedchain[sweep]'")
        self.folder, self.study = Path(folder).expanduser(), study
        if self.folder.exists() and not self.folder.is_dir():
            raise ModelError(f"to={str(folder)!r} is a file: give the name of a folder")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ModelError(f"to={str(folder)!r} cannot be made: {error}") from None
        self._check_ours()
        self._lock = _Lock(self.folder)
        try:
            self.layout = self._open(layout)
            self.done = self._verified()
        except BaseException:
            self._lock.close()
            raise

    # ---- what is there already ---------------------------------------------------------------------------------------

    def _check_ours(self) -> None:
        if (self.folder / "study.json").exists():
            return
        others = sorted(x.name for x in self.folder.iterdir() if x.name not in KEPT)
        if others:
            raise ModelError(
                f"the folder {str(self.folder)!r} holds {others[0]!r}{' and more' * (len(others) > 1)}, but no study: "
                "give an empty or a new folder"
            )

    def _open(self, layout: Layout) -> Layout:
        about, path = described(self.study), self.folder / "study.json"
        if path.exists():
            there = self._read_about(path)
            for name, value in about.items():
                if there["about"].get(name) != value:
                    raise ModelError(
                        f"the folder {str(self.folder)!r} holds another study, with other {name}: "
                        f"{there['about'].get(name)} there, {value} here. Give another folder, or delete this one"
                    )
            layout = Layout(tuple(there["shape"]), tuple(there["box"]))
            self._arrays = self._found()
            return layout
        # a study that was killed before it had begun leaves pieces
        for name in ("results.zarr", "partial"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        (self.folder / "done.txt").unlink(missing_ok=True)
        self._make(layout)
        self._arrays = self._found()
        told = {"format": FORMAT, "about": about, "shape": layout.shape, "box": layout.box}
        write_whole(path, json.dumps(told, indent=1).encode())
        return layout

    def _read_about(self, path: Path) -> dict[str, Any]:
        try:
            there = json.loads(path.read_text(encoding="utf-8"))
            if there["format"] != FORMAT:
                raise ValueError(f"it has format {there['format']}")
            _ = there["about"], there["shape"], there["box"]
        except (OSError, ValueError, KeyError, TypeError):
            raise ModelError(
                f"{path} cannot be read, it is damaged or of another version: delete the folder to begin anew, or give "
                "another one"
            ) from None
        return there

    def _found(self) -> dict[str, Any]:
        import zarr

        try:
            group = zarr.open_group(self.folder / "results.zarr", mode="r+", zarr_format=2)
            self._write_axes(group)
            return {v.name: group[v.name] for v in self.study.variables}
        except Exception:  # in whatever way it is damaged
            raise ModelError(
                f"{self.folder / 'results.zarr'} cannot be read, it is damaged: delete the folder to begin anew, or "
                "give another one"
            ) from None

    def _make(self, layout: Layout) -> None:
        """The dataset, with all axes and no results."""
        import zarr

        study, (dims, shape) = self.study, (self.study.points.dims, self.study.points.shape)
        group = zarr.open_group(self.folder / "results.zarr", mode="w", zarr_format=2)
        group.attrs.update(attributes(study))
        for name, (along, values, attrs) in coords(study).items():
            kind: Any = str if values.dtype.kind in "OU" else values.dtype
            # without a fill value: xarray would read it as a missing one
            group.create_array(name, shape=values.shape, dtype=kind, fill_value=None, attributes=_named(along, attrs))
        self._write_axes(group)
        for v in study.variables:
            group.create_array(
                v.name,
                shape=(*shape, *v.shape),
                chunks=(*layout.box, *(max(n, 1) for n in v.shape)),
                dtype=str if v.kind == "str" else v.kind,
                fill_value=np.nan if v.kind == "f8" else None,
                attributes=_named((*dims, *v.dims), v.attrs),
            )

    def _write_axes(self, group: Any) -> None:
        """Values along the axes, where they are not as they should be: of a file that is gone nothing would be seen."""
        for name, (_, values, _) in coords(self.study).items():
            wanted = values.astype(object) if values.dtype.kind in "OU" else values
            try:
                if np.array_equal(np.asarray(group[name][...]).astype(wanted.dtype), wanted):
                    continue
            except (RuntimeError, ValueError, OSError):  # what cannot be decoded is written anew
                pass
            group[name][...] = wanted

    def _verified(self) -> set[int]:
        """The blocks whose numbers are those that were written."""
        path = self.folder / "done.txt"
        lines: dict[int, str] = {}
        for line in path.read_text(encoding="ascii", errors="replace").split("\n")[:-1] if path.exists() else ():
            block, _, digest = line.partition(" ")
            if block.isdigit() and int(block) < len(self.layout):
                lines[int(block)] = digest
        good = {block for block, digest in lines.items() if self._digest(block) == digest}
        # whole lines only, so that the next one begins its own
        write_whole(path, "".join(f"{block} {lines[block]}\n" for block in sorted(good)).encode())
        return good

    def _digest(self, block: int) -> str:
        """Some digits of all that the dataset holds of a block: each variable is one file, none if it is empty."""
        out = hashlib.sha256()
        for v in self.study.variables:
            number = ".".join(map(str, (*self.layout.number(block), *(0 for _ in v.shape))))
            path = self.folder / "results.zarr" / v.name / number
            content = path.read_bytes() if path.exists() else b""
            out.update(f"{v.name} {len(content)} ".encode() + content)
        return out.hexdigest()[:32]

    def failures(self) -> int:
        """How many points failed, of those that are there."""
        places = [self._arrays["status"][self.layout.place(block)] for block in sorted(self.done)]
        return sum(str(x) not in GOOD for place in places for x in np.asarray(place).ravel())

    # ---- what comes --------------------------------------------------------------------------------------------------

    def partial(self, block: int) -> Iterator[tuple[list[int], Columns]]:
        """Points of a block that are known already."""
        path = self._partial(block)
        if not path.exists():
            return
        with path.open("r+b") as file:
            while True:
                begin = file.tell()
                header = file.read(HEADER.size)
                length, checksum = HEADER.unpack(header) if len(header) == HEADER.size else (0, 1)
                record = file.read(length)
                if len(record) != length or zlib.crc32(record) != checksum:
                    break
                yield pickle.loads(record)
            file.truncate(begin)

    def keep(self, block: int, numbers: Sequence[int], columns: Columns) -> None:
        """Points of a block that is not complete."""
        record = pickle.dumps((list(numbers), columns))
        path = self._partial(block)
        path.parent.mkdir(exist_ok=True)
        with path.open("ab") as file:
            file.write(HEADER.pack(len(record), zlib.crc32(record)) + record)

    def write(self, block: int, columns: Columns) -> None:
        """A complete block."""
        place = self.layout.place(block)
        lengths = tuple(part.stop - part.start for part in place)
        for v in self.study.variables:
            self._arrays[v.name][place] = columns[v.name].reshape(*lengths, *v.shape)
        with (self.folder / "done.txt").open("a", encoding="ascii") as file:
            file.write(f"{block} {self._digest(block)}\n")
        self.done.add(block)
        self._partial(block).unlink(missing_ok=True)

    def _partial(self, block: int) -> Path:
        return self.folder / "partial" / f"{block:06d}"

    def dataset(self) -> xarray.Dataset:
        """All results, read from the disk where they are looked at."""
        import xarray

        there = xarray.open_zarr(self.folder / "results.zarr", consolidated=False, chunks=None)
        # in their order, and so are coordinates: folders know none
        variables = {v.name: there[v.name].variable for v in self.study.variables}
        variables |= {v.name: variables[v.name].astype(object) for v in self.study.variables if v.kind == "str"}
        return xarray.Dataset(variables, {name: there[name] for name in coords(self.study)}, there.attrs)

    def close(self) -> None:
        """Nothing more is written."""
        with contextlib.suppress(OSError):  # there is none, or it holds something
            (self.folder / "partial").rmdir()
        self._lock.close()


# ---- pieces ----------------------------------------------------------------------------------------------------------


def coords(study: Study) -> dict[str, tuple[tuple[str, ...], np.ndarray, dict[str, Any]]]:
    """Axes and values of all coordinates of the dataset."""
    about = {x: {"about": f"{role.kind} {role.name}"} for x, role in study.roles.items()}
    out: dict[str, Any] = {
        x: ((axis,), values, about.get(x, {})) for x, (axis, values) in study.points.coords().items()
    }
    return out | {name: ((name,), np.asarray(values), attrs) for name, (values, attrs) in study.axes.items()}


def attributes(study: Study) -> dict[str, Any]:
    """What the study is, in the attributes of its dataset."""
    return {"mechanism_name": study.mechanism.name, **described(study)}


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file in one operation of the file system."""
    fresh = path.with_suffix(".new")
    with fresh.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)


def _named(dims: Sequence[str], attrs: dict[str, Any]) -> dict[str, Any]:
    return {**attrs, "_ARRAY_DIMENSIONS": list(dims)}  # where xarray looks for them


class _Lock:
    """A folder that one study at a time may write to; the lock ends with the process, however that ends.

    Not `flock`: workers that are forked would hold it, too, and survive for a moment.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        refusal = ModelError(
            f"another study is writing to {str(folder)!r} just now: wait for it, or give another folder"
        )
        if self._folder in _in_use:
            raise refusal
        self._file = (folder / "lock").open("w")
        try:
            import fcntl

            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # not on every system
            pass
        except OSError:
            self._file.close()
            raise refusal from None
        _in_use.add(self._folder)

    def close(self) -> None:
        """Let others in."""
        _in_use.discard(self._folder)
        self._file.close()


__all__ = ["Memory", "Store", "Variable"]
