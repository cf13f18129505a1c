"""Everything that acts, one at a time, by its formula: generalised force, potential and power."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from tests.unit.derive.planar import numbers


def slide_and_turn():
    """A cart that slides along x and an arm that turns about z on it: forces are read off directly."""
    m = cc.Mechanism("bench", gravity=(0, 0, 0))
    cart = m.body("cart", cc.box((1, 1, 1), mass=2.0))
    arm = m.body("arm", cc.rod(length=1.5, mass=1.0))
    m.prismatic("slide", m.ground, cart, axis=(1, 0, 0))
    m.revolute("turn", cart, arm)
    return m


Q, V = np.array([0.3, 0.8]), np.array([0.4, -1.2])
TIP = 1.5 * np.array([np.cos(0.8), np.sin(0.8), 0])


def acting(m, t=0.0):
    """Generalised forces of everything (tau minus the change of h), potential and power."""
    tau, h, V_, P = numbers(m, lambda e: [e.tau, e.h, e.energies.potential, e.energies.power], Q, V, t)
    (still,) = numbers(slide_and_turn(), lambda e: [e.h], Q, V)
    return (tau - h + still)[:, 0], V_[0, 0], P[0, 0]


def check(m, force, potential, power, t=0.0):
    got = acting(m, t)
    np.testing.assert_allclose(got[0], force, atol=1e-13)
    assert got[1] == pytest.approx(potential, abs=1e-13)
    assert got[2] == pytest.approx(power, abs=1e-13)


def test_motors_add_up():
    m = slide_and_turn()
    m.motor("slide", force=3.0)
    m.motor("slide", force=m.parameter("push", 4.0))
    m.motor("turn", torque=lambda t: 2 * t)
    check(m, [7.0, 1.0], 0, 7.0 * V[0] + 1.0 * V[1], t=0.5)


def test_a_motor_may_depend_on_everything():
    m = slide_and_turn()
    m.motor("turn", torque=lambda t, q, v: t + 2 * q["slide"] - 3 * v["turn"] + cc.math.sin(q["turn"]))
    effort = 0.5 + 0.6 + 3.6 + np.sin(0.8)
    check(m, [0, effort], 0, effort * V[1], t=0.5)
    assert set(derive(m).applied.efforts) == set(m.motors)


def test_joint_spring():
    m = slide_and_turn()
    m.joint_spring("slide", 10.0, rest=0.1)
    m.joint_spring("turn", 4.0)
    check(m, [-2.0, -3.2], 10 * 0.2**2 / 2 + 4 * 0.8**2 / 2, 0)


def test_joint_damper():
    m = slide_and_turn()
    m.joint_damper("turn", 5.0)
    check(m, [0, 6.0], 0, -5 * 1.2**2)


def test_friction():
    m = cc.Mechanism("rubs", gravity=(0, 0, 0))
    friction = cc.Friction(viscous=0.5, coulomb=2.0, velocity=0.1)
    m.revolute("A", m.ground, m.body("rod", cc.rod(length=1.0, mass=1.0)), friction=friction)
    for v in (-1.0, 0.0, 0.05, 3.0):
        tau, P = numbers(m, lambda e: [e.tau, e.energies.power], [0.2], [v])
        effort = -0.5 * v - 2.0 * np.tanh(v / 0.1)
        assert tau[0, 0] == pytest.approx(effort, abs=1e-15)
        assert P[0, 0] == pytest.approx(effort * v, abs=1e-15)


def test_force_in_world_axes():
    m = slide_and_turn()
    m.force("push", m.bodies["arm"].tip, (2.0, 3.0, 5.0), moment=(7.0, 11.0, 13.0))
    turning = 13.0 + np.cross(TIP, [2, 3, 5])[2]
    check(m, [2.0, turning], 0, 2.0 * V[0] + turning * V[1])


def test_force_in_the_frame_s_own_axes():
    """The frame is turned by a right angle on the arm: its x is the arm's y."""
    m = slide_and_turn()
    m.force("push", m.bodies["arm"].at(1.5, 0, 0, rpy=(0, 0, np.pi / 2)), (2.0, 0, 0), moment=(0, 0, 1.0), axes="frame")
    x = -2.0 * np.sin(0.8)
    check(m, [x, 2.0 * 1.5 + 1.0], 0, x * V[0] + 4.0 * V[1])


def test_force_components_may_be_functions():
    m = slide_and_turn()
    m.force("wind", m.bodies["cart"], (lambda t, q, v: -2 * v["slide"] + t, 0, 0))
    check(m, [-0.8 + 0.5, 0], 0, (-0.8 + 0.5) * V[0], t=0.5)


def distance():
    """From (0, 2, 0) on the ground to the arm's tip, and its rate."""
    d = np.array([0.3, 0, 0]) + TIP - [0, 2, 0]
    rate = np.array([V[0], 0, 0]) + np.cross([0, 0, V[1]], TIP)
    return d, d @ rate / np.linalg.norm(d)


