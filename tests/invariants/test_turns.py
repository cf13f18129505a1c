"""Cut angles count their turns: whatever uses an angle acts the same wherever the loop is cut, turn after turn."""

import functools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import closedchain as cc
from tests.invariants.balance import imbalance
from tests.invariants.drawings import AT_60, four_bar, pins, relative_energy_error
from tests.reference.yardstick import make
from tests.solvers import stepping

TURN = 2 * np.pi
TIMES = np.linspace(0, 6, 61)
CUTS = ["O", "A", "B", "C", ""]  # the last one is for the library to choose
BODY = make.FourBar(make.FOUR_BAR)

# ---- a crank that turns over and over ------------------------------------------------------------------------------

RESTS = {"O": 1.0, "A": -0.5, "B": 0.3, "C": 1.2}


def spring(m):
    m.joint_spring("O", 0.6, rest=RESTS["O"])


def spring_elsewhere(m):
    """The hinge between crank and coupler turns over and over as well, the other way round."""
    m.joint_spring("A", 0.6, rest=RESTS["A"])


def springs(m):
    for joint, rest in RESTS.items():
        m.joint_spring(joint, 0.3, rest=rest)


def motor(m):
    m.motor("O", torque=lambda t, q, v: -0.6 * (q["O"] - 1))


def force(m):
    """A force may depend on an angle as well as a motor."""
    m.force("push", m.bodies["crank"].at(1, 0, 0), (0, lambda t, q, v: -0.1 * q["O"], 0), axes="frame")


PLACES = {-1: -1.0, 1: 14.0}
STOPS = {"O": {"limits": cc.Stops(PLACES[-1], PLACES[1], stiffness=100.0)}}
# what acts: options of the joints, what is added, how close the motions must be
ACTING = {
    "spring": ({}, spring, 1e-9),
    "spring elsewhere": ({}, spring_elsewhere, 1e-9),
    "springs on all": ({}, springs, 1e-9),
    "motor": ({}, motor, 1e-9),
    "force": ({}, force, 1e-9),
    "stops": (STOPS, lambda m: None, 1e-9),
}


@functools.cache
def turning(acting, cut):
    """The four-bar of the yardstick, sent off with its crank at 10 rad/s."""
    options, add, _ = ACTING[acting]
    m = four_bar(cut=cut, **options)
    add(m)
    return cc.simulate(m, m.assemble(velocity={"O": 10.0}), until=6.0, rtol=1e-12, t_eval=TIMES)


def by_hand(acting):
    """Crank angle from the one-coordinate Lagrangian; coupler and rocker never turn over, so all angles follow."""

    def rates(t, x, side=0):
        theta, rate = x
        alpha, phi = BODY.angles(theta)
        a1, p1, _, _ = BODY.rates(theta, alpha, phi)
        (J, dJ), (_, dV) = BODY.inertia(theta), BODY.potential(theta)
        # every angle with its derivative by the crank's
        angles = {"O": (theta, 1.0), "A": (alpha - theta, a1 - 1), "B": (phi - alpha, p1 - a1), "C": (phi, p1)}
        effort = {
            "spring": lambda: pull(angles, "O", 0.6),
            "spring elsewhere": lambda: pull(angles, "A", 0.6),
            "springs on all": lambda: sum(pull(angles, joint, 0.3) for joint in RESTS),
            "motor": lambda: -0.6 * (theta - 1),
            "force": lambda: -0.1 * theta,
            "stops": lambda: -100.0 * (theta - PLACES[side] if side else 0.0),
        }[acting]()
        return np.array([rate, (effort - dJ * rate**2 / 2 - dV) / J], float)

    def meets(place, direction):
        def event(t, x, side):
            return x[0] - place

        event.terminal, event.direction = True, direction
        return event

    # a piece on each side of a corner: SciPy misses at steps over corners what we are looking for
    t, x, side, angles = 0.0, [AT_60["crank"][2], 10.0], 0, []
    while t < 6:
        watched = [s for s in PLACES if side in (0, s)] if acting == "stops" else []
        events = [meets(PLACES[s], -s if side else s) for s in watched]
        found = solve_ivp(rates, (t, 6), x, method="DOP853", rtol=1e-12, atol=1e-12, t_eval=TIMES[t <= TIMES],
                          max_step=0.02, args=(side,), events=events)  # fmt: skip
        angles += found.y[0].tolist() if found.y.size else []
        t = 6.0
        for s, times, states in zip(watched, found.t_events or (), found.y_events or (), strict=True):
            if len(times):
                t, x, side = times[0], states[0], 0 if side else s
    return np.array(angles)


