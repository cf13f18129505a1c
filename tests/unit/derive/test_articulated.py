"""Articulated bodies against the inertia matrix that they replace, and against Newton's and Euler's equations."""

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.articulated import ArticulatedBodies, ArticulatedInertia
from closedchain.derive.equations import derive
from closedchain.derive.joint_motion import turn
from closedchain.derive.spatial import Inertia, Transform, Vector6
from closedchain.pose.state import parameter_vector
from closedchain.testing.measured import close_to
from closedchain.testing.terms import TIME
from tests.identities.sample import LOOPS, PLATFORMS, TREES, case
from tests.random_mechanisms import random_rotation

ROUNDING = 1e-11  # 1e-16 times the condition of the inertia matrices, at most some 1e4


def six(x):
    """An articulated inertia as a 6 x 6 matrix of numbers."""
    A, B, C = (np.array(ca.DM(ca.densify(block))) for block in x[:3])
    return np.block([[A, B], [B.T, C]])


def some_inertia(rng):
    M = rng.normal(size=(6, 6))
    M = M @ M.T
    return ArticulatedInertia(ca.SX(M[:3, :3]), ca.SX(M[:3, 3:]), ca.SX(M[3:, 3:]))


# ---- the inertia itself --------------------------------------------------------------------------------------------


def test_of_a_rigid_body(rng):
    """Wrenches of accelerations as `Inertia.times` has them."""
    I = rng.normal(size=(3, 3))
    body = Inertia(ca.SX(2.0), ca.SX(rng.normal(size=3)), ca.SX(I @ I.T))
    x = Vector6(ca.SX(rng.normal(size=3)), ca.SX(rng.normal(size=3)))
    for mine, wanted in zip(ArticulatedInertia.of(body).times(x), body.times(x), strict=True):
        np.testing.assert_allclose(np.array(ca.DM(mine)), np.array(ca.DM(wanted)), rtol=1e-14)


@pytest.mark.parametrize("which", ["any", 0, 1, 2, "identity", "permutation"])
def test_turned(rng, which):
    """``R I R'`` of all four blocks; a turn about an axis goes another way than any other."""
    R = {"any": random_rotation(rng), "identity": np.eye(3), "permutation": np.eye(3)[[1, 2, 0]]}.get(which)
    R = ca.sparsify(ca.SX(R)) if R is not None else turn(which, ca.SX(0.7))
    x = some_inertia(rng)
    both = np.kron(np.eye(2), np.array(ca.DM(ca.densify(R))))
    np.testing.assert_allclose(six(x.turned(R)), both @ six(x) @ both.T, atol=1e-13)


def test_shifted(rng):
    """The same power about another origin."""
    x, r = some_inertia(rng), rng.normal(size=3)
    X = np.eye(6)
    X[3:, :3] = -np.array(ca.DM(ca.skew(r)))  # accelerations of the new origin, seen at the old one
    np.testing.assert_allclose(six(x.shifted(ca.SX(r))), X.T @ six(x) @ X, atol=1e-12)


def test_turning_about_an_axis_is_cheap():
    """28 multiplications for the three blocks and their two products of sine and cosine, not 144."""
    A, B, C = (ca.SX.sym(x, 3, 3) for x in "ABC")
    c, s = ca.SX.sym("c"), ca.SX.sym("s")
    R = ca.SX(3, 3)
    R[0, 0], R[1, 1], R[2, 2], R[0, 1], R[1, 0] = c, c, 1, -s, s
    x = ArticulatedInertia(ca.tril2symm(ca.tril(A)), B, ca.tril2symm(ca.tril(C)))
    turned = x.turned(R)
    out = ca.vertcat(*(y.nz[:] for y in (ca.tril(turned.A), turned.B, ca.tril(turned.C))))
    f = ca.Function("f", [A, B, C, c, s], [ca.cse(out)])
    multiplications = sum(f.instruction_id(k) in (ca.OP_MUL, ca.OP_SQ) for k in range(f.n_instructions()))
    assert multiplications <= 30


@pytest.mark.parametrize(("kind", "left"), [("revolute", 5), ("prismatic", 5), ("spherical", 3), ("cylindrical", 4)])
def test_nothing_is_felt_along_a_freedom(kind, left):
    """What a joint hands on has a structural zero along each of its axes: rank six less its freedoms."""
    m = cc.Mechanism("two")
    one = m.body("one", cc.ball(0.1, mass=1.0))
    two = m.body("two", cc.rigid(1.0, (0.1, 0.2, 0.3), (0.3, 0.4, 0.5)))
    m.revolute("A", m.ground, one)
    m.joint(kind, "B", one, two)
    limbs = derive(m).limbs
    traced = limbs.links[1]
    bodies = ArticulatedBodies(limbs, {})
    whole = ArticulatedInertia.of(traced.inertia)
    U = whole.times(traced.motion.Phi)
    V = Vector6(*(bodies.D[1].forward(x.T).T for x in U))
    handed_on = whole.less(bodies.W[1], V, traced.motion.Phi)
    f = derive(m).function("f", dict(zip("ABC", handed_on[:3], strict=True)))
    q = [0.3] * f.size1_in("q")
    blocks = [ca.SX(x) for x in f(0, q, [0.0] * f.size1_in("v"), parameter_vector(m))]
    assert np.linalg.matrix_rank(six(blocks)) == left
    assert handed_on.A.nnz() + 2 * handed_on.B.nnz() + handed_on.C.nnz() <= left**2


