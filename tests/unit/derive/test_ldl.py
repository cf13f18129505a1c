"""Symmetric matrices as L D L', with structural zeros kept and pivots that a caller may watch."""

import casadi as ca
import numpy as np

from closedchain.derive.ldl import LDL


def test_solves_a_symmetric_system(rng):
    A = rng.normal(size=(5, 5))
    A, b = A @ A.T + np.eye(5), rng.normal(size=(5, 2))
    factor = LDL(ca.SX(A))

    x = factor.backward(ca.diag(factor.d_inv) @ factor.forward(ca.SX(b)))

    np.testing.assert_allclose(np.array(ca.DM(x)), np.linalg.solve(A, b), rtol=1e-12)  # condition of some 10


def test_only_the_lower_triangle_is_read():
    A = ca.SX([[2.0, 99.0], [1.0, 3.0]])

    assert float(LDL(A).d_inv[1]) == 1 / (3.0 - 0.5)


def test_zeros_stay_structure():
    band = ca.SX.eye(5)
    for k in range(4):
        band[k + 1, k] = band[k, k + 1] = 0.1
    arrow = ca.SX.eye(4)
    arrow[0, :] = arrow[:, 0] = 0.1
    arrow[0, 0] = 1

    assert [len(column) for column in LDL(band).below] == [1, 1, 1, 1, 0]
    assert [len(column) for column in LDL(arrow).below] == [3, 2, 1, 0]  # filled in, as it must be in this order
    assert [len(column) for column in LDL(arrow[::-1, ::-1]).below] == [1, 1, 1, 0]


def test_an_empty_matrix():
    factor = LDL(ca.SX(0, 0))

    assert factor.forward(ca.SX(0, 3)).shape == (0, 3)
    assert factor.backward(ca.SX(0, 1)).shape == (0, 1)


def test_a_pivot_can_be_left_out():
    """The second row repeats the first: without it the others are solved alone."""
    A = np.array([[2.0, 2.0, 1.0], [2.0, 2.0, 1.0], [1.0, 1.0, 3.0]])
    seen = []

    def invert(k, pivot):
        seen.append(float(pivot))
        return ca.SX(0) if abs(float(pivot)) < 1e-12 else 1 / pivot

    factor = LDL(ca.SX(A), invert)
    x = factor.backward(factor.d_inv * factor.forward(ca.SX([1.0, 1.0, 2.0])))

    assert seen[1] == 0.0
    wanted = np.linalg.solve(A[np.ix_([0, 2], [0, 2])], [1.0, 2.0])
    np.testing.assert_allclose(np.array(ca.DM(ca.densify(x)))[:, 0], [wanted[0], 0.0, wanted[1]], rtol=1e-15)
