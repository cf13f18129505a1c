"""Shapes in and out of native functions."""

from __future__ import annotations

import numpy as np
import pytest

from closedchain.native.arrays import batched_argument, single_argument, with_shape


def test_column_major() -> None:
    matrix = np.arange(6.0).reshape(2, 3)
    assert single_argument("f", "x", (2, 3), matrix).tolist() == [0, 3, 1, 4, 2, 5]
    array, length, _ = batched_argument("f", "x", (2, 3), np.stack([matrix, matrix + 10]))
    assert length == 2
    assert array.tolist() == [0, 3, 1, 4, 2, 5, 10, 13, 11, 14, 12, 15]


@pytest.mark.parametrize("lead", [(), (4,)])
@pytest.mark.parametrize("shape", [(2, 3), (3, 1), (1, 1), (1, 3), (0, 1)])
def test_there_and_back(lead: tuple[int, ...], shape: tuple[int, int]) -> None:
    values = np.random.default_rng(0).normal(size=(*lead, *shape))
    flat = batched_argument("f", "x", shape, values)[0].reshape(*lead, shape[0] * shape[1])
    back = with_shape(flat, shape)
    np.testing.assert_array_equal(back, values[..., 0] if shape[1] == 1 else values)


def test_integers_and_scalars_are_welcome() -> None:
    assert single_argument("f", "x", (1, 1), 3).tolist() == [3.0]
    assert single_argument("f", "x", (2, 1), [True, False]).tolist() == [1.0, 0.0]
