"""Stiff problems with published solutions: van der Pol's oscillator, Robertson's and the HIRES reactions."""

import json
from pathlib import Path

import numba
import numpy as np
import pytest

from closedchain.integrate.solvers import SOLVERS
from tests.unit.integrate.flat import integrate

DATA = json.loads((Path(__file__).parent / "final_states.json").read_text(encoding="utf-8"))
IMPLICIT = [name for name, solver in SOLVERS.items() if solver.implicit and solver.adaptive and solver.general]

_F = numba.types.CPointer(numba.float64)
rhs = numba.cfunc(numba.void(_F, _F, _F, _F))
jacobian = numba.cfunc(numba.void(_F, _F, _F, _F, _F))


@rhs
def vdpol(t, x, w, dx):
    dx[0] = x[1]
    dx[1] = w[0] * (1.0 - x[0] ** 2) * x[1] - x[0]


@jacobian
def vdpol_jac(t, x, w, entries, rate):
    entries[0], entries[1] = 0.0, -2.0 * w[0] * x[0] * x[1] - 1.0
    entries[2], entries[3] = 1.0, w[0] * (1.0 - x[0] ** 2)
    rate[0] = rate[1] = 0.0


@rhs
def rober(t, x, w, dx):
    slow, back, fast = 0.04 * x[0], 1e4 * x[1] * x[2], 3e7 * x[1] ** 2
    dx[0] = -slow + back
    dx[1] = slow - back - fast
    dx[2] = fast


@jacobian
def rober_jac(t, x, w, entries, rate):
    J = numba.carray(entries, (3, 3))  # J[j, i] is row i of column j
    J[0, 0], J[0, 1], J[0, 2] = -0.04, 0.04, 0.0
    J[1, 0], J[1, 1], J[1, 2] = 1e4 * x[2], -1e4 * x[2] - 6e7 * x[1], 6e7 * x[1]
    J[2, 0], J[2, 1], J[2, 2] = 1e4 * x[1], -1e4 * x[1], 0.0
    rate[0] = rate[1] = rate[2] = 0.0


@rhs
def hires(t, x, w, dx):
    dx[0] = -1.71 * x[0] + 0.43 * x[1] + 8.32 * x[2] + 0.0007
    dx[1] = 1.71 * x[0] - 8.75 * x[1]
    dx[2] = -10.03 * x[2] + 0.43 * x[3] + 0.035 * x[4]
    dx[3] = 8.32 * x[1] + 1.71 * x[2] - 1.12 * x[3]
    dx[4] = -1.745 * x[4] + 0.43 * (x[5] + x[6])
    dx[5] = -280.0 * x[5] * x[7] + 0.69 * x[3] + 1.71 * x[4] - 0.43 * x[5] + 0.69 * x[6]
    dx[6] = 280.0 * x[5] * x[7] - 1.81 * x[6]
    dx[7] = -dx[6]


@jacobian
def hires_jac(t, x, w, entries, rate):
    J = numba.carray(entries, (8, 8))  # J[j, i] is row i of column j
    J[:] = 0.0
    J[0, 0], J[1, 0], J[2, 0] = -1.71, 0.43, 8.32
    J[0, 1], J[1, 1] = 1.71, -8.75
    J[2, 2], J[3, 2], J[4, 2] = -10.03, 0.43, 0.035
    J[1, 3], J[2, 3], J[3, 3] = 8.32, 1.71, -1.12
    J[4, 4], J[5, 4], J[6, 4] = -1.745, 0.43, 0.43
    J[3, 5], J[4, 5], J[5, 5], J[6, 5], J[7, 5] = 0.69, 1.71, -280.0 * x[7] - 0.43, 0.69, -280.0 * x[5]
    J[5, 6], J[6, 6], J[7, 6] = 280.0 * x[7], -1.81, 280.0 * x[5]
    for j in range(8):
        J[j, 7] = -J[j, 6]
        rate[j] = 0.0


# the smallest entries of Robertson's solution are 1e-13, those of the others 1e-4
PROBLEMS = {"vdpol": (vdpol, vdpol_jac, 1e-4), "rober": (rober, rober_jac, 1e-13), "hires": (hires, hires_jac, 1e-4)}


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("solver", IMPLICIT)
def test_final_state(solver, problem, rtol):
    f, jac, small = PROBLEMS[problem]
    case = DATA[problem]
    w = [case.get("mu", 0.0)]
    run = integrate(
        solver, f.address, case["start"], (0.0, case["until"]), w, rtol=rtol, atol=rtol * small,
        jac=jac.address, t_eval=[case["until"]],
    )  # fmt: skip
    assert run.success
    # every entry, relative to itself; some hundred steps pass on their errors
    np.testing.assert_allclose(run.x[-1], case["end"], rtol=20 * rtol)


@pytest.mark.parametrize("solver", IMPLICIT)
def test_long_steps_where_little_happens(solver):
    """Robertson's reactions to 1e11 s in some hundred steps; an explicit method would need about 1e14."""
    case = DATA["rober"]
    run = integrate(
        solver, rober.address, case["start"], (0.0, case["until"]), [], rtol=1e-4, atol=1e-17, jac=rober_jac.address
    )
    assert run.success and run.counts.steps < 200
    assert run.counts.largest_step > 1e10
    np.testing.assert_allclose(run.x.sum(axis=1), 1.0, atol=1e-12)  # linear invariants are kept to rounding
