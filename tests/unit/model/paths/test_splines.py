"""Splines: through their points, twice differentiable, with the ends that were asked for; quintic Hermite ones."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import closedchain as cc
from closedchain.model import paths
from closedchain.model.expressions.functions import rate
from closedchain.model.paths.splines import ENDS, through

TIMES = np.array([0.0, 0.4, 1.1, 1.5, 2.3])
POINTS = np.array([[0.0, 1.0, 0.2], [0.3, 0.8, 0.1], [0.2, 0.1, 0.4], [-0.3, 0.5, 0.6], [0.0, 1.0, 0.2]])
EVERY = pytest.mark.parametrize("ends", ENDS)


@EVERY
def test_through_its_points(ends):
    path = paths.spline(POINTS, TIMES, ends=ends)
    np.testing.assert_allclose(path.at(TIMES).value, POINTS, atol=1e-15)
    assert path.duration == 2.3 and path.endless == (ends == "periodic")


@EVERY
def test_twice_differentiable_at_its_points(ends):
    path = paths.spline(POINTS, TIMES, ends=ends)
    for t in TIMES[1:-1]:
        before, after = path.at(np.nextafter(t, 0)), path.at(t)
        for name in ("value", "rate", "acceleration"):
            np.testing.assert_allclose(getattr(before, name), getattr(after, name), atol=1e-12)


@pytest.mark.parametrize("ends", ["natural", "clamped", "not-a-knot", "periodic"])
def test_cubic_ones_are_those_of_scipy(ends):
    path, reference = paths.spline(POINTS, TIMES, ends=ends), CubicSpline(TIMES, POINTS, bc_type=ends)
    t = np.linspace(0, 2.3, 93)
    at = path.at(t)
    for got, order in ((at.value, 0), (at.rate, 1), (at.acceleration, 2)):
        np.testing.assert_allclose(got, reference(t, order), atol=1e-13)


def test_rest_begins_and_ends_at_rest():
    path = paths.spline(POINTS, TIMES, ends="rest")
    at = path.at([0.0, 2.3, 1e-9, 2.3 - 1e-9])
    np.testing.assert_allclose(at.rate, 0, atol=1e-12)
    np.testing.assert_allclose(at.acceleration, 0, atol=1e-5)  # 1e-9 s times a jerk of some 1000
    assert path.breaks == ()


def test_rest_through_two_points_is_minimum_jerk():
    """The least jerk between two rests is the polynomial of degree five: two very different ways to the same curve."""
    t = np.linspace(0, 1.3, 27)
    a, b = paths.spline([0.2, 0.9], [0, 1.3], ends="rest").at(t), paths.line(0.2, 0.9, duration=1.3).at(t)
    np.testing.assert_allclose(a.value, b.value, atol=1e-15)
    np.testing.assert_allclose(a.acceleration, b.acceleration, atol=1e-13)


@pytest.mark.parametrize(
    ("ends", "breaks"), [("natural", (0.0, 2.3)), ("clamped", (0.0, 2.3)), ("periodic", ()), ("rest", ())]
)
def test_breaks_are_at_ends_that_are_not_at_rest(ends, breaks):
    assert paths.spline(POINTS, TIMES, ends=ends).breaks == breaks


def test_it_rests_outside_and_moves_at_its_very_ends():
    path = paths.spline([0.0, 1.0, 0.5], [0.5, 1, 2])
    at = path.at([0.0, 0.5, 2.0, 3.0])
    np.testing.assert_allclose(at.value[[0, 3]], [0.0, 0.5], rtol=1e-15)
    np.testing.assert_array_equal(at.rate[[0, 3]], 0.0)
    assert at.rate[1] > 1 and at.rate[2] < -0.1


def test_periodic_goes_on():
    path = paths.spline(POINTS, TIMES, ends="periodic")
    t = np.linspace(0.05, 2.25, 12)
    np.testing.assert_allclose(path.at(t + 4.6).acceleration, path.at(t).acceleration, atol=1e-12)
    np.testing.assert_allclose(path.at(t - 2.3).rate, path.at(t).rate, atol=1e-12)


def test_a_duration_is_spread_by_the_distances():
    path = paths.spline([0.0, 3.0, 2.0], duration=8.0)
    np.testing.assert_allclose(path.at([6.0, 8.0]).value, [3, 2], rtol=1e-15)


def test_with_a_law():
    """The same curve in space as without, from rest to rest."""
    plain, eased = paths.spline(POINTS, duration=2.0), paths.spline(POINTS, duration=2.0, law="minimum-jerk")
    u = 0.3
    s, ds = 10 * u**3 - 15 * u**4 + 6 * u**5, 30 * u**2 * (1 - u) ** 2
    np.testing.assert_allclose(eased.at(2 * u).value, plain.at(2 * s).value, atol=1e-15)
    np.testing.assert_allclose(eased.at(2 * u).rate, ds * plain.at(2 * s).rate, atol=1e-14)
    np.testing.assert_array_equal(eased.at([0.0, 2.0]).rate, 0)
    assert eased.breaks == ()


# ---- quintic Hermite splines -----------------------------------------------------------------------------------------


def f(t, order=0):
    """A curve whose derivatives are known by hand."""
    return np.exp(-0.5 * t) * (1, -0.5, 0.25)[order] + 3.0 ** (order - 3) * np.sin(3 * t + order * np.pi / 2)


def at(x, t):
    return x.evaluate(lambda leaf: t)


@pytest.mark.parametrize("begin", [0.0, -2.0, 1000.0])
def test_hermite_meets_values_rates_and_accelerations(begin):
    t = begin + np.array([0.0, 0.1, 0.25, 0.3, 1.0])
    local = t - begin
    x = through(t, f(local), f(local, 1), f(local, 2))
    scale = 1 + abs(begin)  # t - break is exact; the times themselves round
    np.testing.assert_allclose(at(x, t), f(local), atol=1e-15)
    np.testing.assert_allclose(at(rate(x), t), f(local, 1), atol=1e-13 * scale)
    np.testing.assert_allclose(at(rate(rate(x)), t), f(local, 2), atol=1e-11 * scale)


def test_hermite_is_exact_for_polynomials_of_degree_five():
    p = np.polynomial.Polynomial([0.3, -1.0, 0.7, 2.0, -1.5, 0.4])
    t = np.array([0.0, 0.7, 1.0, 2.0])
    x = through(t, p(t), p.deriv()(t), p.deriv(2)(t))
    inner = np.linspace(0, 2, 41)
    np.testing.assert_allclose(at(x, inner), p(inner), atol=1e-14)
    np.testing.assert_allclose(at(rate(x), inner), p.deriv()(inner), atol=1e-13)
    np.testing.assert_allclose(at(rate(rate(x)), inner), p.deriv(2)(inner), atol=1e-12)


def test_hermite_converges_with_order_six():
    """Halving the steps divides the error of the value by 64."""
    errors = []
    for n in (8, 16, 32):
        t = np.linspace(0, 2, n + 1)
        fine = np.linspace(0, 2, 1001)
        errors.append(abs(at(through(t, f(t), f(t, 1), f(t, 2)), fine) - f(fine)).max())
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx([6, 6], abs=0.3)


def test_hermite_with_many_short_pieces_stays_accurate():
    """Local coefficients: 2000 pieces, and the acceleration between them is that of the curve."""
    t = np.linspace(0, 2, 2001)
    x = through(t, f(t), f(t, 1), f(t, 2))
    middle = (t[1:] + t[:-1]) / 2
    # rounding of the values, 1e-16, over h^2
    np.testing.assert_allclose(at(rate(rate(x)), middle), f(middle, 2), atol=20 * 2e-16 / 1e-6)


def test_hermite_ends_with_conditions_only_if_it_is_not_at_rest():
    moving = through([0, 1], [0, 1], [1, 1], [0, 0])
    resting = through([0, 1], [0, 1], [0, 0], [0, 0])
    assert (moving.op, resting.op) == ("where", "polynomials")
    np.testing.assert_array_equal(at(rate(moving), np.array([-1, 0, 0.5, 1, 2])), [0, 1, 1, 1, 0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: paths.spline([0, 1, 2], [0, 1, 2], ends="tied"), "spline: unknown ends 'tied'; known: 'natural'"),
        (lambda: paths.spline([0, 1, 2]), "spline: give either times or duration$"),
        (lambda: paths.spline([0, 1, 2], [0, 1, 2], duration=1), "spline: give either times or duration, not both"),
        (lambda: paths.spline([0, 1, 2], [0, 1]), "one time for each of its 3 points, not 2 times"),
        (lambda: paths.spline([0, 1, 2], [0, 1, 1]), "times must increase, but time 3 is 1 s after 1 s"),
        (lambda: paths.spline([0, 1], [-1, 1]), "spline: time 1 must be zero or a positive number of seconds, not -1"),
        (lambda: paths.spline([0], [0]), "spline needs a list of at least 2 points"),
        (lambda: paths.spline([0, np.nan], [0, 1]), "spline: point 2 is nan"),
        (lambda: paths.spline([0, 1, 1], duration=1), "points 2 and 3 are the same: give the times"),
        (lambda: paths.spline([0, 1, 2], [0, 1, 2], law="uniform"), "leave nothing to a time law"),
        (lambda: paths.spline([0, 1, 2], [0, 1, 2], ends="periodic"), "repeat the first point at the end"),
        (lambda: paths.spline([0, 1, 0], [1, 2, 3], ends="periodic"), "begins at the time 0, not at 1 s"),
        (lambda: through([0, 1], [0, 1], [0], [0, 0]), "through needs 2 finite numbers as its rates"),
        (lambda: through([0, 1], [0, np.nan], [0, 0], [0, 0]), "through needs finite numbers as its values"),
        (lambda: through([0, 0], [0, 1], [0, 0], [0, 0]), "through: times must increase"),
        (lambda: through([0], [0], [0], [0]), "through needs at least two times"),
        (lambda: through([0, 1], ["a", 1], [0, 0], [0, 0]), "through needs finite numbers as its values"),
    ],
    ids=[
        "ends", "no times", "both", "times", "equal", "negative", "one", "nan", "twice", "law", "open", "late", "rates",
        "value", "same", "single", "text",
    ],
)  # fmt: skip
def test_refused(make, message):
    with pytest.raises(cc.ModelError, match=message):
        make()
