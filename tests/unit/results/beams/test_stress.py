"""Stresses of sections against closed forms."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.results.beams.fields import FORCES, BeamFields
from closedchain.results.beams.numbers import BeamNumbers
from tests.unit.results.beams.flexible_motions import MASS


def loaded(beam, undetermined=(), **forces):
    """A beam with the same section forces everywhere."""
    given = {name: np.full((1, 3), forces.get(name, 0.0)) for name in FORCES}
    x = np.linspace(0, beam.length, 3)
    return BeamFields.from_shapes(
        beam, cc.shapes.pinned_pinned(y=1), [0.0], [[0.0]], x, forces=given, undetermined=undetermined
    )


def numbers(section):
    m = cc.Mechanism("m")
    m.body("arm", cc.rod(0.5, MASS)).flexible(5e9, section, shapes=cc.shapes.pinned_pinned(y=1))
    return BeamNumbers.of(m.flexible["arm"], m.values())


def test_stress_of_a_rectangle():
    beam = numbers(cc.Section.rectangle(y=0.02, z=0.03))
    fields = loaded(beam, N=-600.0, My=3.0, Mz=-2.0, T=4.0)
    by_y, by_z = 2.0 * 0.01 / 2e-8, 3.0 * 0.015 / 4.5e-8
    assert fields["axial_stress"].values[0, 0] == pytest.approx(-600 / 6e-4)
    assert fields["bending_stress"].values[0, 0] == pytest.approx(by_y + by_z)
    assert fields["normal_stress"].values[0, 0] == pytest.approx(600 / 6e-4 + by_y + by_z)
    # the largest shear stress of a rectangle 1.5 to 1 is T / (0.2310 b c^2): Timoshenko and Goodier, section 109
    shear = 4.0 / (0.2310 * 0.03 * 0.02**2)
    assert fields["shear_stress"].values[0, 0] == pytest.approx(shear, rel=1e-3)  # the table has four digits
    expected = np.hypot(600 / 6e-4 + by_y + by_z, np.sqrt(3) * fields["shear_stress"].values[0, 0])
    assert fields.maximum("von_mises").value == pytest.approx(expected)
    assert fields.missing == ()


def test_stress_of_a_tube_has_no_corners():
    beam = numbers(cc.Section.tube(radius=0.02, wall=0.003))
    fields = loaded(beam, My=3.0, Mz=-4.0, T=2.0)
    assert fields["bending_stress"].values[0, 0] == pytest.approx(5.0 * 0.02 / beam.section.Iz)
    assert fields["shear_stress"].values[0, 0] == pytest.approx(2.0 * 0.02 / (2 * beam.section.Iz))


def test_what_a_section_does_not_know_is_told():
    bare = numbers(cc.Section(A=6e-4, Iz=2e-8))
    fields = loaded(bare, N=5.0, Mz=1.0)
    assert fields["axial_stress"].values[0, 0] == pytest.approx(5.0 / 6e-4)
    with pytest.raises(cc.ModelError, match=r"no von mises of 'arm': there is bending along y, for which .* no y"):
        fields["von_mises"]
    # without bending nothing is missing, and what joints leave open does not count
    assert loaded(bare, N=5.0).maximum().value == pytest.approx(5.0 / 6e-4)
    fields = loaded(bare, ("My",), N=5.0, My=1.0)
    assert fields.maximum().value == pytest.approx(5.0 / 6e-4)
    assert fields.missing == ("bending moment about y, which the joints leave open",)
    # torsion without a radius is left out, and told
    fields = loaded(numbers(cc.Section(A=6e-4, Iz=2e-8, J=1e-8, y=0.01)), Mz=1.0, T=1.0)
    assert fields.missing == ("torsion, for which the section has no torsion_radius",)
    assert "torsion" in fields.dataset.attrs["stresses_leave_out"]
