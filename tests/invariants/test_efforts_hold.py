"""Inverse dynamics where it is easily wrong: rounding rows, redrawn mechanisms, singular samples, drives, jumps."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import closedchain as cc


def turned_four_bar(seed):
    """The same four-bar with body and joint frames turned at random: closures that repeat others are rounding."""
    *turns, G = Rotation.random(4, rng=np.random.default_rng(seed)).as_matrix()
    m = cc.Mechanism("turned", gravity=tuple(G @ [0, -9.8, 0]))
    d = np.array([3.0, -1.0])
    reach = np.linalg.norm(d)
    x = (16 - 6.25 + reach**2) / (2 * reach)
    top = np.array([0, 1]) + x * d / reach + math.sqrt(16 - x * x) * np.array([-d[1], d[0]]) / reach
    P = {name: G @ [*p, 0] for name, p in {"O": (0, 0), "A": (0, 1), "C": (3, 0), "B": top}.items()}
    begins = {"crank": "O", "coupler": "A", "rocker": "C"}
    bodies = {name: m.body(name, cc.rigid(mass=1.0, inertia=(0.1, 0.1, 0.1))) for name in begins}

    def at(name, point):
        R = turns[list(begins).index(name)]
        return bodies[name].at(*(R.T @ (P[point] - P[begins[name]])), R=R.T @ G)

    m.revolute("O", m.ground.at(*P["O"], R=G), at("crank", "O"))
    m.revolute("A", at("crank", "A"), at("coupler", "A"))
    m.revolute("C", m.ground.at(*P["C"], R=G), at("rocker", "C"))
    m.revolute("B", at("coupler", "B"), at("rocker", "B"))
    return m


def test_how_a_mechanism_is_turned_does_not_matter():
    found = []
    for seed in range(25):
        m = turned_four_bar(seed)
        motion = cc.follow(m, {"O": cc.t}, until=6.0, samples=7)
        for method in ("projection", "virtual-spring", "denoc"):
            need = cc.inverse_dynamics(m, motion, actuators=["O"], method=method)
            assert need.redundancy == 0
            found.append(need["O"].values)
    assert np.abs(found[0]).max() > 1.0
    assert max(np.abs(x - found[0]).max() for x in found) < 1e-10  # rounding of numbers of some ten


def five_bar(gravity=9.81, distal=0.7):
    """A five-bar whose tip joint is cut, until something acts on it."""
    m = cc.Mechanism("five-bar", gravity=(0, -gravity, 0))
    lengths = {"a": 0.5, "b": distal, "d": 0.5, "e": distal}
    rods = {name: m.body(name, cc.rod(length=x, mass=1.0)) for name, x in lengths.items()}
    m.revolute("A", m.ground, rods["a"], guess=2.0)
    m.revolute("B", rods["a"].tip, rods["b"], guess=-1.2)
    m.revolute("D", m.ground.at(0.4, 0, 0), rods["d"], guess=1.1)
    m.revolute("E", rods["d"].tip, rods["e"], guess=1.2)
    m.revolute("T", rods["b"].tip, rods["e"].tip, guess=1.5)
    return m


PATH = {"A": 2.0 + 0.2 * cc.math.sin(3 * cc.t), "D": 1.1 - 0.1 * cc.math.sin(2 * cc.t)}


def test_a_motion_outlives_a_change_of_cuts():
    m = five_bar()
    motion = cc.follow(m, PATH, until=1.0, samples=11)
    before = cc.inverse_dynamics(m, motion, actuators=["A", "D"]).tau
    angles = motion["E"].values.copy()
    m.motor("T", torque=0.0)  # now T is a joint of the tree
    after = cc.inverse_dynamics(m, motion, actuators=["A", "D"])
    assert np.abs(after.tau - before).max() < 1e-11
    again = cc.follow(m, PATH, until=1.0, samples=11)
    assert again.samples.equations.topology.q_labels != motion.samples.equations.topology.q_labels
    # what is read of the old motion, and of the new one after it, is right
    assert np.abs(motion["E"].values - angles).max() == 0.0
    assert np.abs(again["E"].values - angles).max() < 1e-11
    assert np.abs(after.reaction("B")["force"].values).max() > 1.0
    run = cc.simulate(m, motion.start, 0.01)
    assert run.complete


def test_numbers_are_those_of_now():
    m = five_bar()
    motion = cc.follow(m, PATH, until=1.0, samples=11)
    m.parameters["b.mass"] = 5.0
    heavy = cc.inverse_dynamics(m, motion, actuators=["A", "D"]).tau
    found_again = cc.inverse_dynamics(m, PATH, until=1.0, samples=11, actuators=["A", "D"]).tau
    assert np.abs(heavy - found_again).max() < 1e-10
    m.parameters["b.length"] = 0.75
    with pytest.raises(
        cc.ModelError, match=r"the places at t = 0 s leave loops of 'five-bar' open: .*find the motion again"
    ):
        cc.inverse_dynamics(m, motion, actuators=["A", "D"])
    kept = cc.follow(m, PATH, until=1.0, samples=11, parameters={"b.length": 0.7})
    again = cc.inverse_dynamics(m, kept, actuators=["A", "D"]).tau
    assert np.abs(again - heavy).max() < 1.0  # a rod of the same length whose own centre is where it is drawn now


def test_a_state_whose_rates_open_a_loop_is_refused():
    m = five_bar()
    state = m.assemble(A=2.0, D=1.1, velocity={"A": 1.0, "D": 0.0})
    with pytest.raises(cc.ModelError, match=r"accelerations at t = 0 s leave loops of 'five-bar' open.*acceleration="):
        cc.inverse_dynamics(m, state, actuators=["A", "D"])
    whole = m.assemble(A=2.0, D=1.1, velocity={"A": 1.0, "D": 0.0}, acceleration={"A": 0.0, "D": 0.0})
    assert np.isfinite(cc.inverse_dynamics(m, whole, actuators=["A", "D"]).tau).all()


@pytest.mark.parametrize("samples", [101, 100])
def test_a_sample_at_a_flat_pose(samples):
    """Half a turn of a chain of squares: with an odd number of samples one lies exactly where all links are in line."""
    m = cc.library.four_bar_chain()
    motion = cc.follow(m, {"O0": cc.paths.line(cc.pi / 2, -cc.pi / 2, duration=1.0)}, samples=samples)
    turned = motion["O0"].values
    for label in motion.scalars:
        if label.startswith("O"):  # all rockers stay parallel
            assert np.abs(motion[label].values - turned).max() < 1e-7
            assert np.abs(motion[f"{label}''"].values - motion["O0''"].values).max() < 1e-4
    need = cc.inverse_dynamics(m, motion, actuators=["O0"])
    # all links turn or move together: 5 + 1 rockers about their ends, 5 couplers along
    inertia = 6 / 3 + 5.0
    wanted = inertia * motion["O0''"].values + (6 / 2 + 5) * 9.81 * np.cos(turned)
    assert np.abs(need["O0"].values - wanted).max() < 1e-3 * np.abs(wanted).max()


def test_springs_alone_are_balanced_without_gravity():
    light = five_bar(gravity=0.0)
    light.joint_spring("B", 3.0, rest=0.3)
    light.joint_spring("E", 2.0)
    rng = np.random.default_rng(5)
    for _ in range(10):
        pose = light.assemble(A=2.0 + 0.2 * rng.normal(), D=1.1 + 0.2 * rng.normal())
        held = cc.holding_efforts(light, pose, actuators=["A", "D"])
        assert np.abs(held.tau).max() > 0.1


def test_a_drive_that_is_no_actuator_holds():
    """One side is driven, the other asked for: the same torques as if both were asked for."""
    m = five_bar()
    m.drive("A", PATH["A"], name="driven")
    need = cc.inverse_dynamics(m, {"D": PATH["D"]}, until=1.0, samples=11, actuators=["D"])
    both = cc.inverse_dynamics(five_bar(), PATH, until=1.0, samples=11, actuators=["A", "D"])
    assert need["D"].values == pytest.approx(both["D"].values, abs=1e-10)
    assert need["driven"].values == pytest.approx(both["A"].values, abs=1e-10)
    assert np.abs(need.reaction("B")["force"].values - both.reaction("B")["force"].values).max() < 1e-9


def test_reactions_beside_a_control_law():
    m = five_bar()
    m.control(cc.ComputedTorque(PATH, kp=100.0))
    both = cc.inverse_dynamics(five_bar(), PATH, until=1.0, samples=11, actuators=["A", "D"])
    # one motor is asked for; on the path the law of the other gives what its coordinate needs
    need = cc.inverse_dynamics(m, PATH, until=1.0, samples=11, actuators=["D"])
    assert need["D"].values == pytest.approx(both["D"].values, abs=1e-9)
    assert np.abs(need.reactions()["force"].values - both.reactions()["force"].values).max() < 1e-8


def test_weights_do_not_decide_what_is_singular():
    m = cc.library.rrr3()
    path = cc.paths.rose(0.05, period=2.0).turned(about=(0, 0, 1), angle=0.0)
    motion = cc.follow(m, {"platform": path}, samples=41)
    plain = cc.inverse_dynamics(m, motion).tau
    for weight in (1e-20, 1e20):
        assert np.abs(cc.inverse_dynamics(m, motion, weights={"base1": weight}).tau - plain).max() < 1e-10


def test_efforts_that_jump_are_fed_back_with_their_jumps():
    """A trapezoidal law: the spline of the torque is cut where the acceleration jumps, and the run steps onto it."""
    m = cc.library.four_bar(torque=0.0)
    path = cc.paths.line(cc.pi / 2, 2.5, duration=1.0, law=cc.paths.Trapezoidal(ramp=0.3))
    need = cc.inverse_dynamics(m, {"O": path}, samples=201)
    signal = need.signal("O")
    fine = cc.inverse_dynamics(m, {"O": path}, t_eval=np.linspace(0.0, 1.0, 1999))
    values = np.array([float(signal.evaluate(lambda leaf, t=t: t)) for t in fine.t])
    assert np.abs(values - fine["O"].values).max() < 1e-5 * np.abs(fine["O"].values).max()
    driven = cc.library.four_bar(torque=0.0)
    driven.motor("O", torque=signal)
    run = cc.simulate(driven, cc.State(driven, need.motion.q[0], need.motion.v[0]), 1.0, rtol=1e-9, t_eval=need.t)
    assert np.abs(run["O"].values - need.motion["O"].values).max() < 1e-5


def test_a_singular_pose_of_the_actuators_is_told():
    """The tip passes the line between the elbows: at 0.3 m, where the distal rods of 0.6 m are in line."""
    m = five_bar(distal=0.6)
    guess = {"A": 2.4, "B": -1.5, "D": 0.7, "E": 1.5}
    path = {"b.tip": (0.2, 0.45 - 0.3 * cc.t, None)}
    with pytest.warns(
        cc.RunWarning, match=r"between t = 0\.4\d* and 0\.5\d* s the actuators of 'five-bar' pass a sing"
    ):
        need = cc.inverse_dynamics(m, path, until=1.0, samples=50, actuators=["A", "D"], guess=guess)
    assert np.abs(need.tau).max() > 10 * np.median(np.abs(need.tau))


def spinning_platform():
    """A Gough-Stewart platform whose legs have ball joints at both ends: each leg may spin about itself."""
    m = cc.Mechanism("6-SPS", gravity=(0, 0, -9.81))
    top = m.body("platform", cc.disc(radius=0.3, thickness=0.02, mass=5.0))
    legs = []
    for k in range(6):
        foot = 2 * math.pi * (k // 2) / 3 + (0.3 if k % 2 else -0.3)
        hand = foot + (0.7 if k % 2 else -0.7)
        at = np.array([0.6 * math.cos(foot), 0.6 * math.sin(foot), 0.0])
        to = np.array([0.3 * math.cos(hand), 0.3 * math.sin(hand), 0.0])
        lower = m.body(f"lower{k}", cc.rigid(mass=0.5, com=(0, 0, 0.2), inertia=(0.01, 0.01, 1e-4)))
        upper = m.body(f"upper{k}", cc.rigid(mass=0.4, com=(0, 0, -0.2), inertia=(0.008, 0.008, 1e-4)))
        way = to + [0, 0, 0.7] - at
        axis = np.cross([0, 0, 1], way / np.linalg.norm(way))
        half = math.asin(np.linalg.norm(axis)) / 2
        quaternion = (math.cos(half), *(math.sin(half) * axis / np.linalg.norm(axis)))
        m.spherical(f"foot{k}", m.ground.at(*at), lower, guess=quaternion)
        m.prismatic(f"leg{k}", lower, upper, guess=float(np.linalg.norm(way)))
        m.spherical(f"hand{k}", upper, top.at(*to), cut=True)
        legs.append(f"leg{k}")
    m.free("pose", m.ground, top, guess=(0, 0, 0.7, 1, 0, 0, 0))
    return m, legs


def test_what_spins_about_itself_needs_no_path():
    """The legs of a 6-SPS may spin: forces are found all the same, and forwards they give the path's accelerations."""
    m, legs = spinning_platform()
    s = 0.05 * cc.math.sin(3 * cc.t)
    angle = 0.1 * cc.math.sin(2 * cc.t)
    R = ((cc.math.cos(angle), -cc.math.sin(angle), 0.0), (cc.math.sin(angle), cc.math.cos(angle), 0.0), (0.0, 0.0, 1.0))
    motion = cc.follow(m, {"platform": cc.paths.Path((s, 0.5 * s, 0.7 + 0.3 * s), R, 1.0)}, samples=21)
    assert motion.idle == 6
    need = cc.inverse_dynamics(m, motion, actuators=legs)
    assert need.conditioning.min() > 0.01 and need.redundancy == 0
    assert float(need.balance()["relative_error"].max()) < 1e-10
    driven, _ = spinning_platform()
    for k, leg in enumerate(legs):
        driven.motor(leg, force=float(need.tau[10, k]))
    run = cc.simulate(driven, cc.State(driven, motion.q[10], motion.v[10]), 0.0)
    for leg in legs:
        assert float(run[f"{leg}''"][0]) == pytest.approx(float(motion[f"{leg}''"][10]), abs=1e-8)


