"""The recipe of `closedchain.integrate.solvers`: Heun's method from its tableau, checked, and run on a mechanism."""

from dataclasses import dataclass

import numpy as np
import pytest

import closedchain as cc
from closedchain.integrate.methods.tableaus import Tableau
from closedchain.integrate.solvers import SOLVERS, FixedStep, StepControlled, explicit, listed
from closedchain.march import run_loop
from closedchain.testing import check_solver

A, B, C = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([0.5, 0.5]), np.array([0.0, 1.0])
HEUN = Tableau(A, B, C, E=np.zeros((0, 2)), D=np.zeros((0, 2)))
HEUN_EULER = Tableau(A, B, C, E=np.array([[-0.5, 0.5]]), D=np.zeros((0, 2)))


@dataclass(frozen=True, kw_only=True)
class Heun(FixedStep):
    """Heun's method of order 2, with a fixed step."""

    name = "heun"
    order, dense_order = 2, 2
    home = explicit(HEUN)
    citation = "Heun (1900), Zeitschrift fuer Mathematik und Physik 45, 23-38"


@dataclass(frozen=True, kw_only=True)
class HeunEuler(StepControlled):
    """The same with step control by Euler's method, and an option of its own."""

    name = "heun-euler"
    order, dense_order, error_order = 2, 2, 2
    home = explicit(HEUN_EULER)
    citation = Heun.citation

    label: str = ""


@pytest.fixture
def in_the_table():
    """Both solvers, listed for a test."""
    for kind in (Heun, HeunEuler):
        assert listed(kind) is kind
    yield
    for kind in (Heun, HeunEuler):
        SOLVERS.pop(kind.name)


def test_the_checks_of_the_library_pass():
    found = check_solver(Heun)
    assert found["order on 'quaternion'"] > 1.65 and found["order on 'quaternion', not corrected"] < 2.8


@pytest.mark.usefixtures("in_the_table")
@pytest.mark.parametrize(
    "solver", [Heun(step=2e-4), HeunEuler(first_step=1e-4, max_step=2e-4)], ids=["fixed", "controlled"]
)
def test_it_runs(solver):
    m = cc.library.four_bar()
    run, reference = cc.simulate(m, until=0.3, solver=solver), cc.simulate(m, until=0.3)
    # of order 2: 4e-8 times the third derivatives of a motion of some rad/s
    np.testing.assert_allclose(run["O"].values, reference["O"].values, rtol=0, atol=1e-5)
    assert abs(run["O"].values[-1] - run["O"].values[0]) > 0.05


@pytest.mark.usefixtures("in_the_table")
def test_options_of_its_own_reach_every_piece(monkeypatch):
    seen, usual = [], run_loop.integrate

    def watched(solver, *args):
        seen.append(solver)
        return usual(solver, *args)

    monkeypatch.setattr(run_loop, "integrate", watched)
    m = cc.library.four_bar()
    asked = HeunEuler(label="mine", first_step=1e-4, max_steps=10_000)
    run = cc.simulate(m, until=0.01, solver=asked, t_eval=[0.0, 0.01])
    assert seen == [asked]
    assert run.solution.rigid_start(run.task)[1]["solver"] == asked
