"""Several values, taken apart or refused with a sentence."""

import numpy as np
import pytest

import closedchain as cc
from closedchain import arguments
from closedchain.arguments import entries, listed, numeric, real, shown


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ((1, 2), (1, 2)),
        ([1, cc.t], (1, cc.t)),
        (range(2), (0, 1)),
        (np.array([1.0, 2.0]), (1.0, 2.0)),
        ((), ()),
    ],
    ids=["tuple", "list", "range", "array", "nothing"],
)
def test_what_has_entries_is_listed(given, found):
    assert listed(given) == found


@pytest.mark.parametrize(
    "given", [1.0, None, "xy", b"xy", {1: 2}, {1, 2}, np.array(1.0), cc.t, cc.rod], ids=lambda x: type(x).__name__
)
def test_one_value_a_text_and_what_has_no_order_are_no_list(given):
    assert listed(given) is None


@pytest.mark.parametrize("given", [1, 2.5, np.float32(1), np.array(1.0), [1, 2], (1.0, np.int64(2)), []])
def test_numbers_are_an_array(given):
    assert numeric(given).dtype == float and numeric(given).tolist() == np.array(given).tolist()


@pytest.mark.parametrize(
    "given",
    [
        "1",
        b"1",
        ["1"],
        [1, "2"],
        np.array(["1"]),
        np.array([1, "2"], object),
        None,
        1j,
        [[1], [1, 2]],
        10**400,
        {1: 2},
        cc.rod,
    ],
)
def test_texts_and_all_else_are_no_numbers(given):
    assert numeric(given) is None


def test_a_body_is_no_list():
    """It has frames by name, which Python would take for entries."""
    assert listed(cc.Mechanism("a").body("a", cc.rod(1.0, 1.0))) is None


def test_entries_are_counted():
    assert entries([1, 2], 2, "a pair has two values", "(1, 2)") == (1, 2)
    with pytest.raises(cc.ModelError, match=r"a pair has two values, not 3$"):
        entries([1, 2, 3], 2, "a pair has two values", "(1, 2)")
    with pytest.raises(cc.ModelError, match=r"a pair has two values, for instance \(1, 2\), not 'ab'"):
        entries("ab", 2, "a pair has two values", "(1, 2)")


def test_integers_beyond_floating_point_numbers_are_infinite():
    assert [real(x) for x in (1, 10**400, -(10**400))] == [1.0, np.inf, -np.inf]
    assert [real(x) for x in (1j, "1", None, [1.0])] == [None] * 4


def test_long_values_are_told_in_short():
    assert shown(0.1) == "0.1"
    assert shown(10**400).startswith("1000") and len(shown([10**400])) < 70
    assert "thousands of digits" in shown(10**5000)


