"""Memory of native functions: tuples of arrays, found through a table of their addresses.

Functions that are called by address take pointers, but work on named tuples of arrays (`parallel.kernels.Share` and
others), which may be nested. A `Memory` is the table of where the arrays are; `unpacker` makes the tuples again from
it::

    unpack = unpacker(PlanType, RoomType)

    @cfunc("void(CPointer(int64), CPointer(float64))")
    def solve(memory, b):
        plan, room = unpack(memory)
"""

from __future__ import annotations

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
    """Integers of some tuples, which may be nested, and addresses and shapes of their C-contiguous arrays.

    Attributes
    ----------
    table : (k,) of int64
        For an integer its value, for an array its address and then its shape.
    """

    def __init__(self, *parts: Any) -> None:
        self.parts = parts  # keeps the arrays alive
        self.table = np.array(_entries(parts), np.int64)


def _entries(part: Any) -> list[int]:
    """What the table has of an integer, an array, or a tuple of them."""
    if isinstance(part, tuple):
        return [entry for x in part for entry in _entries(x)]
    return [int(part)] if isinstance(part, int) else [part.ctypes.data, *part.shape]


def unpacker(*kinds: Any) -> Any:
    """A function ``unpack(memory)`` for Numba code: the tuples of a `Memory`, given their Numba types.

    The argument is the pointer to the table that a native function was given.
    """

    @intrinsic
    def unpack(typingctx, memory):  # type: ignore[no-untyped-def]
        made = types.Tuple(kinds)

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            at = 0

            def entry() -> Any:
                nonlocal at
                at += 1
                return builder.load(builder.gep(arguments[0], [ir.Constant(ir.IntType(64), at - 1)]))

            def part(kind: Any) -> Any:
                if isinstance(kind, types.BaseTuple):
                    fields: Any = kind
                    return context.make_tuple(builder, kind, [part(field) for field in fields])
                return entry() if isinstance(kind, types.Integer) else _array(context, builder, kind, entry)

            return part(made)

        return made(types.CPointer(types.int64)), generate

    return unpack


def _array(context: Any, builder: Any, kind: Any, entry: Any) -> Any:
    """An array that owns nothing, from the entries of a table."""
    array = context.make_array(kind)(context, builder)
    itemsize = ir.Constant(ir.IntType(64), context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    data = builder.inttoptr(entry(), array.data.type)
    shape = [entry() for _ in range(kind.ndim)]
    strides = [itemsize]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=itemsize, meminfo=None)
    return array._getvalue()
