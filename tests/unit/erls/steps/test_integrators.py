"""Integrators of ERLS: their numbers, the solution between steps, their orders, and what they damp."""

from dataclasses import replace

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.erls import ERLS
from closedchain.erls.energy import look
from closedchain.erls.steps.esdirk import ARK4
from closedchain.erls.steps.integrate import integrate
from closedchain.erls.steps.steps import hermite
from closedchain.erls.system import system
from closedchain.integrate.solvers import ESDIRK4, SOLVERS, GeneralisedAlpha
from closedchain.integrate.trajectory import Status

ROUNDING = 1e-14


def test_the_tableau():
    """Conditions of order 4, of order 3 for the estimate, and that the last stage is the end of the step."""
    A, c, e = ARK4
    b = A[-1]
    one = np.ones(6)
    assert np.abs(A @ one - c).max() < ROUNDING and c[-1] == 1.0
    assert np.abs(A @ c - c**2 / 2)[2:].max() < ROUNDING  # stages of order 2
    trees = {
        1: [(one, 1)],
        2: [(c, 1 / 2)],
        3: [(c**2, 1 / 3), (A @ c, 1 / 6)],
        4: [(c**3, 1 / 4), (c * (A @ c), 1 / 8), (A @ c**2, 1 / 12), (A @ A @ c, 1 / 24)],
    }
    for order, conditions in trees.items():
        for tree, value in conditions:
            assert abs(b @ tree - value) < ROUNDING
            if order <= 3:
                assert abs(e @ tree) < ROUNDING
    assert max(abs(e @ tree) for tree, _ in trees[4]) > 1e-4
    # stability at infinity: of the last stage by the first one, which alone is explicit
    tail = np.linalg.solve(A[1:, 1:], A[1:, 0])
    assert abs(tail[-1]) < 1e-12  # L-stable


def test_between_steps(rng):
    """A polynomial of fifth degree is met exactly, with its rate."""
    p = rng.normal(size=(4, 6))
    t0, h = 0.3, 0.2

    def at(t):
        values = [[np.polyval(np.polyder(x, k), t) for x in p] for k in range(3)]
        return np.ascontiguousarray(values)

    out = np.empty((3, 4))
    for theta in (0.0, 0.37, 1.0):
        hermite(theta, h, at(t0), at(t0 + h), out)
        assert np.abs(out[:2] - at(t0 + theta * h)[:2]).max() < 1e-12


@pytest.fixture(scope="module")
def swinging():
    """A heavy, soft beam that falls from the horizontal: nothing in it is faster than 150 rad/s."""
    m = cc.Mechanism("beam", gravity=(0, -9.81, 0))
    beam = m.body("beam", cc.rod(0.5, 2.0))
    beam.flexible(E=5e4, section=cc.Section(A=2e-2, Iz=2e-5), shapes=cc.shapes.polynomials(y=1))
    m.revolute("hinge", m.ground, beam)
    return system(m, m.assemble(), ERLS(elements=1))


def test_modal_damping_costs_no_iterations():
    """It couples all nodes of a beam: left out of the iteration matrix, steps would be a thousand times shorter."""
    m = cc.Mechanism("damped beam", gravity=(0, -9.81, 0))
    beam = m.body("beam", cc.rod(0.5, 2.0))
    beam.flexible(E=5e8, section=cc.Section(A=2e-2, Iz=2e-5), shapes=cc.shapes.polynomials(y=2), damping=0.3)
    m.revolute("hinge", m.ground, beam)
    made = system(m, m.assemble(), ERLS(elements=4))
    long = integrate(made, 0.1, np.array([0.1]), atol=1e-8)
    even = integrate(made, 0.1, np.array([0.1]), atol=1e-8, solver=GeneralisedAlpha(step=1e-3))
    for motion in (long, even):
        assert motion.status is Status.finished
    assert long.counts.steps < 50
    assert even.counts.iterations <= 3 * even.counts.steps  # one, one that sees that it was enough, and one to spare


@pytest.mark.parametrize(
    ("solver", "order", "steps"), [("esdirk4", 4, (50, 100)), ("generalised-alpha", 2, (200, 400))]
)
def test_orders(swinging, solver, order, steps):
    end, times = 0.2, np.array([0.2])
    exact = integrate(swinging, end, times, atol=1e-12).x[0]
    errors = [
        np.abs(
            integrate(swinging, end, times, atol=1e-9, solver=SOLVERS[solver](step=end / n)).x[0, :2] - exact[:2]
        ).max()
        for n in steps
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)


def test_tolerances_are_kept(swinging):
    times = np.linspace(0, 0.4, 41)
    exact = integrate(swinging, 0.4, times, atol=1e-12).x[:, 0]
    for atol in (1e-6, 1e-8):
        motion = integrate(swinging, 0.4, times, atol=atol)
        # errors of some hundred steps add up, and those of angles count half
        assert np.abs(motion.x[:, 0] - exact).max() < 500 * atol
        assert motion.status is Status.finished and motion.t_end == 0.4


