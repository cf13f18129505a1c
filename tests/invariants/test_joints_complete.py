"""Friction, stops, springs, motors, gears, rotors, drives: the same on tree joints and on cut ones, energy is kept."""

import dataclasses
import functools
import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import closedchain as cc
from tests.invariants import drawings
from tests.invariants.balance import imbalance
from tests.invariants.drawings import four_bar, pins, relative_energy_error
from tests.reference.yardstick import make

TIMES = np.linspace(0, 2, 41)
FRICTION = {"friction": cc.Friction(viscous=0.3, coulomb=0.8, velocity=0.05)}

# what acts on one joint: options of the joint, and what is added afterwards
ACTING = {
    "friction on O": ({"O": FRICTION}, None),
    "friction on A": ({"A": FRICTION}, None),
    "friction on B": ({"B": FRICTION}, None),
    "stops on A": ({"A": {"limits": cc.Stops(-0.9, 3.5, stiffness=500.0, damping=2.0)}}, None),
    "stops on B": ({"B": {"limits": cc.Stops(0.2, 1.2, stiffness=500.0)}}, None),
    "stops on C": ({"C": {"limits": cc.Stops(0.9, 1.6, stiffness=500.0, damping=2.0)}}, None),
    "spring on A": ({}, lambda m: m.joint_spring("A", 20.0, rest=1.5)),
    "damper on B": ({}, lambda m: m.joint_damper("B", 2.0)),
    "motor on C": ({}, lambda m: m.motor("C", torque=lambda t, q, v: 10 * cc.math.sin(3 * t) - 2 * v["C"])),
    "rotor on A": ({}, lambda m: m.rotor("A", 0.01, ratio=7.0)),
}


@functools.cache
def swing(acting, cut):
    options, add = ACTING[acting]
    m = four_bar(cut=cut, **options)
    if add:
        add(m)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* lose their hold", cc.RunWarning)
        return cc.simulate(m, m.assemble(), until=2.0, rtol=1e-12, t_eval=TIMES)


@pytest.mark.parametrize("acting", ACTING)
def test_the_same_wherever_the_loop_is_cut(acting):
    runs = [swing(acting, cut) for cut in "OABC"]
    free = cc.simulate(m := four_bar(), m.assemble(), until=2.0, rtol=1e-11, t_eval=TIMES)
    assert np.abs(pins(runs[0]) - pins(free)).max() > 1e-2  # it does act
    for run in runs:
        assert np.abs(pins(run) - pins(runs[0])).max() < 1e-8  # stops have corners: more than rtol times steps
        assert relative_energy_error(run) < 1e-8
        assert run.good != (acting == "motor on C")  # which passes a dead point, where its motor cannot hold it


def test_friction_only_takes_energy():
    for name in ("friction on O", "friction on A", "friction on B"):
        run = swing(name, "B")
        assert np.all(np.diff(run["work"].values) < 0)
        joint = name[-1]
        v = run[f"{joint}'"].values
        assert np.abs(run["power"].values + 0.3 * v**2 + 0.8 * v * np.tanh(v / 0.05)).max() < 1e-9


def test_stops_push_back_and_store():
    """Without damping a stop takes nothing; the joint goes as far beyond as its energy lets it."""
    run = swing("stops on B", "O")
    assert np.abs(run["work"].values).max() == 0.0
    assert run["B"].values.max() > 1.2  # a stop is a spring
    hard = four_bar(B={"limits": cc.Stops(0.2, 1.2, stiffness=5e4)})
    hard = cc.simulate(hard, hard.assemble(), until=2.0, rtol=1e-10, t_eval=TIMES)
    assert 1.2 < hard["B"].values.max() < 1.2 + 0.2 * (run["B"].values.max() - 1.2)


def test_limits_that_do_not_hold_are_reported_and_stops_are_not():
    m = four_bar(B={"limits": (0.2, 1.2)})
    with pytest.warns(cc.RunWarning, match="'B' leaves its limits"):
        cc.simulate(m, m.assemble(), until=2.0)


