"""The rate of kinetic and potential energy is the power of what has no potential, with everything acting at once."""

import casadi as ca
import pytest

from tests.identities.sample import GEARED, LOOPS, PLATFORMS, TREES, case, close_to


def rate(c, q, v, a):
    """d(T + V)/dt along q' = N v, v' = a, by CasADi's derivatives."""
    e = c.equations
    energy = e.energies.kinetic + e.energies.potential
    a_symbol = ca.SX(ca.DM(a))
    along = ca.jtimes(energy, e.limbs.q, e.qdot) + ca.jtimes(energy, e.limbs.v, a_symbol)
    (value,) = c.evaluate([along], q, v)
    return value[0, 0]


@pytest.mark.parametrize("key", TREES + LOOPS + PLATFORMS + GEARED, ids=str)
def test_rate_is_power(key):
    """At consistent states: of the closing forces only those of prescribed motions do work, lam' c_t."""
    c = case(*key)
    q, v = c.closed()
    a, lam = c.accelerations(q, v)
    got = c.numbers(q, v)
    # terms of the sum are as large as all forces times all speeds
    size = 1 + abs(lam).max(initial=0) + abs(got["h"]).max() + abs(got["tau"]).max()
    work = lam @ got["c_t"][list(c.rows)]
    close_to(rate(c, q, v, a) / size, (got["power"][0] + work) / size, 1e-11)


@pytest.mark.parametrize("key", LOOPS + PLATFORMS, ids=str)
def test_rate_where_loops_slip(key):
    """Where the velocities do not keep the loops closed, the closing forces work against the slip: -lam' A v."""
    c = case(*key)
    q, _ = c.closed()
    v = c.anywhere()[1]
    a, lam = c.accelerations(q, v)
    got = c.numbers(q, v)
    slip = got["A"][list(c.rows)] @ v
    assert abs(lam @ slip) > 1e-3  # or the test would say nothing new
    size = 1 + abs(lam).max() + abs(got["h"]).max() + abs(got["tau"]).max()
    close_to(rate(c, q, v, a) / size, (got["power"][0] - lam @ slip) / size, 1e-11)
