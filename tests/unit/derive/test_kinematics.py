"""The tip of a double pendulum by its formulas; frames on the ground; motion seen from a link."""

import numpy as np

from closedchain.derive.equations import derive
from closedchain.derive.kinematics import kinematics
from tests.unit.derive import planar
from tests.unit.derive.planar import L1, L2, G


def tip_terms(e):
    m = e.motion.frame(e.topology.mechanism.bodies["lower"]["tip"])
    return [m.X.r, m.X.R, m.velocity.ang, m.velocity.lin, m.bias.lin, m.J.lin, m.J.ang]


def test_tip_of_a_double_pendulum(rng):
    q, v = rng.uniform(-3, 3, 2), rng.normal(size=2)
    r, R, w, vel, bias, J, J_w = planar.numbers(planar.double_pendulum(), tip_terms, q, v)
    c1, s1, c12, s12 = np.cos(q[0]), np.sin(q[0]), np.cos(q.sum()), np.sin(q.sum())
    np.testing.assert_allclose(r[:, 0], [L1 * c1 + L2 * c12, L1 * s1 + L2 * s12, 0], atol=1e-15)
    np.testing.assert_allclose(R, [[c12, -s12, 0], [s12, c12, 0], [0, 0, 1]], atol=1e-15)
    np.testing.assert_allclose(w[:, 0], [0, 0, v.sum()], atol=1e-15)
    wanted = np.array([[-L1 * s1 - L2 * s12, -L2 * s12], [L1 * c1 + L2 * c12, L2 * c12], [0, 0]])
    np.testing.assert_allclose(J, wanted, atol=1e-15)
    np.testing.assert_allclose(J_w, [[0, 0], [0, 0], [1, 1]])
    np.testing.assert_allclose(vel[:, 0], wanted @ v, atol=1e-14)
    # centripetal accelerations, and the root that falls upwards in place of gravity
    radial = L1 * v[0] ** 2 * np.array([c1, s1, 0]) + L2 * v.sum() ** 2 * np.array([c12, s12, 0])
    np.testing.assert_allclose(bias[:, 0], [0, G, 0] - radial, atol=1e-13)


def test_planar_motion_costs_planar_arithmetic():
    e = derive(planar.double_pendulum())
    m = e.motion.frame(e.topology.mechanism.bodies["lower"]["tip"])
    assert m.X.r.nnz() == 2 and m.X.R.nnz() == 5
    assert m.velocity.ang.nnz() == 1 and m.velocity.lin.nnz() == 2
    assert m.J.lin.nnz() == 4 and m.J.ang.nnz() == 2


def test_frames_on_the_ground_stay(rng):
    m = planar.double_pendulum()
    frame = m.ground.at(1, 2, 3)

    def outputs(e):
        f = e.motion.frame(frame)
        return [f.X.r, f.velocity.lin, f.J.lin, f.bias.lin - e.motion.root_bias.lin]

    r, v, J, a = planar.numbers(m, outputs, rng.normal(size=2), rng.normal(size=2))
    assert r[:, 0].tolist() == [1, 2, 3]
    assert not v.any() and not J.any() and not a.any()


def test_seen_from_a_link(rng):
    """Relative to the upper rod the lower one turns about B with its own angle, and gravity is no part of it."""
    q, v = rng.uniform(-3, 3, 2), rng.normal(size=2)

    def outputs(e):
        seen = kinematics(e.limbs, root=0).frame(e.topology.mechanism.bodies["lower"]["tip"])
        return [seen.X.r, seen.velocity.lin, seen.bias.lin, seen.J.lin, seen.J.ang]

    r, vel, bias, J, J_w = planar.numbers(planar.double_pendulum(), outputs, q, v)
    c, s = np.cos(q[1]), np.sin(q[1])
    np.testing.assert_allclose(r[:, 0], [L1 + L2 * c, L2 * s, 0], atol=1e-15)
    np.testing.assert_allclose(vel[:, 0], L2 * v[1] * np.array([-s, c, 0]), atol=1e-15)
    np.testing.assert_allclose(bias[:, 0], -L2 * v[1] ** 2 * np.array([c, s, 0]), atol=1e-14)
    np.testing.assert_allclose(J, [[0, -L2 * s], [0, L2 * c], [0, 0]], atol=1e-15)
    np.testing.assert_allclose(J_w, [[0, 0], [0, 0], [0, 1]])
