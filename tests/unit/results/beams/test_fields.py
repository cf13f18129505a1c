"""Displacements, section forces and stresses of beams against closed forms."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.results.beams.fields import BeamFields
from closedchain.results.beams.numbers import BeamNumbers, SectionNumbers, places
from tests.unit.results.beams.flexible_motions import BEAM, ELEMENTARY, MASS

SECTION = SectionNumbers(A=6e-4, Iy=4.5e-8, Iz=2e-8, J=4e-8, y=0.01, z=0.015)
SQUARE = BeamNumbers("arm", 0.5, MASS, 1e-4, E=5e9, G=1.9e9, section=SECTION)
STATICS = ELEMENTARY["statics"]


def tip_force(x):
    """Deflection and its first three derivatives of the cantilever under 1 N at its tip."""
    L, EI = BEAM["L"], BEAM["EI"]
    return (x**2 * (3 * L - x) / (6 * EI), x * (2 * L - x) / (2 * EI), (L - x) / EI, -np.ones_like(x) / EI)


def test_a_tip_force_in_two_planes():
    # powers hold this load exactly: xi^2 and xi^3, v = F (3 L x^2 - x^3) / 6 EI
    L, EI = BEAM["L"], BEAM["EI"]
    eta = np.array([3.0, -1.0]) * L**3 / (6 * EI)
    fields = BeamFields.from_shapes(SQUARE, cc.shapes.polynomials(y=2, z=2), [0.0], [[*eta, *(-eta / 2.25)]])
    v = tip_force(fields.x)
    assert fields.way == "shapes"
    np.testing.assert_allclose(fields["v"].values[0], v[0], atol=1e-15)
    assert fields["v"].values[0, -1] == pytest.approx(STATICS["cantilever_tip_force_1N"]["deflection"], rel=1e-9)
    np.testing.assert_allclose(fields["rotation"].sel(axis="z").values[0], v[1], atol=1e-15)
    assert fields["rotation"].values[0, -1, 2] == pytest.approx(STATICS["cantilever_tip_force_1N"]["slope"], rel=1e-9)
    np.testing.assert_allclose(fields["Mz"].values[0], L - fields.x, atol=1e-12)
    np.testing.assert_allclose(fields["Vy"].values[0], 1.0, rtol=1e-12)
    # the same force down z on 2.25 times the stiffness: w is negative, and My = -E Iy w'' is positive
    np.testing.assert_allclose(fields["w"].values[0], -v[0] / 2.25, atol=1e-15)
    np.testing.assert_allclose(fields["My"].values[0], L - fields.x, atol=1e-12)
    np.testing.assert_allclose(fields["Vz"].values[0], -1.0, rtol=1e-12)


def test_torsion_and_tension_by_shapes():
    fields = BeamFields.from_shapes(SQUARE, cc.shapes.polynomials(axial=1, torsion=1), [0.0], [[1e-4, 0.02]])
    np.testing.assert_allclose(fields["N"].values, SQUARE.E * SQUARE.section.A * 1e-4 / 0.5)
    np.testing.assert_allclose(fields["T"].values, SQUARE.G * SQUARE.section.J * 0.02 / 0.5)
    assert fields["turn"].values[0, -1] == pytest.approx(0.02)


def test_the_chord_is_the_line_between_the_ends():
    fields = BeamFields.from_shapes(
        SQUARE, cc.shapes.polynomials(y=1, axial=1), [0.0], [[0.01, 0.002]], [0.0, 0.25, 0.5]
    )
    # xi^2 against xi: -1/4 of the tip in the middle; stretching is even
    np.testing.assert_allclose(fields["from_chord"].values[0], [[0, 0, 0], [0, -0.0025, 0], [0, 0, 0]], atol=1e-16)
    np.testing.assert_allclose(fields["displacement"].values[0, 1], [0.001, 0.0025, 0.0], atol=1e-16)


def test_a_bent_beam_that_keeps_its_length_is_shorter():
    eta = [[0.02]]
    fields = BeamFields.from_shapes(SQUARE, cc.shapes.pinned_pinned(y=1), [0.0], eta, stiffening=True)
    # half the integral of v'^2 of a sine: (a pi)^2 / 4 L; N is that of the shapes, zero
    assert fields["u"].values[0, -1] == pytest.approx(-((0.02 * np.pi) ** 2) / (4 * 0.5), rel=1e-12)
    assert fields.ends[0, 1, 0] == pytest.approx(fields["u"].values[0, -1])
    assert not fields["N"].values.any()


def test_elements_are_exact_at_their_nodes_and_between():
    """A cubic deflection, a linear stretch and a linear twist: what the elements can show, on uneven nodes."""
    nodes = np.array([0.0, 0.1, 0.32, 0.5])
    v = tip_force(nodes)
    d = np.zeros((2, 4, 6))
    d[0, :, 1], d[0, :, 5] = v[0], v[1]
    d[0, :, 2], d[0, :, 4] = v[0], -v[1]
    d[1, :, 0], d[1, :, 3] = 1e-3 * nodes, 0.1 * nodes
    fields = BeamFields.from_nodes(SQUARE, [0.0, 1.0], nodes, d)
    exact = tip_force(fields.x)
    np.testing.assert_allclose(fields["v"].values[0], exact[0], atol=1e-16)
    np.testing.assert_allclose(fields["w"].values[0], exact[0], atol=1e-16)
    np.testing.assert_allclose(fields["rotation"].values[0, :, 1], -exact[1], atol=1e-15)
    np.testing.assert_allclose(fields["Mz"].values[0], BEAM["L"] - fields.x, atol=1e-12)
    np.testing.assert_allclose(fields["My"].values[0], -2.25 * (BEAM["L"] - fields.x), atol=1e-12)
    np.testing.assert_allclose(fields["Vy"].values[0], 1.0, rtol=1e-10)
    np.testing.assert_allclose(fields["N"].values[1], SQUARE.E * SQUARE.section.A * 1e-3, rtol=1e-12)
    np.testing.assert_allclose(fields["T"].values[1], SQUARE.G * SQUARE.section.J * 0.1, rtol=1e-12)


def test_end_forces_of_elements_give_the_moments_of_a_distributed_load():
    """Under a uniform load a moment is a parabola: the cubic through end moments with the shears as slopes is exact."""
    L, q = 0.5, 7.0
    nodes = np.linspace(0, L, 3)
    ends = np.zeros((1, 2, 2, 6))
    for e in range(2):
        for k in range(2):
            x = nodes[e + k]
            shear, moment = q * (L - x), q * (L - x) ** 2 / 2
            ends[0, e, k] = [3 * x, shear, -shear, 0.1 * x, moment, moment]
    fields = BeamFields.from_nodes(SQUARE, [0.0], nodes, np.zeros((1, 3, 6)), end_forces=ends)
    x = fields.x
    assert fields.way == "equilibrium"
    np.testing.assert_allclose(fields["Mz"].values[0], q * (L - x) ** 2 / 2, atol=1e-15)
    np.testing.assert_allclose(fields["My"].values[0], q * (L - x) ** 2 / 2, atol=1e-15)
    np.testing.assert_allclose(fields["Vy"].values[0], q * (L - x), atol=1e-14)
    np.testing.assert_allclose(fields["Vz"].values[0], -q * (L - x), atol=1e-14)
    np.testing.assert_allclose(fields["N"].values[0], 3 * x, atol=1e-15)


def test_the_maximum_tells_where_and_when():
    shapes = cc.shapes.pinned_pinned(y=1)
    fields = BeamFields.from_shapes(SQUARE, shapes, [0.0, 0.1, 0.2], [[1e-3], [-3e-3], [2e-3]])
    peak = fields.maximum("Mz")
    assert peak == (pytest.approx(100 * 3e-3 * (np.pi / 0.5) ** 2), pytest.approx(0.25), 0.1)
    assert fields.maximum("displacement").value == pytest.approx(3e-3)


def test_wrong_places_and_names():
    with pytest.raises(cc.ModelError, match=r"places on 'arm' are between 0 and 0.5 m"):
        places(SQUARE, [0.6])
    fields = BeamFields.from_shapes(SQUARE, cc.shapes.pinned_pinned(y=1), [0.0], [[0.0]])
    with pytest.raises(cc.ModelError, match="a beam has no 'von_mise'; did you mean 'von_mises'"):
        fields["von_mise"]
    with pytest.raises(
        cc.ModelError, match="nodes takes places that rise from one end of the beam to the other, at least 2"
    ):
        BeamFields.from_nodes(SQUARE, [0.0], [0.0, 0.0], np.zeros((1, 2, 6)))
