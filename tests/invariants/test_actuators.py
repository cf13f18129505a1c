"""Actuators in runs: closed forms of single masses; loops cut at any joint, in every formulation; where energy goes."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import closedchain as cc
from closedchain.model.actuators import DCMotor, ElectricCylinder, ForceLimit, HydraulicCylinder, SeriesElastic
from closedchain.testing.formulations import closed_by, dense, states
from tests.agreement.test_library import EXACT, METHODS
from tests.invariants.balance import imbalance

MOTOR = DCMotor(
    resistance=0.6, torque_constant=0.06, gear=40, rotor_inertia=2e-4, viscous=1e-4, coulomb=0.01, max_voltage=24,
    max_current=15,
)  # fmt: skip
CYLINDER = HydraulicCylinder(bore=0.08, rod=0.056, supply_pressure=20e6, tank_pressure=0.5e6, rated_flow=1e-3)
AREA, ROD_SIDE = np.pi / 4 * 0.08**2, np.pi / 4 * (0.08**2 - 0.056**2)


def off(run):
    """Largest error of the balance of energy, J."""
    return float(np.abs(run.energy_error).max())


# ---- one mass: closed forms ------------------------------------------------------------------------------------------


def flywheel(model, command):
    """A disc of 0.04 kg m^2 on an axle, driven by an actuator."""
    m = cc.Mechanism("flywheel")
    m.revolute("axle", m.ground, m.body("disc", cc.disc(radius=0.2, mass=2.0)))
    m.actuator("axle", model, command=command)
    return m


def test_a_motor_runs_up_exponentially():
    """I w' = r k_t (V - k_e r w) / R - r^2 b w, with the rotor behind the gear."""
    R, kt, ke, r, J, b, V = 0.5, 0.05, 0.06, 10.0, 1e-4, 1e-5, 12.0
    model = DCMotor(
        resistance=R, torque_constant=kt, back_emf_constant=ke, gear=r, rotor_inertia=J, viscous=b, max_voltage=24.0
    )
    run = cc.simulate(flywheel(model, V), until=0.5, rtol=1e-11)
    drag = r**2 * (kt * ke / R + b)
    top, tau = r * kt * V / R / drag, (0.04 + r**2 * J) / drag
    assert np.abs(run["axle'"] - top * (1 - np.exp(-run.t / tau))).max() < 1e-9  # 5 times rtol of 20 rad/s
    assert float(run["axle.motor"][0]) == pytest.approx(r * kt * V / R, rel=1e-12)  # stalled
    assert off(run) < 1e-9


def test_current_then_voltage_limit_the_run_up():
    """Constant acceleration until the back-EMF leaves less than the largest current; exponential from there."""
    R, k, r, V, i = 0.5, 0.05, 10.0, 24.0, 20.0
    model = DCMotor(resistance=R, torque_constant=k, gear=r, max_voltage=V, max_current=i)
    run = cc.simulate(flywheel(model, 100.0), until=0.4, rtol=1e-11)  # asks for more volts than there are
    corner, top, tau = (V - R * i) / (k * r), V / (k * r), 0.04 * R / (r * k) ** 2
    begin = corner / (r * k * i / 0.04)
    late = top - (top - corner) * np.exp(-(run.t - begin) / tau)
    wanted = np.where(run.t < begin, r * k * i / 0.04 * run.t, late)
    # the step over the kink is short, but its error is not of high order: some multiples of rtol
    assert np.abs(run["axle'"] - wanted).max() < 1e-8
    assert 0.05 < begin < 0.2 and off(run) < 1e-8


@pytest.mark.parametrize(("drive", "command"), [("current", 8.0), ("torque", 40.0), ("voltage", 24.0)])
def test_every_command_ends_at_the_speed_without_load(drive, command):
    model = DCMotor(resistance=0.5, torque_constant=0.05, gear=100, max_voltage=24, max_current=20, drive=drive)
    run = cc.simulate(flywheel(model, command), until=1.0)
    assert float(run["axle'"][-1]) == pytest.approx(24 / (0.05 * 100), rel=1e-6)
    start = {"current": 0.05 * 100 * 8, "torque": 40.0, "voltage": 0.05 * 100 * 20}[drive]
    assert float(run["axle.motor"][0]) == pytest.approx(start, rel=1e-12)


