"""Frequencies of springs in the closures, and the damping that is critical for the stiffest."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.march.program.compiled import compiled
from closedchain.results.compare.closure_modes import critical_damping, inverse_masses, stiffest
from closedchain.results.compare.trial import Trial, attempt


def roots(start, k, b):
    """Eigenvalues of the linearised right-hand side under springs, by central differences."""
    program = compiled(start, cc.VirtualSpring(k, b))
    p = np.array(list(start.mechanism.parameters.values()))
    x = program.pack(start.q, start.v)
    h = 1e-6
    J = np.array([(program.rhs(0.0, x + h * u, p) - program.rhs(0.0, x - h * u, p)) / (2 * h) for u in np.eye(len(x))])
    return np.linalg.eigvals(J.T)


def test_the_stiffest_mode_is_critically_damped():
    start = cc.library.four_bar().assemble()
    s, k = inverse_masses(start), 1e8
    omega = np.sqrt(k * s[-1])
    # without damping the fastest root swings with sqrt(k s_max); 1e-3: gravity and inertia shift it by O(1/k), and
    # the differences are good to some digits
    assert np.abs(roots(start, k, 0.0)).max() == pytest.approx(omega, rel=1e-3)
    b = critical_damping(k, s[-1])
    damped = roots(start, k, b)
    # a double root -omega, split by the rounding of b to two digits: sqrt(2 * 5 %) at most
    assert np.abs(damped).max() == pytest.approx(omega, rel=0.35)
    # twice as much makes a root 2 + sqrt(3) times as fast
    assert np.abs(roots(start, k, 2 * b)).max() > 3 * omega


def test_redundant_closures_give_zeros_and_no_closure_gives_none():
    s = inverse_masses(cc.library.four_bar().assemble())
    assert s[-1] > 1 and (s > -1e-12).all()
    assert inverse_masses(cc.library.pendulum().assemble()).size == 0
    assert critical_damping(1e6, 0.0) == 0.0


def test_along_a_run_the_stiffest_pose_counts():
    m = cc.library.four_bar()
    run = attempt(m.assemble(), 2.0, Trial(cc.Multipliers())).run
    assert stiffest(run) >= inverse_masses(run.start)[-1]
    assert stiffest(run) >= 0.999 * max(inverse_masses(run.state(i))[-1] for i in (50, 100, 150))


def test_a_limb_without_inertia_is_named():
    m = cc.Mechanism("massless rocker", gravity=(0, -9.81, 0))
    crank = m.body("crank", cc.rod(length=1.0, mass=1.0))
    coupler = m.body("coupler", cc.rod(length=4.0, mass=1.0))
    rocker = m.body("rocker", cc.massless())
    m.revolute("O", m.ground, crank, cut=False)
    m.revolute("A", crank.tip, coupler, cut=False)
    m.revolute("C", m.ground.at(3, 0, 0), rocker, cut=False)
    m.revolute("B", coupler.tip, rocker.at(2.5, 0, 0), cut=True)
    with pytest.raises(cc.ModelError, match="'massless rocker' has no inertia"):
        inverse_masses(m.assemble(O=1.5, guess={"A": -1.2, "C": 1.3}))
