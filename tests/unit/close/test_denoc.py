"""`DeNOC`: the same accelerations, forces and corrections as `Multipliers`, its reactions, and its minimal order."""

from functools import cache

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.close.denoc import DeNOC, LimbFactor, minimal_order
from closedchain.close.formulation import Choice
from closedchain.close.multipliers import Multipliers
from closedchain.derive.denoc import NaturalComplement
from closedchain.derive.equations import derive
from closedchain.derive.rnea import body_forces
from closedchain.model.library import MECHANISMS
from closedchain.pose.closing import Closing
from closedchain.pose.redundancy import independent_rows
from closedchain.pose.state import State, parameter_vector
from closedchain.results.reactions.reactions import reactions
from closedchain.testing.measured import close_to
from closedchain.testing.operations import cost
from closedchain.testing.terms import TIME
from tests.identities.sample import GEARED, LOOPS, PLATFORMS, TREES, case

# the promise between formulations; what is left is rounding times the condition of the loops, at most some 1e5
AGREEMENT = 1e-9


@cache
def drawn(name):
    return MECHANISMS[name].build()


def states(m, count=2, seed=17):
    """Closed poses around the start, with random velocities that keep them closed."""
    e, start = derive(m), m.assemble()
    closing = Closing(e, parameter_vector(m))
    rng = np.random.default_rng(seed)
    for _ in range(count):
        q = closing.near(start.q, 0.1 * rng.normal(size=e.topology.nv))
        A, v = closing.jacobian(q), rng.normal(size=e.topology.nv)
        yield State(m, q, v - np.linalg.lstsq(A, A @ v, rcond=1e-10)[0])


# ---- agreement ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MECHANISMS)
def test_library(name):
    m = drawn(name)
    e = derive(m)
    rows = independent_rows(e, m.assemble()).kept
    mine, wanted = (method.close(e, Choice(rows)) for method in (DeNOC(), Multipliers("none")))
    f = e.function("both", {"a": mine.a, "lam": mine.lam, "a0": wanted.a, "lam0": wanted.lam, "W": mine.dx[-1]})
    power = e.function("power", {"W": wanted.dx[-1]})
    for state in states(m):
        a, lam, a0, lam0, W = map(np.array, f(0.3, state.q, state.v, parameter_vector(m)))
        close_to(a, a0, AGREEMENT)
        close_to(lam, lam0, AGREEMENT)
        close_to(W, np.array(power(0.3, state.q, state.v, parameter_vector(m))), AGREEMENT)


@pytest.mark.parametrize("key", TREES[::3] + LOOPS[::2] + PLATFORMS[::2] + GEARED, ids=str)
def test_random_mechanisms(key):
    c = case(*key)
    closed = DeNOC().close(c.equations, Choice(c.rows))
    q, v = c.closed()
    a, lam = c.evaluate([closed.a, closed.lam], q, v)
    for got, wanted in zip((a, lam), c.accelerations(q, v), strict=True):
        close_to(got[:, 0], wanted, AGREEMENT)


@pytest.mark.parametrize("key", LOOPS[::5] + PLATFORMS[::3] + GEARED[::3], ids=str)
def test_the_way_back_to_the_manifold(key):
    """One Newton step from a state a little off, its residuals and its pivot."""
    c = case(*key)
    q, _ = c.closed()
    v = c.anywhere()[1]
    x = np.concatenate([q + 1e-4 * c.numbers(q, v)["qdot"], v, [1.5]])
    got = []
    for method in (DeNOC(), Multipliers("projection")):
        closed = method.close(c.equations, Choice(c.rows))
        f = ca.Function("f", [c.equations.limbs.t, closed.x, c.equations.limbs.p], list(closed.correction))
        got.append([np.array(y)[:, 0] for y in f(TIME, x, c.p)])
    for mine, wanted in zip(*got, strict=True):
        close_to(mine, wanted, AGREEMENT)


@pytest.mark.parametrize("method", [DeNOC(), Multipliers()])
def test_guarded_where_the_rank_is_lost(method):
    """A parallelogram stretched to a line: one of its two rows says nothing new, and gets no force."""
    m = cc.Mechanism("stretched", gravity=(0, -9.81, 0))
    left, top, right = (m.body(x, cc.rod(length=n, mass=1.0)) for x, n in (("left", 1), ("top", 2), ("right", 1)))
    m.revolute("A", m.ground, left)
    m.revolute("B", left.tip, top)
    m.revolute("C", m.ground.at(2, 0, 0), right)
    m.revolute("D", top.tip, right.tip, cut=True)
    e = derive(m)
    closed = method.close(e, Choice((0, 1), guarded=True))
    q = np.zeros(e.topology.nq)
    a, lam = e.function("f", {"a": closed.a, "lam": closed.lam})(0, q, np.zeros(3), parameter_vector(m))
    assert np.isfinite(np.array(a)).all()
    assert float(lam[0]) == 0.0  # along the line
    assert float(lam[1]) != 0.0


