"""Feasible motions: S, its dense counterparts in NumPy, and how healthy a choice says it is."""

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.close.formulation import Choice
from closedchain.close.parts.feasible import DependentFactor, FeasibleMotions, coordinate_groups, sliding
from closedchain.derive.equations import derive
from closedchain.pose.independent import choose_pivots, health
from closedchain.pose.state import State
from closedchain.testing.measured import close_to
from closedchain.testing.terms import TIME
from tests.identities.sample import GEARED, LOOPS, PLATFORMS, TREES, case

KEYS = TREES[:1] + LOOPS[2:7] + GEARED[:2] + PLATFORMS[:2]
METHODS = (cc.Projection(0.0), cc.Projection(7.0), cc.IndependentCoordinates())

# 1e-16 times the condition of the random loops, at most some 1e5, and of the chosen pivots, at most some 1e2
ROUNDING = 1e-10


def choose(c, method, q, v):
    return Choice(c.rows, pivots=choose_pivots(c.equations, State(c.mechanism, q, v, t=TIME), c.rows, method.chooses))


def closed_by(c, method, q, v, **outputs):
    """Numbers of a formulation, by name, at a state (q, v), of which it takes the independent velocities only."""
    e, choice = c.equations, choose(c, method, q, v)
    closed = method.close(e, choice)
    names = {"dx": closed.dx, "a": closed.a, "lam": closed.lam, "v": closed.v}
    names |= {"residual": closed.correction.residual, **outputs}
    parameters = ca.vertcat(e.limbs.p, closed.parameters)
    f = ca.Function("f", [e.limbs.t, closed.x, parameters], [ca.densify(x) for x in names.values()])
    x = np.concatenate([q, v[list(closed.velocities)], [0.0]])
    got = f(TIME, x, [*c.p, *method.numbers(e, choice)])
    return closed, dict(zip(names, (np.array(y)[:, 0] for y in got), strict=True))


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_agrees_with_multipliers(key, method):
    """The same velocities, accelerations, multipliers and power at closed states; and 2 n - m numbers, and the work."""
    c = case(*key)
    e, n = c.equations, c.topology.nv
    for which in range(2):
        q, v = c.closed(which)
        closed, got = closed_by(c, method, q, v)
        assert closed.x.numel() == closed.dx.numel() == c.topology.nq + n - len(c.rows) + 1
        a, lam = c.accelerations(q, v)
        wanted = cc.Multipliers("none").close(e, Choice(c.rows))
        dx = c.evaluate([wanted.dx], q, v)[0][:, 0]
        close_to(got["v"], v, ROUNDING)
        close_to(got["a"], a, ROUNDING)
        close_to(got["lam"], lam, ROUNDING)
        independent = list(closed.velocities)
        close_to(got["dx"], np.concatenate([dx[: c.topology.nq], a[independent], dx[-1:]]), ROUNDING)


@pytest.mark.parametrize("key", LOOPS[2:6] + GEARED[:1] + PLATFORMS[:1], ids=str)
def test_dense_counterparts(key):
    """A S = 0, S' A' = 0, the reduced inertia is S' M S, and the multipliers solve A_D' lam = (tau - h - M a)_D."""
    c = case(*key)
    e = c.equations
    q, v = c.closed()
    choice = choose(c, METHODS[0], q, v)
    motions = FeasibleMotions(e, choice.pivots)
    force, bias = e.tau - e.h, e.closure.gamma
    nu_dot, a = motions.accelerations(force, bias)
    lam = motions.multipliers(force, a)
    S, nu_dot, a, lam = c.evaluate([ca.densify(motions.S), nu_dot, a, lam], q, v)
    got = c.numbers(q, v)
    rows, free = list(c.rows), motions.independent
    tied = [column for _, column in choice.pivots]
    A, M = got["A"][rows], got["M"]

    np.testing.assert_array_equal(S[free], np.eye(len(free)))
    close_to(S[tied], -np.linalg.solve(A[:, tied], A[:, free]), ROUNDING)
    np.testing.assert_allclose(A @ S, 0, atol=1e-12 * np.abs(A).max() * np.abs(S).max())

    a_0 = np.zeros(len(v))
    a_0[tied] = np.linalg.solve(A[:, tied], -got["gamma"][rows])
    right = S.T @ (got["tau"] - got["h"] - M @ a_0)
    close_to(nu_dot[:, 0], np.linalg.solve(S.T @ M @ S, right), ROUNDING)
    close_to(a[:, 0], S @ nu_dot[:, 0] + a_0, ROUNDING)
    close_to(lam[:, 0], np.linalg.solve(A[:, tied].T, (got["tau"] - got["h"] - M @ a[:, 0])[tied]), ROUNDING)


