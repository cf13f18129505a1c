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
are appended to a file of their own as they come; of a record that is not whole, or does not fit the study, nothing is
taken. Records are arrays and JSON (`closedchain.disk.plain`): reading them executes nothing. The folder is marked as
that of a study, and locked while one writes to it (`closedchain.disk.folder`).
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import shutil
import struct
import zlib
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.disk import plain
from closedchain.disk.folder import Folder
from closedchain.disk.whole import unwritten
from closedchain.errors import FileError, ModelError
from closedchain.studies.layout import Layout
from closedchain.studies.study import GOOD, Columns, Study, Variable

if TYPE_CHECKING:
    import xarray

HEADER = struct.Struct("<QL")  # length and checksum of a record
ROOMS = DATASET, PARTIAL = "results.zarr", "partial"
# What a folder holds besides its mark and its lock. In the dataset: about a group and its arrays, their chunks, and
# what Zarr writes beside its place.
OWN = (
    r"study\.json|done\.txt|partial/\d+|"
    r"results\.zarr/(?:[^/]+/)?(?:\.z(?:group|array|attrs|metadata)|\d+(?:\.\d+)*)(?:\.[0-9a-f]{32}\.partial)?"
)
CODECS = {"vlen-utf8", "zstd", "blosc", "lz4", "zlib", "gzip"}  # of the dataset: text, and compressed bytes
ABOUT = {"about": {str: str}, "shape": [int], "box": [int]}


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
        self.study = study
        self._home = Folder(folder, "save", "study", OWN, ROOMS)
        self.folder = self._home.shown
        self._home.claim()
        try:
            self.layout = self._open(layout)
            self.done = self._verified()
        except BaseException:
            self._home.release()
            raise

    # ---- what is there already ---------------------------------------------------------------------------------------

    def _open(self, layout: Layout) -> Layout:
        about, path = self.study.about, self._home.path / "study.json"
        if path.exists():
            there = self._read_about(path)
            for name, value in about.items():
                if there["about"].get(name) != value:
                    raise ModelError(
                        f"{self._home} holds another study, with other {name}: {there['about'].get(name)} there, "
                        f"{value} here: {self._home.advice()}"
                    )
            if tuple(there["shape"]) != layout.shape:
                raise ModelError(f"{path} tells another shape than its study, it is damaged: {self._home.advice()}")
            layout = Layout(tuple(there["shape"]), tuple(there["box"]))
            self._arrays = self._found()
            return layout
        self._clear()
        try:
            self._make(layout)
        except FileError:
            raise
        except OSError as error:
            raise self._unwritten(error) from error
        self._arrays = self._found()
        told = {"about": about, "shape": layout.shape, "box": layout.box}
        self._home.write("study.json", json.dumps(told, indent=1).encode())
        return layout

    def _clear(self) -> None:
        """Delete the pieces of a study that was killed before it had begun."""
        began = [name for name in ("done.txt", PARTIAL) if (self._home.path / name).exists()]
        if began:
            raise ModelError(
                f"{self._home} holds {began[0]!r}, but no 'study.json', it is damaged: {self._home.advice()}"
            )
        foreign = [name for name in self._home.strangers() if name.partition("/")[0] in ROOMS]
        if foreign:
            raise ModelError(
                f"{self._home} holds {foreign[0]!r}{' and more' * (len(foreign) > 1)}, which is no part of a study: "
                "move it elsewhere, or give another folder"
            )
        shutil.rmtree(self._home.path / DATASET, ignore_errors=True)

    def _read_about(self, path: Path) -> dict[str, Any]:
        try:
            there = json.loads(path.read_text(encoding="utf-8"))
            plain.check(there, ABOUT, "it")
            if len(there["shape"]) != len(there["box"]) or min(there["box"], default=1) < 1:
                raise ValueError("its blocks have no size")
        except (OSError, ValueError) as error:
            raise ModelError(f"{path} cannot be read, it is damaged ({error}): {self._home.advice()}") from None
        return there

    def _found(self) -> dict[str, Any]:
        import zarr

        try:
            for name in (*coords(self.study), *(v.name for v in self.study.variables)):
                _check_codecs(self._home.path / DATASET / name / ".zarray")
            group = zarr.open_group(self._home.path / DATASET, mode="r+", zarr_format=2, use_consolidated=False)
            self._write_axes(group)
            return {v.name: group[v.name] for v in self.study.variables}
        except FileError:
            raise
        except Exception:  # in whatever way it is damaged
            raise ModelError(f"{self.folder / DATASET} cannot be read, it is damaged: {self._home.advice()}") from None

    def _make(self, layout: Layout) -> None:
        """The dataset, with all axes and no results."""
        import zarr

        study, (dims, shape) = self.study, (self.study.points.dims, self.study.points.shape)
        group = zarr.open_group(self._home.path / DATASET, mode="w", zarr_format=2)
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
            try:
                for chunk in (self._home.path / DATASET / name).iterdir():
                    if chunk.name.isdecimal():
                        chunk.unlink()
                group[name][...] = wanted
            except OSError as error:
                raise self._unwritten(error) from error

    def _verified(self) -> set[int]:
        """The blocks whose numbers are those that were written."""
        path = self._home.path / "done.txt"
        lines: dict[int, str] = {}
        for line in path.read_text(encoding="ascii", errors="replace").split("\n")[:-1] if path.exists() else ():
            block, _, digest = line.partition(" ")
            if block.isdigit() and int(block) < len(self.layout):
                lines[int(block)] = digest
        good = {block for block, digest in lines.items() if self._digest(block) == digest}
        # whole lines only, so that the next one begins its own
        self._home.write("done.txt", "".join(f"{block} {lines[block]}\n" for block in sorted(good)).encode())
        return good

    def _digest(self, block: int) -> str:
        """Some digits of all that the dataset holds of a block: each variable is one file, none if it is empty."""
        out = hashlib.sha256()
        for v in self.study.variables:
            path = self._chunk(v, block)
            content = path.read_bytes() if path.exists() else b""
            out.update(f"{v.name} {len(content)} ".encode() + content)
        return out.hexdigest()[:32]

    def _chunk(self, variable: Variable, block: int) -> Path:
        number = ".".join(map(str, (*self.layout.number(block), *(0 for _ in variable.shape))))
        return self._home.path / DATASET / variable.name / number

    def failures(self) -> int:
        """How many points failed, of those that are there."""
        places = [self._arrays["status"][self.layout.place(block)] for block in sorted(self.done)]
        return sum(str(x) not in GOOD for place in places for x in np.asarray(place).ravel())

    # ---- what comes --------------------------------------------------------------------------------------------------

    def partial(self, block: int) -> Iterator[tuple[list[int], Columns]]:
        """Points of a block that are known already."""
        name = _partial(block)
        self._home.refuse_links(name)
        if not (self._home.path / name).exists():
            return
        begin, data = 0, self._home.read(name)
        while begin + HEADER.size <= len(data):
            length, checksum = HEADER.unpack_from(data, begin)
            record = data[begin + HEADER.size : begin + HEADER.size + length]
            if len(record) != length or zlib.crc32(record) != checksum:
                break
            try:
                numbers, columns = self._read(block, record)
            except ValueError:
                break
            begin += HEADER.size + length
            yield numbers, columns
        self._home.cut(name, begin)

    def _read(self, block: int, record: bytes) -> tuple[list[int], Columns]:
        """Points and columns of a record; ValueError if it does not fit the study."""
        told = plain.from_bytes(record)
        plain.check(told, {"points": [int], "columns": {str: object}}, "a record")
        numbers, columns = told["points"], told["columns"]
        if not set(numbers) <= set(self.layout.points(block)) or len(set(numbers)) != len(numbers):
            raise ValueError("other points")
        if set(columns) != {v.name for v in self.study.variables}:
            raise ValueError("other columns")
        out = {}
        for v in self.study.variables:
            wanted = v.empty(len(numbers))
            if v.kind == "str":
                plain.check(columns[v.name], [str], v.name)
                columns[v.name] = np.array([*columns[v.name], None], dtype=object)[:-1]
            elif not isinstance(columns[v.name], np.ndarray) or columns[v.name].dtype != wanted.dtype:
                raise ValueError(f"{v.name} holds something else")
            if columns[v.name].shape != wanted.shape:
                raise ValueError(f"{v.name} has another shape")
            out[v.name] = columns[v.name]
        return numbers, out

    def keep(self, block: int, numbers: Sequence[int], columns: Columns) -> None:
        """Points of a block that is not complete."""
        told: dict[str, Any] = {
            v.name: [str(x) for x in columns[v.name]] if v.kind == "str" else np.asarray(columns[v.name], v.kind)
            for v in self.study.variables
        }
        record = plain.to_bytes({"points": [int(x) for x in numbers], "columns": told}, "the points")
        try:
            (self._home.path / PARTIAL).mkdir(exist_ok=True)
        except OSError as error:
            raise self._unwritten(error) from error
        self._home.append(_partial(block), HEADER.pack(len(record), zlib.crc32(record)) + record)

    def write(self, block: int, columns: Columns) -> None:
        """A complete block."""
        place = self.layout.place(block)
        lengths = tuple(part.stop - part.start for part in place)
        try:
            for v in self.study.variables:
                # older versions of Zarr write in place: it may have a second name elsewhere
                self._chunk(v, block).unlink(missing_ok=True)
                self._arrays[v.name][place] = columns[v.name].reshape(*lengths, *v.shape)
        except OSError as error:
            raise self._unwritten(error) from error
        self._home.append("done.txt", f"{block} {self._digest(block)}\n".encode())
        self.done.add(block)
        (self._home.path / _partial(block)).unlink(missing_ok=True)

    def _unwritten(self, error: OSError) -> FileError:
        then = ". What the study had saved before is whole: make room, and the same call goes on from there"
        return unwritten(self.folder / DATASET, error, then)

    def dataset(self) -> xarray.Dataset:
        """All results, read from the disk where they are looked at."""
        import xarray

        ours = _only(self._home.path / DATASET, {*coords(self.study), *self._arrays})
        there = xarray.open_zarr(ours, consolidated=False, chunks=None, zarr_format=2)
        # in their order, and so are coordinates: folders know none
        variables = {v.name: there[v.name].variable for v in self.study.variables}
        variables |= {v.name: variables[v.name].astype(object) for v in self.study.variables if v.kind == "str"}
        return xarray.Dataset(variables, {name: there[name] for name in coords(self.study)}, there.attrs)

    def close(self) -> None:
        """Nothing more is written."""
        with contextlib.suppress(OSError):  # there is none, or it holds something
            (self._home.path / PARTIAL).rmdir()
        self._home.release()


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
    return {"mechanism_name": study.mechanism.name, **study.about}


def _partial(block: int) -> str:
    return f"{PARTIAL}/{block:06d}"


def _only(path: Path, names: set[str]) -> Any:
    """A dataset with arrays of these names: what else is there may be coded by means that execute what they read."""
    from zarr.storage import LocalStore

    class Ours(LocalStore):
        async def list_dir(self, prefix: str) -> AsyncIterator[str]:
            async for name in super().list_dir(prefix):
                if prefix or name in names:
                    yield name

    return Ours(path, read_only=True)


def _check_codecs(path: Path) -> None:
    """Refuse arrays that are decoded by other means than ours: some of Zarr's codecs execute what they read."""
    about = json.loads(path.read_text(encoding="utf-8"))
    used = [codec["id"] for codec in (*(about["filters"] or ()), about["compressor"]) if codec is not None]
    if not set(used) <= CODECS:
        raise ValueError(f"{path} is coded by {', '.join(used)}")


def _named(dims: Sequence[str], attrs: dict[str, Any]) -> dict[str, Any]:
    return {**attrs, "_ARRAY_DIMENSIONS": list(dims)}  # where xarray looks for them


__all__ = ["Memory", "Store", "Variable"]