# ---- what it gives back ------------------------------------------------------------------------------------


def test_an_open_chain_has_nothing_to_close():
    e = derive(cc.library.double_pendulum())
    closed = DeNOC().close(e, Choice(()))
    assert closed.lam.shape == (0, 1)


def test_a_run():
    """Closed to rounding, with the energy in balance, and the motion that `Multipliers` gives."""
    m = cc.library.four_bar()
    mine, other = (cc.simulate(m, until=2.0, method=method, rtol=1e-11) for method in (DeNOC(), Multipliers()))
    assert mine.good
    assert float(mine.closure_error.max()) < 1e-12
    # two integrations to 1e-11, of a motion that speeds up to 6 rad/s
    np.testing.assert_allclose(mine["O"], other["O"], atol=1e-9)
    np.testing.assert_allclose(mine["lam"], other["lam"], rtol=1e-7, atol=1e-7)


def test_a_velocity_without_inertia_is_named():
    """The loop would hold the massless link; its limb alone does not."""
    m = cc.Mechanism("massless coupler")
    arm, link = m.body("arm", cc.rod(length=1.0, mass=1.0)), m.body("link", cc.massless())
    block = m.body("block", cc.point_mass(1.0))
    m.revolute("A", m.ground, arm)
    m.revolute("B", arm.tip, link)
    m.prismatic("S", m.ground, block, axis=(1, 0, 0))
    m.revolute("C", link.at(2, 0, 0), block, cut=True)
    with pytest.raises(cc.ModelError, match="'B' has no inertia of its own limb"):
        DeNOC().close(derive(m), Choice(()))


def test_options_are_values_and_cited():
    assert DeNOC() == DeNOC() and hash(DeNOC()) == hash(DeNOC())
    for name in ("Angeles and Lee (1988)", "Saha (1997)", "Saha and Schiehlen (2001)"):
        assert name in DeNOC().citation()


def test_cost_grows_with_the_length_of_a_loop():
    """A chain of n rods held at both ends: one more costs the same. `Multipliers` forms the bias before it recurs."""

    def loop(n):
        m = cc.Mechanism(f"loop of {n}", gravity=(0, -9.81, 0))
        at = m.ground
        for i in range(n):
            rod = m.body(f"r{i}", cc.rod(length=1.0, mass=1.0))
            m.revolute(f"j{i}", at, rod, guess=0.5 if i % 2 else -0.5)
            at = rod.tip
        m.revolute("end", at, m.ground.at(0.8 * n, 0, 0), cut=True)
        m.start = {f"j{i}": 0.4 if i % 2 else -0.3 for i in range(n - 2)}
        return m

    sizes = np.array([4, 6, 8, 12])
    totals = np.array([cost(loop(n), DeNOC()).rhs.total for n in sizes])
    one_more = np.diff(totals) / np.diff(sizes)
    np.testing.assert_array_equal(one_more, one_more[0])
    assert totals[-1] < cost(loop(12)).rhs.total


# ---- constraint wrenches -----------------------------------------------------------------------------------


def joint_wrenches(run):
    """Wrench of each tree joint on the link that hangs on it, (time, link, 6), in world axes about the link's origin.

    ``N_l' (M t' + M' t - w^A - w^G - w^CS)``: all that is known, carried from the tips to the ground.
    """
    e, program = run.program.equations, run.program
    noc = NaturalComplement(e.limbs)
    needed = [ca.vertcat(f.ang, f.lin) for f in body_forces(e.limbs, e.motion, e.applied.wrenches, program.closed.a)]
    for i, r in enumerate(program.rows):
        assert e.closure.sides[r]  # given by the twists of links
        for link, C in e.closure.sides[r].items():
            R = e.motion.X[link].R.T
            needed[link] += ca.diagcat(R, R) @ C.T * program.closed.lam[i]
    turned = [ca.diagcat(e.motion.X[i].R, e.motion.X[i].R) @ w for i, w in enumerate(noc.joint_wrenches(needed))]
    inputs = [e.limbs.t, program.closed.x, e.limbs.p]
    f = ca.Function("wrenches", inputs, [ca.densify(ca.horzcat(*turned).T)])
    return np.array([np.array(f(t, x, run.p)) for t, x in zip(run.t, run.x, strict=True)])


def wanted_wrenches(run):
    """The same from `results.reactions.reactions`, and which of its components are determined at all, by joint."""
    found = reactions(run)
    for link in run.program.equations.topology.links:
        if link.joint.name not in found.joints:  # a body that the cuts set free: nothing holds it there
            axes = np.broadcast_to(np.eye(3), (len(run.t), 3, 3))
            yield link.index, np.zeros((len(run.t), 6)), np.ones(6, bool), axes
            continue
        k = found.joints.index(link.joint.name)
        # of the first body on the second, about the second's frame: that of the link, if the joint is drawn towards it
        assert not link.reversed
        yield link.index, found.wrench[:, k], found.unique[k], found.axes[:, k]


