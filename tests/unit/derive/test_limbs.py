"""Links stand where the drawing puts them, and their numbers are parameters."""

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.model.joints.types import JOINT_TYPES
from tests.identities.independent import Independent, pose, rotate
from tests.random_mechanisms import put_on, random_frame, random_q, shape
from tests.unit.derive import planar


def numbers(limbs, X):
    f = ca.Function("f", [limbs.p], [ca.densify(X.R), ca.densify(X.r)])
    R, r = f(list(limbs.topology.mechanism.parameters.values()))
    return pose(np.array(R), np.array(r)[:, 0])


@pytest.mark.parametrize("backwards", [False, True])
def test_frame_of_a_link_is_its_side_of_the_joint(backwards, rng):
    m = cc.Mechanism("one")
    body = m.body("b", shape(rng))
    P, S = random_frame(rng), random_frame(rng)
    ends = put_on(m.ground, P), put_on(body, S)
    m.revolute("A", *(reversed(ends) if backwards else ends), axis=(1, 0, 0))
    limbs = derive(m).limbs
    link = limbs.links[0]
    assert link.link.reversed == backwards
    # z of the joint lies along x of the frames
    turn = np.array([[float(x) for x in row] for row in m.joints["A"].rotation])
    np.testing.assert_allclose(turn[:, 2], [1, 0, 0])
    np.testing.assert_allclose(numbers(limbs, link.X_LB.inverse()), S @ pose(turn), atol=1e-14)
    np.testing.assert_allclose(numbers(limbs, link.X_PJ), P @ pose(turn), atol=1e-14)


def test_place_of_a_frame(rng):
    """In its link; on the ground in the world."""
    m = cc.Mechanism("one")
    body = m.body("b", shape(rng))
    S, F = random_frame(rng), random_frame(rng)
    m.revolute("A", m.ground, put_on(body, S))
    limbs = derive(m).limbs
    np.testing.assert_allclose(numbers(limbs, limbs.place(put_on(body, F))), np.linalg.inv(S) @ F, atol=1e-14)
    np.testing.assert_allclose(numbers(limbs, limbs.place(put_on(m.ground, F))), F, atol=1e-15)


@pytest.mark.parametrize("kind", [name for name in JOINT_TYPES if name != "weld"])
@pytest.mark.parametrize("weld", ["none", "first", "last"])
def test_smallest_mechanisms(kind, weld, rng):
    """One joint alone, and with a weld above or below it, which has no coordinate at all."""
    m = cc.Mechanism(f"{kind}, weld {weld}")
    body = m.body("b", shape(rng))
    root = m.ground
    if weld == "first":
        root = m.body("base", shape(rng))
        m.weld("W", put_on(m.ground, random_frame(rng)), put_on(root, random_frame(rng)))
    options = {"pitch": 0.3} if kind == "screw" else {}
    m.joint(kind, "J", put_on(root, random_frame(rng)), put_on(body, random_frame(rng)), **options)
    if weld == "last":
        m.weld("W", put_on(body, random_frame(rng)), put_on(m.body("tip", shape(rng)), random_frame(rng)))
    e = derive(m)
    q, v = random_q(rng, e.topology), rng.normal(size=e.topology.nv)
    M, h = planar.numbers(m, lambda e: [e.M, e.h], q, v)
    ref = Independent(e.topology)
    np.testing.assert_allclose(M, ref.inertia_matrix(q), atol=1e-13)
    np.testing.assert_allclose(h[:, 0], ref.bias(q, v), atol=1e-10)  # by differences of sixth order


def test_inertia_is_moved_to_the_link(rng):
    m = cc.Mechanism("one")
    body = m.body("b", cc.rigid(2.0, (0.5, 0, 0), (0.1, 0.2, 0.3)))
    m.revolute("A", m.ground, body.at(1.0, 0, 0))
    limbs = derive(m).limbs
    I = limbs.links[0].inertia
    f = ca.Function("f", [limbs.p], [ca.densify(x) for x in (I.m, I.mc, I.I)])
    mass, mc, matrix = (np.array(x) for x in f(list(m.parameters.values())))
    assert mass == 2.0
    np.testing.assert_allclose(mc[:, 0], [-1.0, 0, 0])
    np.testing.assert_allclose(matrix, np.diag([0.1, 0.2 + 0.5, 0.3 + 0.5]), rtol=1e-14)


def test_frames_may_turn_with_a_parameter(rng):
    """An orientation that is a parameter is no constant of the equations."""
    m = cc.Mechanism("tilted", gravity=(0, -9.81, 0))
    tilt = m.parameter("tilt", 0.4)
    rod = m.body("rod", cc.rod(length=2.0, mass=3.0))
    m.revolute("A", m.ground.at(rpy=(0, 0, tilt)), rod)
    e = derive(m)
    f = e.function("h", {"h": e.h})
    for value in (0.4, -1.1):
        m.parameters["tilt"] = value
        h = float(f(0, [0.3], [0], list(m.parameters.values())))
        assert h == pytest.approx(3.0 * 9.81 * 1.0 * np.cos(0.3 + value), rel=1e-14)


def test_the_pose_of_a_link_follows_its_joint():
    m = planar.double_pendulum()
    limbs = derive(m).limbs
    X = limbs.links[1].X
    f = ca.Function("f", [limbs.q, limbs.p], [ca.densify(X.R), ca.densify(X.r)])
    R, r = f([0.1, 0.7], list(m.parameters.values()))
    np.testing.assert_allclose(np.array(R), rotate([0, 0, 1], 0.7), atol=1e-15)
    np.testing.assert_allclose(np.array(r)[:, 0], [planar.L1, 0, 0])
