"""`Multipliers`: its options, what it gives back, and loops small enough to solve by hand."""

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.close.formulation import Choice
from closedchain.derive.equations import derive
from closedchain.pose.state import parameter_vector
from tests.identities.sample import solved_rows
from tests.turns import with_counters


def solve(m, q, v, method=None):
    """a, lam and the rows they belong to."""
    e = derive(m)
    q, v = with_counters(e.topology, q), np.asarray(v, float)
    rows = solved_rows(e, cc.State(m, q, v))
    method, choice = method or cc.Multipliers(), Choice(rows)
    closed = method.close(e, choice)
    outputs = ca.substitute([closed.a, closed.lam], [closed.parameters], [ca.SX(ca.DM(method.numbers(e, choice)))])
    f = e.function("f", dict(zip(("a", "lam"), outputs, strict=True)))
    a, lam = (np.array(x)[:, 0] for x in f(0, q, v, parameter_vector(m)))
    return a, lam, [f"{e.closure.joints[i]} {e.closure.labels[i]}" for i in rows]


def two_carts():
    """Two carts on one rail, welded together: one row, x, with everything else fixed."""
    m = cc.Mechanism("carts", gravity=(0, 0, -9.81))
    one, two = m.body("one", cc.box((1, 1, 1), mass=2.0)), m.body("two", cc.box((1, 1, 1), mass=3.0))
    m.prismatic("A", m.ground, one, axis=(1, 0, 0))
    m.prismatic("B", m.ground.at(1, 0, 0), two, axis=(1, 0, 0))
    m.weld("W", one.at(1, 0, 0), two, cut=True)
    m.motor("A", force=10.0)
    return m


def test_two_carts_share_a_push():
    """a = 10 / 5; the weld pushes the second cart with 3 * 2 N: lam is the force of its first body on its second."""
    a, lam, rows = solve(two_carts(), [0.4, 0.4], [1.0, 1.0])
    np.testing.assert_allclose(a, [2.0, 2.0], rtol=1e-15)
    assert rows == ["W x"]
    np.testing.assert_allclose(lam, [6.0], rtol=1e-15)


def test_a_hanging_triangle():
    """Two equal rods pinned at the tips, 1 m apart, symmetric: a rigid roof. Each tip pin carries half a rod's weight
    sideways over tan of the slope, and nothing up or down."""
    m = cc.Mechanism("roof", gravity=(0, -9.81, 0))
    left, right = m.body("left", cc.rod(length=1.0, mass=2.0)), m.body("right", cc.rod(length=1.0, mass=2.0))
    m.revolute("A", m.ground, left)
    m.revolute("B", m.ground.at(1, 0, 0), right)
    m.revolute("C", left.tip, right.tip, cut=True)
    slope = np.pi / 3
    a, lam, rows = solve(m, [slope, np.pi - slope], [0, 0])
    np.testing.assert_allclose(a, 0, atol=1e-12)
    assert rows == ["C x", "C y"]
    # moments about A: thrust * sin = weight / 2 * cos; the left rod pushes the right one to the right
    np.testing.assert_allclose(lam, [2.0 * 9.81 / 2 / np.tan(slope), 0], atol=1e-12)


def test_an_open_chain_has_nothing_to_close():
    m = cc.library.pendulum()
    e = derive(m)
    closed = cc.Multipliers().close(e, Choice(()))
    assert closed.lam.shape == (0, 1)
    assert closed.correction is None
    assert closed.x.numel() == closed.dx.numel() == e.topology.nq + e.topology.nv + 1


def test_quaternions_need_putting_back_even_without_loops():
    m = cc.Mechanism("top")
    m.spherical("A", m.ground, m.body("b", cc.box((1, 2, 3), mass=1.0)))
    e = derive(m)
    for stabilise in ("projection", "none", cc.Baumgarte()):
        closed = cc.Multipliers(stabilise).close(e, Choice(()))
        f = ca.Function("f", [closed.x, e.limbs.p], list(closed.correction))
        x, residual = f([2, 0, 0, 0, 1, 2, 3, 7], parameter_vector(m))
        np.testing.assert_allclose(np.array(x)[:, 0], [1, 0, 0, 0, 1, 2, 3, 7])
        np.testing.assert_allclose(np.array(residual)[:2, 0], 0)


def test_loops_without_projection_are_left_where_they_are():
    """Only the pivots are watched, so that no singular pose is passed unseen."""
    e = derive(cc.library.four_bar())
    for stabilise in ("none", cc.Baumgarte(), "projection"):
        closed = cc.Multipliers(stabilise).close(e, Choice((0, 1)))
        moved = ca.cse(closed.correction.x_plus - closed.x)
        assert all(x.is_zero() for x in ca.vertsplit(moved)) == (stabilise != "projection")
        assert not closed.correction.residual[2].is_constant()


