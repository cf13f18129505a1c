"""A native function together with the memory that it works on, as a function of its other arguments.

Machine code of a few instructions puts the table first and goes on to the function; see `native.call` for the
convention. Its text depends on the number of arguments alone: it is compiled once, and linked from the cache.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from closedchain.native import engine

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ENTRY, _CODE, _MEMORY = "with_memory", "code", "memory"


class MemoryFunction:
    """Machine code that passes a table to a function, before the arguments that it is called with.

    Parameters
    ----------
    code : int
        Address of ``void f(int64* memory, double* a, ...)``; its owner has to be kept alive by the caller.
    memory : (k,) ndarray of int64
        The table, which is kept alive here. What it points to belongs to others.
    arguments : int
        Number of arguments besides the table.

    Attributes
    ----------
    address : int
        Of ``void f(double* a, ...)``; valid as long as this object lives.
    """

    def __init__(self, code: int, memory: NDArray[np.int64], arguments: int) -> None:
        self.memory = np.ascontiguousarray(memory, np.int64)
        self._machine, _ = engine.build(_text(arguments), [_ENTRY, _CODE, _MEMORY])
        for symbol, value in ((_CODE, code), (_MEMORY, self.memory.ctypes.data)):
            ctypes.c_int64.from_address(self._machine.address[symbol]).value = value
        self.address: int = self._machine.address[_ENTRY]


def _text(arguments: int) -> str:
    names = [f"ptr %a{i}" for i in range(arguments)]
    return f"""@{_CODE} = global ptr null
@{_MEMORY} = global ptr null

define void @{_ENTRY}({", ".join(names)}) nounwind {{
  %code = load ptr, ptr @{_CODE}
  %memory = load ptr, ptr @{_MEMORY}
  tail call void %code({", ".join(["ptr %memory", *names])})
  ret void
}}
"""
