"""Starts of a study, and what changes them."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.studies.start import Start, independent, start_of

FOUR_BAR = cc.library.four_bar()


def test_a_state_keeps_what_is_independent():
    state = FOUR_BAR.assemble(O=1.0, velocity={"O": 2.0})
    assert independent(state) == ({"O": 1.0}, {"O": pytest.approx(2.0)})  # where the motor is
    start = start_of(FOUR_BAR, state)
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
    again = start_of(state.mechanism, state).at({"platform.mass": 50.0}, {}, {})
    np.testing.assert_allclose(again.q, state.q, atol=1e-9)


def test_what_is_varied_goes_before_what_is_held():
    start = start_of(FOUR_BAR, Start({"O": 1.0}, velocity={"O": 3.0}, time=0.5))
    got = start.at({}, {"O": 1.2}, {"O": 2.0})
    assert got["O"] == pytest.approx(1.2) and got.velocities["O"] == pytest.approx(2.0) and got.t == 0.5
    own = start_of(FOUR_BAR, None).at({}, {}, {})
    np.testing.assert_array_equal(own.q, FOUR_BAR.assemble().q)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: 1.0, "not 1.0"),
        (lambda: {"Q": 1.0}, "start: no joint or coordinate is named 'Q'"),
        (cc.library.pendulum().assemble, "belongs to mechanism 'pendulum', not to 'four-bar'"),
        (lambda: Start(FOUR_BAR.assemble(), velocity={"O": 1.0}), "Start: coordinates takes values by joint"),
        (lambda: Start(guess=0.5), "Start: guess takes values by joint"),
        (lambda: Start(velocity=[1.0]), "Start: velocity takes values by joint"),
        (lambda: Start(time="noon"), "Start: time must be a finite number, not 'noon'"),
    ],
    ids=["number", "unknown", "another", "state with velocity", "guess", "velocity", "time"],
)
def test_starts_that_cannot_be_meant(made, message):
    with pytest.raises(cc.ModelError, match=message):
        start_of(FOUR_BAR, made())


def test_the_mechanisms_own_start_takes_other_velocities_and_times():
    m = cc.library.pendulum()
    usual, changed = start_of(m, None), start_of(m, Start(velocity={"hinge": 2.0}, time=1.5))
    assert changed.hold == usual.hold and changed.velocity == {**usual.velocity, "hinge": 2.0} and changed.time == 1.5
