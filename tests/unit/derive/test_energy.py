"""Energies of a double pendulum by their formulas."""

import numpy as np

from tests.unit.derive import planar


def test_kinetic(rng):
    q, v = rng.uniform(-3, 3, 2), rng.normal(size=2)
    (T,) = planar.numbers(planar.double_pendulum(), lambda e: [e.energies.kinetic], q, v)
    np.testing.assert_allclose(T, v @ planar.inertia(q) @ v / 2, rtol=1e-14)


def test_gravity(rng):
    """Height of the centres of mass above the origin of the world."""
    q = rng.uniform(-3, 3, 2)
    (V,) = planar.numbers(planar.double_pendulum(), lambda e: [e.energies.potential], q, np.zeros(2))
    tip = planar.L1 * np.sin(q[0])
    height = planar.M1 * tip / 2 + planar.M2 * (tip + planar.L2 / 2 * np.sin(q[0] + q[1]))
    np.testing.assert_allclose(V, planar.G * height, rtol=1e-13)


def test_nothing_moves_nothing_falls():
    (T,) = planar.numbers(planar.double_pendulum(), lambda e: [e.energies.kinetic], np.ones(2), np.zeros(2))
    assert T == 0
