"""Runs under control: errors decay as the law says, paths are followed, and all work is accounted for."""

import math

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.forces.control import PD
from closedchain.results.efforts.computed_torque import ComputedTorque
from tests.invariants import drawings

KP, KD, UNTIL = 120.0, 14.0, 0.6


def decaying(e0, rate0, t, kp=KP, kd=KD):
    """The solution of ``e'' + kd e' + kp e = 0``."""
    roots = np.roots([1.0, kd, kp]).astype(complex)
    weights = np.linalg.solve(np.array([[1, 1], roots]), [e0, rate0])
    return (weights @ np.exp(np.outer(roots, t))).real


# mechanism, actuated coordinates, how far they are off at the start
CASES = {
    "four-bar": (cc.library.four_bar, {"O": 0.05}),
    "five-bar": (cc.library.five_bar, {"left motor": 0.05, "right motor": -0.02}),
    "3-RRR": (cc.library.rrr3, {"base1": 0.02, "base2": -0.01, "base3": 0.03}),
    "delta": (lambda: cc.library.delta("none"), {"arm1 motor": 0.02, "arm2 motor": -0.01, "arm3 motor": 0.03}),
    "gough-stewart": (cc.library.gough_stewart, {f"leg{k} slide": 0.01 * (k - 3) for k in range(1, 7)}),
    "one motor for two freedoms": (cc.library.double_pendulum, {"shoulder": 0.1}),
    "closed more than once": (drawings.bennett, {"J1": 0.05}),
}


@pytest.mark.parametrize("name", CASES)
def test_errors_decay_as_the_law_says(name):
    draw, off = CASES[name]
    m = draw()
    usual = m.assemble().coordinates
    swing = {label: 0.05 * (k + 1) for k, label in enumerate(off)}
    m.control(ComputedTorque({x: usual[x] + swing[x] * cc.math.sin(3 * cc.t) for x in off}, KP, KD))
    start = m.assemble({x: usual[x] + off[x] for x in off})
    run = cc.simulate(m, start, until=UNTIL, rtol=1e-10, atol=1e-12)
    for x in off:
        error = usual[x] + swing[x] * np.sin(3 * run.t) - run[x].values
        expected = decaying(usual[x] - start[x], 3 * swing[x] - start.velocities[x], run.t)
        assert np.abs(error - expected).max() < 1e-8  # a hundred times the tolerance
    assert float(np.abs(run.energy_error).max()) < 1e-7 * max(1.0, float(np.abs(run["work"]).max()))
    assert float(run.closure_error.max()) < 1e-11


def test_at_a_cut_joint():
    """The angle that the motor turns is measured between two limbs, and is no coordinate of the tree."""
    m = cc.Mechanism("four-bar", gravity=(0, -9.8, 0))
    crank, coupler, rocker = (
        m.body(name, cc.rod(length=length, mass=1.0))
        for name, length in (("crank", 1.0), ("coupler", 4.0), ("rocker", 2.5))
    )
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, coupler, guess=-1.2)
    m.revolute("C", m.ground.at(3, 0, 0), rocker, guess=1.3)
    m.revolute("B", coupler.tip, rocker.tip, cut=True)
    b = m.assemble(O=1.5)["B"]
    m.control(ComputedTorque({"B": b + 0.1 * cc.math.sin(2 * cc.t)}, KP, KD))
    start = m.assemble(O=1.52)
    run = cc.simulate(m, start, until=UNTIL, rtol=1e-10, atol=1e-12)
    error = b + 0.1 * np.sin(2 * run.t) - run["B"].values
    assert np.abs(error - decaying(b - start["B"], 0.2, run.t)).max() < 1e-9
    assert float(np.abs(run.energy_error).max()) < 1e-8


METHODS = {
    "Projection": (cc.Projection(sigma=10.0), {}),
    "IndependentCoordinates": (cc.IndependentCoordinates(), {}),
    "OperationalSpace": (cc.OperationalSpace(), {}),
    "DeNOC": (cc.DeNOC(), {}),
    "Multipliers, Radau": (cc.Multipliers(), {"solver": "radau5"}),
    "GGL": (cc.GGL(), {"solver": "radau5"}),
    "Multipliers, fixed steps": (cc.Multipliers(), {"solver": cc.solvers.RK4(step=2e-3)}),
    "springs": (cc.VirtualSpring(1e7, 1e3), {"solver": "radau5"}),
}


