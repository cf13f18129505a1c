"""The traced twin of an expression computes what NumPy computes with plain numbers."""

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.derive import lower as lowering
from closedchain.derive.lower import lower
from closedchain.model.expressions import expression
from closedchain.model.expressions.expression import parameter
from closedchain.model.expressions.functions import piecewise, rate

NAMES = ("a", "b", "c")


def both(x, values):
    """An expression by NumPy and as traced."""
    symbols = {name: ca.SX.sym(name) for name in values}
    f = ca.Function("f", list(symbols.values()), [lower(x, lambda leaf: symbols[leaf.args[0]])])
    return float(x.evaluate(lambda leaf: values[leaf.args[0]])), float(f(*values.values()))


def test_every_operation_has_its_twin():
    assert set(lowering.OPERATIONS) == set(expression.OPERATIONS)


UNARY = {
    "sin": cc.math.sin,
    "cos": cc.math.cos,
    "tan": cc.math.tan,
    "atan": cc.math.atan,
    "sinh": cc.math.sinh,
    "cosh": cc.math.cosh,
    "tanh": cc.math.tanh,
    "exp": cc.math.exp,
    "sign": cc.math.sign,
    "floor": cc.math.floor,
    "ceil": cc.math.ceil,
    "abs": abs,
    "neg": lambda x: -x,
    "asin": lambda x: cc.math.asin(cc.math.sin(x)),
    "acos": lambda x: cc.math.acos(cc.math.cos(x)),
    "log": lambda x: cc.math.log(1 + x * x),
    "sqrt": lambda x: cc.math.sqrt(abs(x)),
}
BINARY = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / (1 + y * y),
    "pow": lambda x, y: (1 + x * x) ** cc.math.tanh(y),
    "mod": lambda x, y: x % (1 + abs(y)),
    "mod negative": lambda x, y: x % (-1 - abs(y)),
    "atan2": cc.math.atan2,
    "min": cc.math.minimum,
    "max": cc.math.maximum,
    "lt": lambda x, y: cc.math.where(x < y, x, y),
    "le": lambda x, y: cc.math.where(x <= y, x, 2 * y),
    "gt": lambda x, y: cc.math.where(x > y, x, y),
    "ge": lambda x, y: cc.math.where(x >= y, x, 3 * y),
    "and": lambda x, y: cc.math.where((x > 0) & (y > 0), x, y),
    "or": lambda x, y: cc.math.where((x > 0) | (y > 0), x, y),
    "not": lambda x, y: cc.math.where(~(x > 0), x, y),
    "interp": lambda x, y: cc.math.interp(x + y, (-2, -1, 0.5, 3), (1, -2, 0, 5)),
}


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one(name, rng):
    for x in (*rng.normal(0, 2, 20), 0.0, 1.0, -1.0, 2.0):
        plain, traced = both(UNARY[name](parameter("a")), {"a": x})
        assert traced == pytest.approx(plain, rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two(name, rng):
    pairs = [*rng.normal(0, 2, (20, 2)), (1.0, 1.0), (0.0, 0.0), (0.0, -1.0), (-2.0, 0.0), (2.0, 0.5)]
    for x, y in pairs:
        plain, traced = both(BINARY[name](parameter("a"), parameter("b")), {"a": x, "b": y})
        assert traced == pytest.approx(plain, rel=1e-14, abs=1e-14)


def random_expression(rng, depth):
    if depth == 0:
        return parameter(str(rng.choice(NAMES))) if rng.random() < 0.7 else float(rng.normal())
    inner = [random_expression(rng, depth - 1) for _ in range(2)]
    if rng.random() < 0.4:
        name = str(rng.choice([k for k in UNARY if k not in ("exp", "sinh", "cosh", "tan", "floor", "ceil", "sign")]))
        return UNARY[name](inner[0])
    # comparisons and steps of computed numbers may fall differently by one rounding: they have their own tests
    name = str(rng.choice(["add", "sub", "mul", "div", "pow", "min", "max", "atan2", "interp"]))
    return BINARY[name](*inner)


@pytest.mark.parametrize("seed", range(30))
def test_random_expressions(seed):
    rng = np.random.default_rng(seed)
    x = parameter("a") + random_expression(rng, 5)
    for _ in range(5):
        values = dict(zip(NAMES, rng.normal(0, 1.5, 3), strict=True))
        plain, traced = both(x, values)
        assert traced == pytest.approx(plain, rel=1e-11, abs=1e-11)  # five operations on top of each other


@pytest.mark.parametrize("x", [-5.0, 0.0, 0.3, 1.0, 2.0, 2.999, 3.0, 7.0, 100.0])
def test_table(x):
    places, values = (0.0, 1.0, 2.0, 3.0, 7.0), (1.0, -4.0, 2.0, 2.0, 1e3)
    plain, traced = both(cc.math.interp(parameter("a"), places, values), {"a": x})
    assert plain == np.interp(x, places, values)
    assert traced == pytest.approx(plain, rel=1e-15, abs=1e-12)  # a sum of ramps: rounding of the largest value


def test_flat_table_is_a_number():
    assert both(cc.math.interp(parameter("a"), (0, 1), (2.5, 2.5)), {"a": 0.3})[1] == 2.5


@pytest.mark.parametrize("t", [-0.7, 0.0, 0.25, 0.5, 0.75, 1.25, 100.75])
def test_square_wave(t):
    x = cc.math.where(parameter("a") % 1.0 < 0.5, 1.0, -1.0)
    plain, traced = both(x, {"a": t})
    assert plain == traced == (1.0 if t % 1.0 < 0.5 else -1.0)


def test_the_branch_not_taken_does_not_matter():
    """A root of a negative number on the other side leaves no trace."""
    a = parameter("a")
    assert both_silent(cc.math.where(a > 0, cc.math.sqrt(a), 7.0), -4.0) == 7.0
    assert both_silent(cc.math.where(a > 0, cc.math.sqrt(a), 7.0), 4.0) == 2.0


def both_silent(x, value):
    symbol = ca.SX.sym("a")
    return float(ca.Function("f", [symbol], [lower(x, lambda leaf: symbol)])(value))


@pytest.mark.parametrize(
    "x",
    [
        cc.math.minimum(cc.math.sqrt(parameter("a")), 1.0),
        cc.math.maximum(1.0, cc.math.sqrt(parameter("a"))),
        cc.math.interp(cc.math.sqrt(parameter("a")), (0, 1), (0, 1)),
        cc.math.sqrt(parameter("a")) + 1,
        cc.math.sqrt(parameter("a")) % 1.0,
    ],
    ids=["minimum", "maximum", "interp", "sum", "mod"],
)
def test_not_a_number_stays_so(x):
    """NumPy's functions hand a NaN on; a traced torque must not turn it into a number that looks right."""
    assert np.isnan(both_silent(x, -4.0))


@pytest.mark.parametrize(
    ("x", "value"),
    [
        (lambda a: (a > 1) + (a > 2), 2.0),
        (lambda a: (a > 1) - (a > 2), 0.0),
        (lambda a: -(a > 1), -1.0),
        (lambda a: 3 * (a > 1), 3.0),
        (lambda a: (a > 1) * (a > 2), 1.0),
        (lambda a: 1 - (a > 1), 0.0),
        (lambda a: ((a > 1) & (a > 2)) + 1, 2.0),
    ],
    ids=["sum", "difference", "negative", "multiple", "product", "complement", "and"],
)
def test_conditions_count_as_zero_and_one(x, value):
    assert both(x(parameter("a")), {"a": 3.0}) == (value, value)


def test_plain_numbers_pass():
    assert float(lower(2.5, None)) == 2.5
    assert lower(0.0, None).is_zero()


def test_conditions_and_branches_may_be_constants():
    a = parameter("a")
    assert both(cc.math.where(a > 1, 1.0, 2.0), {"a": 3.0}) == (1.0, 1.0)
    assert both(cc.math.where(True, a, 2.0), {"a": 3.0}) == (3.0, 3.0)
    assert both(cc.math.atan2(1.0, a), {"a": 1.0})[1] == pytest.approx(np.pi / 4)
    assert both(2.0**a, {"a": 3.0}) == (8.0, 8.0)
    assert both(7.0 % a, {"a": 4.0}) == (3.0, 3.0)


def test_a_long_sum_needs_no_deep_stack():
    x = parameter("a")
    for _ in range(5000):
        x = x + parameter("a")
    assert both(x, {"a": 1.0}) == (5001.0, 5001.0)


# ---- piecewise polynomials and rates ---------------------------------------------------------------------------------

BREAKS = (-1.0, 0.2, 0.9, 2.0)
PIECES = [np.polynomial.Polynomial(c) for c in ((0.3, -1.0, 0.5, 0.7), (0.0, 0.4, 0.0, -1.1), (0.0, 1.0, 2.0, 0.25))]
for _i in (1, 2):
    PIECES[_i] += PIECES[_i - 1](BREAKS[_i] - BREAKS[_i - 1])


def traced(x, symbol):
    return lower(x, lambda leaf: symbol)


def expected(x, order):
    """By NumPy's own polynomials: constant beyond the ends, which belong to the pieces."""
    if x < BREAKS[0] or x > BREAKS[-1]:
        end = PIECES[0](0) if x < 0 else PIECES[2](BREAKS[3] - BREAKS[2])
        return 0.0 if order else end
    i = min(int(np.searchsorted(BREAKS, x, side="right")) - 1, 2)
    return (PIECES[i].deriv(order) if order else PIECES[i])(x - BREAKS[i])


PLACES = (-5.0, -1.0, -0.3, 0.2, 0.5, 0.9, 1.7, 2.0, 2.5)


def test_piecewise_polynomial_and_its_derivatives_by_casadi():
    x = ca.SX.sym("x")
    values = [traced(piecewise(parameter("a"), BREAKS, [p.coef for p in PIECES]), x)]
    for _ in range(3):
        values.append(ca.jtimes(values[-1], x, 1))
    f = ca.Function("f", [x], values)
    for place in PLACES:
        got = [float(value) for value in f(place)]
        assert got == pytest.approx([expected(place, order) for order in range(4)], rel=1e-14, abs=1e-14)
    assert np.isnan(float(f(np.nan)[0]))


def test_rates_of_a_piecewise_polynomial_are_traced_as_such():
    symbol = ca.SX.sym("t")
    x = piecewise(cc.t, BREAKS, [p.coef for p in PIECES])
    values = []
    for _ in range(4):
        values.append(traced(x, symbol))
        x = rate(x)
    f = ca.Function("f", [symbol], values)
    for place in PLACES:
        got = [float(value) for value in f(place)]
        assert got == pytest.approx([expected(place, order) for order in range(4)], rel=1e-14, abs=1e-14)


def test_derivatives_share_the_selections():
    """Value, rate and acceleration of many pieces cost little more than the value: the native graph merges the rest."""
    from closedchain.native.traced.trace import trace

    n = 40
    t = np.linspace(0, 1, n + 1)
    rows = np.column_stack([np.append(0, np.cumsum(np.full(n - 1, 1 / n))), np.ones(n), np.zeros(n), np.zeros(n)])
    x = piecewise(cc.t, t, rows + np.array([0, 0, 1e-13, -1e-13]))
    symbol = ca.SX.sym("t")
    one = len(trace("one", {"t": symbol}, {"x": traced(x, symbol)}))
    all_three = [traced(y, symbol) for y in (x, rate(x), rate(rate(x)))]
    three = len(trace("three", {"t": symbol}, {"x": ca.vertcat(*all_three)}))
    assert three - one < 20


RATED = {
    "product": cc.math.sin(3 * cc.t) * cc.math.exp(-cc.t),
    "quotient": cc.math.cos(cc.t) / (1 + cc.t**2),
    "power": (1 + cc.t**2) ** cc.math.sin(cc.t),
    "root": cc.math.sqrt(1 + cc.t) * cc.math.log(2 + cc.t),
    "angle": cc.math.atan2(cc.math.sin(cc.t), 2 + cc.t),
    "inverse": cc.math.asin(cc.t / 4) + cc.math.acos(cc.t / 5) + cc.math.atan(cc.t),
    "hyperbolic": cc.math.sinh(cc.t) - cc.math.cosh(cc.t) * cc.math.tanh(cc.t) + cc.math.tan(cc.t / 3),
    "choice": cc.math.where(cc.t < 0.8, cc.t**3, 2 * cc.t**2),
    "extremes": cc.math.minimum(cc.t, 1.0) ** 2 + cc.math.maximum(cc.t**2, 0.5) + abs(cc.t - 0.6),
    "remainder": (cc.t % 0.7) ** 2,
}


@pytest.mark.parametrize("name", RATED)
def test_rates_are_those_of_casadi(name):
    x, symbol = RATED[name], ca.SX.sym("t")
    by_casadi = traced(x, symbol)
    first = ca.jtimes(by_casadi, symbol, 1)
    second = ca.jtimes(first, symbol, 1)
    f = ca.Function("f", [symbol], [first, second, traced(rate(x), symbol), traced(rate(rate(x)), symbol)])
    for t in (0.13, 0.52, 0.77, 1.3):
        a1, a2, b1, b2 = (float(value) for value in f(t))
        assert (b1, b2) == pytest.approx((a1, a2), rel=1e-12, abs=1e-12)


def test_the_rate_of_a_choice_holds_with_its_condition():
    """A run that holds a condition gets the derivative of the branch that it holds."""
    x = rate(cc.math.where(cc.t < 1, cc.t**2, cc.t**3))
    symbol, held = ca.SX.sym("t"), ca.SX.sym("held")
    f = ca.Function("f", [symbol, held], [lower(x, lambda leaf: symbol, lambda node, live: held)])
    assert [float(f(2.0, 1.0)), float(f(2.0, 0.0))] == [4.0, 12.0]
