"""States: every joint by name, cut or not, at the state's own parameter values."""

import copy

import numpy as np
import pytest

import closedchain as cc
from closedchain.pose.state import joint_values, parameter_vector


def test_coordinates_of_all_joints_cut_or_not():
    m = cc.library.four_bar()
    state = m.assemble(O=1.0, velocity={"O": 2.0})
    q, v = state.coordinates, state.velocities

    assert list(q) == list(v) == ["O", "A", "C", "B"]
    # angles of a closed loop add up: rocker = crank + coupler + pin
    assert q["O"] + q["A"] + q["B"] == pytest.approx(q["C"], abs=1e-12)
    assert v["O"] + v["A"] + v["B"] == pytest.approx(v["C"], abs=1e-12)
    assert state["B"] == q["B"]


def test_names_of_joints_with_several_coordinates():
    state = cc.library.gough_stewart().assemble()

    assert "pose.qw" in state.coordinates and "pose.wx" in state.velocities
    assert "leg1 base.angle1" in state.coordinates and "leg1 ball.qw" in state.coordinates
    assert len(state.coordinates) == 7 + 6 * (2 + 1 + 4)
    assert len(state.velocities) == 6 + 6 * (2 + 1 + 3)


def test_the_quaternion_of_a_cut_ball_is_the_rotation_between_the_bodies():
    """Seen from the leg, the platform is turned by the inverse of the leg's angles and then by its own tilt."""
    state = cc.library.gough_stewart(tilt=0.1).assemble()
    azimuth, polar = state["leg1 base.angle1"], state["leg1 base.angle2"]

    def Ry(a):
        return np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])

    Rz = np.array([[np.cos(azimuth), -np.sin(azimuth), 0], [np.sin(azimuth), np.cos(azimuth), 0], [0, 0, 1]])
    R = (Rz @ Ry(polar)).T @ Ry(0.1)
    w, x, y, z = (state[f"leg1 ball.{c}"] for c in ("qw", "qx", "qy", "qz"))
    measured = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )

    np.testing.assert_allclose(measured, R, atol=1e-9)  # the pose is assembled to 1e-11
    assert w >= 0


def test_an_unknown_coordinate_suggests():
    with pytest.raises(cc.ModelError, match="mechanism 'four-bar' has no coordinate 'o'; known: 'O', 'A', 'C', 'B'"):
        cc.library.four_bar().assemble()["o"]


def test_repr_shows_numbers():
    assert repr(cc.library.pendulum().assemble(hinge=0.25)) == "State('pendulum': hinge=0.25)"


def test_values_are_taken_at_the_state_s_own_parameters():
    """Two hinges about one axis, the cut one measured from a line that a parameter turns."""
    m = cc.Mechanism("dial", gravity=(0, 0, 0))
    hand = m.body("hand", cc.rod(1.0, 1.0))
    m.revolute("A", m.ground, hand)
    m.revolute("B", m.ground.at(rpy=(0, 0, m.parameter("yaw", 0.1))), hand, cut=True)

    assert m.assemble(A=0.5)["B"] == pytest.approx(0.4, abs=1e-15)
    assert m.assemble(A=0.5, parameters={"yaw": 0.3})["B"] == pytest.approx(0.2, abs=1e-15)


def test_parameter_vector_is_in_the_order_of_the_names():
    m = cc.library.four_bar()
    p = parameter_vector(m, {"crank.mass": 7.0})

    assert dict(zip(m.parameters, p, strict=True)) == {**m.parameters, "crank.mass": 7.0}
    np.testing.assert_array_equal(parameter_vector(m), list(m.parameters.values()))


def test_joint_values_are_traced_once():
    m = cc.library.four_bar()

    assert joint_values(m) is joint_values(m)


def test_a_state_of_an_older_drawing_says_so():
    """Its numbers belong to bodies that have other places now."""
    m = cc.library.double_pendulum()
    state = m.assemble()
    m.revolute("wrist", m.bodies["lower"].tip, m.body("hand", cc.rod(1.0, 1.0)))

    with pytest.raises(cc.ModelError, match="assemble"):
        state["shoulder"]


def test_a_state_survives_what_does_not_move_its_numbers():
    """A force or a spring changes the drawing, not the meaning of the coordinates."""
    m = cc.library.double_pendulum()
    state = m.assemble(shoulder=0.3)
    m.force("push", m.bodies["lower"].tip, (1.0, 0, 0))

    assert state["shoulder"] == 0.3


