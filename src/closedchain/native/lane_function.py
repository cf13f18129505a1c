"""Native functions of several points at once: what :func:`compile_lanes` makes of CasADi expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.lock import locked
from closedchain.native import engine
from closedchain.native.emit.ir import MAIN, PREPARE, Writing
from closedchain.native.function import Parts

if TYPE_CHECKING:
    import casadi
    from numpy.typing import ArrayLike, NDArray


class LaneFunction:
    """Machine code that evaluates an expression for several points. Made by :func:`compile_lanes`.

    Attributes
    ----------
    name : str
    lanes : int
        How many points.
    address : int
        Of ``void f(const double* in_1, ..., [const double* w,] double* out_1, ...)``, as for `NativeFunction`, but with
        the lanes of each element side by side; shared inputs have one value for all.
    prepare_address : int or None
        Of ``void prepare(const double* slow_1, ..., double* w)``, likewise.
    n_work : int
        Length of ``w`` for one point.
    parts : Parts
        What it was made of.
    """

    def __init__(self, name: str, parts: Parts, machine: engine.Machine, lanes: int, shared: frozenset[int]) -> None:
        self.name, self.parts, self.lanes, self.n_work = name, parts, lanes, parts.n_work
        self._machine, self._shared = machine, shared
        self.address: int = machine.address[MAIN]
        self.prepare_address: int | None = machine.address.get(PREPARE)

    def __call__(self, *inputs: ArrayLike) -> tuple[NDArray[np.float64], ...]:
        """Evaluate once, for looking at numbers.

        Parameters
        ----------
        *inputs : array_like
            First those that are not slow, then the slow ones, in the order in which they were declared: (lanes, n)
            each, column-major if it is a matrix; (n,) if it is shared.

        Returns
        -------
        tuple of ndarray
            (lanes, n) each.
        """
        n_fast = len(self.parts.input_shapes)
        blocks = [
            np.array(x, float).ravel() if i in self._shared else self._block(x, rows * columns)
            for i, (x, (rows, columns)) in enumerate(
                zip(inputs, [*self.parts.input_shapes.values(), *self.parts.slow_shapes.values()], strict=True)
            )
        ]
        if self.prepare_address is not None:
            w = np.empty(self.n_work * self.lanes)
            _call(self.prepare_address, [*blocks[n_fast:], w])
            blocks = [*blocks[:n_fast], w]
        results = [np.empty(rows * columns * self.lanes) for rows, columns in self.parts.output_shapes.values()]
        _call(self.address, [*blocks, *results])
        return tuple(x.reshape(-1, self.lanes).T.copy() for x in results)

    def _block(self, x: ArrayLike, size: int) -> NDArray[np.float64]:
        return np.ascontiguousarray(np.asarray(x, float).reshape(self.lanes, size).T).ravel()


def _call(address: int, arrays: Sequence[NDArray[np.float64]]) -> None:
    engine.entry_point(address, len(arrays))(*(x.ctypes.data for x in arrays))


@locked
def compile_lanes(
    name: str,
    inputs: dict[str, casadi.SX],
    outputs: dict[str, casadi.SX],
    *,
    lanes: int,
    slow: tuple[str, ...] = (),
    shared: tuple[str, ...] = (),
    cache: bool = True,
) -> LaneFunction:
    """Compile CasADi expressions to machine code that evaluates them for several points at once.

    Parameters
    ----------
    name, inputs, outputs, slow, cache
        As for `compile_function`.
    lanes : int
        How many points, at least 2; `native.engine.vector_width` tells how many fill a register.
    shared : tuple of str
        Inputs, not slow ones, that have one value for all points.

    Examples
    --------
    >>> import casadi
    >>> t, x = casadi.SX.sym("t"), casadi.SX.sym("x", 2)
    >>> f = compile_lanes("f", {"t": t, "x": x}, {"y": casadi.sum1(x) * t}, lanes=2, shared=("t",))
    >>> f(10.0, [[1.0, 2.0], [3.0, 4.0]])[0]
    array([[30.],
           [70.]])
    """
    if lanes < 2:
        raise ValueError(f"{name}: lanes are at least 2, not {lanes}; compile_function evaluates one point")
    parts = Parts.of(name, inputs, outputs, slow, search=False)
    unknown: Any = [i for i in shared if i not in parts.input_shapes]
    if unknown:
        raise ValueError(f"{name}: shared inputs {unknown} are not among {list(parts.input_shapes)}")
    numbers = frozenset(k for k, i in enumerate(parts.input_shapes) if i in shared)
    text = parts.text(Writing(lanes=lanes, shared=numbers))
    machine, _ = engine.build(text, [MAIN] + ([PREPARE] if slow else []), cache)
    return LaneFunction(name, parts, machine, lanes, numbers)