def test_with_every_formulation():
    m = cc.library.five_bar()
    usual = m.assemble().coordinates
    labels = ["left motor", "right motor"]
    m.control(ComputedTorque({x: usual[x] + 0.1 * cc.math.sin(3 * cc.t) for x in labels}, KP, KD))
    start = m.assemble({x: usual[x] + 0.02 for x in labels})
    for name, (method, options) in METHODS.items():
        tolerance = {} if "solver" in options else {"rtol": 1e-8}
        run = cc.simulate(m, start, until=UNTIL, method=method, **options, **tolerance)
        for x in labels:
            error = usual[x] + 0.1 * np.sin(3 * run.t) - run[x].values
            # springs give way by some 1e-6 m under these forces
            most = 1e-5 if name == "springs" else 1e-6
            assert np.abs(error - decaying(-0.02, 0.3, run.t)).max() < most, name


# ---- along paths -----------------------------------------------------------------------------------------------------


def test_a_delta_follows_a_path():
    m = cc.library.delta("none")
    path = cc.paths.circle(0.1, period=1.0, centre=(-0.1, -0.05, -0.8))
    arms = ["arm1 motor", "arm2 motor", "arm3 motor"]
    motion = cc.follow(m, {"platform": path}, until=1.0, samples=21)
    m.control(ComputedTorque(motion, kp=400.0, joints=arms))
    between = np.linspace(0.0, 1.0, 101)  # each fifth of them is a sample of the motion
    run = cc.simulate(m, motion.start, until=1.0, rtol=1e-9, t_eval=between)
    # splines of degree five through 21 samples are off by less than a micrometre
    assert np.abs(run.frame("platform").position.values - path.at(run.t).value).max() < 1e-6
    assert run.good
    # the torques are those of inverse dynamics, but for what corrects the errors
    need = cc.inverse_dynamics(m, motion, actuators=arms)
    for k, label in enumerate(need.actuators):
        assert run[f"{label}.control"].values[::5] == pytest.approx(need.tau[:, k], abs=1e-4 * np.abs(need.tau).max())


def test_a_3rrr_follows_a_rose():
    m = cc.library.rrr3()
    path = cc.paths.rose(0.05, period=2.0).turned(about=(0, 0, 1), angle=0.0)
    motion = cc.follow(m, {"platform": path}, until=2.0, samples=31)
    m.control(ComputedTorque(motion, kp=400.0, kd=40.0))
    run = cc.simulate(m, motion.start, until=2.0, rtol=1e-8)
    assert np.abs(run.frame("platform").position.values - path.at(run.t).value).max() < 1e-6
    assert run.good


def test_pd_follows_the_closer_the_higher_its_gains_and_feedforward_helps():
    m = cc.library.rrr3()
    motion = cc.follow(m, {"platform": cc.paths.rose(0.05, period=2.0).turned((0, 0, 1), 0.0)}, 0.5, samples=11)
    need = cc.inverse_dynamics(m, motion)
    share = m.parameter("share", 0.0)
    m.control(PD(motion, kp=1.0, kd=1.0, feedforward={x: share * need.signal(x) for x in need.actuators}))
    worst = {}
    for kp, helped in ((100.0, 0.0), (1000.0, 0.0), (10000.0, 0.0), (100.0, 1.0)):
        m.parameters.update({"control.kp": kp, "control.kd": 0.1 * kp, "share": helped})
        run = cc.simulate(m, motion.start, until=0.5, rtol=1e-7, t_eval=motion.t)
        worst[kp, helped] = max(float(np.abs(run[x].values - motion[x].values).max()) for x in need.actuators)
    # a tenth of the error for ten times the gains, roughly; torques through 11 samples leave a hundredth of it
    assert worst[1000.0, 0.0] < 0.2 * worst[100.0, 0.0]
    assert worst[10000.0, 0.0] < 0.2 * worst[1000.0, 0.0]
    assert worst[100.0, 1.0] < 0.03 * worst[100.0, 0.0]


@pytest.mark.parametrize("load", [0.0, 1.0])
def test_efforts_that_hold_a_pose_are_a_feedforward(load):
    """PD stays where it is to be, as far as what it has to hold is known beforehand."""
    m = cc.library.four_bar(torque=0.0)
    pose = m.assemble(O=1.5)
    need = cc.holding_efforts(m, pose, actuators=["O"])
    assert abs(float(need["O"][0])) > 1.0
    m.force("load", m.bodies["rocker"].tip, (m.parameter("load", load), 0, 0))
    m.control(PD({"O": 1.5}, kp=50.0, kd=20.0, feedforward=need))
    run = cc.simulate(m, m.assemble(O=1.5), until=0.5, rtol=1e-9)
    off = float(np.abs(run["O"].values - 1.5).max())
    assert off < 1e-10 if load == 0.0 else off > 1e-3


