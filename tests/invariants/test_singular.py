"""Singular poses: driven into one a run ends with a sentence and keeps what it has; one that can be passed is told."""

import re
import warnings

import numpy as np
import pytest

import closedchain as cc
from closedchain.march.events import SAME_TIME
from tests.invariants import drawings
from tests.invariants.drawings import TILT, relative_energy_error


def refusal(m, **options):
    """The error of a run that must end early, and the run so far."""
    with pytest.raises(cc.RunError) as refused:
        cc.simulate(m, m.assemble(), **options)
    return str(refused.value), refused.value.run


def time_of(text):
    return float(re.search(r"ended at t = (\S+) s", text).group(1))


def pose_of(text):
    words = re.search(r"singular pose at (.*?): the closures?", text).group(1)
    return {name: float(value) for name, value in (word.split("=") for word in words.split(", "))}


def direction_of(text):
    words = re.search(r"the motion along \((.*?)\).*lost", text).group(1)
    return {word.rpartition(" ")[0]: float(word.rpartition(" ")[2]) for word in words.split(", ")}


# ---- a four-bar driven into its dead point -------------------------------------------------------------------------

# crank and coupler lie on one another where the pin is 2.5 - 1 m from the origin: 1.5^2 = 2^2 + 2^2 + 2 2 2 cos(rocker)
DEAD = np.arccos((1.5**2 - 8) / 8)
SPEED = 0.5


def rocker_driven(**drawing):
    m = drawings.four_bar(**drawing)
    m.drive("C", m.joints["C"].guess[0] + SPEED * cc.t)
    m.start = {}
    return m, (DEAD - m.joints["C"].guess[0]) / SPEED


@pytest.mark.filterwarnings("ignore:steps have become")  # a hundred thousand of them, before it is given up
@pytest.mark.parametrize("singularity", ["pass", "warn", "stop"])
@pytest.mark.parametrize("drawing", [{}, {"R": TILT, "cut": "A"}, {"kinds": "RUSR"}])
def test_a_rocker_driven_into_its_dead_point(drawing, singularity):
    m, when = rocker_driven(**drawing)
    text, run = refusal(m, until=10.0, events=[cc.SingularPoses(singularity)])
    # the angle to the dead point goes with the square root of the time to it: a stop at 1e-2 rad is early by 1e-4 s
    assert time_of(text) == pytest.approx(when, abs=1e-3)
    pose = pose_of(text)
    if "C" in pose:
        assert pose["C"] == pytest.approx(DEAD, abs=2e-3)
    assert pose["O"] == pytest.approx(np.arctan2(2 * np.sin(DEAD), 2 + 2 * np.cos(DEAD)) + np.pi, abs=0.05)
    assert "O" in direction_of(text) and "C" not in direction_of(text)  # the crank moves though the rocker is held
    assert "drive the mechanism by another joint" in text

    # what was computed is kept, and is right
    assert f"{len(run.t)} samples up to t = {run.t[-1]:.6g} s are kept in the error's .run" in text
    assert not run.complete and run.t[-1] < when
    assert len(run.t) - int(when / 0.05) in (1, 2)  # all samples, and perhaps the end
    assert np.abs(run["C"].values - run.start["C"] - SPEED * run.t).max() < 1e-12
    # the sample at which a run is stopped has 1e3 times the speed, and errors are amplified as much
    assert np.abs(run.energy_error.values[: int(when / 0.05) + 1]).max() < 1e-6 * run["kinetic_energy"].values[0]
    assert relative_energy_error(run) < 1e-5
    fading = run["actuation_conditioning"].values
    assert fading[-1] < 0.1 < fading[0] and np.all(np.diff(fading[-10:]) < 0)
    assert run["closure_conditioning"].values.min() > 0.1  # the loop itself is well, it is the drive that is not


