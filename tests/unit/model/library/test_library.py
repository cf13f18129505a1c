"""The library: every mechanism builds, is found by name, and starts from a closed state without being told how."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import closedchain as cc
from closedchain.march.program.compiled import compiled
from closedchain.model.library import MECHANISMS, get

# joints, bodies, freedoms of the drawing: counted by hand
COUNTS = {
    "pendulum": (1, 1, 1),
    "double-pendulum": (2, 2, 2),
    "four-bar": (4, 3, 1),
    "slider-crank": (4, 3, 1),
    "five-bar": (5, 4, 2),
    "rrr3": (9, 7, 3),
    "gough-stewart": (19, 13, 6),  # the free joint that says where the platform is counts as one
    "four-bar-chain": (16, 11, 1),
    "pacdrive": (11, 8, 2),
    "delta": (16, 10, 3),
    "hexaglide": (19, 13, 6),
    "arms-with-box": (22, 19, 6),
    "hexapod": (25, 19, 6),
    "walker": (17, 13, 6),
}


def test_all_are_counted():
    assert set(COUNTS) == set(MECHANISMS)


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_of_the_library(name):
    entry = get(name)
    m = entry.build()
    start = m.assemble()
    program = compiled(start, cc.Multipliers())
    joints, bodies, freedoms = COUNTS[name]

    assert m.name == name and entry.until > 0 and entry.about
    assert (len(m.joints), len(m.bodies)) == (joints, bodies)
    assert start.topology.nv - len(program.rows) == freedoms
    assert start.v.any() == bool(m.start_velocity)
    assert all(start.velocities[key] == pytest.approx(rate, abs=1e-12) for key, rate in m.start_velocity.items())
    assert all(start[key] == pytest.approx(value, abs=1e-12) for key, value in m.start.items())  # held to rounding


@pytest.mark.parametrize("name", MECHANISMS)
def test_two_of_a_kind_are_independent(name):
    build = MECHANISMS[name].build
    first, second = build(), build()
    key = next(iter(first.parameters))
    before = second.parameters[key]
    first.parameters[key] += 1.0

    assert second.parameters[key] == before


def test_names_with_underscores():
    assert get("four_bar") is get("four-bar")


def test_an_unknown_name_suggests():
    with pytest.raises(cc.ModelError, match="the library has no mechanism 'fourbar'; did you mean 'four-bar'"):
        get("fourbar")


@pytest.mark.parametrize("drive", ["pd", "open", "none"])
def test_drives_of_the_platform(drive):
    m = cc.library.gough_stewart(drive=drive)

    assert len(m.motors) == (0 if drive == "none" else 6)


def test_an_unknown_drive_is_refused():
    with pytest.raises(cc.ModelError, match=r"gough_stewart: drive must be .*not 'manual'"):
        cc.library.gough_stewart(drive="manual")


def test_the_platform_starts_where_it_is_told():
    m = cc.library.gough_stewart(position=(-1.4, 0.0, 1.6), tilt=0.2)
    run = cc.simulate(m, until=1e-3, t_eval=[0.0])
    pose = run.frame("platform")
    c, s = np.cos(0.2), np.sin(0.2)

    # assembled to 1e-11
    np.testing.assert_allclose(pose["position"][0], [-1.4, 0.0, 1.6], atol=1e-9)
    np.testing.assert_allclose(pose["rotation"][0], [[c, 0, s], [0, 1, 0], [-s, 0, c]], atol=1e-9)


def test_numbers_of_the_four_bar():
    """Wang, Gosselin and Cheng (2002), section 3.1."""
    m = cc.library.four_bar()
    lengths = [m.parameters[f"{name}.length"] for name in ("crank", "coupler", "rocker")]

    assert lengths == [1.0, 4.0, 2.5] and m.parameters["ground.C.x"] == 3.0
    assert m.parameters["O.motor"] == 6.0 and m.parameters["gravity.y"] == -9.8


def test_numbers_may_be_given_as_arguments():
    assert cc.library.pendulum(length=2.0).parameters["arm.length"] == 2.0
    assert cc.library.slider_crank(g=9.81).parameters["gravity.y"] == -9.81
    assert cc.library.five_bar(torques=(1.0, 2.0)).parameters["right amplitude"] == 2.0
    assert str(cc.library.four_bar(torque=lambda t: cc.math.sin(t)).motors["O.motor"].effort) == "sin(t)"


# ---- drives and options ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "drives"),
    [
        (cc.library.pacdrive, {"smooth": 2, "step": 2, "pick": 2, "none": 0}),
        (cc.library.delta, {"move": 3, "none": 0}),
        (cc.library.hexaglide, {"move": 6, "none": 0}),
        (cc.library.hexapod, {"rise": 18, "none": 0}),
        (cc.library.walker, {"rise": 12, "none": 0}),
        (cc.library.arms_with_box, {"lift": 18, "none": 0}),
    ],
)
def test_drives(build, drives):
    assert {drive: len(build(drive=drive).motors) for drive in drives} == drives
    with pytest.raises(cc.ModelError, match=rf"{build.__name__}: drive must be '.*' or 'none', not 'manual'"):
        build(drive="manual")


def start_of(m):
    return cc.simulate(m, until=0.0)


@pytest.mark.parametrize("name", ["delta", "hexaglide", "walker"])
def test_servos_hold_their_mechanism_at_the_start(name):
    """The pulls that were foreseen are those that the weights need, where the weights are balanced."""
    m = MECHANISMS[name].build()
    m.parameters.update({key: 0.0 for key in m.parameters if key.endswith(" stroke")})
    run = start_of(m)
    driven = [motor.joint for motor in m.motors.values()]

    # rad/s^2 or m/s^2, against 10 and more without them: found by differences of 1e-5
    assert max(abs(float(run[f"{joint}''"][0])) for joint in driven) < 1e-6


@pytest.mark.parametrize(
    ("name", "goal", "within"),
    [
        ("delta", (0.15, 0.1, -0.75), 0.02),
        ("hexaglide", (0.15, 0.06, -0.64), 0.01),
        ("arms-with-box", (0.0, 0.0, 0.55), 0.01),
        ("hexapod", (0.0, 0.0, 0.388860420001), 0.01),
    ],
)
def test_servos_come_near_their_goal_and_back(name, goal, within):
    m = MECHANISMS[name].build()
    period = 0.5 if name == "delta" else 2.0
    place = cc.simulate(m, until=period, t_eval=[0.0, period / 2, period]).frame(m.output).position.values

    np.testing.assert_allclose(place[1], goal, atol=within)  # what a controller without feed-forward of inertia leaves
    np.testing.assert_allclose(place[2], place[0], atol=within + 0.01)


def test_the_platform_of_the_delta_does_not_turn():
    m = cc.library.delta()
    rotation = cc.simulate(m, until=0.5, rtol=1e-10).frame("platform").rotation.values

    np.testing.assert_allclose(rotation, np.broadcast_to(np.eye(3), rotation.shape), atol=1e-12)  # closed to rounding


def test_the_delta_and_the_hexaglide_start_where_they_are_told():
    delta = start_of(cc.library.delta(position=(0.05, 0.1, -0.7))).frame("platform")
    glide = start_of(cc.library.hexaglide(pose=(0.1, -0.05, -0.65, 0.1, 0.05, -0.1))).frame("platform")
    turned = Rotation.from_euler("xyz", [0.1, 0.05, -0.1]).as_matrix()

    # assembled to 1e-11
    np.testing.assert_allclose(delta["position"][0], [0.05, 0.1, -0.7], atol=1e-9)
    np.testing.assert_allclose(glide["position"][0], [0.1, -0.05, -0.65], atol=1e-9)
    np.testing.assert_allclose(glide["rotation"][0], turned, atol=1e-9)


@pytest.mark.parametrize(
    ("contact", "arms", "joints", "freedoms"),
    [
        ("rigid", 2, 6, 6),
        ("point", 3, 6, 15),  # each hand turns about its point
        ("soft", 3, 6, 12),  # ... about two axes
        ("point", 3, 3, 6),
        ("point", 4, 3, 6),
        ("rigid", 1, 6, 6),
    ],
)
def test_arms_and_contacts(contact, arms, joints, freedoms):
    m = cc.library.arms_with_box(contact, arms, joints=joints)
    start = m.assemble()

    assert m.mobility(start).true == freedoms
    # the inverse kinematics closes the loops: nothing is left for the assembly to find
    guesses = [joint.guess[0] for joint in m.joints.values() if joint.type.name == "revolute"]
    np.testing.assert_allclose(
        [start[j.name] for j in m.joints.values() if j.type.name == "revolute"], guesses, atol=1e-9
    )


def test_arms_lift_the_box_on_points():
    m = cc.library.arms_with_box("point")
    run = cc.simulate(m, until=1.0)

    assert run.good and run.complaints() == []
    np.testing.assert_allclose(run.frame("box").position.values[-1], [0.0, 0.0, 0.55], atol=0.02)  # what servos leave


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cc.library.arms_with_box("magnet"), "contact must be 'rigid', 'point' or 'soft', not 'magnet'"),
        (lambda: cc.library.arms_with_box(joints=4), "joints must be 3 or 6, not 4"),
        (lambda: cc.library.arms_with_box(joints=3), "three joints cannot turn their tips"),
        (lambda: cc.library.arms_with_box(arms=0), "arms must be a whole number of at least 1, not 0"),
        (lambda: cc.library.arms_with_box(grasps=[(np.eye(3), (0, 0, 0))]), "one grasp for each of the 3 arms, not 1"),
        (lambda: cc.library.walker(legs=2), "does not stand on 2 points"),
        (lambda: cc.library.four_bar_chain(0), "n must be a whole number of at least 1, not 0"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(cc.ModelError, match=message):
        call()


# ---- legs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("legs", [3, 5])
def test_walkers_stand_on_any_number_of_legs(legs):
    m = cc.library.walker(legs)
    start = m.assemble()

    assert len(m.joints) == 1 + 4 * legs and m.mobility(start).true == 6
    assert start["leg1 knee"] == pytest.approx(-1.7, abs=1e-12)  # the body is where the stance has it


def test_feet_of_the_walker_carry_its_weight():
    m = cc.library.walker()
    run = start_of(m)
    weight = 9.81 * sum(m.values()(body.properties.mass) for body in m.bodies.values())
    forces = [run.reaction(f"leg{k} foot").force.values[0] for k in range(1, 5)]

    np.testing.assert_allclose(np.sum(forces, axis=0), [0.0, 0.0, weight], atol=1e-6)  # held by differences of 1e-5
    np.testing.assert_allclose(forces, np.tile([0.0, 0.0, weight / 4], (4, 1)), atol=1e-6)


def test_a_foot_is_put_down_and_lifted():
    """The way to its place is found backwards in time, from the moment of touch-down at 0 s; it lifts at 0.1 s."""
    m = cc.library.walker(drive="none")  # backwards in time, servos would feed energy in
    standing, foot = m.assemble(), ("leg1 foot",)
    v = m.assemble(dict(m.start), open_joints=foot, velocity={"leg1 hip": -3.0, "leg1 knee": -0.5}).v
    before = replace(standing, v=v, open_joints=foot)
    start = cc.simulate(m, before, until=-0.03, rtol=1e-12, t_eval=[0.0, -0.03]).state(-1)
    events = [
        cc.Event("touch", cc.t, then=cc.Switch(close="leg1 foot")),
        cc.Event("lift", cc.t - 0.1, then=cc.Switch(open="leg1 foot")),
    ]
    run = cc.simulate(m, start, until=0.2, rtol=1e-10, events=events)
    touch, lift = run.record
    height = run.frame("leg1 tibia.foot").position.values[:, 2]
    stands, flies = (run.t > 1e-9) & (run.t < 0.1), (run.t < -1e-9) | (run.t > 0.1 + 1e-9)  # but not at the switches

    assert run.good and (touch.what, lift.what) == ("touch", "lift")
    assert [x.start.open_joints for x in run.segments] == [foot, (), foot]
    assert touch.numbers["lost"] > 1e-3 and abs(lift.numbers["lost"]) < 1e-12  # J; nothing but roundings
    assert height[0] > 1e-3 and np.abs(height[stands]).max() < 1e-9  # m; closed to the tolerance of the run
    assert not run["lam"].sel(closure="leg1 foot z").values[flies].any()
    assert run["lam"].sel(closure="leg1 foot z").values[stands].any()
