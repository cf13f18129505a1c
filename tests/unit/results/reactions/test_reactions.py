"""Reactions: flags in the axes asked for, a function of the state, open joints, and samples without an answer."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import closedchain as cc
from tests.invariants import drawings
from tests.invariants.balance import imbalance

ACROSS_X = Rotation.from_euler("y", 90, degrees=True).as_matrix()  # turns the normal of a plane from z to x


def pushed_four_bar(R):
    """The planar four-bar turned by R, pushed along its normal: how the hinges share that is not determined."""
    m = drawings.four_bar(R=R)
    m.force("side", m.bodies["coupler"]["com"], tuple(5.0 * R[:, 2]))
    return m


def flags(got):
    return got["force_unique"].values.tolist(), got["moment_unique"].values.tolist()


# ---- which components are unique -----------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", ["world", "joint"])
@pytest.mark.parametrize("R", [ACROSS_X, drawings.TILT], ids=["across x", "tilted"])
def test_what_is_said_to_be_unique_is_what_no_stiffness_changes(axes, R):
    m = pushed_four_bar(R)
    run = cc.simulate(m, until=0.4, t_eval=[0, 0.2, 0.4])
    for joint in "OABC":
        plain, stiff = (run.reaction(joint, axes, stiffness=k) for k in (None, {"B": 10.0, "O": 3.0}))
        for part in ("force", "moment"):
            changed = np.abs(plain[part] - stiff[part]).max("time").values
            # of some 50 N, rounding is 1e-13 times a few; what does change does so by 1e-4 and more
            assert plain[f"{part}_unique"].values.tolist() == (changed < 1e-9).tolist()
            assert ((changed < 1e-9) | (changed > 1e-4)).all()
            assert plain[f"{part}_unique"].attrs["axes"] == axes


def test_flags_in_world_and_in_joint_axes():
    run = cc.simulate(pushed_four_bar(ACROSS_X), until=0.0)
    assert flags(run.reaction("B")) == ([False, True, True], [True, False, False])
    assert flags(run.reaction("B", axes="joint")) == ([True, True, False], [False, False, True])


def test_a_component_counts_as_unique_if_it_is_so_at_all_samples():
    """A pin that slides along a bar, twice over: what is open is across the bar, wherever the bar points to."""
    m = cc.Mechanism("twice", gravity=(0, -9.81, 0))
    bar, block = (m.body(name, cc.rigid(1.0, com=(0.3, 0, 0), inertia=(0.1, 0.1, 0.1))) for name in ("bar", "block"))
    m.revolute("O", m.ground, bar)
    m.weld("one", bar.at(0.5, 0, 0), block)
    m.weld("two", bar.at(0.5, 0, 0), block, cut=True)
    along = m.body("slider", cc.rigid(1.0, inertia=(0.1, 0.1, 0.1)))
    for name in ("rail", "other rail"):
        m.prismatic(name, bar, along, axis=(1, 0, 0), cut=name == "other rail", guess=0.2)
    m.drive("O", cc.pi / 2 * cc.t)
    m.start = {"rail": 0.2}
    run = cc.simulate(m, until=1.0, t_eval=[0.0, 0.5, 1.0])
    # frictionless along the rail, where nothing is shared: that is x at first, y at last, and neither at all samples
    assert flags(run.reaction("rail", axes="joint"))[0] == [False, False, True]
    assert flags(run.reaction("rail"))[0] == [False, False, False]
    for time, wanted in ((0.0, [True, False, False]), (1.0, [False, True, False])):
        start = m.assemble(rail=0.2, time=time)
        assert flags(cc.simulate(m, start, until=time).reaction("rail"))[0] == wanted


# ---- joints that open and close ------------------------------------------------------------------------------------


def opened(kinds, R=None, motor=None):
    """A four-bar whose joint B lets go after 0.2 s."""
    m = drawings.four_bar(kinds, cut="B", R=R)
    if motor:
        m.motor("B", torque=motor)
    let_go = cc.Event("let go", cc.t - 0.2, then=cc.Switch(open="B"))
    return cc.simulate(m, until=0.4, rtol=1e-10, t_eval=[0, 0.1, 0.3, 0.4], events=[let_go])


def test_a_joint_that_opens_keeps_its_unique_reaction():
    run = opened("RRUS")  # not over-constrained
    for joint in "OABC":
        assert flags(run.reaction(joint)) == ([True] * 3, [True] * 3)
    got = run.reaction("B")
    after = run.t > 0.2 + 1e-9
    assert (np.abs(got["force"].values[~after]).max(axis=1) > 1.0).all()
    assert not got["force"].values[after].any() and not got["moment"].values[after].any()


def test_while_open_it_does_not_share_in_what_others_leave_open():
    """A planar loop: out of the plane nothing is unique while it is closed; without B, all is."""
    run = opened("RRRR")
    assert flags(run.reaction("B")) == ([True, True, False], [False, False, True])
    m = run.mechanism
    later = cc.simulate(m, run.state(-1), until=0.4)
    for joint in "OABC":
        assert flags(later.reaction(joint)) == ([True] * 3, [True] * 3)


def test_a_redundant_hinge_that_opens():
    """All equations of the second hinge repeat those of the first: they are gone from the run, the hinge is not."""
    m = cc.Mechanism("door")
    leaf = m.body("leaf", cc.rigid(mass=20.0, com=(0.4, 0, 1.0), inertia=(6.8, 7.9, 1.1)))
    for name, height in (("low", 0.2), ("high", 1.8)):
        m.revolute(name, m.ground.at(0, 0, height), leaf.at(0, 0, height), cut=name == "high")
    let_go = cc.Event("let go", cc.t - 0.5, then=cc.Switch(open="high"))
    run = cc.simulate(m, m.assemble(low=0.0), until=1.0, t_eval=[0.0, 1.0], events=[let_go])
    low, high = (run.reaction(name)["force"].values[:, 2] for name in ("low", "high"))
    weight = 20 * 9.81
    np.testing.assert_allclose(low[[0, -1]], [weight / 2, weight], rtol=1e-12)
    np.testing.assert_allclose(high[[0, -1]], [weight / 2, 0.0], rtol=1e-12)


def test_a_body_that_is_let_go_has_no_reactions_left():
    m = cc.Mechanism("held")
    body = m.body("body", cc.rigid(2.0, inertia=(0.2, 0.3, 0.25)))
    m.spherical("hand", m.ground, body, cut=True)
    let_go = cc.Event("let go", cc.t - 0.5, then=cc.Switch(open="hand"))
    run = cc.simulate(m, until=1.0, t_eval=[0.0, 1.0], events=[let_go])
    got = run.reaction("hand")
    np.testing.assert_allclose(got["force"].values[[0, -1]], [[0, 0, 2 * 9.81], [0, 0, 0]], atol=1e-12)
    assert flags(got) == ([True] * 3, [True] * 3)


@pytest.mark.parametrize("R", [None, drawings.TILT], ids=["drawn", "tilted"])
def test_a_motor_goes_on_acting_along_an_open_joint(R):
    run = opened("RRRR", R=R, motor=2.0)
    after = run.t > 0.2 + 1e-9
    got = run.reaction("B", axes="joint")
    np.testing.assert_allclose(got["moment"].values[after], [[0, 0, 2.0]] * after.sum(), atol=1e-10)
    assert np.abs(got["force"].values[after]).max() < 1e-10
    assert imbalance(run, [0, 1, -2, -1]) < 1e-9  # differences of states that are exact to 1e-10


def test_a_drive_of_an_open_joint_acts_along_it():
    """The angle of B is held after the pins have come apart."""
    m = drawings.four_bar(cut="B")
    m.drive("B", m.assemble()["B"] + 0.1 * cc.t)
    m.start = {}
    let_go = cc.Event("let go", cc.t - 0.2, then=cc.Switch(open="B"))
    run = cc.simulate(m, until=0.4, rtol=1e-10, t_eval=[0, 0.1, 0.3, 0.4], events=[let_go])
    after = run.t > 0.2 + 1e-9
    given = run["B.drive"].values[after]
    np.testing.assert_allclose(run.reaction("B")["moment"].values[after, 2], given, rtol=1e-9)
    assert np.abs(given).min() > 0.1
    assert imbalance(run, [-2, -1]) < 1e-9  # differences of states that are exact to 1e-10


def test_a_gear_of_an_open_joint_acts_along_it():
    """Two pendulums, the tip of one pinned to nothing: the angle between their tips follows that of the first."""
    m = cc.Mechanism("geared", gravity=(0, -9.81, 0))
    one, two = (m.body(name, cc.rod(1.0, mass=1.0)) for name in ("one", "two"))
    m.revolute("O", m.ground, one, guess=1.0)
    m.revolute("C", m.ground.at(2, 0, 0), two, guess=2.0)
    m.revolute("B", one.tip, two.tip, cut=True, guess=1.0)
    m.couple("link", "B", "O", ratio=0.5, offset=0.5)
    run = cc.simulate(
        m, m.assemble(open_joints=("B",), O=1.0, guess={"C": 2.0}), until=0.2, rtol=1e-10, t_eval=[0, 0.2]
    )
    given = run["link"].values
    np.testing.assert_allclose(run.reaction("B")["moment"].values[:, 2], given, rtol=1e-9)
    assert np.abs(given).min() > 0.1
    assert imbalance(run, [0, 1]) < 1e-9  # differences of states that are exact to 1e-10


# ---- a function of the state ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sarrus", "bennett", "storeys"])
def test_reactions_are_a_function_of_the_state(name):
    """Seen from any start, and in a mechanism that is turned as a whole."""
    m = drawings.storeys(1, 3) if name == "storeys" else getattr(drawings, name)()
    run = cc.simulate(m, until=0.4, rtol=1e-10, t_eval=[0, 0.2, 0.4])
    again = cc.simulate(m, run.state(-1), until=0.4)
    shared = False
    for joint in m.joints:
        whole, alone = run.reaction(joint), again.reaction(joint)
        shared |= not (whole["force_unique"].all() and whole["moment_unique"].all())
        for part in ("force", "moment"):
            # of some 10 N: nothing but rounding, the state is the same
            np.testing.assert_allclose(whole[part].values[-1], alone[part].values[0], rtol=0, atol=1e-9)
    assert shared


def test_a_turned_drawing_has_the_same_reactions():
    """The push is shared by moments too, which count by a length that must not depend on directions."""
    runs = [
        cc.simulate(pushed_four_bar(R), until=0.4, rtol=1e-11, t_eval=[0.0, 0.4]) for R in (ACROSS_X, drawings.TILT)
    ]
    for joint in "OABC":
        one, two = (run.reaction(joint, axes="joint") for run in runs)
        for part in ("force", "moment"):
            # runs of a tolerance of 1e-11, forces of some 50 N
            np.testing.assert_allclose(one[part].values, two[part].values, rtol=0, atol=1e-7)


def test_moments_count_by_the_size_of_the_largest_body():
    """A beam clamped at both ends under a couple: by symmetry each clamp carries a force F and a moment M.

    With arms of h = L / 2 to each side, 2 M + 2 F h = T. Least of 2 F^2 + 2 M^2 / L^2: F = M h / L^2 = M / (2 L).
    """
    length, couple = 3.0, 7.0
    m = cc.Mechanism("beam", gravity=(0, 0, 0))
    beam = m.body("beam", cc.rigid(1.0, inertia=(0.1, 0.1, 0.1)))
    for name, x in (("left", -length / 2), ("right", length / 2)):
        m.weld(name, m.ground.at(x, 0, 0), beam.at(x, 0, 0))
    m.revolute("other", m.ground.at(9, 0, 0), m.body("arm", cc.rod(1.0, mass=1.0)))  # something must move
    m.force("couple", beam, (0, 0, 0), moment=(0, 0, couple))
    run = cc.simulate(m, until=0.0)
    M = couple / (2 + 2 * (length / 2) / (2 * length))
    for name, sign in (("left", 1), ("right", -1)):
        got = run.reaction(name)
        np.testing.assert_allclose(got["moment"].values[0], [0, 0, -M], atol=1e-12)
        np.testing.assert_allclose(got["force"].values[0], [0, sign * M / (2 * length), 0], atol=1e-12)


# ---- samples without an answer -------------------------------------------------------------------------------------


def driven_parallelogram():
    """Driven through the pose in which all rods lie in one line: there no finite force moves the coupler as it must."""
    m = cc.Mechanism("parallelogram", gravity=(0, -9.81, 0))
    near, coupler, far = (
        m.body(name, cc.rod(x, mass=x)) for name, x in (("near", 1.0), ("coupler", 2.0), ("far", 1.0))
    )
    m.revolute("O0", m.ground, near, guess=1.0)
    m.revolute("O1", m.ground.at(2, 0, 0), far, guess=1.0)
    m.revolute("A", near.tip, coupler, guess=-1.0)
    m.revolute("B", coupler.tip, far.tip, guess=1.0)
    m.drive("O0", 1 - cc.t)
    return m


@pytest.mark.filterwarnings("ignore:energy of")  # at the singular pose
def test_a_sample_at_a_singular_pose_has_no_reaction_and_the_others_do():
    # with a tolerance near rounding the processor decides how close to the pose the sample comes
    run = cc.simulate(driven_parallelogram(), until=2.0, rtol=1e-9, t_eval=[0.0, 0.5, 1.0, 1.5, 2.0])
    got = run.reaction("B")
    for part in ("force", "moment"):
        assert np.isnan(got[part].values[2]).all() and np.isfinite(got[part].values[[0, 1, 3, 4]]).all()
    assert flags(got) == ([True, True, False], [False, False, True])
    np.testing.assert_allclose(got["force"].values[0, :2], run["lam"].values[0, :2], rtol=1e-9)


@pytest.mark.filterwarnings("ignore:energy of")  # at the singular pose
def test_a_run_without_any_balanced_sample_is_refused():
    run = cc.simulate(driven_parallelogram(), until=2.0, rtol=1e-9, t_eval=[1.0])
    with pytest.raises(cc.ModelError, match="do not balance the bodies at t = 1 s"):
        run.reaction("B")


# ---- in any axes, about any point, on either body ------------------------------------------------------------------


@pytest.fixture(scope="module")
def pushed():
    """Over-constrained, in a tilted plane; named frames on a body that moves, and on the ground."""
    m = pushed_four_bar(drawings.TILT)
    m.bodies["coupler"].frame("gauge", at=(0.4, -0.3, 0.2), rpy=(0.3, -0.5, 0.8))
    m.ground.frame("bench", at=(3.0, 1.0, -2.0), rpy=(0.2, 0.1, -0.4))
    return cc.simulate(m, until=0.4, t_eval=[0.0, 0.2, 0.4])


@pytest.mark.parametrize("place", ["coupler.gauge", "ground.bench", "rocker"])
@pytest.mark.parametrize("joint", ["A", "B"])
def test_axes_of_a_frame(pushed, joint, place):
    world, turned, R = pushed.reaction(joint), pushed.reaction(joint, place), pushed.frame(place)["rotation"].values
    for part in ("force", "moment"):
        back = np.einsum("tij,tj->ti", R, turned[part].values)
        np.testing.assert_allclose(back, world[part], rtol=0, atol=1e-12)  # of some 50 N
    assert turned.attrs["axes"] == (place if "." in place else f"{place}.origin")


@pytest.mark.parametrize("place", ["coupler.gauge", "ground.bench"])
def test_moment_about_a_frame(pushed, place):
    plain, other = pushed.reaction("B"), pushed.reaction("B", about=place)
    second = pushed.frame(pushed.mechanism.joints["B"].b)["position"].values
    arm = second - pushed.frame(place)["position"].values
    wanted = plain["moment"].values + np.cross(arm, plain["force"].values)
    np.testing.assert_allclose(other["moment"], wanted, rtol=0, atol=1e-11)  # of some 100 N m
    np.testing.assert_array_equal(other["force"], plain["force"])
    assert other.attrs["moment_about"] == place


@pytest.mark.parametrize("axes", ["coupler.gauge", "ground.bench", "second"])
@pytest.mark.parametrize("about", ["second", "coupler.gauge", "ground.bench"])
def test_flags_in_any_axes_and_about_any_point(pushed, axes, about):
    """What is said to be unique is what no stiffness changes."""
    weighed = {"B": 10.0, "O": 3.0}
    for joint in "OABC":
        plain, stiff = (pushed.reaction(joint, axes, k, about=about) for k in (None, weighed))
        for part in ("force", "moment"):
            changed = np.abs(plain[part] - stiff[part]).max("time").values
            # of some 50 N, rounding is 1e-13 times a few; what does change does so by 1e-4 and more
            assert plain[f"{part}_unique"].values.tolist() == (changed < 1e-9).tolist()
            assert ((changed < 1e-9) | (changed > 1e-4)).all()


def test_a_frame_that_brings_what_is_unique_to_its_axes():
    """Tilted in the world nothing is unique by itself; in axes of the plane the force in it is."""
    run = cc.simulate(pushed_four_bar(drawings.TILT), until=0.0)
    flat = run.mechanism.ground.at(R=drawings.TILT.tolist())
    assert flags(run.reaction("B"))[0] == [False] * 3
    assert flags(run.reaction("B", flat)) == ([True, True, False], [False, False, True])


def test_a_moment_that_is_unique_about_one_point_only():
    """A beam on two balls: each pulls at the other by an unknown force along the beam, with a moment beside it."""
    m = cc.Mechanism("beam")
    beam = m.body("beam", cc.rigid(1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1)))
    m.spherical("left", m.ground, beam)
    m.spherical("right", m.ground.at(1, 0, 0), beam.at(1, 0, 0), cut=True)
    run = cc.simulate(m, until=0.0)
    assert flags(run.reaction("left")) == ([False, True, True], [True] * 3)
    assert flags(run.reaction("left", about=beam.at(0.3, 0, 0))) == ([False, True, True], [True] * 3)
    assert flags(run.reaction("left", about=beam.at(0, 0.2, 0))) == ([False, True, True], [True, True, False])


def test_first_and_second_frame():
    """A slide: its two frames are apart along the rail, and turned alike; a cylinder is turned too."""
    m = cc.Mechanism("plunger")
    plunger = m.body("plunger", cc.rigid(2.0, inertia=(0.1, 0.2, 0.3)))
    m.cylindrical("tube", m.ground.at(rpy=(0.3, 0.2, 0.1)), plunger, axis=(1, 0, 0))
    run = cc.simulate(m, m.assemble({"tube.angle": 0.7, "tube.slide": 0.5}), until=0.0)
    joint = m.joints["tube"]
    weight = 2.0 * 9.81
    at_second, at_first = run.reaction("tube"), run.reaction("tube", about="first")
    np.testing.assert_allclose(at_second["moment"].values, 0, atol=1e-13)
    arm = (run.frame(joint.b)["position"] - run.frame(joint.a)["position"]).values[0]
    assert np.linalg.norm(arm) == pytest.approx(0.5)
    np.testing.assert_allclose(at_first["moment"].values[0], np.cross(arm, at_second["force"].values[0]), atol=1e-13)
    for axes in ("joint", "second"):
        got = run.reaction("tube", axes)["force"].values[0]
        assert abs(got[2]) < 1e-13 and 0.9 * weight < np.linalg.norm(got) < weight  # none along the tube
    first, second = (run.reaction("tube", axes)["force"].values[0, :2] for axes in ("joint", "second"))
    c, s = np.cos(0.7), np.sin(0.7)
    np.testing.assert_allclose(second, [[c, s], [-s, c]] @ first, atol=1e-13)


def test_on_either_body(pushed):
    plain = pushed.reaction("B")
    first, second = (getattr(pushed.mechanism.joints["B"], side).body for side in "ab")
    for on, sign in ((second, 1), (second.name, 1), (first, -1), (first.name, -1)):
        got = pushed.reaction("B", on=on)
        np.testing.assert_array_equal(got["force"], sign * plain["force"])
        np.testing.assert_array_equal(got["moment"], sign * plain["moment"])
        assert got.attrs["on"] == (second if sign == 1 else first).name
        assert got.attrs["of"] == (first if sign == 1 else second).name


def test_all_joints_in_one_table(pushed):
    table = pushed.reactions("coupler.gauge", about="first")
    assert table["force"].dims == ("time", "joint", "axis")
    for joint in "OABC":
        one = pushed.reaction(joint, "coupler.gauge", about="first")
        for name in one:
            np.testing.assert_array_equal(table[name].sel(joint=joint), one[name])
    frame = table.to_dataframe()
    assert len(frame) == 3 * 4 * 3 and list(frame) == ["force", "moment", "force_unique", "moment_unique"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"axes": "joints"}, "axes must be one of 'world', 'joint', 'second', or a frame, not 'joints'"),
        ({"axes": "coupler.gaugee"}, "body 'coupler' has no frame 'gaugee'; did you mean 'gauge'"),
        ({"axes": 3}, "axes must be one of .* not 3"),
        ({"about": "joint"}, "about must be one of 'second', 'first', or a frame, not 'joint'"),
        ({"about": ["O"]}, "about must be one of"),
        ({"on": "rockr"}, "joint 'B' acts on 'coupler' and 'rocker', not on 'rockr'"),
        ({"on": "ground"}, "joint 'B' acts on 'coupler' and 'rocker', not on 'ground'"),
    ],
)
def test_what_is_not_understood(pushed, options, words):
    with pytest.raises(cc.ModelError, match=words):
        pushed.reaction("B", **options)


def test_a_frame_of_another_mechanism(pushed):
    with pytest.raises(cc.ModelError, match=r"frame crank\.near belongs to another mechanism"):
        pushed.reaction("B", drawings.four_bar().bodies["crank"]["near"])
    with pytest.raises(cc.ModelError, match=r"frame crank\.origin belongs to another mechanism"):
        pushed.reaction("B", about=drawings.four_bar().bodies["crank"])
