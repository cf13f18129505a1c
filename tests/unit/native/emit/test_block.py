"""Basic blocks: each input is loaded once, vectors of angles are filled."""

from __future__ import annotations

import casadi

from closedchain.native.emit.block import Block
from closedchain.native.traced.schedule import angles_first
from closedchain.native.traced.trace import trace


def lines_of(x: casadi.SX, y: casadi.SX, width: int) -> list[str]:
    graph, angles = angles_first(trace("f", {"x": x}, {"y": y}))
    stores = {number: [("out0", position)] for _, position, number in graph.outputs}
    operations = [k for k in range(len(graph)) if not graph.is_leaf(k)]
    return Block(graph, ["in0"], angles if width > 1 else frozenset(), width, stores, {}).lines(operations)


def test_each_input_is_loaded_once() -> None:
    x = casadi.SX.sym("x", 3)
    lines = lines_of(x, casadi.sumsqr(x) * x[0] + x[1] * x[2], width=1)
    assert sum(" load " in line for line in lines) == 3
    assert sum(" store " in line for line in lines) == 1


def test_angles_share_calls() -> None:
    x = casadi.SX.sym("x", 10)
    y = casadi.vertcat(casadi.sin(x) * casadi.cos(x))
    assert sum("@closedchain_sincos4" in line for line in lines_of(x, y, width=4)) == 3
    assert sum("@llvm.sin.f64" in line for line in lines_of(x, y, width=4)) == 0
    assert sum("@llvm.sin.f64" in line for line in lines_of(x, y, width=1)) == 10


def test_a_sine_of_a_sine_is_left_to_the_library() -> None:
    x = casadi.SX.sym("x")
    lines = lines_of(x, casadi.sin(casadi.sin(x)), width=2)
    assert sum("@closedchain_sincos2" in line for line in lines) == 1
    assert sum("@llvm.sin.f64" in line for line in lines) == 1
