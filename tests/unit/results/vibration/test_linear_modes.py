"""Which bodies deform in a mode, and in which shape."""

import functools

import numpy as np
import pytest

import closedchain as cc
from closedchain.look.outline import mode_outline
from closedchain.results.vibration.linear_modes import LinearModes
from tests.unit.results.beams.flexible_motions import clamped, flexible_four_bar, two_beams


@functools.cache
def about():
    return flexible_four_bar().modes()


# ---- energies --------------------------------------------------------------------------------------------------------


def test_shares_add_up():
    found = about().energies
    np.testing.assert_allclose(found["kinetic"].sum("body"), 1.0, rtol=1e-12)
    elastic = found["elastic"].sel(body="coupler").values
    # the first mode swings under gravity; of the others gravity has the rest, some 1e-4
    assert elastic[0] < 1e-3 and elastic[1:] == pytest.approx([1.0, 1.0], abs=1e-3)
    np.testing.assert_array_equal(found["elastic"].sel(body=["crank", "rocker"]), 0.0)


def test_without_gravity_all_energy_is_elastic():
    found = two_beams().modes(locked="motors").energies
    np.testing.assert_allclose(found["elastic"].sum("body"), 1.0, rtol=1e-10)
    # nothing couples the two: each mode is of one beam
    owner = ["slim", "strong", "slim", "strong"]
    for k, name in enumerate(owner):
        assert float(found["elastic"].isel(mode=k).sel(body=name)) == pytest.approx(1.0, rel=1e-10)
        assert float(found["kinetic"].isel(mode=k).sel(body=name)) == pytest.approx(1.0, rel=1e-10)


def test_damped_modes_have_shares_too():
    m = clamped(cc.shapes.clamped_free(y=2), g=0.0, damping=0.02)
    found = m.modes(here=True).energies
    # the damping is the same in both modes, and so small that they stay what they are
    assert found["elastic"].sel(body="arm").values == pytest.approx([1.0, 1.0], abs=1e-3)


def test_a_rigid_motion_has_no_elastic_share():
    m = two_beams()
    found = m.modes(here=True).energies
    assert np.isnan(found["elastic"].values[:2]).all() and np.isfinite(found["elastic"].values[2:]).all()


def test_the_table_tells_which_bodies_deform():
    headings, rows = about().cells()
    assert headings[4].startswith("deforms") and [row[4] for row in rows] == ["-", "coupler 100 %", "coupler 100 %"]
    assert [row[:4] for row in rows] == [row[:4] for row in about().rows()]
    rigid = cc.library.pendulum()
    plain = LinearModes(rigid.linearise(rigid.equilibrium({"hinge": -1.0})))
    assert plain.cells()[0] == ("mode", "frequency [Hz]", "damping", "eigenvalue [1/s]", "moves most")
    assert two_beams().modes(locked="motors").deforms()[:2] == ["slim 100 %", "strong 100 %"]


# ---- shapes ----------------------------------------------------------------------------------------------------------


def test_a_mode_moves_joints_together():
    phases = np.linspace(0, np.pi, 5)
    shape = mode_outline(about(), 2, phases)
    assert shape.displacement == pytest.approx(1.0)
    lines = {line.body: k for k, line in enumerate(shape.lines)}
    crank, coupler, rocker = (shape.bent[lines[x]] - shape.rigid[lines[x]] for x in ("crank", "coupler", "rocker"))
    # both sides of A, and of the cut joint B: 1e-6 of a difference quotient's rounding, over a step of 1e-6
    tip = np.linalg.norm(crank[0], axis=1).argmax()
    np.testing.assert_allclose(crank[:, tip], coupler[:, 0], atol=1e-9)
    far = np.linalg.norm(rocker[0], axis=1).argmax()
    np.testing.assert_allclose(rocker[:, far], coupler[:, -1], atol=1e-9)
    np.testing.assert_allclose(shape.bent[0][0] - shape.rigid[0][0], -(shape.bent[0][4] - shape.rigid[0][4]), atol=1e-9)
    assert not np.ptp(shape.rigid[0], axis=0).any()