@pytest.mark.parametrize("rho", [1.0, 0.6])
def test_generalised_alpha_with_its_own_steps(swinging, rho):
    """The error falls with the tolerance, also where steps change, and with it what is carried from step to step."""
    made = replace(swinging, method=ERLS(elements=1, rho_inf=rho))
    times = np.linspace(0, 0.4, 41)
    exact = integrate(made, 0.4, times, atol=1e-11).x[:, 0]
    errors = []
    for atol in (1e-6, 1e-8):
        motion = integrate(made, 0.4, times, atol=atol, solver=GeneralisedAlpha())
        errors.append(np.abs(motion.x[:, 0] - exact).max())
    # of second order, with local errors of third: the global one is proportional to atol^(2/3)
    assert errors[0] / errors[1] == pytest.approx(100 ** (2 / 3), rel=0.5)


def test_samples_are_those_asked_for(swinging):
    times = np.array([0.0, 1e-4, 0.0333, 0.1])
    motion = integrate(swinging, 0.1, times, atol=1e-9)
    assert (motion.t == times).all()
    fine = integrate(swinging, 0.1, np.linspace(0, 0.1, 1001), atol=1e-9)
    assert motion.counts == fine.counts  # looking costs nothing
    assert np.abs(motion.x[2, 0] - fine.x[333, 0]).max() < 1e-15


def test_what_generalised_alpha_damps():
    """With rho = 1 energy is conserved in spite of steps that resolve nothing; with rho = 0 fast modes are gone at
    once."""
    m = cc.Mechanism("rung", gravity=(0, -9.81, 0))
    beam = m.body("beam", cc.rod(0.5, 2.0))
    beam.flexible(E=5e9, section=cc.Section.rectangle(y=0.02, z=0.03), shapes=cc.shapes.polynomials(y=1))
    m.revolute("clamp", m.ground, beam)
    m.drive("clamp", 0.0)
    lost = {}
    for rho in (1.0, 0.0):
        made = system(m, m.assemble(), ERLS(elements=4, rho_inf=rho))
        motion = integrate(made, 0.2, np.linspace(0, 0.2, 101), atol=1e-9, solver=GeneralisedAlpha(step=2e-3))
        seen = look(made, motion.t, motion.x, motion.tree)
        lost[rho] = abs(seen.energy[-1] - seen.energy[0]) / np.ptp(seen.gravity)
    # the beam's 2nd mode has 6 steps in a period, the others less than 3
    assert lost[1.0] < 1e-9  # linear equations and the trapezoidal rule
    assert lost[0.0] > 0.01


def test_a_step_that_cannot_be_made_ends_the_run(swinging):
    motion = integrate(swinging, 10.0, np.array([0.0, 10.0]), atol=1e-9, solver=ESDIRK4(max_steps=20))
    assert motion.status is Status.too_many_steps
    assert len(motion.t) == 1 and 0 < motion.t_end < 10.0


def test_conditions_on_time_end_steps():
    """A torque that is switched on: nothing is lost at the jump."""
    m = cc.library.flexible_arm(3.0 * cc.math.where((cc.t >= 0.0123) & (cc.t < 0.0456), 1.0, 0.0))
    made = system(m, m.assemble(), ERLS(elements=2))
    times = np.array([0.0, 0.0123, 0.03, 0.0456, 0.06])
    motion = integrate(made, 0.06, times, atol=1e-8)
    assert motion.counts.rejections < 0.5 * motion.counts.steps
    fine = integrate(made, 0.06, times, atol=1e-10)
    # modes that are too fast for the steps die out, and differ: 5e-6 rad
    assert np.abs(motion.x[:, 0] - fine.x[:, 0]).max() < 2e-5
    assert abs(motion.x[1, 0, -1]) < 1e-12 < motion.x[2, 0, -1]  # it turns when it is pushed
    assert motion.work[1] == 0.0 < motion.work[3] == pytest.approx(motion.work[4], rel=1e-12)


def test_a_jump_that_shakes_stiff_links():
    """A step as long as those before it would throw the loops of the robot where they cannot be closed again."""
    m = cc.library.pacdrive("pick", flexible=True)
    beams = {f"link{k}": 1 for k in (5, 7, 8, 9, 11)}
    made = system(m, m.assemble(), ERLS(elements=beams), parameters={"E": 5e12})
    # with these numbers it did at 0.4 s, the fourth jump
    assert integrate(made, 0.6, np.array([0.6]), atol=5e-7).status is Status.finished


def test_a_jump_at_the_end_but_for_rounding():
    until = 0.1 + 0.2
    assert until > 0.3
    m = cc.library.flexible_arm(cc.math.where(cc.t < 0.3, 1.0, -1.0))
    made = system(m, m.assemble(), ERLS(elements=1))
    assert integrate(made, until, np.array([until]), atol=1e-5).status is Status.finished
