"""Time laws: from 0 to 1, peaks as the closed forms say, limits kept exactly, jumps where they are announced."""

import itertools
import math

import numpy as np
import pytest

import closedchain as cc
from closedchain.model import paths
from closedchain.model.expressions.functions import rate
from closedchain.model.paths.laws import LAWS

T = 1.7
EVERY = pytest.mark.parametrize("law", LAWS)


@EVERY
def test_a_law_goes_from_zero_to_one_and_rests_outside(law):
    path = paths.line(0.0, 1.0, duration=T, law=law)
    values = path.at([-1.0, 0.0, T, T + 1.0])

    # the end is 1 up to the rounding of the last ramp
    np.testing.assert_allclose(values.value, [0, 0, 1, 1], rtol=1e-15, atol=0)
    np.testing.assert_array_equal(values.rate[[0, -1]], 0)
    np.testing.assert_array_equal(values.acceleration[[0, -1]], 0)
    assert path.duration == T


@EVERY
def test_a_law_never_goes_back_and_is_symmetric(law):
    t = np.linspace(0, T, 401)
    s = paths.line(0.0, 1.0, duration=T, law=law).at(t)

    assert (s.rate >= 0).all()
    np.testing.assert_allclose(s.value + s.value[::-1], 1.0, rtol=4e-16 * 10)  # a sum of two roundings
    np.testing.assert_allclose(s.rate, s.rate[::-1], atol=1e-14)


@EVERY
def test_rates_by_an_independent_integral(law):
    """Gauss quadrature of the acceleration between the breaks gives the velocity, and of that the way."""
    path = paths.line(0.0, 2.0, duration=T, law=law)
    edges = [0.0, *[x for x in path.breaks if 0 < x < T], T]
    nodes, weights = np.polynomial.legendre.leggauss(8)
    for a, b in itertools.pairwise(edges):
        inside = path.at((a + b) / 2 + (b - a) / 2 * nodes)
        # one-sided values: within 1e-13 s these functions move by less than 1e-12
        ends = path.at([a + 1e-13, b - 1e-13])
        scale = (b - a) / 2
        np.testing.assert_allclose(scale * weights @ inside.acceleration, np.diff(ends.rate)[0], atol=1e-11)
        np.testing.assert_allclose(scale * weights @ inside.rate, np.diff(ends.value)[0], atol=1e-11)


def test_minimum_jerk_peaks():
    """Speed 15/8 of the mean in the middle; acceleration 10/sqrt(3) way/T^2 at 1/2 -+ 1/sqrt(12) (Flash and Hogan)."""
    path = paths.line(0.0, 0.8, duration=T)
    highest = T * (0.5 - 1 / math.sqrt(12))

    assert path.at(T / 2).rate == pytest.approx(15 / 8 * 0.8 / T, rel=1e-14)
    assert path.at(T / 2).acceleration == pytest.approx(0, abs=1e-14)
    assert path.at(highest).acceleration == pytest.approx(10 / math.sqrt(3) * 0.8 / T**2, rel=1e-14)
    assert abs(path.at(np.linspace(0, T, 1001)).acceleration).max() <= path.at(highest).acceleration * (1 + 1e-14)
    assert path.breaks == ()


@pytest.mark.parametrize("ramp", [0.1, 0.25, 0.5])
def test_trapezoidal_peaks(ramp):
    path = paths.line(0.0, 0.8, duration=T, law=paths.Trapezoidal(ramp=ramp))
    values = path.at(np.linspace(0, T, 1001))

    assert path.at(T / 2).rate == pytest.approx(0.8 / T / (1 - ramp), rel=1e-14)
    assert values.rate.max() <= 0.8 / T / (1 - ramp) * (1 + 1e-14)
    assert abs(values.acceleration).max() == pytest.approx(0.8 / T**2 / ramp / (1 - ramp), rel=1e-13)


def test_trapezoidal_breaks_are_where_the_acceleration_jumps():
    path = paths.line(0.0, 1.0, duration=2.0, law=paths.Trapezoidal(ramp=0.25))
    assert path.breaks == (0.0, 0.5, 1.5, 2.0)
    for t in path.breaks:
        before, after = path.at([t - 1e-9, t + 1e-9]).acceleration
        assert abs(after - before) == pytest.approx(4 / 3, rel=1e-12)  # 1 / (ramp (1 - ramp)) / T^2

    assert paths.line(0.0, 1.0, duration=2.0, law=paths.Trapezoidal(ramp=0.5)).breaks == (0.0, 1.0, 2.0)


