"""Closure rows on random loops: closed where drawn; c' = A v + c_t and c'' = A a + gamma at every state."""

import casadi as ca
import numpy as np
import pytest

from closedchain.testing.measured import close_to
from closedchain.testing.terms import closure_bias, closure_rates
from tests.identities.sample import GEARED, LOOPS, PLATFORMS, case

pytestmark = pytest.mark.parametrize("key", LOOPS + PLATFORMS + GEARED, ids=str)


def test_closed_where_drawn(key):
    c = case(*key)
    q, v = c.closed()
    # frames were placed by products of a dozen matrices
    np.testing.assert_allclose(c.numbers(q, v)["c"], 0, atol=1e-13)
    fixed = [row.value for row in c.equations.closure.fixed]
    np.testing.assert_allclose(np.array(c.evaluate(fixed, q, v)).ravel() if fixed else [], 0, atol=1e-13)


def test_every_row_is_accounted_for(key):
    """Rows that move and rows that never do: together 6 - n for each cut, and one for each coupling or motion."""
    c = case(*key)
    closure = c.equations.closure
    gears = len(c.mechanism.couplings) + len(c.mechanism.drives)
    assert len(closure) + len(closure.fixed) == sum(6 - j.type.nv for j in c.topology.cuts) + gears
    assert len(closure) == len(closure.labels) == len(closure.units) == c.numbers(*c.closed())["A"].shape[0]


def states(c):
    """On the manifold, and a little off it."""
    q, v = c.closed()
    nearby = q + 0.005 * c.numbers(q, np.random.default_rng(c.seed).normal(size=len(v)))["qdot"]
    for link in c.topology.links:
        if link.joint.type.has_quaternion:
            four = slice(link.q.stop - 4, link.q.stop)
            nearby[four] /= np.linalg.norm(nearby[four])
    return [(q, v), (nearby, c.anywhere()[1])]


def test_jacobian_by_differences(key):
    c = case(*key)
    for q, v in states(c):
        close_to(*closure_rates(c, q, v), 1e-8)


def test_bias_by_differences(key):
    """gamma = d(A v + c_t)/dt with a = 0."""
    c = case(*key)
    for q, v in states(c):
        close_to(*closure_bias(c, q, v), 1e-8)


def test_derivatives_far_away(key):
    """The same at any state, however open the loops are, with CasADi's derivatives in place of differences."""
    c = case(*key)
    e = c.equations
    c_dot = e.closure.A @ e.limbs.v + e.closure.c_t
    along = [
        ca.jtimes(x, e.limbs.q, e.qdot) + ca.jtimes(x, e.limbs.t, ca.SX(1)) for x in (e.closure.c, ca.densify(c_dot))
    ]
    for which in range(3):
        q, v = c.anywhere(which)
        got = c.numbers(q, v)
        c_dot, drift = (x[:, 0] for x in c.evaluate(along, q, v))
        # a row that measures an angle as 2 tan(angle / 2) magnifies rounding by 1 + c^2 / 4 with each derivative
        scale = 1 + got["c"] ** 2
        size = np.abs(v).sum() ** 2
        np.testing.assert_allclose((got["A"] @ v + got["c_t"] - c_dot) / scale / size, 0, atol=1e-12)
        np.testing.assert_allclose((got["gamma"] - drift) / scale**1.5 / size, 0, atol=1e-12)


def test_rank(key):
    """All rows of a cut joint alone are independent at a drawn configuration unless the tree cannot move that way."""
    c = case(*key)
    A = c.numbers(*c.closed())["A"]
    assert np.linalg.matrix_rank(A, tol=1e-8) == len(c.rows)
