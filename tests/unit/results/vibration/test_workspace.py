"""How frequencies change over the workspace."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.results.vibration.workspace import frequencies_over
from tests.unit.results.beams.flexible_motions import crossing, driven_slider_crank, flexible_four_bar, two_beams


def test_a_turn_of_the_crank_changes_nothing_between_the_pins():
    found = frequencies_over(flexible_four_bar(), {"O": np.linspace(0, 2, 4)})
    assert found["frequency"].dims == ("O", "mode") and found["O"].attrs["units"] == "rad"
    np.testing.assert_allclose(found["frequency"], [[10.44829, 41.79315]] * 4, rtol=1e-6)
    assert found.attrs["locked"] == "O"
    np.testing.assert_allclose(found["likeness"], 1.0, atol=1e-3)


def test_a_drive_does_not_keep_its_coordinate_from_being_moved():
    m = driven_slider_crank()
    here = m.modes(locked=["O"]).frequencies
    for locked in (None, ["O"], []):
        found = frequencies_over(m, {"O": [0.1, 0.5]}, locked=locked)
        np.testing.assert_allclose(found["frequency"], [here, here], rtol=1e-9)
        assert found.attrs["locked"] == "O"


def test_curves_cross_and_do_not_jump():
    m = crossing()
    held = ["fixed hinge", "loaded hinge", "slide"]
    out = np.linspace(-0.5, 0.3, 9)
    found = frequencies_over(m, {"slide": out}, locked=held)["frequency"].values
    by_body = [m.modes(m.assemble({"slide": x}), locked=held) for x in out]
    # the beam without the rider has the same frequency everywhere: it is one curve, although another one crosses it
    same = np.ptp(found, axis=0) < 1e-9
    assert same.tolist().count(True) == 1
    fixed, loaded = found[:, same][:, 0], found[:, ~same][:, 0]
    assert ((loaded - fixed)[0] > 0) != ((loaded - fixed)[-1] > 0)
    for one, pair in zip(by_body, found, strict=True):
        assert sorted(pair) == pytest.approx(one.frequencies.tolist(), rel=1e-12)


def test_grids_paths_and_states():
    m = two_beams()
    grid = frequencies_over(m, {"slim hinge": [0.0, 0.5], "strong hinge": [0.0, 0.1, 0.2]}, count=3)
    assert grid["frequency"].sizes == {"slim hinge": 2, "strong hinge": 3, "mode": 3}
    assert float(grid["frequency"].std(("slim hinge", "strong hinge")).max()) < 1e-9
    path = frequencies_over(m, {"slim hinge": [0.0, 0.5], "strong hinge": [0.0, 0.1]}, together=True)
    assert path["frequency"].dims == ("pose", "mode") and path["strong hinge"].values.tolist() == [0.0, 0.1]
    states = frequencies_over(m, [m.assemble({"slim hinge": x, "strong hinge": 0.0}) for x in (0.0, 1.0)])
    np.testing.assert_allclose(states["frequency"], path["frequency"], rtol=1e-12)
    assert states.attrs["locked"] == "slim hinge, strong hinge"


def test_where_there_is_no_pose_there_is_no_frequency():
    m = cc.library.four_bar(flexible=True)
    found = frequencies_over(m, {"C": [1.3, 3.0]}, locked=["C"])
    assert np.isfinite(found["frequency"].values[0]).all() and np.isnan(found["frequency"].values[1]).all()
    with pytest.raises(cc.ModelError, match="no coordinate is named 'Q'"):
        frequencies_over(m, {"Q": [0.0]})
    with pytest.raises(cc.ModelError, match="equally many values"):
        frequencies_over(m, {"O": [0.0], "A": [0.0, 1.0]}, together=True)
    with pytest.raises(cc.ModelError, match="or states of this mechanism"):
        frequencies_over(m, [1.0])
    with pytest.raises(cc.ModelError, match="or states of this mechanism"):
        frequencies_over(m, 5)
    with pytest.raises(cc.ModelError, match="'O' takes numbers"):
        frequencies_over(m, {"O": "a"})
    for wrong in (0, -1, "a"):
        with pytest.raises(cc.ModelError, match=f"of at least 1, not {wrong!r}"):
            frequencies_over(m, {"O": [0.0]}, count=wrong)
    with pytest.raises(cc.ModelError, match="names of coordinates"):
        frequencies_over(m, {"O": [0.0]}, locked=5)