def test_jumps_of_a_voltage_are_stepped_onto():
    """A square wave beyond the limits: the speeds at its jumps follow from exponentials alone."""
    R, k, r, V, half = 0.5, 0.05, 10.0, 24.0, 0.03
    model = DCMotor(resistance=R, torque_constant=k, gear=r, max_voltage=V)
    wave = cc.math.where(cc.t % (2 * half) < half, 30.0, -30.0)
    run = cc.simulate(flywheel(model, wave), until=6 * half, t_eval=half * np.arange(7), rtol=1e-11)
    tau, top, speeds = 0.04 * R / (r * k) ** 2, V / (k * r), [0.0]
    for n in range(6):
        end = top if n % 2 == 0 else -top
        speeds.append(end + (speeds[-1] - end) * np.exp(-half / tau))
    assert np.abs(run["axle'"] - speeds).max() < 1e-9  # twice rtol of 48 rad/s


def test_a_sampled_controller_commands_a_motor():
    def bang(t, now):
        return 24.0 if now["axle"] < 1.0 else -24.0

    model = DCMotor(resistance=0.5, torque_constant=0.05, gear=10, max_voltage=12, max_current=10)
    run = cc.simulate(flywheel(model, cc.Sampled(bang, period=0.01)), until=1.0)
    # held at +-24 V, clipped at 12 V, and at 10 A
    assert set(np.sign(run["axle.motor"].values)) == {-1.0, 1.0}
    assert np.abs(run["axle.motor"]).max() == pytest.approx(10 * 0.05 * 10) and off(run) < 1e-4


def pushed(model, command, load):
    """A mass of 2 t that a cylinder pushes along a slide against a load."""
    m = cc.Mechanism("pushed", gravity=(0, 0, 0))
    m.prismatic("rod", m.ground, m.body("mass", cc.box((0.2, 0.2, 0.2), mass=2000.0)))
    m.motor("rod", force=-load, name="load")
    m.actuator("rod", model, command=command)
    return m


@pytest.mark.parametrize(("opening", "load"), [(1.0, 20e3), (-1.0, -10e3), (0.5, 30e3)])
def test_a_hydraulic_cylinder_accelerates_as_a_hyperbolic_tangent(opening, load):
    """m v' = +-(F_0 - c v^2) - load: the speed tends to that at which the valve takes all the pressure."""
    run = cc.simulate(pushed(replace(CYLINDER, drive="valve"), opening, load), until=0.1, rtol=1e-10)
    sign, a = np.sign(opening), min(abs(opening) + 0.01, 1.0)
    at_rest = 20e6 * AREA - 0.5e6 * ROD_SIDE if sign > 0 else 20e6 * ROD_SIDE - 0.5e6 * AREA
    c = 3.5e6 * (AREA**3 + ROD_SIDE**3) / (a * 1e-3) ** 2
    top = np.sqrt((at_rest - sign * load) / c)
    wanted = sign * top * np.tanh(c * top / 2000.0 * run.t)
    assert np.abs(run["rod'"] - wanted).max() < 1e-9 and abs(float(run["rod'"][-1])) > 0.9 * top
    assert off(run) < 1e-6  # of some kJ


def test_a_wanted_force_is_clipped_to_what_the_speed_leaves():
    """It asks for 90 kN: these there are until the speed has taken too much of the pressure."""
    run = cc.simulate(pushed(CYLINDER, 90e3, 20e3), until=0.2, rtol=1e-10)
    _, high = CYLINDER.envelope(run["rod'"].values)
    np.testing.assert_allclose(run["rod.motor"], np.minimum(90e3, high), rtol=1e-12)
    assert float(run["rod.motor"][0]) == 90e3 and float(run["rod.motor"][-1]) == pytest.approx(20e3, rel=1e-3)


