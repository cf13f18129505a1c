"""Closures that come and go: feet touch down and lift, hands grasp and let go; momentum and energy are kept."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import brentq

import closedchain as cc
from tests.invariants.balance import Bodies
from tests.invariants.drawings import relative_energy_error

# ---- a hopper that can be computed by hand -------------------------------------------------------------------------

SOLE, BODY, STIFFNESS, G = 1.5, 5.0, 800.0, 9.81  # chosen so that the spring never pulls at touch-down


def hopper():
    """A body on a spring on a sole that stands on the ground or not."""
    m = cc.Mechanism("hopper")
    sole, body = m.body("sole", cc.box((0.2, 0.2, 0.05), mass=SOLE)), m.body("body", cc.box((0.3,) * 3, mass=BODY))
    m.prismatic("guide", m.ground, sole)
    m.prismatic("leg", sole, body, guess=0.5)
    m.joint_spring("leg", STIFFNESS, rest=0.5)
    m.weld("foot", m.ground, sole, cut=True)
    m.start = {"leg": 0.2}
    lift = cc.Event("lift", cc.multiplier("foot", "z"), direction=-1, then=cc.Switch(open="foot"))
    touch = cc.Event("touch", sole["origin"].place[2], direction=-1, then=cc.Switch(close="foot"))
    return m, [lift, touch]


def stance(leg, rate):
    """Time until the sole lifts, and the rate of the leg then, from the harmonic motion of the body on its spring."""
    w, middle = np.sqrt(STIFFNESS / BODY), 0.5 - BODY * G / STIFFNESS

    def length(t):
        return middle + (leg - middle) * np.cos(w * t) + rate / w * np.sin(w * t)

    up = 0.5 + SOLE * G / STIFFNESS  # there the spring pulls with the weight of the sole
    times = np.linspace(0, 2 * np.pi / w, 2001)[1:]
    i = int(np.argmax(length(times) > up))
    assert length(0) < up and i > 0
    t = brentq(lambda t: length(t) - up, times[i - 1], times[i], xtol=1e-15)
    return t, -(leg - middle) * w * np.sin(w * t) + rate * np.cos(w * t)


def flight(rate):
    """Time in the air; rates of sole and leg at touch-down, and the length of the leg then."""
    whole, reduced = SOLE + BODY, SOLE * BODY / (SOLE + BODY)
    w, stretch = np.sqrt(STIFFNESS / reduced), SOLE * G / STIFFNESS

    def leg(t):
        return 0.5 + stretch * np.cos(w * t) + rate / w * np.sin(w * t)

    def leg_rate(t):
        return -stretch * w * np.sin(w * t) + rate * np.cos(w * t)

    def sole(t):
        centre = BODY / whole * (0.5 + stretch) + BODY / whole * rate * t - G * t**2 / 2
        return centre - BODY / whole * leg(t)

    times = np.linspace(1e-3, 2.0, 4001)
    i = int(np.argmax(sole(times) < 0))
    t = brentq(sole, times[i - 1], times[i], xtol=1e-15)
    return t, BODY / whole * rate - G * t - BODY / whole * leg_rate(t), leg_rate(t), leg(t)


def test_a_hopper_follows_its_exact_motion():
    m, events = hopper()
    run = cc.simulate(m, m.assemble(), until=3.0, rtol=1e-12, events=events)
    expected, t, leg, rate = [], 0.0, 0.2, 0.0
    while True:
        wait, rate = stance(leg, rate)
        t += wait
        if t > 3.0:
            break
        expected.append(("lift", t, 0.0))
        fly, fall, leg_rate, leg = flight(rate)
        t += fly
        if t > 3.0:
            break
        expected.append(("touch", t, -SOLE * fall))  # the impulse that stops the sole
        rate = leg_rate + fall  # the body keeps its velocity
    assert len(expected) >= 8
    assert [x.what for x in run.record] == [name for name, _, _ in expected]
    for happening, (_, time, impulse) in zip(run.record, expected, strict=True):
        assert happening.t == pytest.approx(time, abs=1e-8)  # errors of events add up: rtol times 800 steps
        assert sum(happening.numbers["impulse"].values()) == pytest.approx(impulse, abs=1e-7)
        lost = impulse**2 / (2 * SOLE)
        assert happening.numbers["lost"] == pytest.approx(lost, abs=1e-6)

    # pieces, record, states
    assert len(run.segments) == len(expected) + 1
    assert [x.start.open_joints for x in run.segments] == [("foot",) if k % 2 else () for k in range(len(run.segments))]
    standing = np.array([run.state(i).open_joints == () for i in range(len(run.t))])
    assert np.abs(run["guide"].values[standing]).max() < 1e-12 < 0.3 < run["guide"].values.max()
    assert np.all(run["lam"].sel(closure="foot z").values[standing] > -1e-6)  # a foot does not pull
    assert np.abs(run["lam"].sel(closure="foot z").values[~standing]).max() == 0.0
    assert relative_energy_error(run) < 1e-9
    # the energy itself falls by what the impacts took, all of it and no more
    energy = (run["kinetic_energy"] + run["potential_energy"]).values
    assert energy[0] - energy[-1] == pytest.approx(sum(x.numbers["lost"] for x in run.record), abs=1e-7)


def test_what_the_record_says():
    m, events = hopper()
    run = cc.simulate(m, m.assemble(), until=0.8, rtol=1e-9, events=events)
    lift, touch = run.record
    assert lift.text == f"lift at t = {lift.t:.9g} s: 'foot' opens; the impact takes 0 J"
    assert touch.text.startswith(f"touch at t = {touch.t:.9g} s: 'foot' closes; the impact takes ")
    assert set(touch.numbers) == {"impulse", "kinetic_before", "kinetic_after", "lost"}
    assert set(touch.numbers["impulse"]) == {"foot z"} and lift.numbers["impulse"] == {}
    assert touch.numbers["kinetic_before"] - touch.numbers["kinetic_after"] == touch.numbers["lost"]


def test_a_foot_stays_down_until_its_force_is_zero():
    """Without the event that lifts it, the foot is held: a closed joint pulls as well as it pushes."""
    m, (_, touch) = hopper()
    run = cc.simulate(m, m.assemble(), until=1.0, rtol=1e-10, events=[touch])
    assert not run.record and run["lam"].sel(closure="foot z").values.min() < -100


# ---- momentum of free bodies ---------------------------------------------------------------------------------------


def across(run, k=0):
    """Time, pose, and velocities just before and just after the k-th switch."""
    nq, nv = run.start.topology.nq, run.start.topology.nv
    x, after = run.segments[k].trajectory.failure.x, run.segments[k + 1].start
    return SimpleNamespace(t=after.t, q=after.q, before=x[nq : nq + nv], after=after.v)


def kinetic(bodies, x, v):
    """Kinetic energy, from the motion of each body alone."""
    total = 0.0
    for name, state in zip(bodies.names, bodies.state(x.t, x.q, v), strict=True):
        R, velocity, spin = state[:, 1:4], state[:, 4], state[:, 5]
        total += bodies.mass[name] * velocity @ velocity / 2 + spin @ R @ bodies.inertia[name] @ R.T @ spin / 2
    return total


def place(m, state, name):
    """Where a frame is at a state, and its axes."""
    frame = cc.simulate(m, state, until=state.t).frame(name)
    return frame.position.values[0], frame.rotation.values[0]


def wrench_of(impulse, joint, kind, P, S):
    """Force and moment of an impulse on the second body of a joint, at its frame; slides push along their own axes."""
    force, moment = np.zeros(3), np.zeros(3)
    forces = P[1] if kind in ("planar", "cylindrical", "prismatic") else np.eye(3)
    for label, value in impulse.items():
        if label.startswith(f"{joint} "):
            row = label.removeprefix(f"{joint} ")
            if row == "square":  # a Hooke joint locks the turn about the normal of its cross
                moment += value * np.cross(P[1][:, 0], S[1][:, 1])
            elif row in ("x", "y", "z"):
                force += value * forces[:, "xyz".index(row)]
            else:
                moment += value * P[1][:, "xyz".index(row[-1])]
    return force, moment


def check_bookkeeping(run, bodies, x, happening):
    """The energies of a switch, and that nothing is left of the motion which the impulse removed."""
    before, after = (kinetic(bodies, x, v) for v in (x.before, x.after))
    numbers = happening.numbers
    assert numbers["kinetic_before"] == pytest.approx(before, abs=1e-10)
    assert numbers["kinetic_after"] == pytest.approx(after, abs=1e-10)
    assert numbers["lost"] == pytest.approx(before - after, abs=1e-10) and before > after
    # v- = v+ and the motion removed, at right angles to each other in the metric of the inertia
    assert before - after == pytest.approx(kinetic(bodies, x, x.before - x.after), abs=1e-10)
    assert relative_energy_error(run) < 1e-9


def tumbling_box(kind, rng):
    """A box that flies so that its corner comes to the place where a joint waits for it at t = 0."""
    m = cc.Mechanism("landing")
    box = m.body("box", cc.box((0.4, 0.3, 0.2), mass=3.0))
    spot = m.ground.frame("spot", at=(0.3, -0.2, 0.1), rpy=(0.3, 0.2, -0.5))
    m.joint(kind, "foot", spot, box.frame("corner", at=(0.2, 0.15, -0.1), rpy=(0.1, -0.3, 0.4)), cut=True)
    m.revolute("other", m.ground.at(5, 0, 0), m.body("arm", cc.rod(1.0, mass=1.0)))  # nothing to do with it
    standing = m.assemble(guess={"box.free": (0.1, 0.2, 0.3, *rng.normal(size=4))})
    v = np.concatenate([3 * rng.normal(size=3), rng.normal(size=3) - [0, 0, 2], [0.5]])
    v = v if standing.topology.v_labels[0] != "other" else np.roll(v, 1)
    # it stands there at t = 0; the time before is found backwards, with the joint open
    back = cc.simulate(m, replace(standing, v=v, open_joints=("foot",)), until=-0.3, rtol=1e-13, t_eval=[0.0, -0.3])
    return m, back.state(-1)


@pytest.mark.parametrize("kind", ["spherical", "revolute", "universal", "weld", "planar", "cylindrical", "prismatic"])
def test_touch_down_keeps_momentum_and_energy(kind, rng):
    m, start = tumbling_box(kind, rng)
    run = cc.simulate(m, start, until=0.2, rtol=1e-12, events=[cc.Event("land", cc.t, then=cc.Switch(close="foot"))])
    (happening,) = run.record
    assert abs(happening.t) < 1e-12 and happening.what == "land"
    bodies, x = Bodies(run), across(run)
    P, S = (place(m, run.segments[1].start, name) for name in ("ground.spot", "box.corner"))
    force, moment = wrench_of(happening.numbers["impulse"], "foot", kind, P, S)
    before, after = (bodies.momentum(x.t, x.q, v)[0] for v in (x.before, x.after))
    assert np.abs(after - before).max() > 0.5
    for point in (np.zeros(3), S[0], np.array([1.0, -2.0, 3.0])):  # linear momentum, and angular about any point
        turning, pushing = (after - before)[:3] - np.cross(point, (after - before)[3:]), (after - before)[3:]
        assert np.abs(pushing - force).max() < 1e-10
        assert np.abs(turning - moment - np.cross(S[0] - point, force)).max() < 1e-10
    check_bookkeeping(run, bodies, x, happening)
    assert run.closure_error.values[run.t > 0].max() < 1e-9


def two_arms(gravity=(0.0, 0.0, -9.81)):
    """Two arms of two links in space, and a box: the left hand holds it, the right hand may."""
    m = cc.Mechanism("two arms", gravity=gravity)
    box = m.body("box", cc.box((0.3, 0.2, 0.2), mass=2.0))
    for side, x, bend in (("left", -0.6, 1.0), ("right", 0.6, -1.0)):
        upper, lower = (m.body(f"{side} {name}", cc.rod(0.6, mass=1.0, radius=0.03)) for name in ("upper", "lower"))
        m.spherical(f"{side} shoulder", m.ground.at(x, 0, 0), upper)
        m.revolute(f"{side} elbow", upper.tip, lower, axis=(0.2, 1.0, 0.1), guess=bend)
        hand = lower.frame("hand", at=(0.6, 0, 0), rpy=(0.2, 0.1, 0.3))
        m.weld(f"{side} grip", hand, box.frame(f"{side} handle", at=(np.sign(x) * 0.15, 0, 0)), cut=True)
    return m


@pytest.fixture(scope="module")
def meeting():
    """The arms, and a state from which both hands come to the box at t = 0 while only the left one holds it."""
    m, rng = two_arms(), np.random.default_rng(31)
    shut = m.assemble()
    held = replace(shut, open_joints=("right grip",))
    # velocities that keep the left grip closed, and no other
    free = m.assemble(dict(shut.coordinates), open_joints=("right grip",), velocity={
        "left shoulder.wx": 0.4, "left shoulder.wy": -0.8, "left shoulder.wz": 0.5, "left elbow": 0.7,
        "right shoulder.wx": -0.3, "right shoulder.wy": 0.6, "right shoulder.wz": 0.2, "right elbow": rng.uniform(),
    })  # fmt: skip
    back = cc.simulate(m, replace(held, v=free.v), until=-0.2, rtol=1e-13, t_eval=[0.0, -0.2])
    return m, back.state(-1)


def grips(m, run, x, happening):
    """Wrench of each hand on the box, about the world's origin."""
    out = {}
    for side in ("left", "right"):
        P, S = (place(m, run.segments[1].start, name) for name in (f"{side} lower.hand", f"box.{side} handle"))
        force, moment = wrench_of(happening.numbers["impulse"], f"{side} grip", "weld", P, S)
        out[side] = np.concatenate([moment + np.cross(S[0], force), force])
    return out


