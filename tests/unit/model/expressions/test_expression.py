"""Expressions: small trees that mean the same as plain arithmetic, and that refuse what cannot be traced."""

import math
import operator
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.expressions.expression import (
    LEAVES,
    OPERATIONS,
    Expression,
    check_number,
    fold,
    is_zero,
    parameter,
)

A, B = parameter("a"), parameter("b")
VALUES = {"a": 1.7, "b": -0.6}


def value(x):
    return x.evaluate(lambda leaf: VALUES[leaf.args[0]]) if isinstance(x, Expression) else x


BINARY = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod,
    operator.lt, operator.le, operator.gt, operator.ge,
]  # fmt: skip


@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.__name__)
@pytest.mark.parametrize(
    ("left", "right"),
    [(A, B), (A, 2.5), (2.5, A), (A, 2), (2, A), (np.float64(2.5), A), (A, A)],
    ids=["a,b", "a,2.5", "2.5,a", "a,2", "2,a", "numpy,a", "a,a"],
)
def test_operators_mean_what_they_mean_for_numbers(op, left, right):
    assert value(op(left, right)) == op(value(left), value(right))


@pytest.mark.parametrize("op", [operator.neg, operator.pos, abs])
def test_unary_operators(op):
    assert value(op(B)) == op(VALUES["b"])


def test_logic():
    both, either, no = (A > 0) & (B > 0), (A > 0) | (B > 0), ~(A > 0)

    assert (bool(value(both)), bool(value(either)), bool(value(no))) == (False, True, False)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: A + 0, A),
        (lambda: 0 + A, A),
        (lambda: A - 0, A),
        (lambda: A * 1, A),
        (lambda: 1 * A, A),
        (lambda: A / 1, A),
        (lambda: A**1, A),
        (lambda: +A, A),
        (lambda: A * 0, 0.0),
        (lambda: 0 * A, 0.0),
        (lambda: 0 / A, 0.0),
    ],
    ids=["a+0", "0+a", "a-0", "a*1", "1*a", "a/1", "a**1", "+a", "a*0", "0*a", "0/a"],
)
def test_what_changes_nothing_leaves_no_node(made, expected):
    result = made()

    assert result is expected or (result == 0.0 and not isinstance(result, Expression))


def test_subtracting_from_zero_negates():
    assert value(0 - A) == -VALUES["a"]


def test_leaves_are_found_once_each():
    shared = A * B
    tree = shared + cc.math.sin(shared) - cc.t

    assert [str(leaf) for leaf in tree.leaves()] == ["a", "b", "t"]
    assert all(leaf.op in LEAVES for leaf in tree.leaves())


def test_a_deep_tree_needs_no_recursion():
    tree = A
    for _ in range(20_000):
        tree = tree + 1.5

    assert value(tree) == pytest.approx(VALUES["a"] + 30_000)  # a sum of 20,000 terms rounds
    assert len(list(tree.leaves())) == 1


def test_shared_nodes_are_computed_once():
    calls = []

    def add(a, b):
        calls.append(1)
        return a + b

    tree = A
    for _ in range(60):  # 2^60 paths, 60 nodes
        tree = tree + tree
    result = fold(tree, lambda leaf: 1.0, OPERATIONS | {"add": add})

    assert (result, len(calls)) == (2.0**60, 60)


# ---- what cannot be traced -------------------------------------------------------------------------------------------


def test_if_on_an_expression_says_where():
    with pytest.raises(cc.ModelError, match=r"truth of \(t < 1\).*cc\.math\.where"):
        1.0 if cc.t < 1 else 2.0  # noqa: B018


@pytest.mark.parametrize(
    "use",
    [lambda: 0 < cc.t < 1, lambda: cc.t > 0 and cc.t < 1, lambda: not cc.t, lambda: max(cc.t, 1), lambda: bool(cc.t)],
    ids=["chained", "and", "not", "max", "bool"],
)
def test_truth_in_disguise(use):
    with pytest.raises(cc.ModelError, match=r"use cc\.math\.where"):
        use()


@pytest.mark.parametrize("use", [math.sin, math.sqrt, float], ids=lambda f: f.__name__)
def test_math_on_an_expression_names_the_remedy(use):
    with pytest.raises(cc.ModelError, match=r"t has no fixed value yet: use cc\.math\.sin"):
        use(cc.t)


