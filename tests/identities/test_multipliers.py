"""Accelerations and closing forces by elimination against the whole system solved at once by LAPACK."""

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.close.formulation import Choice
from closedchain.pose.size import drawn_length, row_sizes
from closedchain.testing.measured import close_to
from closedchain.testing.terms import TIME
from tests.identities.sample import GEARED, LOOPS, PLATFORMS, TREES, case


def dense(c, q, v, s=0.0):
    """``[M A'; A 0] (a, lam) = (tau - h, s - gamma)``."""
    got = c.numbers(q, v)
    rows = list(c.rows)
    A, n, m = got["A"][rows], len(v), len(rows)
    K = np.block([[got["M"], A.T], [A, np.zeros((m, m))]])
    x = np.linalg.solve(K, np.concatenate([got["tau"] - got["h"], s - got["gamma"][rows]]))
    # refined once: the comparison is about our elimination, not about LAPACK's rounding
    x += np.linalg.solve(K, np.concatenate([got["tau"] - got["h"], s - got["gamma"][rows]]) - K @ x)
    return x[:n], x[n:]


@pytest.mark.parametrize("key", TREES + LOOPS + PLATFORMS + GEARED, ids=str)
def test_agrees_with_the_dense_system(key):
    c = case(*key)
    for which in range(3):
        q, v = c.closed(which)
        for got, wanted in zip(c.accelerations(q, v), dense(c, q, v), strict=True):
            # 1e-16 times the condition of the random loops, at most some 1e5
            close_to(got, wanted, 1e-10)


@pytest.mark.parametrize("key", LOOPS + PLATFORMS + GEARED, ids=str)
def test_loops_stay_closed(key):
    """All rows, also those that were found redundant: A a + gamma = 0."""
    c = case(*key)
    q, v = c.closed()
    a, _ = c.accelerations(q, v)
    got = c.numbers(q, v)
    size = 1 + np.abs(got["gamma"]).max() + np.abs(a).max()
    np.testing.assert_allclose((got["A"] @ a + got["gamma"]) / size, 0, atol=1e-11)


@pytest.mark.parametrize("key", LOOPS[:6] + GEARED[:2], ids=str)
def test_baumgarte(key):
    """c'' = -2 alpha c' - beta^2 c, also where c and c' are not zero."""
    c = case(*key)
    q, _ = c.closed()
    v = c.anywhere()[1]
    # a quaternion of another length is no rotation: long limbs, factored by recursion, see another inertia then
    q = normalised(c, q + 1e-3 * c.numbers(q, v)["qdot"])
    got = c.numbers(q, v)
    rows = list(c.rows)
    for method, alpha, beta in ((cc.Baumgarte(3.0), 3.0, 3.0), (cc.Baumgarte(2.0, 5.0), 2.0, 5.0)):
        closed = cc.Multipliers(method).close(c.equations, Choice(c.rows))
        numbers = [ca.SX(ca.DM([alpha, beta]))]
        a, lam = c.evaluate(ca.substitute([closed.a, closed.lam], [closed.parameters], numbers), q, v)
        s = -2 * alpha * (got["A"] @ v + got["c_t"])[rows] - beta**2 * got["c"][rows]
        for ours, wanted in zip((a, lam), dense(c, q, v, s), strict=True):
            close_to(ours[:, 0], wanted, 1e-10)


def correction(c):
    """(x_plus, residual) of one Newton step at a state, with the work 1.5 in it."""
    closed = cc.Multipliers("projection").close(c.equations, Choice(c.rows))
    inputs = [c.equations.limbs.t, closed.x, c.equations.limbs.p]
    f = ca.Function("correct", inputs, list(closed.correction))
    return lambda q, v: [np.array(y)[:, 0] for y in f(TIME, np.concatenate([q, v, [1.5]]), c.p)]


def normalised(c, q):
    q = q.copy()
    for link in c.topology.links:
        if link.joint.type.has_quaternion:
            four = slice(link.q.stop - 4, link.q.stop)
            q[four] /= np.linalg.norm(q[four])
    return q


@pytest.mark.parametrize("key", LOOPS[:6] + GEARED[:2], ids=str)
def test_projection_is_the_smallest_step_back(key):
    """One Newton step: A dq = -c with the least dq' M dq; the same for velocities; quaternions of length one."""
    c = case(*key)
    q, _ = c.closed()
    v = c.anywhere()[1]
    q = normalised(c, q + 1e-4 * c.numbers(q, v)["qdot"])
    got = c.numbers(q, v)
    rows = list(c.rows)
    A = got["A"][rows]
    c_dot = A @ v + got["c_t"][rows]
    M_inv_A = np.linalg.solve(got["M"], A.T)

    def least(r):
        return -M_inv_A @ np.linalg.solve(A @ M_inv_A, r)

    x_plus, residual = correction(c)(q, v)
    nq = len(q)
    close_to(x_plus[:nq], normalised(c, q + c.independent.rate(q, least(got["c"][rows]))), 1e-11)
    close_to(x_plus[nq:-1], v + least(c_dot), 1e-10)
    assert x_plus[-1] == 1.5  # work is not touched
    # residuals are told without lengths: over that of the mechanism where they are lengths
    sizes = row_sizes(c.equations, rows, drawn_length(c.equations, c.p))
    close_to(residual[:2], [np.abs(got["c"][rows] / sizes).max(), np.abs(c_dot / sizes).max()], 1e-12)


@pytest.mark.parametrize("key", LOOPS[:9] + PLATFORMS[:3] + GEARED[:3], ids=str)
def test_projection_squares_the_error(key):
    """As Newton does, also from where an integrator leaves the state: off the loop, quaternions not of length one."""
    c = case(*key)
    q, _ = c.closed()
    v = c.anywhere()[1]
    step = correction(c)
    off = 1e-5
    q = q + off * c.numbers(q, v)["qdot"]
    rng = np.random.default_rng(c.seed)
    for link in c.topology.links:
        if link.joint.type.has_quaternion:
            q[link.q.stop - 4 : link.q.stop] *= 1 + off * rng.uniform(-1, 1)
    x_plus, _ = step(q, v)
    left = np.abs(c.numbers(x_plus[: len(q)], v)["c"][list(c.rows)]).max()
    # second derivatives of c: angles by 2 tan(angle / 2) at joint rates of a few rad/s, screws of 3 cm a radian
    assert left < 1e4 * off**2
