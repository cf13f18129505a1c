"""`Path`: exact values, rates and accelerations, and new paths out of old ones."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.model import paths
from closedchain.model.expressions.expression import Expression, parameter
from closedchain.model.paths import Path

t = cc.t
TIMES = np.linspace(-0.5, 2.5, 61)


def test_values_of_a_formula():
    """By hand: x = sin 3t, y = t^3 exp(-t), z left free."""
    path = Path((cc.math.sin(3 * t), t**3 * cc.math.exp(-t), None), duration=2.0)
    at, e = path.at(TIMES), np.exp(-TIMES)

    # each entry is a handful of operations on numbers below 30
    np.testing.assert_allclose(at.value[:, 0], np.sin(3 * TIMES), atol=1e-15)
    np.testing.assert_allclose(at.rate[:, 0], 3 * np.cos(3 * TIMES), atol=1e-14)
    np.testing.assert_allclose(at.acceleration[:, 0], -9 * np.sin(3 * TIMES), atol=1e-14)
    np.testing.assert_allclose(at.rate[:, 1], (3 * TIMES**2 - TIMES**3) * e, atol=1e-14)
    np.testing.assert_allclose(at.acceleration[:, 1], (6 * TIMES - 6 * TIMES**2 + TIMES**3) * e, atol=1e-14)
    assert np.isnan(at.value[:, 2]).all() and np.isnan(at.rate[:, 2]).all() and np.isnan(at.acceleration[:, 2]).all()
    assert at.rotation is None and at.angular_velocity is None and at.angular_acceleration is None


def test_shapes():
    one, three = Path((t,), duration=1.0), Path((t, 0.0, 1.0), duration=1.0)
    assert one.at(0.5).value.shape == () and one.at([0.5, 0.6]).value.shape == (2,)
    assert three.at(0.5).value.shape == (3,) and three.at([0.5, 0.6]).rate.shape == (2, 3)
    turned = three.turned(about=(0, 0, 1), angle=t)
    assert turned.at(0.5).rotation.shape == (3, 3) and turned.at([0.5]).angular_velocity.shape == (1, 3)
    only = Path((), turned.rotation, duration=1.0)
    assert only.at([0.5]).value.shape == (1, 0) and only.at([0.5]).rotation.shape == (1, 3, 3)


def test_parameters_are_given_by_name():
    path = paths.line(0.0, 2 * parameter("reach"), duration=1.0)
    assert path.at(0.5, parameters={"reach": 0.4}).value == pytest.approx(0.4, rel=1e-15)
    with pytest.raises(cc.ModelError, match=r"depends on the parameter reach: give its value, parameters=\{'reach'"):
        path.at(0.5)


def test_a_branch_that_is_not_taken_does_not_matter():
    """No warning, though the other branch has the root of a negative number."""
    path = Path((cc.math.where(t < 1, 0.0, cc.math.sqrt(t - 1)),), duration=2.0)
    np.testing.assert_array_equal(path.at([0.5, 2.0]).value, [0, 1])
    np.testing.assert_array_equal(path.at([0.5, 2.0]).rate, [0, 0.5])


# ---- new paths out of old ones ---------------------------------------------------------------------------------------

BASE = paths.points([0.0, 1.0, 0.4], times=[0, 1, 1.5], law="trapezoidal")
SWING = paths.sine(0.3, period=2.0)


@pytest.mark.parametrize("path", [BASE, SWING], ids=["moves", "sine"])
def test_delayed(path):
    later = path.delayed(0.25)
    inner = TIMES[TIMES > 0.26]
    a, b = later.at(inner), path.at(inner - 0.25)

    assert later.duration == path.duration + 0.25
    for name in ("value", "rate", "acceleration"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=1e-13)  # the rounding of t - 0.25
    np.testing.assert_array_equal(later.at([-1.0, 0.2]).value, path.at(0.0).value)
    np.testing.assert_array_equal(later.at([-1.0, 0.2]).rate, 0.0)
    assert path.delayed(0) is path


def test_breaks_move_along():
    assert BASE.delayed(0.5).breaks == tuple(x + 0.5 for x in BASE.breaks)
    np.testing.assert_allclose(BASE.reversed().breaks, np.sort(1.5 - np.array(BASE.breaks)), atol=1e-15)
    assert SWING.delayed(0.5).breaks == (0.5,)  # a sine that begins has a velocity at once


def test_reversed():
    inner = np.linspace(0.01, 1.49, 38)  # off the breaks, where the sides differ
    back, there = BASE.reversed().at(inner), BASE.at(1.5 - inner)

    np.testing.assert_allclose(back.value, there.value, atol=1e-15)
    np.testing.assert_allclose(back.rate, -there.rate, atol=1e-14)
    np.testing.assert_allclose(back.acceleration, there.acceleration, atol=1e-13)
    assert BASE.reversed().duration == BASE.duration


def test_shifted():
    path = paths.line((0, 0, 0), (1, 0, 0), duration=1.0)
    np.testing.assert_allclose(path.shifted((0.1, 0.2, 0.3)).at(1.0).value, [1.1, 0.2, 0.3], rtol=1e-15)
    assert BASE.shifted(0.5).at(0.0).value == 0.5
    assert paths.formula(t, None, t, duration=1).shifted((1, 2, 3)).components[1] is None


def test_turned_adds_an_orientation_and_turns_it_further():
    base = paths.rest((0, 0, 0), 1.0)
    once = base.turned(about=(0, 0, 1), angle=0.3)
    twice = once.turned(about=(1, 0, 0), angle=t)
    c, s = np.cos(0.7), np.sin(0.7)

    np.testing.assert_allclose(
        twice.at(0.7).rotation,
        np.array([[1, 0, 0], [0, c, -s], [0, s, c]]) @ np.array(once.rotation, float),
        atol=1e-15,
    )
    np.testing.assert_allclose(twice.at(0.7).angular_velocity, [1, 0, 0], atol=1e-15)


def test_turned_by_a_path_takes_its_duration_and_breaks():
    base = paths.rest((0, 0, 0), 1.0)
    turned = base.turned(about=(0, 0, 1), angle=paths.line(0.0, 1.0, duration=2.0, law="trapezoidal"))
    assert (turned.duration, turned.breaks) == (2.0, (0.0, 0.5, 1.5, 2.0))


def test_zeros_and_ones_of_a_turn_stay_exact():
    """They are structure: they make operations disappear."""
    R = paths.rest((0, 0, 0), 1.0).turned(about=(0, 0, 1), angle=t).rotation
    assert [R[2][0], R[2][1], R[2][2], R[0][2], R[1][2]] == [0.0, 0.0, 1.0, 0.0, 0.0]


def test_oriented():
    path = paths.line((0, 0, 0), (1, 0, 0), duration=1.0)
    R = path.oriented((0, 0, cc.pi / 2)).rotation
    assert R == ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    assert path.oriented(paths.turn((0, 0, 0), (0, 0, 1), duration=3)).duration == 3.0


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (paths.rest((0, 0, 0), 2), "Path(3 components, 2 s)"),
        (SWING, "Path(1 component, 2 s and on)"),
        (paths.turn((0, 0, 0), (0, 0, 1), duration=1), "Path(orientation, 1 s)"),
        (BASE, "Path(1 component, 1.5 s, breaks at 0, 0.25, 0.75, 1, ...)"),
    ],
    ids=["rest", "sine", "turn", "trapezoids"],
)
def test_text(path, text):
    assert repr(path) == text


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Path(), "components or a rotation, or both"),
        (lambda: Path(t), r"a path has components, for instance \(cc\.math\.sin"),
        (lambda: Path((Expression("coordinate", "O", None),)), r"on time and parameters only, not on q\[O\]"),
        (lambda: Path((np.nan,)), "path: a component is nan"),
        (lambda: Path((t,), duration=-1), "path: its duration must be zero or a positive number of seconds, not -1"),
        (lambda: Path((t,), duration=np.inf), "path: its duration is inf"),
        (lambda: Path((), ((1, 0, 0), (0, 1, 0))), "a rotation matrix has 3 x 3 entries"),
        (lambda: Path((), ((1, 0, 0), (0, 2, 0), (0, 0, 1))), "the matrix is not a rotation"),
        (lambda: BASE.at("now"), "at one time or at a list of times, in seconds, not at 'now'"),
        (lambda: BASE.at([[0, 1]]), "at one time or at a list of times"),
        (lambda: BASE.at(np.nan), "at one time or at a list of times"),
        (lambda: BASE.delayed(-0.1), r"delayed: the delay must be zero or a positive number of seconds, not -0\.1"),
        (lambda: BASE.shifted((1, 2)), r"one number for each of 1 components, not \(1, 2\)"),
        (lambda: BASE.shifted("up"), "shifted: the offset must be a number"),
        (lambda: BASE.turned(about=(0, 0, 0), angle=1), "turned: the axis .* has no direction"),
        (lambda: BASE.turned(about=(0, 0, 1), angle=paths.rest((0, 0, 0), 1)), "a path of one coordinate, not Path"),
        (lambda: BASE.oriented((1, 2)), r"oriented: an orientation is three angles.*not \(1, 2\)"),
    ],
    ids=[
        "nothing", "no tuple", "coordinate", "nan", "negative", "for ever", "two rows", "stretch", "text", "matrix",
        "no time", "earlier", "two for one", "word", "no axis", "angle of three", "two angles",
    ],
)  # fmt: skip
def test_refused(make, message):
    with pytest.raises(cc.ModelError, match=message):
        make()