# ---- gears ---------------------------------------------------------------------------------------------------------


def geared(ratio, offset):
    """Two pendulums whose hinges are geared together."""
    m = cc.Mechanism("geared pendulums", gravity=(0, -9.81, 0))
    m.revolute("one", m.ground, m.body("short", cc.rod(1.0, mass=1.0)))
    m.revolute("two", m.ground.at(2, 0, 0), m.body("long", cc.rod(1.5, mass=2.0)))
    m.couple("gear", "two", "one", ratio=ratio, offset=offset)
    m.start = {"one": 0.4}
    return m


@pytest.mark.parametrize(("ratio", "offset"), [(1.0, 0.0), (-2.0, 0.3), (5.0, -1.0)])
def test_a_gear_keeps_its_ratio_and_transmits_its_torque(ratio, offset):
    run = cc.simulate(m := geared(ratio, offset), m.assemble(), until=4.0, rtol=1e-11, t_eval=np.linspace(0, 4, 41))
    one, two = run["one"].values, run["two"].values
    assert np.abs(two - ratio * one - offset).max() < 1e-12
    assert np.abs(run["two'"].values - ratio * run["one'"].values).max() < 1e-12
    assert relative_energy_error(run) < 1e-9

    # one equation of motion, by hand
    J1, J2, w1, w2 = 1.0 / 3, 2.0 * 1.5**2 / 3, 9.81 * 0.5, 9.81 * 2.0 * 0.75

    def acceleration(angle):
        return -(w1 * np.cos(angle) + ratio * w2 * np.cos(ratio * angle + offset)) / (J1 + ratio**2 * J2)

    exact = solve_ivp(lambda t, x: [x[1], acceleration(x[0])], (0, 4), [0.4, 0.0], method="DOP853", rtol=1e-12,
                      atol=1e-12, t_eval=run.t)  # fmt: skip
    assert np.abs(one - exact.y[0]).max() < 1e-8  # some 100 steps of 1e-11, amplified by the swing
    # on the long pendulum the gear exerts what its motion and its weight take; on the short one the reverse
    torque = J2 * ratio * acceleration(one) + w2 * np.cos(two)
    assert np.abs(run["gear"].values - torque).max() < 1e-9
    assert np.abs(J1 * acceleration(one) + w1 * np.cos(one) + ratio * torque).max() < 1e-9
    assert imbalance(run, [10, 30]) < 1e-10


def test_mimic_inside_loops():
    """A five-bar with its cranks geared together has one freedom, wherever it is cut: also at a geared hinge."""
    runs = []
    for cut in (None, "left motor", "right motor", "right elbow"):
        m = five_bar(cut)
        m.couple("gear", "right motor", "left motor", ratio=-1.0, offset=np.pi)
        assert m.mobility().true == 1
        run = cc.simulate(m, m.assemble({"left motor": 2.2}), until=2.0, rtol=1e-12)
        assert [j.name for j in run.start.topology.cuts] == [cut or "tip"]
        assert np.abs(run["right motor"].values + run["left motor"].values - np.pi).max() < 1e-12
        tip = run.frame("left distal.tip").position.values
        assert np.abs(tip[:, 0]).max() < 1e-12 and np.ptp(tip[:, 1]) > 0.01  # straight up and down, by symmetry
        assert relative_energy_error(run) < 1e-8
        runs.append(run)
    for run in runs[1:]:
        for joint in ("left motor", "left elbow", "right elbow", "tip"):
            assert np.abs(run[joint].values - runs[0][joint].values).max() < 1e-9
        assert np.abs(run["gear"].values - runs[0]["gear"].values).max() < 1e-9


def five_bar(cut):
    """The library's five-bar under a torque on its left motor, told where to be cut."""
    m = cc.library.five_bar(torques=(0.15, 0.0))
    if cut:
        m.joints[cut] = dataclasses.replace(m.joints[cut], cut=True)
    return m


