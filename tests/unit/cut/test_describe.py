"""`print(mechanism)`: everything is in it, in columns that line up."""

import pytest

import closedchain as cc
from closedchain.cut.describe import describe, table
from closedchain.model.library import MECHANISMS


def test_a_table_lines_up():
    assert table(("a", "long"), [("wide one", "x"), ("b", "y")]) == [
        "a         long",
        "--------  ----",
        "wide one  x",
        "b         y",
    ]


def test_a_table_without_rows():
    assert table(("a", "b"), []) == ["a  b", "-  -"]


def test_the_four_bar():
    text = str(cc.library.four_bar())

    assert text == describe(cc.library.four_bar())
    assert text.splitlines() == [
        "four-bar",
        "",
        "body     shape  mass [kg]  frames",
        "-------  -----  ---------  ----------------",
        "crank    rod    1          origin, tip, com",
        "coupler  rod    1          origin, tip, com",
        "rocker   rod    1          origin, tip, com",
        "",
        "joint  kind      from     to       freedoms  driven  where",
        "-----  --------  -------  -------  --------  ------  ------",
        "O      revolute  ground   crank    1         motor   limb 1",
        "A      revolute  crank    coupler  1                 limb 1",
        "C      revolute  ground   rocker   1                 limb 2",
        "B      revolute  coupler  rocker   1                 cut",
        "",
        "limb 1: O > crank, A > coupler",
        "limb 2: C > rocker",
        "cuts: B (5 equations)",
        "3 bodies, 4 joints, 1 loop, 3 velocities, 5 closure equations drawn, 9 parameters",
    ]


@pytest.mark.parametrize("name", MECHANISMS)
def test_everything_is_named(name):
    m = MECHANISMS[name].build()
    text = str(m)

    assert all(part in text for part in [m.name, *m.bodies, *m.joints])
    assert not any(line != line.rstrip() for line in text.splitlines())


def test_an_open_chain_has_no_cuts():
    assert "cuts: none" in str(cc.library.double_pendulum())


def test_implied_joints_are_shown():
    m = cc.Mechanism("adrift")
    plate = m.body("plate", cc.ball(0.1, 1.0))
    m.spherical("ball", m.ground, plate, cut=True)

    assert "plate.free" in str(m) and "limb 1: plate.free > plate" in str(m)


def test_values_are_those_of_now():
    m = cc.library.pendulum()
    m.parameters["arm.mass"] = 2.25

    assert "2.25" in str(m)


@pytest.mark.parametrize("stage", ["empty", "one body", "no joint to the ground"])
def test_an_unfinished_drawing_is_shown_with_the_reason(stage):
    m = cc.Mechanism("draft")
    if stage != "empty":
        a = m.body("a", cc.rod(1.0, 1.0))
    if stage == "no joint to the ground":
        m.revolute("hinge", a.tip, m.body("b", cc.rod(1.0, 1.0)))
    text = str(m)

    assert text.startswith("draft")
    assert "not complete: " in text
    assert all(name in text for name in [*m.bodies, *m.joints])
