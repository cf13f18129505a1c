"""Events: where they are found, in which order, and what opening and closing joints does."""

import numpy as np
import pytest

import closedchain as cc
from tests.solvers import stepping


def falling(height=1.0, feet=((0.05, 0.0),)):
    """A body above the ground, with ball joints that may hold its feet; they are open at the start."""
    m = cc.Mechanism("drop", gravity=(0, 0, -9.81))
    body = m.body("body", cc.box((0.3, 0.2, 0.2), mass=2.0))
    m.free("fly", m.ground, body)
    names = []
    for k, (x, y) in enumerate(feet):
        body.frame(f"foot{k}", at=(x, y, -0.1))
        m.spherical(f"contact{k}", m.ground.at(x, y, 0), body[f"foot{k}"], cut=True)
        names.append(f"contact{k}")
    start = m.assemble({"fly": (0, 0, height, 1, 0, 0, 0)}, open_joints=tuple(names))
    return m, start


def touch(m, k):
    return cc.Event(f"foot {k}", m.bodies["body"][f"foot{k}"].place[2], -1, cc.Switch(close=f"contact{k}"))


@pytest.mark.parametrize(("solver", "step"), [("dop853", None), ("dopri5", None), ("rk4", 0.125)])
def test_a_time_is_found_to_rounding(solver, step):
    """Also where a step of rk4 ends exactly on it."""
    m = cc.library.pendulum()
    half = cc.Event("half", cc.t - 0.5)
    run = cc.simulate(m, until=1.0, rtol=1e-4, solver=stepping(solver, step), events=[half])

    assert [h.t for h in run.record] == [pytest.approx(0.5, abs=1e-12)]


def test_directions():
    m = cc.library.pendulum()
    swing = m.joints["hinge"].q + cc.pi / 2
    events = [cc.Event(name, swing, direction) for name, direction in (("both", 0), ("up", 1), ("down", -1))]
    run = cc.simulate(m, until=3.0, rtol=1e-9, events=events)
    seen = {name: [h.t for h in run.record if h.what == name] for name in ("both", "up", "down")}

    assert len(seen["both"]) == 3 and seen["both"] == sorted(seen["up"] + seen["down"])
    np.testing.assert_allclose(np.diff(seen["both"]), seen["both"][1] - seen["both"][0], rtol=1e-8)  # half a period


def test_stops_keep_a_sample_at_the_event():
    m = cc.library.pendulum()
    run = cc.simulate(m, until=3.0, rtol=1e-10, events=[cc.Event("low", m.joints["hinge"].q + cc.pi / 2, then="stop")])

    assert run.complete and run.t[-1] == run.record[0].t
    assert float(run["hinge"][-1]) == pytest.approx(-np.pi / 2, abs=1e-9)


def test_backwards_the_later_event_comes_first():
    m = cc.library.pendulum()
    events = [cc.Event(f"{t}", cc.t - t, then="stop") for t in (0.29, 0.31)]
    run = cc.simulate(m, m.assemble(time=1.0), until=0.0, events=events)

    assert [h.what for h in run.record] == ["0.31"]


