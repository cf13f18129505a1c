"""The true error of good runs, and that the judge sees an error that is too large."""

import numpy as np
import pytest

import closedchain as cc
from benchmarks.attack import accuracy
from benchmarks.attack.kinds import random_numbers, run_case
from benchmarks.attack.motion import distance, growth, poses
from closedchain.close.methods import METHODS
from closedchain.integrate.solvers import SOLVERS


@pytest.mark.parametrize("number", range(6))
def test_a_good_run_is_as_exact_as_it_says(number):
    outcome = run_case("accuracy", 100, number)

    assert not outcome.finding, f"{outcome.finding}\n{outcome.reproduce}"


def test_every_method_takes_its_turn_with_every_solver_that_marches_it():
    assert set(accuracy.PAIRS) == {
        (name, solver)
        for name, method in METHODS.items()
        for solver in SOLVERS
        if method.kind in SOLVERS[solver].marches
    }
    of_elements = {"esdirk4"}  # marches nothing else
    assert {solver for _, solver in accuracy.PAIRS} == set(SOLVERS) - of_elements


def test_an_error_that_is_too_large_is_a_finding(monkeypatch, rng):
    monkeypatch.setattr(accuracy, "distance", lambda a, b: 1.0)

    assert accuracy.rigid(random_numbers("accuracy", 100, 0)).label == "less exact than it says"
    assert accuracy.judged("it", "it", float("nan"), 1e-6, 1.0, "").finding


def test_growth_of_a_pendulum_that_hangs_and_of_one_that_stands(rng):
    m = cc.library.pendulum()
    hanging, standing = (cc.simulate(m, m.assemble(hinge=x), 1.0, rtol=1e-11) for x in (-np.pi / 2, np.pi / 2))

    assert growth(hanging, rng) < 3
    assert 5 < growth(standing, rng) < 200  # exp(sqrt(3 g / 2 L)) is 46
    assert distance(poses(hanging), poses(hanging)) == 0