def test_velocities_that_jump_are_told():
    m = cc.library.pendulum()
    with pytest.warns(cc.RunWarning, match=r"at t = 0\.5 s the path changes its velocity at once"):
        cc.inverse_dynamics(m, {"hinge": abs(cc.t - 0.5)}, until=1.0, actuators=["hinge"])
    begins, ends = r"the path begins at t = 0 s with a velocity", r"the path ends at t = 1 s with a velocity"
    with pytest.warns(cc.RunWarning, match=begins), pytest.warns(cc.RunWarning, match=ends):
        cc.follow(m, {"hinge": cc.paths.line(0, 1, duration=1.0, law="uniform")})
    with pytest.warns(cc.RunWarning, match="201 samples hardly show this motion"):
        cc.follow(m, {"hinge": cc.paths.sine(1.0, 0.011)}, until=1.0)
    # none of this is said of smooth motions, whatever their accelerations do
    cc.follow(m, {"hinge": cc.paths.line(0, 1, duration=1.0, law="trapezoidal")})


def test_peaks_at_jumps_are_not_missed():
    """A trapezoidal move: the torque of a flywheel is largest on the ramps, its power where they end."""
    m = cc.Mechanism("wheel", gravity=(0, 0, 0))
    m.revolute("axle", m.ground, m.body("disc", cc.disc(radius=1.0, mass=2.0)))
    path = cc.paths.line(0.0, 1.0, duration=1.0, law=cc.paths.Trapezoidal(ramp=0.23))
    speed = 1 / (1 - 0.23)
    for samples in (7, 201):
        duty = cc.inverse_dynamics(m, {"axle": path}, samples=samples, actuators=["axle"]).sizing()["axle"]
        assert duty.peak == pytest.approx(speed / 0.23, rel=1e-9)
        assert duty.peak_power == pytest.approx(speed**2 / 0.23, rel=1e-6)


