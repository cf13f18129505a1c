"""The rate of kinetic and potential energy is the power of what has no potential, with everything acting at once."""

import pytest

from closedchain.testing.measured import close_to
from closedchain.testing.terms import energy_rate, rate_is_power
from tests.identities.sample import GEARED, LOOPS, PLATFORMS, TREES, case


@pytest.mark.parametrize("key", TREES + LOOPS + PLATFORMS + GEARED, ids=str)
def test_rate_is_power(key):
    """At consistent states: of the closing forces only those of prescribed motions do work, lam' c_t."""
    c = case(*key)
    q, v = c.closed()
    close_to(*rate_is_power(c, q, v), 1e-11)


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
    close_to(energy_rate(c, q, v, a) / size, (got["power"][0] - lam @ slip) / size, 1e-11)
