"""The table of operations."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.expressions.expression import parameter
from closedchain.model.expressions.functions import piecewise
from closedchain.model.expressions.operations import OPERATIONS, horner
from closedchain.model.forces.control import TracedLaw

A, B = parameter("a"), parameter("b")


class Law(TracedLaw):
    commands = (cc.t,)

    def __str__(self):
        return "law"


LAW = Law()

FUNCTIONS = "sin cos tan asin acos atan sinh cosh tanh exp log sqrt sign floor ceil"


def test_every_operation_is_reachable():
    """Each entry of the table is made by an operator or by a function of `cc.math`."""
    condition = A < B
    made = [
        A + B, A - B, A * B, A / B, A**B, -A, abs(A), A % B, condition, A <= B, condition & condition,
        condition | condition, ~condition, cc.math.where(condition, A, B), cc.math.interp(A, [0, 1], [0, 1]),
        cc.math.minimum(A, B), cc.math.maximum(A, B), cc.math.atan2(A, B),
        cc.math.dead_zone(A, -1, 1), cc.math.unless_zero(A, B),
        piecewise(A, [0, 1], [[0, 1]]), LAW.effort(0),
        *(getattr(cc.math, f)(A) for f in FUNCTIONS.split()),
    ]  # fmt: skip

    assert {x.op for x in made} == set(OPERATIONS)


@pytest.mark.parametrize("order", range(5))
def test_horner_and_its_derivatives(order):
    coefficients, u = np.array([0.3, -1.2, 0.0, 2.5]), np.array([-0.7, 0.0, 1.3])
    expected = np.polynomial.Polynomial(coefficients).deriv(order)(u)
    np.testing.assert_allclose(horner(coefficients, u, order) + 0 * u, expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("order", range(4))
def test_polynomials_at_places_of_any_shape(order):
    breaks, rows = (0.0, 1.0, 3.0), ((0.0, 0.0, 1.0), (1.0, 2.0, -0.5))
    x = np.array([[-1.0, 0.0, 0.5], [1.0, 2.0, 3.0]])
    got = OPERATIONS["polynomials"](x, breaks, rows, order)
    pieces = [np.polynomial.Polynomial(row).deriv(order) for row in rows]
    np.testing.assert_allclose(
        got[:, :], [[0, pieces[0](0), pieces[0](0.5)], [pieces[1](0), pieces[1](1), pieces[1](2)]], atol=1e-15
    )
    assert OPERATIONS["polynomials"](4.0, breaks, rows, order) == (3.0 if order == 0 else 0.0)
    assert np.isnan(OPERATIONS["polynomials"](np.nan, breaks, rows, 0))


def test_the_effort_of_a_law_is_not_known_by_itself():
    with pytest.raises(cc.ModelError, match="the effort of a law is known in the equations of its mechanism only"):
        LAW.effort(0).evaluate(lambda leaf: 0.0)
