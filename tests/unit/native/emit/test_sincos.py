"""Sines and cosines in vectors, against extended precision."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

from closedchain.native import compile_function
from closedchain.native.engine import vector_width


def test_there_is_extended_precision_to_compare_with() -> None:
    assert np.finfo(np.longdouble).nmant >= 63


def sine_cosine(n: int) -> object:
    x = casadi.SX.sym("x", n)
    return compile_function("sincos", {"x": x}, {"s": casadi.sin(x), "c": casadi.cos(x)})


@pytest.mark.parametrize("n", [1, 3, 8, 13])
def test_within_one_unit_in_the_last_place(n: int) -> None:
    rng = np.random.default_rng(3)
    multiples = np.arange(-700 * n, 700 * n).reshape(-1, n) * (np.pi / 4)  # where cancellation is worst
    points = np.concatenate(
        [
            multiples,
            *(rng.uniform(-size, size, (2000, n)) for size in (1e-200, 1e-5, 1.0, 10.0, 1e3, 1e6, 1e9)),
        ]
    )
    s, c = sine_cosine(n).batch(points)
    for result, exact in (
        (s, np.sin(points.astype(np.longdouble))),
        (c, np.cos(points.astype(np.longdouble))),
    ):
        units = np.abs(result.reshape(points.shape) - exact) / np.spacing(np.abs(exact.astype(float)))
        assert units.max() < 1.0


def test_not_finite_and_huge_arguments_go_to_the_library() -> None:
    s, c = sine_cosine(6)([np.nan, np.inf, -np.inf, 1e300, 0.5, -0.0])
    assert np.isnan(s[:3]).all() and np.isnan(c[:3]).all()
    np.testing.assert_allclose(s[3:], np.sin([1e300, 0.5, 0.0]), rtol=3e-16)
    np.testing.assert_allclose(c[3:], np.cos([1e300, 0.5, 0.0]), rtol=3e-16)


def test_one_nan_does_not_touch_its_neighbours() -> None:
    points = np.linspace(-2, 2, 8)
    points[3] = np.nan
    s, _ = sine_cosine(8)(points)
    np.testing.assert_allclose(s, np.sin(points), rtol=3e-16)


def test_width_is_a_power_of_two() -> None:
    assert vector_width() in (1, 2, 4, 8)
