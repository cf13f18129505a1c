"""Pairs of 3-vectors against the 6 x 6 matrices of the book (Featherstone 2008, chapter 2)."""

import casadi as ca
import numpy as np
import pytest

from closedchain.derive import spatial
from closedchain.derive.spatial import IDENTITY, NULL, Inertia, Transform, Vector6
from tests.identities.independent import pose, skew
from tests.random_mechanisms import random_rotation

EXACT = 1e-14  # a handful of products of numbers of size one


def number(x):
    return ca.evalf(ca.SX(x)).full()


def stack(x):
    return np.vstack([number(x.ang), number(x.lin)])


def vector6(rng, columns=1):
    return Vector6(ca.SX(rng.normal(size=(3, columns))), ca.SX(rng.normal(size=(3, columns))))


def transform(rng):
    return Transform(ca.SX(random_rotation(rng)), ca.SX(rng.normal(size=3)))


def motion_matrix(X):
    """From P to C, for motions: Featherstone (2.24)."""
    R, r = number(X.R), number(X.r)[:, 0]
    return np.block([[R.T, np.zeros((3, 3))], [-R.T @ skew(r), R.T]])


def inertia(rng):
    """Of a cloud of points: mass, first moment, second moments, and the 6 x 6 matrix."""
    points, masses = rng.normal(size=(5, 3)), rng.uniform(0.1, 1, 5)
    matrix = sum(
        m * np.block([[-skew(p) @ skew(p), skew(p)], [-skew(p), np.eye(3)]])
        for m, p in zip(masses, points, strict=True)
    )
    return Inertia(ca.SX(masses.sum()), ca.SX(masses @ points), ca.SX(matrix[:3, :3])), matrix


def matrix_of(I):
    """The 6 x 6 matrix of an inertia."""
    mc = skew(number(I.mc)[:, 0])
    return np.block([[number(I.I), mc], [-mc, number(I.m) * np.eye(3)]])


def test_cross_and_dot(rng):
    a, b = rng.normal(size=(2, 3))
    np.testing.assert_allclose(number(spatial.cross(ca.SX(a), ca.SX(b)))[:, 0], np.cross(a, b), atol=EXACT)
    assert number(spatial.dot(ca.SX(a), ca.SX(b)))[0, 0] == pytest.approx(a @ b, rel=EXACT)
    columns = rng.normal(size=(3, 4))
    np.testing.assert_allclose(number(spatial.cross(ca.SX(a), ca.SX(columns))), np.cross(a, columns.T).T, atol=EXACT)


@pytest.mark.parametrize("columns", [1, 4])
def test_motions_through_a_transform(rng, columns):
    X, x = transform(rng), vector6(rng, columns)
    np.testing.assert_allclose(stack(X.motion_into(x)), motion_matrix(X) @ stack(x), atol=EXACT)
    np.testing.assert_allclose(stack(X.motion_out(X.motion_into(x))), stack(x), atol=EXACT)


def test_forces_through_a_transform(rng):
    """The transpose of the motion's matrix, so that power is the same in both frames."""
    X, f, x = transform(rng), vector6(rng), vector6(rng)
    out = stack(X.force_out(f))
    np.testing.assert_allclose(out, motion_matrix(X).T @ stack(f), atol=EXACT)
    power = stack(f).T @ stack(X.motion_into(x))
    np.testing.assert_allclose(out.T @ stack(x), power, atol=EXACT)


def test_transforms_compose_as_poses_do(rng):
    X, Y = transform(rng), transform(rng)
    T = pose(number(X.R), number(X.r)[:, 0]) @ pose(number(Y.R), number(Y.r)[:, 0])
    Z = X @ Y
    np.testing.assert_allclose(number(Z.R), T[:3, :3], atol=EXACT)
    np.testing.assert_allclose(number(Z.r)[:, 0], T[:3, 3], atol=EXACT)
    point = rng.normal(size=3)
    np.testing.assert_allclose(number(Z.point(ca.SX(point)))[:, 0], (T @ [*point, 1])[:3], atol=EXACT)
    back = Z @ Z.inverse()
    np.testing.assert_allclose(number(back.R), np.eye(3), atol=EXACT)
    np.testing.assert_allclose(number(back.r), 0, atol=EXACT)


