"""Between NumPy arrays and the dense, column-major arrays of native functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Shape = tuple[int, int]


def single_argument(function: str, name: str, shape: Shape, value: ArrayLike) -> NDArray[np.float64]:
    """A flat, contiguous, column-major copy (or view) of an argument; ValueError if it does not fit."""
    array = _real(function, name, value)
    if array.shape not in _accepted(shape):
        raise ValueError(f"{function}: input {name!r} has to have the shape {_say(shape)}, got {array.shape}")
    return np.ascontiguousarray(array.ravel(order="F"))


def batched_argument(
    function: str, name: str, shape: Shape, value: ArrayLike
) -> tuple[NDArray[np.float64], int | None, bool]:
    """The same for an argument that may have a leading axis.

    Returns
    -------
    array : ndarray
    length : int or None
        Length of the leading axis, None if the argument is read as having none.
    may_be_one : bool
        Whether an argument without a leading axis could also be read as a batch of one: a ``(1,)`` for a scalar.
    """
    array = _real(function, name, value)
    accepted = _accepted(shape)
    has_axis = array.ndim > 0 and array.shape[1:] in accepted
    if array.shape in accepted:
        return np.ascontiguousarray(array.ravel(order="F")), None, has_axis
    if has_axis:
        columns_first = np.swapaxes(array, 1, 2) if array.ndim == 3 else array
        return np.ascontiguousarray(columns_first).ravel(), array.shape[0], False
    raise ValueError(
        f"{function}: input {name!r} has to have the shape {_say(shape)}, or (N, ...) with it, got {array.shape}"
    )


def with_shape(flat: NDArray[np.float64], shape: Shape) -> NDArray[np.float64]:
    """A column-major result in its shape, behind the leading axes it may have; a column vector has one axis."""
    rows, columns = shape
    if columns == 1:
        return flat
    return np.swapaxes(flat.reshape(*flat.shape[:-1], columns, rows), -1, -2)


def _real(function: str, name: str, value: ArrayLike) -> NDArray[np.float64]:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{function}: input {name!r} is not an array of numbers: {error}") from None
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{function}: input {name!r} has to hold real numbers, got {array.dtype}")
    return array.astype(np.float64, copy=False)


def _accepted(shape: Shape) -> tuple[tuple[int, ...], ...]:
    if shape == (1, 1):
        return ((1, 1), (1,), ())
    if 1 in shape:
        return (shape, (shape[0] * shape[1],))
    return (shape,)


def _say(shape: Shape) -> str:
    return " or ".join(str(s) for s in _accepted(shape))