def in_axes(w, R):
    """Moment and force in the axes R, (time, 6)."""
    return np.concatenate([np.einsum("tij,ti->tj", R, w[:, :3]), np.einsum("tij,ti->tj", R, w[:, 3:])], axis=1)


@pytest.mark.parametrize(
    ("build", "until"),
    [
        (cc.library.four_bar, 1.0),
        (lambda: cc.library.rrr3(torques=(1.0, -2.0, 0.5)), 0.2),
        (cc.library.gough_stewart, 0.1),
    ],
    ids=["four-bar", "rrr3", "gough-stewart"],
)
def test_constraint_wrenches_of_all_joints(build, until):
    run = cc.simulate(build(), until=until, method=DeNOC(), rtol=1e-9, t_eval=np.linspace(0, until, 7))
    got = joint_wrenches(run)
    compared = 0
    for i, wrench, unique, axes in wanted_wrenches(run):
        mine, theirs = (in_axes(w, axes)[:, unique] for w in (got[:, i], wrench))
        # least squares with a threshold of 1e-9 on the one side
        close_to(mine, theirs, AGREEMENT)
        compared += unique.sum()
    assert compared >= 3 * got.shape[1]


def test_what_passes_along_the_freedoms_is_what_the_motors_give():
    """N_d' N_l' w = tau: (14)."""
    m = cc.library.rrr3(torques=(1.0, -2.0, 0.5))
    run = cc.simulate(m, until=0.2, method=DeNOC(), rtol=1e-9, t_eval=[0.0, 0.1, 0.2])
    got = joint_wrenches(run)
    torque = {"base1": 1.0, "base2": -2.0, "base3": 0.5}
    for link in run.program.equations.topology.links:
        close_to(got[:, link.index, 2], np.full(3, torque.get(link.joint.name, 0.0)), 1e-11)


# ---- minimal order -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", LOOPS[::5] + PLATFORMS[::3] + GEARED[::3], ids=str)
def test_equations_of_minimal_order(key):
    """I nu' = phi for the accelerations of all other formulations; 2 T = nu' I nu."""
    c = case(*key)
    q, v = c.closed()
    rows = list(c.rows)
    got = c.numbers(q, v)
    A, n = got["A"][rows], len(v)
    # dependent velocities by pivoting, as many as rows
    order = pivots(A)
    independent = sorted(set(range(n)) - set(order[: len(rows)]))
    I, phi = c.evaluate(minimal_order(c.equations, c.rows, independent), q, v)
    a, _ = c.accelerations(q, v)
    # rounding times the condition of the dependent columns
    close_to(I @ a[independent], phi[:, 0], 1e-8)
    if not got["c_t"].any():
        assert v[independent] @ I @ v[independent] == pytest.approx(2 * got["kinetic"][0], rel=1e-8)


def pivots(A):
    """Columns of A, the most independent ones first."""
    A, order = A.copy(), []
    for _ in range(len(A)):
        k = int(np.argmax(np.linalg.norm(A, axis=0)))
        order.append(k)
        u = A[:, k] / np.linalg.norm(A[:, k])
        A = A - np.outer(u, u @ A)
    return order


def test_minimal_order_of_an_open_chain_is_the_chain_itself():
    m = cc.library.double_pendulum()
    e = derive(m)
    I, phi = minimal_order(e, (), (0, 1))
    f = e.function("f", {"I": I, "phi": phi, "M": e.M, "b": e.tau - e.h})
    got = [np.array(x) for x in f(0, [0.3, 0.4], [1.0, 2.0], parameter_vector(m))]
    np.testing.assert_array_equal(got[0], got[2])
    np.testing.assert_array_equal(got[1], got[3])


def test_minimal_order_needs_the_right_number_of_velocities():
    with pytest.raises(cc.ModelError, match="2 closures leave 1 independent velocities, but 2 are named"):
        minimal_order(derive(cc.library.four_bar()), (0, 1), (0, 1))


def test_the_factor_is_that_of_the_whole_matrix():
    """In the place of `TreeFactor`: y' I^-1 z from halves."""
    c = case("geared", 721)
    factor = LimbFactor(c.equations)
    n = factor.n
    rng = np.random.default_rng(2)
    b, d = rng.normal(size=(2, n))
    halves = [factor.half({k: ca.SX(x) for k, x in enumerate(column)}) for column in (b, d)]
    q, v = c.anywhere()
    got, M = c.evaluate([factor.product(*halves), c.equations.M], q, v)
    assert got[0, 0] == pytest.approx(b @ np.linalg.solve(M, d), rel=1e-10)  # condition of M, some 1e4
