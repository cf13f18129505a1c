"""Expressions as text."""

import pytest

import closedchain as cc
from closedchain.model.expressions.expression import Expression, parameter
from closedchain.model.expressions.functions import piecewise, rate

A, B = parameter("a"), parameter("b")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (A + 2 * B, "(a + (b * 2))"),
        (cc.t < 1, "(t < 1)"),
        (cc.t >= 1, "(1 <= t)"),
        (-cc.math.sin(A), "-sin(a)"),
        (cc.math.where(A < B, 1.0, 2.0), "where((a < b), 1, 2)"),
        (Expression("coordinate", "O", None), "q[O]"),
        (Expression("velocity", "table", "x"), "v[table.x]"),
        (cc.multiplier("B", "tilt y"), "lam[B tilt y]"),
        (Expression("control", "law", 1, A), "law[1]"),
        (piecewise(A, [0, 1, 2], [[0, 0, 1], [1, 2, 0]]), "polynomials(a, 2 pieces of degree 2 in 0..2)"),
        (rate(piecewise(cc.t, [0, 1], [[0, 0, 1]])), "polynomials'(t, 1 piece of degree 2 in 0..1)"),
    ],
    ids=str,
)
def test_text(expression, text):
    assert repr(expression) == text