@pytest.mark.parametrize("solver", ["dop853", "radau5", "rodas5p"])
def test_a_valve_passes_its_middle(solver):
    """Openings of both signs, with check valves at work: kinks, but no trouble for any kind of solver."""
    model = replace(CYLINDER, drive="valve", viscous=500.0)
    run = cc.simulate(pushed(model, 0.3 * cc.math.sin(6 * cc.t), 5e3), until=1.0, rtol=1e-7, solver=solver)

    def acceleration(t, v):
        return (model.force(0.3 * np.sin(6 * t), v) - 500.0 * v - 5e3) / 2000.0

    wanted = solve_ivp(acceleration, (0, 1), [0.0], "LSODA", run.t, rtol=1e-10, atol=1e-12).y[0]
    # kinks within steps: some multiples of rtol, of 0.3 m/s (measured: 1.1e-6)
    assert run.good and np.abs(run["rod'"] - wanted).max() < 3e-6
    assert {-1.0, 1.0} <= set(np.sign(wanted))


@pytest.mark.parametrize("solver", ["dop853", "radau5"])
def test_a_load_that_runs_ahead_of_the_valve(solver):
    """Faster than any flow allows, the chambers are at the pressures of tank and supply until it is slow enough."""
    model = replace(CYLINDER, drive="valve")
    m = pushed(model, 0.6 + 0.4 * cc.math.sin(50 * cc.t), 0.0)
    run = cc.simulate(m, m.assemble(velocity={"rod": 3.0}), until=0.2, rtol=1e-8, solver=solver)
    force, v = run["rod.motor"].values, run["rod'"].values
    np.testing.assert_allclose(force, model.force(0.6 + 0.4 * np.sin(50 * run.t), v), rtol=1e-9)
    fast = v > 1.0
    np.testing.assert_allclose(force[fast], 0.5e6 * AREA - 20e6 * ROD_SIDE, rtol=1e-9)
    assert fast.sum() > 10 and not fast[-1] and run.good


def test_an_electric_cylinder_runs_up_exponentially():
    R, k, lead, J = 0.5, 0.05, 0.01, 2e-5
    r = 2 * np.pi * 2 / lead
    model = ElectricCylinder(lead=lead, gear=2, resistance=R, torque_constant=k, rotor_inertia=J)
    m = cc.Mechanism("slide", gravity=(0, 0, 0))
    m.prismatic("rod", m.ground, m.body("mass", cc.box((0.1, 0.1, 0.1), mass=30.0)))
    m.actuator("rod", model, command=24.0)
    run = cc.simulate(m, until=0.02, rtol=1e-11)
    top, tau = 24.0 / (k * r), (30.0 + r**2 * J) * R / (r * k) ** 2
    assert np.abs(run["rod'"] - top * (1 - np.exp(-run.t / tau))).max() < 1e-10


# ---- springs: closed forms -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_two_inertias_on_a_spring(kind):
    """They swing against each other with sqrt(k (1/J + 1/I)), and their common centre stays."""
    m = cc.Mechanism("two", gravity=(0, 0, 0))
    m.joint(kind, "axle", m.ground, m.body("disc", cc.rigid(0.04, inertia=(0.04, 0.04, 0.04))))
    m.actuator("axle", SeriesElastic(ForceLimit(-1, 1), stiffness=50.0, inertia=0.01), command=0.0)
    shaft = m.actuators["axle.motor"].joint
    run = cc.simulate(m, m.assemble({"axle": 0.0, shaft: 0.2}), until=0.5, rtol=1e-11)
    w = np.sqrt(50.0 * (1 / 0.01 + 1 / 0.04))
    assert np.abs(run[shaft] - run["axle"] - 0.2 * np.cos(w * run.t)).max() < 1e-9
    assert np.abs(0.01 * run[shaft] + 0.04 * run["axle"] - 0.01 * 0.2).max() < 1e-12
    assert m.linearise(m.assemble()).modes().frequencies[-1] == pytest.approx(w / 2 / np.pi, rel=1e-9)


