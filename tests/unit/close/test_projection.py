"""`Projection`: its options, closures that converge as they are told to, the closed forms of the four-bar, and runs."""

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.close.formulation import Choice
from closedchain.close.parts.feasible import FeasibleMotions
from closedchain.derive.equations import derive
from closedchain.march.program.compiled import compiled
from closedchain.march.stabilisation import Stabilisation
from closedchain.pose.state import parameter_vector
from closedchain.testing.terms import TIME
from tests.identities.sample import GEARED, LOOPS, PLATFORMS, case
from tests.reference.compare import columns, load, off
from tests.unit.close.parts.test_feasible import choose
from tests.unit.integrate.flat import integrate

NUMBERS = load("wang2002/four_bar")
RATES = (0.0, 1.0, 10.0, 100.0, 1000.0)  # Khan and Krovi print none


def nudged(c):
    """A state near a closed one, with open loops, quaternions of length one, and any independent velocities."""
    q, _ = c.closed()
    rng = np.random.default_rng([c.seed, 5])
    moved = np.array(c.evaluate([c.equations.qdot], q, rng.normal(size=c.topology.nv))[0])[:, 0]
    q = q + 1e-2 * moved
    for link in c.topology.links:
        if link.joint.type.has_quaternion:
            q[link.q.stop - 4 : link.q.stop] /= np.linalg.norm(q[link.q.stop - 4 : link.q.stop])
    return q, rng.normal(size=c.topology.nv)


@pytest.mark.parametrize("sigma", [0.0, 10.0, -3.0])
@pytest.mark.parametrize("key", LOOPS[2:7] + GEARED[:2] + PLATFORMS[:1], ids=str)
def test_closures_converge_exactly(key, sigma):
    """Off the manifold: c' = A v + c_t = -sigma c, and along the motion c'' = A a + gamma = sigma^2 c."""
    c = case(*key)
    e, method = c.equations, cc.Projection(abs(sigma))
    q, v = nudged(c)
    choice = choose(c, method, *c.closed())
    closed = method.close(e, choice)
    # gamma depends on v, which is a function of the state here
    terms = ca.substitute([e.closure.A @ e.limbs.v + e.closure.c_t, e.closure.gamma], [e.limbs.v], [closed.v])
    outputs = [closed.v, closed.a, *terms, e.closure.c, e.closure.A]
    f = ca.Function("f", [e.limbs.t, closed.x, ca.vertcat(e.limbs.p, closed.parameters)], outputs)
    x = np.concatenate([q, v[list(closed.velocities)], [0.0]])
    own = Stabilisation(backward=sigma < 0).numbers(method, e, choice)
    got = [np.array(ca.densify(y)) for y in f(TIME, x, [*c.p, *own])]
    rows = list(c.rows)
    velocity, a, rate, gamma, residual = (y[:, 0] for y in got[:5])
    rate, gamma, residual, A = rate[rows], gamma[rows], residual[rows], got[5][rows]
    assert np.abs(residual).max() > 1e-4
    # identities: what is left is rounding of the largest terms
    size = np.abs(A).max() * max(1.0, np.abs(velocity).max(), np.abs(a).max())
    np.testing.assert_allclose(rate, -sigma * residual, atol=1e-12 * size)
    np.testing.assert_allclose(A @ a + gamma, sigma**2 * residual, atol=1e-12 * size * max(1.0, np.abs(gamma).max()))


def off_the_manifold(m, gap, sigma):
    """The four-bar with the rocker turned by gap: program, state and parameters."""
    start = m.assemble()
    program = compiled(start, cc.Projection(sigma))
    p = parameter_vector(m)
    q = start.q.copy()
    q[2] += gap
    return program, program.pack(q, start.v), p


