"""Semi-implicit Euler: one step by hand, what it does to energy, and the book of work."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.integrate.solvers import SemiImplicitEuler
from closedchain.march.program.compiled import compiled
from closedchain.pose.state import parameter_vector

FINE = 1.0  # no complaints about its accuracy


def energy(run):
    return (run["kinetic_energy"] + run["potential_energy"]).values - run["work"].values


def test_one_step_by_hand():
    m = cc.library.pendulum()
    start = m.assemble(hinge=0.3)
    p = parameter_vector(m, start.parameters)
    program = compiled(start, cc.Multipliers())
    h = 0.01
    a = program.rhs(0.0, program.pack(start.q, start.v), p)[1]
    run = cc.simulate(m, start, until=h, solver=SemiImplicitEuler(step=h), t_eval=[h], rtol=FINE)
    v = h * a
    np.testing.assert_allclose(run.x[-1], [0.3 + h * v, v, 0.0], rtol=1e-14)


def test_one_step_of_a_loop_by_hand():
    """New velocities are tangent at the old place; the end is put back twice."""
    m = cc.library.four_bar()
    start = m.assemble(O=1.0, velocity={"O": 5.0})
    p = parameter_vector(m, start.parameters)
    program = compiled(start, cc.Multipliers())
    h, x = 1e-3, program.pack(start.q, start.v)
    f = program.rhs(0.0, x, p)
    y = x.copy()
    n = start.q.size  # three angles, and that of the cut, which is counted along
    y[n:] += h * f[n:]
    y = program.correct(0.0, y, p)[0]
    y[:n] += h * program.rhs(0.0, y, p)[:n]
    for _ in range(2):
        y = program.correct(h, y, p)[0]
    y[-1] = x[-1] + h * (f[-1] + program.rhs(h, y, p)[-1]) / 2
    run = cc.simulate(m, start, until=h, solver=SemiImplicitEuler(step=h), t_eval=[h], rtol=FINE)
    np.testing.assert_allclose(run.x[-1], y, rtol=1e-13)


def test_energy_of_a_pendulum_stays_bounded():
    """Symplectic: over 300 swings the error of the energy goes up and down with h, but nowhere else."""
    m = cc.library.pendulum()
    start = m.assemble(hinge=-0.5)
    h, steps = 0.01, 40_000
    run = cc.simulate(
        m, start, until=h * steps, solver=SemiImplicitEuler(step=h), t_eval=np.arange(steps + 1) * h, rtol=FINE
    )
    error = energy(run) - energy(run)[0]
    first, last = np.abs(error[:1000]).max(), np.abs(error[-1000:]).max()
    # a swing is 150 steps: 1000 of them show all of its phases, to a percent
    assert last < 1.02 * first
    assert abs(error[-1000:].mean() - error[:1000].mean()) < 0.05 * first  # of 6.6 swings each

    # explicit Euler multiplies the energy of a small swing by 1 + (h omega)^2 in each step
    p, program = parameter_vector(m, start.parameters), compiled(start, cc.Multipliers())
    x = program.pack(start.q, start.v)
    for _ in range(1000):
        x = x + h * program.rhs(0.0, x, p)
    gained = program.evaluate("energy", lambda: {"E": program.energy}, np.zeros(1), x[None], p)["E"][0, 0, 0]
    assert gained - energy(run)[0] > 20 * first


def test_energy_of_a_four_bar_drifts_with_the_step():
    """Its inertia depends on the pose, so that the method is not symplectic: the drift is of first order in h."""
    m = cc.library.four_bar(torque=0.0)
    drift = []
    for h in (1e-3, 5e-4):
        start = m.assemble(O=cc.pi / 3)
        run = cc.simulate(
            m, start, until=5.0, solver=SemiImplicitEuler(step=h), t_eval=np.arange(0, 5001) * 1e-3, rtol=FINE
        )
        drift.append(abs((energy(run) - energy(run)[0])[-1000:].mean()))
    assert drift[1] == pytest.approx(drift[0] / 2, rel=0.15)
    # 29 J are swinging
    assert drift[0] < 0.6


def test_work_is_a_trapezoidal_sum():
    m = cc.library.four_bar()
    h, steps = 1e-3, 50
    run = cc.simulate(m, until=h * steps, solver=SemiImplicitEuler(step=h), t_eval=np.arange(steps + 1) * h, rtol=FINE)
    power = 6.0 * run["O'"].values
    np.testing.assert_allclose(np.diff(run.x[:, -1]), h * (power[1:] + power[:-1]) / 2, atol=1e-13)


@pytest.mark.parametrize("method", [cc.IndependentCoordinates(), cc.Projection(), cc.OperationalSpace()])
def test_methods_agree(method):
    """All of them take the same velocities to the same place, up to what they do about the rest of the closures."""
    m = cc.library.four_bar()
    mine, other = (
        cc.simulate(m, until=0.2, solver=SemiImplicitEuler(step=1e-3), t_eval=[0.2], method=x, rtol=FINE)
        for x in (cc.Multipliers(), method)
    )
    # a hundredth of the error of the method, which is 1e-4 here
    np.testing.assert_allclose(mine.x[-1], other.x[-1], atol=2e-4)


def test_prescribed_motion_is_followed():
    """A drive that depends on time: the closures move, and velocities with them."""
    m = cc.Mechanism("driven", gravity=(0, -9.81, 0))
    rod = m.body("rod", cc.rod(1.0, mass=1.0))
    joint = m.revolute("hinge", m.ground, rod)
    m.drive(joint, cc.math.sin(3 * cc.t))
    run = cc.simulate(m, until=1.0, solver=SemiImplicitEuler(step=1e-3), rtol=FINE)
    np.testing.assert_allclose(run["hinge"].values, np.sin(3 * run.t), atol=1e-12)
    # tangent at both ends of a step, to the square of the distance that it leaves the manifold by, 5e-6
    np.testing.assert_allclose(run["hinge'"].values, 3 * np.cos(3 * run.t), atol=1e-9)