def test_a_touch_down_keeps_its_books():
    """The impulse changes linear and angular momentum by itself and its moment; energy is lost, and booked."""
    m, start = falling()
    run = cc.simulate(m, start, until=0.5, rtol=1e-11, events=[touch(m, 0)], t_eval=np.linspace(0, 0.5, 11))
    impact = run.record[0]
    fall = np.sqrt(2 * 0.9 / 9.81)
    assert impact.t == pytest.approx(fall, abs=1e-10)

    J = np.array([impact.numbers["impulse"][f"contact0 {axis}"] for axis in "xyz"])
    inertia = np.diag([2.0 * (0.2**2 + 0.2**2) / 12, 2.0 * (0.3**2 + 0.2**2) / 12, 2.0 * (0.3**2 + 0.2**2) / 12])
    arm = np.array([0.05, 0.0, -0.1])
    v = np.array([0, 0, -9.81 * fall]) + J / 2.0
    w = np.linalg.solve(inertia, np.cross(arm, J))
    np.testing.assert_allclose(v + np.cross(w, arm), 0, atol=1e-10)  # the foot stands
    kinetic = 0.5 * (2.0 * v @ v + w @ inertia @ w)
    assert impact.numbers["kinetic_after"] == pytest.approx(kinetic, rel=1e-10)
    assert impact.numbers["lost"] == pytest.approx(0.5 * 2.0 * (9.81 * fall) ** 2 - kinetic, rel=1e-10)
    # the next sample moves on from there, and no energy comes from nowhere
    assert float(abs(run.energy_error).max()) < 1e-7
    assert float(run.closure_error.max()) < 1e-9
    assert len(run.record) == 1  # a foot that stands does not touch down again


def test_two_feet_at_one_instant_share_one_impact():
    m, start = falling(feet=((0.1, 0.0), (-0.1, 0.0)))
    run = cc.simulate(m, start, until=0.6, rtol=1e-10, events=[touch(m, 0), touch(m, 1)])

    assert [h.what for h in run.record] == ["foot 0, foot 1"]
    assert float(abs(run.frame("body.foot0").position.values[-1] - [0.1, 0, 0]).max()) < 1e-9
    assert float(abs(run.frame("body.foot1").position.values[-1] - [-0.1, 0, 0]).max()) < 1e-9


def test_letting_go_needs_no_impulse():
    m, start = falling(height=0.1)
    held = m.assemble({"fly": (0, 0, 0.1, 1, 0, 0, 0)})
    assert start.open_joints and not held.open_joints
    run = cc.simulate(
        m, held, until=0.3, rtol=1e-10, events=[cc.Event("let go", cc.t - 0.1, then=cc.Switch(open="contact0"))]
    )
    happening = run.record[0]

    assert happening.numbers["lost"] == pytest.approx(0.0, abs=1e-12)
    assert float(abs(run.energy_error).max()) < 1e-7