@pytest.mark.parametrize("sigma", [1.0, 10.0, 100.0])
def test_errors_decay_with_the_rate_sigma(sigma):
    """Started open, c(t) = c(0) exp(-sigma t) in each row, whatever the motion is."""
    program, x, p = off_the_manifold(cc.library.four_bar(), 1e-2, sigma)
    times = np.linspace(0, 2 / sigma, 9)
    run = integrate("dop853", program.rhs.address, x, (0, times[-1]), program.rhs.prepare(p), rtol=1e-12, atol=1e-12,
                    t_eval=times)  # fmt: skip
    c = program.evaluate("c", lambda: {"c": program.equations.closure.c}, run.t, run.x, p)["c"][:, :, 0]
    assert np.abs(c[0]).max() > 1e-2
    # the tolerance of the run, some steps long
    np.testing.assert_allclose(c, c[0] * np.exp(-sigma * times)[:, None], atol=1e-10)


def test_without_a_rate_errors_stay():
    program, x, p = off_the_manifold(cc.library.four_bar(), 1e-2, 0.0)
    run = integrate("dop853", program.rhs.address, x, (0, 0.5), program.rhs.prepare(p), rtol=1e-12, atol=1e-12)
    c = program.evaluate("c", lambda: {"c": program.equations.closure.c}, run.t, run.x, p)["c"][:, :, 0]
    assert np.abs(c[0]).max() > 1e-2
    np.testing.assert_allclose(c, np.tile(c[0], (len(c), 1)), atol=1e-10)


def test_the_energy_that_closing_takes_is_counted():
    """The force that pulls an open loop together does work: E - W is constant off the manifold too."""
    program, x, p = off_the_manifold(cc.library.four_bar(), 1e-2, 10.0)
    run = integrate("dop853", program.rhs.address, x, (0, 0.5), program.rhs.prepare(p), rtol=1e-12, atol=1e-12)
    E = program.evaluate("E", lambda: {"E": program.energy}, run.t, run.x, p)["E"][:, 0, 0]
    assert np.ptp(E) > 0.1
    np.testing.assert_allclose(E - run.x[:, -1], E[0], atol=1e-9)


def test_closed_forms_of_the_four_bar():
    """`gamma` of the paper by hand: A_D^-1 (-A' v + sigma^2 c) at the dependent places, zero at the independent one."""
    sigma = 7.0
    m = cc.library.four_bar()
    e = derive(m)
    joints_from_angles = np.array([[1.0, 0, 0], [-1.0, 1.0, 0], [0, 0, 1.0]])
    want = NUMBERS["pointwise"]
    q = np.append(joints_from_angles @ want["q"], 0.0)  # with the counter of the cut joint
    v = joints_from_angles @ want["qd"]
    motions = FeasibleMotions(e, ((0, 1), (1, 2)))
    bias = e.closure.gamma - sigma**2 * e.closure.c
    a_0 = -motions.dependent(ca.sparsify(bias))
    eta = motions.velocities(ca.SX(1, 1), sigma * e.closure.c)
    f = e.function("f", {"a_0": ca.densify(a_0), "eta": ca.densify(eta), "S": ca.densify(motions.S)})
    a_0, eta, S = (np.array(x)[:, 0] for x in f(0, q, v, parameter_vector(m)))

    J = np.array(want["J"]) @ np.linalg.inv(joints_from_angles)
    A_D, c = J[:, 1:], np.array(want["Delta"])
    assert a_0[0] == eta[0] == 0
    # double precision on both sides, and no matrix with a condition above 100
    np.testing.assert_allclose(
        a_0[1:], np.linalg.solve(A_D, want["index1"]["minus_Jdot_qd"] + sigma**2 * c), rtol=1e-12
    )
    np.testing.assert_allclose(eta[1:], np.linalg.solve(A_D, -sigma * c), rtol=1e-12)
    np.testing.assert_allclose(S, [1.0, *np.linalg.solve(A_D, -J[:, 0])], rtol=1e-12)


