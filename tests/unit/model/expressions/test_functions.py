"""`cc.math.sin` and its sisters: NumPy on numbers and arrays, a node on expressions."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.expressions.expression import Expression, parameter
from closedchain.model.expressions.functions import piecewise, rate
from closedchain.model.expressions.operations import OPERATIONS

UNARY = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "exp": np.exp, "log": np.log, "sqrt": np.sqrt,
    "sign": np.sign, "floor": np.floor, "ceil": np.ceil,
}  # fmt: skip
PLACES = np.array([0.1, 0.5, 0.9])


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_number(name):
    f = getattr(cc.math, name)
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

    assert at(getattr(cc.math, name)(*pair)) == plain(at(pair[0]), at(pair[1]))
    assert getattr(cc.math, name)(0.3, 0.2) == plain(0.3, 0.2)


def test_where():
    square = cc.math.where(cc.t % 2 < 1, 5.0, -5.0)

    assert [float(square.evaluate(lambda leaf, t=t: t)) for t in (0.0, 0.99, 1.0, 1.99, 2.0)] == [5, 5, -5, -5, 5]
    np.testing.assert_array_equal(cc.math.where(PLACES > 0.4, 1, 0), [0, 1, 1])


def test_where_with_a_condition_that_is_already_known():
    assert cc.math.where(True, 1.0, 2.0) == 1.0


def test_interp_is_that_of_numpy():
    xp, fp = [0.0, 1.0, 3.0], [0.0, 10.0, -10.0]
    table = cc.math.interp(cc.t, xp, fp)

    for x in (-1.0, 0.0, 0.25, 1.0, 2.0, 3.0, 4.0):
        assert table.evaluate(lambda leaf, x=x: x) == np.interp(x, xp, fp)
    np.testing.assert_array_equal(cc.math.interp(PLACES, xp, fp), np.interp(PLACES, xp, fp))


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
        cc.math.interp(cc.t, xp, fp)


def test_pi_is_a_plain_float():
    assert type(cc.pi) is float and cc.pi == np.pi


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cc.math.sin(), r"cc\.math\.sin takes 1 argument, not 0"),
        (lambda: cc.math.sin(cc.t, 2), r"cc\.math\.sin takes 1 argument, not 2"),
        (lambda: cc.math.atan2(cc.t), r"cc\.math\.atan2 takes 2 arguments, not 1"),
        (lambda: cc.math.maximum(cc.t, 1, 2), r"cc\.math\.maximum takes 2 arguments, not 3"),
        (lambda: cc.math.where(cc.t < 1), r"cc\.math\.where takes 3 arguments, not 1"),
        (lambda: cc.math.sin("1"), r"cc\.math\.sin takes numbers, arrays or expressions, not '1'"),
        (lambda: cc.math.sqrt(None), r"cc\.math\.sqrt takes numbers, arrays or expressions, not None"),
        (lambda: cc.math.atan2(None, 1), r"cc\.math\.atan2 takes numbers, arrays or expressions, not None, 1"),
        (lambda: cc.math.minimum(cc.t, "1"), "t combines with numbers and expressions, not with '1'"),
        (lambda: cc.math.minimum(cc.t, [1, 2]), r"t is a single number: .* not with the array \[1, 2\]"),
        (lambda: cc.math.where(cc.t < 1, None, 2), r"\(t < 1\) combines with numbers and expressions, not with None"),
        (lambda: cc.math.interp("1", [0, 1], [0, 1]), "interp needs a number, an array or an expression to look up"),
        (lambda: cc.math.interp(cc.t, ["0", "1"], [0, 1]), r"plain numbers as its places, not \['0', '1'\]"),
        (lambda: cc.math.interp(cc.t, [0, 1], [0, [1]]), r"plain numbers as its values, not \[0, \[1\]\]"),
        (lambda: cc.math.interp(cc.t, [0, 1], [0, cc.t]), r"plain numbers as its values, not \[0, t\]"),
        (lambda: cc.math.interp(cc.t, None, [0, 1]), "plain numbers as its places, not None"),
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


# ---- piecewise polynomials -------------------------------------------------------------------------------------------


def at(x, t):
    return x.evaluate(lambda leaf: t) if isinstance(x, Expression) else x


def test_piecewise():
    breaks, rows = [0, 1, 3], [[0.5, 0, 1], [1.5, 2, 0]]
    x = np.array([-1, 0, 0.5, 1, 2, 3, 5])
    expected = [0.5, 0.5, 0.75, 1.5, 3.5, 5.5, 5.5]

    np.testing.assert_array_equal(piecewise(x, breaks, rows), expected)
    np.testing.assert_array_equal(at(piecewise(cc.t, breaks, rows), x), expected)
    assert piecewise(0.5, breaks, rows) == 0.75


def test_derivatives_of_a_piecewise_polynomial():
    """Exact within, at the ends and at the joints (from the right); zero beyond the ends."""
    rng = np.random.default_rng(3)
    breaks = np.array([-1.0, 0.2, 0.9, 2.0])
    pieces = [np.polynomial.Polynomial(rng.normal(0, 1, 5)) for _ in range(3)]
    for i in (1, 2):
        pieces[i] += pieces[i - 1](breaks[i] - breaks[i - 1]) - pieces[i](0)
    f = piecewise(cc.t, breaks, [p.coef for p in pieces])
    for order in range(1, 5):
        f = rate(f)
        for i, t in ((0, -1.0), (0, 0.1), (1, 0.2), (1, 0.5), (2, 0.9), (2, 2.0)):
            assert at(f, t) == pytest.approx(pieces[i].deriv(order)(t - breaks[i]), rel=1e-13, abs=1e-13)
        assert at(f, -1.5) == at(f, 2.5) == 0.0
    assert rate(f) == 0.0  # no derivative is left, and no node


# ---- rates -----------------------------------------------------------------------------------------------------------

P = parameter("p")
ANALYTIC = {
    "sum": lambda t: 3 * t + t * t - 1,
    "difference": lambda t: 1 - t * P,
    "product": lambda t: t * cc.math.sin(t) * 2.0,
    "quotient": lambda t: cc.math.cos(t) / (1 + t**2),
    "number over it": lambda t: 2 / (1 + t),
    "over a number": lambda t: t**2 / 4,
    "power": lambda t: (1 + t) ** 2.5,
    "inverse": lambda t: (1 + t) ** -2,
    "parameter as exponent": lambda t: (1 + t) ** P,
    "exponent": lambda t: 2.0**t,
    "both": lambda t: (1 + t) ** cc.math.sin(t),
    "negative": lambda t: -cc.math.exp(t),
    "sin": lambda t: cc.math.sin(2 * t),
    "cos": lambda t: cc.math.cos(2 * t + P),
    "tan": lambda t: cc.math.tan(t),
    "asin": lambda t: cc.math.asin(t / 2),
    "acos": lambda t: cc.math.acos(t / 2),
    "atan": lambda t: cc.math.atan(3 * t),
    "sinh": lambda t: cc.math.sinh(t),
    "cosh": lambda t: cc.math.cosh(t),
    "tanh": lambda t: cc.math.tanh(2 * t),
    "exp": lambda t: cc.math.exp(-t * t),
    "log": lambda t: cc.math.log(1 + t),
    "sqrt": lambda t: cc.math.sqrt(1 + t**2),
    "nested": lambda t: cc.math.sin(cc.math.exp(t) * cc.math.sqrt(1 + t)) ** 3,
}


def complex_step(x, t):
    """The first derivative without any difference: the imaginary part after a tiny imaginary step."""
    return x.evaluate(lambda leaf: t + 1e-200j if leaf.op == "time" else 1.7 + 0j).imag / 1e-200


@pytest.mark.parametrize("name", ANALYTIC)
def test_rates_by_complex_steps(name):
    x = ANALYTIC[name](cc.t)
    for _ in range(3):  # velocity, acceleration, jerk
        dx = rate(x)
        if not isinstance(dx, Expression):
            assert complex_step(x, 0.3) == pytest.approx(dx, rel=1e-14)
            break
        for t in (0.1, 0.37, 0.9):
            got = dx.evaluate(lambda leaf, t=t: t if leaf.op == "time" else 1.7)
            assert got == pytest.approx(complex_step(x, t), rel=1e-11, abs=1e-12)  # a third derivative has many terms
        x = dx


@pytest.mark.parametrize(
    ("x", "t", "value"),
    [
        (abs(cc.t - 1), (0.5, 1.5), (-1, 1)),
        (cc.math.atan2(cc.math.sin(3 * cc.t), cc.math.cos(3 * cc.t)), (0.1, 2.0, 40.0), (3, 3, 3)),
        (cc.math.minimum(cc.t, 1.0), (0.5, 1.5), (1, 0)),
        (cc.math.minimum(2.0, cc.t**2), (1.0, 2.0), (2, 0)),
        (cc.math.maximum(cc.t, 3 * cc.t), (-0.5, 1.5), (1, 3)),
        (cc.t % 0.5, (0.3, 0.7), (1, 1)),
        ((2 * cc.t) % (1 + cc.t), (0.3, 2.5), (2, 1)),
        (cc.math.where(cc.t < 1, cc.t**2, 5 * cc.t), (0.5, 2.0), (1, 5)),
        (cc.math.where((cc.t > 1) & ~(cc.t > 2), cc.t**2, 7.0), (0.5, 1.5, 2.5), (0, 3, 0)),
        (cc.math.where(True, cc.t, 2.0), (0.5,), (1,)),
        (cc.math.where(False, cc.t, cc.t**2), (0.5,), (1,)),
        (cc.math.floor(cc.t) + cc.math.ceil(cc.t) + cc.math.sign(cc.t) + cc.t, (0.5,), (1,)),
        (cc.math.interp(cc.t, [0, 1, 3], [0, 2, 1]), (-1, 0, 0.5, 1, 2, 3, 4), (0, 2, 2, -0.5, -0.5, -0.5, 0)),
        (cc.math.interp(2 * cc.t, [0, 1, 3], [0, 2, 1]), (0.25, 1.0), (4, -1)),
        (cc.math.interp(P, [0, 1], [0, 2]) + cc.t, (0.5,), (1,)),
    ],
    ids=[
        "abs", "atan2", "min", "min of a number", "max", "mod", "mod of both", "where", "logic", "true", "false",
        "steps", "interp", "interp of 2t", "interp of a parameter",
    ],
)  # fmt: skip
def test_rates_between_jumps(x, t, value):
    dx = rate(x)
    got = [float(dx.evaluate(lambda leaf, t=t: t)) if isinstance(dx, Expression) else dx for t in t]
    assert got == pytest.approx(value, rel=1e-15)


def test_every_operation_has_a_rate():
    from closedchain.model.expressions.functions import _RATES, _STEPS

    assert {*_RATES, *_STEPS} == set(OPERATIONS)


def test_plain_numbers_and_parameters_do_not_move():
    assert rate(3) == 0.0 and rate(P * 2 + 1) == 0.0 and rate(cc.math.sin(P) ** 2) == 0.0
    assert rate(cc.t) == 1.0 and rate(rate(cc.t**2)) == 2


def test_a_rate_is_found_once():
    x = cc.math.sin(cc.t) * cc.t
    assert rate(x) is rate(x)


def test_shared_nodes_are_differentiated_once():
    x = cc.t
    for _ in range(60):  # 2^60 paths, 120 nodes
        x = x + cc.math.sin(x) * 1e-3
    assert at(rate(x), 0.3) == pytest.approx(complex_step(x, 0.3), rel=1e-13)


def test_a_deep_tree_needs_no_recursion():
    x = cc.t
    for _ in range(20_000):
        x = cc.math.sin(x) if _ % 2 else x + 1e-6
    assert np.isfinite(at(rate(x), 0.3))


def test_minimum_jerk_stays_small():
    """Derivatives of a polynomial are not much longer than by hand: zeros and ones fold."""
    u = cc.t / 2.0
    x = 10 * u**3 - 15 * u**4 + 6 * u**5

    def count(node):
        return 1 + sum(count(a) for a in node.args if isinstance(a, Expression))

    # three terms: u = t / 2 (2 nodes), its power, and one factor more for each order
    assert [count(y) for y in (x, rate(x), rate(rate(x)))] <= [14, 20, 26]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: rate(cc.math.sin(Expression("coordinate", "O", None))),
            r"q\[O\] is neither time nor a para.*joint\.v",
        ),
        (lambda: rate(cc.t * Expression("velocity", "O", None)), r"rate: v\[O\] is neither"),
        (lambda: rate(cc.Sampled(lambda t, now: 0.0, 1.0) + cc.t), r"rate: Sampled\(<lambda>\) is neither"),
        (lambda: rate(Expression("control", "law", 0, cc.t)), "rate: the effort of a law is no formula of time alone"),
        (lambda: rate("t"), "rate: what is differentiated must be a number"),
        (lambda: rate([cc.t]), "rate: what is differentiated must be a number"),
        (lambda: piecewise("x", [0, 1], [[0]]), "piecewise needs a number, an array or an expression to look up"),
        (lambda: piecewise(cc.t, [0, 1], [0, 1]), r"k \+ 1 breaks and k rows of coefficients.*\(2,\) and \(2,\)"),
        (lambda: piecewise(cc.t, [0, 1], [[0], [1]]), r"k \+ 1 breaks and k rows"),
        (lambda: piecewise(cc.t, [0], []), r"k \+ 1 breaks and k rows"),
        (lambda: piecewise(cc.t, [0, 1], [[]]), r"k \+ 1 breaks and k rows"),
        (lambda: piecewise(cc.t, [0, 1], [[0, cc.t]]), "plain numbers as its coefficients"),
        (lambda: piecewise(cc.t, [1, 0], [[0, 1]]), "strictly increasing breaks"),
        (lambda: piecewise(cc.t, [0, 1], [[0, np.nan]]), "finite coefficients"),
        (
            lambda: piecewise(cc.t, [0, 1, 2], [[0, 1], [1.1, 0]]),
            r"at 1 the value jumps from 1 to 1\.1.*cc\.math\.where",
        ),
    ],
    ids=[
        "coordinate", "velocity", "sampled", "control", "text", "list", "look up a text", "one row", "two rows",
        "no pieces", "no coefficients", "coefficients of t", "falling", "nan", "jump",
    ],
)  # fmt: skip
def test_refused_rates_and_pieces(call, message):
    with pytest.raises(cc.ModelError, match=message):
        call()