def test_a_joint_that_is_not_there_cannot_close():
    m, start = falling()
    early = cc.Event("too early", cc.t - 0.1, then=cc.Switch(close="contact0"))
    with pytest.raises(cc.RunError, match=r"'too early' closes joint 'contact0' .* apart there"):
        cc.simulate(m, start, until=0.5, events=[early])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cc.Event("e", 1.0), "event 'e' needs an expression"),
        (lambda: cc.Event("e", cc.t, direction=2), "direction is -1, 0 or 1"),
        (lambda: cc.Event("e", cc.t, then="halt"), "then is 'record', 'stop' or cc.Switch"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(cc.ModelError, match=message):
        make()


def test_a_value_that_passes_zero_twice_within_a_step():
    """A ball in free flight is one step for the integrator, however long."""
    m = cc.Mechanism("throw")
    ball = m.body("ball", cc.ball(radius=0.05, mass=1.0))
    m.free("fly", m.ground, ball)
    start = m.assemble({"fly": (0, 0, 0.1, 1, 0, 0, 0)}, velocity={"fly.vz": 5.0})
    height = cc.Event("height", ball.origin.place[2] - 1.3)
    run = cc.simulate(m, start, until=5.0, events=[height])
    root = np.sqrt(25 - 2 * 9.81 * 1.2)
    assert [x.t for x in run.record] == pytest.approx([(5 - root) / 9.81, (5 + root) / 9.81], abs=1e-9)


def foot():
    m = cc.Mechanism("drop")
    body = m.body("body", cc.box((0.2, 0.2, 0.2), mass=2.0))
    sole = body.frame("foot", at=(0.05, 0, -0.1))
    m.free("fly", m.ground, body, guess=(0, 0, 1.0, 1, 0, 0, 0))
    m.spherical("contact", m.ground.at(0.05, 0, 0), sole, cut=True)
    land = cc.Event("land", sole.place[2], direction=-1, then=cc.Switch(close="contact"))
    return m, sole, land


def test_a_switch_and_a_stop_at_the_same_instant():
    """Both happen: who goes on from there stands on the ground."""
    m, sole, land = foot()
    start = m.assemble(open_joints=("contact",))
    stop = cc.Event("stop", sole.place[2], direction=-1, then="stop")
    run = cc.simulate(m, start, until=1.0, events=[land, stop])
    assert run.complete and run.good and run.state().open_joints == ()
    on = cc.simulate(m, run.state(), until=0.6, events=[land])
    assert np.abs(on.frame(sole).position.values[:, 2]).max() < 1e-10


def test_a_foot_that_starts_on_the_ground():
    """Moving down it lands at once; moving up it flies first."""
    m, sole, land = foot()
    for speed, when in ((-1.0, 0.0), (1.0, 2 / 9.81)):
        start = m.assemble({"fly": (0, 0, 0.1, 1, 0, 0, 0)}, velocity={"fly.vz": speed}, open_joints=("contact",))
        run = cc.simulate(m, start, until=0.3, events=[land])
        assert [x.t for x in run.record] == pytest.approx([when], abs=1e-9)
        assert run.frame(sole).position.values[:, 2].min() > -1e-9


def test_what_was_computed_before_a_refused_switch_is_kept():
    m, sole, _ = foot()
    early = cc.Event("early", sole.place[2] - 0.3, then=cc.Switch(close="contact"))
    with pytest.raises(cc.RunError, match=r"'contact' at t = 0.3497.* are 0.3 m .*samples up to t = 0.3497") as refused:
        cc.simulate(m, m.assemble(open_joints=("contact",)), until=1.0, events=[early])
    assert refused.value.run.t[-1] == pytest.approx(np.sqrt(2 * 0.6 / 9.81), abs=1e-9)


@pytest.mark.parametrize("singularity", ["pass", "warn", "stop"])
@pytest.mark.parametrize("name", ["singular pose", "singular pose of the actuation", "divergence"])
def test_an_event_may_have_any_name(name, singularity):
    """Only what the run itself finds is a singular pose; whoever calls an event so gets an event."""
    m = cc.library.pendulum()
    low = m.joints["hinge"].q + cc.pi / 2
    stopped = cc.simulate(m, until=1.0, events=[cc.Event(name, low, then="stop"), cc.SingularPoses(singularity)])
    assert stopped.complete and stopped.good and stopped.t[-1] == stopped.record[0].t < 0.5
    told = cc.simulate(m, until=1.0, events=[cc.Event(name, low), cc.SingularPoses(singularity)])
    assert [h.what for h in told.record] == [name] and told.complaints() == []


# ---- where what is held changes --------------------------------------------------------------------------------------


def lifted(force):
    """A block that stands on its foot, and is pulled up."""
    m = cc.Mechanism("block")
    sole = m.body("sole", cc.box((0.2, 0.2, 0.05), mass=1.0))
    m.prismatic("guide", m.ground, sole)
    m.weld("foot", m.ground, sole, cut=True)
    m.motor("guide", force=force)
    lift = cc.Event("lift", cc.multiplier("foot", "z"), direction=-1, then=cc.Switch(open="foot"))
    return cc.simulate(m, until=1.0, events=[lift])


@pytest.mark.parametrize(
    "force",
    [
        lambda t: cc.math.where(t < 0.5, 0.0, 20.0),
        cc.Sampled(lambda t, now: 0.0 if t < 0.5 else 20.0, 0.1),
        lambda t: 20.0 * cc.math.floor(t / 0.5),
    ],
    ids=["condition", "controller", "floor"],
)
def test_a_closing_force_that_jumps_through_zero_is_an_event(force):
    run = lifted(force)
    assert [h.t for h in run.record] == [0.5]
    # from there on it flies: (20 - m g) t^2 / 2
    assert float(run["guide"][-1]) == pytest.approx((20.0 - 9.81) * 0.25 / 2, rel=1e-9)


def test_a_closing_force_that_jumps_with_the_state_is_an_event():
    """The pull begins where another body, which falls freely, passes a level."""
    m = cc.Mechanism("block")
    sole, ball = m.body("sole", cc.box((0.2, 0.2, 0.05), mass=1.0)), m.body("ball", cc.point_mass(1.0))
    m.prismatic("guide", m.ground, sole)
    m.prismatic("fall", m.ground, ball)
    m.weld("foot", m.ground, sole, cut=True)
    m.motor("guide", force=lambda t, q, v: cc.math.where(q["fall"] < -1.0, 20.0, 0.0))
    lift = cc.Event("lift", cc.multiplier("foot", "z"), direction=-1, then=cc.Switch(open="foot"))
    run = cc.simulate(m, until=1.0, events=[lift])
    assert [h.t for h in run.record] == pytest.approx([(2 / 9.81) ** 0.5], abs=1e-9)


@pytest.mark.parametrize("place", range(9))
def test_a_level_that_is_passed_twice_around_a_call_is_seen(place):
    """A ball is above a level for 6 ms around its apex, at and near a call of a controller."""
    g, apex = 9.81, 0.4 + 1e-3 * (place - 4)
    m = cc.Mechanism("ball", gravity=(0, 0, -g))
    m.prismatic("z", m.ground, m.body("b", cc.point_mass(1.0)))
    m.motor("z", force=cc.Sampled(lambda t, now: 0.0, 0.2))
    level = g * apex**2 / 2 - g * 0.003**2 / 2
    start = m.assemble(z=0.0, velocity={"z": g * apex})
    run = cc.simulate(m, start, until=0.79, events=cc.Event("level", m.joints["z"].q - level))
    assert [h.t for h in run.record] == pytest.approx([apex - 0.003, apex + 0.003], abs=1e-7)


@pytest.mark.parametrize("below", [1e-2, 1e-4, 1e-6, 1e-8])
def test_a_level_just_below_a_turning_point_is_passed_twice(below):
    """A pendulum that is let go at 1 rad comes back to it; both sides are looked for, however close."""
    m = cc.library.pendulum()
    joint = next(iter(m.joints))
    start = m.assemble({joint: 1.0})
    level = cc.Event("level", m.joints[joint].q + (1.0 - below))
    run = cc.simulate(m, start, until=3.0, rtol=1e-12, events=level)
    assert len(run.record) == 2


def test_nothing_is_searched_where_a_value_turns_back_far_from_zero(monkeypatch):
    """A level that no swing comes near costs the looks at each step, and no more."""
    searched = []
    monkeypatch.setattr("scipy.optimize.minimize_scalar", lambda *given, **options: searched.append(1))
    m = cc.library.pendulum()
    joint = next(iter(m.joints))
    far = cc.Event("far", m.joints[joint].q - 10.0)
    run = cc.simulate(m, m.assemble({joint: 1.0}), until=10.0, events=far)
    assert run.counts.steps > 50 and not run.record and not searched


def test_an_event_is_told_once_where_pieces_end_for_other_reasons():
    """Conditions change, and gains are renewed in between: each makes a new piece, and none a new event."""
    m = cc.library.four_bar()
    m.motor("C", torque=lambda t, q, v: cc.math.where(cc.math.sin(q["O"]) > 0.3, -1.0, 1.0))
    crossing = cc.Event("crossing", cc.math.sin(m.joints["O"].q))
    found = []
    for method in (cc.Multipliers(), cc.Multipliers(cc.Baumgarte())):
        run = cc.simulate(m, until=10.0, rtol=1e-9, method=method, events=[crossing])
        found.append([h.t for h in run.record if h.what == "crossing"])
    assert len(run.segments) > 1
    np.testing.assert_allclose(found[1], found[0], atol=1e-6)
