"""The stabilised index-2 form: its equations, and what Radau IIA makes of them."""

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.close.ggl import GGL
from closedchain.integrate.solvers import SOLVERS
from closedchain.march.program.compiled import compiled
from closedchain.march.program.jacobian import jacobian
from closedchain.march.program.solver_inputs import for_solver
from closedchain.march.start import residuals
from closedchain.pose.state import parameter_vector
from closedchain.testing import problems
from tests.invariants import drawings
from tests.random_mechanisms import draw
from tests.unit.integrate.flat import integrate


def driven():
    """A four-bar whose crank is made to turn, in a way that depends on the time."""
    m = cc.library.four_bar(torque=0.0)
    m.drive("O", cc.pi / 2 + 3.0 * cc.t + 0.5 * cc.math.sin(4.0 * cc.t))
    return m


def chain(mass=1.0):
    """A four-bar cut at its last joint; without the mass of its last rod the inertia matrix is singular."""
    m = cc.Mechanism("chain", gravity=(0, -9.81, 0))
    rods = (("a", 1.0, 1.0), ("b", 2.5, 1.0), ("c", 2.0, mass))
    a, b, c = (m.body(name, cc.rod(length, mass=x)) for name, length, x in rods)
    m.revolute("O", m.ground, a)
    m.revolute("A", a.tip, b)
    m.revolute("B", b.tip, c.tip)
    m.revolute("C", m.ground.at(2, 0, 0), c, cut=True)
    return m, m.assemble(O=1.0, guess={"A": -1.0, "B": -1.5}, velocity={"O": 2.0})


def swinging():
    m = cc.library.four_bar()
    return m, m.assemble(O=1.5)


def lifted():
    m = cc.library.gough_stewart()
    return m, m.assemble()


def pushed():
    """A 3-RRR robot without its servos, let go with gravity in its plane."""
    m = cc.library.rrr3()
    m.gravity = (0, -9.81, 0)
    return m, m.assemble()


CASES = {
    "four-bar": swinging,
    "slider-crank": lambda: (m := cc.library.slider_crank(), m.assemble()),
    "3-RRR": pushed,
    "gough-stewart": lifted,
    "driven": lambda: (m := driven(), m.assemble()),
    "massless": lambda: chain(0.0),
    "redundant": lambda: (m := drawings.parallelograms(2), m.assemble(velocity={next(iter(m.joints)): 1.0})),
}


class Unknowns:
    """Where the parts of the state are, and what they are at a consistent state."""

    def __init__(self, program):
        nq, nv, m = program.equations.topology.nq, program.equations.topology.nv, len(program.rows)
        sizes = {"q": nq, "v": nv, "a": nv, "lam": m, "u": nv, "mu": m}
        ends = np.cumsum([0, *sizes.values()])
        self.of = {name: slice(*ends[i : i + 2]) for i, name in enumerate(sizes)}
        self.of["nu"] = slice(ends[-1], -1)
        self.program = program

    def __getitem__(self, name):
        return self.of[name]

    def consistent(self, state):
        """The state with its accelerations and multipliers, from the index-1 system."""
        program, p = self.program, parameter_vector(state.mechanism, state.parameters)
        x = program.pack(state.q, state.v)
        closed = program.closed
        got = program.evaluate("z", lambda: {"a": closed.a, "lam": closed.lam}, np.array([state.t]), x[None], p)
        x[self["a"]], x[self["lam"]], x[self["u"]] = got["a"][0, :, 0], got["lam"][0, :, 0], state.v
        return x, p


def march(m, start, until, **options):
    """All steps of a run by Radau IIA, and where its unknowns are."""
    program = compiled(start, GGL())
    at = Unknowns(program)
    x, p = at.consistent(start)
    return at, integrate(
        "radau5", program.rhs.address, x, (start.t, until), program.rhs.prepare(p),
        extra=for_solver("radau5", program, p), **options,
    )  # fmt: skip


def gaps(at, run, m):
    """Largest residuals of positions and velocities at each state."""
    f, rows, p = residuals(at.program.equations), list(at.program.active), parameter_vector(m)
    values = [f(t, x[at["q"]], x[at["v"]], p) for t, x in zip(run.t, run.x, strict=True)]
    return np.array([[np.abs(np.array(y).ravel()[rows]).max() for y in pair] for pair in values])


# ---- the equations ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_the_motion_solves_them(name):
    """With mu = 0 and u = v the rates are those of the multipliers, and all other equations hold."""
    _, start = CASES[name]()
    program, other = compiled(start, GGL()), compiled(start, cc.Multipliers())
    at = Unknowns(program)
    x, p = at.consistent(start)
    assert program.closed.algebraic == len(x) - 1 - len(start.q) - len(start.v)
    dx = program.rhs(start.t, x, p)
    wanted = other.rhs(start.t, other.pack(start.q, start.v), p)
    # rounding of forces, beside the largest of them
    size = max(1.0, np.abs(x).max())
    np.testing.assert_allclose(dx[: len(wanted) - 1], wanted[:-1], atol=1e-10 * size)
    assert dx[-1] == pytest.approx(wanted[-1], abs=1e-10 * size)
    np.testing.assert_allclose(dx[len(wanted) - 1 : -1], 0.0, atol=1e-10 * size)


