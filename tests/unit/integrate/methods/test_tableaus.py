"""The tableaus satisfy the equations that define them: row sums, order conditions, dense output."""

from functools import cache
from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np
import pytest

from closedchain.integrate.methods.tableaus import DOP853, DOPRI5, RADAU5, RK4, RODAS5P, ROSENBROCK2

ALL = {"rk4": RK4, "dopri5": DOPRI5, "dop853": DOP853}
# decimals have 16 correct digits, the largest coefficients of dop853 are about 400
TOLERANCE = 2e-13


@cache
def trees(order):
    """Rooted trees with `order` nodes, as sorted tuples of their subtrees."""
    if order == 1:
        return ((),)
    found = set()
    for sizes in partitions(order - 1):
        pools = [combinations_with_replacement(trees(size), sizes.count(size)) for size in sorted(set(sizes))]
        for choice in product_of(pools):
            found.add(tuple(sorted(choice)))
    return tuple(sorted(found))


def partitions(n, largest=None):
    if n == 0:
        yield []
    for first in range(min(n, largest or n), 0, -1):
        for rest in partitions(n - first, first):
            yield [first, *rest]


def product_of(pools):
    if not pools:
        yield ()
        return
    rest = list(product_of(pools[1:]))
    for choice in pools[0]:
        for other in rest:
            yield (*choice, *other)


def nodes(tree):
    return 1 + sum(map(nodes, tree))


def density(tree):
    return nodes(tree) * prod(map(density, tree))


def weight(tree, A):
    """Elementary weights Phi_i of all stages (Hairer, Norsett, Wanner, II.2)."""
    value = np.ones(len(A))
    for branch in tree:
        value = value * (A @ weight(branch, A))
    return value


def up_to(order):
    return [tree for n in range(1, order + 1) for tree in trees(n)]


def test_number_of_trees():
    assert [len(trees(n)) for n in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]


@pytest.mark.parametrize("name", ALL)
def test_rows_sum_to_the_nodes(name):
    tableau = ALL[name]
    np.testing.assert_allclose(tableau.A.sum(axis=1), tableau.c, atol=TOLERANCE)
    assert np.all(np.triu(tableau.A) == 0)


@pytest.mark.parametrize(("name", "order"), [("rk4", 4), ("dopri5", 5), ("dop853", 8)])
def test_order_conditions(name, order):
    tableau = ALL[name]
    for tree in up_to(order):
        assert abs(tableau.b @ weight(tree, tableau.A) - 1 / density(tree)) < TOLERANCE, tree
    # and no more than that
    assert any(abs(tableau.b @ weight(tree, tableau.A) - 1 / density(tree)) > 1e-8 for tree in trees(order + 1))


@pytest.mark.parametrize(("name", "row", "order"), [("dopri5", 0, 4), ("dop853", 0, 5), ("dop853", 1, 3)])
def test_error_estimates_see_nothing_below_their_order(name, row, order):
    tableau = ALL[name]
    for tree in up_to(order):
        assert abs(tableau.E[row] @ weight(tree, tableau.A)) < TOLERANCE, tree
    assert any(abs(tableau.E[row] @ weight(tree, tableau.A)) > 1e-6 for tree in trees(order + 1))


@pytest.mark.parametrize("power", range(8))
def test_quadrature_of_dop853(power):
    assert abs(DOP853.b @ DOP853.c**power - 1 / (power + 1)) < TOLERANCE


@pytest.mark.parametrize(("power", "first"), [(1, 2), (2, 3), (3, 5)])
def test_stages_of_dop853_integrate_polynomials(power, first):
    """Simplifying conditions C(2), C(3), C(4) from the stage on where each begins to hold."""
    A, c = DOP853.A[first:16], DOP853.c
    np.testing.assert_allclose(A @ c**power, c[first:16] ** (power + 1) / (power + 1), atol=TOLERANCE)


@pytest.mark.parametrize(("name", "end", "order"), [("dopri5", 6, 4), ("dop853", 12, 7)])
@pytest.mark.parametrize("theta", [0.1, 0.37, 0.5, 0.8, 1.0])
def test_dense_output(name, end, order, theta):
    """The nested polynomial, written as weights b(theta), satisfies the order conditions at every theta."""
    tableau = ALL[name]
    unit = np.eye(len(tableau.b))
    rows = [0 * tableau.b, tableau.b, unit[0] - tableau.b]
    rows += [tableau.b - unit[end] - rows[2], *tableau.D]
    value = rows[-1]
    for r in range(len(rows) - 2, -1, -1):
        value = rows[r] + (theta if r % 2 == 0 else 1 - theta) * value
    for tree in up_to(order):
        expected = theta ** nodes(tree) / density(tree)
        assert abs(value @ weight(tree, tableau.A) - expected) < TOLERANCE, tree


