"""Exact Jacobians against differences: all formulations, random mechanisms, quaternions, time, solved positions."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.march.program.compiled import compiled
from closedchain.march.program.jacobian import jacobian
from closedchain.march.program.solver_inputs import for_solver
from closedchain.pose.state import parameter_vector
from tests.random_mechanisms import draw

METHODS = {
    "multipliers": cc.Multipliers(),
    "projection": cc.Projection(),
    "operational space": cc.OperationalSpace(),
    "denoc": cc.DeNOC(),
    "virtual spring": cc.VirtualSpring(1e3, 10.0),
    "modified denoc": cc.ModifiedDeNOC(1e3),
    "independent": cc.IndependentCoordinates(),
}


def differences(program, t, x, p, directions, h=1e-6):
    """Central differences of the right-hand side along directions, and by the time.

    Quaternions are brought back to length one, as an integrator keeps them.
    """

    def at(t, x):
        x = x.copy()
        for four in quaternions(program):
            x[four] /= np.linalg.norm(x[four])
        return program.rhs(t, x, p)

    columns = [(at(t, x + h * d) - at(t, x - h * d)) / (2 * h) for d in directions]
    return np.array(columns).T, (at(t + h, x) - at(t - h, x)) / (2 * h)


def quaternions(program):
    links = program.equations.topology.links
    return [slice(link.q.stop - 4, link.q.stop) for link in links if link.joint.type.has_quaternion]


def check(mechanism, method, seed=0, t=0.3):
    start = mechanism.assemble()
    program = compiled(start, method)
    p = parameter_vector(mechanism, start.parameters)
    rng = np.random.default_rng(seed)
    x = program.pack(start.q, rng.normal(size=len(start.v)), 0.0)
    if program.closed.solved_first:  # where a step begins, the loops are closed
        for _ in range(5):
            x = program.correct(t, x, p)[0]
    directions = np.eye(len(x))
    for four in quaternions(program):
        directions[four, four] -= np.outer(x[four], x[four])
    J = jacobian(program)
    expected, rate = differences(program, t, x, p, directions)
    scale = max(1.0, np.abs(expected).max())
    # central differences with h = 1e-6: h^2 times third derivatives, and rounding over h
    np.testing.assert_allclose(J.matrix(t, x, p) @ directions, expected, atol=1e-7 * scale)
    np.testing.assert_allclose(J(t, x, p)[1], rate, atol=1e-7 * scale)
    return J


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "rrr3"])
def test_library(name, method):
    check(getattr(cc.library, name)(), METHODS[method])


@pytest.mark.parametrize("Spring", [cc.VirtualSpring, cc.ModifiedDeNOC])
def test_limbs_are_seen(Spring):
    """Springs couple limbs through what they share: of the platform's 50 x 50 entries not one in five is there."""
    J = check(cc.library.gough_stewart(), Spring(1e3))
    assert J.pattern.sum() < 0.2 * J.pattern.size
    # coordinates are eliminated by hand, but for the platform's quaternion
    assert J.structure.kept.size <= 24 + 4
    np.testing.assert_array_equal(J.structure.tail, [len(J.pattern) - 1])


@pytest.mark.parametrize("method", ["multipliers", "projection", "virtual spring", "independent"])
@pytest.mark.parametrize("seed", range(4))
def test_random_mechanisms(seed, method):
    """Trees with one loop, joints of all kinds, so quaternions too, with motors, springs and friction."""
    drawing = draw(seed, bodies=4, loops=1, acting=True)
    check(drawing.mechanism, METHODS[method], seed=seed)


def test_time():
    """A torque that depends on the time is seen in the rate."""
    m = cc.library.pendulum()
    joint = next(iter(m.joints))
    m.motor(joint, torque=lambda t, q, v: 2.0 * cc.math.sin(3.0 * t) - 0.1 * v[joint])
    J = check(m, cc.Multipliers())
    x = np.array([0.4, 0.2, 0.0])
    p = parameter_vector(m, m.assemble().parameters)
    assert abs(J(0.3, x, p)[1][1]) > 0.1


def test_it_is_compiled_once_for_a_family():
    m = cc.library.four_bar()
    start = m.assemble()
    soft, hard = (jacobian(compiled(start, cc.VirtualSpring(k))) for k in (1e3, 1e6))
    assert soft.address == hard.address
    assert soft is jacobian(compiled(start, cc.VirtualSpring(1e3)))
    p = parameter_vector(m, start.parameters)
    x = compiled(start, cc.VirtualSpring(1e3)).pack(start.q, start.v)
    assert np.abs(hard.matrix(0.0, x, p)).max() > 100 * np.abs(soft.matrix(0.0, x, p)).max()