def pull(angles, joint, stiffness):
    value, slope = angles[joint]
    return -stiffness * (value - RESTS[joint]) * slope


@pytest.mark.parametrize("acting", ACTING)
def test_the_same_motion_wherever_the_loop_is_cut(acting):
    expected = by_hand(acting)
    assert np.ptp(expected) > 2 * TURN  # more than two full turns
    for cut in CUTS:
        run = turning(acting, cut)
        assert run.good and relative_energy_error(run) < 1e-9
        assert np.abs(run["O"].values - expected).max() < ACTING[acting][2]
        reference = turning(acting, "C")
        for joint in "OABC":
            assert np.abs(run[joint].values - reference[joint].values).max() < ACTING[acting][2]
        assert np.abs(pins(run) - pins(reference)).max() < ACTING[acting][2]


def test_the_library_s_own_choice_is_cut_where_a_spring_is():
    run = turning("springs on all", "")
    (cut,) = run.start.topology.cuts
    assert cut.name in run.mechanism.joints and run.start.topology.counters[0].joint is cut
    run = turning("spring", "")
    assert [x.name for x in run.start.topology.cuts] != ["O"]


def test_stops_hold_after_turns():
    """The crank passes the place of its stops twice before it meets them."""
    angle = turning("stops", "O")["O"].values
    assert 15.5 < angle.max() < 16.0 and -3.0 < angle.min() < -2.5


@pytest.mark.parametrize("method", [cc.Multipliers("none"), cc.Multipliers(cc.Baumgarte(20.0))], ids=str)
def test_also_without_projection(method):
    m = four_bar(cut="O")
    spring(m)
    run = cc.simulate(m, m.assemble(velocity={"O": 10.0}), until=6.0, rtol=1e-12, t_eval=TIMES, method=method)
    # where nothing puts the loop back it opens by some 1e-10 m, and the motion drifts with it
    assert np.abs(run["O"].values - turning("spring", "C")["O"].values).max() < 1e-7


@pytest.mark.parametrize(("solver", "options"), [("dopri5", {"rtol": 1e-11}), ("rk4", {})])
def test_with_every_integrator(solver, options):
    m = four_bar(cut="O")
    spring(m)
    run = cc.simulate(
        m, m.assemble(velocity={"O": 10.0}), until=6.0, t_eval=TIMES, solver=stepping(solver, 2e-4), **options
    )
    assert np.abs(run["O"].values - turning("spring", "C")["O"].values).max() < 1e-6  # of order four and five


@pytest.mark.parametrize("cut", ["O", "A"])
def test_backward_in_time_turns_are_taken_back(cut):
    run = turning("spring", cut)
    back = cc.simulate(run.mechanism, run.state(), until=0.0, rtol=1e-12, t_eval=TIMES[::-1])
    for joint in "OA":
        assert np.abs(back[joint].values[::-1] - run[joint].values).max() < 1e-8  # errors of both ways


# ---- cut joints of other kinds -------------------------------------------------------------------------------------

Z, Y = (0, 0, 1), (0, 1, 0)
KINDS = {
    "revolute": ({}, "angle"),
    "cylindrical": ({}, "angle"),
    "planar": ({}, "angle"),
    "universal": ({"axes": (Z, Y)}, "angle1"),
    "universal, second axis": ({"axes": (Y, Z)}, "angle2"),
}