def test_a_box_is_handed_over(meeting):
    """One hand grasps as the other lets go: what the box gains comes from the hand that grasps."""
    m, start = meeting
    event = cc.Event("hand over", cc.t, then=cc.Switch(close="right grip", open="left grip"))
    run = cc.simulate(m, start, until=0.2, rtol=1e-12, events=[event])
    (happening,) = run.record
    bodies, x = Bodies(run), across(run)
    change = bodies.momentum(x.t, x.q, x.after) - bodies.momentum(x.t, x.q, x.before)
    wrench = grips(m, run, x, happening)
    assert np.abs(wrench["left"]).max() == 0.0
    assert np.abs(change[bodies.names.index("box")] - wrench["right"]).max() < 1e-10
    left = [k for k, name in enumerate(bodies.names) if name.startswith("left")]
    assert np.abs(change[left]).max() < 1e-10  # the left arm feels nothing
    check_bookkeeping(run, bodies, x, happening)
    assert "'right grip' closes, 'left grip' opens" in happening.text
    assert [s.start.open_joints for s in run.segments] == [("right grip",), ("left grip",)]


def test_a_box_is_taken_by_both_and_let_go(meeting):
    """Both hands hold it for a while, in a closed loop; then it flies, with the momentum that it had."""
    m, start = meeting
    events = [
        cc.Event("grasp", cc.t, then=cc.Switch(close="right grip")),
        cc.Event("release", cc.t - 0.1, then=cc.Switch(open=("left grip", "right grip"))),
    ]
    run = cc.simulate(m, start, until=0.2, rtol=1e-12, events=events)
    grasp, release = run.record
    bodies, x = Bodies(run), across(run)
    change = bodies.momentum(x.t, x.q, x.after) - bodies.momentum(x.t, x.q, x.before)
    wrench = grips(m, run, x, grasp)
    assert np.abs(change[bodies.names.index("box")] - wrench["left"] - wrench["right"]).max() < 1e-10
    check_bookkeeping(run, bodies, x, grasp)

    assert (release.t, release.numbers["lost"], release.numbers["impulse"]) == (pytest.approx(0.1), 0.0, {})
    y = across(run, 1)
    assert np.abs(y.after - y.before).max() < 1e-10
    # in free flight: a parabola, and a spin whose moment of momentum about the centre stays
    box, late = run.frame("box"), run.t > 0.1
    fall = np.gradient(np.gradient(box.position.values[late], run.t[late], axis=0), run.t[late], axis=0)[2:-2]
    assert np.abs(fall - [0, 0, -9.81]).max() < 1e-6  # second differences of samples
    R, spin = box.rotation.values[late], box.angular_velocity.values[late]
    turning = np.einsum("tij,j,tkj,tk->ti", R, np.diag(bodies.inertia["box"]), R, spin)
    assert np.abs(turning - turning[0]).max() < 1e-9
    assert run.closure_error.values[(run.t > 0) & (run.t < 0.1)].max() < 1e-9


