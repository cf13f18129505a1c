"""Matrices against formulas and differences, eigenvalues against each other, frequencies against runs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import closedchain as cc
from tests.invariants import drawings
from tests.random_mechanisms import draw
from tests.unit.results.vibration.small_motions import Dynamics, decay, derivative, in_mode, peaks

# ---- what is linearised ---------------------------------------------------------------------------------------------


def sprung_four_bar(cut=None, damping=0.0):
    """Springs on all joints: whichever is cut, its angle is measured on the closed loop."""
    m = cc.Mechanism("sprung four-bar", gravity=(0, -9.81, 0))
    crank, coupler, rocker = (m.body(x, cc.rod(n, mass=n)) for x, n in (("crank", 1), ("coupler", 2.5), ("rocker", 2)))
    for name, a, b, guess in (
        ("O", m.ground, crank, 1.0),
        ("A", crank.tip, coupler, -0.6),
        ("B", coupler.tip, rocker.tip, 0.8),
        ("C", m.ground.at(2, 0, 0), rocker, 1.2),
    ):
        m.revolute(name, a, b, guess=guess, cut=True if cut == name else None)
        m.joint_spring(name, 20.0 + len(m.joints), rest=guess)
    if damping:
        m.joint_damper("A", damping)
    m.start = {"O": 1.0}
    return m


def bennett(cut=None):
    m = drawings.bennett(cut)
    m.joint_spring("J2", 40.0, rest=m.joints["J2"].guess[0])
    m.joint_spring("J3", 30.0, rest=m.joints["J3"].guess[0] + 0.1)
    return m


def sarrus(cut=None):
    m = drawings.sarrus(cut)
    m.joint_spring("knee0", 60.0, rest=-1.3)
    m.joint_spring("ankle1", 30.0, rest=2.2)
    return m


def rrr3(kd=3.0):
    """The planar robot under PD control of its three motors."""
    m = cc.library.rrr3()
    for k in range(1, 4):
        joint = m.joints[f"base{k}"]
        m.motor(joint, torque=60.0 * (joint.guess[0] - joint.q) - kd * joint.v, name=f"control{k}")
    return m


def ball_pendulum():
    """A body on a ball joint; its inertia has no symmetry."""
    m = cc.Mechanism("ball pendulum")
    m.spherical("ball", m.ground, m.body("bob", cc.rigid(2.0, com=(0.1, 0.05, -0.7), inertia=(0.3, 0.2, 0.1))))
    return m


def tethered():
    """A free body on two springs."""
    m = cc.Mechanism("tethered")
    body = m.body("body", cc.rigid(2.0, com=(0.1, 0.0, 0.05), inertia=(0.3, 0.2, 0.1)))
    m.free("pose", m.ground, body, guess=(0, 0, -1, 1, 0, 0, 0))
    m.spring("left", m.ground.at(-1, 0, 1), body.at(-0.2, 0.1, 0.3), 80.0, length=0.5, damping=1.0)
    m.spring("right", m.ground.at(1, 0.2, 1), body.at(0.3, 0, 0.2), 60.0, length=0.6)
    m.spring("back", m.ground.at(0.1, 1, 0), body.at(0, -0.3, 0.1), 50.0)
    return m


def massless_coupler():
    m = sprung_four_bar()
    m.parameters["coupler.mass"] = 0.0
    return m


def geared():
    """A four-bar whose crank turns a flywheel through a gear, with a rotor on the hinge that is cut."""
    m = sprung_four_bar("B")
    wheel = m.body("wheel", cc.disc(0.3, mass=2.0))
    m.revolute("axle", m.ground.at(-1, 0, 0), wheel)
    m.couple("gear", "axle", "O", ratio=-2.0, offset=0.3)
    m.rotor("B", 0.01, ratio=5.0)
    m.joint_spring("axle", 4.0)
    return m


def driven():
    """A pendulum that hangs on a driven four-bar."""
    m = cc.library.four_bar(0.0)
    m.start = {}
    m.drive("O", 1.2 + 0.7 * cc.t + 0.4 * cc.t**2, name="crank drive")
    m.revolute("swing", m.bodies["coupler"].at(2, 0.3, 0), m.body("bob", cc.rod(0.8, mass=0.5)), guess=-1.0)
    return m


CLOSED = {"four-bar": sprung_four_bar, "bennett": bennett, "sarrus": sarrus}


def moving(name):
    """A mechanism in the middle of a motion, far from any equilibrium."""
    m = {
        **CLOSED,
        "four-bar with a damper": lambda: sprung_four_bar(damping=2.0),
        "3-rrr": rrr3,
        "ball pendulum": ball_pendulum,
        "tethered body": tethered,
        "massless coupler": massless_coupler,
        "gear and rotor": geared,
        "driven": driven,
        "gough-stewart": cc.library.gough_stewart,
        "delta": cc.library.delta,
    }[name]()
    velocity = {
        "3-rrr": {"base1": 1.0, "base2": 0.4, "base3": -1.0},
        "ball pendulum": {"ball.wx": 1.0, "ball.wy": -2.0, "ball.wz": 3.0},
        "tethered body": {"pose.wx": 1.0, "pose.wy": -2.0, "pose.wz": 0.5, "pose.vx": 0.3, "pose.vz": -0.4},
        "bennett": {"J1": 1.3},
        "sarrus": {"hip0": 1.3},
        "driven": {"swing": 2.0},
    }.get(name, {"O": 2.0})
    if name in ("gough-stewart", "delta"):
        return cc.simulate(m, until=0.3, rtol=1e-9).state()
    return m.assemble(velocity=velocity)


MOVING = ["four-bar", "bennett", "sarrus", "four-bar with a damper", "3-rrr", "ball pendulum", "tethered body"]
MOVING += ["massless coupler", "gear and rotor", "driven", "gough-stewart", "delta"]

# ---- matrices -------------------------------------------------------------------------------------------------------


def test_a_pendulum_is_the_formula():
    m = cc.library.pendulum(length=0.7, mass=2.0)
    m.motor("hinge", torque=0.0)
    angle = -1.2
    about = m.linearise(m.assemble(hinge=angle), outputs=["hinge", "hinge'", "hinge''", "arm.tip"])
    # (m l^2 / 3) y'' = u - m g l / 2 cos(y)
    slope, gain = 1.5 * 9.81 / 0.7 * np.sin(angle), 3 / (2.0 * 0.7**2)
    assert about.A.values == pytest.approx(np.array([[0, 1], [slope, 0]]), rel=1e-14)
    assert about.B.values == pytest.approx(np.array([[0], [gain]]), rel=1e-14)
    tip = 0.7 * np.array([-np.sin(angle), np.cos(angle), 0])
    assert about.C.values == pytest.approx(np.array([[1, 0], [0, 1], [slope, 0], *([x, 0] for x in tip)]), abs=1e-14)
    assert about.D.values == pytest.approx(np.array([[0], [0], [gain], [0], [0], [0]]), rel=1e-14)
    assert about.rates.values == pytest.approx([0, -1.5 * 9.81 / 0.7 * np.cos(angle)], rel=1e-14)
    assert list(about.A["state"].values) == ["hinge", "hinge'"]
    assert list(about.C["output"].values)[3:] == ["arm.tip x", "arm.tip y", "arm.tip z"]
    assert about.residual == {"hinge": pytest.approx(-1.5 * 9.81 / 0.7 * np.cos(angle))}


@pytest.mark.parametrize("name", MOVING)
def test_accelerations_change_as_those_of_the_simulation_do(name):
    state = moving(name)
    about = state.mechanism.linearise(state)
    n = len(about.independent)
    near = Dynamics(state, about.independent)
    expected = near.jacobian(near.accelerations)
    # sixth-order differences of numbers with 14 digits
    assert about.A.values[n:] == pytest.approx(expected, rel=1e-9, abs=1e-10 * np.abs(expected).max())
    assert about.rates.values[n:] == pytest.approx(near.accelerations(state), rel=1e-10)
    assert not about.in_equilibrium


@pytest.mark.parametrize("seed", [2, 5, 7, 8, 14, 17])
def test_random_mechanisms_with_all_that_acts(seed):
    """Trees, one and two loops of any joints; seeds whose motion is far from friction that changes its sign."""
    drawing = draw(seed, bodies=3 + seed % 5, loops=seed % 3, acting=True)
    rest = drawing.mechanism.assemble(guess=dict(drawing.at))
    names = drawing.mechanism.linearise(rest).independent
    rates = np.random.default_rng(seed).normal(size=len(names))
    state = Dynamics(rest, names).neighbour(np.zeros(len(names)), rates)
    about = drawing.mechanism.linearise(state)
    near = Dynamics(state, about.independent)
    expected = near.jacobian(near.accelerations)
    # as above
    assert about.A.values[len(names) :] == pytest.approx(expected, abs=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("cut", ["A", "B"])
def test_outputs_change_as_the_nonlinear_ones_do(cut):
    m = sprung_four_bar(cut)
    state = m.assemble(velocity={"O": 2.0})
    joints, place = ["O", "A", "B", "C"], m.bodies["coupler"].at(1.0, 0.3, 0.0)
    law = cc.math.sin(m.joints["C"].q) * m.joints["B"].v
    about = m.linearise(state, outputs=[*joints, *(f"{x}'" for x in joints), "B''", place, law])
    near = Dynamics(state, about.independent)

    def values(s):
        q, v = s.coordinates, s.velocities
        run = cc.simulate(m, s, until=0.0)
        b = np.array(run.frame(place).position.values[0])
        return [*(q[x] for x in joints), *(v[x] for x in joints), *b, np.sin(q["C"]) * v["B"]]

    rows = [i for i in range(about.C.shape[0]) if i != 8]
    assert about.C.values[rows] == pytest.approx(near.jacobian(values), abs=1e-9)
    assert about.values.values[rows] == pytest.approx(values(state), abs=1e-12)
    # the acceleration of a cut joint is the rate of its velocity: B'' = d(B')/dx x'
    at, b = about.C.sel(output="B'").values, float(about.values.sel(output="B''"))
    assert float(at @ about.rates.values) == pytest.approx(b, rel=1e-12)


def test_inputs_act_as_motors_do():
    m = sprung_four_bar("B")
    for joint, torque in (("B", 1.5), ("C", -0.5)):  # one of them on the hinge that is cut
        m.motor(joint, torque=torque)
    state = m.assemble(velocity={"O": 2.0})
    about = m.linearise(state, outputs=["A''"])
    near = Dynamics(state, about.independent)
    names = list(m.parameters)

    def pushed(name, h):
        p = np.array(list(m.parameters.values()))
        p[names.index(name)] += h
        return near.accelerations(state, p)

    for name in ("B.motor", "C.motor"):
        expected = derivative(lambda h, name=name: pushed(name, h))
        # differences lose some digits (seen: 1.7e-11)
        assert about.B.sel(input=name).values == pytest.approx([0, *expected], rel=1e-10)
    if about.independent == ("A",):
        assert about.D.values == pytest.approx(about.B.values[1:])
    assert m.linearise(state, inputs=["C.motor"]).B.shape == (2, 1)


def test_a_drive_as_an_input_brings_its_position_and_velocity_along():
    m = cc.library.four_bar(0.0)
    m.start = {}
    p0, p1, p2 = (m.parameter(f"p{k}", x) for k, x in enumerate((1.2, 0.7, 0.8)))
    m.drive("O", p0 + p1 * cc.t + p2 * cc.t**2 / 2, name="crank drive")
    m.revolute("swing", m.bodies["coupler"].at(2, 0.3, 0), m.body("bob", cc.rod(0.8, mass=0.5)), guess=-1.0)
    state = m.assemble(velocity={"swing": 2.0})
    about = m.linearise(state, inputs=["crank drive"], outputs=["B", "B'", "swing''"])
    assert list(about.A["state"].values) == ["swing", "crank drive", "swing'", "crank drive'"]
    assert about.rates.values == pytest.approx([2.0, 0.7, about.residual["swing"], 0.8])
    assert about.B.values[[0, 1, 3], 0] == pytest.approx([0, 0, 1])
    assert about.A.values[[1, 3]] == pytest.approx(np.array([[0, 0, 0, 1], [0, 0, 0, 0]]))

    # position, velocity and acceleration of the drive at t = 0 are parameters
    near, names = Dynamics(state, about.independent), list(m.parameters)

    def shifted(name, h):
        p = np.array(list(m.parameters.values()))
        p[names.index(name)] += h
        s = near.neighbour(np.zeros(1), np.array([2.0]), p)
        named = replace(s, parameters=dict(zip(names, p.tolist(), strict=True)))
        return [*near.accelerations(s, p), named["B"], named.velocities["B"]]

    expected = np.column_stack([derivative(lambda h, x=x: shifted(x, h)) for x in ("p0", "p1", "p2")])
    got = np.column_stack([about.A.values[2, [1, 3]].reshape(1, 2), about.B.values[2]])
    assert got[0] == pytest.approx(expected[0], rel=1e-9)
    assert about.C.values[:2, [1, 3]] == pytest.approx(expected[1:, :2], abs=1e-9)
    assert about.D.values[2] == pytest.approx(expected[0, 2])
    # the drive itself has no mode: the bob is all that swings
    assert len(about.eigenvalues) == 2


# ---- along a motion -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("draw", "name"), [(ball_pendulum, "ball"), (tethered, "pose")])
def test_deviations_of_a_turning_body_travel_as_the_matrices_say(draw, name):
    """``P' = A(t) P`` along a motion against neighbouring runs, whose deviations are read off in the body's axes."""
    m = draw()
    start = m.assemble(velocity=moving({"ball": "ball pendulum", "pose": "tethered body"}[name]).velocities)
    end, steps = 0.06, 30
    times = np.linspace(0, end, 2 * steps + 1)
    run = cc.simulate(m, start, until=end, rtol=1e-12, t_eval=times)
    A = [m.linearise(run.state(i)).A.values for i in range(len(times))]
    n = len(A[0]) // 2
    P, h = np.eye(2 * n), end / steps
    for k in range(0, len(times) - 2, 2):  # the classical Runge-Kutta method
        k1 = A[k] @ P
        k2 = A[k + 1] @ (P + h / 2 * k1)
        k3 = A[k + 1] @ (P + h / 2 * k2)
        k4 = A[k + 2] @ (P + h * k3)
        P = P + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    near = Dynamics(start, m.linearise(start).independent)

    def arrives(x):
        s = near.neighbour(x[:n], start.v + x[n:])
        got = cc.simulate(m, s, until=end, rtol=1e-12, t_eval=[end]).state()
        R, R0 = (Rotation.from_quat(y.q[-4:], scalar_first=True) for y in (got, run.state()))
        turn = (R0.inv() * R).as_rotvec()
        shift = R0.inv().apply(got.q[:3] - run.state().q[:3]) if n == 6 else np.zeros(0)
        return np.concatenate([turn, shift, got.v - run.state().v])

    expected = np.column_stack([(arrives(1e-4 * x) - arrives(-1e-4 * x)) / 2e-4 for x in np.eye(2 * n)])
    # differences of second order with 1e-4, and the fourth power of the steps: 1e-7
    assert pytest.approx(expected, abs=3e-7) == P


# ---- eigenvalues ----------------------------------------------------------------------------------------------------


def spectrum(about):
    return np.sort_complex(about.eigenvalues)


@pytest.mark.parametrize(
    ("draw", "joints"),
    [(sprung_four_bar, "O A B C"), (bennett, "J1 J2 J3 J4"), (sarrus, "hip0 knee0 ankle0 hip1 knee1 ankle1")],
)
def test_every_cut_and_every_choice_has_the_same_eigenvalues(draw, joints):
    found = []
    for cut in (None, *joints.split()):
        m = draw(cut)
        rest = m.equilibrium()
        for name in m.mobility(rest).possible:
            about = m.linearise(rest, independent=[name])
            assert about.independent == (name,) and about.in_equilibrium
            found.append(about.modes().frequencies[0])
    assert len(found) >= 3 * len(joints.split()) and found[0] > 0.1
    # equilibria are found to 1e-12 or better, and frequencies have slopes of order one there
    assert found == pytest.approx([found[0]] * len(found), rel=1e-10)


def test_damped_eigenvalues_do_not_depend_on_the_choice_either():
    found = []
    for cut in ("O", "B", "C"):
        m = sprung_four_bar(cut, damping=4.0)
        rest = m.equilibrium()
        found += [spectrum(m.linearise(rest, independent=[x])) for x in m.mobility(rest).possible]
    assert found[0][0].real < -0.1 and found[0][0].imag
    for other in found[1:]:
        assert other == pytest.approx(found[0], rel=1e-10)


def test_several_freedoms_in_every_choice():
    m = rrr3()
    rest = m.equilibrium()
    reference = spectrum(m.linearise(rest))
    names = [f"{x}{k}" for x in ("base", "elbow", "wrist") for k in (1, 2, 3)]
    known = [x for x in names if x in rest.topology.v_labels]
    tried = 0
    for i, a in enumerate(known):
        for j, b in enumerate(known[:i]):
            for c in known[:j]:
                try:
                    about = m.linearise(rest, independent=[a, b, c])
                except cc.ModelError as error:  # the three hinges of one leg, say
                    assert "do not determine the motion" in str(error)  # noqa: PT017
                    continue
                tried += 1
                assert spectrum(about) == pytest.approx(reference, rel=1e-9)
    assert tried > 20


def test_a_massless_coupler_is_the_limit_of_light_ones():
    def frequency(mass):
        m = sprung_four_bar()
        m.parameters["coupler.mass"] = mass
        return m.linearise(m.equilibrium()).modes().frequencies[0]

    exact = frequency(0.0)
    off = [abs(frequency(x) - exact) for x in (1e-3, 1e-4)]
    # in proportion to the mass
    assert off[0] / off[1] == pytest.approx(10.0, rel=1e-2) and off[1] > 0


def test_a_double_pendulum_of_point_masses_has_the_textbook_frequencies():
    m = cc.Mechanism("two beads", gravity=(0, -9.81, 0))
    beads = [m.body(f"bead{k}", cc.point_mass(0.3, at=(0.5, 0, 0))) for k in (1, 2)]
    m.revolute("upper", m.ground, beads[0])
    m.revolute("lower", beads[0].at(0.5, 0, 0), beads[1])
    about = m.linearise(m.equilibrium({"upper": -1.0, "lower": -0.4}))
    # w^2 = (2 -+ sqrt(2)) g / l; the lower bead moves sqrt(2) times as far as the upper one, with or against it
    expected = np.sqrt((2 + np.array([-1, 1]) * np.sqrt(2)) * 9.81 / 0.5) / (2 * np.pi)
    assert about.modes().frequencies == pytest.approx(expected, rel=1e-13)
    upper, lower = (about.mode_table["shape"].sel(coordinate=x).values for x in ("upper", "lower"))
    assert (upper + lower) / upper == pytest.approx([np.sqrt(2), -np.sqrt(2)], rel=1e-12)
    assert about.modes().damping_ratios == pytest.approx([0, 0], abs=0)


def test_a_spherical_pendulum_swings_both_ways_at_once():
    m = cc.Mechanism("spherical pendulum")
    m.spherical("ball", m.ground, m.body("bob", cc.rigid(2.0, com=(0, 0, -0.7), inertia=(0.2, 0.2, 0.05))))
    about = m.linearise(m.assemble(guess={"ball": (1, 0, 0, 0)}))
    # m g l / (I + m l^2) about both level axes, and nothing about the upright one
    swing = np.sqrt(2.0 * 9.81 * 0.7 / (0.2 + 2.0 * 0.7**2)) / (2 * np.pi)
    assert about.modes().frequencies == pytest.approx([0, swing, swing], rel=1e-13)
    assert about.eigenvalues[about.eigenvalues.imag == 0] == pytest.approx([0, 0], abs=0)
    assert np.isnan(about.modes().damping_ratios[0])
    assert about.stable and about.in_equilibrium
    assert about.mode_table["shape"].values[0] == pytest.approx([0, 0, 1], abs=1e-12)


# ---- frequencies of runs --------------------------------------------------------------------------------------------


def swing(about, k, size, periods, samples, **options):
    """Half the difference of two runs that begin in mode k, one each way: what is even in the amplitude is gone."""
    until = periods / about.modes().frequencies[k]
    runs = [
        cc.simulate(
            about.state.mechanism, in_mode(about, k, s), until=until, t_eval=np.linspace(0, until, samples), **options
        )
        for s in (size, -size)
    ]
    shape = np.abs(about.mode_table["shape"].values[k])
    angles = [i for i, x in enumerate(about.mode_table["coordinate"].values) if str(x) in runs[0].dataset]
    name = str(about.mode_table["coordinate"].values[max(angles, key=lambda i: shape[i])])
    return runs[0].t, (runs[0][name].values - runs[1][name].values) / 2


@pytest.mark.parametrize("draw", [sprung_four_bar, bennett, sarrus, massless_coupler, geared])
def test_frequencies_are_those_of_the_spectrum_of_a_run(draw):
    m = draw()
    about = m.linearise(m.equilibrium())
    t, z = swing(about, 0, 1e-4, periods=60, samples=1201, rtol=1e-11)
    # the amplitude shifts the frequency by about its square, 1e-8
    assert peaks(t, z, 1) == pytest.approx(about.modes().frequencies, rel=1e-7)


def test_all_frequencies_of_a_body_on_springs_are_in_one_spectrum():
    m = tethered()
    m.parameters["left.damping"] = 0.0
    rest = m.equilibrium()
    about = m.linearise(rest)
    assert len(about.modes().frequencies) == 6
    start = Dynamics(rest, about.independent).neighbour(1e-4 * np.array([1, -2, 3, 1, 2, -1]), np.zeros(6))
    until = 300.0
    run = cc.simulate(m, start, until=until, rtol=1e-10, t_eval=np.linspace(0, until, 6001))
    z = sum((run[x].values - rest[x]) for x in ("pose.x", "pose.y", "pose.z", "pose.qx", "pose.qy", "pose.qz"))
    # peaks in a record of 300 s are 1e-6 Hz sharp where they are well apart
    assert peaks(run.t, z, 6) == pytest.approx(about.modes().frequencies, rel=1e-5)


def oscillating(about):
    return [k for k, x in enumerate(about.modes().frequencies) if x]


@pytest.mark.parametrize("draw", [lambda: sprung_four_bar(damping=4.0), lambda: rrr3(kd=3.0), cc.library.gough_stewart])
def test_damped_frequencies_and_ratios_are_those_of_a_run(draw):
    m = draw()
    if m.name == "gough-stewart":
        m.parameters.update({f"leg{k} stroke": 0.0 for k in range(1, 7)} | {"kd": 10.0})
    about = m.linearise(m.equilibrium())
    assert about.stable and about.in_equilibrium
    for k in oscillating(about)[:3]:
        t, z = swing(about, k, 1e-4, periods=2, samples=41, rtol=1e-12, atol=1e-15)
        got = decay(t, z)
        # cubic terms of the amplitude: 1e-8
        assert got == pytest.approx(complex(about.mode_table["eigenvalue"].values[k]), rel=1e-6)
        assert -got.real / abs(got) == pytest.approx(about.modes().damping_ratios[k], rel=1e-6)
        assert abs(got) / (2 * np.pi) == pytest.approx(about.modes().frequencies[k], rel=1e-6)


def test_a_controlled_platform_has_complex_shapes_of_all_its_joints():
    m = cc.library.gough_stewart()
    m.parameters.update({f"leg{k} stroke": 0.0 for k in range(1, 7)})
    about = m.linearise(m.equilibrium(), outputs=["leg1 slide", "platform"])
    shapes = about.mode_table["shape"]
    assert shapes.shape[1] == sum(j.type.nv for j in m.joints.values())
    assert np.abs(shapes.values).max(axis=1) == pytest.approx(np.ones(shapes.shape[0]))
    assert about.B.shape == (12, 6) and about.C.shape == (4, 12)


# ---- scipy ----------------------------------------------------------------------------------------------------------


def test_scipys_step_response_is_a_small_motion():
    m = sprung_four_bar(damping=4.0)
    m.motor("C", torque=m.parameter("push", 0.0))
    rest = m.equilibrium()
    system = m.linearise(rest, outputs=["O", "B"]).to_scipy()
    t, response = system.step(T=np.linspace(0, 1.5, 31))
    push = 1e-3
    runs = [cc.simulate(m, rest, until=1.5, rtol=1e-11, t_eval=t, parameters={"push": x}) for x in (push, -push)]
    for i, name in enumerate(("O", "B")):
        expected = (runs[0][name].values - runs[1][name].values) / (2 * push)
        # what is cubic in the push: 1e-7 of the response
        assert response[:, i] == pytest.approx(expected, abs=2e-6 * np.abs(expected).max())


# ---- words ----------------------------------------------------------------------------------------------------------


def test_it_prints_a_table_and_says_what_it_is_about():
    m = sprung_four_bar(damping=4.0)
    text = str(m.linearise(m.equilibrium()))
    assert text.startswith("sprung four-bar about an equilibrium; independent coordinates: ")
    assert "frequency [Hz]" in text and "+-" in text and text.endswith("\nstable")
    text = str(m.linearise())
    assert "about a pose at rest" in text and "not an equilibrium: it would accelerate" in text
    text = str(m.linearise(m.assemble(velocity={"O": 1.0})))
    assert "about a moving state" in text and "eigenvalues hold for this instant" in text


def balanced(torques, forces=(), axes="world"):
    """A rod on a hinge and a slide, without gravity, springs and any other time of its own."""
    m = cc.Mechanism("balanced", gravity=(0, 0, 0))
    cart, rod = m.body("cart", cc.point_mass(2.0)), m.body("rod", cc.rod(1.0, mass=3.0))
    m.prismatic("slide", m.ground, cart, axis=(1, 0, 0))
    m.revolute("hinge", cart, rod)
    for k, x in enumerate(torques):
        m.motor("hinge", torque=x, name=f"motor{k}")
    for k, x in enumerate(forces):
        m.force(f"force{k}", rod.tip, (x, 0.5 * x, 0), axes=axes)
    return m


@pytest.mark.parametrize(
    ("loads", "rests"),
    [
        (([0.3, -0.1, -0.1, -0.1],), True),  # they leave -3e-17 N m
        (([3e8, -1e8, -1e8, -1e8 * (1 + 1e-15)],), True),
        (([0.3, -0.1, -0.1, -0.1 + 1e-9],), False),
        (([-3e-17],), False),  # nothing that it could be the rounding of
        (([], [0.3, -0.1, -0.1, -0.1]), True),
        (([], [0.3, -0.1, -0.1, -0.1], "frame"), True),
        (([], [0.3, -0.1, -0.1, -0.1 + 1e-9]), False),
    ],
)
def test_loads_cancel_to_rounding_without_gravity(loads, rests):
    m = balanced(*loads)
    pose = m.assemble(slide=0.0, hinge=0.3)
    about = m.linearise(pose)
    assert np.abs(about.rates.values).max() > 0 and about.in_equilibrium is rests
    if rests:
        assert m.linearise(m.equilibrium(pose)).in_equilibrium


def test_an_inverted_pendulum_is_unstable():
    m = cc.library.pendulum()
    about = m.linearise(m.assemble(hinge=cc.pi / 2))
    assert about.in_equilibrium and not about.stable
    rate = np.sqrt(1.5 * 9.81)
    assert about.mode_table["eigenvalue"].values == pytest.approx([rate, -rate])
    assert about.modes().damping_ratios == pytest.approx([-1, 1]) and about.modes().frequencies == pytest.approx([0, 0])
    assert "unstable: a small deviation grows" in str(about)


@pytest.mark.parametrize("thrust", [5.0, 60.0])
def test_a_follower_force_flutters_beyond_its_limit(thrust):
    """Beck's problem with two rods: the stiffness is not symmetric, and two frequencies meet."""
    m = cc.Mechanism("follower", gravity=(0, 0, 0))
    one, two = (m.body(x, cc.rod(1.0, mass=1.0)) for x in ("one", "two"))
    for name, a, b in (("lower", m.ground, one), ("upper", one.tip, two)):
        m.revolute(name, a, b)
        m.joint_spring(name, 20.0)
    m.force("thrust", two.tip, (-thrust, 0, 0), axes="frame")
    about = m.linearise(m.assemble(lower=0.0, upper=0.0))
    # those of the whole matrix; rounding of its norm
    got, expected = (
        sorted(x, key=lambda y: (round(y.imag, 9), y.real)) for x in (about.eigenvalues, np.linalg.eigvals(about.A))
    )
    assert got == pytest.approx(expected, abs=1e-12)
    assert about.stable is (thrust < 50.0)
    assert about.in_equilibrium is True and len(about.modes().frequencies) == 2
    assert (about.modes().damping_ratios == 0).all() or about.modes().damping_ratios[
        0
    ] == -about.modes().damping_ratios[1]


