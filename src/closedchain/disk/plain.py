"""Plain data as bytes and back: numbers, texts, arrays, and lists and dictionaries of them.

Arrays are kept by NumPy, everything else as JSON in one more array, all in one ``.npz`` file without pickles. Reading
makes nothing but such values: no class of a file's choice, no code. What cannot be kept exactly is refused by name when
it is written.
"""

from __future__ import annotations

import io
import json
import types
import zipfile
from typing import Any

import numpy as np

TOLD = "told"  # the array that holds the JSON
KINDS = "biufcSU"  # of arrays and of NumPy's numbers
DEEPEST = 60  # of what is within what
LONGEST = 4096  # bits of a whole number: Python refuses to read very long ones


class NotPlain(Exception):
    """A value that cannot be kept; the message names its place."""


def refuse(value: Any, name: str) -> None:
    """Raise `NotPlain` where a value would not come back as it is.

    That includes two names for one list, dictionary or array: two of them would come back.

    Examples
    --------
    >>> numbers = [1.0, 2.0]
    >>> refuse({"all": numbers, "latest": numbers}, "memory")
    Traceback (most recent call last):
        ...
    closedchain.disk.plain.NotPlain: memory['latest'] is the same list as memory['all']
    """
    _Packing(strict=True).pack(value, name, 0)