def test_the_crank_may_be_driven_through_it():
    """The same pose is nothing special for a motor on the crank."""
    m = drawings.four_bar()
    m.drive("O", cc.pi / 3 + 3 * cc.t)
    m.start = {}
    run = cc.simulate(m, m.assemble(), until=2 * np.pi / 3, rtol=1e-10, events=[cc.SingularPoses("stop")])
    assert run.complete and not run.record
    assert run["C"].values.max() == pytest.approx(DEAD, abs=1e-3)  # it went through the pose, between samples
    assert run["actuation_conditioning"].values.min() > 0.2


# ---- a 3-RRR driven into a type-2 singularity ----------------------------------------------------------------------


@pytest.mark.parametrize(("rate", "reach"), [(0.1, -1), (-0.1, 1)])
def test_a_3rrr_driven_until_its_distal_links_meet_in_one_point(rate, reach):
    """Turned alike, all three drives turn the platform on the spot, until the distal links point at its centre."""
    m = cc.library.rrr3(position=(0.0, 0.0))
    start = dict(m.start)
    for joint, angle in start.items():
        m.drive(joint, angle + rate * cc.t)
    m.start = {}
    text, run = refusal(m, until=20.0)

    # then the elbow is 0.6 m beyond the platform's corner, or on the other side of the centre: one triangle for each
    R, corner = 1.2 / np.sqrt(3), 0.4 / np.sqrt(3)
    elbow = 0.6 - reach * corner
    # proximal angle from the ray that goes outwards through the base joint
    end = np.arccos((elbow**2 - R**2 - 0.4**2) / (2 * R * 0.4))
    begin = start["base1"] - np.radians(210)
    travel = np.angle(np.exp(1j * (-end - begin)))
    assert time_of(text) == pytest.approx(travel / rate, abs=2e-3)
    pose = pose_of(text)
    assert pose["elbow1"] == pytest.approx(pose["elbow2"], abs=0.01)
    assert len(direction_of(text)) == 3 and "base1" not in direction_of(text)
    assert run["actuation_conditioning"].values[-1] < 0.3 * run["actuation_conditioning"].values[0]
    centre = run.frame("platform").position.values
    assert np.abs(centre).max() < 1e-9 and np.ptp(run["elbow1"].values) > 0.05


def test_the_lost_direction_is_the_motion_of_the_platform_with_its_drives_locked():
    m = cc.library.rrr3(position=(0.0, 0.0))
    for joint, angle in dict(m.start).items():
        m.drive(joint, angle + 0.1 * cc.t)
    m.start = {}
    text, _ = refusal(m, until=20.0)
    lost = direction_of(text)
    # the platform turns about its centre: each distal link turns about its elbow so that its tip moves across it
    corner = 0.4 / np.sqrt(3)
    expected = {name: -corner / 0.6 for name in lost if name.startswith("elbow")}  # all alike, two of them are named
    assert len(expected) == 2
    ratio = {name: lost[name] / (lost["wrist1"] + lost[min(expected)]) for name in expected}
    # the distal link points away from the centre: its tip moves with the platform, the other way round about the elbow
    assert ratio == pytest.approx(expected, abs=0.02)


# ---- poses that can be passed --------------------------------------------------------------------------------------


@pytest.mark.parametrize("tilted", [False, True])
@pytest.mark.parametrize("rtol", [1e-6, 1e-10])
def test_warn_and_stop_do_not_leap_over_a_singular_pose(tilted, rtol):
    """Steps are longer than the neighbourhood of the flat pose; it is found between them."""
    m = drawings.parallelograms(1, TILT if tilted else None)
    with pytest.warns(cc.RunWarning, match="singular pose"):
        run = cc.simulate(m, m.assemble(), until=2.0, rtol=rtol, events=[cc.SingularPoses("warn")])
    assert run.complete and relative_energy_error(run) < 100 * rtol
    first = next(x for x in run.record if x.what == "singular pose")
    before = cc.simulate(m, m.assemble(), until=first.t, rtol=1e-10)
    assert abs(float(before["O0"][-1])) < 0.02  # the first time it is flat

    text, stopped = refusal(m, until=2.0, rtol=rtol, events=[cc.SingularPoses("stop")])
    assert time_of(text) == pytest.approx(first.t, abs=1e-4) and abs(pose_of(text)["O0"]) < 0.02
    assert direction_of(text).keys() <= {"O0", "O1", "left1"}
    assert stopped.t[-1] <= time_of(text) + 1e-5 and len(stopped.t) > 10


