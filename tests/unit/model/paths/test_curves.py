"""Straight paths, paths by formulas, and any curve with any law."""

import math

import numpy as np
import pytest

import closedchain as cc
from closedchain.model import paths
from closedchain.model.expressions.expression import parameter


def test_line_in_space():
    a, b = np.array([0.1, 0.2, -0.3]), np.array([0.4, 0.2, 0.5])
    path = paths.line(a, b, duration=2.0)
    u = np.linspace(0, 1, 21)
    at = path.at(2 * u)

    s, ds, dds = 10 * u**3 - 15 * u**4 + 6 * u**5, 30 * u**2 * (1 - u) ** 2, 60 * u * (1 - u) * (1 - 2 * u)
    np.testing.assert_allclose(at.value, a + np.outer(s, b - a), atol=1e-15)
    np.testing.assert_allclose(at.rate, np.outer(ds, b - a) / 2, atol=1e-15)
    np.testing.assert_allclose(at.acceleration, np.outer(dds, b - a) / 4, atol=1e-14)
    assert path.components[1] == 0.2  # what does not move is a number, and costs nothing


def test_line_of_a_coordinate():
    assert paths.line(0.0, 1.57, duration=1.0).at([0, 0.5, 1]).value == pytest.approx([0, 0.785, 1.57], rel=1e-15)


def test_ends_may_be_parameters():
    path = paths.line((0, 0, 0), (parameter("reach"), 0, 0), duration=1.0)
    assert path.at(1.0, parameters={"reach": 0.3}).value[0] == 0.3


def test_points_share_a_duration_by_their_distances():
    path = paths.points([0.0, 3.0, 2.0], duration=8.0)
    np.testing.assert_allclose(path.at([6.0, 8.0]).value, [3, 2], rtol=1e-15)
    np.testing.assert_array_equal(path.at([6.0, 8.0]).rate, 0)


def test_points_at_given_times():
    path = paths.points([(0, 0, 0), (1, 0, 0), (1, 0, 0), (1, 1, 0)], times=[0, 1, 2, 2.5])  # with a rest from 1 to 2
    np.testing.assert_array_equal(path.at([1, 1.5, 2]).value, [[1, 0, 0]] * 3)
    np.testing.assert_array_equal(path.at([1.3, 1.7]).rate, 0)


def test_points_with_limits():
    law = paths.Trapezoidal(speed=1.0, acceleration=4.0)
    assert paths.points([0.0, 3.0, 2.0], law=law).duration == pytest.approx(3.25 + 1.25, rel=1e-15)


def test_formula():
    path = paths.formula(lambda t: 0.1 * cc.math.sin(t), 2.0, None, duration=3.0)
    assert path.endless and path.duration == 3.0
    np.testing.assert_array_equal(path.at(7.0).value, [0.1 * math.sin(7.0), 2.0, np.nan])


def test_your_own_curve():
    """The essay of the package, followed: a helix, at constant speed along the way between the ramps."""

    def helix(radius, pitch, rounds, *, duration=None, law="minimum-jerk"):
        def curve(s):
            angle = 2 * cc.pi * rounds * s
            return radius * cc.math.cos(angle), radius * cc.math.sin(angle), pitch * rounds * s

        way = rounds * math.hypot(2 * cc.pi * radius, pitch)
        return paths.along(curve, duration=duration, law=law, way=way, name="helix")

    path = helix(0.1, 0.02, 3, law=paths.Trapezoidal(speed=0.5, acceleration=1.0))
    assert np.linalg.norm(path.at(path.duration / 2).rate) == pytest.approx(0.5, rel=1e-14)
    np.testing.assert_allclose(path.at(path.duration).value, [0.1, 0, 0.06], atol=1e-15)
    # in the first ramp the speed is t, and beside the acceleration along the way there is that towards the axis
    at = path.at(0.2)
    lean = math.hypot(2 * math.pi * 0.1, 0.02) / (2 * math.pi * 0.1)
    assert np.linalg.norm(at.acceleration) == pytest.approx(math.hypot(1.0, (0.2 / lean) ** 2 / 0.1), rel=1e-13)
    with pytest.raises(cc.ModelError, match="helix: say how long it takes"):
        helix(0.1, 0.02, 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: paths.line(0, (1, 2, 3), duration=1), "line: it begins at 1 number and ends at 3"),
        (lambda: paths.line((0, 1), (1, 2), duration=1), r"its beginning is one number .* or three .*not \(0, 1\)"),
        (lambda: paths.line(0, "far", duration=1), "line: its end must be a number"),
        (lambda: paths.line(cc.t, 1, duration=1), "line: its beginning may depend on parameters only, not on t"),
        (lambda: paths.line((0, 0, np.nan), (0, 0, 1), duration=1), "line: its beginning: z is nan"),
        (lambda: paths.line(0, parameter("a"), law=paths.MinimumJerk(speed=1)), "the length of the way is not known"),
        (lambda: paths.points([1.0], duration=1), "points needs a list of at least 2 points.*got 1"),
        (lambda: paths.points(7, duration=1), "points needs a list .*got no list"),
        (lambda: paths.points([0, (1, 2, 3)], duration=1), "some of the points have one number, some have three"),
        (lambda: paths.points([0, 1], duration=1, times=[0, 1]), "points: give either duration or times, not both"),
        (lambda: paths.points([0, 1, 2], times=[0, 1]), "one time for each of its 3 points, not 2 times"),
        (lambda: paths.points([0, 1, 2], times=[0, 2, 1]), "times must increase, but time 3 is 1 s after 2 s"),
        (lambda: paths.points([0, 1], times=[1, 2]), r"the first time is 1 s: begin at 0, and use \.delayed\(1\)"),
        (lambda: paths.points([0, 1, 1], duration=1), "points 2 and 3 are the same.*give times"),
        (lambda: paths.points([0, 1], duration=0), "points: the duration must be a positive number, not 0"),
        (lambda: paths.points([0, 1]), "points: move 1: say how long it takes"),
        (lambda: paths.rest(0, -1), "rest: the duration must be zero or a positive number of seconds, not -1"),
        (lambda: paths.formula(cc.t, duration=0), "formula: the duration must be a positive number, not 0"),
        (lambda: paths.formula(lambda: 1, duration=1), "formula: write it as a function of time"),
        (lambda: paths.formula("t", duration=1), "formula must be a number, a parameter or an expression"),
        (lambda: paths.along(cc.t, duration=1), "along: the curve is a function of the progress"),
        (lambda: paths.along(lambda s: (s, s), duration=1), "along: the curve gives one number or three"),
    ],
    ids=[
        "one and three", "two", "word", "time", "nan", "unknown way", "one point", "no points", "mixed", "both",
        "times", "back", "late", "twice", "no time", "no times", "negative", "no duration", "no argument", "text",
        "no function", "two numbers",
    ],
)  # fmt: skip
def test_refused(make, message):
    with pytest.raises(cc.ModelError, match=message):
        make()
