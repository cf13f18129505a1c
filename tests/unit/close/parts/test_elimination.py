"""The elimination through what it promises: the dense solution, no fill-in in trees, costs linear in the limbs."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.formulation import Choice
from closedchain.derive.equations import derive
from closedchain.pose.state import parameter_vector
from tests.identities.sample import solved_rows
from tests.random_mechanisms import SCALAR_KINDS, draw, draw_platform


def press(pistons):
    """A table on parallel pistons, each under a flat contact: many rows on one body, and none across the pistons."""
    m = cc.Mechanism("press", gravity=(0, -9.81, 0))
    table = m.body("table", cc.box((2, 0.1, 1), mass=10.0))
    m.planar("floats", m.ground, table)
    for k in range(pistons):
        piston = m.body(f"piston{k}", cc.box((0.1, 0.3, 0.1), mass=1.0))
        m.prismatic(f"lift{k}", m.ground.at(0.2 * k, 0, 0), piston, axis=(0, 1, 0))
        m.planar(f"contact{k}", piston, table, axis=(0, 1, 0), cut=True)
        m.motor(f"lift{k}", force=20.0 + k)
    return m


@pytest.mark.parametrize("pistons", [1, 2, 5, 6, 9])
def test_directions_that_no_row_holds(pistons):
    """However many pistons carry the table, it rises as the sum of their forces says, and slides freely."""
    m = press(pistons)
    e = derive(m)
    q, v = np.zeros(e.topology.nq), np.zeros(e.topology.nv)
    rows = solved_rows(e, cc.State(m, q, v))
    f = e.function("f", {"a": cc.Multipliers().close(e, Choice(rows)).a})
    a = dict(zip(e.topology.v_labels, np.array(f(0, q, v, parameter_vector(m)))[:, 0], strict=True))
    rise = sum(20.0 + k for k in range(pistons)) / (10.0 + pistons) - 9.81
    assert a["floats.y"] == pytest.approx(rise, rel=1e-13)
    assert a["lift0"] == pytest.approx(rise, rel=1e-13)
    assert a["floats.x"] == pytest.approx(0, abs=1e-13)


def operations(m, q):
    """Scalar operations of the accelerations."""
    e = derive(m)
    rows = solved_rows(e, cc.State(m, q, np.zeros(e.topology.nv)))
    closed = cc.Multipliers("none").close(e, Choice(rows))
    return e.function("f", {"a": closed.a}).n_instructions()


def test_limbs_cost_what_one_costs():
    """Twelve limbs of a planar platform cost about twice as many operations as six: each is eliminated by itself."""
    counts = []
    for limbs in (6, 12):
        drawing = draw_platform(1, limbs=limbs, planar=True)
        counts.append(operations(drawing.mechanism, drawing.q()))
    assert counts[1] < 2.5 * counts[0]


def test_branches_do_not_fill_in():
    """A star of independent arms costs as many times one arm as it has arms."""

    def star(arms):
        m = cc.Mechanism("star")
        rng = np.random.default_rng(0)
        for k in range(arms):
            one = m.body(f"one{k}", cc.rigid(1.0, rng.normal(size=3), (1, 1, 1)))
            two = m.body(f"two{k}", cc.rigid(1.0, rng.normal(size=3), (1, 1, 1)))
            m.universal(f"a{k}", m.ground, one.at(*rng.normal(size=3)))
            m.revolute(f"b{k}", one, two.at(*rng.normal(size=3)))
        return operations(m, np.zeros(3 * arms))

    assert star(8) <= 8.1 * star(1)


@pytest.mark.parametrize("seed", range(4))
def test_deep_chains_with_many_loops(seed):
    """Rows that couple everything with everything, against the dense system."""
    drawing = draw(seed, bodies=12, loops=4, branching=0.2, kinds=(*SCALAR_KINDS, "spherical"), mobility=2)
    m = drawing.mechanism
    e = derive(m)
    q = drawing.q()
    v = np.random.default_rng(seed).normal(size=e.topology.nv)
    rows = list(solved_rows(e, cc.State(m, q, v)))
    closed = cc.Multipliers("none").close(e, Choice(tuple(rows)))
    out = {
        "M": e.M,
        "b": e.tau - e.h,
        "A": e.closure.A[rows, :],
        "g": e.closure.gamma[rows],
        "a": closed.a,
        "lam": closed.lam,
    }
    M, b, A, g, a, lam = (np.array(x) for x in e.function("f", out)(0, q, v, parameter_vector(m)))
    K = np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]])
    x = np.linalg.solve(K, np.vstack([b, -g]))
    x += np.linalg.solve(K, np.vstack([b, -g]) - K @ x)
    got = np.vstack([a, lam])
    # the rounding of a stable elimination: 1e-16 times the condition of S, some 1e5 for loops drawn at random
    np.testing.assert_allclose(got / np.abs(x).max(), x / np.abs(x).max(), atol=1e-10)