def test_a_wrong_model_leaves_an_error_that_gains_make_smaller():
    m = cc.library.four_bar()
    m.control(ComputedTorque({"O": 1.5 + 0.2 * cc.math.sin(3 * cc.t)}, 100.0, parameters={"coupler.mass": 1.5}))
    worst = []
    for believed, kp in ((1.0, 100.0), (1.5, 100.0), (1.5, 10000.0)):
        m.parameters.update({"control.coupler.mass": believed, "control.kp": kp})
        run = cc.simulate(m, m.assemble(O=1.5, velocity={"O": 0.6}), until=1.0, rtol=1e-9)
        worst.append(float(np.abs(run["O"].values - 1.5 - 0.2 * np.sin(3 * run.t)).max()))
    assert worst[0] < 1e-8 < 1e-4 < worst[1]
    assert worst[2] < 0.02 * worst[1]  # the error is that of the torque, divided by kp


def test_a_limit_holds():
    m = cc.library.four_bar()
    m.control(ComputedTorque({"O": 1.5 + 0.2 * cc.math.sin(3 * cc.t)}, KP, KD, limit=2.0))
    run = cc.simulate(m, m.assemble(O=1.5), until=1.0, rtol=1e-8)
    assert float(np.abs(run["O.control"]).max()) == 2.0
    assert float(np.abs(run.energy_error).max()) < 1e-6


def test_a_reference_with_corners_is_known_beforehand():
    """The acceleration that is asked for jumps at 0.35 s: steps end there, and nothing is rejected on its account."""
    m = cc.library.four_bar()
    later = cc.math.where(cc.t < 0.35, 0.0, 0.5 * (cc.t - 0.35) ** 2)
    m.control(ComputedTorque({"O": 1.5 + later}, KP, KD))
    run = cc.simulate(m, m.assemble(O=1.5), until=1.0, rtol=1e-10, atol=1e-12)
    wanted = 1.5 + np.where(run.t < 0.35, 0.0, 0.5 * (run.t - 0.35) ** 2)
    assert np.abs(run["O"].values - wanted).max() < 1e-10


# ---- behind springs --------------------------------------------------------------------------------------------------

MOTOR = cc.DCMotor(resistance=0.3, torque_constant=0.05, gear=30, rotor_inertia=7e-5, viscous=1e-5, drive="torque")


@pytest.mark.parametrize(
    ("draw", "label", "at"), [(cc.library.pendulum, "hinge", 0.5), (cc.library.four_bar, "O", 1.5)]
)
def test_behind_a_spring_the_law_is_as_good_as_the_spring_is_stiff(draw, label, at):
    m = draw()
    spring = cc.SeriesElastic(MOTOR, stiffness=1.0, damping=1.0)
    m.control(ComputedTorque({label: at + 0.2 * cc.math.sin(3 * cc.t)}, kp=100.0), actuator=spring)
    shaft = f"{label}.control.angle"
    start = m.assemble({label: at, shaft: at}, velocity={label: 0.6, shaft: 0.6})
    worst = []
    for k in (1e5, 1e6, 1e7):
        numbers = {f"{label}.control.stiffness": k, f"{label}.control.damping": 1e-3 * k}
        run = cc.simulate(m, start, until=1.0, solver="radau5", rtol=1e-10, atol=1e-12, parameters=numbers)
        worst.append(float(np.abs(run[label].values - at - 0.2 * np.sin(3 * run.t)).max()))
    # the first order in 1/k, seen as 10.0 within a per cent
    assert worst[0] < 1e-5
    assert worst[0] / worst[1] == pytest.approx(10.0, rel=0.02)
    assert worst[1] / worst[2] == pytest.approx(10.0, rel=0.02)


def idle_four_bar():
    return cc.library.four_bar(torque=0.0)


@pytest.mark.parametrize("k", [1e3, 1e5])
@pytest.mark.parametrize(("draw", "label", "at"), [(cc.library.pendulum, "hinge", 0.5), (idle_four_bar, "O", 1.5)])
def test_a_pose_held_behind_a_spring_is_exact(draw, label, at, k):
    """The joint is where it is to be with any spring; the shaft is ahead by what the spring needs for the load."""
    m = draw()
    load = float(cc.holding_efforts(m, m.assemble({label: at}), actuators=[label])[label][0])
    m.control(ComputedTorque({label: at}, kp=100.0), actuator=cc.SeriesElastic(MOTOR, stiffness=k, damping=0.01 * k))
    shaft = f"{label}.control.angle"
    run = cc.simulate(m, m.assemble({label: at, shaft: at}), until=5.0, solver="radau5", rtol=1e-9)
    assert float(run[label][-1]) == pytest.approx(at, abs=1e-9)  # integration
    assert float(run[shaft][-1]) - at == pytest.approx(load / k, abs=1e-9)
    assert abs(load / k) > 1e-5


