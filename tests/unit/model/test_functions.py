"""`cc.sin` and its sisters: NumPy on numbers and arrays, a node on expressions."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.expression import Expression

UNARY = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "exp": np.exp, "log": np.log, "sqrt": np.sqrt,
    "sign": np.sign, "floor": np.floor, "ceil": np.ceil,
}  # fmt: skip
PLACES = np.array([0.1, 0.5, 0.9])


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_number(name):
    f = getattr(cc, name)
    traced = f(cc.t)

    np.testing.assert_array_equal(f(PLACES), UNARY[name](PLACES))
    assert f(0.3) == UNARY[name](0.3)
    assert isinstance(traced, Expression)
    assert traced.evaluate(lambda leaf: 0.3) == UNARY[name](0.3)


@pytest.mark.parametrize(
    ("name", "plain"), [("atan2", np.arctan2), ("minimum", np.minimum), ("maximum", np.maximum)], ids=lambda x: str(x)
)
@pytest.mark.parametrize("pair", [(cc.t, 0.2), (0.2, cc.t), (cc.t, cc.t * 2)], ids=["t,x", "x,t", "t,2t"])
def test_functions_of_two_numbers(name, plain, pair):
    def at(x):
        return x.evaluate(lambda leaf: 0.3) if isinstance(x, Expression) else x

    assert at(getattr(cc, name)(*pair)) == plain(at(pair[0]), at(pair[1]))
    assert getattr(cc, name)(0.3, 0.2) == plain(0.3, 0.2)


def test_where():
    square = cc.where(cc.t % 2 < 1, 5.0, -5.0)

    assert [float(square.evaluate(lambda leaf, t=t: t)) for t in (0.0, 0.99, 1.0, 1.99, 2.0)] == [5, 5, -5, -5, 5]
    np.testing.assert_array_equal(cc.where(PLACES > 0.4, 1, 0), [0, 1, 1])


def test_where_with_a_condition_that_is_already_known():
    assert cc.where(True, 1.0, 2.0) == 1.0


def test_interp_is_that_of_numpy():
    xp, fp = [0.0, 1.0, 3.0], [0.0, 10.0, -10.0]
    table = cc.interp(cc.t, xp, fp)

    for x in (-1.0, 0.0, 0.25, 1.0, 2.0, 3.0, 4.0):
        assert table.evaluate(lambda leaf, x=x: x) == np.interp(x, xp, fp)
    np.testing.assert_array_equal(cc.interp(PLACES, xp, fp), np.interp(PLACES, xp, fp))


@pytest.mark.parametrize(
    ("xp", "fp", "message"),
    [
        ([0, 1], [0, 1, 2], r"equal length >= 2, got \(2,\) and \(3,\)"),
        ([0], [0], r"equal length >= 2, got \(1,\)"),
        ([[0, 1]], [[0, 1]], "two lists of equal length"),
        ([0, 0], [0, 1], "strictly increasing"),
        ([1, 0], [0, 1], "strictly increasing"),
        ([0, np.nan], [0, 1], "finite"),
        ([0, 1], [0, np.inf], "finite"),
    ],
    ids=["lengths", "one", "matrix", "equal places", "falling places", "nan", "inf"],
)
def test_interp_refuses_bad_tables(xp, fp, message):
    with pytest.raises(cc.ModelError, match=message):
        cc.interp(cc.t, xp, fp)


def test_pi_is_a_plain_float():
    assert type(cc.pi) is float and cc.pi == np.pi


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cc.sin(), r"cc\.sin takes 1 argument, not 0"),
        (lambda: cc.sin(cc.t, 2), r"cc\.sin takes 1 argument, not 2"),
        (lambda: cc.atan2(cc.t), r"cc\.atan2 takes 2 arguments, not 1"),
        (lambda: cc.maximum(cc.t, 1, 2), r"cc\.maximum takes 2 arguments, not 3"),
        (lambda: cc.where(cc.t < 1), r"cc\.where takes 3 arguments, not 1"),
        (lambda: cc.sin("1"), r"cc\.sin takes numbers, arrays or expressions, not '1'"),
        (lambda: cc.sqrt(None), r"cc\.sqrt takes numbers, arrays or expressions, not None"),
        (lambda: cc.atan2(None, 1), r"cc\.atan2 takes numbers, arrays or expressions, not None, 1"),
        (lambda: cc.minimum(cc.t, "1"), "t combines with numbers and expressions, not with '1'"),
        (lambda: cc.minimum(cc.t, [1, 2]), r"t is a single number: .* not with the array \[1, 2\]"),
        (lambda: cc.where(cc.t < 1, None, 2), r"\(t < 1\) combines with numbers and expressions, not with None"),
        (lambda: cc.interp("1", [0, 1], [0, 1]), "interp needs a number, an array or an expression to look up"),
        (lambda: cc.interp(cc.t, ["0", "1"], [0, 1]), r"plain numbers as its places, not \['0', '1'\]"),
        (lambda: cc.interp(cc.t, [0, 1], [0, [1]]), r"plain numbers as its values, not \[0, \[1\]\]"),
        (lambda: cc.interp(cc.t, [0, 1], [0, cc.t]), r"plain numbers as its values, not \[0, t\]"),
        (lambda: cc.interp(cc.t, None, [0, 1]), "plain numbers as its places, not None"),
    ],
    ids=[
        "no argument", "two for one", "one for two", "three for two", "one for three", "text", "none", "none and one",
        "text beside t", "list beside t", "none beside t", "look up a text", "places of texts", "ragged values",
        "values of t", "no places",
    ],
)  # fmt: skip
def test_refused_arguments(call, message):
    with pytest.raises(cc.ModelError, match=message):
        call()