def test_last_stage_of_dopri5_is_the_end():
    np.testing.assert_array_equal(DOPRI5.A[6], DOPRI5.b)
    assert DOPRI5.c[6] == 1


def test_against_scipy():
    theirs = pytest.importorskip("scipy.integrate._ivp.dop853_coefficients")
    np.testing.assert_array_equal(DOP853.A, theirs.A)
    np.testing.assert_array_equal(DOP853.D, theirs.D)
    np.testing.assert_array_equal(DOP853.E[0, :13], theirs.E5)
    np.testing.assert_array_equal(DOP853.E[1, :13], theirs.E3)


def test_density_of_the_tall_tree():
    tall = ()
    for _ in range(4):
        tall = (tall,)
    assert density(tall) == factorial(5)


# Radau IIA


def test_order_conditions_of_radau5():
    for tree in up_to(5):
        assert abs(RADAU5.b @ weight(tree, RADAU5.A) - 1 / density(tree)) < TOLERANCE, tree
    assert any(abs(RADAU5.b @ weight(tree, RADAU5.A) - 1 / density(tree)) > 1e-6 for tree in trees(6))


@pytest.mark.parametrize("power", range(3))
def test_stages_of_radau5_integrate_polynomials(power):
    """Collocation: C(3), with the right end as a node."""
    expected = RADAU5.c ** (power + 1) / (power + 1)
    np.testing.assert_allclose(RADAU5.A @ RADAU5.c**power, expected, atol=TOLERANCE)
    assert RADAU5.c[2] == 1.0