def test_a_gear_that_contradicts_the_loop_is_told():
    """The crank of a four-bar geared to its rocker, on a cut hinge: what is held leaves nothing to move."""
    m = four_bar(cut="O")
    m.couple("gear", "O", "C", ratio=2.0)
    with pytest.raises(cc.AssemblyError, match="loop closed by 'gear': value"):
        m.assemble()


def test_a_rack_on_a_cut_slide():
    """A slider geared to a wheel, in a loop that is cut at the slide: lengths can be measured anywhere."""
    runs = []
    for cut in (True, None):
        m = cc.Mechanism("slider-crank with a rack", gravity=(0, -9.81, 0))
        crank, rod = m.body("crank", cc.rod(0.3, mass=1.0)), m.body("rod", cc.rod(1.0, mass=1.0))
        slider, wheel = m.body("slider", cc.box((0.1,) * 3, mass=1.0)), m.body("wheel", cc.disc(0.1, mass=4.0))
        m.revolute("O", m.ground, crank)
        m.revolute("A", crank.tip, rod, guess=-1.0)
        m.revolute("B", rod.tip, slider, guess=-0.3)
        m.prismatic("slide", m.ground, slider, axis=(1, 0, 0), guess=1.2, cut=cut)
        m.revolute("axle", m.ground.at(0, 1, 0), wheel)
        m.couple("rack", "slide", "axle", ratio=0.1, offset=1.0)
        run = cc.simulate(m, m.assemble(O=1.0), until=2.0, rtol=1e-11, t_eval=TIMES)
        assert np.abs(run["slide"].values - 0.1 * run["axle"].values - 1.0).max() < 1e-12
        assert relative_energy_error(run) < 1e-8
        runs.append(run)
    assert np.abs(runs[0]["O"].values - runs[1]["O"].values).max() < 1e-8
    assert np.abs(runs[0]["rack"].values - runs[1]["rack"].values).max() < 1e-6  # a force of some 10 N at a wheel


# ---- rotors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", "OB")
def test_a_rotor_is_an_inertia_times_the_ratio_squared(cut):
    geared_rotor, heavy = four_bar(cut=cut), four_bar(cut=cut)
    geared_rotor.rotor("O", 0.02, ratio=6.0)
    changed = {f"crank.inertia.{axis}": heavy.parameters[f"crank.inertia.{axis}"] + 0.02 * 36 for axis in ("yy", "zz")}
    one = cc.simulate(geared_rotor, geared_rotor.assemble(), until=2.0, rtol=1e-11, t_eval=TIMES)
    two = cc.simulate(heavy, heavy.assemble(parameters=changed), until=2.0, rtol=1e-11, t_eval=TIMES)
    assert np.abs(pins(one) - pins(two)).max() < 1e-9
    assert relative_energy_error(one) < 1e-9


def test_rotors_take_part_in_reactions():
    m = four_bar()
    m.rotor("A", 0.02, ratio=6.0)
    m.motor("O", torque=3.0)
    run = cc.simulate(m, m.assemble(), until=1.0, rtol=1e-9, t_eval=np.linspace(0, 1, 5))
    assert imbalance(run, [1, 3]) < 1e-10
    # about A the joint gives the torque that turns the rotor against the coupler
    hinge = run.reaction("A", axes="joint").moment.values[:, 2]
    assert np.abs(hinge + 0.72 * relative_acceleration(run)).max() < 1e-9


def relative_acceleration(run):
    """Of the hinge A, by the loop: coupler minus crank."""
    body = make.FourBar(make.FOUR_BAR)
    theta, rate, acceleration = (run[name].values for name in ("O", "O'", "O''"))
    alpha, phi = body.angles(theta)
    a1, _, a2, _ = body.rates(theta, alpha, phi)
    return np.array((a1 - 1) * acceleration + a2 * rate**2, float)


# ---- drives --------------------------------------------------------------------------------------------------------


