"""The recipe of `closedchain.integrate.solvers`: a Rosenbrock method of one stage, checked, and run on a mechanism.

With one Jacobian J and df/dt at the start of the step, ``(2 / h - J) u = f + h/2 df/dt``, ``x_1 = x + 2 u``: the
trapezoidal rule with one step of Newton's method, of order 2.
"""

import sys
from dataclasses import dataclass

import numba
import numpy as np
import pytest

import closedchain as cc
from closedchain.integrate.fixed_step import arrive, finite, leave, next_step
from closedchain.integrate.implicit import ADVANCE_IMPLICIT, renew
from closedchain.integrate.linear import factor, solve
from closedchain.integrate.project import hermite_rows, wants_rows
from closedchain.integrate.solvers import SOLVERS, FixedStep, listed
from closedchain.integrate.step_control import NAN, RESIDUAL, Scratch, Step, unowned_views
from closedchain.testing import check_solver

# rows of the workspace, after the derivative at the start
U, Y, X_PLUS, F_NEW, ROWS = 1, 2, 3, 4, 5
DENSE_ROWS = 4
WORK_ROWS = ROWS + DENSE_ROWS


@numba.njit(ADVANCE_IMPLICIT, error_model="numpy", nogil=True)
def advance(e, samples, run, kept, lin):
    """Advance by up to `attempts` steps; returns how many were made."""
    e, samples, run, kept = unowned_views(e, samples, run, kept)
    o, s, x, work, room = run.options[0], run.state[0], run.x, run.work, lin.room
    u, y, f_new, rows = work[U], work[Y], work[F_NEW : F_NEW + 1], work[ROWS:]
    scratch = Scratch(np.empty(1), work[X_PLUS], np.zeros(RESIDUAL), work[X_PLUS])
    done = 0
    while done < o.attempts and s.status == 0:
        h, t_new = next_step(o, s)
        if s.status != 0 or not renew(lin, x, s):
            break
        step = Step(h, t_new, x, work[0], y, f_new, rows)
        lin.memory[0].factorisations += 1
        if not factor(lin.plan, room, room.real, room.pivots[0], 2.0 / h):
            s.status = NAN
            break

        for i in range(x.size):
            u[i] = work[0, i] + 0.5 * h * room.rate[i]
        solve(lin.plan, room, room.real, room.pivots[0], 2.0 / h, u, room.b)
        for i in range(x.size):
            y[i] = x[i] + 2.0 * u[i]
        if not finite(work[Y : Y + 1], o, s, e.w) or not arrive(e, run, step, scratch):
            break

        if wants_rows(samples.t_eval, t_new, o, s):
            hermite_rows(x, y, work[0], f_new[0], h, rows)
        if not leave(e, samples, run, step, scratch, done, kept):
            break
        done += 1
    return done


@dataclass(frozen=True, kw_only=True)
class Trapezoid(FixedStep):
    """The trapezoidal rule, linearised: order 2, with a fixed step."""

    name = "trapezoid"
    order, dense_order = 2, 2
    home = staticmethod(lambda: sys.modules[__name__])
    citation = "Rosenbrock (1963), Computer Journal 5, 329-330"
    implicit, needs = True, "jacobian"


@pytest.fixture
def in_the_table():
    """The solver, listed for a test."""
    yield listed(Trapezoid)
    SOLVERS.pop("trapezoid")


def test_the_checks_of_the_library_pass():
    found = check_solver(Trapezoid)
    assert found["order on 'driven'"] > 1.65 and found["order on 'quaternion', not corrected"] < 2.8


@pytest.mark.usefixtures("in_the_table")
def test_it_runs():
    m = cc.library.four_bar()
    run, reference = cc.simulate(m, until=0.3, solver=Trapezoid(step=2e-4)), cc.simulate(m, until=0.3)
    # of order 2: 4e-8 times the third derivatives of a motion of some rad/s
    np.testing.assert_allclose(run["O"].values, reference["O"].values, rtol=0, atol=1e-5)
    assert abs(run["O"].values[-1] - run["O"].values[0]) > 0.05


@pytest.mark.usefixtures("in_the_table")
def test_a_stiff_damper_does_not_shorten_its_steps():
    """An explicit method of order 2 would need steps below 2 / 1e4 s."""
    m = cc.library.pendulum()
    m.joint_damper("hinge", 1e5)
    with pytest.warns(cc.RunWarning, match="energy"):  # it decays within a step, which no method resolves
        run = cc.simulate(m, until=1.0, solver=Trapezoid(step=1e-2))
    assert np.isfinite(run["hinge"].values).all() and run.counts.steps == 100