def test_an_arm_that_grasps_a_resting_box_in_space():
    """No gravity, nothing on the ground: the momentum of both together, linear and angular, is that of one before."""
    m = cc.Mechanism("capture", gravity=(0, 0, 0))
    ship, box = m.body("ship", cc.box((1, 1, 1), mass=10.0)), m.body("box", cc.box((0.3, 0.2, 0.2), mass=2.0))
    m.free("ship pose", m.ground, ship)
    m.free("box pose", m.ground, box, guess=(1.0, 0.2, 0.1, 1, 0, 0, 0))
    m.spherical("grip", ship.at(0.5, 0.2, 0.1), box.at(-0.15, 0.1, 0), cut=True)
    caught = m.assemble()
    v = dict(zip(caught.topology.v_labels, np.zeros(12), strict=True)) | {
        "ship pose.wz": 0.3, "ship pose.vx": 0.5, "box pose.wx": 1.0, "box pose.vy": -0.2}  # fmt: skip
    before = replace(caught, v=np.array(list(v.values())), open_joints=("grip",))
    start = cc.simulate(m, before, until=-0.5, rtol=1e-13, t_eval=[0.0, -0.5]).state(-1)
    event = cc.Event("catch", cc.t, then=cc.Switch(close="grip"))
    run = cc.simulate(m, start, until=1.0, rtol=1e-12, events=[event])
    bodies = Bodies(run)
    nq, nv = start.topology.nq, start.topology.nv
    totals = np.array(
        [bodies.momentum(t, x[:nq], x[nq : nq + nv]).sum(axis=0) for t, x in zip(run.t, run.x, strict=True)]
    )
    assert np.abs(totals - totals[0]).max() < 1e-10
    check_bookkeeping(run, bodies, across(run), run.record[0])


