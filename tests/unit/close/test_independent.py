"""`IndependentCoordinates`: positions solved in every evaluation, on their branch, for any number of turns."""

import warnings

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.close.formulation import Choice
from closedchain.derive.equations import derive
from closedchain.march.program.compiled import compiled
from closedchain.pose.state import parameter_vector
from closedchain.testing.measured import close_to
from closedchain.testing.terms import TIME
from tests.identities.sample import GEARED, LOOPS, PLATFORMS, case
from tests.reference.compare import columns, load, off
from tests.unit.close.parts.test_feasible import choose
from tests.unit.close.test_projection import nudged

METHOD = cc.IndependentCoordinates()
NUMBERS = load("wang2002/four_bar")
ROUNDING = 1e-14  # m or rad: some units of the last place of coordinates of size 1


def newton(c):
    """A function of (t, x, p): one Newton step and its residuals; and the formulation."""
    e = c.equations
    closed = METHOD.close(e, choose(c, METHOD, *c.closed()))
    return ca.Function("f", [e.limbs.t, closed.x, e.limbs.p], list(closed.correction)), closed


@pytest.mark.parametrize("key", LOOPS[2:8] + GEARED[:2] + PLATFORMS[:2], ids=str)
def test_newton_closes_the_loops_and_moves_dependent_coordinates_only(key):
    c = case(*key)
    f, closed = newton(c)
    q, v = nudged(c)
    q = c.closed()[0] + 1e-2 * (q - c.closed()[0])  # near enough for every loop of the sample
    x = np.concatenate([q, v[list(closed.velocities)], [3.0]])
    residuals, y = [], x
    for _ in range(6):
        y, residual = (np.array(z)[:, 0] for z in f(TIME, y, c.p))
        residuals.append(residual[0])
    got = c.numbers(y[: c.topology.nq], v)
    assert residuals[0] > 1e-7
    # rounding of the lengths in the loop, some metres
    assert np.abs(got["c"][list(c.rows)]).max() < 1e-13
    # Newton: each residual is of the order of the square of the one before
    assert residuals[1] < 1e3 * residuals[0] ** 2
    # scalar coordinates with an independent velocity stay, and so do velocities, work and the counters of turns
    kept = [link.q.start + i for link in c.topology.links if not link.joint.type.has_quaternion
            for i in range(link.q.stop - link.q.start) if link.v.start + i in closed.velocities]  # fmt: skip
    kept += range(c.topology.tree_nq, len(x))
    np.testing.assert_array_equal(y[kept], x[kept])


def test_independent_numbers_do_not_depend_on_the_prediction():
    """y' and y'' at solved positions are functions of y, y' alone: 2 (n - m) numbers make the motion."""
    m = cc.library.five_bar()
    start = m.assemble()
    program = compiled(start, METHOD)
    p = parameter_vector(m)
    x = program.pack(start.q, np.array([1.0, -0.5, 0.3, 2.0]))
    labels = program.equations.topology.v_labels
    tied = [k for k in range(len(labels)) if k not in program.closed.velocities]
    assert len(program.closed.velocities) == 2  # n - m
    rng = np.random.default_rng(8)
    wanted = program.rhs(0.0, x, p)
    for _ in range(5):
        moved = x.copy()
        moved[tied] += 1e-2 * rng.normal(size=len(tied))  # hinges: coordinate k belongs to velocity k
        np.testing.assert_allclose(program.rhs(0.0, moved, p), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "five_bar", "rrr3", "gough_stewart"])
def test_loops_are_closed_to_machine_precision(name):
    m = getattr(cc.library, name)()
    run = cc.simulate(m, until=1.0, method=METHOD, rtol=1e-6)
    wanted = cc.simulate(m, until=1.0, rtol=1e-10)
    assert float(run.closure_error.max()) < ROUNDING
    for joint in m.joints.values():
        if joint.type.nv == 1:
            # rtol times the growth of errors, which is fastest for the slider-crank
            np.testing.assert_allclose(run[joint.name], wanted[joint.name], atol=5e-4)


