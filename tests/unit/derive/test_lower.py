"""The traced twin of an expression computes what NumPy computes with plain numbers."""

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.derive import lower as lowering
from closedchain.derive.lower import lower
from closedchain.model import expression
from closedchain.model.expression import parameter

NAMES = ("a", "b", "c")


def both(x, values):
    """An expression by NumPy and as traced."""
    symbols = {name: ca.SX.sym(name) for name in values}
    f = ca.Function("f", list(symbols.values()), [lower(x, lambda leaf: symbols[leaf.args[0]])])
    return float(x.evaluate(lambda leaf: values[leaf.args[0]])), float(f(*values.values()))


def test_every_operation_has_its_twin():
    assert set(lowering.OPERATIONS) == set(expression.OPERATIONS)


UNARY = {
    "sin": cc.sin,
    "cos": cc.cos,
    "tan": cc.tan,
    "atan": cc.atan,
    "sinh": cc.sinh,
    "cosh": cc.cosh,
    "tanh": cc.tanh,
    "exp": cc.exp,
    "sign": cc.sign,
    "floor": cc.floor,
    "ceil": cc.ceil,
    "abs": abs,
    "neg": lambda x: -x,
    "asin": lambda x: cc.asin(cc.sin(x)),
    "acos": lambda x: cc.acos(cc.cos(x)),
    "log": lambda x: cc.log(1 + x * x),
    "sqrt": lambda x: cc.sqrt(abs(x)),
}
BINARY = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / (1 + y * y),
    "pow": lambda x, y: (1 + x * x) ** cc.tanh(y),
    "mod": lambda x, y: x % (1 + abs(y)),
    "mod negative": lambda x, y: x % (-1 - abs(y)),
    "atan2": cc.atan2,
    "min": cc.minimum,
    "max": cc.maximum,
    "lt": lambda x, y: cc.where(x < y, x, y),
    "le": lambda x, y: cc.where(x <= y, x, 2 * y),
    "gt": lambda x, y: cc.where(x > y, x, y),
    "ge": lambda x, y: cc.where(x >= y, x, 3 * y),
    "and": lambda x, y: cc.where((x > 0) & (y > 0), x, y),
    "or": lambda x, y: cc.where((x > 0) | (y > 0), x, y),
    "not": lambda x, y: cc.where(~(x > 0), x, y),
    "interp": lambda x, y: cc.interp(x + y, (-2, -1, 0.5, 3), (1, -2, 0, 5)),
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
    plain, traced = both(cc.interp(parameter("a"), places, values), {"a": x})
    assert plain == np.interp(x, places, values)
    assert traced == pytest.approx(plain, rel=1e-15, abs=1e-12)  # a sum of ramps: rounding of the largest value


def test_flat_table_is_a_number():
    assert both(cc.interp(parameter("a"), (0, 1), (2.5, 2.5)), {"a": 0.3})[1] == 2.5


@pytest.mark.parametrize("t", [-0.7, 0.0, 0.25, 0.5, 0.75, 1.25, 100.75])
def test_square_wave(t):
    x = cc.where(parameter("a") % 1.0 < 0.5, 1.0, -1.0)
    plain, traced = both(x, {"a": t})
    assert plain == traced == (1.0 if t % 1.0 < 0.5 else -1.0)


def test_the_branch_not_taken_does_not_matter():
    """A root of a negative number on the other side leaves no trace."""
    a = parameter("a")
    assert both_silent(cc.where(a > 0, cc.sqrt(a), 7.0), -4.0) == 7.0
    assert both_silent(cc.where(a > 0, cc.sqrt(a), 7.0), 4.0) == 2.0


def both_silent(x, value):
    symbol = ca.SX.sym("a")
    return float(ca.Function("f", [symbol], [lower(x, lambda leaf: symbol)])(value))


@pytest.mark.parametrize(
    "x",
    [
        cc.minimum(cc.sqrt(parameter("a")), 1.0),
        cc.maximum(1.0, cc.sqrt(parameter("a"))),
        cc.interp(cc.sqrt(parameter("a")), (0, 1), (0, 1)),
        cc.sqrt(parameter("a")) + 1,
        cc.sqrt(parameter("a")) % 1.0,
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
    assert both(cc.where(a > 1, 1.0, 2.0), {"a": 3.0}) == (1.0, 1.0)
    assert both(cc.where(True, a, 2.0), {"a": 3.0}) == (3.0, 3.0)
    assert both(cc.atan2(1.0, a), {"a": 1.0})[1] == pytest.approx(np.pi / 4)
    assert both(2.0**a, {"a": 3.0}) == (8.0, 8.0)
    assert both(7.0 % a, {"a": 4.0}) == (3.0, 3.0)


def test_a_long_sum_needs_no_deep_stack():
    x = parameter("a")
    for _ in range(5000):
        x = x + parameter("a")
    assert both(x, {"a": 1.0}) == (5001.0, 5001.0)