def test_a_signal_holds_the_last_pose_after_the_motion():
    m = cc.library.pendulum()
    need = cc.inverse_dynamics(m, {"hinge": 0.3 + cc.t}, until=1.0, actuators=["hinge"])
    at = lambda time: float(need.signal("hinge").evaluate(lambda leaf: time))  # noqa: E731
    assert at(2.0) == pytest.approx(9.81 / 2 * math.cos(1.3), abs=1e-12)
    assert at(-1.0) == pytest.approx(9.81 / 2 * math.cos(0.3), abs=1e-12)


def test_a_preload_needs_room():
    m = cc.library.rrr3()
    with pytest.raises(cc.ModelError, match="3 actuators and 3 freedoms leave no room for internal forces"):
        cc.holding_efforts(m, preload={"base1": 1.0})


def test_a_motor_of_the_wrong_kind_is_refused():
    need = cc.holding_efforts(cc.library.gough_stewart(drive="none"), actuators=[f"leg{k} slide" for k in range(1, 7)])
    with pytest.raises(cc.ModelError, match="a DCMotor turns, but 'leg1 slide' does not"):
        need.sizing(cc.DCMotor(resistance=1.0, torque_constant=0.1))


def test_a_path_that_begins_outside_the_workspace_says_so():
    with pytest.raises(
        cc.AssemblyError, match=r"the path begins, at t = 0 s, where 'rrr3' cannot be: outside its work"
    ):
        cc.follow(cc.library.rrr3(), {"platform": (3.0, 0.0, None)}, until=1.0)
