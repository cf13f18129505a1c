"""Quaternions keep their length: their rate is tangent to the sphere, and a run puts them back, however loops close."""

from functools import cache

import numpy as np
import pytest

import closedchain as cc
from tests.identities.sample import LOOPS, TREES, Case, case
from tests.random_mechanisms import draw
from tests.solvers import stepping


def quaternions(topology):
    return [slice(k.q.stop - 4, k.q.stop) for k in topology.links if k.joint.type.has_quaternion]


@pytest.mark.parametrize("key", TREES + LOOPS, ids=str)
def test_rate_is_tangent(key):
    """At any length, not only one: the length never changes."""
    c = case(*key)
    q, v = c.anywhere()
    rng = np.random.default_rng(c.seed)
    for four in quaternions(c.topology):
        q[four] *= rng.uniform(0.5, 2)
    qdot = c.numbers(q, v)["qdot"]
    for four in quaternions(c.topology):
        assert abs(q[four] @ qdot[four]) < 1e-14


@cache
def tumbling(acting):
    """Two ball joints and a hinge, closed to the ground by a Hooke joint."""
    kinds = ("free", "spherical", "revolute")
    return Case(draw(405, bodies=3, loops=1, branching=0.0, kinds=kinds, closing=("universal",), acting=acting), 405)


def run(acting, stabilise, **options):
    c = tumbling(acting)
    start = cc.State(c.mechanism, *c.closed())
    return cc.simulate(c.mechanism, start, until=0.5, method=cc.Multipliers(stabilise), rtol=1e-6, **options)


@pytest.mark.parametrize(
    "stabilise", ["projection", "none", cc.Baumgarte(10.0)], ids=["projection", "none", "baumgarte"]
)
@pytest.mark.parametrize("solver", ["dopri5", "rk4"])
def test_length_in_a_run(stabilise, solver):
    topology = tumbling(True).topology
    assert len(quaternions(topology)) == 2
    # a step of 2 ms is finer than those that the adaptive solver takes
    result = run(True, stabilise, solver=stepping(solver, 2e-3))
    x = result.x
    for four in quaternions(topology):
        # put back at every step and every sample: rounding only
        np.testing.assert_allclose(np.linalg.norm(x[:, four], axis=1), 1, rtol=0, atol=1e-15)
        assert np.abs(x[:, four] - x[0, four]).max() > 0.2  # it did tumble


@pytest.mark.parametrize("solver", ["dopri5", "dop853"])
def test_putting_back_does_not_spoil_the_error_control(solver):
    """The loop closed at every step costs no more steps than the same motion left to drift."""
    kept, drifting = (run(False, stabilise, solver=solver).counts for stabilise in ("projection", "none"))
    assert kept.steps <= drifting.steps + 2
    assert kept.rejections <= drifting.rejections + 2
