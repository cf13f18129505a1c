"""The equations of a step: motions along exponentials, the recursion, exact matrices, and their scale."""

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import expm

import closedchain as cc
from closedchain.close.index3 import coefficients
from closedchain.derive.equations import derive
from closedchain.march.program.compiled import compiled
from closedchain.march.program.index3 import _series, inverse_dynamics, moved, step_equations
from closedchain.march.program.solver_inputs import for_solver
from closedchain.pose.state import parameter_vector
from tests.identities.independent import rotation_of
from tests.random_mechanisms import draw


def skew(w):
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


# both sides of the place where the series gives way to closed forms, and beyond half a turn
ANGLES = (0.0, 1e-9, 1e-3, 0.4, 0.999, 1.001, 2.5, 3.5, 7.0)


@pytest.mark.parametrize("size", ANGLES)
def test_a_constant_twist_moves_along_a_screw(size):
    """A free joint against the exponential of the 4 x 4 matrix of its twist."""
    m = cc.Mechanism("loose")
    m.free("F", m.ground, m.body("b", cc.ball(0.1, mass=1.0)))
    e = derive(m)
    q, delta = ca.SX.sym("q", 7), ca.SX.sym("delta", 6)
    f = ca.Function("moved", [q, delta], [moved(e, q, delta)])

    rng = np.random.default_rng(8)
    axis = rng.normal(size=3)
    quat = rng.normal(size=4)
    quat /= np.linalg.norm(quat)
    angle, way, place = size * axis / np.linalg.norm(axis), rng.normal(size=3), rng.normal(size=3)
    before = np.eye(4)
    before[:3, :3], before[:3, 3] = rotation_of(quat), place
    twist = np.zeros((4, 4))
    twist[:3, :3], twist[:3, 3] = skew(angle), way
    wanted = before @ expm(twist)

    got = np.array(f(np.concatenate([place, quat]), np.concatenate([angle, way]))).ravel()
    # some roundings; those of the closed forms are divided by x^3 >= 1
    np.testing.assert_allclose(got[:3], wanted[:3, 3], atol=2e-14)
    np.testing.assert_allclose(rotation_of(got[3:]), wanted[:3, :3], atol=2e-14)
    assert abs(np.linalg.norm(got[3:]) - 1) < 1e-15


@pytest.mark.parametrize("seed", range(3))
def test_small_motions_are_the_rates(seed):
    """At rest the derivative of the motion is N(q), for joints of all kinds, without a division of zero by zero."""
    e = derive(draw(seed, bodies=6, loops=0).mechanism)
    n, nv = e.topology.nq, e.topology.nv
    q, delta = ca.SX.sym("q", n), ca.SX.sym("delta", nv)
    rate = ca.Function("rate", [q, delta], [ca.jacobian(moved(e, q, delta), delta)])
    N = ca.Function("N", [e.limbs.q, e.limbs.v], [ca.jacobian(e.qdot, e.limbs.v)])
    here = np.random.default_rng(seed).normal(size=n)
    np.testing.assert_allclose(rate(here, np.zeros(nv)), N(here, np.zeros(nv)), atol=1e-15)


@pytest.mark.parametrize("k", range(4))
def test_series_and_closed_forms_meet(k):
    s = ca.SX.sym("s")
    f = ca.Function("f", [s], [_series(s, k), ca.jacobian(_series(s, k), s)])
    below, above = (np.array(f(1 + step)).ravel() for step in (-1e-12, 1e-12))
    # the closed form and its derivative lose some bits to cancellation
    np.testing.assert_allclose(below, above, atol=1e-11)
    assert float(f(0.0)[0]) == pytest.approx(1 / [1, 1, 2, 6][k])


@pytest.mark.parametrize("seed", range(4))
def test_recursion_is_the_equation_of_motion(seed):
    """``M a + h - tau`` in one pass, with motors, springs, friction and geared rotors."""
    e = derive(draw(seed, bodies=5, loops=1, acting=True).mechanism)
    a = ca.SX.sym("a", e.topology.nv)
    symbols = [e.limbs.t, e.limbs.q, e.limbs.v, e.limbs.p, a]
    f = ca.Function("f", symbols, [inverse_dynamics(e, a), e.M @ a + e.h - e.tau])
    rng = np.random.default_rng(seed)
    values = [rng.normal(size=x.shape[0]) for x in symbols]
    values[3] = parameter_vector(e.topology.mechanism)
    for link in e.topology.links:
        if link.joint.type.has_quaternion:
            values[1][link.q.stop - 4 : link.q.stop] /= np.linalg.norm(values[1][link.q.stop - 4 : link.q.stop])
    got, wanted = (np.array(x).ravel() for x in f(*values))
    np.testing.assert_allclose(got, wanted, atol=1e-11 * np.abs(wanted).max())  # other orders of summation