def test_transformation_of_radau5():
    t = RADAU5
    blocks = np.array([[t.gamma, 0, 0], [0, t.alpha, t.beta], [0, -t.beta, t.alpha]])
    np.testing.assert_allclose(t.T_inv @ t.T, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(t.T_inv @ np.linalg.inv(t.A) @ t.T, blocks, atol=1e-13)


def test_error_estimate_of_radau5_sees_nothing_below_its_order():
    """``f h / gamma + A^-1 weights``: as weights of (f at the start, stages), conditions hold to order 3 and fail at 4.

    With Z = h A F the estimate is ``h (f + E Z / h) / gamma``, so the weights of F are ``E A / gamma``.
    """
    weights = np.append(1.0, RADAU5.E @ RADAU5.A) / RADAU5.gamma
    with_start = np.zeros((4, 4))
    with_start[1:, 1:] = RADAU5.A
    for tree in up_to(3):
        assert abs(weights @ weight(tree, with_start)) < TOLERANCE, tree
    assert any(abs(weights @ weight(tree, with_start)) > 1e-4 for tree in trees(4))


# Rodas5P: back from the transformed stages (Hairer, Wanner 1996, IV.7)

GAMMA = np.linalg.inv(np.eye(8) / RODAS5P.gamma - RODAS5P.C)
ALPHA = RODAS5P.A @ GAMMA
B = RODAS5P.b @ GAMMA
# decimals have 16 digits, coefficients of size 100 are combined
LOOSE = 1e-11


def rosenbrock_weight(tree):
    """As `weight`, with alpha + gamma where a node has a single branch (Hairer, Wanner 1996, IV.7)."""
    matrix = ALPHA + GAMMA if len(tree) == 1 else ALPHA
    value = np.ones(8)
    for branch in tree:
        value = value * (matrix @ rosenbrock_weight(branch))
    return value


def test_sums_of_rodas5p():
    np.testing.assert_allclose(ALPHA.sum(axis=1), RODAS5P.c, atol=LOOSE)
    np.testing.assert_allclose(GAMMA.sum(axis=1), RODAS5P.d, atol=LOOSE)
    np.testing.assert_allclose(np.diag(GAMMA), RODAS5P.gamma, atol=1e-15)


def test_order_conditions_of_rodas5p():
    for tree in up_to(5):
        assert abs(B @ rosenbrock_weight(tree) - 1 / density(tree)) < LOOSE, tree
    assert any(abs(B @ rosenbrock_weight(tree) - 1 / density(tree)) > 1e-5 for tree in trees(6))


def test_embedded_solution_of_rodas5p():
    """The last stage begins at it, so that the stage itself is the error estimate."""
    embedded = ALPHA[7]
    for tree in up_to(4):
        assert abs(embedded @ rosenbrock_weight(tree) - 1 / density(tree)) < LOOSE, tree
    assert any(abs(embedded @ rosenbrock_weight(tree) - 1 / density(tree)) > 1e-4 for tree in trees(5))


def test_rodas5p_is_stiffly_accurate():
    np.testing.assert_allclose(B, ALPHA[7] + GAMMA[7], atol=LOOSE)


@pytest.mark.parametrize("weights", [B, ALPHA[7]], ids=["step", "embedded"])
def test_rodas5p_is_stable_for_oscillations_of_any_frequency(weights):
    """|R(i y)| <= 1, of the step and of the embedded solution, which uses seven stages."""
    s = 8 if weights is B else 7
    beta = (ALPHA + GAMMA)[:s, :s]
    for y in np.geomspace(1e-3, 1e6, 400):
        R = 1 + 1j * y * weights[:s] @ np.linalg.solve(np.eye(s) - 1j * y * beta, np.ones(s))
        assert abs(R) <= 1 + 1e-10, y
    if weights is B:
        assert abs(R) < 1e-4  # and damps the fastest ones


@pytest.mark.parametrize("theta", [0.1, 0.37, 0.5, 0.8, 1.0])
def test_dense_output_of_rodas5p(theta):
    D = RODAS5P.D @ GAMMA
    weights = theta * (B + (1 - theta) * (D[0] + theta * (D[1] + theta * D[2])))
    for tree in up_to(4):
        assert abs(weights @ rosenbrock_weight(tree) - theta ** nodes(tree) / density(tree)) < LOOSE, tree


# the Rosenbrock method with two stages, in its own letters again

PAIR = np.linalg.inv(np.eye(2) / ROSENBROCK2.gamma - ROSENBROCK2.C)
PAIR_ALPHA = ROSENBROCK2.A @ PAIR
PAIR_B = ROSENBROCK2.b @ PAIR


def test_rosenbrock2_has_order_2():
    beta = PAIR_ALPHA + PAIR
    assert abs(PAIR_B.sum() - 1) < TOLERANCE
    assert abs(PAIR_B @ beta.sum(axis=1) - 1 / 2) < TOLERANCE
    # and no more: the two trees with three nodes
    assert abs(PAIR_B @ PAIR_ALPHA.sum(axis=1) ** 2 - 1 / 3) > 0.05
    assert abs(PAIR_B @ beta @ beta.sum(axis=1) - 1 / 6) > 0.01
    np.testing.assert_allclose(PAIR_ALPHA.sum(axis=1), ROSENBROCK2.c, atol=1e-15)
    np.testing.assert_allclose(PAIR.sum(axis=1), ROSENBROCK2.d, atol=1e-15)


def test_rosenbrock2_is_l_stable():
    beta = PAIR_ALPHA + PAIR

    def R(z):
        return 1 + z * PAIR_B @ np.linalg.solve(np.eye(2) - z * beta, np.ones(2))

    assert all(abs(R(1j * y)) <= 1 + 1e-12 for y in np.geomspace(1e-3, 1e6, 400))
    assert abs(R(-1e9)) < 1e-8


def test_rosenbrock2_and_stiff_springs():
    """The two conditions of its docstring; the method of Verwer et al. (alpha_21 = 1, b_2 = 1/2) is far off."""

    def conditions(alpha, b, gamma=ROSENBROCK2.gamma):
        B = b * alpha**2
        return 1 - B * (1 - gamma) / (2 * gamma**2), (1 - B / gamma) * (1 / 2 - B / gamma) + B * alpha

    np.testing.assert_allclose(conditions(PAIR_ALPHA[1, 0], PAIR_B[1]), 0, atol=1e-14)
    assert min(np.abs(conditions(1, 1 / 2))) > 1


@pytest.mark.parametrize("theta", [0.1, 0.37, 0.5, 0.8, 1.0])
def test_dense_output_of_rosenbrock2(theta):
    weights = theta * (PAIR_B + (1 - theta) * ROSENBROCK2.D[0] @ PAIR)
    assert abs(weights.sum() - theta) < TOLERANCE
    assert abs(weights @ (PAIR_ALPHA + PAIR).sum(axis=1) - theta**2 / 2) < TOLERANCE
