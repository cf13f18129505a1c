"""The recipe of `closedchain.close.formulation`: the whole system solved at once, checked, registered, and run."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.close.formulation import Closed, Formulation, state_symbols
from closedchain.close.methods import METHODS, register
from closedchain.testing import check_formulation


@dataclass(frozen=True)
class Whole(Formulation):
    """Accelerations and multipliers from one matrix, of twice the size that is needed; loops drift open."""

    guards = False
    drifts = True
    unstabilised = True

    def close(self, equations, choice):
        e, rows, n = equations, list(choice.rows), equations.topology.nv
        A, gamma = e.closure.A[rows, :], e.closure.gamma[rows, :]
        K = ca.blockcat([[e.M, A.T], [A, ca.SX(len(rows), len(rows))]])
        z = ca.solve(K, ca.vertcat(e.tau - e.h, -gamma))
        a, lam = z[:n, :], z[n:, :]
        x = state_symbols(e)
        # closing forces do work where loops are open
        power = e.energies.power - ca.dot(lam, ca.densify(A @ e.limbs.v))
        return Closed(x, ca.vertcat(e.qdot, a, power), e.limbs.q, e.limbs.v, a, lam)

    def citation(self):
        return "any textbook"


SMALL = ["pendulum", "four-bar", "slider-crank", "five-bar"]


def test_the_checks_of_the_library_pass():
    found = check_formulation(Whole(), SMALL)
    assert found["accelerations"] < 1e-9 and found["energy"] < 1e-6
    assert found["operations of four-bar"] > check_formulation(cc.Multipliers(), ["four-bar"])["operations of four-bar"]


def test_it_runs():
    m = cc.library.four_bar()
    runs = [cc.simulate(m, until=0.5, method=method, rtol=1e-10) for method in (Whole(), cc.Multipliers())]
    # without stabilisation errors of velocity grow with the time
    np.testing.assert_allclose(runs[0]["O"].values, runs[1]["O"].values, rtol=0, atol=1e-6)


def test_a_registered_formulation_is_found_by_its_name():
    try:
        assert register("whole", Whole()) == register("whole", Whole()) == METHODS["whole"]
        with pytest.raises(cc.ModelError, match="named 'whole' already"):
            register("whole", cc.Multipliers())
    finally:
        METHODS.pop("whole")


@dataclass(frozen=True)
class Wrong(Whole):
    """It forgets what the velocities do in the closures."""

    def close(self, equations, choice):
        e, n = equations, equations.topology.nv
        A = e.closure.A[list(choice.rows), :]
        K = ca.blockcat([[e.M, A.T], [A, ca.SX(len(choice.rows), len(choice.rows))]])
        z = ca.solve(K, ca.vertcat(e.tau - e.h, ca.SX(len(choice.rows), 1)))
        x = state_symbols(e)
        return Closed(x, ca.vertcat(e.qdot, z[:n, :], e.energies.power), e.limbs.q, e.limbs.v, z[:n, :], z[n:, :])


def test_a_wrong_one_is_found():
    with pytest.raises(AssertionError, match=r"accelerations: .* at most 1e-09 is allowed"):
        check_formulation(Wrong(), ["four-bar"])