@pytest.mark.parametrize("seed", range(5))
def test_factor_of_a_sparse_matrix(seed):
    """Against NumPy, forwards and transposed, with right sides that have holes."""
    rng = np.random.default_rng(seed)
    n = 6
    A = np.where(rng.random((n, n + 2)) < 0.4, rng.normal(size=(n, n + 2)), 0.0)
    order = rng.permutation(n)
    A[order, np.arange(n)] += 5.0  # the pivots; columns n and n + 1 are left over
    traced = ca.sparsify(ca.SX(A))
    factor = DependentFactor(traced, [(int(r), j) for j, r in enumerate(order)])
    b = np.where(rng.random(n) < 0.5, rng.normal(size=n), 0.0)
    b[0] = 1.0
    sparse = {i: ca.SX(x) for i, x in enumerate(b) if x}
    for solve, matrix in ((factor.solve, A[:, :n]), (factor.solve_transposed, A[:, :n].T)):
        x = solve(sparse)
        got = [float(ca.evalf(x[i])) if i in x else 0.0 for i in range(n)]
        np.testing.assert_allclose(got, np.linalg.solve(matrix, b), atol=1e-14)


def test_zeros_cost_nothing():
    """A limb that a loop does not touch has no entry in the columns of the others."""
    m = cc.library.rrr3()
    e, start = derive(m), m.assemble()
    rows = tuple(range(len(e.closure)))
    motions = FeasibleMotions(e, choose_pivots(e, start, rows, "velocities"))
    assert motions.S.nnz() < motions.S.numel()


# ---- health --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS[1:], ids=repr)
@pytest.mark.parametrize("key", TREES[:1] + LOOPS[2:6] + GEARED[:2], ids=str)
def test_health_is_the_same_traced_and_in_numbers(key, method):
    c = case(*key)
    q, v = c.closed()
    _, got = closed_by(c, method, q, v)
    state = State(c.mechanism, q, v, t=TIME)
    wanted = health(c.equations, state, choose(c, method, q, v).pivots)
    assert 0 < wanted <= 1
    assert got["residual"][2] == pytest.approx(wanted, rel=1e-9)


def crank_and_slider(size):
    m = cc.Mechanism("slider-crank", gravity=(0, -9.81 * size, 0))
    crank, rod = (m.body(name, cc.rod(length=x * size, mass=1.0)) for name, x in (("crank", 0.3), ("rod", 1.0)))
    slider = m.body("slider", cc.box((0.1 * size,) * 3, mass=1.0))
    m.revolute("O", m.ground, crank, guess=1.0)
    m.prismatic("X", m.ground, slider, axis=(1, 0, 0), guess=1.1 * size)
    m.revolute("P", slider, rod, guess=2.8)
    m.revolute("A", crank.tip, rod.tip, cut=True)
    m.start, m.start_velocity = {"O": 1.0}, {"O": 6.0}
    return m


@pytest.mark.parametrize("method", [cc.Projection(), cc.IndependentCoordinates()], ids=repr)
def test_the_unit_of_length_does_not_matter(method):
    """Ten micrometres, a metre and a hundred metres: the same choice, the same health, the same motion."""
    healths, angles = [], []
    for size in (1.0, 1e-5, 1e2):
        m = crank_and_slider(size)
        e, start = derive(m), m.assemble()
        rows = tuple(range(len(e.closure)))
        pivots = choose_pivots(e, start, rows, method.chooses)
        healths.append(health(e, start, pivots))
        # steps are short enough for any tolerance, so that lengths below atol do not matter
        run = cc.simulate(m, start, until=0.5, method=method, rtol=1e-6, solver=cc.solvers.DOP853(max_step=0.01))
        angles.append(float(run["O"][-1]))
    np.testing.assert_allclose(healths, healths[0], rtol=1e-6)
    np.testing.assert_allclose(angles, angles[0], rtol=1e-6)


def test_velocities_that_belong_together():
    m = cc.Mechanism("three bodies")
    a, b, c = (m.body(name, cc.box((1, 1, 1), mass=1.0)) for name in "abc")
    m.spherical("ball", m.ground, a)
    m.free("free", m.ground, b)
    m.cylindrical("tube", m.ground, c)
    e = derive(m)
    named = [[e.topology.v_labels[k] for k in group] for group in coordinate_groups(e)]
    assert sorted(named) == sorted(
        [["ball.wx", "ball.wy", "ball.wz"], ["free.wx", "free.wy", "free.wz"], ["free.vx", "free.vy", "free.vz"]]
    )
    assert [e.topology.v_labels[k] for k, x in enumerate(sliding(e)) if x] == [
        "free.vx",
        "free.vy",
        "free.vz",
        "tube.slide",
    ]