def to_bytes(value: Any, name: str = "value") -> bytes:
    """A value as bytes; `NotPlain` names what cannot be kept, beginning with ``name``."""
    packing = _Packing(strict=False)
    told = json.dumps(packing.pack(value, name, 0))
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **{TOLD: np.frombuffer(told.encode(), np.uint8)}, **packing.arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def from_bytes(data: bytes) -> Any:
    """The value again; ValueError if this is not what `to_bytes` has made.

    Examples
    --------
    >>> from_bytes(to_bytes({"sum": 0.1, 3: [(1, None)], "state": np.arange(3)}))
    {'sum': 0.1, 3: [(1, None)], 'state': array([0, 1, 2])}
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as members:
            sizes = members.infolist()
        if any(x.compress_type != zipfile.ZIP_STORED for x in sizes) or sum(x.file_size for x in sizes) > len(data):
            raise ValueError("it is packed in another way")
        with np.load(io.BytesIO(data), allow_pickle=False) as saved:
            arrays = dict(saved)
        return _unpack(json.loads(arrays.pop(TOLD).tobytes()), arrays)
    except Exception as error:  # in whatever way it is damaged
        raise ValueError(f"no plain data: {error}") from None


class _Packing:
    def __init__(self, strict: bool) -> None:
        self._strict = strict  # about two names for one thing
        self.arrays: dict[str, np.ndarray] = {}
        self._seen: dict[int, tuple[Any, str]] = {}  # the object as well: its number must not be given to another
        self._roots: dict[int, list[tuple[np.ndarray, str]]] = {}  # arrays by the memory that they look at

    def pack(self, x: Any, name: str, depth: int) -> Any:
        if depth > DEEPEST:
            raise NotPlain(f"{name} is nested too deeply")
        if x is None or type(x) in (bool, float, str):
            return x
        if type(x) is int:
            if x.bit_length() > LONGEST:
                raise NotPlain(f"{name} is a whole number of {x.bit_length()} bits")
            return x
        if type(x) is complex:
            return {"$complex": [x.real, x.imag]}
        if isinstance(x, np.generic):
            if x.dtype.kind not in KINDS or x.dtype.kind == "S" or (x.dtype.itemsize > 8 and x.dtype.kind in "f"):
                raise NotPlain(f"{name} is of type {type(x).__name__}")
            item = x.item()
            return {"$scalar": [x.dtype.str, [item.real, item.imag] if x.dtype.kind == "c" else item]}
        if type(x) not in (list, tuple, dict, np.ndarray):
            raise NotPlain(f"{name} is of type {type(x).__name__}")
        if self._strict and type(x) is not tuple:
            self._once(x, name)
        if type(x) is np.ndarray:
            return {"$array": self._array(x, name)}
        if type(x) is dict:
            for key in x:
                if type(key) not in (str, int, float, bool):
                    raise NotPlain(f"{name} has the key {key!r} of type {type(key).__name__}")
            if all(type(key) is str and not key.startswith("$") for key in x):
                return {key: self.pack(y, f"{name}[{key!r}]", depth + 1) for key, y in x.items()}
            return {"$dict": [[key, self.pack(y, f"{name}[{key!r}]", depth + 1)] for key, y in x.items()]}
        inside = [self.pack(y, f"{name}[{i}]", depth + 1) for i, y in enumerate(x)]
        return inside if type(x) is list else {"$tuple": inside}

    def _once(self, x: Any, name: str) -> None:
        """Two names for one thing would be two things when they come back."""
        if id(x) in self._seen:
            raise NotPlain(f"{name} is the same {type(x).__name__} as {self._seen[id(x)][1]}")
        self._seen[id(x)] = x, name

    def _array(self, x: np.ndarray, name: str) -> str:
        kinds = [x.dtype[field].base.kind for field in x.dtype.names] if x.dtype.names else [x.dtype.kind]
        if x.dtype.hasobject or any(kind not in KINDS for kind in kinds):
            raise NotPlain(f"{name} is an array of {x.dtype}")
        if self._strict:
            root: Any = x
            while isinstance(root.base, np.ndarray):
                root = root.base
            for other, its in self._roots.setdefault(id(root), []):
                if np.may_share_memory(other, x):
                    raise NotPlain(f"{name} looks at the same numbers as {its}")
            self._roots[id(root)].append((x, name))
        key = f"a{len(self.arrays)}"
        self.arrays[key] = x
        return key


def _unpack(x: Any, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(x, list):
        return [_unpack(y, arrays) for y in x]
    if not isinstance(x, dict):
        return x
    if len(x) != 1 or not next(iter(x)).startswith("$"):
        return {key: _unpack(y, arrays) for key, y in x.items()}
    ((kind, inside),) = x.items()
    if kind == "$array":
        return arrays[inside]
    if kind == "$tuple":
        return tuple(_unpack(y, arrays) for y in inside)
    if kind == "$dict":
        return {key: _unpack(y, arrays) for key, y in inside}
    if kind == "$complex":
        return complex(*inside)
    if kind == "$scalar":
        dtype = np.dtype(inside[0])
        if dtype.kind not in KINDS:
            raise ValueError(f"a number of kind {dtype}")
        return dtype.type(complex(*inside[1]) if dtype.kind == "c" else inside[1])
    raise ValueError(f"unknown kind {kind}")


# ---- what it should be -----------------------------------------------------------------------------------------------


class Maybe:
    """A schema that None satisfies as well."""

    def __init__(self, schema: Any) -> None:
        self.schema = schema


def check(value: Any, schema: Any, name: str = "value") -> None:
    """Compare a value with a schema; ValueError names the first place where it is something else.

    A schema is a type or a union of types; a list or a mapping ``{str: ...}`` with the schema of what is in it; a tuple
    with one for each entry; a dictionary with names: exactly these, each with its own.

    Examples
    --------
    >>> check({"rows": [1, 2]}, {"rows": [int]})
    >>> check({"rows": [1, "2"]}, {"rows": [int]})
    Traceback (most recent call last):
        ...
    ValueError: value['rows'][1] is '2'
    """
    if isinstance(schema, Maybe):
        if value is not None:
            check(value, schema.schema, name)
    elif isinstance(schema, type | types.UnionType):
        if not isinstance(value, schema) or (isinstance(value, bool) and not _takes_bool(schema)):
            raise ValueError(f"{name} is {value!r:.60}")
    elif isinstance(schema, list):
        _same_type(value, list, name)
        for i, x in enumerate(value):
            check(x, schema[0], f"{name}[{i}]")
    elif isinstance(schema, tuple):
        _same_type(value, tuple, name)
        if len(value) != len(schema):
            raise ValueError(f"{name} has {len(value)} entries")
        for i, (x, inner) in enumerate(zip(value, schema, strict=True)):
            check(x, inner, f"{name}[{i}]")
    else:
        _same_type(value, dict, name)
        of_any = {key: inner for key, inner in schema.items() if isinstance(key, type)}
        if not of_any and set(value) != set(schema):
            raise ValueError(f"{name} has the entries {sorted(map(str, value))}")
        for key, x in value.items():
            kind = next(iter(of_any), None)
            if kind is not None:
                check(key, kind, f"a key of {name}")
            check(x, schema[key] if kind is None else of_any[kind], f"{name}[{key!r}]")


def _takes_bool(schema: Any) -> bool:
    return schema in (bool, object) or bool in getattr(schema, "__args__", ())


def _same_type(value: Any, kind: type, name: str) -> None:
    if type(value) is not kind:
        raise ValueError(f"{name} is no {kind.__name__}")