# ---- events --------------------------------------------------------------------------------------------------------


def swinging():
    m = cc.library.pendulum()
    return m, m.joints["hinge"]


@pytest.mark.parametrize(("direction", "signs"), [(1, {1}), (-1, {-1}), (0, {1, -1})])
def test_direction_of_an_event(direction, signs):
    m, hinge = swinging()
    lowest = cc.Event("lowest", hinge.q + cc.pi / 2, direction=direction)
    run = cc.simulate(
        m, m.assemble(), until=5.0, rtol=1e-10, events=[lowest], solver=cc.solvers.DOP853(dense_output=True)
    )
    # a quarter of the period of a rod let go level: K(1/2) sqrt(2 L / (3 g))
    quarter = 1.8540746773013719 * np.sqrt(2 / (3 * 9.81))
    times = quarter * np.arange(1, 100, 2)
    times = [t for k, t in enumerate(times[times < 5.0]) if (-1) ** (k + 1) in signs]
    assert [x.t for x in run.record] == pytest.approx(times, abs=1e-8)
    for happening in run.record:
        angle, rate = run.sol(happening.t)[:2]
        assert abs(angle + np.pi / 2) < 1e-9 and np.sign(rate) in signs


def test_an_event_that_stops():
    m, hinge = swinging()
    events = [
        cc.Event("passing", hinge.q + 1.0),
        cc.Event("lowest", hinge.q + cc.pi / 2, then="stop"),
        cc.Event("fast", hinge.v - 100.0, then="stop"),
    ]
    run = cc.simulate(m, m.assemble(), until=5.0, rtol=1e-10, events=events)
    assert run.complete and [x.what for x in run.record] == ["passing", "lowest"]
    assert run.t[-1] <= run.record[-1].t < 1.0


