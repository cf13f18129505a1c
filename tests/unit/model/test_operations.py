"""The table of operations."""

import closedchain as cc
from closedchain.model.expression import parameter
from closedchain.model.operations import OPERATIONS

A, B = parameter("a"), parameter("b")


def test_every_operation_is_reachable():
    """Each entry of the table is made by an operator or by a function of `cc`."""
    condition = A < B
    made = [
        A + B, A - B, A * B, A / B, A**B, -A, abs(A), A % B, condition, A <= B, condition & condition,
        condition | condition, ~condition, cc.where(condition, A, B), cc.interp(A, [0, 1], [0, 1]), cc.minimum(A, B),
        cc.maximum(A, B), cc.atan2(A, B),
        *(getattr(cc, f)(A) for f in "sin cos tan asin acos atan sinh cosh tanh exp log sqrt sign floor ceil".split()),
    ]  # fmt: skip

    assert {x.op for x in made} == set(OPERATIONS)
