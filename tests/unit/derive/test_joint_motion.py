"""Every joint type, both ways round: pose, motion space, rates and bias, against written-out poses and differences."""

import casadi as ca
import numpy as np
import pytest

from closedchain.derive.joint_motion import joint_motion, quaternion_rate, rotation, turn
from closedchain.model.joints.types import JOINT_TYPES
from tests.identities.independent import STEP, inverse, joint_pose, joint_rate, rotate, rotation_of, unskew
from tests.random_mechanisms import coordinates

PITCH = 0.35  # m per turn

every_joint = pytest.mark.parametrize("name", JOINT_TYPES)
both_ways = pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])


def traced(name, backwards):
    kind = JOINT_TYPES[name]
    q, v = ca.SX.sym("q", kind.nq), ca.SX.sym("v", kind.nv)
    motion = joint_motion(kind, q, v, ca.SX(PITCH / (2 * np.pi)), backwards)
    Phi, bias = ca.vertcat(*motion.Phi), ca.vertcat(*motion.bias)
    return ca.Function(name, [q, v], [ca.densify(x) for x in (motion.X.R, motion.X.r, Phi, bias, motion.qdot)])


def numbers(name, backwards, q, v):
    R, r, Phi, bias, qdot = (np.array(x) for x in traced(name, backwards)(q, v))
    return R, r[:, 0], Phi, bias[:, 0], qdot[:, 0]


def pose_of(name, backwards, q):
    T = joint_pose(name, q, PITCH)
    return inverse(T) if backwards else T


@every_joint
@both_ways
def test_pose(name, backwards, rng):
    q = coordinates(rng, name)
    R, r, *_ = numbers(name, backwards, q, np.zeros(JOINT_TYPES[name].nv))
    T = pose_of(name, backwards, q)
    np.testing.assert_allclose(R, T[:3, :3], atol=1e-15)
    np.testing.assert_allclose(r, T[:3, 3], atol=1e-15)


@every_joint
def test_frames_coincide_at_zero(name):
    kind = JOINT_TYPES[name]
    q = np.zeros(kind.nq)
    if kind.has_quaternion:
        q[-4] = 1.0
    R, r, *_ = numbers(name, False, q, np.zeros(kind.nv))
    assert (np.eye(3) == R).all() and (r == 0).all()


@every_joint
@both_ways
def test_motion_space(name, backwards, rng):
    """Twist of the child in the parent, in the child's frame, by a complex step of the written-out pose."""
    kind = JOINT_TYPES[name]
    for _ in range(5):
        q, v = coordinates(rng, name), rng.normal(size=kind.nv)
        _, _, Phi, _, qdot = numbers(name, backwards, q, v)
        np.testing.assert_allclose(qdot, joint_rate(name, q, v), atol=1e-15)
        T = pose_of(name, backwards, q)
        d = pose_of(name, backwards, q + 1j * STEP * qdot).imag / STEP if kind.nv else np.zeros((4, 4))
        twist = np.concatenate([unskew(T[:3, :3].T @ d[:3, :3]), T[:3, :3].T @ d[:3, 3]])
        np.testing.assert_allclose(Phi @ v, twist, atol=1e-14)
        assert np.linalg.matrix_rank(Phi) == kind.nv


@every_joint
@both_ways
def test_bias(name, backwards, rng):
    """d(Phi)/dt v by a central difference of second order, refined once (Richardson): about 1e-10."""
    q, v = coordinates(rng, name), rng.normal(size=JOINT_TYPES[name].nv)
    *_, bias, qdot = numbers(name, backwards, q, v)

    def twist(s):
        return numbers(name, backwards, q + s * qdot, v)[2] @ v

    coarse, fine = ((twist(h) - twist(-h)) / (2 * h) for h in (2e-3, 1e-3))
    np.testing.assert_allclose(bias, (4 * fine - coarse) / 3, atol=1e-9)


@every_joint
def test_backwards_is_the_same_motion(name, rng):
    """The child seen from the parent and the parent seen from the child move oppositely."""
    q, v = coordinates(rng, name), rng.normal(size=JOINT_TYPES[name].nv)
    R, r, Phi, _, rate = numbers(name, False, q, v)
    R_back, r_back, Phi_back, _, rate_back = numbers(name, True, q, v)
    np.testing.assert_allclose(R_back @ R, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(r_back + R_back @ r, 0, atol=1e-14)
    w, u = (Phi @ v)[:3], (Phi @ v)[3:]
    np.testing.assert_allclose((Phi_back @ v)[:3], -R @ w, atol=1e-14)
    np.testing.assert_allclose((Phi_back @ v)[3:], -(R @ u + np.cross(r, R @ w)), atol=1e-14)
    assert (rate == rate_back).all()


@pytest.mark.parametrize(
    ("name", "entries"),
    [("revolute", 1), ("prismatic", 1), ("cylindrical", 2), ("screw", 2), ("spherical", 3), ("free", 6), ("weld", 0)],
)
def test_constant_motion_spaces_cost_nothing(name, entries):
    kind = JOINT_TYPES[name]
    q, v = ca.SX.sym("q", kind.nq), ca.SX.sym("v", kind.nv)
    motion = joint_motion(kind, q, v, ca.SX.sym("pitch"), False)
    assert sum(part.nnz() for part in motion.Phi) == entries
    assert sum(part.nnz() for part in motion.bias) == 0


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_turn(axis, rng):
    angle = rng.uniform(-3, 3)
    np.testing.assert_allclose(ca.evalf(turn(axis, ca.SX(angle))).full(), rotate(np.eye(3)[axis], angle), atol=1e-15)


def test_rotation_of_a_quaternion(rng):
    four = rng.normal(size=4)
    four /= np.linalg.norm(four)
    R = ca.evalf(rotation(ca.SX(four))).full()
    np.testing.assert_allclose(R, rotation_of(four), atol=1e-15)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
    # half the angle in the quaternion, whole in the matrix
    turned = ca.evalf(rotation(ca.SX([np.cos(0.4), 0, 0, np.sin(0.4)]))).full()
    np.testing.assert_allclose(turned, rotate([0, 0, 1], 0.8), atol=1e-15)


def test_rate_of_a_quaternion(rng):
    """R' = R skew(w) with w in the turning frame, and the length is kept at any length."""
    four, w = rng.normal(size=4), rng.normal(size=3)
    unit = four / np.linalg.norm(four)
    rate = ca.evalf(quaternion_rate(ca.SX(unit), ca.SX(w))).full()[:, 0]
    d = rotation_of(unit + 1j * STEP * rate).imag / STEP
    np.testing.assert_allclose(unskew(rotation_of(unit).T @ d), w, atol=1e-14)
    long = ca.evalf(quaternion_rate(ca.SX(four), ca.SX(w))).full()[:, 0]
    assert abs(four @ long) < 1e-14
