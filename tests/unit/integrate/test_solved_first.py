"""`SolvedFirst`: rates at states that the integrator only guessed, against positions and accelerations by NumPy."""

from itertools import pairwise

import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.integrate.methods.tableaus import DOP853
from closedchain.integrate.solved_first import STEPS, SolvedFirst
from closedchain.march.program.compiled import compiled
from closedchain.pose.closing import Closing
from closedchain.pose.state import parameter_vector

METHOD = cc.IndependentCoordinates()
NAMES = ["four_bar", "slider_crank", "five_bar", "rrr3"]


def programmed(name):
    m = getattr(cc.library, name)()
    start = m.assemble()
    return m, start, compiled(start, METHOD), parameter_vector(m)


def dense_rates(m, program, x, t):
    """Positions by Newton's method for the dependent coordinates, accelerations from the whole system at once."""
    e = derive(m)
    n, free = e.topology.nv, list(program.closed.velocities)
    tied = [k for k in range(n) if k not in free]
    p = parameter_vector(m)
    terms = {"M": e.M, "h": e.h, "tau": e.tau, "c": e.closure.c, "A": e.closure.A, "gamma": e.closure.gamma}
    f = e.function("dense", terms | {"qdot": e.qdot, "power": e.energies.power})
    rows = list(program.rows)
    q = x[: e.topology.nq].copy()
    for _ in range(20):
        got = f(t, q, np.zeros(n), p)
        A, c = np.array(got[4])[rows], np.array(got[3])[rows, 0]
        q[tied] -= np.linalg.solve(A[:, tied], c)  # hinges and slides: coordinate k belongs to velocity k
    v = np.zeros(n)
    v[free] = x[e.topology.nq : -1]
    v[tied] = np.linalg.solve(A[:, tied], -A[:, free] @ v[free])
    M, h, tau, _, A, gamma, qdot, power = (np.array(y) for y in f(t, q, v, p))
    A, gamma = A[rows], gamma[rows, 0]
    K = np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]])
    a = np.linalg.solve(K, np.concatenate([(tau - h)[:, 0], -gamma]))[:n]
    return np.concatenate([qdot[:, 0], a[free], power[:, 0]])


@pytest.mark.parametrize("name", NAMES)
def test_rates_at_stage_states(name):
    """Where a stage of an integrator lies: dependent coordinates are off, y and y' are anything."""
    m, start, program, p = programmed(name)
    assert isinstance(program.rhs, SolvedFirst)
    e = program.equations
    rng = np.random.default_rng(3)
    for _ in range(5):
        q = Closing(e, p).near(start.q, 0.1 * rng.normal(size=e.topology.nv))
        q[: e.topology.nv] += 1e-2 * rng.normal(size=e.topology.nv)
        x = program.pack(q, rng.normal(size=e.topology.nv))
        wanted = dense_rates(m, program, x, 0.2)
        # rounding, times a condition of some hundreds, of accelerations up to some hundreds
        np.testing.assert_allclose(program.rhs(0.2, x, p), wanted, rtol=1e-10, atol=1e-10)


def stages(program, x, p, times):
    """Newton steps and evaluations of a run of DOP853 with given steps."""
    w = program.rhs.prepare(p)
    count = 0
    for t, end in pairwise(times):
        h, k = end - t, []
        for i in range(12):
            y = x + h * sum((DOP853.A[i, j] * k[j] for j in range(i)), np.zeros_like(x))
            k.append(program.rhs.evaluate(t + DOP853.c[i] * h, y, w))
            count += 1
        x = x + h * sum(DOP853.A[12, j] * k[j] for j in range(12))
        for _ in range(4):
            x = program.correct(end, x, p)[0]
    return int(w[STEPS]), count


@pytest.mark.parametrize("rtol", [1e-4, 1e-9])
@pytest.mark.parametrize("name", [*NAMES, "gough_stewart"])
def test_newton_steps_in_an_evaluation(name, rtol):
    """The prediction is good: two steps on average at most, at loose tolerances too."""
    m, start, program, p = programmed(name)
    run = cc.simulate(m, start, until=0.5, method=METHOD, rtol=rtol)
    piece = run.segments[0].trajectory
    steps, evaluations = stages(program, program.pack(start.q, start.v), p, [0.0, *piece.steps_t])
    assert evaluations <= steps <= 2 * evaluations


def test_what_is_solved_takes_one_step():
    _, start, program, p = programmed("four_bar")
    w = program.rhs.prepare(p)
    program.rhs.evaluate(0.0, program.pack(start.q, start.v), w)
    assert w[STEPS] == 1


def test_positions_that_do_not_close_have_no_rates():
    """The crank of a rocker turned further than the loop allows, and a start that is far from any solution."""
    m = cc.Mechanism("rocker", gravity=(0, -9.81, 0))
    crank, coupler, rocker = (
        m.body(name, cc.rod(length=x, mass=1.0)) for name, x in (("crank", 1.2), ("coupler", 1.5), ("rocker", 1.0))
    )
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, coupler)
    m.revolute("C", m.ground.at(2, 0, 0), rocker)
    m.revolute("B", coupler.tip, rocker.tip)
    m.start = {"O": 1.2}
    start = m.assemble()
    program, p = compiled(start, METHOD), parameter_vector(m)
    (free,) = program.closed.velocities
    for turn in (1.5, -1.5, 3.0):
        x = program.pack(start.q, start.v)
        x[[k for k in range(3) if k != free]] += turn
        x[free] += turn
        assert np.isnan(program.rhs(0.0, x, p)).all()
    x[:] = np.nan
    assert np.isnan(program.rhs(0.0, x, p)).all()


def test_between_two_assemblies():
    """From anywhere between two assemblies the rates belong to one of them, or there are none; nearby, to that one."""
    m, start, program, p = programmed("four_bar")
    (free,) = program.closed.velocities
    label = program.equations.topology.v_labels[free]
    other = m.assemble(**{label: float(start.q[free])}, guess={"O": -1.0, "C": -1.0})
    assert abs(other["C"] - start["C"]) > 0.5
    here, there = (program.rhs(0.0, program.pack(q, np.ones(3)), p) for q in (start.q, other.q))
    assert np.abs(here - there).max() > 0.1
    found = []
    for share in np.linspace(0, 1, 41):
        got = program.rhs(0.0, program.pack((1 - share) * start.q + share * other.q, np.ones(3)), p)
        same = [np.allclose(got, x, rtol=1e-9, atol=1e-9) for x in (here, there)]
        found.append("none" if np.isnan(got).all() else ("here", "there")[same.index(True)])
    assert found[:8] == ["here"] * 8
    assert found[-8:] == ["there"] * 8


def test_counts_are_those_of_both_parts():
    _, _, program, _ = programmed("four_bar")
    rhs = program.rhs
    assert rhs.counts.total == rhs.newton.counts.total + rhs.rates.counts.total
    # Newton's step alone is cheaper than the correction, which also tells how healthy the choice is
    assert rhs.newton.counts.total < program.correct.counts.total


def test_each_run_has_its_own_room():
    _, start, program, p = programmed("four_bar")
    one, two = program.rhs.prepare(p), program.rhs.prepare(p)
    x = program.pack(start.q, start.v)
    first = program.rhs.evaluate(0.0, x, one)
    program.rhs.evaluate(0.0, x + 1e-3, one)
    np.testing.assert_array_equal(program.rhs.evaluate(0.0, x, two), first)
