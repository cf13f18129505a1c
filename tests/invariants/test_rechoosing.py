"""Runs in which independent velocities must be chosen anew: the motion goes on as if nothing had happened."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import closedchain as cc
from tests.invariants.drawings import bennett, parallelograms

METHODS = {"projection": cc.Projection(10.0), "unstabilised": cc.Projection(0.0), "solved": cc.IndependentCoordinates()}


def four_hinges(crank, coupler, rocker, ground, angle, velocity):
    m = cc.Mechanism("four hinges")
    bodies = [m.body(n, cc.rod(length=x, mass=1.0)) for n, x in (("a", crank), ("b", coupler), ("c", rocker))]
    m.revolute("O", m.ground, bodies[0])
    m.revolute("A", bodies[0].tip, bodies[1])
    m.revolute("C", m.ground.at(ground, 0, 0), bodies[2])
    m.revolute("B", bodies[1].tip, bodies[2].tip)
    m.start, m.start_velocity = {"O": angle}, {"O": velocity}
    return m


def triple_rocker():
    """Shortest and longest link exceed the other two together: no angle turns fully, each one has dead points."""
    return four_hinges(1.2, 1.5, 1.0, 2.0, 1.2, 2.0)


def symmetric_rocker():
    return four_hinges(1.0, 2.0, 1.0, 2.2, 1.2, 2.0)


def turning_bennett():
    m = bennett()
    m.start_velocity = {"J1": 1.0}
    return m


DRAWINGS = {f.__name__: f for f in (triple_rocker, symmetric_rocker, turning_bennett)}
# two velocities take turns in a planar rocker; where rows repeat each other, other rows are chosen as well
SETS = {"triple_rocker": 2, "symmetric_rocker": 2, "turning_bennett": 12}


@cache
def runs(name, method, rtol=1e-12, until=6.0):
    m = drawn(name)
    return cc.simulate(m, m.assemble(), until=until, rtol=rtol, method=METHODS.get(method))


@cache
def drawn(name):
    return DRAWINGS[name]()


CASES = [(name, method) for name in DRAWINGS for method in METHODS]
# without a rate, errors of closures that repeat others are not called back, and grow fast where velocities degrade
STABLE = [case for case in CASES if case != ("turning_bennett", "unstabilised")]


@pytest.mark.parametrize(("name", "method"), STABLE)
def test_motion_agrees_with_multipliers(name, method):
    run, wanted = runs(name, method), runs(name, "multipliers")
    assert len(run.segments) > 3
    for joint in drawn(name).joints:
        # rtol 1e-12 times the growth of errors in 6 s, some 100, and one over the health at a switch, some 30
        np.testing.assert_allclose(run[joint], wanted[joint], atol=2e-8)
        # accelerations reach 100 rad/s^2
        np.testing.assert_allclose(run[f"{joint}'"], wanted[f"{joint}'"], atol=2e-7)
    np.testing.assert_allclose(run["kinetic_energy"], wanted["kinetic_energy"], atol=1e-8)  # J, and nothing takes any
    assert run.good


@pytest.mark.parametrize(("name", "method"), STABLE)
def test_frames_agree_with_multipliers(name, method):
    """The meaning of the state changes on the way; what is computed from it must follow."""
    run, wanted = runs(name, method), runs(name, "multipliers")
    for body in drawn(name).bodies:
        got, expected = run.frame(body), wanted.frame(body)
        np.testing.assert_allclose(got.position, expected.position, atol=5e-8)
        np.testing.assert_allclose(got.velocity, expected.velocity, atol=5e-7)
    state = run.state(100)
    assert state["O" if "rocker" in name else "J1"] == pytest.approx(float(run["O" if "rocker" in name else "J1"][100]))


@pytest.mark.parametrize(("name", "method"), STABLE)
def test_step_size_is_carried_over(name, method):
    """A new choice begins with the step that the old one ended with: no short first steps, no row of rejections."""
    run = runs(name, method)
    pieces = [s.trajectory for s in run.segments]
    for before, after in pairwise(pieces):
        if min(before.counts.steps, after.counts.steps) < 3:
            continue
        last, first = np.diff(before.steps_t)[-1], after.steps_t[0] - before.steps_t[-1]
        assert first > 0.2 * last
    # per step, rejections are not more frequent than in a run that has nothing to choose, but for some at each switch
    plain = runs(name, "multipliers").counts
    assert run.counts.rejections < 3 * plain.rejections + 10 * len(pieces)
    assert run.counts.steps < 2 * plain.steps


@pytest.mark.parametrize(("name", "method"), STABLE)
def test_no_ping_pong_and_few_compilations(name, method):
    run = runs(name, method)
    swings = 6.0 / 0.9  # a rocker's dead points follow each other in some 0.9 s; a Bennett linkage's are fewer
    assert len(run.segments) < 2 * swings
    # a second run finds what was compiled for the first
    again = cc.simulate(drawn(name), drawn(name).assemble(), until=6.0, rtol=1e-12, method=METHODS[method])
    assert len({s.program.choice for s in (*run.segments, *again.segments)}) <= SETS[name]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "solver", [{"solver": "dopri5", "rtol": 1e-9}, {"solver": cc.solvers.RK4(step=5e-4), "rtol": 1e-5}]
)
def test_other_solvers(solver, method):
    m = drawn("symmetric_rocker")
    run = cc.simulate(m, m.assemble(), until=4.0, method=METHODS[method], **solver)
    wanted = cc.simulate(m, m.assemble(), until=4.0, rtol=1e-12)
    assert len(run.segments) > 2
    # of the fixed step: its fourth power times one over the health, squared
    np.testing.assert_allclose(run["C"], wanted["C"], atol=1e-5 if isinstance(solver["solver"], str) else 1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_a_mechanism_with_a_turning_crank_keeps_its_choice(method):
    run = cc.simulate(cc.library.four_bar(), until=4.0, method=METHODS[method])
    assert len(run.segments) == 1


def test_rows_are_chosen_at_closed_poses():
    """A run that lets loops open a little must not take redundant rows for independent ones when it chooses anew."""
    m = turning_bennett()
    run = cc.simulate(m, until=4.0, rtol=1e-6, method=cc.Projection(10.0))
    wanted = cc.simulate(m, until=4.0, rtol=1e-10)
    assert float(run.closure_error.max()) > 1e-9
    assert {len(s.program.rows) for s in run.segments} == {2}
    np.testing.assert_allclose(run["J1"], wanted["J1"], atol=1e-2)


# ---- singular poses ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_start_at_a_singular_pose_is_refused(method):
    m = parallelograms(1)
    flat = cc.State(m, np.zeros(m.assemble().q.size), np.zeros(3))
    with pytest.raises(cc.ModelError, match=r"cannot start at a singular pose.*use cc\.Multipliers"):
        cc.simulate(m, flat, until=0.1, method=METHODS[method])


@pytest.mark.parametrize("method", METHODS)
def test_a_singular_pose_ends_the_run_with_a_sentence(method):
    """Three velocities, one freedom; at the flat pose two. The sentence names time, pose and what to use instead."""
    m = parallelograms(1)
    with pytest.raises(cc.RunError) as caught:
        cc.simulate(m, until=3.0, method=METHODS[method], events=[cc.SingularPoses("stop")])
    text = str(caught.value)
    assert "at t = 0.708" in text
    assert "singular pose at O0=" in text
    assert "cc.Multipliers() can" in text
    assert len(caught.value.run.t) > 40


@pytest.mark.parametrize("method", METHODS)
def test_slowly_into_a_singular_pose(method):
    """Short steps cannot jump over it: the run ends by itself just before."""
    m = parallelograms(1)
    with pytest.raises(cc.RunError, match=r"singular pose at O0=.*cc\.Multipliers\(\) can") as caught:
        cc.simulate(m, until=0.8, method=METHODS[method], solver=cc.solvers.DOP853(max_step=2e-5))
    # the flat pose is passed at 0.70845 s with 7.7 rad/s; velocities can be told apart up to some 1e-3 rad from it
    assert 0.70845 - 5e-4 < caught.value.run.segments[-1].trajectory.failure.t < 0.70845
