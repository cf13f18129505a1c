"""Calling native functions by their address from Numba code: the calling convention.

Every native function is ``void f(...)`` of pointers. Numbers are float64. A function that works on memory of its own,
or calls others by address, takes one more pointer, first: to a table of int64 with the addresses and sizes that it
needs (`native.memory.Memory`)::

    void f(double* a, double* b, ...)                      what `compile_function` makes
    void f(int64* memory, double* a, double* b, ...)       Numba code that needs memory

A caller that knows the table passes it, as the integrators of `erls` do. A caller of any ``dx = f(t, x, w)`` knows
nothing of it: `native.memory_function.MemoryFunction` makes a function without the first argument from a function and
its table. An opaque pointer in each call was the other choice. It would add an argument to every integrator and to
every function without memory, which are most of them.

The address is an ordinary integer argument, not a constant of the caller, so a jitted integrator is compiled once,
cached on disk, and serves every mechanism::

    @numba.njit(cache=True)
    def euler(address, t, x, w, dt, n):
        dx = np.empty_like(x)
        for _ in range(n):
            call(address, t, x, w, dx)
            x += dt * dx
            t += dt

Arrays have to be 1-D and C-contiguous; a function that is itself called by address may pass on the pointers it was
given. Lengths are not checked: the native function reads and writes what its shapes say. The caller keeps the object
alive that owns the code.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic


def _fits(kind: Any) -> bool:
    """Whether a value of this type points to float64 or int64."""
    if isinstance(kind, types.Array):
        return kind.ndim == 1 and kind.layout == "C" and kind.dtype in (types.float64, types.int64)
    return isinstance(kind, types.CPointer) and kind.dtype in (types.float64, types.int64)


@intrinsic
def call(typingctx, address, *arrays):  # type: ignore[no-untyped-def]
    """Call ``void f(...)`` at an address, with any number of arrays or pointers."""
    if not isinstance(address, types.Integer):
        raise TypingError(f"the address of a native function is an integer, got {address}")
    for kind in arrays:
        if not _fits(kind):
            raise TypingError(f"a native function takes 1-D C-contiguous arrays of float64 or int64, got {kind}")

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        kinds = signature.args[1]
        word = ir.IntType(64).as_pointer()
        function = ir.FunctionType(ir.VoidType(), [word] * len(kinds))
        number = context.cast(builder, arguments[0], signature.args[0], types.intp)
        pointers = []
        for i, kind in enumerate(kinds):
            value = builder.extract_value(arguments[1], i)
            if isinstance(kind, types.Array):
                value = context.make_array(kind)(context, builder, value).data
            pointers.append(builder.bitcast(value, word))
        builder.call(builder.inttoptr(number, function.as_pointer()), pointers)
        return context.get_dummy_value()

    return types.void(address, types.Tuple(arrays)), generate  # Numba passes what follows a star as a tuple
