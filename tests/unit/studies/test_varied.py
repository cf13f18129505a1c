"""Names of what is varied, and the starts that they change."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.studies.varied import Role, independent, roles, start_of

FOUR_BAR = cc.library.four_bar()


def test_names_and_what_they_mean():
    names = ["crank.length", "start.O", "start.O'", "k", "method.damping"]
    assert list(roles(names, FOUR_BAR, cc.VirtualSpring(1e6)).values()) == [
        Role("parameter", "crank.length"),
        Role("coordinate", "O"),
        Role("velocity", "O"),
        Role("method", "stiffness"),
        Role("method", "damping"),
    ]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["krank.length"], "nothing named 'krank.length' to vary in 'four-bar'; did you mean 'crank.length'"),
        (["gravity.x"], "did you mean 'gravity.y'"),
        (["xyz"], "drawn as exactly zero is structure"),
        (["O"], "'O' is a coordinate: to vary where it starts, say 'start.O'"),
        (["start.Q"], "no coordinate or velocity 'Q'"),
        (["k"], r"'k' is no number of Multipliers, it has none that can be varied; cc.VirtualSpring"),
    ],
    ids=lambda x: x[0] if isinstance(x, list) else "",
)
def test_unknown_names_are_said(names, message):
    with pytest.raises(cc.ModelError, match=message):
        roles(names, FOUR_BAR, cc.Multipliers())


def test_the_same_number_twice():
    with pytest.raises(cc.ModelError, match=r"'k' and 'method.stiffness' are the same number"):
        roles(["k", "method.stiffness"], FOUR_BAR, cc.VirtualSpring(1e6))


def test_a_state_keeps_what_is_independent():
    state = FOUR_BAR.assemble(O=1.0, velocity={"O": 2.0})
    assert independent(state) == ({"O": 1.0}, {"O": pytest.approx(2.0)})  # where the motor is
    start = start_of(FOUR_BAR, state, None, None, None)
    np.testing.assert_array_equal(start.at({}, {}, {}).q, state.q)
    longer = start.at({"crank.length": 1.05}, {}, {})
    assert longer["O"] == 1.0 and longer.velocities["O"] == pytest.approx(2.0, abs=1e-12)
    assert 1e-4 < abs(longer["C"] - state["C"]) < 0.2  # the same branch


def test_what_all_others_follow_from_is_chosen_where_nothing_is_said():
    m = cc.Mechanism("loop", gravity=(0, -9.8, 0))
    bars = [m.body(name, cc.rod(length=length, mass=1.0)) for name, length in (("a", 1.0), ("b", 4.0), ("c", 2.5))]
    m.revolute("O", m.ground, bars[0])
    m.revolute("A", bars[0].tip, bars[1])
    m.revolute("C", m.ground.at(3, 0, 0), bars[2])
    m.revolute("B", bars[1].tip, bars[2].tip)
    hold, rates = independent(m.assemble(O=1.0))
    assert len(hold) == 1 and list(hold) == list(rates)


def test_a_spherical_joint_is_held_as_a_whole():
    state = cc.library.gough_stewart().assemble()
    _, rates = independent(state)
    assert len(rates) == 6
    again = start_of(state.mechanism, state, None, None, None).at({"platform.mass": 50.0}, {}, {})
    np.testing.assert_allclose(again.q, state.q, atol=1e-9)


def test_what_is_varied_goes_before_what_is_held():
    start = start_of(FOUR_BAR, {"O": 1.0}, {"O": 3.0}, None, 0.5)
    got = start.at({}, {"O": 1.2}, {"O": 2.0})
    assert got["O"] == pytest.approx(1.2) and got.velocities["O"] == pytest.approx(2.0) and got.t == 0.5
    own = start_of(FOUR_BAR, None, None, None, None).at({}, {}, {})
    np.testing.assert_array_equal(own.q, FOUR_BAR.assemble().q)


@pytest.mark.parametrize(
    ("start", "velocity", "message"),
    [
        (1.0, None, "not 1.0"),
        ({"Q": 1.0}, None, "start: no joint or coordinate is named 'Q'"),
        (cc.library.pendulum().assemble(), None, "belongs to mechanism 'pendulum', not to 'four-bar'"),
        (FOUR_BAR.assemble(), {"O": 1.0}, "leave velocity and guess out"),
    ],
    ids=["number", "unknown", "another", "state with velocity"],
)
def test_starts_that_cannot_be_meant(start, velocity, message):
    with pytest.raises(cc.ModelError, match=message):
        start_of(FOUR_BAR, start, velocity, None, None)