def wheel(kind, at):
    """A wheel on a hinge and on another joint about the same axis, which is cut: a spring on one of the two."""
    options, coordinate = KINDS[kind]
    m = cc.Mechanism("wheel", gravity=(0, -9.81, 0))
    body = m.body("wheel", cc.rigid(2.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.2)))
    m.revolute("kept", m.ground, body, cut=False)
    cut = m.joint(kind.partition(",")[0], "cut", m.ground.at(0, 0, 0.5), body.at(0, 0, 0.5), cut=True, **options)
    label = cut.labels()[cut.type.coordinates.index(coordinate)] if len(cut.type.coordinates) > 1 else "cut"
    if at == "cut":
        more = {"coordinate": coordinate} if label != "cut" else {}
        m.joint_spring("cut", 0.05, rest=0.4, **more)
        m.motor("cut", torque=lambda t, q, v: cc.math.sin(0.3 * q[label]), **more)
    else:
        m.joint_spring("kept", 0.05, rest=0.4)
        m.motor("kept", torque=lambda t, q, v: cc.math.sin(0.3 * q["kept"]))
    return m, label


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_cut_joint_turns_as_a_joint_of_the_tree(kind):
    runs = []
    for at in ("cut", "kept"):
        m, label = wheel(kind, at)
        run = cc.simulate(m, m.assemble(kept=0.3, velocity={"kept": 9.0}), until=6.0, rtol=1e-12, t_eval=TIMES)
        assert np.abs(run[label].values - run["kept"].values).max() < 1e-9
        assert run.good and relative_energy_error(run) < 1e-9
        runs.append(run)
    assert np.ptp(runs[0]["kept"].values) > 2 * TURN
    assert np.abs(runs[0]["kept"].values - runs[1]["kept"].values).max() < 1e-9


@pytest.mark.parametrize("kind", "CU")
def test_other_kinds_in_a_loop(kind):
    """The crank on a joint that could do more, if the loop let it."""
    m = four_bar(kinds=f"{kind}RRR", cut="O")
    coordinate = {"C": "angle", "U": "angle1"}[kind]
    m.joint_spring("O", 0.6, rest=1.0, coordinate=coordinate)
    m.start = {f"O.{coordinate}": AT_60["crank"][2]}
    start = m.assemble(velocity={f"O.{coordinate}": 10.0})
    run = cc.simulate(m, start, until=6.0, rtol=1e-12, t_eval=TIMES)
    reference = turning("spring", "C")
    assert np.abs(run[f"O.{coordinate}"].values - reference["O"].values).max() < 1e-9
    assert np.abs(pins(run) - pins(reference)).max() < 1e-9


# ---- gears and prescribed motions ----------------------------------------------------------------------------------


def geared(cut, ratio, driven, offset=0.4):
    """The four-bar with a flywheel geared to its crank; the gear is drawn from either side."""
    m = four_bar(cut=cut)
    m.revolute("axle", m.ground.at(0, 2, 0), m.body("flywheel", cc.disc(0.5, mass=2.0)))
    m.joint_spring("axle", 0.02, rest=2.0)
    if driven == "axle":
        m.couple("gear", "axle", "O", ratio=ratio, offset=offset)
    else:
        m.couple("gear", "O", "axle", ratio=1 / ratio, offset=-offset / ratio)
    return m


@pytest.mark.parametrize("driven", ["axle", "O"])
@pytest.mark.parametrize("ratio", [3.0, -1.7])
def test_a_gear_on_a_cut_hinge(ratio, driven):
    runs = []
    for cut in ("O", "B"):
        m = geared(cut, ratio, driven)
        run = cc.simulate(m, m.assemble(velocity={"O": 10.0}), until=6.0, rtol=1e-12, t_eval=TIMES)
        assert [x.name for x in run.start.topology.cuts] == [cut]
        assert np.abs(run["axle"].values - ratio * run["O"].values - 0.4).max() < 1e-10
        assert relative_energy_error(run) < 1e-9 and run.good
        assert imbalance(run, [10, 40]) < 1e-9
        runs.append(run)
    cut, tree = runs
    assert np.ptp(tree["O"].values) > 2 * TURN
    assert np.abs(cut["O"].values - tree["O"].values).max() < 1e-9
    assert np.abs(cut["gear"].values - tree["gear"].values).max() < 1e-7  # torques of some 10 N m