def test_motion_of_the_four_bar():
    rows = NUMBERS["constrained"]
    m = cc.library.four_bar()
    run = cc.simulate(m, until=2.0, method=METHOD, rtol=1e-12, t_eval=[0.0, *(row["t"] for row in rows)])
    angles = np.array([[1.0, 0, 0], [1.0, 1.0, 0], [0, 0, 1.0]])
    # The error at 2 s is some 10 times rtol in q and 50 times in q' (the crank turns at 14 rad/s by then).
    assert off(columns(run, "O", "A", "C")[1:] @ angles.T, [row["q"] for row in rows]) < 1e-9
    assert off(columns(run, "O'", "A'", "C'")[1:] @ angles.T, [row["qd"] for row in rows]) < 1e-9
    # N: forces of up to 79 N at 2 s are off by some 5 N per rad/s
    assert off(run["lam"][1:], [row["lam"] for row in rows]) < 1e-8
    assert run.good


@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
def test_stays_on_its_branch_and_counts_turns(rtol):
    """34 turns of the crank, with long steps: the rocker stays up, and the cut joint B has turned with the coupler."""
    m = cc.library.four_bar()
    # at 1e-3 the energy is off by more than a run likes, which is not what is looked at here
    run = loosely(m, until=10.0, method=METHOD, rtol=rtol)
    O, A, B, C = (run[x].values for x in "OABC")
    assert 30 < (O[-1] - O[0]) / (2 * np.pi) < 36
    # the angle between coupler and rocker passes neither 0 nor pi
    turned = np.sin(C - (O + A))
    assert (np.sign(turned) == np.sign(turned[0])).all()
    # all four angles of the loop, turns included
    np.testing.assert_allclose(B, C - (O + A) + (B[0] - C[0] + O[0] + A[0]), atol=1e-12)
    # the crank's angle reaches 214 rad, whose last place is 3e-14
    assert float(run.closure_error.max()) < 1e-12


def loosely(m, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.RunWarning)
        return cc.simulate(m, **options)


def test_events_on_dependent_coordinates_and_forces():
    """Times of events on what is solved for, found between steps, are as good as with multipliers."""
    m = cc.library.four_bar()
    start = m.assemble()
    events = [
        cc.Event("rocker", m.joints["C"].q - 1.5),
        cc.Event("rocker turns", m.joints["C"].v),
        cc.Event("cut joint", m.joints["B"].q - 1.2),
        cc.Event("force", cc.multiplier("B", "x") - 5.0),
    ]
    free = compiled(start, METHOD).closed.velocities
    assert "C" not in [derive(m).topology.v_labels[k] for k in free]
    wanted = cc.simulate(m, start, until=2.0, rtol=1e-12, events=events).record
    got = cc.simulate(m, start, until=2.0, rtol=1e-8, method=METHOD, events=events).record
    assert [x.what for x in got] == [x.what for x in wanted]
    assert {x.what for x in got} == {event.name for event in events}
    # rtol times the growth of errors up to 2 s
    np.testing.assert_allclose([x.t for x in got], [x.t for x in wanted], atol=1e-7)


def test_an_event_on_a_dependent_coordinate_ends_the_run_there():
    m = cc.library.four_bar()
    event = cc.Event("rocker", m.joints["C"].q - 1.5, then="stop")
    run = cc.simulate(m, until=2.0, rtol=1e-9, method=METHOD, events=[event])
    # what the dense output is off by
    assert float(run["C"][-1]) == pytest.approx(1.5, abs=1e-8)
    assert float(run.closure_error[-1]) < ROUNDING


def test_solutions_between_steps_are_closed_to_the_tolerance():
    m = cc.library.four_bar()
    run = cc.simulate(m, until=2.0, rtol=1e-9, method=METHOD, solver=cc.solvers.DOP853(dense_output=True))
    t = np.linspace(0, 2, 301)
    program = run.program
    sol = run.segments[0].trajectory.sol
    c = program.evaluate("c", lambda: {"c": program.equations.closure.c}, t, sol(t), run.p)["c"]
    assert np.abs(c).max() < 1e-7


def test_all_driven():
    """No freedom is left: the motion is kinematics, and the multipliers hold the forces."""
    m = cc.library.four_bar()
    m.start = {}
    m.drive("O", 1.0 + 3.0 * cc.t)
    runs = [cc.simulate(m, until=1.0, method=x, rtol=1e-10) for x in (METHOD, cc.Projection(), cc.Multipliers())]
    for run in runs[:2]:
        assert run.segments[0].trajectory.x.shape[1] == derive(m).topology.nq + 1  # no velocities, but the work
        np.testing.assert_allclose(run["O"], 1.0 + 3.0 * run.t, atol=1e-9)
        np.testing.assert_allclose(run["C''"], runs[2]["C''"], atol=1e-7)
        np.testing.assert_allclose(run["lam"], runs[2]["lam"], atol=1e-7)
        assert run.good


