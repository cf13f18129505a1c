"""Shared divisors, and angles first."""

from __future__ import annotations

import casadi
import numpy as np

from closedchain.native import compile_function
from closedchain.native.traced.schedule import angles_first
from closedchain.native.traced.trace import trace


def test_divisions_by_one_value_share_its_reciprocal() -> None:
    x = casadi.SX.sym("x", 4)
    native = compile_function("f", {"x": x}, {"y": x[:3] / x[3]}, cache=False)
    assert (native.counts.div, native.counts.mul) == (1, 3)
    np.testing.assert_allclose(native([1, 2, 3, 4]), [0.25, 0.5, 0.75], rtol=3e-16)


def test_a_single_division_stays() -> None:
    x = casadi.SX.sym("x", 2)
    native = compile_function("f", {"x": x}, {"y": x[0] / x[1]}, cache=False)
    assert (native.counts.div, native.counts.mul) == (1, 0)


def test_order_is_valid_and_angles_come_first() -> None:
    x = casadi.SX.sym("x", 3)
    first = casadi.sin(x[0] + x[1]) * x[2]
    graph = trace("f", {"x": x}, {"y": casadi.vertcat(casadi.cos(first) + casadi.sin(x[2]), casadi.cos(x[0] + x[1]))})
    ordered, angles = angles_first(graph)
    assert sorted(ordered.name) == sorted(graph.name)
    for k in range(len(ordered)):
        assert all(operand < k for operand in ordered.operands(k))
    trig = [k for k in range(len(ordered)) if ordered.name[k] in ("sin", "cos")]
    together = [k for k in trig if ordered.a[k] in angles]
    assert len(together) == 3
    assert together == list(range(together[0], together[0] + 3))
    assert max(together) < min(set(trig) - set(together))
