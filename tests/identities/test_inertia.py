"""The inertia matrix: sum of J'IJ, symmetric, positive definite, columns of inverse dynamics, metric of the energy."""

import casadi as ca
import numpy as np
import pytest

from closedchain.derive.rnea import rnea
from closedchain.pose.state import parameter_vector
from closedchain.testing.measured import close_to
from closedchain.testing.terms import TIME
from tests.identities.independent import Independent
from tests.identities.sample import LOOPS, TREES, case

KEYS = TREES + LOOPS

pytestmark = pytest.mark.parametrize("key", KEYS, ids=str)


def test_sum_of_bodies(key):
    c = case(*key)
    for which in range(3):
        q, v = c.anywhere(which)
        # exact Jacobians on both sides: rounding only
        close_to(c.numbers(q, v)["M"], c.independent.inertia_matrix(q), 1e-13)


def test_symmetric_and_positive(key):
    c = case(*key)
    M = c.numbers(*c.anywhere())["M"]
    assert (M == M.T).all()  # one triangle is computed, the other copied
    eigenvalues = np.linalg.eigvalsh(M)
    assert eigenvalues[0] > 0


def test_columns_from_inverse_dynamics(key):
    """tau(a = e_k) - tau(a = 0) is column k of M, at any velocity and with anything acting."""
    c = case(*key)
    e = c.equations
    q, v = c.anywhere()
    n = c.topology.nv
    a = ca.SX.sym("a", n)
    torques = rnea(e.limbs, e.motion, e.applied.wrenches, a) - e.h
    f = ca.Function("torques", [*e.symbols.values(), a], [torques])
    got = [np.array(f(TIME, q, v, c.p, np.eye(n)[k])) for k in range(n)]
    numbers = c.numbers(q, v)
    # a difference of terms of the size of h
    scale = max(1.0, np.abs(numbers["h"]).max())
    close_to(np.hstack(got), numbers["M"], 1e-13 * scale)


def test_kinetic_energy(key):
    c = case(*key)
    q, v = c.anywhere()
    numbers = c.numbers(q, v)
    np.testing.assert_allclose(numbers["kinetic"][0], v @ numbers["M"] @ v / 2, rtol=1e-12)


def test_numbers_are_parameters(key):
    """Other masses, lengths and pitches without tracing again give what a new drawing with those numbers would."""
    c = case(*key)
    q, v = c.anywhere()
    rng = np.random.default_rng([c.seed, 3])
    changed = {name: x * rng.uniform(0.7, 1.4) for name, x in c.mechanism.parameters.items()}
    other = Independent(c.topology, changed)
    got = c.numbers(q, v, parameter_vector(c.mechanism, changed))
    close_to(got["M"], other.inertia_matrix(q), 1e-13)