@pytest.mark.parametrize(
    ("check", "value", "sentence"),
    [
        (arguments.finite, np.inf, "x must be a finite number, not inf"),
        (arguments.finite, "1", "x must be a finite number, not '1'"),
        (arguments.positive, 0, "x must be a positive number, not 0"),
        (arguments.positive, np.nan, "x must be a positive number, not nan"),
        (arguments.positive, np.inf, "x must be a positive number, not inf"),
        (arguments.not_negative, -1.0, r"x must be zero or a positive number, not -1\.0"),
        (arguments.whole, True, "x must be a whole number, not True"),
        (arguments.whole, 1.0, r"x must be a whole number, not 1\.0"),
        (lambda n, v: arguments.whole(n, v, 1), 0, "x must be a whole number of at least 1, not 0"),
        (arguments.boolean, 1, "x is True or False, not 1"),
        (lambda n, v: arguments.one_of(n, v, ("a", "b", "c")), "d", "x must be 'a', 'b' or 'c', not 'd'"),
        (lambda n, v: arguments.one_of(n, v, ("a",)), None, "x must be 'a', not None"),
        (lambda n, v: arguments.instance(n, v, dict, "a dictionary"), 3, "x must be a dictionary, not 3"),
        (arguments.mapping, 3, "x takes a mapping by name, not 3"),
        (lambda n, v: arguments.function(n, v, "time"), 3, "x takes a function of time, not 3"),
        (arguments.folder, "", "x takes the name of a folder, not ''"),
        (arguments.vector, [[1.0]], r"x must be a vector of finite numbers, not \[\[1\.0\]\]"),
        (lambda n, v: arguments.vector(n, v, 3), [1.0, 2.0], "x must have 3 entries, not 2"),
        (lambda n, v: arguments.named(n, v, {"rk4": 1}), "rk5", "there is no x 'rk5'; did you mean 'rk4'"),
        (
            lambda n, v: arguments.mapping(n, v, "joint, {'O': 1.0}"),
            3,
            r"x takes a mapping by joint, {'O': 1\.0}, not 3",
        ),
        (lambda n, v: arguments.between(n, v, 0, 1), 1.5, r"x must be a number from 0 to 1, not 1\.5"),
        (lambda n, v: arguments.between(n, v, 0, 1, below=True), 1, "x must be a number from 0 below 1, not 1"),
        (lambda n, v: arguments.between(n, v, 0, 1, unit="m"), np.nan, "x must be a number from 0 to 1 m, not nan"),
        (lambda n, v: arguments.between(n, v, 0, 1), True, "x must be a number from 0 to 1, not True"),
        (lambda n, v: arguments.needs(n, v, dict, "a dictionary"), 3, "x needs a dictionary, not 3"),
        (arguments.text, "", "x must be a non-empty text, not ''"),
        (arguments.text, 3, "x must be a non-empty text, not 3"),
        (
            lambda n, v: arguments.known(f"{n}: there is no", v, ["rk4"]),
            "rk5",
            "x: there is no 'rk5'; did you mean 'rk4'",
        ),
        (lambda n, v: arguments.known(f"{n}: there is no", v, [3], "!"), 3, "x: there is no 3; did you mean .*!"),
        (lambda n, v: arguments.finite(n, v, 1e60), 1e70, r"x is 1e\+70, too large to compute with: .* below 1e\+60"),
        (arguments.names, "a", "x takes a list of names, not 'a'"),
        (lambda n, v: arguments.names(n, v, "cut joints"), ("a", 1), r"x takes a list of cut joints, not \('a', 1\)"),
        (arguments.unique, ["a", "b", "a"], "x: 'a' is named twice"),
        (arguments.increasing, [0.0, 0.0], r"x takes increasing finite numbers, not \[0\.0, 0\.0\]"),
        (arguments.increasing, [], r"x takes increasing finite numbers, not \[\]"),
        (arguments.increasing, [0.0, np.inf], "x takes increasing finite numbers, not "),
        (lambda n, v: arguments.increasing(n, v, 2, "times"), [0.0], r"x takes times, at least 2, not \[0\.0\]"),
        (lambda n, v: arguments.not_both(n, a=v, b=v), 1.0, "x: give either a or b, not both"),
        (lambda n, v: arguments.not_both(n, a=v, b=v, c=None), 1.0, "x: give either a or b or c, not a and b together"),
        (lambda n, v: arguments.exactly_one(n, a=v, b=v), 1.0, "x: give either a or b, not both"),
        (lambda n, v: arguments.exactly_one(n, a=v, b=v), None, "x: give either a or b"),
    ],
)
def test_checks_name_the_argument_and_its_value(check, value, sentence):
    with pytest.raises(cc.ModelError, match=sentence):
        check("x", value)


def test_checks_return_what_is_meant():
    assert arguments.positive("x", np.float32(2.0)) == 2.0 and arguments.positive("x", np.inf, infinite=True) == np.inf
    assert arguments.whole("x", np.int64(3)) == 3 and arguments.mapping("x", None) == {}
    assert arguments.one_of("x", "b", ("a", "b")) == "b" and arguments.named("x", "a", {"a": 1}) == 1
    assert arguments.vector("x", 2.0, 3).tolist() == [2.0, 2.0, 2.0]
    assert arguments.between("x", 0, 0, 1, below=True) == 0.0 and arguments.between("x", 1, 0, 1) == 1.0
    assert arguments.needs("x", 3, int, "a number") == 3 and arguments.text("x", "a") == "a"
    assert arguments.known("x: no", "a", ["a"]) == "a" and arguments.increasing("x", [1, 2]).tolist() == [1.0, 2.0]
    assert arguments.names("x", ["a"]) == ("a",) and arguments.finite("x", -2, 3.0) == -2.0
    arguments.unique("x", ["a", "b"])
    arguments.not_both("x", a=1.0, b=None)
    arguments.exactly_one("x", a=None, b=0.0)
