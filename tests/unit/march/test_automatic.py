"""`solver="auto"`: it stays explicit where that pays, goes over where it does not, and says so."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.integrate.trajectory import Status
from closedchain.march.automatic import Stiffness


def solvers(run):
    return [piece.solver for piece in run.segments]


@pytest.mark.parametrize("name", ["four_bar", "gough_stewart", "slider_crank", "delta"])
def test_exact_loops_are_not_stiff(name):
    m = getattr(cc.library, name)()
    run, plain = (cc.simulate(m, until=1.0, solver=solver) for solver in ("auto", "dop853"))
    assert solvers(run) == ["dop853"] and run.record == []
    np.testing.assert_array_equal(run.x, plain.x)


@pytest.mark.parametrize("name", ["four_bar", "gough_stewart"])
def test_hard_springs_are_left_to_the_implicit_solver(name):
    m = getattr(cc.library, name)()
    springs = cc.VirtualSpring(1e8, 2e4)
    run, explicit, stiff = (
        cc.simulate(m, until=1.0, method=springs, solver=solver, rtol=1e-6) for solver in ("auto", "dop853", "radau5")
    )
    assert solvers(run) == ["dop853", "radau5"]
    assert [h.what for h in run.record] == ["solver"]
    assert "stiff at t = " in run.record[0].text and "radau5 goes on" in run.record[0].text
    assert run.counts.evaluations < explicit.counts.evaluations / 5
    # both answers are good to the tolerance, which errors of some hundred steps add up to
    np.testing.assert_allclose(run.x[:, :-1], stiff.x[:, :-1], atol=1e-3)
    assert run.metadata["solvers"] == "dop853, radau5"


def test_it_comes_back_when_stiffness_ends():
    """A damper that is very strong for two seconds, and then gone."""
    m = cc.library.pendulum()
    m.motor("hinge", torque=lambda t, q, v: -cc.math.where(t < 2.0, 1e6, 0.0) * v["hinge"])
    run = cc.simulate(m, until=20.0, solver="auto", rtol=1e-6)
    assert solvers(run) == ["dop853", "radau5", "dop853"]
    texts = [h.text for h in run.record]
    assert "no longer stiff" in texts[1]
    exact = cc.simulate(m, until=20.0, solver="radau5", rtol=1e-10)
    np.testing.assert_allclose(run["hinge"], exact["hinge"], atol=1e-3)


def test_few_steps_are_not_worth_a_jacobian():
    judge = Stiffness(until=1.0)
    assert judge.change(Status.stiff, t=0.5, h=1e-3) is None  # 500 steps to go
    assert judge.solver == "dop853" and not judge.detects


def test_steps_that_are_hardly_longer_are_not_worth_it():
    judge = Stiffness(until=1.0)
    assert "stability holds the steps of dop853 at 1e-06 s" in judge.change(Status.stiff, t=0.1, h=1e-6)
    assert judge.solver == "radau5"
    assert judge.look(None, None, 0.2, None, 2e-6) is Status.calm
    assert "hardly longer" in judge.change(Status.calm, t=0.2, h=2e-6)
    assert judge.solver == "dop853" and not judge.detects
