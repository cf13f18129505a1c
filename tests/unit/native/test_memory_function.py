"""Functions that have their memory with them."""

from __future__ import annotations

import gc

import numba
import numpy as np
import pytest

from closedchain.native.engine import entry_point
from closedchain.native.memory_function import MemoryFunction

_F, _I = numba.types.CPointer(numba.float64), numba.types.CPointer(numba.int64)


@numba.cfunc(numba.void(_I, _F))
def one(memory, out):  # type: ignore[no-untyped-def]
    out[0] = memory[0]


@numba.cfunc(numba.void(_I, _F, _F, _F, _F, _F, _F, _F))
def seven(memory, a, b, c, d, e, f, out):  # type: ignore[no-untyped-def]
    out[0] = memory[0] + memory[1] * (a[0] + 10 * b[0] + 100 * c[0] + 1e3 * d[0] + 1e4 * e[0] + 1e5 * f[0])


@pytest.mark.parametrize(("kernel", "arguments", "wanted"), [(one, 1, 3.0), (seven, 7, 3.0 + 2 * 654321.0)])
def test_the_table_comes_before_all_other_arguments(kernel, arguments, wanted) -> None:  # type: ignore[no-untyped-def]
    """Also where arguments do not fit into registers."""
    function = MemoryFunction(kernel.address, np.array([3, 2]), arguments)
    given = [np.array([k + 1.0]) for k in range(arguments - 1)]
    out = np.zeros(1)
    entry_point(function.address, arguments)(*(x.ctypes.data for x in [*given, out]))
    assert out[0] == wanted


def test_each_has_its_own_memory_and_keeps_it_alive() -> None:
    functions = [MemoryFunction(one.address, np.array([k]), 1) for k in range(5)]
    gc.collect()
    assert len({function.address for function in functions}) == 5
    for k, function in enumerate(functions):
        out = np.full(1, np.nan)
        entry_point(function.address, 1)(out.ctypes.data)
        assert out[0] == k