# ---- small motions ---------------------------------------------------------------------------------------------------


def test_poles_are_those_of_the_law():
    """At the pose that the law holds, which is an equilibrium with any gains."""
    m = cc.library.five_bar()
    usual = m.assemble().coordinates
    m.control(
        ComputedTorque(
            {x: usual[x] for x in ("left motor", "right motor")}, {"left motor": 50.0, "right motor": 90.0}, 4.0
        )
    )
    rest = m.equilibrium()
    assert rest["left motor"] == pytest.approx(usual["left motor"], abs=1e-9)
    poles = sorted(m.linearise(rest).eigenvalues, key=lambda pole: pole.imag)
    expected = sorted([*np.roots([1, 4, 50]), *np.roots([1, 4, 90])], key=lambda pole: pole.imag)
    assert np.abs(np.subtract(poles, expected)).max() < 1e-8


# ---- more motors than freedoms ---------------------------------------------------------------------------------------


def rrr4():
    """A square platform on four legs of two rods in a vertical plane."""
    m = cc.Mechanism("4-RRR", gravity=(0, -9.81, 0))
    platform = m.body("platform", cc.rigid(mass=5.0, inertia=(0.03, 0.03, 0.06)))
    for k in range(4):
        polar = math.pi / 4 + k * math.pi / 2
        out, turn = np.array([math.cos(polar), math.sin(polar), 0.0]), polar + 2.0
        upper, lower = m.body(f"upper{k}", cc.rod(0.4, mass=2.0)), m.body(f"lower{k}", cc.rod(0.5, mass=1.5))
        m.revolute(f"motor{k}", m.ground.at(*(0.7 * out)), upper, guess=turn)
        m.revolute(f"elbow{k}", upper.tip, lower, guess=1.5)
        m.revolute(f"wrist{k}", lower.tip, platform.at(*(0.15 * out)), guess=-turn - 1.5)
    return m


def test_four_motors_for_three_freedoms():
    """Any preload gives the same motion, without one the torques are those of least norm."""
    motors = [f"motor{k}" for k in range(4)]
    path = cc.paths.circle(0.04, period=1.0).turned((0, 0, 1), 0.1 * cc.math.sin(3 * cc.t))
    m = rrr4()
    motion = cc.follow(m, {"platform": path}, until=0.5, samples=11)
    m.control(ComputedTorque(motion, KP, KD, joints=motors, preload={"motor0": 20.0}))
    least = cc.inverse_dynamics(m, motion, actuators=motors).tau
    norms = []
    for preload in (20.0, 0.0):
        m.parameters["motor0.control.preload"] = preload
        run = cc.simulate(m, motion.start, until=0.5, rtol=1e-9, t_eval=motion.t)
        for x in motors:
            assert np.abs(run[x].values - motion[x].values).max() < 1e-7  # splines through 11 samples
        assert float(np.abs(run.energy_error).max()) < 1e-7
        torques = np.array([run[f"{x}.control"].values for x in motors]).T
        norms.append(np.linalg.norm(torques, axis=1))
    assert torques == pytest.approx(least, abs=1e-4 * np.abs(least).max())
    assert (norms[0] > norms[1]).all()


def test_errors_of_redundant_coordinates_decay_too():
    """They cannot all be prescribed at will: the nearest accelerations are taken, and to first order the law holds."""
    m = rrr4()
    usual = m.assemble().coordinates
    motors = [f"motor{k}" for k in range(4)]
    m.control(ComputedTorque({x: usual[x] for x in motors}, KP, KD))
    start = m.assemble({"motor0": usual["motor0"] + 1e-3, "motor1": usual["motor1"] - 1e-3, "motor2": usual["motor2"]})
    run = cc.simulate(m, start, until=UNTIL, rtol=1e-10, atol=1e-13)
    for x in motors:
        expected = decaying(usual[x] - start[x], 0.0, run.t)
        assert np.abs(usual[x] - run[x].values - expected).max() < 1e-5  # errors of 1e-3 squared, times a few
    assert abs(run["motor3"][-1] - usual["motor3"]) < 1e-4
