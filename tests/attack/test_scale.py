"""Mechanisms in other units, and that the judge sees another motion and other steps."""

import copy

import numpy as np
import pytest

import closedchain as cc
from benchmarks.attack import scale
from benchmarks.attack.data import as_data, drawn
from benchmarks.attack.kinds import run_case


@pytest.mark.parametrize("number", range(10))
def test_the_same_motion_in_other_units(number):
    outcome = run_case("scale", 100, number)

    assert outcome.label == "same", f"{outcome.label} {outcome.finding}\n{outcome.reproduce}"


def four_bar():
    data = as_data(cc.library.four_bar())
    data["calls"] = [
        ["motor", ["O"], {"torque": 6.0, "coordinate": 0}],
        ["joint_damper", ["C", 0.3], {"coordinate": 0}],
    ]
    data["simulate"] = {"until": 0.5, "rtol": 1e-7}
    return data


def test_scaling_there_and_back_changes_nothing():
    data = four_bar()

    there = scale.scaled(data, 0.5, 4.0, 0.25)

    assert there != data
    assert scale.scaled(there, 2.0, 0.25, 4.0) == data


def test_energies_scale_as_they_should():
    small, large = (scale.simulated(d) for d in (four_bar(), scale.scaled(four_bar(), 2.0, 8.0, 1.0)))

    np.testing.assert_allclose(large["kinetic_energy"], 32 * small["kinetic_energy"], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(large["work"], 32 * small["work"], rtol=1e-5, atol=1e-6)


def test_the_judge(monkeypatch, rng):
    def wrong(data, *by):
        data = copy.deepcopy(data)
        data["bodies"][0]["mass"] *= 1.001
        return data

    monkeypatch.setattr(scale, "scaled", wrong)

    assert scale.compared(four_bar(), [1.0, 1.0, 1.0], True, rng).label == "another motion"


def test_what_is_refused_in_other_units_is_a_finding(monkeypatch, rng):
    def wrong(data, *by):
        return data | {"bodies": []}

    monkeypatch.setattr(scale, "scaled", wrong)

    assert scale.compared(four_bar(), [1.0, 1.0, 1.0], True, rng).label == "refused in other units"
    assert drawn(four_bar()).name