def test_the_inertia_matrix_is_the_measure():
    """u is the velocity that is nearest to v, by kinetic energy, of those for which A u = A v + b."""
    _, start = swinging()
    program = compiled(start, GGL())
    at = Unknowns(program)
    x, p = at.consistent(start)
    rng = np.random.default_rng(1)
    mu = rng.normal(size=len(program.rows))
    e = program.equations
    M, A = (
        np.array(X)
        for X in e.function("f", {"M": e.M, "A": e.closure.A[list(program.rows), :]})(0, start.q, start.v, p)
    )
    x[at["mu"]], x[at["u"]] = mu, start.v - np.linalg.solve(M, A.T @ mu)
    np.testing.assert_allclose(program.rhs(0.0, x, p)[at["u"]], 0.0, atol=1e-13)
    others = np.linalg.svd(A)[2][len(A) :]  # velocities with A w = 0
    np.testing.assert_allclose(others @ M @ (start.v - x[at["u"]]), 0.0, atol=1e-13)


def test_results_do_not_hang_on_the_unknowns():
    closed = compiled(lifted()[1], GGL()).closed
    z = closed.x[-1 - closed.algebraic : -1]
    results = {name: getattr(closed, name) for name in ("q", "v", "a", "lam")}
    for name, found in (results | {"residual": closed.correction.residual}).items():
        assert not ca.depends_on(found, z), name


def test_no_inverse_in_the_equations():
    """The Jacobian is ten times smaller than that of accelerations solved for."""
    _, start = lifted()
    J = jacobian(compiled(start, GGL()))
    assert J.counts.total < 10_000  # 7,681 when this was written; 88,000 for cc.Multipliers()


@pytest.mark.parametrize(("name", "kept"), [("four-bar", 2 * (3 + 2)), ("gough-stewart", 2 * (24 + 18) + 4 + 1)])
def test_positions_and_velocities_are_eliminated_by_hand(name, kept):
    """What is left: a, lam, u, mu, each quaternion and its nu."""
    plan = jacobian(compiled(CASES[name]()[1], GGL())).structure
    assert plan.kept.size == kept


def test_what_it_is():
    method = cc.GGL()
    assert method == GGL() and method.kind == "index 2" and not method.drifts and not method.guards
    assert "Gear" in method.citation()


def test_no_start_at_a_singular_pose():
    m = drawings.parallelograms(1)
    flat = cc.State(m, np.zeros(m.assemble().q.size), np.zeros(3))
    with pytest.raises(cc.ModelError, match="GGL cannot start at a singular pose"):
        compiled(flat, GGL())


# ---- runs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_multipliers(name):
    m, start = CASES[name]()
    options = {"until": 0.4, "rtol": 1e-10}
    run = cc.simulate(m, start, method=GGL(), solver="radau5", **options)
    wanted = cc.simulate(m, start, method=cc.Multipliers(), solver="dop853", **options)
    n = len(start.q) + len(start.v)
    for mine, other in ((run.x[:, :n], wanted.x[:, :n]), (run.dataset["lam"].values, wanted.dataset["lam"].values)):
        size = max(1.0, np.abs(other).max())
        # between steps the polynomial has an error of h^4, about the power 2/3 of the tolerance
        np.testing.assert_allclose(mine, other, atol=1e-6 * size)
        np.testing.assert_allclose(mine[-1], other[-1], atol=1e-8 * size)
    assert run.good


@pytest.mark.parametrize("seed", range(4))
def test_random_mechanisms(seed):
    """Joints of all kinds, motors, springs and friction."""
    m = draw(seed, bodies=4, loops=1, acting=True).mechanism
    run = cc.simulate(m, until=0.2, method=GGL(), solver="radau5", rtol=1e-9)
    wanted = cc.simulate(m, until=0.2, rtol=1e-11)
    n = len(m.assemble().q)
    size = max(1.0, np.abs(wanted.x).max())
    np.testing.assert_allclose(run.x[-1, :n], wanted.x[-1, :n], atol=1e-6 * size)


def test_a_tree_has_nothing_to_close():
    m = cc.library.double_pendulum()
    start = m.assemble({next(iter(m.joints)): 1.0})
    run = cc.simulate(m, start, until=1.0, method=GGL(), solver="radau5", rtol=1e-9)
    wanted = cc.simulate(m, start, until=1.0, rtol=1e-11)
    np.testing.assert_allclose(run.x[-1, :2], wanted.x[-1, :2], atol=1e-7)


