"""CasADi expressions as machine code in memory.

Not known here: mechanisms and time.

``compile_function`` traces an SX graph, writes LLVM IR, compiles it with llvmlite, and keeps the object code in the
user's cache folder. It knows nothing of mechanisms. Numba code calls the result by its address
(:mod:`closedchain.native.call`, where the calling convention is); ``jit`` keeps Numba's own machine code in the same
cache, ``memory`` passes arrays by address, ``memory_function`` binds a function to its memory, ``partial`` binds
parameters. The theory is in ``docs/theory/native.md``.
"""

from closedchain.native.function import NativeFunction, Timings, compile_function
from closedchain.native.lane_function import LaneFunction, compile_lanes
from closedchain.native.lazy import LazyFunction
from closedchain.native.object_cache import cache_folder
from closedchain.native.traced.counts import OperationCounts
from closedchain.native.traced.trace import UnsupportedOperation

__all__ = [
    "LaneFunction",
    "LazyFunction",
    "NativeFunction",
    "OperationCounts",
    "Timings",
    "UnsupportedOperation",
    "cache_folder",
    "compile_function",
    "compile_lanes",
]
