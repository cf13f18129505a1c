"""A native function with the numbers of its formulation bound to it."""

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.march.program.compiled import compiled
from closedchain.native import compile_function
from closedchain.native.partial import WithNumbers
from closedchain.pose.state import parameter_vector


@pytest.fixture(scope="module")
def native():
    t, x, p = ca.SX.sym("t"), ca.SX.sym("x", 2), ca.SX.sym("p", 4)
    dx = ca.vertcat(p[0] * x[1] + t, p[1] * ca.sin(p[2]) * x[0] + p[3])
    return compile_function("bound", {"t": t, "x": x, "p": p}, {"dx": dx}, slow=("p",))


def test_numbers_follow_the_parameters(native, rng):
    p, numbers = rng.normal(size=3), rng.normal(size=1)
    bound = WithNumbers(native, numbers)
    whole = np.concatenate([p, numbers])
    x = rng.normal(size=(5, 2))
    np.testing.assert_array_equal(bound(0.3, x[0], p), native(0.3, x[0], whole))
    np.testing.assert_array_equal(bound.batch(np.arange(5.0), x, p), native.batch(np.arange(5.0), x, whole))
    np.testing.assert_array_equal(bound.prepare(p), native.prepare(whole))


def test_without_numbers_nothing_changes(native, rng):
    p, x = rng.normal(size=4), rng.normal(size=2)
    np.testing.assert_array_equal(WithNumbers(native, np.zeros(0))(0.1, x, p), native(0.1, x, p))


def test_two_can_share_one_function(native):
    """Neither sees the numbers of the other, whatever the order of the calls."""
    p, x = np.array([1.0, 2.0, np.pi / 2]), np.array([3.0, 4.0])
    one, two = (WithNumbers(native, np.array([number])) for number in (10.0, 20.0))
    assert [f(0.0, x, p)[1] for f in (one, two, one)] == [16.0, 26.0, 16.0]
    works = [f.prepare(p) for f in (one, two)]  # what an integrator is given
    assert not np.array_equal(*works)
    assert one.address == two.address == native.address
    assert one.counts is native.counts and one.output_shapes == native.output_shapes


def test_too_few_parameters_are_noticed(native):
    with pytest.raises(ValueError, match=r"input 'p' has to have the shape \(4, 1\) or \(4,\), got \(3,\)"):
        WithNumbers(native, np.array([1.0]))(0.0, np.zeros(2), np.zeros(2))


def test_a_program_keeps_its_own():
    start = cc.library.four_bar().assemble()
    one, two = (compiled(start, cc.VirtualSpring(k, 5.0)) for k in (1e3, 1e6))
    assert one.rhs.function is two.rhs.function
    assert one.rhs.numbers.tolist() == [1e3, 1e3, 5.0, 5.0] and two.rhs.numbers.tolist() == [1e6, 1e6, 5.0, 5.0]
    x, p = one.pack(start.q + 1e-3, start.v), parameter_vector(start.mechanism)
    slow, fast = (program.rhs(0.0, x, p)[-4:-1] for program in (one, two))
    # accelerations are linear in k: what is left without springs is common
    none = (1e6 * slow - 1e3 * fast) / (1e6 - 1e3)
    np.testing.assert_allclose((fast - none) / (slow - none), 1e3, rtol=1e-9)