def test_cross_products_of_six_vectors(rng):
    a, b, f = vector6(rng), vector6(rng), vector6(rng)
    w, v = number(a.ang)[:, 0], number(a.lin)[:, 0]
    crm = np.block([[skew(w), np.zeros((3, 3))], [skew(v), skew(w)]])
    np.testing.assert_allclose(stack(spatial.cross_motion(a, b)), crm @ stack(b), atol=EXACT)
    np.testing.assert_allclose(stack(spatial.cross_force(a, f)), -crm.T @ stack(f), atol=EXACT)
    np.testing.assert_allclose(stack(spatial.cross_motion(a, a)), 0, atol=EXACT)


@pytest.mark.parametrize("columns", [1, 3])
def test_momentum(rng, columns):
    I, matrix = inertia(rng)
    x = vector6(rng, columns)
    np.testing.assert_allclose(stack(I.times(x)), matrix @ stack(x), atol=10 * EXACT)


def test_inertia_seen_from_elsewhere(rng):
    """Congruence with the motion's matrix, so that kinetic energy is the same in both frames."""
    I, matrix = inertia(rng)
    X = transform(rng)
    moved = matrix_of(I.seen_from(X))
    np.testing.assert_allclose(moved, motion_matrix(X).T @ matrix @ motion_matrix(X), atol=100 * EXACT)
    assert (moved[:3, :3] == moved[:3, :3].T).all()


def test_bodies_joined_add_up(rng):
    (one, a), (two, b) = inertia(rng), inertia(rng)
    np.testing.assert_allclose(matrix_of(one + two), a + b, atol=10 * EXACT)


def test_combination_of_columns(rng):
    x, coefficients = vector6(rng, 3), rng.normal(size=3)
    np.testing.assert_allclose(stack(x.times(ca.SX(coefficients)))[:, 0], stack(x) @ coefficients, atol=EXACT)
    np.testing.assert_allclose(stack(-x), -stack(x))
    np.testing.assert_allclose(stack(x + x), 2 * stack(x))


def test_structural_zeros_survive(rng):
    """What is planar stays planar: no entry appears that is not needed."""
    angle = ca.SX.sym("angle")
    R = ca.SX(3, 3)
    R[0, 0] = R[1, 1] = ca.cos(angle)
    R[1, 0], R[0, 1] = ca.sin(angle), -ca.sin(angle)
    R[2, 2] = 1
    r = ca.SX(3, 1)
    r[0] = ca.SX.sym("length")
    X = Transform(R, r)
    w, v = ca.SX(3, 1), ca.SX(3, 1)
    w[2], v[0] = ca.SX.sym("w"), ca.SX.sym("v")
    twist = X.motion_into(Vector6(w, v))
    assert twist.ang.nnz() == 1 and twist.lin.nnz() == 2
    assert (X @ X).R.nnz() == 5 and (X @ X).r.nnz() == 2
    assert (IDENTITY @ X).R.nnz() == 5
    assert (NULL + NULL).ang.nnz() == 0


def test_tidy_mends_what_rounding_left():
    almost = ca.SX(ca.DM([[1 - 1e-16, 1e-17], [-1 + 2e-16, 0.5]]))
    mended = spatial.tidy(almost)
    assert mended.nnz() == 3
    assert number(mended).tolist() == [[1, 0], [-1, 0.5]]
    symbol = ca.SX.sym("x", 2)
    assert spatial.tidy(symbol).nnz() == 2


def test_symmetric_uses_the_lower_triangle():
    a = ca.SX(ca.DM([[1, 99], [2, 3]]))
    assert number(spatial.symmetric(a)).tolist() == [[1, 2], [2, 3]]
