"""Calling native functions by their address from Numba code.

The address is an ordinary integer argument, not a constant of the caller, so a jitted integrator is compiled once,
cached on disk, and serves every mechanism::

    @numba.njit(cache=True)
    def euler(address, t, x, w, dt, n):
        dx = np.empty_like(x)
        for _ in range(n):
            call4(address, t, x, w, dx)
            x += dt * dx
            t += dt

Arrays have to be 1-D, C-contiguous and of type float64. Their lengths are not checked: the native function reads and
writes what its shapes say. The object that owns the code has to be kept alive by the caller.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic


def _call(address: Any, arrays: tuple[Any, ...]) -> tuple[Any, Any]:
    """Typing and code of a call with any number of arrays."""
    if not isinstance(address, types.Integer):
        raise TypingError(f"the address of a native function is an integer, got {address}")
    for array in arrays:
        fits = isinstance(array, types.Array) and array.ndim == 1 and array.layout == "C"
        if not fits or array.dtype != types.float64:
            raise TypingError(f"a native function takes 1-D C-contiguous float64 arrays, got {array}")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = ir.DoubleType().as_pointer()
        function = ir.FunctionType(ir.VoidType(), [pointer] * len(arrays))
        number = context.cast(builder, arguments[0], signature.args[0], types.intp)
        target = builder.inttoptr(number, function.as_pointer())
        data = [
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip(signature.args[1:], arguments[1:], strict=True)
        ]
        builder.call(target, [builder.bitcast(d, pointer) for d in data])
        return context.get_dummy_value()

    return types.void(address, *arrays), generate


@intrinsic
def call2(typingctx, address, a, b):  # type: ignore[no-untyped-def]
    """Call ``void f(double*, double*)`` at an address."""
    return _call(address, (a, b))


@intrinsic
def call3(typingctx, address, a, b, c):  # type: ignore[no-untyped-def]
    """Call ``void f(double*, double*, double*)`` at an address."""
    return _call(address, (a, b, c))


@intrinsic
def call4(typingctx, address, a, b, c, d):  # type: ignore[no-untyped-def]
    """Call ``void f(double*, double*, double*, double*)`` at an address."""
    return _call(address, (a, b, c, d))


@intrinsic
def call5(typingctx, address, a, b, c, d, e):  # type: ignore[no-untyped-def]
    """Call ``void f(double*, double*, double*, double*, double*)`` at an address."""
    return _call(address, (a, b, c, d, e))


@intrinsic
def call6(typingctx, address, a, b, c, d, e, f):  # type: ignore[no-untyped-def]
    """Call a ``void`` function of six ``double*`` at an address."""
    return _call(address, (a, b, c, d, e, f))
