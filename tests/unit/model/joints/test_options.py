"""The options of a joint in the forms people write them."""

import math

import numpy as np
import pytest

import closedchain as cc


@pytest.mark.parametrize(
    ("kind", "limits", "expected"),
    [
        ("revolute", (-1, 1), ((-1, 1),)),
        ("revolute", ((-1, 1),), ((-1, 1),)),
        ("revolute", (-math.inf, 1), ((-math.inf, 1),)),
        ("revolute", np.array([-1.0, 1.0]), ((-1, 1),)),
        ("cylindrical", (None, (0, 1)), (None, (0, 1))),
        ("cylindrical", ((0, 1), (2, 3)), ((0, 1), (2, 3))),
    ],
    ids=["pair", "list of one pair", "one-sided", "array", "none first", "two pairs"],
)
def test_forms_of_limits(m, a, b, kind, limits, expected):
    assert m.joint(kind, "O", a, b, limits=limits).limits == expected


@pytest.mark.parametrize(
    ("kind", "guess"),
    [("spherical", (0, 0, 0, 0)), ("spherical", np.zeros(4)), ("free", (1, 2, 3, 0, 0, 0, 0))],
    ids=["ball", "array", "free"],
)
def test_a_guess_has_an_orientation(m, a, kind, guess):
    with pytest.raises(cc.ModelError, match=r"'O': guess has the quaternion \(0, 0, 0, 0\), .*\(1, 0, 0, 0\) is the"):
        m.joint(kind, "O", m.ground, a, guess=guess)


@pytest.mark.parametrize(
    ("kind", "guess", "expected"),
    [
        ("revolute", 1, (1.0,)),
        ("revolute", [1], (1.0,)),
        ("revolute", np.float32(0.5), (0.5,)),
        ("revolute", np.array(0.5), (0.5,)),
        ("planar", np.array([1.0, 2.0, 3.0]), (1.0, 2.0, 3.0)),
        ("spherical", (0, 0, 2, 0), (0.0, 0.0, 2.0, 0.0)),
        ("weld", (), ()),
    ],
    ids=["number", "list", "numpy", "array without dimensions", "array", "quaternion", "nothing"],
)
def test_forms_of_a_guess(m, a, kind, guess, expected):
    assert m.joint(kind, "O", m.ground, a, guess=guess).guess == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"guess": "1"}, "joint 'O': guess must be a number, .* not '1'"),
        ({"cut": "yes"}, r"joint 'O': cut is True \(open this joint\), False .* not 'yes'"),
        ({"axis": 3}, "joint 'O': an axis is three plain numbers .* not 3"),
        ({"axis": ("1", 0, 0)}, "joint 'O' must be a number, .* not '1'"),
        ({"limits": (0, "1")}, r"joint 'O': limits need one pair \(low, high\) .* not \(0, '1'\)"),
    ],
    ids=lambda x: next(iter(x)) if isinstance(x, dict) else "",
)
def test_refused_options(m, a, options, message):
    with pytest.raises(cc.ModelError, match=message):
        m.revolute("O", m.ground, a, **options)


@pytest.mark.parametrize("axes", [5, "xy", (1, 2), ((1, 0, 0), None)], ids=repr)
def test_refused_axes(m, a, axes):
    with pytest.raises(cc.ModelError, match="joint 'O': "):
        m.universal("O", m.ground, a, axes=axes)


def test_limits_may_be_numbers_of_numpy(m, a):
    assert m.revolute("O", m.ground, a, limits=(np.int64(-1), np.float32(1))).limits == ((-1.0, 1.0),)


@pytest.mark.parametrize(("cut", "expected"), [(None, None), (False, False), (np.bool_(True), True)], ids=repr)
def test_forms_of_cut(m, a, cut, expected):
    assert m.revolute("O", m.ground, a, cut=cut).cut is expected