def test_the_state_is_q_v_and_work():
    m = two_carts()
    e = derive(m)
    closed = cc.Multipliers().close(e, Choice((0,)))
    f = ca.Function("f", [e.limbs.t, closed.x, e.limbs.p], [closed.dx])
    dx = np.array(f(0, [0.4, 0.4, 1.5, 1.5, 0], parameter_vector(m)))[:, 0]
    np.testing.assert_allclose(dx, [1.5, 1.5, 2.0, 2.0, 10.0 * 1.5])  # rates, accelerations, power
    assert closed.q.numel() == closed.v.numel() == 2


def test_baumgarte_pulls_a_loop_together():
    """c = x_one - x_two = 0.1 standing still: c'' = -beta^2 c."""
    a, _, _ = solve(two_carts(), [0.4, 0.3], [0, 0], cc.Multipliers(cc.Baumgarte(2.0, 5.0)))
    assert a[0] - a[1] == pytest.approx(-25 * 0.1, rel=1e-12)
    a, _, _ = solve(two_carts(), [0.4, 0.3], [0, 0], cc.Multipliers(cc.Baumgarte(2.0)))
    assert a[0] - a[1] == pytest.approx(-4 * 0.1, rel=1e-12)
    a, _, _ = solve(two_carts(), [0.4, 0.4], [1.0, 0.8], cc.Multipliers(cc.Baumgarte(2.0, 5.0)))
    assert a[0] - a[1] == pytest.approx(-2 * 2.0 * 0.2, rel=1e-12)


@pytest.mark.parametrize("stabilise", ["projektion", None, 3.0])
def test_unknown_stabilisation_is_named(stabilise):
    with pytest.raises(cc.ModelError, match="stabilise must be"):
        cc.Multipliers(stabilise)


@pytest.mark.parametrize("numbers", [(-1.0,), (1.0, -2.0), (float("nan"),)])
def test_wrong_rates_are_refused(numbers):
    with pytest.raises(cc.ModelError, match=r"Baumgarte: (alpha|beta) must be zero or a positive number, not "):
        cc.Baumgarte(*numbers)


def test_citations_name_their_authors():
    assert "Baumgarte (1972)" in cc.Multipliers(cc.Baumgarte()).citation()
    assert "Eich (1993)" in cc.Multipliers().citation()
    assert "Featherstone (2008)" in cc.Multipliers("none").citation()


def test_options_are_values():
    """Equal options are the same key of the cache of compiled programs."""
    assert cc.Multipliers() == cc.Multipliers("projection")
    assert hash(cc.Multipliers(cc.Baumgarte(3.0))) == hash(cc.Multipliers(cc.Baumgarte(3.0)))
    assert cc.Multipliers(cc.Baumgarte(3.0)) != cc.Multipliers(cc.Baumgarte(4.0))


# ---- gains that follow the steps -------------------------------------------------------------------------------------


def test_gains_follow_a_fixed_step():
    run = cc.simulate(
        cc.library.four_bar(), until=1.0, method=cc.Multipliers(cc.Baumgarte()), solver=cc.solvers.RK4(step=1e-2)
    )
    assert run.program.numbers == pytest.approx((5.0, 5.0))
    assert run.method == run.task.method == cc.Multipliers(cc.Baumgarte())  # as the user gave it


def test_gains_follow_the_tolerance_and_compile_nothing():
    m = cc.library.four_bar()
    gains = []
    for rtol in (1e-4, 1e-10):
        run = cc.simulate(m, until=5.0, method=cc.Multipliers(cc.Baumgarte()), rtol=rtol)
        assert run.segments[0].program.numbers.tolist() == [0.0, 0.0]  # no step was known yet
        gains.append(run.segments[-1].program.numbers[1])
        assert len({id(s.program.rhs.function) for s in run.segments}) == 1
    assert gains[1] > 1.5 * gains[0] > 0


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "gough_stewart", "delta"])
@pytest.mark.parametrize("rtol", [1e-4, 1e-7, 1e-10])
def test_the_promise_holds_with_gains_that_follow(name, rtol):
    """100 rtol, for the whole run; without stabilisation the gap grows on and on."""
    m = getattr(cc.library, name)()
    run = cc.simulate(m, until=10.0, method=cc.Multipliers(cc.Baumgarte()), rtol=rtol)
    assert float(run.closure_error.max()) < max(100 * rtol, 1e-10) and run.good
    # it costs hardly more steps than the motion itself
    assert run.counts.steps < 1.5 * cc.simulate(m, until=10.0, rtol=rtol).counts.steps + 50


def test_gains_follow_backward():
    m = cc.library.four_bar()
    there = cc.simulate(m, until=1.0, rtol=1e-9)
    back = cc.simulate(m, there.state(), until=0.0, rtol=1e-9, method=cc.Multipliers(cc.Baumgarte()))
    alpha, beta = back.segments[-1].program.numbers
    assert -alpha == beta > 0
    np.testing.assert_allclose(back.x[-1, :-1], there.x[0, :-1], atol=1e-6)


def test_beta_alone_is_refused():
    with pytest.raises(cc.ModelError, match=r"beta = 3\.0 needs alpha"):
        cc.Baumgarte(beta=3.0)
