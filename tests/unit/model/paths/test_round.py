"""Arcs, circles, roses and swings."""

import math

import numpy as np
import pytest

import closedchain as cc
from closedchain.model import paths


def test_arc_about_a_centre():
    """Half a turn about an inclined axis: constant distance from it, and the end opposite to the start."""
    centre, normal = np.array([0.1, 0.2, 0.3]), np.array([1.0, 1.0, 0.0])
    path = paths.arc((0.1, 0.2, 0.8), centre=centre, angle=math.pi, normal=normal, duration=1.0)
    at = path.at(np.linspace(0, 1, 33))

    np.testing.assert_allclose(np.linalg.norm(at.value - centre, axis=1), 0.5, rtol=1e-14)
    np.testing.assert_allclose((at.value - centre) @ normal, 0, atol=1e-15)
    np.testing.assert_allclose(at.value[-1], [0.1, 0.2, -0.2], atol=1e-15)
    # positive about the normal: n x r points where it goes
    np.testing.assert_array_less(0, np.cross(normal, at.value[16] - centre) @ at.rate[16])


def test_acceleration_on_an_arc():
    """Towards the centre v^2 / r, along the way that of the law."""
    path = paths.arc((2, 0, 0), centre=(0, 0, 0), angle=-1.5, duration=1.0, law=paths.Trapezoidal(ramp=0.25))
    at = path.at(0.2)
    radial, along = at.value / 2, at.rate / np.linalg.norm(at.rate)

    assert at.acceleration @ along == pytest.approx(3.0 / (0.25 * 0.75), rel=1e-13)
    assert at.acceleration @ radial == pytest.approx(-(at.rate @ at.rate) / 2, rel=1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_arc_through_three_points(seed):
    """All three are on it in this order, and the distance from its centre does not change."""
    a, b, c = np.random.default_rng(seed).normal(0, 1, (3, 3))
    path = paths.arc(a, via=b, end=c, duration=1.0, law="uniform")
    x = path.at(np.linspace(0, 1, 20001)).value

    np.testing.assert_allclose(x[[0, -1]], [a, c], atol=1e-13)
    # the nearest of 20,000 places is at most half a step away
    step = np.linalg.norm(x[1] - x[0])
    assert np.linalg.norm(x - b, axis=1).min() < step
    np.testing.assert_allclose(np.linalg.norm(np.diff(x, axis=0), axis=1), step, rtol=1e-6)


def test_arc_with_limits_is_as_long_as_its_way():
    path = paths.arc((1, 0, 0), via=(0, 1, 0), end=(-1, 0, 0), law=paths.Uniform(speed=2.0))
    assert path.duration == pytest.approx(math.pi / 2, rel=1e-14)


def test_circle():
    path = paths.circle(0.2, period=2.0, centre=(0, 0, 1), axes=((0, 1, 0), (0, 0, 1)))
    at = path.at([0.0, 0.5, 1.0, 2.5])
    np.testing.assert_allclose(at.value, [[0, 0.2, 1], [0, 0, 1.2], [0, -0.2, 1], [0, 0, 1.2]], atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(at.rate, axis=1), 0.2 * math.pi, rtol=1e-14)
    assert path.endless and path.components[0] == 0.0


def test_circle_once_from_rest_to_rest():
    path = paths.circle(0.2, duration=1.0)
    assert not path.endless
    np.testing.assert_allclose(path.at([0.0, 0.5, 1.0]).value[:, 0], [0.2, -0.2, 0.2], rtol=1e-14)
    np.testing.assert_array_equal(path.at([0.0, 1.0]).rate, 0)


def test_rose_of_the_reference():
    """Platform of the 3-RRR on r = 0.05 cos(2 theta), theta = pi t, computed in absolute angles with 30 digits.

    Position and velocity from the reference data of the planar 3-RRR that are listed in tests/reference/raoofian2017.
    """
    reference = {
        0.0: (0.05, 0.0, -0.0, 0.1570796326794897),
        0.1: (0.03847104421469067, 0.0125, -0.2148902764458906, 0.06379783316824536),
        0.4: (-0.0125, -0.03847104421469067, 0.06379783316824536, -0.2148902764458906),
        1.3: (0.00908178160006701, 0.0125, 0.1363504601061457, 0.2702519581178781),
        1.9: (0.03847104421469067, -0.0125, 0.2148902764458906, 0.06379783316824536),
    }
    at = paths.rose(0.05, period=2.0).at(list(reference))
    # sines of angles up to 4 pi, whose own rounding is 1e-15
    np.testing.assert_allclose(np.hstack([at.value[:, :2], at.rate[:, :2]]), list(reference.values()), atol=2e-15)


@pytest.mark.parametrize(("k", "petals"), [(1, 1), (2, 4), (3, 3), (4, 8)])
def test_petals(k, petals):
    """A petal ends where r reaches r0: directions of the places farthest out, each counted once."""
    x = paths.rose(1.0, k, period=1.0).at(np.arange(2 * k) / (2 * k)).value
    directions = {(round(a, 9) + 0.0, round(b, 9) + 0.0) for a, b, _ in x}
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, rtol=1e-14)
    assert len(directions) == petals