def test_stiffness_and_damping_matrices():
    m = sprung_four_bar("B", damping=4.0)
    about = m.linearise(m.equilibrium(), independent=["A"])
    # the damper sits on the independent angle itself
    assert about.damping == pytest.approx(np.array([[4.0]]))
    value = complex(about.eigenvalues[0])
    terms = [about.inertia[0, 0] * value**2, 4.0 * value, about.stiffness[0, 0]]
    assert abs(sum(terms)) < 1e-12 * max(map(abs, terms))


def test_parameters_are_for_this_call_only():
    m = cc.library.pendulum()
    hanging = m.assemble(hinge=-cc.pi / 2)
    assert m.linearise(hanging, parameters={"arm.length": 4.0}).modes().frequencies == pytest.approx(
        m.linearise(hanging).modes().frequencies / 2
    )


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda m, s: cc.Mechanism.linearise("m"), "needs a cc.Mechanism"),
        (lambda m, s: m.linearise("s"), "needs a state of this mechanism"),
        (lambda m, s: m.linearise(cc.library.pendulum().assemble()), "needs a state of this mechanism"),
        (lambda m, s: m.linearise(s, inputs=["O.moter"]), "did you mean 'O.motor'"),
        (lambda m, s: m.linearise(s, inputs=["O.motor", "O.motor"]), "'O.motor' is named twice"),
        (lambda m, s: m.linearise(s, outputs=["D'"]), "no coordinate, velocity, acceleration or frame"),
        (lambda m, s: m.linearise(s, parameters=[1]), "takes a mapping"),
        (lambda m, s: m.linearise(s, independent=["O", "A"]), "has 1 freedom, but 2 names"),
        (lambda m, s: m.linearise(s, independent=["B"]), "'B' is cut"),
        (lambda m, s: m.linearise(s, independent=["D"]), "no joint or velocity is named 'D'"),
        (lambda m, s: m.linearise(s, inputs=[]).to_scipy(), "needs inputs and outputs"),
    ],
)
def test_wrong_calls_are_told_in_a_sentence(call, sentence):
    m = cc.library.four_bar()
    with pytest.raises(cc.ModelError, match=sentence):
        call(m, m.assemble())