@pytest.mark.parametrize("held", [0.5, 2.5, -4.0, 20.0])
@pytest.mark.parametrize("driven", ["axle", "O"])
def test_assembly_finds_the_turn_that_a_gear_asks_for(driven, held):
    m = geared("O", 3.0, driven)
    start = m.assemble(axle=held)
    assert start["axle"] == held
    assert start["O"] == pytest.approx((held - 0.4) / 3, abs=1e-11)
    other = m.assemble(O=held)
    assert other["O"] == pytest.approx(held, abs=1e-11)
    assert other["axle"] == pytest.approx(3 * held + 0.4, abs=1e-10)


@pytest.mark.parametrize("cut", ["O", "B"])
def test_assemblies_are_in_the_turn_that_a_gear_asks_for(cut):
    """Two ways to close the loop, both with the gear in mesh: each is a start that a run accepts."""
    m = geared(cut, 3.0, "O")
    modes = m.assemblies(axle=40.0, starts=60)
    assert len(modes) == 2
    for mode in modes:
        assert mode.state["O"] == pytest.approx((40.0 - 0.4) / 3, abs=1e-9)
        assert cc.simulate(m, mode.state, until=0.1).good


def prescribed(t):
    """Crank angle with its first two derivatives: four turns forwards, within 6 s."""
    return np.pi / 3 + 4 * t + 0.3 * np.sin(3 * t), 4 + 0.9 * np.cos(3 * t), -2.7 * np.sin(3 * t)


@pytest.mark.parametrize("cut", ["O", "A", ""])
def test_a_cut_hinge_that_is_driven_round_and_round(cut):
    m = four_bar(cut=cut)
    m.drive("O", cc.pi / 3 + 4 * cc.t + 0.3 * cc.math.sin(3 * cc.t), name="crank drive")
    m.start = {}
    run = cc.simulate(m, m.assemble(), until=6.0, rtol=1e-11)
    theta, rate, acceleration = prescribed(run.t)
    assert np.ptp(theta) > 3 * TURN
    assert np.abs(run["O"].values - theta).max() < 1e-11
    assert np.abs(run["O'"].values - rate).max() < 1e-10
    (J, dJ), (_, dV) = BODY.inertia(theta), BODY.potential(theta)
    torque = np.array(J * acceleration + dJ * rate**2 / 2 + dV, float)
    assert np.abs(run["crank drive"].values - torque).max() < 1e-8 * np.abs(torque).max()
    assert relative_energy_error(run) < 1e-9


def test_a_driven_hinge_at_a_later_time_is_in_its_turn():
    """A run that begins in the third turn of the drive."""
    m = four_bar(cut="O")
    m.drive("O", cc.pi / 3 + 4 * cc.t + 0.3 * cc.math.sin(3 * cc.t))
    m.start = {}
    run = cc.simulate(m, m.assemble(time=4.0), until=5.0, rtol=1e-10)
    assert run["O"].values[0] == pytest.approx(prescribed(4.0)[0], abs=1e-11) and run["O"].values[0] > 2 * TURN
    assert np.abs(run["O"].values - prescribed(run.t)[0]).max() < 1e-11


# ---- what is shown and watched -------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", ["O", "A"])
def test_few_samples_show_all_turns(cut):
    """Between two samples lie some turns: they are counted, not guessed from what lies between the samples."""
    full = turning("spring", cut)
    run = cc.simulate(full.mechanism, full.start, until=2.0, rtol=1e-12, t_eval=[0.0, 2.0])
    k = int(np.argmin(np.abs(TIMES - 2.0)))
    assert np.abs(full["O"].values[k] - full["O"].values[0]) > 1.5 * TURN
    for joint in "OABC":
        assert run[joint].values == pytest.approx(full[joint].values[[0, k]], abs=1e-9)
    assert run.state()[cut] == pytest.approx(full[cut].values[k], abs=1e-9)


def test_dense_output_counts_turns():
    full = turning("spring", "O")
    run = cc.simulate(
        full.mechanism, full.start, until=2.0, rtol=1e-12, t_eval=[], solver=cc.solvers.DOP853(dense_output=True)
    )
    (counter,) = full.start.topology.counters
    early = TIMES <= 2.0
    assert np.abs(run.sol(TIMES[early])[:, counter.q] - full["O"].values[early]).max() < 1e-8


