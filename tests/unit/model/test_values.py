"""Several values, taken apart or refused with a sentence."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.values import entries, listed, numeric, real, shown


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


def test_a_body_is_no_list(a):
    """It has frames by name, which Python would take for entries."""
    assert listed(a) is None


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
