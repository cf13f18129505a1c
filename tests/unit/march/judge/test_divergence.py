"""What runs away is ended, with its time, its joint and the likely cause; what is only large or fast is not."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.integrate.trajectory import Status
from closedchain.march.judge.divergence import DECADES, Energies, Growth, next_look
from closedchain.progress import reported
from tests.solvers import stepping


def ended(m, *args, **options):
    """The error of a run that is ended because it runs away."""
    with pytest.raises(cc.RunError) as error:
        cc.simulate(m, *args, **options)
    assert error.value.run.status is Status.diverged and not error.value.run.good
    return error.value


# ---- numbers alone ---------------------------------------------------------------------------------------------------


def test_numbers_that_overflow_are_not_told():
    growth = Growth(1.0, 1.0)
    growth.begin(Energies(0.0, 0.0, 0.0), 0.0)
    for e in (Energies(np.inf, 0.0, 1.0), Energies(np.inf, -np.inf, 0.0), Energies(1.0, 0.0, np.nan)):
        found = growth.look(0.1, e, 1e200)
        assert found.kind == "unexplained" and "nan" not in found.text and "inf" not in found.text


def test_energy_that_a_potential_releases():
    """A fall by a million lengths, or a spring that was wound up, has an end."""
    for drop, wound, kind in ((1e6, 0.0, None), (1e12, 1e11, None), (2e12, 1.0, "endless")):
        growth = Growth(1.0, 1.0)
        growth.begin(Energies(0.0, wound, 0.0), 0.0)
        found = growth.look(0.1, Energies(drop, wound - drop, 0.0), 1e3)
        assert (found and found.kind) == kind


def first_finding(energy, times, duration=100.0, natural=1.0, work=None):
    """When a mechanism at rest whose energy is given is found to run away."""
    growth = Growth(natural, duration)
    growth.begin(Energies(0.0, 0.0, 0.0), 0.0)
    for t in times:
        e = energy(t)
        speed = np.sqrt(max(e, 0.0))
        if growth.faster(t, speed):
            found = growth.look(t, Energies(e, 0.0, e if work is None else work(t)), speed)
            if found:
                return t, found.kind
    return None


@pytest.mark.parametrize("rate", [3.0, 10.0, 100.0])
def test_exponential_growth_is_found_after_six_powers_of_ten(rate):
    t, kind = first_finding(lambda t: np.expm1(2 * rate * t), np.linspace(0, 20 / rate, 2001), duration=20 / rate)
    assert kind == "growth"
    # from an energy of one on; speeds are looked at when they have doubled, and pass ten times the rate
    powers = 2 * rate * t / np.log(10)
    assert DECADES <= powers < max(DECADES, 2 * np.log10(10 * rate)) + 2


@pytest.mark.parametrize("power", [1, 2, 4, 8, 12])
def test_powers_of_time_are_no_divergence(power):
    """A constant power, a constant torque, a ramp, and steeper ones, over twenty powers of ten."""
    assert first_finding(lambda t: t**power, np.geomspace(1e-3, 1e20 ** (1 / power), 20_000)) is None


@pytest.mark.parametrize("looks", [1, 2, 3, 10])
def test_a_blow_is_no_divergence(looks):
    """A constant force for a moment, seen by a few looks, with slow changes before and after."""

    def energy(t):
        return 1.0 + t + 1e12 * np.clip((t - 50.0) / 1e-3, 0.0, 1.0) ** 2

    times = np.unique([*np.linspace(0, 100, 101), *np.linspace(50, 50.001, looks + 1)])
    assert first_finding(energy, times) is None


def test_growth_back_in_time_is_what_dampers_do():
    times = np.linspace(0, -10, 1001)
    assert first_finding(lambda t: np.expm1(-6 * t), times, duration=-10.0) is None
    assert first_finding(lambda t: np.expm1(6 * t), -times, duration=10.0) is not None


def test_small_motions_are_not_judged():
    """An unstable pose is left exponentially, from rounding on."""
    assert first_finding(lambda t: 1e-20 * np.exp(t), np.linspace(0, 46, 500), duration=46.0) is None


def test_energy_from_nowhere():
    t, kind = first_finding(lambda t: t**2, np.linspace(0, 10, 1001), work=lambda t: 0.01 * t**2)
    assert kind == "unexplained" and t**2 > 10.0
    assert first_finding(lambda t: t**2, np.linspace(0, 10, 1001), work=lambda t: 0.5 * t**2) is None


def test_looks_become_rarer():
    steps = [0]
    while steps[-1] < 3000:
        steps.append(next_look(steps[-1]))
    assert steps[:3] == [0, 10, 20] and steps[-2:] == [2500, 3000] and len(steps) < 30


# ---- what runs away --------------------------------------------------------------------------------------------------


def sampled_damper(gain=50.0, period=0.1):
    """Stable below 2 / period times the inertia, 1/3 kg m^2: 6.7 N m s/rad."""
    m = cc.library.pendulum()
    m.motor("hinge", torque=cc.Sampled(lambda t, now: -gain * now["hinge'"], period=period))
    return m


@pytest.mark.parametrize(("solver", "step"), [("dop853", None), ("radau5", None), ("cvodes", None), ("rk4", 1e-2)])
def test_a_sampled_gain_that_is_too_large(solver, step):
    error = ended(sampled_damper(), until=2.0, solver=stepping(solver, step))
    assert 0.3 < error.run.t[-1] < 0.7  # it grows by 14 with each call, and had 8e21 rad/s at the end
    for words in ("'hinge' moves at", "changing signs", "its gain is too large for its period of 0.1 s"):
        assert words in str(error)


def test_it_may_go_on_if_wanted():
    with pytest.warns(cc.RunWarning, match=r"'pendulum' runs away at t = 0\.4.*'hinge' moves at") as said:
        run = cc.simulate(sampled_damper(), until=1.0, events=[cc.Divergence("warn")])
    assert run.complete and not run.good and len(said) == 1
    assert [x.what for x in run.record] == ["divergence"]
    run = cc.simulate(sampled_damper(), until=1.0, events=[cc.Divergence("pass")])
    assert run.complete and not run.record
    with pytest.raises(cc.ModelError, match="then must be 'stop', 'warn' or 'pass', not 'go on'"):
        cc.simulate(sampled_damper(), events=[cc.Divergence("go on")])


def test_a_sampled_damper_that_is_stable():
    assert cc.simulate(sampled_damper(gain=5.0), until=5.0).good


def test_a_damper_with_the_wrong_sign():
    m = cc.library.pendulum()
    m.motor("hinge", torque=0.5 * m.joints["hinge"].v)
    error = ended(m, until=1000.0)
    assert error.run.t[-1] < 10.0 and "'hinge.motor' puts in" in str(error) and "wrong sign" in str(error)


def test_a_rotor_in_few_steps():
    """Without gravity one step goes far: looks are close together at the start of a run."""
    m = cc.Mechanism("rotor", gravity=(0, 0, 0))
    joint = m.revolute("axle", m.ground, m.body("disc", cc.disc(radius=0.1, mass=1.0)))
    m.motor("axle", torque=0.01 * joint.v)
    ended(m, m.assemble(velocity={"axle": 1.0}), until=1000.0)


def test_a_step_that_is_too_long():
    """A stiff spring under a fixed step: all energy comes from nowhere."""
    m = cc.library.pendulum()
    m.spring("spring", m.ground.at(0, -2, 0), m.bodies["arm"].tip, stiffness=1e6, length=1.0)
    error = ended(m, m.assemble(hinge=0.1), until=5.0, solver=cc.solvers.RK4(step=0.01))
    assert "came from nowhere" in str(error) and "The step of 0.01 s is too long" in str(error)


@pytest.mark.parametrize("solver", ["rk4", "semi-implicit-euler"])
def test_a_step_that_is_too_long_for_a_damper(solver):
    """The damper takes energy in every stage: none of it explains the motion."""
    m = cc.library.pendulum()
    m.joint_damper("hinge", 1e3)
    said = str(ended(m, until=20.0, solver=stepping(solver, 0.01)))
    assert "came from nowhere" in said and "The step of 0.01 s is too long" in said and "damper" not in said


def test_stiff_springs_in_the_closures_under_a_long_step():
    """Once 2.9e24 J off at the end; explicit steps overflow before anybody looks, and no division is blamed."""
    m, springs = cc.library.four_bar(), cc.VirtualSpring(1e7, 1e3)
    said = str(ended(m, until=2.0, method=springs, solver=cc.solvers.Rosenbrock2(step=1e-2)))
    assert "came from nowhere" in said and "The step of 0.01 s is too long" in said
    with pytest.raises(
        cc.RunError, match=r"not finite \(acceleration of O\)\. The step of 0\.01 s is too long"
    ) as error:
        cc.simulate(m, until=2.0, method=springs, solver=cc.solvers.RK4(step=1e-2))
    assert "division" not in str(error.value)


def test_a_wrong_sign_is_not_blamed_on_the_step():
    m = cc.library.pendulum()
    m.motor("hinge", torque=0.5 * m.joints["hinge"].v)
    said = str(ended(m, until=100.0, solver=cc.solvers.RK4(step=1e-4)))
    assert "'hinge.motor' puts in" in said and "step" not in said


@pytest.mark.parametrize("until", [5.0, 500.0])
def test_a_potential_without_end(until):
    """Energy is kept, and the pendulum turns faster than anything can."""
    m = cc.library.pendulum()
    m.joint_spring("hinge", -30.0)
    said = str(ended(m, until=until))
    for words in ("its potential has released", "'hinge' moves at", "'hinge.spring' is negative, -30"):
        assert words in said
    assert "nan" not in said and "inf" not in said


def test_loops_that_tumble_under_a_sampled_gain():
    """Growth is not even, and once stayed at 4e5 rad/s for millions of steps.

    The motion is chaotic, so that every processor computes another one: with gains that differ by 1e-9 and 1e-6 the
    first ends at 1.8 to 1.9 s, the second complains at 1.5 to 3.7 s.
    """
    m, gain = cc.library.five_bar(), [3.0]
    m.motor("left motor", torque=cc.Sampled(lambda t, now: -gain[0] * now["left motor'"], period=0.1), name="damper")
    error = ended(m, until=5.0)
    for words in ("calls of its controller", "its gain is too large for its period of 0.1 s"):
        assert words in str(error)
    gain[0] = 1.0  # some thousand rad/s, and no faster
    with pytest.warns(
        cc.RunWarning, match=r"'five-bar' runs away at t = .*(jumps up and down|called once in).* its gain is too"
    ):
        run = cc.simulate(m, until=10.0)
    assert run.complete and not run.good and [x.what for x in run.record].count("divergence") == 1


def test_light_legs_that_tumble_below_a_heavy_body():
    """A wheel of 1 g m^2 under a gain that is three times too large, until its rim is too far away to matter.

    The body has 1e3 kg, and no energy of the wheel is large beside that of its fall.
    """
    m = cc.Mechanism("cart", gravity=(0, 0, -9.81))
    cart = m.body("cart", cc.box((1.0, 1.0, 1.0), mass=1e3))
    m.prismatic("track", m.ground, cart, axis=(1, 0, 0))
    m.revolute("axle", cart, m.body("wheel", cc.disc(radius=0.1, mass=0.2)), axis=(0, 1, 0))
    gain = 3e-3 / 0.02

    def damper(t, now):
        return -gain * now["axle'"] / (1 + (now["axle'"] / 700.0) ** 2)

    m.motor("axle", torque=cc.Sampled(damper, period=0.02))
    with pytest.warns(cc.RunWarning, match=r"controller is called once in .* rad .*its gain is too large"):
        run = cc.simulate(m, m.assemble(velocity={"axle": 0.1}), until=3.0)
    assert run.complete and [x.what for x in run.record] == ["divergence"]


def test_a_beam_that_bends_by_more_than_its_length():
    """Without stiffening a beam that turns faster than it vibrates has no stiffness left."""
    m = cc.Mechanism("spun beam", gravity=(0, 0, 0))
    beam = m.body("arm", cc.rod(length=1.0, mass=0.5, radius=0.005))
    beam.flexible(2e9, cc.Section.circle(0.005), shapes=cc.shapes.polynomials(y=1))
    m.revolute("hinge", m.ground, beam)
    m.motor("hinge", torque=2.0)
    assert "'arm' bends by" in str(error := ended(m, until=5.0, rtol=1e-6)) and "stiffening=True" in str(error)


# ---- by whatever means it is computed --------------------------------------------------------------------------------


def test_a_saved_run_that_was_interrupted_ends_at_the_same_bits(tmp_path):
    whole = ended(sampled_damper(), until=2.0, t_eval=cc.Every(0.01), save=tmp_path / "whole")

    def stop(t, steps):
        if t > 0.3:
            raise KeyboardInterrupt

    with pytest.raises(cc.Interrupted) as stopped, reported(stop):
        cc.simulate(sampled_damper(), until=2.0, t_eval=cc.Every(0.01), save=tmp_path / "parts")
    first = stopped.value.run
    assert first.status is Status.interrupted and first.t[-1] < whole.run.t[-1]
    again = ended(sampled_damper(), until=2.0, t_eval=cc.Every(0.01), save=tmp_path / "parts")
    np.testing.assert_array_equal(again.run.t, whole.run.t)
    np.testing.assert_array_equal(again.run.x, whole.run.x)
    assert again.run.message == whole.run.message
    assert str(ended(sampled_damper(), until=2.0, t_eval=cc.Every(0.01), save=tmp_path / "parts")) == str(again)


def test_members_of_a_team_end_together():
    """Two rotors, one of which the other member does not know: what it does is decided from whole states."""

    def rotors():
        m = cc.Mechanism("rotors", gravity=(0, 0, 0))
        for name in ("one", "two"):
            m.revolute(name, m.ground, m.body(f"disc {name}", cc.disc(radius=1.0, mass=2.0)))
        m.motor("two", torque=cc.Sampled(lambda t, now: -100.0 * now["two'"], period=0.1))
        return m, m.assemble(velocity={"two": 1.0})

    alone = ended(*rotors(), until=5.0)
    shared = ended(*rotors(), until=5.0, partition=cc.Threads(2))
    assert str(shared) == str(alone) and "'two' moves at" in str(alone) and alone.run.t[-1] < 1.0


def test_a_point_of_a_study_is_marked_and_the_others_are_not():
    m = cc.library.pendulum()
    m.motor("hinge", torque=m.parameter("gain", -0.5) * m.joints["hinge"].v)
    study = cc.sweep(m, {"gain": np.linspace(-0.5, 0.5, 20)}, until=30.0, keep=())
    status = study["status"].values
    assert set(status[:10]) == {"finished"} and status[-1] == "diverged"


def test_a_point_of_which_there_are_two_samples():
    """A batch tells the start and the end: growth by 1e6 lies between them."""
    m = rotor()
    m.motor("axle", torque=m.parameter("gain", 0.05) * m.joints["axle"].v + 0.001)
    study = cc.sweep(m, {"gain": np.linspace(-0.05, 0.05, 20)}, until=3.0, t_eval=[0.0, 3.0], keep=())
    status = study["status"].values
    assert set(status[:10]) == {"finished"} and status[-1] == "diverged"


# ---- what does not ---------------------------------------------------------------------------------------------------


def body_in_space(name="box", gravity=(0, 0, -9.81), mass=1.0, size=0.1):
    m = cc.Mechanism(name, gravity=gravity)
    box = m.body("box", cc.box((size, size, size), mass=mass))
    m.free("base", m.ground, box)
    return m


def test_a_fall_of_a_kilometre():
    assert cc.simulate(body_in_space(), until=14.3).good


@pytest.mark.parametrize("torque", [1e-4, 1.0, 1e4])
def test_a_rotor_at_ten_thousand_radians_a_second(torque):
    m = cc.Mechanism("rotor", gravity=(0, -9.81, 0))
    m.revolute("axle", m.ground, m.body("disc", cc.disc(radius=0.05, mass=1.0)))
    m.motor("axle", torque=torque)
    inertia = 0.5 * 0.05**2
    run = cc.simulate(m, until=1e4 * inertia / torque)
    assert run.good and float(run["axle'"][-1]) == pytest.approx(1e4, rel=1e-6)


def test_a_vehicle_that_drives_ten_thousand_of_its_lengths():
    m = cc.Mechanism("vehicle", gravity=(0, 0, -9.81))
    m.prismatic("track", m.ground, m.body("car", cc.box((2.0, 1.0, 1.0), mass=1000.0)), axis=(1, 0, 0))
    m.motor("track", force=3000.0 - 1.5 * m.joints["track"].v ** 2)
    run = cc.simulate(m, until=500.0)
    assert run.good and float(run["track"][-1]) > 1e4 * 2.0


def test_a_pendulum_that_is_spun_up_for_long():
    m = cc.library.pendulum()
    m.motor("hinge", torque=30.0)
    run = cc.simulate(m, until=30.0, rtol=1e-9)
    assert run.complete and float(run["hinge'"][-1]) > 2000 and not run.record


@pytest.mark.parametrize("stiffness", [1e4, 1e10])
def test_a_stiff_spring_that_is_released(stiffness):
    m = cc.Mechanism("spring", gravity=(0, 0, 0))
    m.prismatic("slide", m.ground, m.body("bolt", cc.box((0.01, 0.01, 0.01), mass=0.01)), axis=(1, 0, 0))
    m.joint_spring("slide", stiffness=stiffness)
    period = 2 * np.pi * np.sqrt(0.01 / stiffness)
    assert cc.simulate(m, m.assemble(slide=0.1), until=10 * period).good


def rotor(gravity=9.81):
    m = cc.Mechanism("rotor", gravity=(0, -gravity, 0))
    m.revolute("axle", m.ground, m.body("disc", cc.disc(radius=0.1, mass=1.0)))
    return m


def test_exponential_growth_that_laws_of_time_explain():
    """Of a torque, a torque that swings, a prescribed motion, and one that is followed."""
    for torque in (cc.math.exp(cc.t), cc.math.exp(cc.t) * cc.math.sin(50 * cc.t)):
        m = rotor()
        m.motor("axle", torque=torque)
        assert cc.simulate(m, until=15.0).good
    m = rotor()
    m.drive("axle", cc.math.exp(cc.t) - 1)
    assert cc.simulate(m, m.assemble(axle=0.0), until=15.0).good
    m = rotor()
    joint = m.joints["axle"]
    m.motor("axle", torque=1e3 * (cc.math.exp(cc.t) - 1 - joint.q) - 30 * joint.v)
    assert cc.simulate(m, until=15.0).good


def test_a_law_of_time_beside_a_wrong_sign_explains_nothing():
    m = rotor()
    m.motor("axle", torque=0.1 + 0.01 * m.joints["axle"].v)
    assert "wrong sign" in str(ended(m, until=100.0))
    m = cc.Mechanism("driven", gravity=(0, -9.81, 0))
    upper, lower = (m.body(name, cc.rod(length=1.0, mass=1.0)) for name in ("upper", "lower"))
    m.revolute("A", m.ground, upper)
    joint = m.revolute("B", upper.tip, lower)
    m.drive("A", cc.math.sin(cc.t))
    m.motor("B", torque=0.5 * joint.v)
    assert "'B.motor' puts in" in str(ended(m, m.assemble(A=0.0, velocity={"B": 0.1}), until=25.0))


def van_der_pol(amplitude):
    """A body without extent: nothing tells how far is far, and its size is 1 m."""
    m = cc.Mechanism("van der Pol", gravity=(0, 0, 0))
    joint = m.prismatic("s", m.ground, m.body("bead", cc.point_mass(1.0)), axis=(1, 0, 0))
    m.motor("s", force=(1 - (joint.q / amplitude) ** 2) * joint.v - joint.q)
    return m, m.assemble(s=1e-3)


def test_self_excited_motions_that_are_bounded():
    """They are good, or a complaint where they become a thousand times as large as their mechanism."""
    run = cc.simulate(*van_der_pol(1.0), until=50.0)
    assert run.good and float(abs(run["s"]).max()) == pytest.approx(2.0, rel=0.1)
    with pytest.warns(cc.RunWarning, match="At 30 times the speed it would lose energy, so that it has an end"):
        run = cc.simulate(*van_der_pol(1e3), until=50.0)
    assert run.complete and not run.good and float(abs(run["s"]).max()) == pytest.approx(2e3, rel=0.1)


def test_a_wrong_sign_that_drag_or_stops_hold():
    m = cc.library.pendulum()
    v = m.joints["hinge"].v
    m.motor("hinge", torque=0.5 * v - m.parameter("drag", 1e-10) * v**3)
    with pytest.warns(cc.RunWarning, match="it has an end. 'hinge.motor' puts in"):
        run = cc.simulate(m, until=10.0, rtol=1e-6)
    assert run.complete and not run.good and float(abs(run["hinge'"]).max()) > 5e4
    # drag that would hold it at 7e6 rad/s holds nothing
    error = ended(m, m.assemble(parameters={"drag": 1e-14}), until=10.0, rtol=1e-6)
    assert "wrong sign" in str(error) and float(abs(error.run["hinge'"]).max()) < 1e5
    m = cc.Mechanism("stopped", gravity=(0, -9.81, 0))
    arm = m.body("arm", cc.rod(length=1.0, mass=1.0))
    joint = m.revolute("hinge", m.ground, arm, limits=cc.Stops(-2.0, 0.5, stiffness=1e4, damping=100.0))
    m.motor("hinge", torque=5.0 * joint.v)
    assert cc.simulate(m, until=20.0, rtol=1e-6).complete


def controlled(law, limit):
    """A rotor of 0.005 kg m^2 in space; a gain of 0.05 at 0.1 s reaches a speed with one call, within a torque."""

    def answer(t, now):
        return float(np.clip(0.05 * (law(t) - now["axle'"]), -limit, limit))

    m = rotor(gravity=0.0)
    m.motor("axle", torque=cc.Sampled(answer, period=0.1))
    return m


def test_controllers_with_limits_may_toss_a_body():
    """A torque that changes its sign every half second, and speed that is controlled once a second for long."""
    m = rotor(gravity=0.0)
    m.motor("axle", torque=cc.Sampled(lambda t, now: 1.0 - 2.0 * (round(2 * t) % 2), period=0.5))
    assert cc.simulate(m, until=20.0).good
    m = rotor()
    m.motor("axle", torque=cc.Sampled(lambda t, now: min(0.1, 1e4 - now["axle'"]), period=1.0))
    assert cc.simulate(m, until=600.0).good


def test_a_controller_that_rests_before_it_tosses_a_body():
    """Its first answers are tiny: a wanted speed of 1e-9 rad/s, then 100 and 30 in turn."""
    m = controlled(lambda t: 1e-9 if t < 0.45 else 100.0 if round(10 * t) % 2 else 30.0, 5.0)
    assert cc.simulate(m, until=20.0).good


@pytest.mark.parametrize("until", [60.0, 120.0])
def test_a_rapid_move_after_creep(until):
    """By a factor of 4e6 in energy, within two calls."""
    run = cc.simulate(controlled(lambda t: 0.02 if t < 50.0 else 40.0, 1.0), until=until)
    assert run.good and float(run["axle'"][-1]) == pytest.approx(40.0)


def test_growth_after_an_impact_counts_from_the_impact():
    """A bolt hits a wall at 1e6 m/s, which takes all of its energy, beside a pendulum with the wrong sign."""
    m = cc.library.pendulum()
    m.motor("hinge", torque=0.5 * m.joints["hinge"].v)
    bolt = m.body("bolt", cc.box((0.1, 0.1, 0.1), mass=1.0))
    m.prismatic("slide", m.ground, bolt, axis=(1, 0, 0))
    m.spherical("wall", m.ground.at(1, 0, 0), bolt, cut=True)
    state = m.assemble(hinge=0.0, slide=0.0, velocity={"slide": 1e6}, open_joints=("wall",))
    hit = cc.Event("hit", m.joints["slide"].q - 1.0, then=cc.Switch(close="wall"))
    error = ended(m, state, until=10.0, events=[hit])
    assert 2.0 < error.run.t[-1] < 8.0 and "'hinge.motor' puts in" in str(error)


def test_an_unstable_pose_that_is_left():
    m = cc.library.pendulum()
    assert cc.simulate(m, m.assemble(hinge=np.pi / 2 + 1e-9), until=12.0, rtol=1e-10).complete


def test_an_impact():
    m = cc.library.walker()
    lift = cc.Event("lift", cc.t - 0.1, then=cc.Switch(open="leg1 foot"))
    assert cc.simulate(m, until=0.2, events=[lift]).complete


# ---- a run that does not come to its end -----------------------------------------------------------------------------


def test_too_many_steps_are_foreseen():
    with (
        pytest.warns(cc.RunWarning, match=r"steps have become .* s long .* and max_steps leaves"),
        pytest.raises(cc.RunError, match="limit of steps"),
    ):
        cc.simulate(cc.library.double_pendulum(), until=10_000.0, solver=cc.solvers.DOP853(max_steps=30_000))