@pytest.mark.parametrize("method", [METHOD, cc.Projection(), cc.Projection(1000.0)], ids=repr)
def test_bodies_without_mass(method):
    """A massless coupler in the loop: neither method divides by the inertia of an open limb."""
    m = cc.Mechanism("massless coupler", gravity=(0, -9.81, 0))
    crank, rocker = m.body("crank", cc.rod(length=1.0, mass=1.0)), m.body("rocker", cc.rod(length=2.0, mass=1.0))
    coupler = m.body("coupler", cc.rigid(mass=0.0, inertia=(0, 0, 0)))
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, coupler)
    m.revolute("C", m.ground.at(2, 0, 0), rocker, guess=1.1)
    m.revolute("B", coupler.at(2.5, 0, 0), rocker.tip)
    m.start = {"O": 1.0}
    wanted = cc.simulate(m, until=1.0, rtol=1e-11)
    run = cc.simulate(m, until=1.0, rtol=1e-11, method=method)
    # rtol times some growth; sigma^2 c adds to the forces with sigma = 1000
    np.testing.assert_allclose(run["O"], wanted["O"], atol=1e-8)
    np.testing.assert_allclose(run["lam"], wanted["lam"], atol=1e-5)
    # the coupler carries a force along itself only
    coupler = run["O"] + run["A"]
    across = run["lam"].values[:, 1] * np.cos(coupler) - run["lam"].values[:, 0] * np.sin(coupler)
    np.testing.assert_allclose(across, 0, atol=1e-8)
    assert run.good


def test_quaternions_that_can_be_neither_all_independent_nor_all_dependent():
    """A rod between two balls, one of them on a slide: of the first ball's three velocities two follow the slide."""
    m = cc.Mechanism("rod on two balls", gravity=(0, 0, -9.81))
    rod = m.body("rod", cc.rigid(mass=1.0, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1)))
    m.spherical("ball", m.ground, rod)
    slide = m.body("slide", cc.box((0.1, 0.1, 0.1), mass=1.0))
    m.prismatic("X", m.ground.at(0, 0.5, 0), slide, axis=(1, 0, 0), guess=0.8)
    m.spherical("end", rod.at(1, 0, 0), slide, cut=True)
    start = m.assemble()
    labels = [derive(m).topology.v_labels[k] for k in compiled(start, METHOD).closed.velocities]
    assert len(labels) == 1 and labels[0].startswith("ball")
    start = cc.State(m, start.q, closed_motion(m, start, labels[0]))
    wanted = cc.simulate(m, start, until=1.0, rtol=1e-11)
    run = cc.simulate(m, start, until=1.0, rtol=1e-11, method=METHOD)
    for x in "wxyz":
        np.testing.assert_allclose(run[f"ball.q{x}"], wanted[f"ball.q{x}"], atol=1e-8)
    assert float(run.closure_error.max()) < 1e-12  # samples are put back until their residual is 1e-13
    assert run.good


def closed_motion(m, start, label):
    """The closed motion in which one velocity is 2 rad/s."""
    e = derive(m)
    A = np.array(e.function("A", {"A": ca.densify(e.closure.A)})(0, start.q, start.v, parameter_vector(m)))
    k = e.topology.v_labels.index(label)
    _, _, vt = np.linalg.svd(A)
    return 2.0 * vt[-1] / vt[-1][k]


def test_an_open_chain_has_nothing_to_solve():
    m = cc.library.double_pendulum()
    closed = METHOD.close(derive(m), Choice(()))
    assert not closed.solved_first
    runs = [cc.simulate(m, until=1.0, method=method) for method in (METHOD, cc.Multipliers())]
    np.testing.assert_allclose(runs[0]["elbow"], runs[1]["elbow"], rtol=1e-9)


def test_citation():
    assert "closed-form kinematic solutions" in METHOD.citation()


@pytest.mark.parametrize("key", LOOPS[2:5], ids=str)
def test_power(key):
    """The work's rate, prescribed motions included, as with multipliers."""
    c = case(*key)
    q, v = c.closed()
    _, closed = newton(c)
    wanted = cc.Multipliers("none").close(c.equations, Choice(c.rows))
    power = c.evaluate([wanted.dx[-1]], q, v)[0][:, 0]
    g = ca.Function("g", [c.equations.limbs.t, closed.x, c.equations.limbs.p], [closed.dx[-1]])
    got = np.array(g(TIME, np.concatenate([q, v[list(closed.velocities)], [0.0]]), c.p))[:, 0]
    close_to(got, power, 1e-9)