def test_rose_acceleration():
    """In polar coordinates: (r'' - r theta'^2) radial, 2 r' theta' across."""
    w, t = 2 * math.pi / 3.0, 0.37
    r, dr, ddr = (0.1 * f for f in (math.cos(2 * w * t), -2 * w * math.sin(2 * w * t), -4 * w**2 * math.cos(2 * w * t)))
    radial, across = np.array([math.cos(w * t), math.sin(w * t)]), np.array([-math.sin(w * t), math.cos(w * t)])
    expected = (ddr - r * w**2) * radial + 2 * dr * w * across
    np.testing.assert_allclose(paths.rose(0.1, period=3.0).at(t).acceleration[:2], expected, rtol=1e-14)


def test_sine():
    at = paths.sine(0.3, period=2.0, centre=0.1, phase=0.5).at(0.7)
    a = math.pi * 0.7 + 0.5
    assert (at.value, at.rate, at.acceleration) == pytest.approx(
        (0.1 + 0.3 * math.sin(a), 0.3 * math.pi * math.cos(a), -0.3 * math.pi**2 * math.sin(a)), rel=1e-14
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: paths.arc((0, 0, 0), via=(1, 1, 1), end=(2, 2, 2), duration=1), "lie on a straight line: use line"),
        (lambda: paths.arc((0, 0, 0), via=(1, 0, 0), end=(1, 0, 0), duration=1), "lie on a straight line"),
        (lambda: paths.arc((0, 0, 0), via=(1, 0, 0), end=(0, 0, 0), duration=1), "lie on a straight line"),
        (lambda: paths.arc((0, 0, 0), via=(1, 0, 0), duration=1), "arc: give start, via and end, or start, centre"),
        (lambda: paths.arc((0, 0, 0), duration=1), "arc: give start, centre and angle, or start, via and end"),
        (lambda: paths.arc((0, 0, 1), centre=(0, 0, 0), angle=1, duration=1), "lies on its axis: there is no radius"),
        (lambda: paths.arc((0, 0, 0), centre=(0, 0, 0), angle=1, duration=1), "lies on its axis"),
        (lambda: paths.arc(1, centre=(0, 0, 0), angle=1, duration=1), "arc: its start is a point in space"),
        (lambda: paths.arc((1, 0, 0), centre=(0, 0, 0), angle=0, law=paths.Uniform(speed=1)), "ends where it begins"),
        (lambda: paths.circle(0, period=1), "circle: the radius must be a positive number, not 0"),
        (lambda: paths.circle(1, period=0), "circle: the period must be a positive number, not 0"),
        (lambda: paths.circle(1, period=1, duration=1), "circle: give a period .* or a duration .* not both"),
        (lambda: paths.circle(1), "circle: say how long it takes"),
        (lambda: paths.circle(1, period=1, axes=((1, 0, 0), (1, 1, 0))), "are not perpendicular"),
        (lambda: paths.circle(1, period=1, axes="xy"), "axes are two perpendicular directions"),
        (lambda: paths.circle(1, period=1, centre=0), "circle: its centre is a point in space"),
        (lambda: paths.rose(0.1, 2.5, period=1), r"rose: k must be a whole number of at least 1, not 2\.5"),
        (lambda: paths.rose(-0.1, period=1), r"rose: r0 must be a positive number, not -0\.1"),
        (lambda: paths.sine(1, 0), "sine: the period must be a positive number, not 0"),
        (lambda: paths.sine(0.1, 1.0, centre=(0, 0, 1)), r"sine: a coordinate swings about one number, .*formula"),
    ],
    ids=[
        "straight", "same", "closed", "no end", "nothing", "axis", "centre", "number", "no angle", "radius", "period",
        "both", "neither", "skew", "letters", "coordinate", "half petal", "negative", "no period",
        "point",
    ],
)  # fmt: skip
def test_refused(make, message):
    with pytest.raises(cc.ModelError, match=message):
        make()