def test_events_far_into_a_long_run():
    """Steps are looked at some at a time: an event may come in any of these looks."""
    m, _ = swinging()
    for turn in (3.0, 30.0):
        run = cc.simulate(m, m.assemble(), until=60.0, rtol=1e-10, events=[cc.Event("late", cc.t - turn, then="stop")])
        assert run.record[0].t == pytest.approx(turn, abs=1e-9) and run.t[-1] <= turn


def test_joints_that_do_not_meet_are_not_closed():
    m, start = tumbling_box("spherical", np.random.default_rng(5))
    early = cc.Event("too early", cc.t + 0.1, then=cc.Switch(close="foot"))
    with pytest.raises(
        cc.RunError, match=r"'too early' closes joint 'foot' at t = -0\.1 s, but its frames are .* apart"
    ):
        cc.simulate(m, start, until=0.2, events=[early])


def test_a_drive_that_lets_go():
    """A drive is a closure too: it carries a pendulum round, then lets it swing."""
    m, _ = swinging()
    m.drive("hinge", 2 * cc.t, name="carrier")
    m.start = {}
    event = cc.Event("let go", cc.t - 1.0, then=cc.Switch(open="carrier"))
    run = cc.simulate(m, m.assemble(), until=2.0, rtol=1e-11, events=[event])
    held = run.t <= 1.0
    assert np.abs(run["hinge"].values[held] - 2 * run.t[held]).max() < 1e-12
    assert np.abs(run["carrier"].values[held] - 9.81 / 2 * np.cos(2 * run.t[held])).max() < 1e-9
    assert np.abs(run["carrier"].values[~held]).max() == 0.0
    assert relative_energy_error(run) < 1e-9
    energy = (run["kinetic_energy"] + run["potential_energy"]).values[~held]
    assert np.ptp(energy) < 1e-9 * energy.max()


def test_springs_that_let_go_lose_what_they_had_stored():
    """A mass hangs on a virtual spring and is dropped: the books say where the spring's energy went."""
    m = cc.Mechanism("grip", gravity=(0, 0, -9.81))
    load = m.body("load", cc.point_mass(10.0))
    m.prismatic("guide", m.ground, load)
    m.weld("grip", m.ground, load, cut=True)
    drop = cc.Event("drop", cc.t - 0.3, then=cc.Switch(open="grip"))
    run = cc.simulate(m, until=0.5, method=cc.VirtualSpring(1e4, 1e2), events=[drop], rtol=1e-10)
    held = 10.0 * 9.81 / 1e4  # the stretch, once it is at rest
    assert run.record[0].numbers["lost"] == pytest.approx(1e4 * held**2 / 2, rel=0.6)  # it still swings a little
    assert abs(run.energy_error.values).max() < 1e-8 and run.good
