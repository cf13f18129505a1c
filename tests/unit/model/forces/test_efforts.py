"""Torques as numbers, expressions and functions, and the names they use for coordinates."""

import math

import pytest

import closedchain as cc
from closedchain.model.forces.efforts import Leaves, coordinate_leaf


@pytest.mark.parametrize(
    ("torque", "text"),
    [
        (lambda t: cc.math.sin(t), "sin(t)"),
        (lambda t, q, v: -q["hinge"] - 2 * v["tube.slide"], "(-q[hinge] - (v[tube.slide] * 2))"),
        (cc.t * 2, "(t * 2)"),
        (cc.math.sin, "sin(t)"),
    ],
    ids=["of t", "of t, q, v", "expression", "cc.math.sin itself"],
)
def test_forms_of_a_torque(rig, torque, text):
    assert str(rig.motor("hinge", torque=torque).effort) == text


def test_a_function_may_return_a_plain_number(rig):
    motor = rig.motor("hinge", torque=lambda t: 5.0)

    assert rig.parameters["hinge.motor"] == 5.0 and str(motor.effort) == "hinge.motor"


def test_a_function_may_have_defaults(rig):
    """``lambda t, k=k: ...`` is how Python freezes the variable of a loop."""
    assert str(rig.motor("hinge", torque=lambda t, k=3: k * t).effort) == "(t * 3)"


@pytest.mark.parametrize(
    ("key", "text"), [("hinge", "q[hinge]"), ("table.x", "q[table.x]"), ("hinge.angle", "q[hinge]")], ids=str
)
def test_leaves_by_name(m, a, key, text):
    m.revolute("hinge", m.ground, a)
    m.planar("table", a.tip, m.body("plate", cc.plate(1, 1, 1)))

    assert str(Leaves("coordinate", m.joints)[key]) == text


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("hnge", "unknown joint 'hnge'; did you mean 'hinge'"),
        ("table", r"joint 'table' \(planar\) has 3 values .*write for instance 'table\.x'"),
        ("table.z", "joint 'table' has no coordinate 'z'"),
        ("glue", "joint 'glue' is a weld and has no coordinate"),
        ("table.x.y", r"unknown joint 'table\.x\.y'"),
    ],
    ids=str,
)
def test_refused_leaves(m, a, key, message):
    plate = m.body("plate", cc.plate(1, 1, 1))
    m.revolute("hinge", m.ground, a)
    m.planar("table", a.tip, plate)
    m.weld("glue", plate, m.body("pin", cc.ball(0.1, 1)))

    with pytest.raises(cc.ModelError, match=message):
        Leaves("coordinate", m.joints)[key]


def test_coordinate_leaf_of_a_velocity(m, a):
    ball = m.spherical("ball", m.ground, a)

    assert str(coordinate_leaf("velocity", ball, "wx")) == "v[ball.wx]"
    with pytest.raises(cc.ModelError, match="joint 'ball' has no velocity 'qx'"):
        coordinate_leaf("velocity", ball, "qx")


@pytest.mark.parametrize(
    ("torque", "message"),
    [
        (max, r"hinge\.motor: <built-in function max> does not say which arguments it takes; write it as lambda t"),
        (lambda t, *, k: k * t, r"hinge\.motor: the function needs 'k' by name: give it a default, k=\.\.\."),
        (lambda t, q, v: q[0], r"a torque names a coordinate by a text, for instance q\['A'\], not by 0"),
        (lambda t: t + "1", "t combines with numbers and expressions, not with '1'"),
        (lambda t: t * math.nan, "t combines with numbers and expressions, not with nan"),
    ],
    ids=["built-in", "keyword", "number as name", "text", "nan"],
)
def test_refused_functions(rig, torque, message):
    with pytest.raises(cc.ModelError, match=message):
        rig.motor("hinge", torque=torque)


def test_a_coordinate_of_another_mechanism_is_refused(rig):
    """Its joint has the same name, but is of another kind."""
    other = cc.Mechanism("other")
    theirs = other.planar("hinge", other.ground, other.body("x", cc.rod(1, 1)))

    with pytest.raises(cc.ModelError, match="joint 'hinge' has no coordinate 'x'"):
        rig.motor("hinge", torque=theirs.q[0])
