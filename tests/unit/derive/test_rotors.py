"""A rotor adds inertia ratio^2 to the joint it turns with, in the tree and at a cut."""

import numpy as np
import pytest

import closedchain as cc
from tests.unit.derive.planar import numbers


def test_in_the_tree():
    m = cc.Mechanism("geared")
    m.revolute("A", m.ground, m.body("rod", cc.rod(length=1.0, mass=3.0)))
    m.rotor("A", 0.02, ratio=5.0)
    M, T = numbers(m, lambda e: [e.M, e.energies.kinetic], [0.3], [2.0])
    assert M[0, 0] == pytest.approx(1.0 + 0.5, rel=1e-14)
    assert T[0, 0] == pytest.approx(1.5 * 2.0**2 / 2, rel=1e-14)


def told_to():
    """Two rods of a roof, cut at the ridge, with a rotor on that joint."""
    m = cc.Mechanism("roof", gravity=(0, 0, 0))
    left, right = m.body("left", cc.rod(length=1.0, mass=3.0)), m.body("right", cc.rod(length=1.0, mass=3.0))
    m.revolute("A", m.ground, left)
    m.revolute("B", m.ground.at(1, 0, 0), right)
    m.revolute("C", left.tip, right.tip, cut=True)
    return m


def test_at_a_cut():
    """Its speed is the difference of the two, so it couples the limbs."""
    m = told_to()
    m.rotor("C", 0.1, ratio=2.0)
    M, h, T = numbers(m, lambda e: [e.M, e.h, e.energies.kinetic], [0.5, 1.5], [0.2, 0.7])
    np.testing.assert_allclose(M, [[1.4, -0.4], [-0.4, 1.4]], rtol=1e-13)
    np.testing.assert_allclose(h, 0, atol=1e-14)
    assert T[0, 0] == pytest.approx((0.2**2 + 0.7**2 + 0.4 * 0.5**2) / 2, rel=1e-13)


def test_several_add_up():
    m = told_to()
    m.rotor("A", 0.1)
    m.rotor("A", 0.2, ratio=m.parameter("gear", 3.0))
    (M,) = numbers(m, lambda e: [e.M], [0.5, 1.5], [0.0, 0.0])
    np.testing.assert_allclose(M, np.diag([1.0 + 0.1 + 1.8, 1.0]), rtol=1e-13)