def test_a_damped_spring_dies_out():
    """With d = 2 D sqrt(k m), m = J I / (J + I): exp(-D w t) times a sine of sqrt(1 - D^2) w."""
    D, k, J, I = 0.3, 50.0, 0.01, 0.04
    w, m_ = np.sqrt(k * (1 / J + 1 / I)), J * I / (J + I)
    m = flywheel(SeriesElastic(ForceLimit(-1, 1), stiffness=k, damping=2 * D * np.sqrt(k * m_), inertia=J), 0.0)
    run = cc.simulate(m, m.assemble({"axle": 0.0, "axle.motor.angle": 0.2}), until=0.3, rtol=1e-11)
    u = np.sqrt(1 - D**2) * w
    wanted = 0.2 * np.exp(-D * w * run.t) * (np.cos(u * run.t) + D / np.sqrt(1 - D**2) * np.sin(u * run.t))
    assert np.abs(run["axle.motor.angle"] - run["axle"] - wanted).max() < 1e-9 and off(run) < 1e-9


# ---- loops -----------------------------------------------------------------------------------------------------------

SPRING = SeriesElastic(MOTOR, stiffness=500.0, damping=1.0)


def four_bar(model=None, command=20.0, cut=None):
    """A crank and rocker in the plane with gravity; one of its hinges may be drawn as cut."""
    m = cc.Mechanism("four-bar", gravity=(0, -9.81, 0))
    crank, coupler, rocker = (
        m.body(name, cc.rod(length=length, mass=1.0))
        for name, length in (("crank", 1.0), ("coupler", 4.0), ("rocker", 2.5))
    )
    places = {
        "O": (m.ground, crank, np.pi / 2),
        "A": (crank.tip, coupler, -1.2),
        "C": (m.ground.at(3, 0, 0), rocker, 1.3),
        "B": (coupler.tip, rocker.tip, 0.8),
    }
    for name, (a, b, guess) in places.items():
        m.revolute(name, a, b, guess=guess, cut=True if name == cut else None)
    m.start = {"O": np.pi / 2}
    if model is not None:
        m.actuator("O", model, command=command)
    return m


@pytest.mark.parametrize("model", [MOTOR, SPRING], ids=["motor", "spring"])
def test_the_same_motion_whichever_joint_is_cut(model):
    runs = {cut: cc.simulate(four_bar(model, cut=cut), until=1.2, rtol=1e-12) for cut in "OACB"}
    assert {cut: [j.name for j in run.start.topology.cuts] for cut, run in runs.items()} == {x: [x] for x in "OACB"}
    for run in runs.values():
        for name in ("O", "O'", "C", "O.motor"):
            # the promise between formulations, of some 40 N m and 10 rad
            np.testing.assert_allclose(run[name], runs["B"][name], rtol=0, atol=1e-9 * np.abs(run[name]).max())
        assert off(run) < 1e-9 and float(run.closure_error.max()) < 1e-12
    assert abs(float(runs["O"]["O"][-1] - runs["O"]["O"][0])) > 2 * np.pi  # it has turned over, also where it is cut


@pytest.mark.parametrize("cut", ["O", "B"])
@pytest.mark.parametrize("model", [MOTOR, SPRING], ids=["motor", "spring"])
def test_all_formulations_agree(model, cut):
    m = four_bar(model, cut=cut)
    poses = list(states(m))
    for name in EXACT:
        at, rows = closed_by(METHODS[name], m)
        for state in poses:
            for mine, wanted in zip(at(state), dense(m, state, rows), strict=True):
                np.testing.assert_allclose(mine, wanted, rtol=0, atol=1e-9 * max(1.0, np.abs(wanted).max()))


