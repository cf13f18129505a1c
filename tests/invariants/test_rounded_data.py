"""Drawings whose numbers are rounded: loops that are closed more than once do not fit exactly."""

import numpy as np
import pytest

import closedchain as cc
from tests.invariants.drawings import TILT, relative_energy_error


def four_bar(decimals, tolerance):
    """Four hinges in space, in a plane that is tilted; the place of the second pivot is rounded."""
    m = cc.Mechanism("rounded", gravity=(0, -9.81, 0), tolerance=tolerance)
    lengths = {"crank": 1.0, "coupler": 2.5, "rocker": 2.0}
    crank, coupler, rocker = (m.body(name, cc.rod(x, mass=x, radius=0.02)) for name, x in lengths.items())
    m.revolute("O", m.ground.at(0, 0, 0, R=TILT.tolist()), crank)
    m.revolute("A", crank.tip, coupler)
    m.revolute("C", m.ground.at(*np.round(TILT @ [2, 0, 0], decimals).tolist(), R=TILT.tolist()), rocker)
    m.revolute("B", coupler.tip, rocker.tip)
    return m


def run(decimals, tolerance):
    m = four_bar(decimals, tolerance)
    return cc.simulate(m, m.assemble(O=1.0, guess={"A": -1.0, "C": 1.5}), until=5.0, rtol=1e-9)


@pytest.mark.parametrize(("decimals", "tolerance"), [(9, 1e-9), (6, 1e-6), (4, 1e-4)])
def test_the_motion_is_right_to_the_digits_given(decimals, tolerance):
    exact, rounded = run(16, 0.0), run(decimals, tolerance)
    assert rounded.good and rounded.mechanism.mobility(rounded.start).true == 1
    # half a unit of the last digit is amplified by a swing of 5 s
    assert np.abs(rounded["O"].values - exact["O"].values).max() < 20 * tolerance
    assert float(rounded.closure_error.max()) < tolerance
    assert relative_energy_error(rounded) < max(1e-7, tolerance)


def test_without_a_tolerance_the_message_says_which_would_do():
    with pytest.raises(cc.AssemblyError, match=r"(?s)closed more than once .* tolerance=1e-07\)"):
        four_bar(6, 0.0).assemble(O=1.0, guess={"A": -1.0, "C": 1.5})


@pytest.mark.parametrize("tolerance", [-1.0, 0.1, "1e-6"])
def test_a_tolerance_that_makes_no_sense(tolerance):
    with pytest.raises(cc.ModelError, match="tolerance is between 0 and 1e-3"):
        cc.Mechanism("loose", tolerance=tolerance)