@pytest.mark.parametrize("name", ["four-bar", "gough-stewart", "driven"])
def test_steps_stay_closed(name):
    """Positions, velocities and lengths of quaternions at the ends of all steps: what Newton's method may leave."""
    m, start = CASES[name]()
    for rtol in (1e-6, 1e-9):
        at, run = march(m, start, 5.0, rtol=rtol, atol=rtol)
        assert run.success
        position, velocity = gaps(at, run, m).T
        # Newton's method leaves part of the tolerance; velocities are some 10 rad/s, and rates of closures larger yet
        assert position.max() < 10 * rtol and velocity.max() < 100 * rtol
        # and no drift: as good in the last fifth as in the first
        early, late = (position[part].max() for part in (run.t < 1.0, run.t > 4.0))
        assert late < 30 * early
        for link in at.program.equations.topology.links:
            if link.joint.type.has_quaternion:
                four = run.x[:, link.q.stop - 4 : link.q.stop]
                np.testing.assert_allclose(np.linalg.norm(four, axis=1), 1.0, atol=rtol)


def test_samples_are_closed_to_rounding():
    m, start = swinging()
    run = cc.simulate(m, start, until=1.0, method=GGL(), solver="radau5", rtol=1e-6)
    inner = run.closure_error.values[:-1]  # the last one is the end of a step
    assert inner.max() < 1e-12


@pytest.mark.parametrize(("name", "steps"), [("four-bar", 16), ("gough-stewart", 64)])
def test_orders(name, steps):
    """5 for positions, velocities and work, 3 for multipliers (Hairer and Wanner, VII.4)."""
    m, start = CASES[name]()
    until = 0.5
    exact = cc.simulate(m, start, until, rtol=1e-13, t_eval=[until])
    errors = []
    for n in (steps, 2 * steps):
        at, run = march(m, start, until, **problems.step_options(SOLVERS["radau5"], until / n))
        assert run.counts.steps <= n + 1
        x, p = run.x[-1], exact.p
        closed = at.program.closed
        lam = at.program.evaluate("lam", lambda closed=closed: {"lam": closed.lam}, run.t[-1:], run.x[-1:], p)["lam"]
        off = [x[at[name]] - exact.x[-1][at[name]] for name in "qv"] + [x[-1:] - exact.x[-1][-1:]]
        off += [x[at["lam"]] - lam[0, :, 0], x[at["mu"]]]
        errors.append([np.linalg.norm(part) for part in off])
    orders = np.log2(np.array(errors[0]) / errors[1])
    # the next power of h still shows; with shorter steps rounding would
    np.testing.assert_allclose(orders, [5, 5, 5, 3, 3], atol=0.3)


def test_the_second_multipliers_vanish():
    """mu is an error of the integration alone."""
    m, start = swinging()
    largest = []
    for rtol in (1e-5, 1e-8, 1e-11):
        at, run = march(m, start, 1.0, rtol=rtol, atol=rtol)
        largest.append(np.abs(run.x[:, at["mu"]]).max())
    # h falls with rtol^(1/6), mu with h^3
    assert largest[0] > 10 * largest[1] > 100 * largest[2] > 0


def test_the_start_needs_no_multipliers():
    """Stages do not depend on where the algebraic unknowns began."""
    m, start = swinging()
    at, good = march(m, start, 0.5, rtol=1e-9, atol=1e-9)
    program, p = at.program, parameter_vector(m)
    poor = integrate(
        "radau5", program.rhs.address, program.pack(start.q, start.v), (0.0, 0.5), program.rhs.prepare(p),
        rtol=1e-9, atol=1e-9, extra=for_solver("radau5", program, p),
    )  # fmt: skip
    np.testing.assert_allclose(poor.x[-1], good.x[-1], atol=1e-6)
    assert poor.counts.steps < good.counts.steps + 10


def test_prescribed_motions_do_their_work():
    m, start = CASES["driven"]()
    run = cc.simulate(m, start, until=1.0, method=GGL(), solver="radau5", rtol=1e-10)
    t = run.t
    np.testing.assert_allclose(run["O"].values, np.pi / 2 + 3.0 * t + 0.5 * np.sin(4.0 * t), atol=1e-9)
    assert np.ptp(run.dataset["work"].values) > 1.0
    assert np.abs(run.energy_error).max() < 1e-6


def test_events_and_backward_runs():
    m, start = swinging()
    stop = cc.Event("passes", m.joints["O"].q - 2.0, then="stop")
    runs = [
        cc.simulate(m, start, until=2.0, events=[stop], rtol=1e-10, **options)
        for options in ({}, {"method": GGL(), "solver": "radau5"})
    ]
    # radau5 interpolates with an error of h^4 between its steps
    assert runs[0].t[-1] == pytest.approx(runs[1].t[-1], abs=1e-6)
    back = cc.simulate(m, start, until=-0.5, method=GGL(), solver="radau5", rtol=1e-10)
    wanted = cc.simulate(m, start, until=-0.5, rtol=1e-10)
    np.testing.assert_allclose(back["O"].values, wanted["O"].values, atol=1e-6)
