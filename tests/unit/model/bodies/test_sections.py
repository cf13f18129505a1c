"""Cross-sections: numbers by their formulas, checked against sums and series of another kind; and what they refuse."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.bodies.sections import Section

N = 400
MIDPOINTS = (np.arange(N) + 0.5) / N - 0.5
NUMBERS = ("A", "Iy", "Iz", "J", "y", "z", "torsion_radius")


def torsion_by_a_double_series(a, b):
    """Prandtl's stress function of a rectangle in sines of both directions: another series than the one in use."""
    m, n = np.meshgrid(np.arange(1, 800, 2), np.arange(1, 800, 2))
    return 256 * a * b / np.pi**6 * (1 / (m**2 * n**2 * (m**2 / a**2 + n**2 / b**2))).sum()


@pytest.mark.parametrize(("y", "z"), [(0.02, 0.03), (0.03, 0.02), (0.05, 0.05), (0.01, 0.2)])
def test_a_rectangle(y, z):
    section = Section.rectangle(y=y, z=z)

    assert pytest.approx(y * z, rel=1e-15) == section.A
    # sums over midpoints have a relative error of 1 / N^2
    assert section.Iz == pytest.approx(y * z * np.mean((y * MIDPOINTS) ** 2), rel=1e-5)
    assert section.Iy == pytest.approx(y * z * np.mean((z * MIDPOINTS) ** 2), rel=1e-5)
    assert (section.y, section.z) == (y / 2, z / 2)
    # the double series ends after 400 terms in each direction: a rest of some 1e-7 for squares, more for slender ones
    assert pytest.approx(torsion_by_a_double_series(y, z), rel=2e-5) == section.J


def test_torsion_of_rectangles_as_tabulated():
    """Timoshenko and Goodier, Theory of Elasticity, table in section 109: k1 and k2 for b/a = 1, 2, 10."""
    for ratio, k1, k2 in ((1, 0.1406, 0.208), (2, 0.229, 0.246), (10, 0.312, 0.312)):
        section = Section.rectangle(y=0.01, z=0.01 * ratio)
        assert section.J / (0.01**4 * ratio) == pytest.approx(k1, abs=6e-4)  # printed to three or four places
        assert section.J / section.torsion_radius / (0.01**3 * ratio) == pytest.approx(k2, abs=6e-4)


def test_a_square_to_all_digits():
    """0.140577014955 a^4: the value of the series in quadruple precision."""
    assert pytest.approx(0.14057701495515555, rel=1e-14) == Section.rectangle(y=1.0, z=1.0).J


def test_a_strip_is_thin():
    assert pytest.approx(1e-9 / 3 * (1 - 0.63e-3), rel=1e-5) == Section.rectangle(y=1e-3, z=1.0).J


def test_round_sections():
    full, tube = Section.circle(0.02), Section.tube(radius=0.02, wall=0.02)

    assert [getattr(full, x) for x in NUMBERS] == pytest.approx([getattr(tube, x) for x in NUMBERS], rel=1e-15)
    assert pytest.approx(full.Iy + full.Iz, rel=1e-15) == full.J
    thin = Section.tube(radius=0.02, wall=1e-6)
    assert thin.Iz == pytest.approx(np.pi * 0.02**3 * 1e-6, rel=1e-4)  # a thin ring, to wall / radius
    hole = Section.circle(0.015)
    assert Section.tube(0.02, 0.005).Iz == pytest.approx(full.Iz - hole.Iz, rel=1e-14)


def test_a_box_is_a_rectangle_without_another():
    box, outer, inner = Section.box(0.04, 0.06, 0.002), Section.rectangle(0.04, 0.06), Section.rectangle(0.036, 0.056)

    for letter in ("A", "Iy", "Iz"):
        assert getattr(box, letter) == pytest.approx(getattr(outer, letter) - getattr(inner, letter), rel=1e-12)
    assert (box.y, box.z) == (0.02, 0.03)
    # Bredt: shear flow torque / (2 enclosed area), over the thickness
    assert box.torsion_radius / box.J == pytest.approx(1 / (2 * 0.038 * 0.058 * 0.002), rel=1e-14)


@pytest.mark.parametrize(
    ("kind", "sizes"),
    [
        ("rectangle", {"y": 0.02, "z": 0.03}),
        ("circle", {"radius": 0.02}),
        ("tube", {"radius": 0.02, "wall": 0.003}),
        ("box", {"y": 0.04, "z": 0.06, "wall": 0.002}),
    ],
)
def test_dimensions_may_be_parameters(kind, sizes):
    m = cc.Mechanism("numbers")
    plain = getattr(Section, kind)(**sizes)
    drawn = plain.drawn(lambda x, name: m.parameter(f"link.{name}", x))
    value = m.values()

    assert {name: m.parameters[f"link.{name}"] for name in sizes} == sizes
    assert [value(getattr(drawn, x)) for x in NUMBERS] == pytest.approx([getattr(plain, x) for x in NUMBERS], rel=1e-14)


def test_plain_numbers_are_drawn_one_by_one():
    m = cc.Mechanism("numbers")
    drawn = Section(A=0.02, Iz=1.3, y=0.5).drawn(lambda x, name: m._number(x, f"link.section.{name}"))

    assert dict(m.parameters) == {
        "gravity.z": -9.81, "link.section.A": 0.02, "link.section.Iz": 1.3, "link.section.y": 0.5
    }  # fmt: skip
    assert (drawn.Iy, drawn.J, drawn.z, drawn.torsion_radius) == (0.0, 0.0, None, None)  # what is not there stays away


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Section(A=0.0), "section: A is 0, but it must be above 0"),
        (lambda: Section(A=1.0, Iz=-1.0), "section: Iz is -1, but it must be at least 0"),
        (lambda: Section(A="much"), "section: A must be a number, a parameter or an expression, not 'much'"),
        (lambda: Section.rectangle(y=0.0, z=1.0), "rectangle: y is 0 m, but it must be above 0"),
        (lambda: Section.circle(radius=-1), "circle: radius is -1 m, but it must be above 0"),
        (lambda: Section.tube(radius=0.01, wall=0.02), "tube: a wall of 0.02 m does not fit into a radius of 0.01 m"),
        (lambda: Section.box(0.04, 0.03, wall=0.02), "box: walls of 0.02 m do not fit into 0.04 m by 0.03 m"),
    ],
)
def test_what_is_refused(make, says):
    with pytest.raises(cc.ModelError, match=says):
        make()
