"""What a controller sees."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.march.controllers.controller_view import Now, names
from closedchain.pose.state import parameter_vector


def now_at(m, state):
    return Now(derive(m), state.t, state.q.copy(), state.v.copy(), parameter_vector(m))


@pytest.fixture(scope="module")
def four_bar():
    m = cc.library.four_bar()
    state = m.assemble(O=1.2, velocity={"O": 0.7})
    return m, state, now_at(m, state)


def test_coordinates_and_velocities_of_all_joints_cut_or_not(four_bar):
    _, state, now = four_bar
    for joint in "OABC":
        assert now[joint] == pytest.approx(state.coordinates[joint], abs=1e-15)
        assert now[f"{joint}'"] == pytest.approx(state.velocities[joint], abs=1e-15)
    assert now["O"] == pytest.approx(1.2) and now["O'"] == pytest.approx(0.7)
    assert isinstance(now["O"], float)


def test_frames_by_name(four_bar):
    _, _, now = four_bar
    tip = np.array([np.cos(1.2), np.sin(1.2), 0.0])  # of a crank of 1 m
    np.testing.assert_allclose(now.place("crank.tip"), tip, atol=1e-15)
    np.testing.assert_allclose(now.speed("crank.tip"), 0.7 * np.array([-tip[1], tip[0], 0.0]), atol=1e-15)
    np.testing.assert_allclose(now.place("crank"), np.zeros(3), atol=1e-15)


def test_the_same_drawing_in_another_state(four_bar):
    """What was prepared for one instant serves the next."""
    m, _, _ = four_bar
    other = m.assemble(O=0.3)
    np.testing.assert_allclose(now_at(m, other).place("crank.tip"), [np.cos(0.3), np.sin(0.3), 0], atol=1e-15)
    assert now_at(m, other)["O"] == pytest.approx(0.3)


def test_names_are_those_of_a_run():
    """Also of joints with several freedoms, and of quaternions, whose rates are angular velocities."""
    for build in (cc.library.four_bar, cc.library.walker):
        m = build()
        run = cc.simulate(m, until=0.0)
        now = now_at(m, run.state(0))
        for name in names(derive(m)):
            assert now[name] == pytest.approx(float(run[name][0]), abs=1e-12)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda now: now["o"], "a controller asks for 'o'"),
        (lambda now: now["O''"], "did you mean \"O'\" or 'O'"),
        (lambda now: now[0], "a controller asks for 0; known: 'O'"),
        (lambda now: now.place("copler.tip"), "did you mean 'coupler"),
        (lambda now: now.speed("coupler.tp"), "did you mean 'coupler.tip'|did you mean 'tip'"),
    ],
)
def test_unknown_names(four_bar, ask, words):
    with pytest.raises(cc.ModelError, match=words):
        ask(four_bar[2])


def test_a_controller_does_not_change_the_state(four_bar):
    now = four_bar[2]
    for array in (now.q, now.v):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5.0