def spinning():
    """A wheel that turns at 5 rad/s on two hinges, one of them cut."""
    m = cc.Mechanism("wheel", gravity=(0, 0, 0))
    body = m.body("wheel", cc.disc(0.1, 1.0))
    m.revolute("kept", m.ground, body)
    cut = m.revolute("cut", m.ground, body, cut=True)
    return m, cut


def test_an_event_on_a_cut_angle_happens_once_and_in_its_turn():
    m, cut = spinning()
    events = [cc.Event("seven", cut.q - 7.0), cc.Event("never", cut.q + 7.0 - TURN)]
    run = cc.simulate(m, m.assemble(velocity={"kept": 5.0}), until=6.0, events=events)
    assert [(x.what, round(x.t, 9)) for x in run.record] == [("seven", 1.4)]


def test_nothing_happens_at_half_a_turn():
    """An angle that jumped there would pass zero on its way from pi to -pi."""
    m, cut = spinning()
    run = cc.simulate(
        m, m.assemble(kept=0.1, velocity={"kept": 5.0}), until=6.0, events=[cc.Event("zero", cut.q, direction=0)]
    )
    assert run.record == []


def test_an_event_stops_a_loop_in_its_turn():
    full = turning("spring", "O")
    m = full.mechanism
    stop = cc.Event("seven", m.joints["O"].q - 7.0, then="stop")
    run = cc.simulate(m, full.start, until=6.0, rtol=1e-12, events=[stop])
    other = turning("spring", "C").mechanism
    tree = cc.simulate(other, turning("spring", "C").start, until=6.0, rtol=1e-12,
                       events=[cc.Event("seven", other.joints["O"].q - 7.0, then="stop")])  # fmt: skip
    assert len(run.record) == len(tree.record) == 1
    assert run.record[0].t == pytest.approx(tree.record[0].t, abs=1e-9)


# ---- states --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [10, 25, 40])
def test_a_run_goes_on_in_its_turn(k):
    full = turning("spring", "O")
    state = full.state(k)
    assert state["O"] == full["O"].values[k]
    rest = cc.simulate(full.mechanism, state, until=6.0, rtol=1e-12, t_eval=TIMES[k:])
    assert np.abs(rest["O"].values - full["O"].values[k:]).max() < 1e-9


def test_a_state_as_a_guess_keeps_its_turn():
    full = turning("springs on all", "O")
    state = full.state(20)
    assert abs(state["O"]) > TURN
    again = full.mechanism.assemble(C=state["C"], guess=state)
    assert again["O"] == pytest.approx(state["O"], abs=1e-7)  # near a dead point the crank follows the rocker steeply


@pytest.mark.parametrize("cut", ["O", "B", ""])
@pytest.mark.parametrize("turns", [-2, 0, 1, 30])
def test_a_held_angle_is_held_in_its_turn(cut, turns):
    m = four_bar(cut=cut)
    held = 1.3 + TURN * turns
    state = m.assemble(O=held)
    assert state["O"] == pytest.approx(held, abs=1e-13)
    assert state["C"] == pytest.approx(m.assemble(O=1.3)["C"], abs=1e-10)


def test_a_wheel_is_held_at_seven_radians():
    m, _ = spinning()
    state = m.assemble(cut=7.0)
    assert state["cut"] == 7.0
    assert state["kept"] == pytest.approx(7.0 - TURN, abs=1e-12)


def test_a_guess_chooses_the_turn():
    m, _ = spinning()
    assert m.assemble(kept=0.5)["cut"] == pytest.approx(0.5, abs=1e-12)
    assert m.assemble(kept=0.5, guess={"cut": 14.0})["cut"] == pytest.approx(0.5 + 2 * TURN, abs=1e-12)
    assert m.assemble(kept=0.5, guess={"cut": -3.0})["cut"] == pytest.approx(0.5 - TURN, abs=1e-12)
    assert m.assemble(kept=8.0)["cut"] == pytest.approx(8.0 - TURN, abs=1e-12)  # what is free begins in the first turn


def test_a_joint_s_own_guess_chooses_the_turn():
    m = cc.Mechanism("wheel", gravity=(0, 0, 0))
    body = m.body("wheel", cc.disc(0.1, 1.0))
    m.revolute("kept", m.ground, body)
    m.revolute("cut", m.ground, body, cut=True, guess=20.0)
    assert m.assemble(kept=0.5)["cut"] == pytest.approx(0.5 + 3 * TURN, abs=1e-12)
    assert m.assemble(kept=0.5, guess={"cut": 0.0})["cut"] == pytest.approx(0.5, abs=1e-12)