def step_at(m, h, seed=0, rho=0.6):
    """A program, its step, and arguments in the middle of nowhere, but with closed positions and unit quaternions."""
    start = m.assemble()
    program = compiled(start, cc.Index3(rho))
    rng = np.random.default_rng(seed)
    nv, rows = len(start.v), len(program.rows)
    v, alpha, a, unknown = (rng.normal(size=k) for k in (nv, nv, nv, nv + rows))
    d = np.concatenate([start.q, v, alpha, a, [h], unknown])
    return program, step_equations(program), d, parameter_vector(m, start.parameters)


def check_matrix(m, seed=0, h=0.05):
    _, step, d, p = step_at(m, h, seed)
    k, epsilon = len(step.residual(0.3, d, p)[0]), 1e-5
    K = step.matrix(0.3, d, p).reshape(k, k)

    def r(u):
        return step.residual(0.3, np.concatenate([d[:-k], u]), p)[0]

    columns = [(r(d[-k:] + epsilon * x) - r(d[-k:] - epsilon * x)) / (2 * epsilon) for x in np.eye(k)]
    # rounding of c / h^2, about 1e-13, over epsilon
    np.testing.assert_allclose(K, np.array(columns).T, atol=1e-7 * max(1.0, np.abs(K).max()))


@pytest.mark.parametrize("name", ["pendulum", "four_bar", "slider_crank", "gough_stewart"])
def test_exact_matrix_on_the_library(name):
    check_matrix(getattr(cc.library, name)())


@pytest.mark.parametrize("seed", range(3))
def test_exact_matrix_on_random_mechanisms(seed):
    """Joints of all kinds, so quaternions too, with motors, springs and friction."""
    check_matrix(draw(seed, bodies=3, loops=1, acting=True).mechanism, seed)


@pytest.mark.parametrize("name", ["four_bar", "gough_stewart"])
def test_short_steps_have_the_matrix_of_the_index_1_system(name):
    """``[M A'; A 0]``, with ``A`` once more for the closures: no power of h is left in it."""
    m = getattr(cc.library, name)()
    conditions = []
    for h in (1e-3, 1e-5, 1e-7):
        program, step, d, p = step_at(m, h)
        K = step.matrix(0.3, d, p)
        conditions.append(np.linalg.cond(K))
    e = program.equations
    terms = e.function("terms", {"M": e.M, "A": e.closure.A})
    M, A = (np.array(x) for x in terms(0.3, d[: e.topology.nq], np.zeros(e.topology.nv), p))
    A = A[list(program.rows)]
    wanted = np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]])
    np.testing.assert_allclose(K, wanted, atol=1e-5 * np.abs(wanted).max())  # h times rates of about ten
    np.testing.assert_allclose(conditions, conditions[-1], rtol=0.1)  # the same once more at h = 1e-3


def test_a_step_by_hand():
    """A pendulum without gravity: the end of a step is what the formulas of the method say."""
    m = cc.library.pendulum()
    _, step, d, p = step_at(m, 0.1, rho=0.5)
    q, v, alpha, a, h, new = d
    r, end = step.residual(0.0, d, p)
    alpha_m, alpha_f, beta, gamma = coefficients(0.5)
    alpha_new = ((1 - alpha_f) * new + alpha_f * a - alpha_m * alpha) / (1 - alpha_m)
    v_new = v + h * ((1 - gamma) * alpha + gamma * alpha_new)
    q_new = q + h * v + h**2 * ((0.5 - beta) * alpha + beta * alpha_new)
    np.testing.assert_allclose(end, [q_new, v_new, alpha_new], rtol=1e-14)
    e = derive(m)
    terms = e.function("terms", {"f": e.h - e.tau, "M": e.M})
    f, M = (float(x) for x in terms(0.0, q_new, v_new, p))
    assert r[0] == pytest.approx(M * new + f, rel=1e-13)


def test_what_the_solver_gets():
    """The parameters of both functions are the second argument, as a run that changes held numbers expects."""
    m = cc.library.four_bar()
    start = m.assemble()
    program = compiled(start, cc.Index3())
    p = parameter_vector(m)
    extra = for_solver("generalised-alpha", program, p)
    step = step_equations(program)
    np.testing.assert_array_equal(extra[1], np.concatenate([step.residual.prepare(p), step.matrix.prepare(p)]))
    assert (extra[0], extra[2]) == (step.residual.address, step.matrix.address)
    tree, n, nv, closures, _ = extra[3]
    assert (tree, n, nv, closures) == (3, program.equations.topology.nq, 3, 2)