@pytest.mark.parametrize("cut", ["O", "B"])
@pytest.mark.parametrize("model", [MOTOR, SPRING], ids=["motor", "spring"])
def test_every_body_is_in_balance(model, cut):
    """Newton and Euler with the reactions of all joints; a shaft has no mass, so what acts on it cancels out."""
    run = cc.simulate(four_bar(model, cut=cut), until=0.5, rtol=1e-11)
    assert imbalance(run, [20, 60, 90]) < 1e-9  # differences of momentum are exact to some 1e-13


@pytest.mark.parametrize("cut", ["O", "B"])
def test_every_joule_from_the_battery_is_found_again(cut):
    """Volts times amperes: into motion and height, into heat of the copper, into friction of the rotor."""
    m = four_bar(MOTOR, cut=cut)
    run = cc.simulate(m, until=1.0, rtol=1e-10, t_eval=np.linspace(0, 1, 4001))
    model = m.actuators["O.motor"].numbers(m.values())
    effort, speed = run["O.motor"].values, run["O'"].values
    np.testing.assert_allclose(effort, model.exerted(20.0, speed), rtol=1e-12, atol=1e-12)
    assert [x.what for x in model.limits(effort, speed, run.t)] == [] and np.abs(effort).max() == 36.0  # at its limit
    viscous, dry, slow = model.friction
    rubbing = speed * (viscous * speed + dry * np.tanh(speed / slow))
    need = model.demand(effort, speed)
    fed, heat = need["electrical power"].values, need["copper loss"].values + rubbing
    stored = (run["kinetic_energy"] + run["potential_energy"]).values
    flow = np.sum((fed - heat)[1:] + (fed - heat)[:-1]) / 2 * run.t[1]
    # the trapezoidal rule with kinks where limits begin and end: h^2 of some kW
    assert flow == pytest.approx(stored[-1] - stored[0], abs=1e-3) and abs(stored[-1] - stored[0]) > 10.0


@pytest.mark.parametrize("cut", ["O", "B"])
def test_a_spring_without_losses_keeps_the_energy(cut):
    """The energy of the spring is potential: nothing does work."""
    m = four_bar(SeriesElastic(ForceLimit(-1, 1), stiffness=300.0, inertia=0.4), 0.0, cut=cut)
    run = cc.simulate(m, m.assemble({"O": np.pi / 2, "O.motor.angle": np.pi / 2 + 0.3}), until=2.0, rtol=1e-11)
    energy = run["kinetic_energy"] + run["potential_energy"]
    assert np.abs(energy - energy[0]).max() < 1e-8 and np.abs(run["power"]).max() == 0.0  # 1e-9 of 10 J
    assert float(np.abs(run["O.motor.angle"] - run["O"]).max()) > 0.1


def test_springs_and_dampers_between_two_joints_of_a_loop():
    """Whichever of the two is cut, they act on the difference of both angles."""
    runs = []
    for cut in ("O", "C", "B"):
        m = four_bar(cut=cut)
        m.joint_spring("O", 40.0, rest=0.2, against="C")
        m.joint_damper("O", 3.0, against="C")
        runs.append(cc.simulate(m, until=1.0, rtol=1e-12))
    for run in runs:
        np.testing.assert_allclose(run["O"], runs[0]["O"], rtol=0, atol=1e-9)
        stretch, rate = run["O"] - run["C"] - 0.2, run["O'"] - run["C'"]
        height = 9.81 * sum(run.frame(f"{name}.com").position.values[:, 1] for name in ("crank", "coupler", "rocker"))
        np.testing.assert_allclose(run["potential_energy"], height + 20.0 * stretch**2, rtol=0, atol=1e-10)
        np.testing.assert_allclose(run["power"], -3.0 * rate**2, rtol=0, atol=1e-10)
        assert off(run) < 1e-9


