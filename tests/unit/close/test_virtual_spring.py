"""`VirtualSpring`: its equations at any state, limbs that do not know of each other, and the paper's own equations."""

from functools import cache

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.march.program.compiled import compiled, operations
from closedchain.model.library import MECHANISMS
from closedchain.pose.state import State, parameter_vector
from closedchain.testing.terms import TIME
from tests.identities.sample import GEARED, LOOPS, PLATFORMS, TREES, case
from tests.unit.close.spring_terms import check, evaluate, somewhere


@cache
def drawn(name):
    return MECHANISMS[name].build()


@pytest.mark.parametrize("key", TREES[::5] + LOOPS[::2] + PLATFORMS[::2] + GEARED, ids=str)
def test_equations_on_random_mechanisms(key):
    """In all rows, also in those that repeat others; couplings and prescribed motions are springs, too."""
    c = case(*key)
    rows = range(len(c.equations.closure))
    check(cc.VirtualSpring(50.0, 3.0), c.equations, rows, State(c.mechanism, *c.anywhere(), t=TIME))


def test_prescribed_motions_are_among_them():
    """``c_t`` is not zero somewhere, or the work of a drive would not have been tested."""
    moved = [np.abs(c.numbers(*c.anywhere())["c_t"]).max(initial=0.0) for c in (case(*key) for key in GEARED)]
    assert max(moved) > 0.01


@pytest.mark.parametrize("name", ["four-bar", "rrr3", "pacdrive", "walker"])  # test_modified_denoc.py has all of them
def test_equations_on_the_library(name):
    m = drawn(name)
    e = derive(m)
    check(cc.VirtualSpring(50.0, 3.0), e, range(len(e.closure)), somewhere(m))


@pytest.mark.parametrize("name", ["four-bar", "rrr3", "gough-stewart", "delta"])
def test_native_code_says_the_same(name):
    m = drawn(name)
    e, start = derive(m), m.assemble()
    state = State(m, start.q, np.random.default_rng(3).normal(size=e.topology.nv))
    program = compiled(start, cc.VirtualSpring(50.0, 3.0))
    wanted = evaluate(cc.VirtualSpring(50.0, 3.0), e, program.rows, state)["dx"]
    dx = program.rhs(0.0, program.pack(state.q, state.v), parameter_vector(m))
    np.testing.assert_allclose(dx, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())  # other orders of summation


def test_the_equations_of_the_paper():
    """(13), (15) to (19) for the four-bar in absolute angles, loops open; with damping as in (40)."""
    l1, l2, l3, k, b, g, torque = 1.0, 4.0, 2.5, 1e3, 20.0, 9.8, 6.0
    th, al, ph, *rates = angles = np.array([0.7, 0.4, 1.1, 1.2, -0.3, 0.8])
    (c1, c2, c3), (s1, s2, s3), (w1, w2, w3) = np.cos(angles[:3]), np.sin(angles[:3]), rates
    gap = np.array([l1 * c1 + l2 * c2 - l3 * c3 - 3, l1 * s1 + l2 * s2 - l3 * s3])
    gap_dot = np.array([-l1 * s1 * w1 - l2 * s2 * w2 + l3 * s3 * w3, l1 * c1 * w1 + l2 * c2 * w2 - l3 * c3 * w3])
    fx, fy = k * gap + b * gap_dot
    r1, r2, r3, I1, I2, I3 = l1 / 2, l2 / 2, l3 / 2, l1**2 / 12, l2**2 / 12, l3**2 / 12
    M12 = l1 * r2 * np.cos(th - al)
    M = np.array([[I1 + r1**2 + l1**2, M12, 0], [M12, I2 + r2**2, 0], [0, 0, I3 + r3**2]])
    sway = l1 * r2 * np.sin(th - al)
    c = np.array([sway * w2**2 + g * (r1 + l1) * c1, -sway * w1**2 + g * r2 * c2, g * r3 * c3])
    f = [torque + l1 * (s1 * fx - c1 * fy), l2 * (s2 * fx - c2 * fy), l3 * (-s3 * fx + c3 * fy)]
    wanted = np.linalg.solve(M, f - c)

    m = cc.library.four_bar()
    e = derive(m)
    turned = np.zeros(e.topology.nq)
    turned[:3] = th, al - th, ph
    state = State(m, turned, np.array([w1, w2 - w1, w3]))
    got = evaluate(cc.VirtualSpring(k, b), e, (0, 1), state)
    np.testing.assert_allclose(got["lam"], [fx, fy], rtol=1e-13)
    np.testing.assert_allclose(np.cumsum(got["a"][:2]), wanted[:2], rtol=1e-12)
    np.testing.assert_allclose(got["a"][2], wanted[2], rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "limbs"), [("four-bar", 2), ("rrr3", 3), ("four-bar-chain", 6), ("delta", 4), ("gough-stewart", 7)]
)
def test_limbs_are_independent_given_the_forces_at_the_cuts(name, limbs):
    """What moves a limb depends on its own coordinates and velocities and on lam: (17) and (39) are block diagonal.

    The paper counts eight blocks for the platform: it takes translations and rotations of its top as two.
    """
    e = derive(drawn(name))
    of_v = np.array([link.limb for link in e.topology.links for _ in range(link.v.stop - link.v.start)])
    of_q = np.array([link.limb for link in e.topology.links for _ in range(link.q.stop - link.q.start)])
    assert len(set(of_v)) == limbs
    i, j = np.nonzero(np.array(ca.DM(e.M.sparsity(), 1)))
    assert (of_v[i] == of_v[j]).all()
    lam = ca.SX.sym("lam", len(e.closure))
    force = e.tau - e.h - e.closure.A.T @ lam
    for symbols, limb in ((e.limbs.v, of_v), (e.limbs.q[: len(of_q)], of_q)):
        i, j = np.nonzero(np.array(ca.DM(ca.jacobian(force, symbols).sparsity(), 1)))
        assert len(i) and (of_v[i] == limb[j]).all()


@pytest.mark.parametrize("name", ["four-bar", "rrr3", "gough-stewart"])
def test_springs_cost_less_than_multipliers(name):
    start = drawn(name).assemble()
    spring, rigid = (operations(start, x)["total"] for x in (cc.VirtualSpring(1e6, 1e3), cc.Multipliers()))
    assert spring < 0.8 * rigid