@pytest.mark.parametrize("sigma", RATES[:4])
def test_motion_of_the_four_bar(sigma):
    rows = NUMBERS["constrained"]
    m = cc.library.four_bar()
    run = cc.simulate(m, until=2.0, method=cc.Projection(sigma), rtol=1e-12, t_eval=[0.0, *(row["t"] for row in rows)])
    angles = np.array([[1.0, 0, 0], [1.0, 1.0, 0], [0, 0, 1.0]])
    # The error at 2 s is some 10 times rtol in q and 50 times in q' (the crank turns at 14 rad/s by then).
    assert off(columns(run, "O", "A", "C")[1:] @ angles.T, [row["q"] for row in rows]) < 1e-9
    assert off(columns(run, "O'", "A'", "C'")[1:] @ angles.T, [row["qd"] for row in rows]) < 1e-9
    # N: forces of up to 79 N at 2 s are off by some 5 N per rad/s
    assert off(run["lam"][1:], [row["lam"] for row in rows]) < 1e-8
    assert run.good


def test_steps_grow_with_sigma():
    """Khan and Krovi, Figure 6a: a stable explicit step is some 1/sigma long, and no longer."""
    m = cc.library.four_bar()
    steps = [cc.simulate(m, until=1.0, method=cc.Projection(s), solver="dopri5", rtol=1e-6).counts.steps for s in RATES]
    assert steps[0] <= steps[2] < steps[3] < steps[4]
    # dopri5 is stable up to a step of 3.3/sigma
    assert 1000 / 3.4 < steps[4] < 3 * 1000 / 3.3


def test_rates_share_machine_code():
    m = cc.library.four_bar()
    start = m.assemble()
    one, two, none = (compiled(start, cc.Projection(sigma)) for sigma in (1.0, 20.0, 0.0))
    assert one.rhs.address == two.rhs.address != none.rhs.address
    assert none.rhs.counts.total < one.rhs.counts.total


@pytest.mark.parametrize("sigma", [float("inf"), float("nan"), "10", None])
def test_wrong_rates(sigma):
    with pytest.raises(cc.ModelError, match="the rate sigma must be zero or a positive number in 1/s"):
        cc.Projection(sigma)


def test_back_in_time_the_rate_is_turned_round():
    m = cc.library.four_bar()
    end = cc.simulate(m, until=1.0, rtol=1e-11).state()
    back = cc.simulate(m, end, until=0.0, method=cc.Projection(10.0), rtol=1e-11)
    assert float(back["O"][-1]) == pytest.approx(float(m.assemble()["O"]), abs=1e-8)
    assert back.good


def test_quaternions_keep_their_length():
    m = cc.library.gough_stewart()
    run = cc.simulate(m, until=0.3, method=cc.Projection(), rtol=1e-8)
    wanted = cc.simulate(m, until=0.3, rtol=1e-8)
    four = [f"pose.q{x}" for x in "wxyz"]
    np.testing.assert_allclose(sum(run[x] ** 2 for x in four), 1, atol=1e-14)
    np.testing.assert_allclose([run[x][-1] for x in four], [wanted[x][-1] for x in four], atol=1e-7)


def test_an_event_on_a_velocity_that_begins_at_rest():
    """v = S nu + eta is rounding there, not zero; its sign means nothing."""
    m = cc.library.four_bar()
    event = cc.Event("rocker turns", m.joints["C"].v)
    times = [
        [x.t for x in cc.simulate(m, until=2.0, method=method, rtol=1e-9, events=[event]).record]
        for method in (cc.Projection(), cc.Multipliers())
    ]
    np.testing.assert_allclose(*times, atol=1e-8)


def test_citation():
    assert "Khan" in cc.Projection().citation() and "Yun" in cc.Projection().citation()


def test_an_open_chain_has_nothing_to_project():
    m = cc.library.double_pendulum()
    e = derive(m)
    closed = cc.Projection().close(e, Choice(()))
    assert closed.lam.shape == (0, 1)
    assert closed.velocities == (0, 1)
    runs = [cc.simulate(m, until=1.0, method=method) for method in (cc.Projection(), cc.Multipliers())]
    np.testing.assert_allclose(runs[0]["elbow"], runs[1]["elbow"], rtol=1e-9)
