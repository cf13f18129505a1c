"""Linear systems along a structure agree with NumPy's, real and complex."""

import numba
import numpy as np
import pytest

from closedchain.integrate import linear
from closedchain.integrate.structure import structure

_F = numba.types.CPointer(numba.float64)


@numba.cfunc(numba.void(_F, _F, _F, _F, _F))
def from_parameters(t, x, w, entries, rate):
    """A Jacobian whose entries are parameters; w[0] tells how many, x how fast they grow."""
    for i in range(int(w[0])):
        entries[i] = w[1 + i] * x[0]
    rate[0] = t[0]


def random_case(seed, n, coordinates, density=0.6):
    """A pattern with what mechanisms have: rates of coordinates without themselves, a last column of zeros."""
    rng = np.random.default_rng(seed)
    pattern = rng.random((n, n)) < density
    pattern[:coordinates, :coordinates] = False
    pattern[:, -1] = False
    J = np.where(pattern, rng.normal(size=(n, n)), 0.0)
    plan = structure(pattern, range(coordinates))
    room = linear.room(plan, n)
    w = np.concatenate([[plan.entries[0]], J.T[pattern.T]])
    assert linear.evaluate(from_parameters.address, np.array([3.0]), np.ones(n), w, plan, room)
    assert room.rate[0] == 3.0
    return rng, J, plan, room


CASES = [(1, 2, 1), (2, 3, 0), (3, 8, 3), (4, 8, 4), (5, 21, 10), (6, 50, 24)]


@pytest.mark.parametrize(("seed", "n", "coordinates"), CASES)
@pytest.mark.parametrize("g", [0.3, -7.0, 1e4])
def test_real(seed, n, coordinates, g):
    rng, J, plan, room = random_case(seed, n, coordinates)
    r = rng.normal(size=n)
    z = r.copy()
    assert linear.factor(plan, room, room.real, room.pivots[0], g)
    linear.solve(plan, room, room.real, room.pivots[0], g, z, room.b)
    A = g * np.eye(n) - J
    # backward stable: the residual is small beside the sizes of matrix and solution; pivots may be 0.1 of the largest
    assert np.abs(A @ z - r).max() < 1e-12 * np.abs(A).sum(axis=1).max() * np.abs(z).max()


@pytest.mark.parametrize(("seed", "n", "coordinates"), CASES)
@pytest.mark.parametrize("g", [0.3 + 0.5j, -7.0 - 2.0j, 1e4 + 1e4j])
def test_complex(seed, n, coordinates, g):
    rng, J, plan, room = random_case(seed, n, coordinates)
    r = rng.normal(size=n) + 1j * rng.normal(size=n)
    z = r.copy()
    assert linear.factor(plan, room, room.complex, room.pivots[1], g)
    linear.solve(plan, room, room.complex, room.pivots[1], g, z, room.c)
    A = g * np.eye(n) - J
    assert np.abs(A @ z - r).max() < 1e-12 * np.abs(A).sum(axis=1).max() * np.abs(z).max()


def test_pivots_are_needed():
    """A zero on the diagonal of ``g I - J``."""
    J = np.array([[1.0, 2.0], [3.0, 1.0]])
    plan = structure(np.ones((2, 2), bool))
    room = linear.room(plan, 2)
    w = np.concatenate([[4.0], J.T.ravel()])
    assert linear.evaluate(from_parameters.address, np.zeros(1), np.ones(2), w, plan, room)
    assert linear.factor(plan, room, room.real, room.pivots[0], 1.0)
    z = np.array([2.0, 9.0])
    linear.solve(plan, room, room.real, room.pivots[0], 1.0, z, room.b)
    np.testing.assert_allclose(z, [-3.0, -1.0], rtol=1e-15)


def test_a_good_diagonal_stays_the_pivot():
    """So that the order is followed: twice as large an entry below is no reason to leave it."""
    J = np.array([[0.0, 1.0], [2.0, 5.0]])
    plan = structure(np.ones((2, 2), bool))
    room = linear.room(plan, 2)
    linear.evaluate(from_parameters.address, np.zeros(1), np.ones(2), np.array([4.0, *J.T.ravel()]), plan, room)
    assert linear.factor(plan, room, room.real, room.pivots[0], 1.0)
    np.testing.assert_array_equal(room.pivots[0], [0, 1])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_jacobian_that_is_not_finite(value):
    plan = structure(np.ones((1, 1), bool))
    room = linear.room(plan, 1)
    assert not linear.evaluate(from_parameters.address, np.zeros(1), np.ones(1), np.array([1.0, value]), plan, room)


def test_singular():
    plan = structure(np.ones((2, 2), bool))
    room = linear.room(plan, 2)
    w = np.array([4.0, 1.0, 1.0, 1.0, 1.0])
    assert linear.evaluate(from_parameters.address, np.zeros(1), np.ones(2), w, plan, room)
    assert not linear.factor(plan, room, room.real, room.pivots[0], 2.0)
    assert linear.factor(plan, room, room.real, room.pivots[0], 1.0)


def test_steps_so_long_that_the_elimination_would_lose_digits():
    """q' = v by hand divides by g: not where g is tiny."""
    plan = structure(np.array([[0, 1], [1, 1]], bool), coordinates=[0])
    room = linear.room(plan, 2)
    linear.evaluate(from_parameters.address, np.zeros(1), np.ones(2), np.array([3.0, -1.0, 1.0, -1.0]), plan, room)
    assert linear.factor(plan, room, room.real, room.pivots[0], 1e-3)
    assert not linear.factor(plan, room, room.real, room.pivots[0], 1e-5)


@pytest.mark.parametrize(("free", "held"), [(2, 1), (5, 2), (12, 8)])
@pytest.mark.parametrize("g", [0.3, 1e4])
def test_algebraic_states(free, held, g):
    """The pattern of a mechanism with multipliers: ``[M A'; A 0]``, and coordinates that are eliminated by hand.

    A multiplier has no entry in its diagonal, neither of E nor of J.
    """
    rng = np.random.default_rng(free)
    n = 2 * free + held + 1
    v, lam = slice(free, 2 * free), slice(2 * free, n - 1)
    J = np.zeros((n, n))
    J[:free, v] = np.eye(free)
    J[v, : 2 * free] = rng.normal(size=(free, 2 * free))
    A = rng.normal(size=(held, free))
    J[v, lam], J[lam, v] = A.T, A
    J[-1, :free] = rng.normal(size=free)
    pattern = J != 0
    plan = structure(pattern, range(free), algebraic=range(2 * free, n - 1))
    np.testing.assert_array_equal(plan.mass, np.append(np.repeat([1.0, 0.0], [2 * free, held]), 1.0))
    room = linear.room(plan, n)
    w = np.concatenate([[plan.entries[0]], J.T[pattern.T]])
    assert linear.evaluate(from_parameters.address, np.zeros(1), np.ones(n), w, plan, room)
    for shift, factors, pivots, b in (
        (g, room.real, room.pivots[0], room.b),
        (g + 0.7j * g, room.complex, room.pivots[1], room.c),
    ):
        r = rng.normal(size=n).astype(factors.dtype)
        z = r.copy()
        assert linear.factor(plan, room, factors, pivots, shift)
        linear.solve(plan, room, factors, pivots, shift, z, b)
        matrix = shift * np.diag(plan.mass) - J
        # backward stable, as above
        assert np.abs(matrix @ z - r).max() < 1e-12 * np.abs(matrix).sum(axis=1).max() * np.abs(z).max()