def prescribed(t):
    """Crank angle with its first two derivatives."""
    angle = np.pi / 3 + 2 * t + 0.3 * np.sin(3 * t)
    return angle, 2 + 0.9 * np.cos(3 * t), -2.7 * np.sin(3 * t)


@pytest.mark.parametrize("drawing", [{}, {"R": drawings.TILT}, {"kinds": "RRUS"}, {"cut": "A", "planar": ("coupler",)}])
def test_a_driven_four_bar_and_the_torque_it_takes(drawing):
    m = four_bar(**drawing)
    m.drive("O", cc.pi / 3 + 2 * cc.t + 0.3 * cc.math.sin(3 * cc.t), name="crank drive")
    m.start = {}
    run = cc.simulate(m, m.assemble(), until=4.0, rtol=1e-10)
    theta, rate, acceleration = prescribed(run.t)
    assert np.abs(run["O"].values - theta).max() < 1e-12
    assert np.abs(run["O'"].values - rate).max() < 1e-12
    # inverse dynamics from the reference's own Lagrangian
    body = make.FourBar(make.FOUR_BAR)
    (J, dJ), (_, dV) = body.inertia(theta), body.potential(theta)
    torque = np.array(J * acceleration + dJ * rate**2 / 2 + dV, float)
    assert np.abs(run["crank drive"].values - torque).max() < 1e-9 * np.abs(torque).max()
    assert relative_energy_error(run) < 1e-9
    assert float(run.closure_error.max()) < 1e-12
    assert np.abs(run["power"].values - torque * rate).max() < 1e-9 * np.abs(torque * rate).max()


def test_a_driven_slide_on_a_cut_joint():
    """The slide of a slider-crank follows a function of time; the force is that of virtual power."""
    forces = []
    for cut in (True, None):
        m = cc.Mechanism("pump", gravity=(0, -9.81, 0))
        crank, rod = m.body("crank", cc.rod(0.5, mass=1.0)), m.body("rod", cc.rod(1.0, mass=1.0))
        slider = m.body("slider", cc.box((0.1,) * 3, mass=1.0))
        m.revolute("O", m.ground, crank)
        m.revolute("A", crank.tip, rod, guess=-1.0)
        m.revolute("B", rod.tip, slider, guess=-0.3)
        m.prismatic("slide", m.ground, slider, axis=(1, 0, 0), guess=1.2, cut=cut)
        m.drive("slide", 1.1 + 0.2 * cc.math.sin(2 * cc.t), name="piston")
        run = cc.simulate(m, m.assemble(guess={"O": 1.0}), until=3.0, rtol=1e-11)
        assert np.abs(run["slide"].values - 1.1 - 0.2 * np.sin(2 * run.t)).max() < 1e-12
        assert relative_energy_error(run) < 1e-9
        rate = 0.4 * np.cos(2 * run.t)
        assert np.abs(run["power"].values - run["piston"].values * rate).max() < 1e-9
        assert imbalance(run, [50, 150]) < 1e-10
        forces.append(run["piston"].values)
    assert np.abs(forces[0] - forces[1]).max() < 1e-8 * np.abs(forces[0]).max()


def test_a_drive_that_depends_on_parameters():
    m = four_bar()
    speed = m.parameter("speed", 1.0)
    m.drive("O", cc.pi / 3 + speed * cc.t)
    m.start = {}
    for value in (1.0, -3.0):
        parameters = {"speed": value}
        run = cc.simulate(m, m.assemble(parameters=parameters), until=1.0, rtol=1e-9)
        assert np.abs(run["O"].values - np.pi / 3 - value * run.t).max() < 1e-12


def test_a_run_that_begins_later():
    m = four_bar()
    m.drive("O", cc.pi / 3 + cc.math.sin(cc.t))
    m.start = {}
    run = cc.simulate(m, m.assemble(time=1.5), until=3.0, rtol=1e-9)
    assert run.t[0] == 1.5 and np.abs(run["O"].values - np.pi / 3 - np.sin(run.t)).max() < 1e-12
