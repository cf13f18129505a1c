"""Inverse dynamics of a double pendulum by its textbook equations, with and without accelerations and wrenches."""

import casadi as ca
import numpy as np

from closedchain.derive.rnea import rnea
from closedchain.derive.spatial import Vector6
from tests.unit.derive import planar


def test_bias_of_a_double_pendulum(rng):
    q, v = rng.uniform(-3, 3, 2), rng.normal(size=2)
    (h,) = planar.numbers(planar.double_pendulum(), lambda e: [e.h], q, v)
    np.testing.assert_allclose(h[:, 0], planar.bias(q, v), rtol=1e-13)


def test_with_accelerations(rng):
    q, v, a = rng.uniform(-3, 3, 2), rng.normal(size=2), rng.normal(size=2)
    (tau,) = planar.numbers(planar.double_pendulum(), lambda e: [rnea(e.limbs, e.motion, {}, ca.SX(a))], q, v)
    np.testing.assert_allclose(tau[:, 0], planar.inertia(q) @ a + planar.bias(q, v), rtol=1e-13)


def test_zero_accelerations_are_none(rng):
    q, v = rng.uniform(-3, 3, 2), rng.normal(size=2)

    def both(e):
        return [rnea(e.limbs, e.motion, {}), rnea(e.limbs, e.motion, {}, ca.SX.zeros(2, 1))]

    without, zero = planar.numbers(planar.double_pendulum(), both, q, v)
    np.testing.assert_allclose(zero, without, rtol=1e-15)


def test_a_wrench_is_held_up(rng):
    """In the link's frame, about its origin; on the left side, so with a minus sign."""
    q = rng.uniform(-3, 3, 2)
    push = Vector6(ca.SX([0, 0, 0.4]), ca.SX([0.3, 0.5, 0]))

    def outputs(e):
        return [rnea(e.limbs, e.motion, {1: push}) - rnea(e.limbs, e.motion, {})]

    (change,) = planar.numbers(planar.double_pendulum(), outputs, q, np.zeros(2))
    # moment about B is 0.4; about A the force acts at the tip of the upper rod
    c, s = np.cos(q[1]), np.sin(q[1])
    across = s * 0.3 + c * 0.5
    np.testing.assert_allclose(change[:, 0], [-(0.4 + planar.L1 * across), -0.4], rtol=1e-13)