def test_a_stiff_spring_tends_to_none():
    """The difference falls with 1 / k, if nothing excites the spring itself."""
    push, weak = 15.0 * cc.math.sin(2 * cc.t) ** 2, ForceLimit(-100, 100)
    rigid = four_bar(weak, push)
    rigid.rotor("O", 0.3)
    wanted = cc.simulate(rigid, rigid.assemble(O=-1.2), until=1.0, rtol=1e-10)["O"]
    errors = []
    for k in (1e3, 1e4, 1e5):
        m = four_bar(SeriesElastic(weak, stiffness=k, inertia=0.3), push)
        run = cc.simulate(m, m.assemble({"O": -1.2, "O.motor.angle": -1.2}), until=1.0, rtol=1e-10)
        errors.append(float(np.abs(run["O"] - wanted).max()))
    assert np.log10(np.divide(errors[:-1], errors[1:])) == pytest.approx(1.0, abs=0.1)


STRONG = replace(MOTOR, max_voltage=None, max_current=None, drive="torque")
SWING = cc.paths.line(np.pi / 2, 3.0, duration=1.0)


@pytest.mark.parametrize("cut", [None, "O"])
@pytest.mark.parametrize("damping", [0.0, 5.0])
def test_torques_behind_a_spring_return_the_path(damping, cut):
    """Inverse dynamics finds how far the spring is deflected; its torque, fed to a run, brings the path about."""
    model = SeriesElastic(STRONG, stiffness=500.0, damping=damping)
    need = cc.inverse_dynamics(four_bar(model, 0.0, cut), {"O": SWING}, actuators=["O.motor.angle"])
    motion = need.motion
    driven = four_bar(model, need.signal("O.motor.angle"), cut)
    run = cc.simulate(driven, cc.State(driven, motion.q[0], motion.v[0]), until=1.0, rtol=1e-10, t_eval=motion.t)
    assert float(np.abs(motion["O.motor.angle"] - motion["O"]).max()) > 0.04  # rad: the spring is not stiff
    for name in (*"OABC", "O.motor.angle"):
        # rates of loads by splines through 201 samples; measured 2e-9
        np.testing.assert_allclose(run[name], motion[name], rtol=0, atol=1e-7)


@pytest.mark.parametrize("damping", [0.0, 1e-3])
def test_behind_a_stiffer_spring_the_torque_tends_to_that_of_the_motor_alone(damping):
    """Without damping the rotor J behind the gear r feels J r^2 L'' / k more, where L is the load: 1 / k exactly."""
    model = replace(STRONG, viscous=0.0, coulomb=0.0)
    rigid = cc.inverse_dynamics(four_bar(model, 0.0), {"O": SWING})
    errors = []
    for k in (1e3, 1e4, 1e5):
        m = four_bar(SeriesElastic(model, stiffness=k, damping=damping * k), 0.0)
        need = cc.inverse_dynamics(m, {"O": SWING}, actuators=["O.motor.angle"])
        errors.append(float(np.abs(need.tau - rigid.tau).max()))
    # the second rate of the load by splines: errors of 1e-6 of the smallest difference
    assert np.log10(np.divide(errors[:-1], errors[1:])) == pytest.approx(1.0, abs=1e-5)


def test_a_spring_that_holds_a_pose():
    m = four_bar(SeriesElastic(STRONG, stiffness=500.0), 0.0)
    held, alone = cc.holding_efforts(m), cc.holding_efforts(four_bar(), actuators=["O"])
    np.testing.assert_allclose(held["O.motor.angle"], alone["O"], rtol=1e-12)
    deflection = held.motion["O.motor.angle"] - held.motion["O"]
    np.testing.assert_allclose(500.0 * deflection, alone["O"], rtol=1e-12)


