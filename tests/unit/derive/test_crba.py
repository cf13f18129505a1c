"""The inertia matrix of a double pendulum, and its structure in branches and limbs."""

import numpy as np

import closedchain as cc
from closedchain.derive.equations import derive
from tests.random_mechanisms import shape
from tests.unit.derive import planar


def test_double_pendulum(rng):
    q = rng.uniform(-3, 3, 2)
    (M,) = planar.numbers(planar.double_pendulum(), lambda e: [e.M], q, np.zeros(2))
    np.testing.assert_allclose(M, planar.inertia(q), rtol=1e-14)


def branched(rng):
    """b1 carries b2 and b3; b4 is a limb of its own."""
    m = cc.Mechanism("tree")
    b = [m.body(f"b{i}", shape(rng)) for i in range(1, 5)]
    m.revolute("j1", m.ground, b[0])
    m.spherical("j2", b[0].at(1, 0, 0), b[1])
    m.cylindrical("j3", b[0].at(0, 1, 0), b[2])
    m.universal("j4", m.ground, b[3])
    return m


def test_no_entries_between_branches(rng):
    """Links that do not hang on each other share no entry, so elimination never meets them."""
    e = derive(branched(rng))
    at = {k.joint.name: k.v for k in e.topology.links}
    for one, other in (("j2", "j3"), ("j1", "j4"), ("j2", "j4"), ("j3", "j4")):
        assert e.M[at[one], at[other]].nnz() == 0
        assert e.M[at[other], at[one]].nnz() == 0
    assert e.M[at["j1"], at["j2"]].nnz() == 3
    assert e.M.is_square() and e.M.sparsity().is_symmetric()


def test_a_welded_body_adds_its_inertia(rng):
    """Two bodies welded together are one body with the sum of their inertias about any point."""
    m = cc.Mechanism("welded")
    rod = m.body("rod", cc.rod(length=1.0, mass=2.0))
    bob = m.body("bob", cc.point_mass(3.0))
    m.revolute("A", m.ground, rod)
    m.weld("W", rod.tip, bob)
    (M,) = planar.numbers(m, lambda e: [e.M], np.zeros(1), np.zeros(1))
    np.testing.assert_allclose(M, [[2.0 / 3 + 3.0]], rtol=1e-14)


def test_a_free_body_shows_its_own_matrix():
    """Motion space of a free joint is the identity: M is the 6 x 6 inertia about the joint's origin."""
    m = cc.Mechanism("free")
    m.free("f", m.ground, m.body("b", cc.rigid(2.0, (0.1, 0.2, 0.3), (1.0, 1.1, 1.2))))
    (M,) = planar.numbers(m, lambda e: [e.M], [0, 0, 0, 1, 0, 0, 0], np.zeros(6))
    c = np.array([0.1, 0.2, 0.3])
    S = np.array([[0, -c[2], c[1]], [c[2], 0, -c[0]], [-c[1], c[0], 0]])
    wanted = np.block([[np.diag([1.0, 1.1, 1.2]) - 2 * S @ S, 2 * S], [-2 * S, 2 * np.eye(3)]])
    np.testing.assert_allclose(M, wanted, atol=1e-15)
