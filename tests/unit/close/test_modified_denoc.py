"""`ModifiedDeNOC`: virtual springs at the cuts by recursion: their equations, their wrenches, and what they measure."""

from functools import cache

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.close.formulation import Choice
from closedchain.close.modified_denoc import ModifiedDeNOC, row_rates
from closedchain.close.virtual_spring import VirtualSpring
from closedchain.derive.closure import ROWS
from closedchain.derive.equations import derive
from closedchain.march.program.compiled import compiled
from closedchain.model.library import MECHANISMS
from closedchain.pose.state import State, parameter_vector
from closedchain.testing.measured import close_to
from closedchain.testing.terms import TIME
from tests.identities.sample import GEARED, LOOPS, PLATFORMS, TREES, case
from tests.unit.close.spring_terms import check, evaluate, somewhere


@cache
def drawn(name):
    return MECHANISMS[name].build()


# ---- the equations -----------------------------------------------------------------------------------------


def check_both(e, state, k=50.0, b=3.0):
    """``M a + h = tau - A' (k c + b c')`` anywhere, in all rows, and the accelerations of `VirtualSpring`."""
    rows = range(len(e.closure))
    got = check(ModifiedDeNOC(k, b), e, rows, state)
    other = evaluate(VirtualSpring(k, b), e, rows, state)
    # the same equations by other roads: rounding times the condition of a limb's inertia
    close_to(got["a"], other["a"], 1e-11)
    close_to(got["lam"], other["lam"], 1e-12)
    close_to(got["dx"][-1], other["dx"][-1], 1e-11)


@pytest.mark.parametrize("key", TREES[::5] + LOOPS[::2] + PLATFORMS[::2] + GEARED, ids=str)
def test_equations_on_random_mechanisms(key):
    c = case(*key)
    check_both(c.equations, State(c.mechanism, *c.anywhere(), t=TIME))


@pytest.mark.parametrize("name", MECHANISMS)
def test_equations_on_the_library(name):
    m = drawn(name)
    check_both(derive(m), somewhere(m))


@pytest.mark.parametrize("name", ["four-bar", "rrr3", "gough-stewart", "delta"])
def test_native_code_says_the_same_for_both(name):
    """With the stiffness of a real run, at a pose that it reaches: closed, or nearly so."""
    m = drawn(name)
    start, rng = m.assemble(), np.random.default_rng(8)
    programs = [compiled(start, Spring(1e5, 100.0)) for Spring in (VirtualSpring, ModifiedDeNOC)]
    x = programs[0].pack(start.q + 1e-5 * rng.normal(size=len(start.q)), 1e-2 * rng.normal(size=len(start.v)))
    one, two = (program.rhs(0.1, x, parameter_vector(m)) for program in programs)
    close_to(two, one, 1e-11)


def test_a_spring_between_two_carts():
    """Two carts on one line, 0.1 m apart and closing at 0.2 m/s."""
    m = cc.Mechanism("carts")
    one, two = (m.body(name, cc.point_mass(mass)) for name, mass in (("one", 1.0), ("two", 3.0)))
    m.prismatic("S1", m.ground, one, axis=(1, 0, 0))
    m.prismatic("S2", m.ground, two, axis=(1, 0, 0))
    m.weld("W", one, two, cut=True)
    method = ModifiedDeNOC({"W x": 200.0}, damping={"W": 5.0})
    got = evaluate(method, derive(m), (0,), State(m, np.array([0.4, 0.3]), np.array([1.0, 1.2])))
    force, rate = 200 * 0.1 + 5 * (1.0 - 1.2), 1.0 - 1.2  # of the first body on the second
    np.testing.assert_allclose(got["lam"], [force], rtol=1e-13)
    np.testing.assert_allclose(got["dx"], [1.0, 1.2, -force / 1.0, force / 3.0, -5 * rate**2], rtol=1e-13)
    np.testing.assert_allclose(got["stored"], 200 * 0.1**2 / 2, rtol=1e-13)


@pytest.mark.parametrize("key", LOOPS[::3] + GEARED[::2], ids=str)
def test_rates_of_the_cuts_from_twists(key):
    """``K t = A q'`` (5), without the Jacobian."""
    c = case(*key)
    q, v = c.anywhere()
    e = c.equations
    rates, wanted = c.evaluate([row_rates(e, tuple(range(len(e.closure)))), e.closure.A @ e.limbs.v], q, v)
    close_to(rates, wanted, 1e-12)


def test_a_spring_needs_no_guard():
    e, choice = derive(drawn("four-bar")), Choice((0, 1), guarded=True)
    assert not ModifiedDeNOC.guards
    method = ModifiedDeNOC(1e5)
    plain, guarded = method.close(e, Choice((0, 1))), method.close(e, choice)
    assert plain.correction is guarded.correction is None
    assert method.numbers(e, choice) == [1e5, 1e5]
    counts = [ca.Function("f", [x.x, e.limbs.p, x.parameters], [x.a]).n_instructions() for x in (plain, guarded)]
    assert counts[0] == counts[1]


# ---- springs measure real lengths --------------------------------------------------------------------------


@pytest.mark.parametrize("key", LOOPS, ids=str)
def test_springs_measure_real_lengths(key):
    """Rows in metres are the gap of the joint along fixed directions, however far the loop is open.

    A closure that measured anything else (a squared distance, a difference of angles for a length) would make the
    stiffness meaningless, which is the warning of the paper.
    """
    c = case(*key)
    q, v = c.anywhere()
    closure, values = c.equations.closure, c.numbers(q, v)["c"]
    for joint in c.topology.cuts:
        gap = c.independent.relative(joint, q)[:3, 3]  # of the second frame, in the axes of the first
        rows = {
            closure.labels[r]: values[r]
            for r in range(len(closure))
            if closure.joints[r] == joint.name and closure.units[r] == "m" and closure.labels[r] != "advance"
        }
        if "point" in joint.type.closure:
            assert set(rows) == {"x", "y", "z"}
            assert np.linalg.norm(list(rows.values())) == pytest.approx(np.linalg.norm(gap), rel=1e-12)
        else:
            wanted = {label: -gap["xyz".index(label)] for label in rows}
            assert rows == pytest.approx(wanted, rel=1e-11, abs=1e-13)
    assert all(unit == "m" for kind in ("point", "tx", "ty", "tz", "screw") for unit in ROWS[kind].units)


@pytest.mark.parametrize("kind", ["align", "rotation", "hooke", "screw"])
def test_angles_are_measured_with_slope_one(kind):
    """A small turn changes its row by as much: the stiffness is N m/rad. A thread advances along its axis."""
    small = 1e-5
    R_P, R_S, d, pitch = ca.SX.sym("P", 3, 3), ca.SX.sym("S", 3, 3), ca.SX.sym("d", 3), ca.SX.sym("h")
    row = ca.Function("row", [R_P, R_S, d, pitch], [ROWS[kind].quantity(R_P, R_S, d, pitch)])
    axes = {"align": (0, 1), "rotation": (0, 1, 2), "hooke": (2,), "screw": ()}[kind]
    for i, axis in enumerate(axes):
        turn = np.eye(3) + small * np.cross(np.eye(3)[axis], np.eye(3)).T
        value = np.array(row(np.eye(3), turn, [0, 0, 0], 1.0))[:, 0]
        # the residual is that of the first frame as seen from the second, to second order in the turn
        np.testing.assert_allclose(value, -small * np.eye(len(value))[i], atol=10 * small**2)
    if kind == "screw":
        value = float(row(np.eye(3), np.eye(3), [0, 0, small], 0.2))
        assert value == pytest.approx(-small, rel=1e-8)
