"""The IR text: flags, chunks, nothing of the user's names."""

from __future__ import annotations

import re

import casadi
import pytest

from closedchain.native.emit import ir
from closedchain.native.emit.operations import OPERATIONS
from closedchain.native.traced.trace import trace


def text_of(n: int, chunk_length: int, width: int = 4) -> str:
    x = casadi.SX.sym("private_name", n)
    y = casadi.SX(0)
    for k in range(n):
        y = casadi.sin(x[k]) * y + x[k] / (1 + y**2)
    graph = trace("secret", {"x": x}, {"y": y})
    return ir.module_text(ir.Program(graph, [n], [1]), ir.Writing(width, chunk_length))


def test_nothing_is_assumed_about_nan_and_infinity() -> None:
    text = text_of(20, 30)
    assert "nnan" not in text and "ninf" not in text and not re.search(r"\bfast\b(?!:|,)", text.replace("%fast", ""))
    assert all("nnan" not in operation.template for operation in OPERATIONS.values())


@pytest.mark.parametrize("length", [25, 100, 10_000])
def test_number_and_size_of_functions(length: int) -> None:
    text = text_of(200, length)
    bodies = re.findall(r"define internal void @closedchain_main\.\d+\(.*?\n}", text, flags=re.DOTALL)
    n_operations = 5 * 200
    if length > n_operations:
        assert not bodies and "%work" not in text
    else:
        assert n_operations / length <= len(bodies) <= n_operations / (0.7 * length) + 2
        # a line or three for each operation, and the loads and stores around it
        assert max(body.count("\n") for body in bodies) < 8 * length


def test_names_of_the_user_do_not_matter() -> None:
    assert "private_name" not in text_of(3, 100)
    assert "secret" not in text_of(3, 100)
