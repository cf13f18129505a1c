"""What counts as what."""

from __future__ import annotations

import casadi
import pytest

from closedchain.native import OperationCounts, compile_function
from closedchain.native.emit.operations import OPERATIONS

x, y = casadi.SX.sym("x"), casadi.SX.sym("y")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (x + y, {"add": 1}),
        (x - y, {"add": 1}),
        (2 * x, {"add": 1}),
        (x * x, {"mul": 1}),
        (x / y, {"div": 1}),
        (1 / x, {"div": 1}),
        (x / 3, {"mul": 1}),
        (-x, {"neg": 1}),
        (x + (-y), {"add": 1}),
        (casadi.sqrt(x), {"sqrt": 1}),
        (casadi.sin(x) * casadi.cos(x), {"trig": 2, "mul": 1}),
        (casadi.atan2(x, y), {"trig": 1}),
        (casadi.exp(x), {"call": 1}),
        (casadi.fmin(x, y), {"other": 1}),
        (x * y + casadi.sin(y * x), {"mul": 1, "trig": 1, "add": 1}),
        (x, {}),
    ],
)
def test_kinds(expression: casadi.SX, expected: dict[str, int]) -> None:
    native = compile_function("f", {"x": x, "y": y}, {"z": expression}, cache=False)
    assert native.counts == OperationCounts(**expected)
    assert native.counts.total == sum(expected.values())


def test_every_operation_has_a_field() -> None:
    fields = set(OperationCounts.__dataclass_fields__)
    assert {operation.kind for operation in OPERATIONS.values() if operation.template} <= fields