@pytest.mark.filterwarnings("ignore:degenerate assembly")  # the pose is held on purpose
def test_states_that_cannot_be_linearised():
    m = cc.library.four_bar()
    start = m.assemble()
    with pytest.raises(cc.AssemblyError, match="are open by"):
        m.linearise(replace(start, q=start.q + 0.1))
    with pytest.raises(cc.AssemblyError, match="are open by"):
        m.linearise(start, parameters={"coupler.length": 4.1})
    with pytest.raises(cc.AssemblyError, match="are open by"):
        m.linearise(replace(start, v=start.v + 1.0))
    flat = drawings.parallelograms(1)
    with pytest.raises(cc.ModelError, match="singular pose"):
        flat.linearise(flat.assemble(O0=0.0, guess={"O1": 0.0, "left1": 0.0, "right1": 0.0}))


def test_a_dead_centre_has_no_independent_slide():
    m = cc.library.slider_crank()
    with pytest.raises(cc.ModelError, match="do not determine the motion"):
        m.linearise(m.assemble(O=0.0), independent=["slide"])
    assert m.linearise(m.assemble(O=0.0), independent=["O"]).independent == ("O",)


def test_a_drive_that_repeats_another_cannot_be_an_input():
    m = cc.library.four_bar(0.0)
    m.start = {}
    m.drive("O", 1.0, name="one")
    angle = cc.library.four_bar().assemble(O=1.0)["C"]
    m.drive("C", float(angle), name="two")
    for name in ("one", "two"):
        with pytest.raises(cc.ModelError, match="cannot be moved on its own"):
            m.linearise(inputs=[name])
