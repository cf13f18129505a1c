"""Coordinates and velocities of cut joints equal those that made the pose; of joints in the tree they are q and v."""

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.derive.measure import measure, quaternion
from closedchain.model.joints.types import JOINT_TYPES, joint_type
from tests.identities.independent import Independent, joint_rate, quaternion_of, rotate, rotation_of
from tests.random_mechanisms import random_rotation, shape
from tests.unit.derive.cut_pair import cut_pair

CLOSING = [name for name, kind in JOINT_TYPES.items() if kind.closure]
WRAPPING = ["revolute", "cylindrical", "universal", "planar"]

every_cut = pytest.mark.parametrize("kind", CLOSING)


def test_every_joint_can_be_measured():
    """A free joint locks nothing, but a loop may leave it over: then its coordinates are asked for all the same."""
    m = cc.Mechanism("an arm whose hand is watched")
    arm = m.body("arm", cc.rod(length=1.0, mass=1.0, radius=0.1))
    m.revolute("shoulder", m.ground, arm)
    m.motor("shoulder", 1.0)
    m.free("pose", m.ground, arm.tip)
    start = m.assemble(shoulder=0.5)
    expected = [np.cos(0.5), np.sin(0.5), 0, np.cos(0.25), 0, 0, np.sin(0.25)]
    labels = [f"pose.{x}" for x in ("x", "y", "z", "qw", "qx", "qy", "qz")]
    np.testing.assert_allclose([start[x] for x in labels], expected, atol=1e-11)


@every_cut
def test_coordinates_that_made_the_pose(kind, rng):
    pair = cut_pair(kind)
    for _ in range(10):
        q = pair.random(rng)
        measured = pair.at(pair.allowed(q), rng)[2]
        if kind == "spherical" and q[0] < 0:
            q = -q  # the same orientation; the measured one has w >= 0
        np.testing.assert_allclose(measured, q, atol=1e-12)


@every_cut
def test_velocities_that_made_the_motion(kind, rng):
    """The joint moves with v and the two bodies follow: the measured velocities are v again."""
    pair = cut_pair(kind)
    for _ in range(5):
        q, v = pair.random(rng), rng.normal(size=pair.kind.nv)
        state = np.random.default_rng(1)

        def place(s, q=q, v=v):
            return pair.place(pair.allowed(q + s * joint_rate(kind, q, v)), np.random.default_rng(1))

        here = pair.place(pair.allowed(q), state)
        # velocities of the floating bodies, from central differences of their poses: about 1e-10
        h = 1e-5
        T0, T1, T = (Independent(pair.topology).poses(x) for x in (place(-h), place(h), here))
        twist = []
        for link in pair.topology.links:
            R = T[link.body.name][:3, :3]
            d = (T1[link.body.name] - T0[link.body.name]) / (2 * h)
            W = R.T @ d[:3, :3]
            twist += [(W[2, 1] - W[1, 2]) / 2, (W[0, 2] - W[2, 0]) / 2, (W[1, 0] - W[0, 1]) / 2, *(R.T @ d[:3, 3])]
        _, A, _, J = pair.numbers(here)
        np.testing.assert_allclose(J @ twist, v, atol=1e-8)
        np.testing.assert_allclose(A @ twist, 0, atol=1e-8)


@every_cut
def test_together_with_the_closure_nothing_is_left_out(kind, rng):
    """Rows that are locked and velocities that are free: a full set of six."""
    pair = cut_pair(kind)
    _, A, _, J = pair.at(pair.allowed(pair.random(rng)), rng)
    singular = np.linalg.svd(np.vstack([A, J]), compute_uv=False)
    assert len(singular) == 6 and singular[-1] > 0.05


def test_joints_in_the_tree_are_read_off(rng):
    m = cc.Mechanism("chain")
    one, two = m.body("one", shape(rng)), m.body("two", shape(rng))
    first, second = m.cylindrical("first", m.ground, one), m.spherical("second", one, two)
    e = derive(m)
    f = e.function(
        "f",
        {
            "q1": e.measures.coordinates(first),
            "q2": e.measures.coordinates(second),
            "v1": e.measures.velocities(first),
            "v2": e.measures.velocities(second),
        },
    )
    q, v = rng.normal(size=6), rng.normal(size=5)
    got = [np.array(x)[:, 0].tolist() for x in f(0, q, v, list(m.parameters.values()))]
    assert got == [q[:2].tolist(), q[2:].tolist(), v[:2].tolist(), v[2:].tolist()]


