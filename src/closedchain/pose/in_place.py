"""CasADi functions that are called often: arrays stay in place, and no conversion costs more than the function."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np


class InPlace:
    """A CasADi function of vectors; called with arrays, it returns new arrays of the shapes of its outputs.

    Examples
    --------
    >>> import casadi as ca
    >>> x = ca.SX.sym("x", 2)
    >>> square = InPlace(ca.Function("square", [x], [ca.densify(x @ x.T)]))
    >>> square([1.0, 2.0])[0]
    array([[1., 2.],
           [2., 4.]])
    """

    def __init__(self, function: ca.Function) -> None:
        self._function = function  # the buffer does not keep it alive
        buffer: Any
        buffer, self._call = function.buffer()
        self._buffer = buffer
        self._inputs: list[Any] = [np.zeros(function.numel_in(i)) for i in range(function.n_in())]
        flat: list[Any] = [np.zeros(function.numel_out(i)) for i in range(function.n_out())]
        for i, x in enumerate(self._inputs):
            if x.size:
                buffer.set_arg(i, memoryview(x))
        for i, x in enumerate(flat):
            if x.size:
                buffer.set_res(i, memoryview(x))
        # CasADi stores columns one after another
        shapes = [function.size_out(i) for i in range(function.n_out())]
        self._outputs = [x.reshape(columns, rows).T for x, (rows, columns) in zip(flat, shapes, strict=True)]

    def __call__(self, *values: Any) -> list[np.ndarray]:
        """The outputs; a column is an array of one axis."""
        for place, value in zip(self._inputs, values, strict=True):
            place[:] = value
        self._call()
        return [x[:, 0].copy() if x.shape[1] == 1 else x.copy() for x in self._outputs]
