"""Expressions as text."""

import pytest

import closedchain as cc
from closedchain.model.expression import Expression, parameter

A, B = parameter("a"), parameter("b")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (A + 2 * B, "(a + (b * 2))"),
        (cc.t < 1, "(t < 1)"),
        (cc.t >= 1, "(1 <= t)"),
        (-cc.sin(A), "-sin(a)"),
        (cc.where(A < B, 1.0, 2.0), "where((a < b), 1, 2)"),
        (Expression("coordinate", "O", None), "q[O]"),
        (Expression("velocity", "table", "x"), "v[table.x]"),
        (cc.multiplier("B", "tilt y"), "lam[B tilt y]"),
    ],
    ids=str,
)
def test_text(expression, text):
    assert repr(expression) == text