def test_a_joint_may_say_how_it_is_measured():
    """And must, where its motions do not tell."""
    with pytest.raises(cc.ModelError, match=r"'odd'.* cannot be derived from its motions Rz Tx Rz.*measure="):
        measure(joint_type("odd", "Rz:0 Tx:1 Rz:2", "a b c", closure=("tz", "align")))
    own = lambda R_P, R_S, d, pitch: d  # noqa: E731
    assert measure(joint_type("odd", "Rz:0 Tx:1 Rz:2", "a b c", closure=("tz", "align"), measure=own)) is own


@pytest.mark.parametrize("kind", WRAPPING)
def test_angles_are_measured_in_the_turn_next_to_their_counter(kind, rng):
    """The pose decides the angle, the counter only its turn: it may be off by anything less than half a turn."""
    pair = cut_pair(kind)
    angles = [counter.index for counter in pair.topology.counters]
    assert angles == [i for i in range(pair.kind.nq) if pair.kind.wraps(i)]
    for turns in (-3, 0, 1, 40):
        q = pair.random(rng)
        q[angles] += 2 * np.pi * turns
        for off in (-3.1, 0.0, 3.1):
            measured = pair.at(pair.allowed(q), rng, near=q + off)[2]
            np.testing.assert_allclose(measured, q, atol=1e-12)
        measured = pair.at(pair.allowed(q), rng, near=q + 3.2)[2]
        q[angles] += 2 * np.pi
        np.testing.assert_allclose(measured, q, atol=1e-12)


@pytest.mark.parametrize("kind", WRAPPING)
def test_without_a_counter_s_help_angles_are_between_minus_pi_and_pi(kind, rng):
    pair = cut_pair(kind)
    angles = [counter.index for counter in pair.topology.counters]
    q = pair.random(rng)
    q[angles] = 4.0
    measured = pair.at(pair.allowed(q), rng)[2]
    q[angles] -= 2 * np.pi
    np.testing.assert_allclose(measured, q, atol=1e-12)


@pytest.mark.parametrize("kind", WRAPPING)
def test_counters_turn_with_their_joint(kind, rng):
    """Where the joint's own rows hold, their rate is the joint's velocity, whatever turn they are in."""
    pair = cut_pair(kind)
    e = pair.equations
    f = e.function("f", {"qdot": e.qdot, "velocity": e.measures.velocities(pair.joint), "A": e.closure.A})
    for turns in (0, 7):
        q = pair.place(pair.allowed(pair.random(rng)), rng, near=np.full(pair.kind.nq, 2 * np.pi * turns))
        A = np.array(f(0, q, np.zeros(12), pair.p)[2])
        v = rng.normal(size=12)
        v -= np.linalg.pinv(A) @ A @ v  # a motion that the joint allows
        qdot, velocity, _ = (np.array(x)[:, 0] for x in f(0, q, v, pair.p))
        at, angles = [x.q for x in pair.topology.counters], [x.index for x in pair.topology.counters]
        np.testing.assert_allclose(qdot[at], velocity[angles], atol=1e-12)
        assert np.abs(velocity[angles]).min() > 1e-3


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1.0, 3.0, np.pi - 1e-9, np.pi])
def test_quaternion_of_a_matrix(angle, rng):
    """From its largest component, so that half a turn about any axis is no exception."""
    R_symbol = ca.SX.sym("R", 3, 3)
    f = ca.Function("f", [R_symbol], [quaternion(R_symbol)])
    axes = [*np.eye(3), *(x / np.linalg.norm(x) for x in rng.normal(size=(5, 3)))]
    for axis in axes:
        q = np.array(f(rotate(axis, angle)))[:, 0]
        assert q[0] >= 0
        assert np.linalg.norm(q) == pytest.approx(1, abs=1e-14)
        np.testing.assert_allclose(rotation_of(q), rotate(axis, angle), atol=1e-14)
    R = random_rotation(rng)
    np.testing.assert_allclose(np.array(f(R))[:, 0], quaternion_of(R), atol=1e-14)