def test_explicit_solvers_compile_none():
    start = cc.library.four_bar().assemble()
    program = compiled(start, cc.Multipliers())
    p = parameter_vector(start.mechanism, start.parameters)
    assert for_solver("dop853", program, p) is None and "jacobian" not in program.functions
    given = for_solver("radau5", program, p)
    assert given.address == jacobian(program).address and given.structure.kept.size == 3


@pytest.mark.parametrize("solver", ["radau5", "rodas5p"])
@pytest.mark.parametrize("method", METHODS)
def test_runs_agree_with_an_explicit_solver(solver, method):
    m = cc.library.four_bar()
    options = {"until": 0.5, "method": METHODS[method]}
    ours = cc.simulate(m, solver=solver, rtol=1e-8, **options)
    theirs = cc.simulate(m, solver="dop853", rtol=1e-11, **options)
    # the tolerance, passed on over some 100 steps
    np.testing.assert_allclose(ours.x, theirs.x, atol=1e-6)


@pytest.mark.parametrize("solver", ["radau5", "rodas5p"])
def test_quaternions_stay_of_length_one(solver):
    """A random mechanism with spherical joints: the correction works with implicit solvers as with explicit ones."""
    m = draw(11, bodies=4, loops=1, kinds=("spherical", "revolute"), closing=("spherical",)).mechanism
    options = {"until": 0.5, "rtol": 1e-8}
    ours, theirs = (cc.simulate(m, solver=name, **options) for name in (solver, "dop853"))
    assert float(ours.closure_error.max()) < 1e-12
    for link in ours.program.equations.topology.links:
        if link.joint.type.has_quaternion:
            four = ours.x[:, link.q.stop - 4 : link.q.stop]
            np.testing.assert_allclose(np.linalg.norm(four, axis=1), 1.0, atol=1e-14)
    np.testing.assert_allclose(ours.x, theirs.x, atol=1e-5)


def test_events_are_found_with_an_implicit_solver():
    m = cc.library.four_bar()
    times = []
    for solver in ("dop853", "radau5", "rodas5p"):
        event = cc.Event("passes", m.joints["O"].q - 2.0, then="stop")
        run = cc.simulate(m, until=2.0, events=[event], solver=solver, rtol=1e-9)
        times.append(run.t[-1])
    # radau5 interpolates with an error of h^4 between its steps
    np.testing.assert_allclose(times, times[0], atol=1e-6)


def test_of_equations_with_and_without_a_massless_body():
    """One drawing, cut into a single chain: without the mass of its last link the equations are other ones."""
    m = cc.Mechanism("chain", gravity=(0, -9.81, 0))
    a, b, c = (m.body(name, cc.rod(length, mass=1.0)) for name, length in (("a", 1.0), ("b", 2.5), ("c", 2.0)))
    m.revolute("O", m.ground, a)
    m.revolute("A", a.tip, b)
    m.revolute("B", b.tip, c.tip)
    m.revolute("C", m.ground.at(2, 0, 0), c, cut=True)
    start = m.assemble(O=1.0, guess={"A": -1.0, "B": -1.5}, velocity={"O": 2.0})
    for changed in ({}, {"c.mass": 0.0}, {}):
        state = cc.State(m, start.q, start.v, changed)
        program, p = compiled(state, cc.Multipliers()), parameter_vector(m, changed)
        x = program.pack(start.q, start.v)
        J = jacobian(program).matrix(0.0, x, p)
        wanted, _ = differences(program, 0.0, x, p, np.eye(len(x)))
        # the differences are good to rounding over their step
        np.testing.assert_allclose(J, wanted, atol=1e-7 * np.abs(wanted).max())


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "rrr3", "gough_stewart"])
def test_with_algebraic_states(name):
    """Equations without a rate have their rows, too; here with unknowns that solve nothing."""
    m = getattr(cc.library, name)()
    start = m.assemble()
    program = compiled(start, cc.GGL())
    p = parameter_vector(m, start.parameters)
    rng = np.random.default_rng(3)
    x = program.pack(start.q, start.v)
    x[len(start.q) :] = rng.normal(size=len(x) - len(start.q))
    J, h = jacobian(program), 1e-6
    wanted = [(program.rhs(0.3, x + h * d, p) - program.rhs(0.3, x - h * d, p)) / (2 * h) for d in np.eye(len(x))]
    # central differences, as above
    np.testing.assert_allclose(J.matrix(0.3, x, p).T, wanted, atol=1e-7 * max(1.0, np.abs(wanted).max()))
    unknowns = np.arange(len(x) - 1 - program.closed.algebraic, len(x) - 1)
    np.testing.assert_array_equal(np.flatnonzero(J.structure.mass == 0), unknowns)
    assert set(unknowns) <= set(J.structure.kept)
