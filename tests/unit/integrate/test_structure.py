"""Which unknowns are eliminated by hand, and an order that fills in little."""

import numpy as np
import pytest

from closedchain.integrate.structure import minimum_degree, structure


def fill(pattern, order):
    """Entries of the factors when the diagonal serves as pivots."""
    filled = pattern[np.ix_(order, order)] | np.eye(len(order), dtype=bool)
    for k in range(len(order)):
        below = np.flatnonzero(filled[k + 1 :, k]) + k + 1
        right = np.flatnonzero(filled[k, k + 1 :]) + k + 1
        filled[np.ix_(below, right)] = True
    return int(filled.sum())


def test_states_without_influence_come_last():
    pattern = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 0]], bool)
    plan = structure(pattern)
    np.testing.assert_array_equal(plan.tail, [2])
    assert sorted(plan.kept) == [0, 1] and plan.first.size == 0
    np.testing.assert_array_equal(plan.end, [[2, 0, 2]])


def test_coordinates_go_first_unless_they_need_each_other():
    """q0' = v0; q1' and q2' depend on each other, as entries of a quaternion do."""
    pattern = np.zeros((5, 5), bool)
    pattern[0, 3] = pattern[1, 2] = pattern[2, 1] = pattern[1, 4] = pattern[2, 4] = True
    pattern[3:, :3] = True
    plan = structure(pattern, coordinates=range(3))
    np.testing.assert_array_equal(plan.first, [0, 1])
    assert sorted(plan.kept) == [2, 3, 4]
    assert structure(pattern).first.size == 0


def test_a_coordinate_with_a_rate_of_its_own_is_kept():
    pattern = np.array([[1, 1], [1, 0]], bool)
    assert structure(pattern, coordinates=[0]).first.size == 0


def test_entries_are_counted_column_after_column():
    pattern = np.array([[0, 1], [1, 1]], bool)
    plan = structure(pattern, coordinates=[0])
    assert plan.entries[0] == 3
    np.testing.assert_array_equal(plan.into, [[0, 0, 0]])  # J[1, 0] is the first
    np.testing.assert_array_equal(plan.back, [[0, 1, 1]])  # J[0, 1] the second
    np.testing.assert_array_equal(plan.inside, [[0, 0, 2]])
    np.testing.assert_array_equal(plan.product, [[0, 0, 0, 1]])


def test_limbs_before_what_they_share():
    """Six limbs of three unknowns that meet in a platform of six: no fill outside of limbs and platform."""
    n = 24
    pattern = np.zeros((n, n), bool)
    pattern[:6] = pattern[:, :6] = True  # the platform is numbered first, as in a drawing
    for limb in range(6, n, 3):
        pattern[limb : limb + 3, limb : limb + 3] = True
    order = minimum_degree(pattern)
    assert sorted(order) == list(range(n)) and not set(order[:15]) & set(range(6))
    assert fill(pattern, order) == pattern.sum()
    assert fill(pattern, range(n)) == n * n


def test_patterns_are_square():
    with pytest.raises(ValueError, match="square"):
        structure(np.ones((2, 3), bool))


def test_algebraic_states_are_kept():
    """A multiplier is neither eliminated by 1/g nor left for the end, even if nothing depends on it."""
    pattern = np.zeros((4, 4), bool)
    pattern[0, 1] = pattern[1, 0] = pattern[2, 1] = True  # nothing depends on states 2 and 3
    plan = structure(pattern, coordinates=[0, 2], algebraic=[2])
    assert sorted(plan.kept) == [1, 2]
    np.testing.assert_array_equal(plan.first, [0])
    np.testing.assert_array_equal(plan.tail, [3])
    np.testing.assert_array_equal(plan.mass, [1, 1, 0, 1])
    np.testing.assert_array_equal(structure(pattern, coordinates=[0, 2]).mass, 1.0)


def test_multipliers_wait_for_an_entry_in_the_diagonal():
    """``[M A'; A 0]`` with a multiplier of few neighbours: by degree alone it would be first."""
    n = 4
    pattern = np.zeros((n + 1, n + 1), bool)
    pattern[:n, :n] = True
    pattern[1, n] = pattern[n, 1] = True
    assert minimum_degree(pattern)[0] == n
    ready = np.append(np.ones(n, bool), False)
    order = minimum_degree(pattern, ready)
    assert sorted(order) == list(range(n + 1)) and order.index(n) > order.index(1)
    assert structure(pattern, algebraic=[n]).kept.tolist() == order


def test_an_order_is_found_where_no_diagonal_helps():
    """Two unknowns that determine each other crosswise: row pivots have to do it."""
    pattern = np.array([[0, 1], [1, 0]], bool)
    assert sorted(structure(pattern, algebraic=[0, 1]).kept) == [0, 1]
