"""Arrays that native functions find by their addresses.

The integrators call ``residual``, ``linearise``, ``factor`` and ``solve`` by address, as they would call any others: so
they are compiled once, and know nothing of links and beams. What these functions work on are tuples of arrays
(`evaluate.Room` and others). A `Memory` is the table of where the arrays are; `unpacker` makes tuples of arrays again
from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

inner = numba.njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)  # type: ignore[call-overload]
"""A part of other functions: it is compiled when one of them is, and cannot be called from Python."""

outer = numba.njit(inline="always")
"""The body of one other function: it is compiled as if it was written there, which saves compiling all it calls
twice."""


@inner
def fill(a, value):
    """Set all entries; Numba compiles this loop in a tenth of the time of ``a[:] = value``."""
    flat = a.ravel()
    for i in range(flat.size):
        flat[i] = value


@inner
def copy(a, b):
    """Copy b to a, of the same shape."""
    to, of = a.ravel(), b.ravel()
    for i in range(to.size):
        to[i] = of[i]


class Memory:
    """Numbers of some tuples, and addresses and shapes of their arrays.

    Attributes
    ----------
    table : (k,) of int64, as the bits of float64: the type that calls by address take.
    """

    def __init__(self, *parts: Any) -> None:
        self.parts = parts  # keeps the arrays alive
        entries: list[int] = []
        for part in parts:
            for x in part:
                entries += [int(x)] if isinstance(x, int) else [x.ctypes.data, *x.shape]
        self.table = np.array(entries, np.int64).view(np.float64)


def _fields(kind: Any) -> list[Any]:
    return list(kind.types) if hasattr(kind, "types") else [kind.dtype] * kind.count


def _view(kind: Any) -> Any:
    """A function ``view(table, at)``: the number or array whose entries in the table begin at a place."""

    @intrinsic
    def view(typingctx, table, at):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            tables = context.make_array(signature.args[0])(context, builder, arguments[0])
            entry = [
                builder.load(builder.gep(tables.data, [builder.add(arguments[1], ir.Constant(ir.IntType(64), i))]))
                for i in range(1 + (0 if isinstance(kind, types.Integer) else kind.ndim))
            ]
            if isinstance(kind, types.Integer):
                return entry[0]
            array = context.make_array(kind)(context, builder)
            size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
            itemsize = ir.Constant(ir.IntType(64), size)
            strides = [itemsize]
            for length in reversed(entry[2:]):
                strides.insert(0, builder.mul(strides[0], length))
            data = builder.inttoptr(entry[0], array.data.type)
            populate_array(array, data=data, shape=entry[1:], strides=strides, itemsize=itemsize, meminfo=None)
            return array._getvalue()

        return kind(table, types.int64), generate

    return view


def unpacker(*kinds: Any) -> Callable[[Any], Any]:
    """A function ``unpack(table)`` that gives tuples of the given Numba types, made from the table of a `Memory`.

    It is written out as text: Numba has no loop over fields of different types.
    """
    at = 0
    made: list[str] = []
    names: dict[str, Any] = {}
    for number, kind in enumerate(kinds):
        values = []
        for field in _fields(kind):
            name = "view_" + "".join(x if x.isalnum() else "_" for x in str(field))
            names[name] = names.get(name) or _view(field)
            values.append(f"{name}(table, {at})")
            at += 1 + (0 if isinstance(field, types.Integer) else field.ndim)
        names[f"Kind{number}"] = kind.instance_class
        made.append(f"Kind{number}({', '.join(values)})")
    exec(f"def unpack(table):\n    return {', '.join(made)},\n", names)
    return inner(names["unpack"])


def table_of(kinds: Sequence[Any]) -> int:
    """Length of the table of such tuples."""
    return sum(1 + (0 if isinstance(x, types.Integer) else x.ndim) for kind in kinds for x in _fields(kind))
