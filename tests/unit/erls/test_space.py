"""ERLS in space: Lagrange's equations by differences of energies, a loop of all kinds of joints, a floating frame."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.erls import ERLS
from closedchain.erls.energy import closed_coordinates, look
from closedchain.erls.matrices import matrices, nodal_jacobian
from closedchain.erls.system import system
from closedchain.erls.workspace import Workspace
from tests.motions import moving_erls
from tests.unit.erls.kernels.test_compiled import check_elimination

SECTION = cc.Section.rectangle(y=0.02, z=0.03)
HIGH = -1.08  # rad
CUBIC = cc.shapes.polynomials(y=2, z=2, axial=1, torsion=1)  # what one element can do


def loop(**options):
    """A crank, a coupler on a universal and a ball joint, and a rocker about another axis; all of them bend but the
    crank. With a rotor, springs, a stop that is met, offsets across a beam, and a rigid hand on the coupler."""
    m = cc.Mechanism("loop", gravity=(1.0, -2.0, -9.0))
    crank, coupler = m.body("crank", cc.rod(0.15, 0.4, radius=0.02)), m.body("coupler", cc.rod(0.5, 0.6))
    rocker, hand = m.body("rocker", cc.rod(0.3, 0.5, radius=0.012)), m.body("hand", cc.box((0.06, 0.04, 0.02), 0.2))
    for beam in (coupler, rocker):
        beam.flexible(E=2e9, section=SECTION, nu=0.33, shapes=CUBIC)
    m.revolute("O", m.ground, crank, axis=(0, 0, 1), guess=0.8)
    m.universal("A", crank.at(0.15, 0, 0.01), coupler)
    m.revolute("C", m.ground.at(0.45, 0.1, -0.2), rocker, axis=(0.3, 1.0, 0.0), guess=-1.6, **options)
    m.spherical("B", coupler.tip, rocker.at(0.3, 0.01, 0.0))
    m.weld("grip", coupler.at(0.2, 0.015, 0.0), hand)
    m.rotor("O", inertia=2e-5, ratio=15.0)
    m.joint_spring("C", stiffness=4.0, rest=-1.0)
    m.joint_spring("A", stiffness=1.5, coordinate="angle2")
    m.spring("tie", m.ground.at(0.1, 0.4, 0.2), hand.at(0.03, 0, 0), stiffness=30.0, length=0.1)
    m.start = {"O": 0.8}
    return m


@pytest.fixture(scope="module")
def made():
    m = loop()
    return system(m, m.assemble(), ERLS(elements=2))


@pytest.fixture
def state(made, rng):
    return moving_erls(made, rng, size=2e-3, rates=0.2, speeds=3.0)


def test_what_it_is(made):
    assert not made.d.planar and made.n_q == 1 and made.health > 0.3
    assert {x.name for x in made.d.of} >= {"x", "rz", "A.angle1", "ry"}


def lagrangian(made, y, v):
    """T and V (m,) at many states, loops closed."""
    t, x = np.zeros(len(y)), np.stack([y, v, np.zeros_like(y)], axis=1)
    s = look(made, t, x, closed_coordinates(made, t, y))
    return s.kinetic, s.elastic + s.gravity + s.springs


def test_the_residual_is_lagranges(made, state):
    """Every row: d/dt (dT/dy') - dT/dy + dV/dy, by differences of energies that know nothing of forces."""
    y, v, a = state
    n, h = made.n, 1e-5
    one = np.eye(n)

    def momentum(y, v):  # T is quadratic in the rates: differences are exact
        plus, minus = (lagrangian(made, np.tile(y, (n, 1)), v + s * one)[0] for s in (1.0, -1.0))
        return (plus - minus) / 2

    rate = (momentum(y + h * v + h * h / 2 * a, v + h * a) - momentum(y - h * v + h * h / 2 * a, v - h * a)) / (2 * h)
    (T1, V1), (T0, V0) = (lagrangian(made, y + s * h * one, np.tile(v, (n, 1))) for s in (1.0, -1.0))
    want = rate - (T1 - T0) / (2 * h) + (V1 - V0) / (2 * h)
    got = Workspace(made).residual(0.0, y, v, a)
    # of 4e4 N: energies of some 10 J have a rounding of 1e-15 / 1e-5, and are of second degree in what is stiff
    assert np.abs(got - want).max() < 1e-7


def test_the_eliminated_system(made, state):
    check_elimination(made, state)


def test_mass_and_rigid_motions(made):
    """M = M'; and without springs K J = 0, to rounding of sums of n terms."""
    M, _, _ = matrices(made)
    assert np.abs(M - M.T).max() < 1e-13 * np.abs(M).max()
    m = loop()
    m.joint_springs.clear()
    m.springs.clear()
    beams = system(m, m.assemble(), ERLS(elements=2))
    K = matrices(beams)[1]
    assert np.abs(K @ nodal_jacobian(beams)).max() < 1e-15 * np.abs(K).max() * beams.n


def test_a_run_keeps_its_energy_and_meets_a_stop():
    m = loop(limits=cc.Stops(-3.0, HIGH, 200.0))
    m.joint_damper("O", damping=0.02)
    m.force("push", m.bodies["coupler"].at(0.4, 0, 0), (0.0, 0.5, 1.0), moment=(0.0, 0.02, 0.0))
    run = cc.simulate(m, until=0.12, rtol=1e-6, t_eval=np.linspace(0, 0.12, 16), method=cc.ERLS())
    exchanged = float(run.dataset["kinetic_energy"].max())
    assert np.abs(run.energy_error.values).max() < 1e-4 * exchanged
    assert run["C"].values.max() > HIGH and run.closure_error.values.max() < 1e-12
    gap = run.frame("coupler.tip").position.values - run.points("rocker", np.array([[0.3, 0.01, 0.0]]))[:, 0]
    size = np.abs(run.beam("coupler").rotation).max()
    assert np.abs(gap).max() < 0.01 * size**2 + 1e-12  # an arm of 1 cm that turns: second order


def test_a_floating_frame_agrees_as_links_grow_stiff():
    """Two links with perpendicular axes. The shapes are those of one element: what differs is of second order."""
    m = cc.Mechanism("arm", gravity=(0, 0, -9.81))
    upper, lower = m.body("upper", cc.rod(0.4, 0.6)), m.body("lower", cc.rod(0.3, 0.5))
    E = m.parameter("E", 2e9)
    for beam in (upper, lower):
        beam.flexible(E=E, section=SECTION, nu=0.33, shapes=CUBIC)
    m.revolute("shoulder", m.ground, upper, axis=(0, 1, 0))
    m.revolute("elbow", upper.tip, lower, axis=(0, 0, 1))
    m.start = {"shoulder": 0.3, "elbow": 0.7}
    times, shares = np.linspace(0, 0.15, 16), []
    for value in (2e9, 2e10):
        options = {"until": 0.15, "t_eval": times, "parameters": {"E": value}}
        here = cc.simulate(m, method=ERLS(elements=1), rtol=1e-9, **options)
        there = cc.simulate(m, rtol=1e-8, **options)
        gap = here.frame("lower.tip").position.values - there.frame("lower.tip").position.values
        shares.append(np.abs(gap).max() / here.tip_deflection("lower.tip")["distance"].values.max())
    assert shares[0] < 0.015  # of a deflection of 0.8 mm
    assert shares[1] < 0.3 * shares[0]
