"""From CasADi to a graph: sparsity, free symbols, inputs that are none."""

from __future__ import annotations

import casadi
import pytest

from closedchain.native.traced.trace import trace


def test_sparse_inputs_and_outputs_have_dense_positions() -> None:
    x = casadi.SX.sym("x", casadi.Sparsity.diag(3))
    graph = trace("f", {"x": x}, {"y": casadi.sin(x)})
    inputs = [graph.b[k] for k in range(len(graph)) if graph.name[k] == "input"]
    assert inputs == [0, 4, 8]
    assert [position for _, position, _ in graph.outputs] == [0, 4, 8]


def test_free_symbols_are_named() -> None:
    x, forgotten = casadi.SX.sym("x"), casadi.SX.sym("forgotten")
    with pytest.raises(ValueError, match=r"f: the expression has free symbols.*forgotten"):
        trace("f", {"x": x}, {"y": x * forgotten})


def test_input_has_to_be_symbolic() -> None:
    x = casadi.SX.sym("x")
    with pytest.raises(ValueError, match="f: input 'u' has to be a purely symbolic"):
        trace("f", {"u": 2 * x}, {"y": x})