def test_pass_says_nothing_but_keeps_a_record():
    m = drawings.sarrus()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = cc.simulate(m, m.assemble(), until=3.0, rtol=1e-10)
    assert [x.what for x in run.record] == ["singular pose"]


def test_every_pose_that_is_passed_is_told_once():
    """Also where equations are watched one by one, some of them redundant at every pose."""
    m = drawings.sarrus()
    with pytest.warns(cc.RunWarning) as said:
        run = cc.simulate(m, m.assemble(), until=3.0, rtol=1e-10, events=[cc.SingularPoses("warn")])
    fine = cc.simulate(m, m.assemble(), until=3.0, rtol=1e-10, t_eval=np.linspace(0, 3, 3001))
    far = fine["closure_conditioning"].values
    lowest = (far[1:-1] < far[:-2]) & (far[1:-1] < far[2:]) & (far[1:-1] < 0.01)  # it falls by 0.003 in 1 ms
    assert [x.t for x in run.record] == pytest.approx(fine.t[1:-1][lowest], abs=1e-3)
    assert len(said) == len(run.record) == 6


@pytest.mark.parametrize("before", [-0.5, 0.0, 0.5])  # of what counts as the same time
@pytest.mark.parametrize("then", ["stop", cc.Switch(open="hold")], ids=["stop", "switch"])
def test_a_pose_that_is_only_told_ends_no_run(then, before):
    """Also not at the instant of an event that ends a piece."""
    m = drawings.parallelograms(1)
    m.prismatic("guide", m.ground, m.body("block", cc.point_mass(1.0)))
    m.weld("hold", m.ground, m.bodies["block"].origin, cut=True)

    def run(*events):
        with pytest.warns(cc.RunWarning, match="singular pose"):
            return cc.simulate(m, m.assemble(), until=1.0, rtol=1e-8, events=[*events, cc.SingularPoses("warn")])

    alone = run()
    (pose,) = alone.record
    when = pose.t - before * SAME_TIME * alone.scale.time
    met = run(cc.Event("meets", cc.t - when, then=then))
    assert met.complete and {"meets", "singular pose"} == {h.what for h in met.record}
    assert met.t[-1] == pytest.approx(when if then == "stop" else 1.0, abs=1e-12)
    assert met.state().open_joints == (() if then == "stop" else ("hold",))


def motor_driven():
    """A 3-RRR whose motors turn it on the spot until the distal links point at its centre."""
    m = cc.library.rrr3(position=(0.0, 0.0))
    for joint, angle in m.start.items():
        m.motor(joint, torque=20 * (angle + 0.3 * cc.t - m.joints[joint].q) - 4 * m.joints[joint].v)
    return m


def test_a_type_2_pose_under_motors_is_told_and_stops_if_wanted():
    """The motion itself is regular there: motors are not drives, but they cannot hold the platform any more."""
    m = motor_driven()
    with pytest.warns(
        cc.RunWarning, match=r"of the actuation at t = .* \(type 2\), at base1=.*: with all actuators locked"
    ):
        run = cc.simulate(m, until=5.0, events=[cc.SingularPoses("warn")])
    assert run.complete
    told = [x for x in run.record if x.what == "singular pose of the actuation"]
    text, stopped = refusal(m, until=5.0, events=[cc.SingularPoses("stop")])
    assert time_of(text) == pytest.approx(told[0].t, abs=1e-6)
    assert "still moves along" in text and "base1" not in text.partition("still moves")[2]
    assert stopped["actuation_conditioning"].values[-1] < 1e-3 < stopped["actuation_conditioning"].values[:-3].min()