def by_points(pull):
    """Generalised force of a pull at the tip towards the anchor."""
    d, _ = distance()
    f = -pull * d / np.linalg.norm(d)
    return [f[0], np.cross(TIP, f)[2]]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("length", "damping"), [(0, 0), (0.4, 0), (0, 1.5), (0.4, 1.5)])
def test_point_spring(length, damping, reverse):
    m = slide_and_turn()
    ends = [m.ground.at(0, 2, 0), m.bodies["arm"].tip]
    m.spring("s", *(reversed(ends) if reverse else ends), 6.0, length=length, damping=damping)
    d, rate = distance()
    stretch = np.linalg.norm(d) - length
    check(m, by_points(6.0 * stretch + damping * rate), 3.0 * stretch**2, -damping * rate**2)


def test_point_spring_between_bodies():
    """Inside the mechanism it moves nothing as a whole: no force along the slide."""
    m = slide_and_turn()
    m.spring("s", m.bodies["cart"].at(0, 1, 0), m.bodies["arm"].tip, 6.0, length=0.4)
    d = TIP - [0, 1, 0]
    pull = 6.0 * (np.linalg.norm(d) - 0.4) * -d / np.linalg.norm(d)
    check(m, [0, np.cross(TIP, pull)[2]], 3.0 * (np.linalg.norm(d) - 0.4) ** 2, 0)


def test_a_plain_spring_is_regular_where_its_ends_meet():
    m = slide_and_turn()
    m.spring("s", m.bodies["cart"], m.bodies["arm"], 6.0)
    check(m, [0, 0], 0, 0)


def test_torque_on_a_cut_joint_is_felt_by_the_tree():
    """By virtual work: on a triangle of hinges cut at C, a torque at C acts with the rate of that joint's angle."""
    m = cc.library.four_bar()
    cut = derive(m).topology.cuts[0].name
    m.motor(cut, torque=2.0)
    assert [j.name for j in derive(m).topology.cuts] != [cut]  # driven joints stay in the tree ...
    m = cc.Mechanism("told to", gravity=(0, 0, 0))
    one, two = m.body("one", cc.rod(length=1.0, mass=1.0)), m.body("two", cc.rod(length=1.0, mass=1.0))
    m.revolute("A", m.ground, one)
    m.revolute("B", m.ground.at(1, 0, 0), two)
    m.revolute("C", one.tip, two.tip, cut=True)  # ... unless told otherwise
    m.motor("C", torque=2.0)
    m.joint_damper("C", 3.0)
    (tau, P) = numbers(m, lambda e: [e.tau, e.energies.power], [0.5, 1.5], [0.2, 0.7])
    effort = 2.0 - 3.0 * (0.7 - 0.2)
    np.testing.assert_allclose(tau[:, 0], [-effort, effort], rtol=1e-14)
    assert P[0, 0] == pytest.approx(effort * 0.5, rel=1e-14)


@pytest.mark.parametrize(("low", "high", "beyond"), [(-1.0, 0.5, 0.3), (1.0, 2.0, -0.2), (0.0, 1.0, 0.0)])
def test_stop(low, high, beyond):
    """A spring and a damper outside the limits, nothing within."""
    m = cc.Mechanism("stopped", gravity=(0, 0, 0))
    stops = cc.Stops(low, high, stiffness=10.0, damping=2.0)
    m.revolute("turn", m.ground, m.body("arm", cc.rod(length=1.5, mass=1.0)), limits=stops)
    tau, V_, P = numbers(m, lambda e: [e.tau, e.energies.potential, e.energies.power], [0.8], [-1.2])
    resist = 2.0 * -1.2 if beyond else 0.0
    assert tau[0, 0] == pytest.approx(-10.0 * beyond - resist, abs=1e-14)
    assert V_[0, 0] == pytest.approx(5.0 * beyond**2, abs=1e-14)
    assert P[0, 0] == pytest.approx(-resist * -1.2, abs=1e-14)


def test_efforts_may_depend_on_places_and_speeds():
    """A cable that pulls the tip towards the ground: the frame's own place and speed, in world axes."""
    m = slide_and_turn()
    tip = m.bodies["arm"].tip
    m.force("cable", tip, (0, lambda t, q, v: -3.0 * tip.place[1] - 0.5 * tip.speed[1], 0))
    y, y_rate = TIP[1], np.cross([0, 0, V[1]], TIP)[1]
    f = -3.0 * y - 0.5 * y_rate
    check(m, [0, TIP[0] * f], 0, f * y_rate)


def test_the_quaternion_of_a_cut_ball_is_no_argument_of_a_law():
    """Known up to its sign only, it would change the motion where the sign changes."""
    m = cc.Mechanism("arm on a ball")
    arm = m.body("arm", cc.box((0.1, 0.2, 0.3), mass=1.0))
    m.spherical("kept", m.ground, arm)
    m.spherical("ball", m.ground, arm, cut=True)
    m.motor("kept", torque=lambda t, q, v: 2 * q["ball.qx"], coordinate="wx")
    with pytest.raises(cc.ModelError, match="quaternion of joint 'ball', but that joint is cut"):
        cc.simulate(m, until=0.1)
