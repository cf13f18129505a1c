"""Tuples of arrays through a table of their addresses."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numba
import numpy as np

from closedchain.native.memory import Memory, unpacker


class Sizes(NamedTuple):
    rows: int
    columns: int


class Arrays(NamedTuple):
    steps: int
    vector: np.ndarray
    matrix: np.ndarray
    block: np.ndarray
    places: np.ndarray


_I, _F = numba.int64, numba.float64
SizesType = numba.types.NamedUniTuple(_I, 2, Sizes)
ArraysType = numba.types.NamedTuple((_I, _F[::1], _F[:, ::1], _F[:, :, ::1], _I[::1]), Arrays)
unpack_first, unpack = unpacker(SizesType), unpacker(SizesType, ArraysType)


@numba.cfunc(numba.void(numba.types.CPointer(_I), numba.types.CPointer(_F)))
def look(memory, out):  # type: ignore[no-untyped-def]
    (sizes,) = unpack_first(memory)
    _, arrays = unpack(memory)
    out[0] = 10 * sizes.rows + sizes.columns
    out[1] = arrays.steps + arrays.vector.sum() + arrays.places[-1]
    out[2] = arrays.matrix[1, 2]
    out[3] = arrays.block[1, 2, 3] + arrays.block.size
    arrays.vector[0] = -1.0


def test_tuples_come_out_of_a_table_as_they_went_in() -> None:
    arrays = Arrays(
        5, np.array([1.0, 2.0]), np.arange(6.0).reshape(2, 3), np.arange(24.0).reshape(2, 3, 4), np.arange(9)
    )
    memory, out = Memory(Sizes(2, 3), arrays), np.zeros(4)
    assert memory.table.dtype == np.int64
    assert memory.table.size == 2 + 1 + (1 + 1) + (1 + 2) + (1 + 3) + (1 + 1)
    kinds = look.ctypes.argtypes
    look.ctypes(*(ctypes.cast(x.ctypes.data, kind) for x, kind in zip((memory.table, out), kinds, strict=True)))
    np.testing.assert_array_equal(out, [23.0, 5 + 3 + 8, 5.0, 23.0 + 24.0])
    assert arrays.vector[0] == -1.0  # the same memory, not a copy