def test_conditioning_in_an_event():
    """A run may stop at any distance from a singular pose, of any kind."""
    m = motor_driven()
    start = m.assemble()
    near = cc.Event("near", cc.conditioning("actuation") - 0.05, direction=-1, then="stop")
    values = cc.simulate(m, start, until=5.0, events=[near])["actuation_conditioning"].values
    assert values[-1] == pytest.approx(0.05, abs=1e-9) and values[:-1].min() > 0.05
    with pytest.raises(cc.ModelError, match="kind must be 'closure', 'actuation' or 'output'"):
        cc.conditioning("type-2")
    lonely = cc.library.pendulum()
    with pytest.raises(cc.ModelError, match="which this mechanism does not have"):
        cc.simulate(lonely, until=1.0, events=[cc.Event("e", cc.conditioning("closure") - 0.1)])


@pytest.mark.parametrize("singularity", ["warn", "stop"])
def test_rows_that_are_chosen_anew_are_no_singular_pose(singularity):
    """Bennett's linkage is regular everywhere, but any two of its five closure rows are not."""
    m = drawings.bennett()
    run = cc.simulate(m, m.assemble(), until=10.0, rtol=1e-10, events=[cc.SingularPoses(singularity)])
    assert run.complete and not run.record and len(run.segments) > 2
    # the monitor looks at all rows, and does not depend on the choice
    assert run["closure_conditioning"].values.min() > 0.05
    other = drawings.bennett(cut="J1")
    other = cc.simulate(other, other.assemble(), until=10.0, rtol=1e-10)
    assert len(other.segments) == 1


def test_the_closure_monitor_sees_the_flat_pose():
    m = drawings.parallelograms(1)
    times = np.linspace(0, 2, 401)
    run = cc.simulate(m, m.assemble(), until=2.0, rtol=1e-10, t_eval=times)
    angle, monitor = run["O0"].values, run["closure_conditioning"].values
    flat = np.abs(np.sin(angle))
    ratio = monitor / flat
    assert flat.min() < 0.02 and ratio.min() > 0.2 and ratio.max() < 2  # it falls to zero in proportion to the angle


def test_a_start_that_is_singular():
    m = drawings.parallelograms(1)
    held = {"O0": 0.0, "O1": 0.0, "left1": 0.0}
    start = m.assemble(held, velocity={"O0": 3.0, "O1": 3.0})
    run = cc.simulate(m, start, until=1.0, rtol=1e-10)
    assert [x.what for x in run.record] == ["singular pose"] and run.record[0].t == 0.0
    assert np.abs(run["O0"].values - run["O1"].values).max() < 1e-8  # it left along the parallelogram, as it was sent
    with pytest.raises(cc.RunError, match=r"ended at t = 0 s.*singular pose at O0=0, left1=0, O1=0") as refused:
        cc.simulate(m, start, until=1.0, events=[cc.SingularPoses("stop")])
    assert len(refused.value.run.t) == 1


def test_a_singular_start_leaves_along_the_branch_it_was_sent():
    """A flat square has another branch: one rocker rests, the other swings together with the coupler on it."""
    m = drawings.parallelograms(1)
    start = m.assemble({"O0": 0.0, "O1": 0.0, "left1": 0.0}, velocity={"O0": 0.0, "O1": 3.0})
    run = cc.simulate(m, start, until=0.3, rtol=1e-10)
    one, two, coupler = (run[name].values for name in ("O0", "O1", "left1"))
    assert np.abs(one).max() < 1e-9 and np.abs(coupler - two).max() < 1e-9 and np.ptp(two) > 0.2
    # two rods on one pivot: the coupler has its free end there
    inertia, weight = 2 / 3, 9.81
    energy = inertia * run["O1'"].values ** 2 / 2 + weight * np.sin(two)
    assert np.ptp(energy) < 1e-6


# ---- starts at singular poses, and samples at them -------------------------------------------------------------------