@pytest.mark.parametrize(
    ("q", "v", "sentence"),
    [
        (
            [0.1, 0.2, 0.3],
            [0, 0],
            r"q of this state of 'double-pendulum' has 3 numbers, but .* needs 2 \(shoulder, elbow",
        ),
        ([0.1], [0, 0], "q of this state of 'double-pendulum' has 1 number, but"),
        ([0.1, 0.2], [0, 0, 0], "v of this state of 'double-pendulum' has 3 numbers, but the drawing needs 2"),
        ([[0.1, 0.2]], [0, 0], r"q of this state of 'double-pendulum' has an array of shape \(1, 2\)"),
        (0.1, [0, 0], r"an array of shape \(\)"),
        ([0.1, np.nan], [0, 0], "not finite: 'elbow' is nan in q"),
        ([0.1, 0.2], [-np.inf, 0], "not finite: 'shoulder' is -inf in v"),
    ],
)
def test_wrong_numbers_are_told_as_what_they_are(q, v, sentence):
    m = cc.library.double_pendulum()
    state = cc.State(m, q, v)
    for ask in (state.check, lambda: cc.simulate(m, state, until=0.1), lambda: m.mobility(state)):
        with pytest.raises(cc.ModelError, match=sentence) as told:
            ask()
        assert "older drawing" not in str(told.value)


@pytest.mark.parametrize(("q", "v"), [("ab", [0, 0]), ([0, "\0"], [0, 0]), ([0, 0], [0, None, {}])])
def test_what_is_no_number_is_refused_at_once(q, v):
    with pytest.raises(cc.ModelError, match=r"^[qv] of a state of 'double-pendulum' takes numbers, not"):
        cc.State(cc.library.double_pendulum(), q, v)


def test_a_state_may_be_given_as_lists():
    m = cc.library.double_pendulum()
    run = cc.simulate(m, cc.State(m, [0.1, 0.2], [0, 0]), until=0.1)
    np.testing.assert_array_equal(
        run["elbow"].values, cc.simulate(m, m.assemble(shoulder=0.1, elbow=0.2), until=0.1)["elbow"]
    )


# ---- copies ----------------------------------------------------------------------------------------------------------


def test_a_copied_state_is_one_of_its_copy_and_of_the_original():
    m = cc.library.gough_stewart()
    state = m.assemble()
    other = copy.deepcopy(state)

    assert other.mechanism is not m and other.of(other.mechanism) is other
    assert other.of(m).mechanism is m and other.of(m).q is other.q
    assert state.of(m) is state
    assert m.mobility(other).true == m.mobility(state).true


def test_forces_do_not_change_whose_state_it_is():
    m = cc.library.double_pendulum()
    state = copy.deepcopy(m.assemble(shoulder=0.3))
    m.force("push", m.bodies["lower"].tip, (1.0, 0, 0))

    assert state.of(m)["shoulder"] == 0.3


def drawn(at=1.0, axis=(0, 0, 1), kind="revolute", first="arm"):
    m = cc.Mechanism("pair", gravity=(0, 0, 0))
    arm, hand = m.body("arm", cc.rod(1.0, 1.0, radius=0.1)), m.body("hand", cc.rod(1.0, 1.0, radius=0.1))
    m.revolute("A", m.ground, {"arm": arm, "hand": hand}[first])
    m.joint(kind, "B", arm.at(at, 0, 0), hand, axis=axis)
    return m


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"at": 1.5}, r"joint 'B' is at \(1, 0, 0\) on 'arm' there, at \(1\.5, 0, 0\) here"),
        ({"axis": (0, 1, 0)}, "joint 'B' has another axis or pitch there than here"),
        ({"kind": "prismatic"}, "joint 'B' is a revolute joint from 'arm' to 'hand' there, 'B' a prismatic joint"),
    ],
)
def test_another_drawing_of_the_same_name_says_what_differs(change, reason):
    with pytest.raises(cc.ModelError, match=f"the state belongs to mechanism 'pair', not to 'pair', .*: {reason}"):
        drawn().assemble().of(drawn(**change))


def test_other_coordinates_are_named():
    m = drawn()
    state = copy.deepcopy(m.assemble())
    m.revolute("C", m.bodies["hand"].tip, m.body("tool", cc.rod(1.0, 1.0)))
    with pytest.raises(cc.ModelError, match=r"its coordinates are \(A, B\), not \(A, B, C\)"):
        cc.simulate(m, state, until=0.1)
    with pytest.raises(cc.ModelError, match=r"older drawing, whose coordinates were \(A, B\) and not \(A, B, C\)"):
        cc.simulate(state.mechanism, _grown(state), until=0.1)


def _grown(state):
    m = state.mechanism
    m.revolute("C", m.bodies["hand"].tip, m.body("tool", cc.rod(1.0, 1.0)))
    return state


def test_a_state_at_another_time_has_the_same_coordinates():
    state = cc.library.four_bar().assemble(O=1.0, velocity={"O": 2.0})
    late = state.at(2)
    assert (state.t, late.t) == (0.0, 2.0) and late.mechanism is state.mechanism
    assert late.coordinates == state.coordinates and late.velocities == state.velocities
    with pytest.raises(cc.ModelError, match="time must be a finite number, not 'now'"):
        state.at("now")