# ---- the recursions ------------------------------------------------------------------------------------------------


def bodies_of(c):
    return ArticulatedBodies(c.equations.limbs, {})


@pytest.mark.parametrize("key", TREES + LOOPS[:4] + PLATFORMS[:2], ids=str)
def test_inward_and_outward_solve_with_the_inertia_matrix(key):
    """``M a = b`` for any efforts b."""
    c = case(*key)
    e, n = c.equations, c.topology.nv
    b = np.random.default_rng(c.seed).normal(size=n)
    efforts = {link.index: ca.SX(b[link.v]) for link in c.topology.links if link.joint.type.nv}
    z, _ = bodies_of(c).inward({}, efforts)
    q, v = c.anywhere()
    M, a = c.evaluate([e.M, bodies_of(c).outward(z)], q, v)
    close_to(a[:, 0], np.linalg.solve(M, b), ROUNDING)


@pytest.mark.parametrize("key", TREES + LOOPS[:4] + PLATFORMS[:2], ids=str)
def test_unit_forces_at_a_tip_give_its_inverse_inertia(key):
    """``Lambda_inv = J M^-1 J'`` and ``Omega = M^-1 J'`` at the last link, in its own axes."""
    c = case(*key)
    e, tip = c.equations, len(c.topology.links) - 1
    bodies = bodies_of(c)
    eye = ca.SX.eye(6)
    z, _ = bodies.inward({tip: Vector6(eye[:3, :], eye[3:, :])}, {})
    f = np.random.default_rng(c.seed).normal(size=6)
    columns = {i: ca.sparsify(x @ ca.SX(f)) for i, x in z.items()}
    R = ca.diagcat(e.motion.X[tip].R, e.motion.X[tip].R)
    outputs = [e.M, R.T @ e.motion.link_jacobian(tip), bodies.product(z, z), bodies.outward(columns)]
    M, J, Lambda_inv, Omega_f = c.evaluate(outputs, *c.anywhere())
    close_to(Lambda_inv, J @ np.linalg.solve(M, J.T), ROUNDING)
    close_to(Omega_f[:, 0], np.linalg.solve(M, J.T @ f), ROUNDING)


def test_a_wrench_arrives_where_it_is_stopped():
    """A force on a link that hangs on another by a weld arrives there as it is, about the other origin."""
    m = cc.Mechanism("welded")
    one, two = m.body("one", cc.ball(0.1, mass=1.0)), m.body("two", cc.ball(0.1, mass=2.0))
    m.free("pose", m.ground, one)
    m.weld("W", one.at(1, 0, 0), two)
    e = derive(m)
    z, arrived = ArticulatedBodies(e.limbs, {}).inward({1: Vector6(ca.SX(3, 1), ca.SX([0, 1, 0]))}, {}, stop=0)
    assert z == {}
    f = e.function("f", {"ang": arrived.ang, "lin": arrived.lin})
    ang, lin = f(0, [0, 0, 0, 1, 0, 0, 0], [0] * 6, parameter_vector(m))
    np.testing.assert_allclose(np.array(ang)[:, 0], [0, 0, 1])
    np.testing.assert_allclose(np.array(lin)[:, 0], [0, 1, 0])


def test_a_rotor_is_inertia_of_its_joint():
    m = cc.library.double_pendulum()
    e = derive(m)
    bodies = ArticulatedBodies(e.limbs, {1: ca.SX([0.3])})
    z, _ = bodies.inward({}, {0: ca.SX([1.0]), 1: ca.SX([2.0])})
    f = e.function("f", {"M": e.M, "a": bodies.outward(z)})
    M, a = (np.array(x) for x in f(TIME, [0.4, 0.9], [0, 0], parameter_vector(m)))
    M[1, 1] += 0.3
    np.testing.assert_allclose(a[:, 0], np.linalg.solve(M, [1.0, 2.0]), rtol=1e-13)


def test_two_turns_about_axes_or_one_about_any_line(rng):
    """Both ways of handing an inertia on to the parent agree with the composed transform."""
    m = cc.Mechanism("two ways")
    one = m.body("one", cc.ball(0.1, mass=1.0))
    two, three = (m.body(name, cc.rigid(1.0, (0.1, 0.2, 0.3), (0.3, 0.4, 0.5))) for name in ("two", "three"))
    c, s = np.cos(0.4), np.sin(0.4)
    m.revolute("A", m.ground, one)
    m.revolute("B", one.at(0.1, 0.2, 0.3, R=((1, 0, 0), (0, c, -s), (0, s, c))), two)
    m.revolute("C", one.at(0.1, 0.2, 0.3, R=random_rotation(rng)), three)
    e = derive(m)
    x = some_inertia(rng)
    for i in (1, 2):
        traced = e.limbs.links[i]
        X: Transform = traced.X
        mine = x.seen_from_parent(traced)
        whole = x.turned(ca.densify(X.R)).shifted(X.r)
        f = e.function("f", {f"x{k}": y for k, y in enumerate((*mine[:3], *whole[:3]))})
        got = [np.array(y) for y in f(0, [0.3, 0.8, -0.5], [0, 0, 0], parameter_vector(m))]
        for ours, wanted in zip(got[:3], got[3:], strict=True):
            np.testing.assert_allclose(ours, wanted, atol=1e-13)
