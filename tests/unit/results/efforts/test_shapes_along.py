"""Inverse dynamics of flexible mechanisms: statics, slow paths, runs, and paths that make links vibrate."""

import numpy as np
import pytest

import closedchain as cc
from tests.unit.results.beams.flexible_motions import driven_slider_crank, flexible_four_bar


def drawn(torque=0.0):
    """A clamped beam on a motor, with a mass at its tip."""
    m = cc.Mechanism("arm", gravity=(0, -9.81, 0))
    beam = m.body("beam", cc.rod(length=0.5, mass=1.2))
    beam.flexible(E=70e9, section=cc.Section.rectangle(y=0.006, z=0.03), shapes=cc.shapes.craig_bampton(y=2))
    load = m.body("load", cc.point_mass(0.8))
    m.revolute("hub", m.ground, beam)
    m.weld("grip", beam.tip, load)
    m.motor("hub", torque=torque)
    m.start = {"hub": 0.0}
    return m


@pytest.fixture(scope="module")
def arm():
    return drawn()


def test_holding_lets_the_beam_sag(arm):
    """Static sag of a cantilever under its own weight and a load; the torque knows how far the load has gone."""
    need = cc.holding_efforts(arm, arm.assemble(hub=0.0))
    EI, w, g = 70e9 * 0.03 * 0.006**3 / 12, 1.2 / 0.5, 9.81
    sag = -(w * g * 0.5**4 / (8 * EI) + 0.8 * g * 0.5**3 / (3 * EI))
    tip = need.motion.frame("beam.tip").position.values[0]
    assert tip[1] == pytest.approx(sag, rel=1e-9)
    assert float(need["hub"][0]) == pytest.approx(g * (1.2 * 0.25 + 0.8 * 0.5), rel=1e-12)


def test_holding_does_not_care_where_a_drive_goes():
    m = driven_slider_crank()
    need = cc.holding_efforts(m)
    rigid = cc.holding_efforts(m.rigid_twin())
    # a rod that sags pushes on the same pins: by the cosine of its slope, 1e-5, less far
    assert float(need["O"][0]) == pytest.approx(float(rigid["O"][0]), rel=1e-4)
    assert float(need["O speed"][0]) == 0 and need.motion["rod.y1"][0] < 0
    # virtual work along O: of the weights of crank and rod, and of nothing else
    t = 0.5
    slope = 0.1 * np.cos(t) / 0.3 / np.cos(np.arcsin(0.1 * np.sin(t) / 0.3))
    lift = 0.1 * np.cos(t) - 0.15 * slope * np.cos(np.arcsin(0.1 * np.sin(t) / 0.3))
    assert float(rigid["O"][0]) == pytest.approx(9.81 * (0.5 * 0.05 * np.cos(t) + 0.1 * lift), rel=1e-9)


def test_efforts_know_the_beams_along_their_path(arm):
    need = cc.holding_efforts(arm, arm.assemble(hub=0.0))
    root = 9.81 * (1.2 * 0.25 + 0.8 * 0.5)
    assert need.beam("beam").maximum("Mz").value == pytest.approx(-root, rel=1e-9)
    assert need.stress("beam").attrs["largest"] == pytest.approx(root / (0.03 * 0.006**2 / 6), rel=1e-6)  # no shear
    sag = need.deflection("beam", 1.0).sel(axis="y")
    np.testing.assert_array_equal(need.motion.deflection("beam", 1.0).sel(axis="y"), sag)
    np.testing.assert_array_equal(need.motion.beam("beam", [0.5])["v"][:, 0], sag)
    with pytest.raises(cc.ModelError, match="a motion has no efforts"):
        need.motion.beam("beam", forces="equilibrium")
    assert need.motion.plot_deformed(magnify=5).axes


def test_the_run_of_the_efforts_is_the_path(arm):
    """Round trip: a slow path, its torques, and a run under these torques from where the path begins."""
    need = cc.inverse_dynamics(arm, {"hub": lambda t: 0.4 * cc.math.sin(2 * t) - 0.3}, until=1.0, samples=201)
    moved = drawn(need.signal("hub"))
    start = cc.State(moved, need.motion.samples.q[0], need.motion.samples.v[0])
    run = cc.simulate(moved, start, until=1.0, rtol=1e-9, t_eval=need.motion.t)
    # signals are thinned to 1e-8 of their size, and torques are right to 1e-6
    assert np.abs(run["hub"].values - need.motion["hub"].values).max() < 1e-5
    assert np.abs(run["beam.y1"].values - need.motion["beam.y1"].values).max() < 1e-6


def test_all_methods_agree(arm):
    path = {"hub": lambda t: 0.4 * cc.math.sin(2 * t)}
    methods = ("projection", "denoc", "virtual-spring")
    efforts = [cc.inverse_dynamics(arm, path, until=1.0, samples=41, method=x)["hub"].values for x in methods]
    assert efforts[1] == pytest.approx(efforts[0], abs=1e-10) and efforts[2] == pytest.approx(efforts[0], abs=1e-10)


def test_efforts_along_a_run_are_those_of_its_motor(arm):
    run = cc.simulate(arm, arm.assemble(hub=0.3), until=0.2, rtol=1e-9)
    assert np.abs(cc.inverse_dynamics(arm, run)["hub"].values).max() < 1e-9  # no torque acts


def test_a_path_that_shakes_the_beam_is_refused(arm):
    with pytest.raises(cc.ModelError, match=r"flexible bodies of 'arm' would vibrate: .* m.drive"):
        cc.inverse_dynamics(arm, {"hub": lambda t: 0.1 * cc.math.sin(60 * t)}, until=0.3, samples=201)
    m = flexible_four_bar()  # so fast that its coupler would have to be longer than the loop allows
    with pytest.raises(cc.ModelError, match=r"would vibrate: bent as its accelerations ask, .* m.drive"):
        cc.inverse_dynamics(m, {"O": lambda t: 1 + 0.3 * cc.math.sin(1000 * t)}, until=0.02)


def test_a_motion_that_is_not_bent_as_it_should_be_is_refused(arm):
    straight = cc.follow(arm, {"hub": lambda t: 0.4 * cc.math.sin(2 * t)}, until=1.0, samples=21)
    assert np.all(straight["beam.y1"].values == 0)
    with pytest.raises(cc.ModelError, match=r"does not bend its flexible bodies .* Give the path itself"):
        cc.inverse_dynamics(arm, straight)
