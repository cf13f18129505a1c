"""What a run by an equivalent rigid-link system says about itself."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.erls import ERLS
from closedchain.results.beams.deflection import beam


@pytest.fixture(scope="module")
def bars():
    """A four-bar whose crank a motor turns, with a flexible coupler of aluminium."""
    m = cc.Mechanism("bars", gravity=(0, -9.81, 0))
    crank, rocker = m.body("crank", cc.rod(0.2, 0.3)), m.body("rocker", cc.rod(0.6, 0.3))
    coupler = m.body("coupler", cc.rod(0.8, 0.4))
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, coupler)
    m.revolute("C", m.ground.at(0.7, 0, 0), rocker)
    m.revolute("B", coupler.tip, rocker.tip)
    m.motor("O", 3.0)
    coupler.flexible(70e9, cc.Section(A=1.6e-4, Iz=8.5e-10), shapes=cc.shapes.craig_bampton(y=1))
    m.start = {"O": 1.0}
    return m


@pytest.fixture(scope="module")
def run(bars):
    return cc.simulate(bars, until=0.1, rtol=1e-3, t_eval=[0.0, 0.05, 0.1], method=ERLS(elements=1))


def test_the_beam_that_stretches_is_named(bars, run):
    assert not run.complaints()
    soft = {"coupler.section.A": 1e-9}  # while the coupler weighs 4 N
    with pytest.warns(cc.RunWarning, match=r"'coupler' stretches by .* % of its length \(E A = 70 N\)"):
        found = cc.simulate(bars, until=0.1, rtol=1e-3, t_eval=[0.0, 0.1], method=run.method, parameters=soft)
    assert not any("which is rigid" in x for x in found.complaints())


def test_a_coordinate_at_a_dead_point_is_named(bars):
    with pytest.raises(cc.RunError, match=r"coordinate 'C' comes to a dead point.*coordinates=\('O',\)"):
        cc.simulate(bars, until=0.3, rtol=1e-3, t_eval=[0.0, 0.3], method=ERLS(elements=1, coordinates="C"))


def test_advice_is_about_what_can_be_changed(bars, run):
    with pytest.raises(cc.RunError, match=r"max_steps of the solver, .* fewer elements") as no:
        cc.simulate(bars, until=0.1, rtol=1e-3, method=run.method, solver=cc.solvers.ESDIRK4(max_steps=2))
    assert "radau5" not in str(no.value)
    with pytest.raises(cc.ModelError, match="a state of its rigid-link system"):
        cc.simulate(bars, run.state(), until=0.2)
    with pytest.raises(cc.ModelError, match=r"goes along paths by name.*not Run.*run\['joint.drive'\]"):
        cc.inverse_dynamics(bars, run)
    assert run.metadata["method"] == "ERLS(elements=1)"


def test_verbs_of_other_runs(run):
    part = run.window(until=0.06)
    assert part.t.tolist() == [0.0, 0.05] and part.record == []
    np.testing.assert_array_equal(part["C"], run["C"][:2])
    assert run.window(0.01, every=2).t.tolist() == [0.1] and run.thinned() is run
    assert run.thinned(2).t.tolist() == [0.0, 0.1]
    with pytest.raises(cc.ModelError, match="no sample between 1 and 2 s"):
        run.window(1.0, 2.0)
    with pytest.raises(cc.ModelError, match="keeps its samples only"):
        run.sol(0.05)
    with pytest.raises(cc.ModelError, match="has no balance"):
        run.balance()


def test_section_forces_from_derivatives(run):
    bent = run.beam("coupler", [0.0, 0.4, 0.8], forces="shapes")
    assert bent.way == "shapes"
    # one cubic element: its curvature is linear, its shear force constant
    moments = bent["Mz"].values
    np.testing.assert_allclose(moments[:, 1], (moments[:, 0] + moments[:, 2]) / 2, atol=1e-9 * np.abs(moments).max())
    np.testing.assert_array_equal(beam(run, "coupler", [0.4], forces="shapes")["Mz"][:, 0], moments[:, 1])
    with pytest.raises(cc.ModelError, match="forces must be 'equilibrium' or 'shapes', not 'both'"):
        run.beam("coupler", forces="both")


def test_axial_loads_that_bending_does_not_know_are_told(run, monkeypatch):
    share = run.beam("coupler").maximum("buckling_y").value
    assert abs(share) < 0.1  # no warning
    monkeypatch.setattr("closedchain.results.beams.fields.AXIAL", 0.9 * abs(share))
    with pytest.warns(cc.RunWarning, match="of its buckling load"):
        run.beam("coupler")


def test_the_terms_of_the_paper_own_up_to_the_energy_they_make():
    """What (28) and (31) drop is of first order in the displacements: a soft beam shows it."""
    m = cc.Mechanism("soft beam", gravity=(0, -9.81, 0))
    beam = m.body("beam", cc.rod(0.5, 0.81))
    beam.flexible(E=5e8, section=cc.Section.rectangle(y=0.02, z=0.03), shapes=cc.shapes.polynomials(y=1))
    m.revolute("hinge", m.ground, beam)
    with pytest.warns(
        cc.RunWarning, match=r"energy of 'soft beam' is off by .*terms='paper' drops.*terms='consistent'"
    ):
        run = cc.simulate(m, until=0.3, rtol=1e-6, method=cc.ERLS(terms="paper", zero="base"))
    whole = cc.simulate(m, until=0.3, rtol=1e-6, method=cc.ERLS(zero="base"))
    assert not run.good and whole.good
    assert float(abs(run.energy_error).max()) > 1e3 * float(abs(whole.energy_error).max())
