"""The verbs of a run with flexible links."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.results.beams.deflection import beam, deflection, stress, tip_deflection
from closedchain.results.beams.rigid_motion import rigid_run
from closedchain.results.vibration.spectrum import dominant
from tests.unit.results.beams.flexible_motions import clamped, four_bar_run

PINNED = 10.448  # Hz: first frequency of the coupler between fixed pins (Wang et al. 2002)


def test_the_middle_of_the_coupler_is_its_first_coordinate():
    run = four_bar_run()
    found = deflection(run, "coupler", 0.5)
    np.testing.assert_allclose(found.sel(axis="y"), run["coupler.y1"], atol=1e-15)  # the second shape is zero there
    np.testing.assert_array_equal(found.sel(axis="x"), 0.0)
    assert (found.attrs["units"], found.attrs["at"], found.attrs["body"]) == ("m", 0.5, "coupler")
    # both pins stay where they are: frame and chord are the same
    np.testing.assert_allclose(deflection(run, "coupler", 0.5, against="chord"), found, atol=1e-15)


def test_a_tip_has_no_deflection_against_its_chord():
    state = clamped(cc.shapes.polynomials(y=3)).equilibrium()
    assert deflection(state, "arm", 1.0).sel(axis="y").item() == pytest.approx(-0.003605175)
    assert deflection(state, "arm", 1.0, against="chord").sel(axis="y").item() == 0.0


def test_the_dominant_frequency_of_the_coupler():
    """The crank is free and gives way: the frequency is some per cent above that between fixed pins."""
    line = dominant(deflection(four_bar_run(), "coupler").sel(axis="y"), above=5.0)
    assert PINNED < line.frequency < 1.06 * PINNED
    assert 2e-3 < line.amplitude < 5e-3


def test_stress_tells_its_largest_value():
    rest = clamped(cc.shapes.clamped_free(y=2)).equilibrium()
    found = stress(rest, "arm")
    assert set(found.data_vars) == {"axial_stress", "bending_stress", "normal_stress", "shear_stress", "von_mises"}
    assert found.attrs["largest"] == pytest.approx(5.76828 * 0.01 / 2e-8, rel=1e-9)
    assert (found.attrs["largest_x"], found.attrs["largest_time"]) == (0.0, 0.0)


def test_places_as_wanted_and_by_shapes():
    run = four_bar_run()
    fields = beam(run, run.mechanism.bodies["coupler"], [1.0, 3.0], forces="shapes")
    assert fields["Mz"].shape == (len(run.t), 2) and fields.way == "shapes" and not fields["N"].values.any()
    assert np.abs(beam(run, "coupler", [1.0])["N"].values).max() > 5.0


# ---- against rigid links --------------------------------------------------------------------------------------------


def test_a_point_of_the_coupler_against_the_rigid_pose():
    """With the crank at the same angle, and pins that stay where they are, the difference is the deflection itself."""
    run = four_bar_run().window(until=0.05)
    middle = run.mechanism.bodies["coupler"].at(2.0, 0, 0)
    found = tip_deflection(run, middle, same="joints", axes="frame")
    np.testing.assert_allclose(found["displacement"], deflection(run, "coupler"), atol=1e-12)  # of an assembly
    np.testing.assert_allclose(found["distance"], np.abs(run["coupler.y1"]), atol=1e-12)


def test_against_the_rigid_run():
    run = four_bar_run()
    rigid = rigid_run(run)
    assert rigid.mechanism.flexible == {} and rigid.solver == run.solver and rigid.rtol == run.rtol
    np.testing.assert_array_equal(rigid.t, run.t)
    found = tip_deflection(run, "coupler.tip", rigid)
    away = run.frame("coupler.tip")["position"].values - rigid.frame("coupler.tip")["position"].values
    np.testing.assert_array_equal(found["displacement"], away)
    assert found["distance"][0] == 0.0 and 1e-4 < found["distance"].max() < 0.05
    assert found.attrs["same"] == "efforts"


# ---- what is wrong ---------------------------------------------------------------------------------------------------


def test_wrong_questions():
    run = four_bar_run()
    with pytest.raises(cc.ModelError, match="body 'crank' is rigid"):
        beam(run, "crank")
    with pytest.raises(cc.ModelError, match="body 'copler' is not there; did you mean 'coupler'"):
        deflection(run, "copler")
    with pytest.raises(cc.ModelError, match=r"from 0 to 1 \(the origin and the end of the beam\)"):
        deflection(run, "coupler", 2.0)
    with pytest.raises(cc.ModelError, match="against must be 'frame' or 'chord', not 'wall'"):
        deflection(run, "coupler", against="wall")
    with pytest.raises(cc.ModelError, match="forces must be 'equilibrium' or 'shapes', not 'guess'"):
        beam(run, "coupler", forces="guess")
    with pytest.raises(cc.ModelError, match="same must be 'efforts' or 'joints'"):
        tip_deflection(run, "coupler.tip", same="motors")
    with pytest.raises(cc.ModelError, match="no von mises of 'coupler'"):
        stress(run, "coupler")
    with pytest.raises(cc.ModelError, match="has no flexible body"):
        beam(cc.library.four_bar().assemble(), "coupler")
    with pytest.raises(cc.ModelError, match="the rigid run has other times"):
        tip_deflection(run, "coupler.tip", rigid_run(run.window(until=0.05)))


def test_another_kind_of_solution_joins_in(monkeypatch):
    """Deflections of a run are those of its solution's beams, whatever its equations are."""
    run, other = four_bar_run(), four_bar_run().window()
    monkeypatch.setattr(other.solution, "beam", lambda body, x, forces: beam(run, body, x, forces="shapes"))
    monkeypatch.setattr(other.solution, "_samples", None)  # of shapes: not asked for
    np.testing.assert_array_equal(deflection(other, "coupler"), deflection(run, "coupler"))
