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


class Both(NamedTuple):
    sizes: Sizes
    vector: np.ndarray
    arrays: Arrays


BothType = numba.types.NamedTuple((SizesType, _F[::1], ArraysType), Both)
unpack_both = unpacker(BothType, SizesType)


@numba.cfunc(numba.void(numba.types.CPointer(_I), numba.types.CPointer(_F)))
def look_inside(memory, out):  # type: ignore[no-untyped-def]
    both, sizes = unpack_both(memory)
    out[0] = 10 * both.sizes.rows + both.sizes.columns
    out[1] = both.vector[1] + both.arrays.steps + both.arrays.block[1, 2, 3]
    out[2] = sizes.columns


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


def test_tuples_may_be_nested() -> None:
    arrays = Arrays(5, np.zeros(1), np.zeros((1, 2)), np.arange(24.0).reshape(2, 3, 4), np.arange(2))
    memory, out = Memory(Both(Sizes(2, 3), np.array([1.0, 0.5]), arrays), Sizes(7, 8)), np.zeros(3)
    kinds = look_inside.ctypes.argtypes
    look_inside.ctypes(*(ctypes.cast(x.ctypes.data, kind) for x, kind in zip((memory.table, out), kinds, strict=True)))
    np.testing.assert_array_equal(out, [23.0, 28.5, 8.0])
