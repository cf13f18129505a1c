"""Equations made regular for bodies without mass: the same accelerations and forces, and a regular matrix."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.formulation import Choice
from closedchain.close.multipliers import Multipliers
from closedchain.close.parts.massless import fortify
from closedchain.derive.equations import derive
from closedchain.march.program.compiled import compiled, right_hand_side
from closedchain.pose.state import parameter_vector
from closedchain.testing.measured import close_to
from closedchain.testing.terms import TIME
from tests.identities.sample import LOOPS, case


def four_bar(coupler=0.0):
    """A coupler without mass hangs on the crank, its far end is cut."""
    m = cc.Mechanism("light coupler", gravity=(0, -9.81, 0))
    bodies = [
        m.body(x, cc.rod(L, mass=w)) for x, L, w in (("crank", 1, 1.0), ("coupler", 2.5, coupler), ("rocker", 2, 2.0))
    ]
    m.revolute("O", m.ground, bodies[0])
    m.revolute("A", bodies[0].tip, bodies[1])
    m.revolute("C", m.ground.at(2, 0, 0), bodies[2])
    m.revolute("B", bodies[1].tip, bodies[2].tip, cut=True)
    return m.assemble(O=1.0, guess={"A": -1.0, "C": 1.5}, velocity={"O": 2.0})


def terms(e, state):
    f = e.function("terms", {"M": e.M, "h": e.h, "tau": e.tau, "A": e.closure.A, "gamma": e.closure.gamma})
    M, h, tau, A, gamma = map(np.array, f(state.t, state.q, state.v, parameter_vector(state.mechanism)))
    return M, h.ravel(), tau.ravel(), A, gamma.ravel()


def whole(M, h, tau, A, gamma):
    """a and lam from one matrix."""
    K = np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]])
    return np.split(np.linalg.solve(K, np.concatenate([tau - h, -gamma])), [len(M)])


@pytest.mark.parametrize("key", LOOPS[::4], ids=str)
def test_accelerations_and_forces_are_the_same(key):
    """Where all bodies have mass, both forms can be solved."""
    c = case(*key)
    q, v = c.closed()
    strong = fortify(c.equations, c.rows)
    closed = Multipliers("none").close(strong, Choice(c.rows))
    f = strong.function("f", {"a": closed.a, "lam": closed.lam})
    for got, wanted in zip(f(TIME, q, v, c.p), c.accelerations(q, v), strict=True):
        close_to(np.array(got)[:, 0], wanted, 1e-9)  # the matrices have conditions of up to 1e5


def test_the_weight_is_the_mass_in_motion():
    state = four_bar()
    e = derive(state.mechanism)
    M, h, _, A, gamma = terms(e, state)
    stronger = terms(fortify(e, (0, 1)), state)
    np.testing.assert_allclose(stronger[0], M + 3.0 * A.T @ A, rtol=1e-13)
    np.testing.assert_allclose(stronger[1], h + 3.0 * A.T @ gamma, rtol=1e-13)
    assert np.abs(gamma).max() > 1  # m/s^2, or the second line would say nothing
    one = terms(fortify(e, (1,)), state)[0]
    np.testing.assert_allclose(one, M + 3.0 * np.outer(A[1], A[1]), rtol=1e-13)


def test_a_body_without_mass_has_its_motion_from_its_loop():
    state = four_bar()
    e = derive(state.mechanism)
    M = terms(e, state)[0]
    assert np.linalg.matrix_rank(M) == 2 and np.linalg.cond(terms(fortify(e, (0, 1)), state)[0]) < 1e4
    a, lam = whole(*terms(e, state))  # regular, although M is not
    dx = right_hand_side(state, cc.Multipliers())
    np.testing.assert_allclose(dx[e.topology.nq : -1], a, rtol=1e-11)
    # along the coupler, to rounding of some newtons
    along = state["O"] + state["A"]
    assert abs(lam @ [-np.sin(along), np.cos(along)]) < 1e-11 * np.abs(lam).max()


def test_only_mechanisms_that_need_it_pay():
    """The mass is a parameter: its value tells which equations are taken, of the same drawing."""
    m = four_bar(2.5).mechanism
    light, heavy = (
        m.assemble(O=1.0, guess={"A": -1.0, "C": 1.5}, parameters={"coupler.mass": mass}) for mass in (0.0, 2.5)
    )
    one, two = compiled(light, cc.Multipliers()), compiled(heavy, cc.Multipliers())
    assert one.equations is two.equations  # results are those of the drawing
    assert one.rhs.counts.total > two.rhs.counts.total
    with pytest.raises(cc.ModelError, match="DeNOC divides by the inertia of each limb"):
        compiled(light, cc.DeNOC())
    assert compiled(heavy, cc.DeNOC()).rhs.counts.total > 0


@pytest.mark.parametrize(
    "method", [cc.VirtualSpring(1e5), cc.ModifiedDeNOC(1e5), cc.DeNOC()], ids=lambda x: type(x).__name__
)
def test_methods_that_divide_by_limbs_refuse(method):
    with pytest.raises(cc.ModelError) as trouble:
        compiled(four_bar(), method)
    assert str(trouble.value) == (
        f"{type(method).__name__} divides by the inertia of each limb, but a limb of 'light coupler' ends in a body "
        "without mass: give it a mass, or use cc.Multipliers()"
    )