@pytest.mark.parametrize(
    ("law", "way", "duration", "speed", "acceleration"),
    [
        (paths.Trapezoidal(speed=0.5, acceleration=2.0), 1.0, 1.0 / 0.5 + 0.5 / 2.0, 0.5, 2.0),
        (paths.Trapezoidal(speed=5.0, acceleration=2.0), 1.0, 2 * math.sqrt(0.5), math.sqrt(2.0), 2.0),
        (paths.Trapezoidal(acceleration=2.0), 1.0, 2 * math.sqrt(0.5), math.sqrt(2.0), 2.0),
        (paths.MinimumJerk(speed=0.5), 1.0, 3.75, 0.5, None),
        (paths.MinimumJerk(acceleration=2.0), 1.0, math.sqrt(5 / math.sqrt(3)), None, 2.0),
        (paths.MinimumJerk(speed=0.5, acceleration=200.0), 1.0, 3.75, 0.5, None),
        (paths.Uniform(speed=0.25), 1.0, 4.0, 0.25, None),
    ],
    ids=["trapezoid", "triangle", "no speed limit", "speed", "acceleration", "both", "uniform"],
)
def test_limits_choose_the_duration(law, way, duration, speed, acceleration):
    path = paths.line(0.0, way, law=law)
    values = path.at(np.linspace(0, path.duration, 20001))

    assert path.duration == pytest.approx(duration, rel=1e-14)
    if speed is not None:
        assert values.rate.max() == pytest.approx(speed, rel=1e-7)  # the grid misses the top of a parabola by so much
    if acceleration is not None:
        assert abs(values.acceleration).max() == pytest.approx(acceleration, rel=1e-7)


def test_limits_are_those_along_the_way():
    """A diagonal in space: the speed is that of the point, not of its components."""
    path = paths.line((0, 0, 0), (0.3, 0.4, 1.2), law=paths.Trapezoidal(speed=0.65, acceleration=1.3))
    assert path.duration == pytest.approx(1.3 / 0.65 + 0.65 / 1.3, rel=1e-14)
    assert np.linalg.norm(path.at(path.duration / 2).rate) == pytest.approx(0.65, rel=1e-14)


def test_a_run_steps_onto_the_jumps():
    """The torque of a trapezoid jumps eight times. With the instants known, few long steps are exact to rounding."""
    m = cc.Mechanism("wheel", gravity=(0, 0, 0))
    m.revolute("O", m.ground, m.body("wheel", cc.ball(radius=0.1, mass=2.0)))
    path = paths.points([0.0, 1.5, 0.2], times=[0, 1, 1.7], law="trapezoidal")
    m.motor("O", torque=0.4 * 2.0 * 0.1**2 * rate(rate(path.components[0])))
    run = cc.simulate(m, m.assemble(O=0.0), until=2.0, rtol=1e-6, solver="dopri5")

    # the answer is a parabola between the jumps, which the solver has exactly; a sum of some twenty steps rounds
    np.testing.assert_allclose(run["O"], path.at(run["O"].time).value, atol=1e-13)
    assert run.counts.rejections == 0


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: paths.line(0, 1, duration=0), "line: the duration must be a positive number, not 0"),
        (lambda: paths.line(0, 1, duration=-2), "the duration must be a positive number, not -2"),
        (lambda: paths.line(0, 1, duration=cc.t), "the duration must be a plain number, not t"),
        (lambda: paths.line(0, 1), r"line: say how long it takes.*cc\.paths\.MinimumJerk\(speed="),
        (lambda: paths.line(0, 1, duration=1, law="minimum jerk"), "unknown time law 'minimum jerk'.*'minimum-jerk'"),
        (lambda: paths.line(0, 1, duration=1, law=3), "unknown time law 3; known: 'uniform'"),
        (
            lambda: paths.line(0, 1, duration=1, law=paths.MinimumJerk(speed=1)),
            r"the limits of MinimumJerk\(speed=1.*choose the duration: leave out duration=1",
        ),
        (lambda: paths.line(1, 1, law=paths.Trapezoidal(acceleration=1)), "line: it ends where it begins.*use rest"),
        (lambda: paths.line(0, 1, law=paths.Uniform(acceleration=1)), "limit the speed alone"),
        (lambda: paths.line(0, 1, law=paths.Trapezoidal(speed=1)), "limit the acceleration, too"),
        (lambda: paths.rose(0.1, law=paths.MinimumJerk(speed=1)), "rose: the length of the way is not known"),
        (lambda: paths.Trapezoidal(ramp=0.6), r"ramp is 0\.6: each of the two ramps takes at most half"),
        (lambda: paths.Trapezoidal(ramp=0), "ramp must be a positive number, not 0"),
        (lambda: paths.Trapezoidal(speed=1, ramp=0.2), r"limits choose the ramps: leave out ramp=0\.2"),
        (lambda: paths.MinimumJerk(speed=0), "MinimumJerk: speed must be a positive number, not 0"),
        (lambda: paths.MinimumJerk(speed="fast"), "MinimumJerk: speed must be a number.*'fast'"),
    ],
    ids=[
        "no time", "back in time", "time as duration", "no duration", "misspelt", "number", "limits and duration",
        "no way", "uniform acceleration", "speed alone", "unknown way", "long ramps", "no ramps", "ramps and limits",
        "no speed", "speed in words",
    ],
)  # fmt: skip
def test_refused(make, message):
    with pytest.raises(cc.ModelError, match=message):
        make()


def test_your_own_law():
    """The essay of the package, followed: a sine squared of the half angle."""

    class Soft(paths.TimeLaw):
        def spread(self, duration):
            s = (1 - cc.math.cos(cc.pi / duration * cc.t)) / 2
            inside = cc.math.where(cc.t < 0, 0.0, cc.math.where(cc.t <= duration, s, 1.0))
            return paths.Schedule(inside, duration, (0.0, duration))

    path = paths.line(0.0, 2.0, duration=3.0, law=Soft())
    assert path.at(1.0).value == pytest.approx(1 - math.cos(math.pi / 3), rel=1e-15)
    assert path.at(1.5).rate == pytest.approx(math.pi / 3, rel=1e-15)