def parallelogram(law=None, angle=1.0):
    m = cc.Mechanism("parallelogram", gravity=(0, -9.81, 0))
    left, right = m.body("left", cc.rod(1.0, mass=1.0)), m.body("right", cc.rod(1.0, mass=1.0))
    top = m.body("top", cc.rod(2.0, mass=1.0))
    m.revolute("O", m.ground, left, guess=angle)
    m.revolute("C", m.ground.at(2, 0, 0), right, guess=angle)
    m.revolute("A", left.tip, top, guess=-angle)
    m.revolute("B", top.tip, right.tip)
    if law is not None:
        m.drive("O", law)
    return m


def test_a_piston_driven_from_its_dead_centre():
    """No row is redundant because it says nothing new at the start: all poses of the loop count."""
    m = cc.Mechanism("piston", gravity=(0, -9.81, 0))
    crank, rod = m.body("crank", cc.rod(0.1, mass=0.2)), m.body("rod", cc.rod(0.3, mass=0.3))
    piston = m.body("piston", cc.box((0.05, 0.05, 0.05), mass=0.5))
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, rod)
    m.prismatic("P", m.ground, piston, axis=(1, 0, 0), guess=0.4)
    m.revolute("B", rod.tip, piston)
    m.drive("P", 0.39 + 0.01 * cc.math.cos(2 * cc.t))
    mobility = m.mobility()
    assert (mobility.true, mobility.here) == (0, 1) and ("P.drive", "value") not in mobility.redundant
    text, run = refusal(m, until=1.0)  # at rest in its dead centre, it could go either way
    assert "close to a singular pose" in text and "P.drive value" in text
    assert np.abs(run["P"].values - 0.39 - 0.01 * np.cos(2 * run.t)).max() < 1e-12


def test_driven_from_the_flat_pose_it_stays_on_its_branch():
    m = parallelogram(2 * np.pi * cc.t, angle=0.0)
    run = cc.simulate(m, until=1.0)
    assert np.abs(run["O"].values - run["C"].values).max() < 1e-6 and float(run.closure_error.max()) < 1e-12


def test_velocities_at_a_singular_pose_belong_to_a_branch():
    """Flat, the closures alone would allow any ratio of the rockers' speeds; closed motions have 1 or -3."""
    m = parallelogram()
    start = m.assemble(O=0.0, guess={"C": 0.0, "A": 0.0}, velocity={"O": 3.0})
    assert start.velocities["C"] == pytest.approx(3.0, abs=1e-9)
    other = m.assemble(O=0.0, guess={"C": 0.0, "A": 0.0}, velocity={"O": 3.0, "C": -9.0})
    assert other.velocities["A"] == pytest.approx(-6.0 - 3.0, abs=1e-9)  # the top turns with (-9 - 3) / 2
    with pytest.raises(cc.AssemblyError, match="no closed motion goes through it"):
        m.assemble(O=0.0, guess={"C": 0.0, "A": 0.0}, velocity={"O": 3.0, "C": 1.0})
    run = cc.simulate(m, start, until=2.0)
    assert run.good and np.abs(run["O"].values - run["C"].values).max() < 1e-9


def test_two_rods_in_a_line_are_shaky_but_do_not_move():
    m = cc.Mechanism("shaky")
    a, b = m.body("a", cc.rod(1.0, mass=1.0)), m.body("b", cc.rod(1.0, mass=1.0))
    m.revolute("O", m.ground, a)
    m.revolute("A", a.tip, b)
    m.revolute("C", m.ground.at(2, 0, 0), b.tip)
    with pytest.raises(cc.AssemblyError, match="no closed motion goes through it"):
        m.assemble(O=0.0, velocity={"O": 1.0})


def test_a_sample_at_a_singular_pose_is_like_its_neighbours():
    m = parallelogram(1 - cc.t)
    run = cc.simulate(m, until=2.0)
    assert run.t[100] == 1.0 and abs(float(run["O"][100])) < 1e-12  # flat
    assert np.abs(run["C'"].values + 1).max() < 1e-6
