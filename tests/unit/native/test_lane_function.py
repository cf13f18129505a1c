"""Functions of several points: slow and shared inputs, long programs, structural zeros, and what is refused."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

from closedchain.native import compile_function, compile_lanes
from closedchain.native.emit import chunks


def test_slow_and_shared_inputs() -> None:
    t, x, p = casadi.SX.sym("t"), casadi.SX.sym("x", 2), casadi.SX.sym("p", 3)
    outputs = {
        "y": casadi.vertcat(casadi.sin(t * x[0]) * p[0] / p[1], 0, x[1] * casadi.exp(p[2])),
        "z": casadi.SX(2, 2),
    }
    inputs = {"t": t, "x": x, "p": p}
    one = compile_function("one", inputs, outputs, slow=("p",))
    two = compile_lanes("two", inputs, outputs, lanes=2, slow=("p",), shared=("t",))
    xs, ps = np.array([[0.3, 2.0], [-1.0, 0.5]]), np.array([[1.0, 2.0, 0.1], [3.0, 4.0, -0.2]])
    y, z = two(0.7, xs, ps)
    for i in range(2):
        np.testing.assert_allclose(y[i], one(0.7, xs[i], ps[i])[0], rtol=4e-16)
    assert two.n_work == one.n_work
    np.testing.assert_array_equal(z, np.zeros((2, 4)))  # structural zeros are written


def test_a_long_program_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "CHUNK_LENGTH", 30)
    x = casadi.SX.sym("x", 20)
    y = casadi.SX(1)
    for k in range(20):
        y = casadi.cos(x[k]) * y + x[k] / (1 + casadi.sin(y) ** 2)
    one = compile_function("one", {"x": x}, {"y": y})
    four = compile_lanes("four", {"x": x}, {"y": y}, lanes=4)
    points = np.random.default_rng(1).uniform(-2, 2, (4, 20))
    # 20 factors of size 2, each with its own rounding
    np.testing.assert_allclose(four(points)[0][:, 0], [one(point)[0] for point in points], rtol=1e-13)


def test_what_is_refused() -> None:
    x = casadi.SX.sym("x")
    with pytest.raises(ValueError, match="at least 2"):
        compile_lanes("f", {"x": x}, {"y": x}, lanes=1)
    with pytest.raises(ValueError, match=r"shared inputs \['t'\]"):
        compile_lanes("f", {"x": x}, {"y": x}, lanes=2, shared=("t",))
