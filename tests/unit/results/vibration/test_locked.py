"""Modes with motors locked, as by brakes."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.results.vibration.locked import motor_coordinates
from tests.unit.results.beams.flexible_motions import ELEMENTARY, driven_slider_crank, flexible_four_bar


def test_locked_motors_leave_the_cantilever():
    found = cc.library.flexible_arm().modes(locked="motors")
    assert found.about.independent == ("beam.y1", "beam.y2", "beam.y3")
    np.testing.assert_allclose(2 * np.pi * found.frequencies, ELEMENTARY["cantilever"]["omega_rad_s"], rtol=1e-10)


def test_a_locked_crank_leaves_the_coupler_between_its_pins():
    found = flexible_four_bar().modes(locked="motors")
    assert found.frequencies == pytest.approx([10.44829, 41.79315], rel=1e-6)
    # sunk under its weight, at rest, with the crank where it was
    assert found.in_equilibrium and found.state["O"] == pytest.approx(np.pi / 2, abs=1e-15)
    # 4 q L^4 / (pi^5 EI): the first term of the sag of a pinned beam, with what of gravity is across the coupler
    across = 9.8 * np.cos(0.3532808961981054)  # its direction at this angle of the crank
    sag = 4 * 0.25 * across * 4.0**4 / (np.pi**5 * 2831.591)
    assert found.state["coupler.y1"] == pytest.approx(-sag, rel=1e-6)  # the digits of E I
    bare = flexible_four_bar().modes(locked="motors", here=True)
    assert not bare.in_equilibrium and bare.state["coupler.y1"] == 0.0


def test_pacdrive_locked_and_free():
    """Frequencies of Vidoni's robot with the paper's mesh and motors locked: the same elements, without gravity."""
    m = cc.library.pacdrive(flexible=True)
    m.gravity = (0.0, 0.0, 0.0)
    found = m.modes(locked="motors").frequencies[:5]
    golden = [12.5404759, 14.4135036, 17.1128143, 31.2383809, 32.6034813]
    assert found == pytest.approx(golden, rel=2e-4)  # static shapes and two normal modes, not the paper's elements


def pinned_rod():
    """Frequencies of the rod of the driven slider-crank between its pins, Hz."""
    stiffness, mass = 70e9 * 0.01 * 0.004**3 / 12, 0.1 / 0.3
    return [(k * np.pi / 0.3) ** 2 * np.sqrt(stiffness / mass) / (2 * np.pi) for k in (1, 2)]


def test_a_drive_holds_its_coordinate_already():
    arm = cc.library.flexible_arm()
    free = arm.modes(locked="motors").frequencies
    arm.drive("hinge", 0 * cc.t)
    np.testing.assert_allclose(arm.modes(locked="motors").frequencies, free, rtol=1e-12)
    m = driven_slider_crank()
    for locked in ([], ["O"], "O", ["O", "O"]):
        np.testing.assert_allclose(m.modes(locked=locked).frequencies, pinned_rod(), rtol=1e-10)
    with pytest.raises(cc.ModelError, match="slide cannot move at this pose: leave it out"):
        m.modes(locked=["slide"])


def test_brakes_beyond_the_freedoms_of_rigid_links_are_told():
    clamped = driven_slider_crank().modes(locked=["O", "A"])
    assert "2 joint coordinates are locked where rigid links leave 1" in clamped.note
    assert "clamp flexible bodies" in str(clamped)
    assert driven_slider_crank().modes(locked=["O"]).note is None


def test_motor_coordinates_and_wrong_names():
    assert motor_coordinates(cc.library.rrr3(flexible=True)) == ["base1", "base2", "base3"]
    with pytest.raises(cc.ModelError, match="no coordinate is named 'B'; it is that of a cut joint"):
        flexible_four_bar().modes(locked=["B"])
    with pytest.raises(cc.ModelError, match="depend on each other"):
        flexible_four_bar().modes(locked=["O", "A", "C", "coupler.y1"])
    with pytest.raises(cc.ModelError, match="nothing of 'four-bar' can move"):
        cc.library.four_bar().modes(locked="motors")
    with pytest.raises(cc.ModelError, match="needs a state of this mechanism"):
        flexible_four_bar().modes(cc.library.four_bar().assemble(), locked="motors")