def test_without_a_guess_a_spring_is_next_to_its_rest():
    m, _ = spinning()
    m.joint_spring("cut", 1.0, rest=m.parameter("rest", 7.0))
    assert m.assemble(kept=0.5)["cut"] == pytest.approx(0.5 + TURN, abs=1e-12)
    assert m.assemble(kept=0.5, parameters={"rest": -7.0})["cut"] == pytest.approx(0.5 - TURN, abs=1e-12)
    assert m.assemble(kept=0.5, guess={"cut": 0.0})["cut"] == pytest.approx(0.5, abs=1e-12)


def test_without_a_guess_a_stop_is_next_to_its_middle():
    m = cc.Mechanism("wheel", gravity=(0, 0, 0))
    body = m.body("wheel", cc.disc(0.1, 1.0))
    m.revolute("kept", m.ground, body)
    m.revolute("cut", m.ground, body, cut=True, limits=cc.Stops(5.0, 9.0, stiffness=10.0))
    assert m.assemble(kept=0.5)["cut"] == pytest.approx(0.5 + TURN, abs=1e-12)


# ---- closures that come and go -------------------------------------------------------------------------------------


def latched(cut):
    """The turning four-bar, and a flywheel that is latched to its crank's axis after two turns and let go later."""
    m = four_bar(cut=cut)
    spring(m)
    flywheel = m.body("flywheel", cc.disc(0.5, mass=4.0))
    m.revolute("axle", m.ground, flywheel)
    # a second hinge of the crank that holds nothing new, and a clutch: it turns the flywheel with the crank
    m.weld("clutch", m.bodies["crank"]["near"], flywheel, cut=True)
    m.joint_spring("axle", 0.05)
    return m


@pytest.mark.parametrize("cut", ["O", "A", "B"])
def test_turns_are_kept_while_joints_open_and_close(cut):
    """A clutch closes when crank and flywheel lie alike in the crank's third turn, and opens on the way back."""

    def run(cut):
        m = latched(cut)
        start = m.assemble({"O": AT_60["crank"][2], "axle": 0.0}, velocity={"O": 10.0}, open_joints=("clutch",))
        angle = m.joints["O"].q
        events = [
            cc.Event("grip", angle - m.joints["axle"].q - 2 * TURN, direction=1, then=cc.Switch(close="clutch")),
            cc.Event("let go", angle - 19.0, direction=-1, then=cc.Switch(open="clutch")),
        ]
        return cc.simulate(m, start, until=6.0, rtol=1e-12, t_eval=TIMES, events=events)

    one, tree = run(cut), run("C")
    assert [x.what for x in tree.record] == ["grip", "let go"]
    assert [x.what for x in one.record] == ["grip", "let go"]
    for a, b in zip(one.record, tree.record, strict=True):
        assert a.t == pytest.approx(b.t, abs=1e-9)
        assert a.numbers["lost"] == pytest.approx(b.numbers["lost"], abs=1e-7)
    for joint in ("O", "A", "B", "C", "axle"):
        assert np.abs(one[joint].values - tree[joint].values).max() < 1e-8
    assert relative_energy_error(one) < 1e-9


def test_a_hinge_that_closes_again_keeps_its_turns():
    """A wheel on a cut hinge that opens and closes: its own counter runs on meanwhile."""
    m, cut = spinning()
    m.joint_spring("cut", 1e-4)
    events = [
        cc.Event("open", cut.q - 9.0, direction=1, then=cc.Switch(open="cut")),
        cc.Event("close", cut.q - 16.0, direction=1, then=cc.Switch(close="cut")),
    ]
    run = cc.simulate(m, m.assemble(velocity={"kept": 5.0}), until=5.0, rtol=1e-11, events=events)
    assert [x.what for x in run.record] == ["open", "close"]
    assert np.abs(run["cut"].values - run["kept"].values).max() < 1e-10 and run["kept"].values[-1] > 3 * TURN
