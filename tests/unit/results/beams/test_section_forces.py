"""Section forces by equilibrium: exact whatever the shapes are."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.results.beams.deflection import beam
from tests.unit.results.beams.flexible_motions import BEAM, ELEMENTARY, MASS, SECTION, clamped, four_bar_run

GRAVITY = ELEMENTARY["statics"]["cantilever_gravity"]
SHAPES = {
    "powers": cc.shapes.polynomials(y=3),  # hold a uniform load exactly
    "own modes": cc.shapes.clamped_free(y=3),
    "static": cc.shapes.static(y=True),
}


@pytest.mark.parametrize("shapes", SHAPES.values(), ids=SHAPES)
def test_a_cantilever_under_its_weight(shapes):
    hanging = beam(clamped(shapes).equilibrium(), "arm")
    x, weight = hanging.x, BEAM["mass_per_length"] * 9.81
    # arms are those of the bent beam: gravity has no component along it, so that nothing changes
    np.testing.assert_allclose(hanging["Mz"].values[0], -weight * (BEAM["L"] - x) ** 2 / 2, atol=1e-12)
    np.testing.assert_allclose(hanging["Vy"].values[0], -weight * (BEAM["L"] - x), atol=1e-11)
    assert -hanging["Mz"].values[0, 0] == pytest.approx(GRAVITY["root_moment"], rel=1e-12)
    assert hanging.undetermined == () and hanging.missing == ()
    # sigma = M y / I at the root
    assert hanging.maximum() == (pytest.approx(GRAVITY["root_moment"] * 0.01 / 2e-8), 0.0, 0.0)


def test_the_deflection_is_the_closed_form_where_shapes_hold_it():
    hanging = beam(clamped(SHAPES["powers"]).equilibrium(), "arm")
    assert -hanging["v"].values[0, -1] == pytest.approx(GRAVITY["tip"], rel=1e-12)
    assert -hanging["rotation"].values[0, -1, 2] == pytest.approx(GRAVITY["slope"], rel=1e-12)
    by_shapes = beam(clamped(SHAPES["powers"]).equilibrium(), "arm", forces="shapes")
    np.testing.assert_allclose(by_shapes["Mz"], hanging["Mz"], atol=1e-11)  # 1e-15 of E I v'' and its terms


def test_a_force_and_a_moment_arm_at_the_tip():
    m = clamped(SHAPES["own modes"], g=0.0, push=(2.0, 1.0, 0.5))
    held = beam(m.equilibrium(), "arm")
    v = held["v"].values[0]
    # with the arms of the bent beam: moment of the pull on what is left of the deflection
    np.testing.assert_allclose(held["Mz"].values[0], (BEAM["L"] - held.x) * 1.0 - 2.0 * (v[-1] - v), atol=1e-12)
    np.testing.assert_allclose(held["N"].values[0], 2.0, rtol=1e-12)
    np.testing.assert_allclose(held["Vz"].values[0], 0.5, rtol=1e-12)
    np.testing.assert_allclose(held["My"].values[0], -0.5 * (BEAM["L"] - held.x), atol=1e-13)
    np.testing.assert_allclose(held["T"].values[0], 0.5 * (v[-1] - v), atol=1e-15)


def test_a_rod_that_turns_is_pulled_by_its_own_inertia():
    m = clamped(SHAPES["powers"], g=0.0, turn=100.0 * cc.t)
    with pytest.warns(
        cc.RunWarning, match=r"axial load of 'arm' comes to 149 % of its buckling load .*stiffening=True"
    ):
        turning = beam(m.assemble(), "arm")
    mu, L = BEAM["mass_per_length"], BEAM["L"]
    expected = mu * 100.0**2 * (L**2 - turning.x**2) / 2
    np.testing.assert_allclose(turning["N"].values[0], expected, atol=1e-12 * expected[0])
    assert not beam(m.assemble(), "arm", forces="shapes")["N"].values.any()  # no shape stretches it
    euler = np.pi**2 * BEAM["E"] * turning.beam.section.Iz / L**2
    assert turning.maximum("buckling_y").value == pytest.approx(expected[0] / euler, rel=1e-12)
    stiff = beam(clamped(SHAPES["powers"], g=0.0, turn=100.0 * cc.t, stiffening=True).assemble(), "arm")  # no warning
    np.testing.assert_allclose(stiff["buckling_y"], turning["buckling_y"], rtol=1e-9, atol=1e-12)


def bridge(shapes):
    """A beam on two pins, one of which slides."""
    m = cc.Mechanism("bridge", gravity=(0, -9.81, 0))
    deck = m.body("deck", cc.rod(BEAM["L"], MASS)).flexible(BEAM["E"], SECTION, shapes=shapes)
    shoe = m.body("shoe", cc.point_mass(0.1))
    m.revolute("left", m.ground, deck)
    m.prismatic("slide", m.ground.at(BEAM["L"], 0, 0), shoe, axis=(1, 0, 0))
    m.revolute("right", deck.tip, shoe)
    m.start = {"left": 0.0}
    return m


def test_shear_jumps_at_a_spring_along_the_beam():
    m = bridge(cc.shapes.pinned_pinned(y=3))
    m.spring("prop", m.ground.at(0.25, -0.2, 0), m.bodies["deck"].at(0.25, 0, 0), stiffness=500.0, length=0.2)
    fields = beam(m.equilibrium(), "deck", [0.0, 0.1, 0.25, 0.4, 0.5])
    prop, q = -500.0 * fields["v"].values[0, 2], BEAM["mass_per_length"] * 9.81
    end = (q * BEAM["L"] - prop) / 2  # what each pin carries
    assert prop > 0.1
    # on the part before x: its weight and the left pin, and beyond the middle the prop; in the middle, not yet
    expected = q * fields.x - end - np.array([0, 0, 0, prop, prop])
    np.testing.assert_allclose(fields["Vy"].values[0], expected, rtol=1e-9)
    np.testing.assert_allclose(fields["Mz"].values[0, [0, -1]], 0.0, atol=1e-12)
    np.testing.assert_allclose(fields["Mz"].values[0, 1], end * 0.1 - q * 0.1**2 / 2, rtol=1e-9)


def test_elasticity_decides_what_rigid_bodies_leave_open():
    """A beam clamped at one end and propped at the other: the prop carries 3/8 of a uniform load."""
    m = clamped(SHAPES["powers"])
    m.revolute("prop", m.bodies["arm"].tip, m.ground.at(BEAM["L"], 0, 0))
    fields = beam(m.equilibrium(), "arm")
    load = MASS * 9.81
    assert fields["Vy"].values[0, -1] == pytest.approx(3 / 8 * load, rel=1e-9)
    assert fields["Mz"].values[0, 0] == pytest.approx(-load * BEAM["L"] / 8, rel=1e-9)


def test_pins_of_a_moving_loop_carry_no_moment():
    run = four_bar_run()
    fields = beam(run, "coupler")
    size = np.abs(fields["Mz"].values).max()
    assert size > 5.0
    # the sum over the beam begins at one pin and must vanish at the other: rounding of its terms
    assert np.abs(fields["Mz"].values[:, [0, -1]]).max() < 1e-11 * size
    # across the plane four hinges leave open what they carry
    assert fields.undetermined == ("Vz", "T", "My")
    # at its far end it hands its forces to the rocker
    reaction = np.linalg.norm(run.reaction("B")["force"].values, axis=1)
    np.testing.assert_allclose(np.hypot(fields["N"], fields["Vy"]).values[:, -1], reaction, rtol=1e-9)


def test_many_shapes_give_the_same_as_equilibrium():
    """Sines under a uniform load: the k-th moment is as 1 / k^3, those left out of n sum up to some 1 / n^2."""
    gaps = []
    for count in (3, 7, 15):
        rest = bridge(cc.shapes.pinned_pinned(y=count)).equilibrium()
        a, b = beam(rest, "deck"), beam(rest, "deck", forces="shapes")
        gaps.append(np.abs(a["Mz"].values - b["Mz"].values).max())
        middle = ELEMENTARY["statics"]["simply_supported_gravity"]["mid_moment"]
        assert a["Mz"].values[0, 20] == pytest.approx(middle, rel=1e-9)
    assert gaps[2] < 1e-3 and (np.log2(np.array(gaps[:-1]) / gaps[1:]) > 1.8).all(), gaps
