"""Orientations: matrices, roll-pitch-yaw, axes; exact zeros stay exact, and what is no rotation is refused."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as Reference

import closedchain as cc
from closedchain.model.bodies.rotation import IDENTITY, from_axis, from_matrix, from_rpy, from_two_axes, snap
from closedchain.model.expressions.expression import Expression, parameter
from closedchain.model.expressions.functions import cos, sin

WHAT = "frame crank.tip"
DIRECTIONS = [
    (1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (0, 0, -1), (1, 2, 3), (3, -1, 2), (1, 1, 1), (1e-5, 0, 1),
    (0, 0, 1e-9), (1e6, 2e6, -3e6),
]  # fmt: skip


def is_rotation(R):
    R = np.array(R)
    # a few products of entries of size one
    return np.abs(R @ R.T - np.eye(3)).max() < 1e-15 * 8 and np.linalg.det(R) > 0


@pytest.mark.parametrize("axis", DIRECTIONS, ids=str)
def test_from_axis_turns_z_there(axis):
    R = from_axis(axis, WHAT)

    assert is_rotation(R)
    np.testing.assert_allclose(np.array(R)[:, 2], np.array(axis) / np.linalg.norm(axis), atol=1e-15)


@pytest.mark.parametrize("axis", DIRECTIONS[:6], ids=str)
def test_coordinate_directions_are_exact(axis):
    """Zeros and ones are structure: they make operations disappear."""
    assert set(np.abs(np.array(from_axis(axis, WHAT))).ravel()) == {0.0, 1.0}


@pytest.mark.parametrize("size", [1e300, 1e-300, 5e-324, 1.7e308], ids=str)
def test_axes_of_any_length(size):
    """Squares of these are not finite, or zero."""
    R = from_axis((size, size, 0), WHAT)

    assert is_rotation(R)
    np.testing.assert_allclose(np.array(R)[:, 2], [0.5**0.5, 0.5**0.5, 0], atol=1e-15)


def test_z_itself_is_the_identity():
    assert from_axis((0, 0, 5), WHAT) == IDENTITY


@pytest.mark.parametrize(
    "angles", [(0.1, 0.2, 0.3), (-1.0, 2.0, 3.0), (0, 0, 0), (np.pi / 2, 0, 0), (0, np.pi / 2, np.pi)]
)
def test_rpy_against_scipy(angles):
    R = from_rpy(angles, WHAT)

    # fixed axes x, y, z; six products of sines and cosines round
    np.testing.assert_allclose(R, Reference.from_euler("xyz", angles).as_matrix(), atol=1e-15)


def test_right_angles_in_rpy_are_exact():
    assert set(np.abs(np.array(from_rpy((np.pi / 2, -np.pi / 2, np.pi), WHAT))).ravel()) == {0.0, 1.0}


def test_rpy_of_a_parameter_is_an_expression_that_evaluates_to_the_same():
    roll, yaw = parameter("roll"), parameter("yaw")
    R = from_rpy((roll, 0.0, yaw), WHAT)
    values = {"roll": 0.4, "yaw": -0.7}
    numbers = [
        [x.evaluate(lambda leaf: values[leaf.args[0]]) if isinstance(x, Expression) else x for x in row] for row in R
    ]

    np.testing.assert_allclose(numbers, from_rpy((0.4, 0.0, -0.7), WHAT), atol=1e-15)


def test_from_matrix_takes_six_digits_and_makes_them_exact():
    exact = Reference.from_euler("xyz", (0.1, 0.2, 0.3)).as_matrix()
    R = from_matrix(np.round(exact, 7), WHAT)

    assert is_rotation(R)
    np.testing.assert_allclose(R, exact, atol=1e-6)  # the digits that were given


def test_from_matrix_leaves_an_exact_rotation_alone():
    R = ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))

    assert from_matrix(R, WHAT) == R


def test_a_matrix_of_expressions_is_taken_at_its_word():
    c, s = cos(parameter("yaw")), sin(parameter("yaw"))
    R = ((c, -s, 0), (s, c, 0), (0, 0, 1))

    assert from_matrix(R, WHAT) == R


def test_from_two_axes():
    R = np.array(from_two_axes((0, 0, 2), (0, 3, 0), WHAT))

    np.testing.assert_array_equal(R, [[0, 0, -1], [0, 1, 0], [1, 0, 0]])


def test_snap_moves_rounding_only():
    np.testing.assert_array_equal(snap([1e-16, 1 - 1e-16, -1 + 1e-16, 1e-15, 0.5]), [0, 1, -1, 1e-15, 0.5])


# ---- refused ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: from_matrix(np.eye(4), WHAT), "3 x 3 entries"),
        (lambda: from_matrix([[1, 0], [0, 1], [0, 0]], WHAT), "3 x 3 entries"),
        (lambda: from_matrix(2 * np.eye(3), WHAT), r"not a rotation \(R R' differs from 1 by 3, det 8\)"),
        (lambda: from_matrix(np.diag([1, 1, -1]), WHAT), "not a rotation .*det -1.*right-handed"),
        (lambda: from_matrix(np.full((3, 3), np.nan), WHAT), "is nan"),
        (lambda: from_rpy((1, 2), WHAT), "rpy takes three angles in radians, not 2"),
        (lambda: from_rpy((1, 2, np.inf), WHAT), "is inf"),
        (lambda: from_axis((0, 0, 0), WHAT), r"the axis \(0, 0, 0\) has no direction"),
        (lambda: from_axis((1, 2), WHAT), r"three plain numbers .*not \(1, 2\)"),
        (lambda: from_axis("z", WHAT), "three plain numbers .*not 'z'"),
        (lambda: from_axis((1, np.nan, 0), WHAT), "is nan"),
        (lambda: from_axis((1, parameter("tilt"), 0), WHAT), "three plain numbers .*tilt"),
        (lambda: from_two_axes((1, 0, 0), (1, 1, 0), WHAT), r"\(1, 0, 0\) and \(1, 1, 0\) are not perp.*0\.707"),
        (lambda: from_two_axes((1, 0, 0), (0, 0, 0), WHAT), "has no direction"),
        (lambda: from_axis((np.inf, 1, 0), WHAT), "is inf: give a finite number"),
    ],
    ids=[
        "4x4", "3x2", "scaled", "mirror", "nan matrix", "two angles", "inf angle", "zero axis", "two numbers", "text",
        "nan axis", "parameter", "skew axes", "zero second axis", "inf axis",
    ],
)  # fmt: skip
def test_refused_orientations_name_the_frame(make, message):
    with pytest.raises(cc.ModelError, match=f"{WHAT}.*{message}"):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: from_matrix(5, WHAT), "3 x 3 entries, for instance .*, not 5"),
        (lambda: from_matrix([1, 2, 3], WHAT), "3 x 3 entries, for instance .*, not 1"),
        (lambda: from_matrix([["1", 0, 0], [0, 1, 0], [0, 0, 1]], WHAT), "must be a number, .* not '1'"),
        (lambda: from_matrix([[cos(parameter("a")), 0, 0], [0, "1", 0], [0, 0, 1]], WHAT), "must be a number, .* '1'"),
        (lambda: from_rpy(5, WHAT), "rpy takes three angles in radians, for instance .* not 5"),
        (lambda: from_rpy(("0", 0, 0), WHAT), "must be a number, .* not '0'"),
        (lambda: from_axis(5, WHAT), "an axis is three plain numbers .* not 5"),
        (lambda: from_axis(None, WHAT), "an axis is three plain numbers .* not None"),
        (lambda: from_axis("001", WHAT), "an axis is three plain numbers .* not '001'"),
        (lambda: from_two_axes((1, 0, 0), 5, WHAT), "an axis is three plain numbers .* not 5"),
    ],
    ids=[
        "matrix a number", "matrix a row", "matrix of texts", "texts beside expressions", "rpy a number", "rpy texts",
        "axis a number", "no axis", "axis a text", "second axis a number",
    ],
)  # fmt: skip
def test_refused_kinds_of_values_name_the_frame(make, message):
    with pytest.raises(cc.ModelError, match=f"{WHAT}.*{message}"):
        make()