def test_numpy_on_an_expression_is_refused():
    with pytest.raises(cc.ModelError, match=r"use cc\.math\.sin for t"):
        np.sin(cc.t)


@pytest.mark.parametrize(
    "use",
    [lambda x: x * cc.t, lambda x: cc.t * x, lambda x: x + cc.t, lambda x: cc.t - x],
    ids=["array*t", "t*array", "array+t", "t-array"],
)
def test_arrays_do_not_hide_in_an_expression(use):
    """A vector inside a scalar effort would be summed up silently when it is traced."""
    with pytest.raises((TypeError, cc.ModelError)):
        use(np.array([1.0, 2.0]))


# ---- numbers of a drawing --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("good", [1, 1.5, np.float64(2), np.int64(3), np.array(1.5), True, A], ids=repr)
def test_check_number_passes_numbers_and_expressions(good):
    checked = check_number(good, "it")

    assert checked is good or checked == float(good)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_check_number_refuses_what_is_not_finite(bad):
    with pytest.raises(cc.ModelError, match=rf"crank\.mass is {bad}: give a finite number"):
        check_number(bad, "crank.mass")


@pytest.mark.parametrize("bad", ["long", None, (1, 2), object, 1j], ids=str)
def test_check_number_refuses_what_is_no_number(bad):
    with pytest.raises(cc.ModelError, match=r"crank\.mass must be a number, a parameter or an expression, not"):
        check_number(bad, "crank.mass")


def test_is_zero_means_exactly_zero():
    assert is_zero(0) and is_zero(-0.0) and is_zero(np.float64(0))
    assert not any(is_zero(x) for x in (1e-300, A, A - A))


# ---- what is no number -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("other", ["1", None, math.nan, 1j, object, b"1", {}, np.datetime64("2020-01-01")], ids=repr)
@pytest.mark.parametrize("combine", [operator.add, operator.mul, operator.pow, operator.lt], ids=lambda f: f.__name__)
def test_expressions_combine_with_numbers_only(combine, other):
    with pytest.raises(cc.ModelError, match="a combines with numbers and expressions, not with "):
        combine(A, other)
    with pytest.raises(cc.ModelError, match="a combines with numbers and expressions, not with "):
        combine(other, A)


@pytest.mark.parametrize("number", [np.float32(2), np.int64(2), Decimal(2), Fraction(2), np.array(2.0)], ids=repr)
def test_all_kinds_of_numbers_are_numbers(number):
    assert str(A + number) == "(a + 2)" and value(A * number) == 2 * VALUES["a"]


@pytest.mark.parametrize(
    "x", ["1", b"1", np.array([1.0]), np.array("1"), [1], None, 1j, object()], ids=lambda x: type(x).__name__
)
def test_what_is_no_number_is_named(x):
    with pytest.raises(cc.ModelError, match=r"arm\.mass must be a number, a parameter or an expression, not "):
        check_number(x, "arm.mass")


def test_a_number_beyond_all_floats_is_infinite():
    with pytest.raises(cc.ModelError, match=r"arm\.mass is inf: give a finite number"):
        check_number(10**400, "arm.mass")


@pytest.mark.parametrize("x", [[[1, 2], 3], "0", None, object()], ids=lambda x: type(x).__name__)
def test_what_is_no_number_is_not_zero(x):
    assert not is_zero(x)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: A // 2, r"whole quotients are written with cc\.math\.floor: cc\.math\.floor\(a / 2\)"),
        (lambda: 2 // A, r"whole quotients are written with cc\.math\.floor: cc\.math\.floor\(2 / a\)"),
        (lambda: int(A), r"a has no fixed value yet: use cc\.math\.floor"),
        (lambda: round(A), r"a has no fixed value yet: use cc\.math\.floor"),
        (lambda: round(A, 2), r"a has no fixed value yet: use cc\.math\.floor"),
        (lambda: cc.multiplier(5, "x"), r"named by two texts, as cc\.multiplier\('A', 'x'\), not 5 and 'x'"),
    ],
    ids=["//", "2 //", "int", "round", "round to digits", "multiplier"],
)
def test_what_expressions_cannot_do_is_said(make, message):
    with pytest.raises(cc.ModelError, match=message):
        make()