def boom(model, command, cut=None):
    """The boom of an excavator: a hinge on the ground, and a cylinder that lifts it."""
    m = cc.Mechanism("boom", gravity=(0, -9.81, 0))
    beam = m.body("beam", cc.rod(length=4.0, mass=800.0, radius=0.1))
    barrel = m.body("barrel", cc.rod(length=1.2, mass=40.0, radius=0.06))
    rod = m.body("rod", cc.rod(length=1.2, mass=25.0, radius=0.03))
    options = {name: {"cut": True} if name == cut else {} for name in ("foot", "base", "stroke", "eye")}
    m.revolute("foot", m.ground, beam, guess=0.3, **options["foot"])
    m.revolute("base", m.ground.at(0.5, -1.0, 0), barrel, guess=1.1, **options["base"])
    m.prismatic("stroke", barrel, rod.at(0, 0, 0), axis=(1, 0, 0), guess=0.6, **options["stroke"])
    m.revolute("eye", rod.tip, beam.at(1.5, 0.1, 0), **options["eye"])
    m.start = {"foot": 0.3}
    m.actuator("stroke", model, command=command)
    return m


LIFT = replace(CYLINDER, viscous=2000.0, drive="valve")


def test_a_boom_is_lifted_and_lowered_whichever_joint_is_cut():
    command = cc.math.where(cc.t < 0.4, 1.0, -0.5)
    runs = {cut: cc.simulate(boom(LIFT, command, cut), until=0.8, rtol=1e-11) for cut in ("foot", "stroke", "eye")}
    for run in runs.values():
        for name in ("foot", "stroke", "stroke'", "stroke.motor"):
            # rtol 1e-11 times a growth of some thousand in the stiff fluid, with corners in steps (measured: 5.5e-8)
            np.testing.assert_allclose(
                run[name], runs["eye"][name], rtol=0, atol=1e-7 * np.abs(runs["eye"][name]).max()
            )
        assert off(run) < 1e-5  # 1e-9 of the kJ that it lifts
    run = runs["stroke"]
    low, high = LIFT.envelope(run["stroke'"].values)
    force, up = run["stroke.motor"].values, run.t < 0.4
    np.testing.assert_allclose(force[up], high[up], rtol=1e-9)
    assert (force >= low - 1e-6).all() and float(run["foot"].max() - run["foot"][-1]) > 0.03


def test_a_spring_on_a_slide_that_is_cut():
    model = SeriesElastic(replace(LIFT, drive="force"), stiffness=4e5, damping=2e3, inertia=20.0)
    runs = [cc.simulate(boom(model, 60e3, cut), until=0.3, rtol=1e-11) for cut in ("stroke", "eye")]
    assert [j.name for j in runs[0].start.topology.cuts] == ["stroke"]
    for name in ("foot", "stroke", "stroke.motor.slide"):
        np.testing.assert_allclose(runs[0][name], runs[1][name], rtol=0, atol=1e-9)
    assert all(off(run) < 1e-6 for run in runs)


def test_hydraulic_legs_of_a_platform():
    """A Gough-Stewart platform whose legs follow their strokes as far as the cylinders can."""
    m = cc.library.gough_stewart(drive="none")
    slides = [m.joints[f"leg{k} slide"] for k in range(1, 7)]

    class Follow:
        def efforts(self, mechanism):
            return {
                slide.name: 500.0 * (slide.guess[0] + 0.1 * cc.math.sin(4 * cc.t) - slide.q) - 50.0 * slide.v + 5.0
                for slide in slides
            }

    legs = HydraulicCylinder(bore=0.01, rod=0.007, supply_pressure=9e4, rated_flow=1e-4, rated_drop=1e5)
    m.control(Follow(), actuator=legs)
    run = cc.simulate(m, until=1.0, rtol=1e-9)
    clipped = 0
    for slide in slides:
        force, v = run[f"{slide.name}.control"].values, run[f"{slide.name}'"].values
        low, high = legs.envelope(v)
        assert (force <= high + 1e-9).all() and (force >= low - 1e-9).all()
        assert legs.limits(force, v, run.t) == []
        clipped += np.sum(np.isclose(force, high, rtol=1e-12))
    assert clipped > 10 and off(run) < 1e-6 and float(run.closure_error.max()) < 1e-9
