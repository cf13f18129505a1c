"""The natural orthogonal complement: its matrices, its recursions, and the paper's planar leg written out."""

from functools import cache

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.crba import crba
from closedchain.derive.denoc import NaturalComplement, ReverseElimination, carried, mass_matrix, propagation
from closedchain.derive.equations import derive
from closedchain.derive.rnea import body_forces, rnea
from closedchain.derive.spatial import Vector6
from closedchain.model.library import MECHANISMS
from closedchain.pose.state import parameter_vector
from closedchain.testing.operations import count
from tests.identities.sample import GEARED, LOOPS, PLATFORMS, TREES, case
from tests.random_mechanisms import random_q
from tests.unit.derive import planar

RANDOM = TREES + LOOPS + PLATFORMS + GEARED
CASES = [*MECHANISMS, *RANDOM]

ROUNDING = 1e-12  # sums of some hundred products of numbers of one size


@cache
def drawn(key):
    return MECHANISMS[key].build() if isinstance(key, str) else case(*key).mechanism


def evaluate(m, outputs, seed=0):
    """Traced terms by name at a random state, loops open."""
    e, rng = derive(m), np.random.default_rng([31, seed])
    v = rng.normal(size=e.topology.nv)
    f = e.function("f", outputs)
    return dict(
        zip(f.name_out(), map(np.array, f.call([0.3, random_q(rng, e.topology), v, parameter_vector(m)])), strict=True)
    )


def close_to(actual, wanted):
    np.testing.assert_allclose(actual, wanted, rtol=0, atol=ROUNDING * max(1.0, np.abs(wanted).max(initial=0.0)))


def stack(parts):
    return ca.vertcat(ca.SX(0, 1), *(ca.densify(ca.vertcat(x.ang, x.lin)) for x in parts))


# ---- on every mechanism ------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", CASES, ids=str)
def test_factors(key):
    """U is unit upper triangular, D positive, and U D U' the inertia matrix, rotors included."""
    e = derive(drawn(key))
    U, D = ReverseElimination(e.limbs, e.measures).factors()
    got = evaluate(drawn(key), {"U": U, "D": D, "M": e.M})
    np.testing.assert_array_equal(np.tril(got["U"], -1), 0)
    np.testing.assert_array_equal(np.diag(got["U"]), 1)
    assert (got["D"] > 0).all()
    close_to(got["U"] @ np.diag(got["D"][:, 0]) @ got["U"].T, got["M"])


@pytest.mark.parametrize("key", CASES, ids=str)
def test_generalised_inertia(key):
    """N_d' N_l' M N_l N_d with all matrices written out, by composite masses, and Featherstone's."""
    e = derive(drawn(key))
    noc = NaturalComplement(e.limbs)
    terms = {"N_l": noc.N_l, "N_d": noc.N_d, "mass": noc.mass, "I": noc.inertia(), "crba": crba(e.limbs)}
    got = evaluate(drawn(key), terms)
    k, n = len(e.topology.links), e.topology.nv
    assert got["N_l"].shape == (6 * k, 6 * k) and got["N_d"].shape == (6 * k, n)
    np.testing.assert_array_equal(np.triu(got["N_l"], 1), 0)
    T = got["N_l"] @ got["N_d"]
    close_to(got["I"], got["crba"])
    close_to(T.T @ got["mass"] @ T, got["crba"])


@pytest.mark.parametrize("key", RANDOM[::4], ids=str)
def test_twists_and_wrenches(key):
    """t = T q' are the twists of the links; N_l' w the wrenches that pass through their joints, N_d' N_l' w the h."""
    e = derive(drawn(key))
    noc = NaturalComplement(e.limbs)
    needed = [ca.vertcat(f.ang, f.lin) for f in body_forces(e.limbs, e.motion, e.applied.wrenches)]
    terms = {
        "twists": ca.vertcat(*noc.twists(e.limbs.v)),
        "T": noc.N_l @ noc.N_d,
        "wanted": stack([e.motion.twist[i] for i in range(len(noc.B))]),
        "through": ca.vertcat(*noc.joint_wrenches(needed)),
        "N_l": noc.N_l,
        "N_d": noc.N_d,
        "w": ca.vertcat(*needed),
        "h": rnea(e.limbs, e.motion, e.applied.wrenches),
        "rates": e.limbs.v,
    }
    got = evaluate(drawn(key), terms)
    close_to(got["twists"], got["wanted"])
    close_to(got["T"] @ got["rates"], got["wanted"])
    close_to(got["through"], got["N_l"].T @ got["w"])
    close_to(got["N_d"].T @ got["through"], got["h"])


@pytest.mark.parametrize("key", RANDOM[::4], ids=str)
def test_forward_dynamics(key):
    """I a = b + T' w by the two recursions."""
    e = derive(drawn(key))
    noc, recursion = NaturalComplement(e.limbs), ReverseElimination(e.limbs, e.measures)
    n, k = e.topology.nv, len(noc.B)
    rng = np.random.default_rng(5)
    b, w = rng.normal(size=n), rng.normal(size=(k, 6))
    forces = {i: ca.SX(x) for i, x in enumerate(b) if i % 3 != 1}
    wrenches = {i: Vector6(ca.SX(x[:3]), ca.SX(x[3:])) for i, x in enumerate(w) if i % 2 == 0}
    y = recursion.half(forces, wrenches)
    w[1::2] = 0
    b[1::3] = 0
    half = ca.SX.zeros(n, 1)
    for i, x in y.items():
        half[i] = x
    U, _ = recursion.factors()
    got = evaluate(drawn(key), {"half": half, "a": recursion.finish(y), "U": U, "M": e.M, "T": noc.N_l @ noc.N_d})
    right = b + got["T"].T @ w.ravel()
    close_to(got["U"] @ got["half"][:, 0], right)
    # random trees have conditions up to some 1e5
    np.testing.assert_allclose(got["M"] @ got["a"][:, 0], right, atol=1e-10 * np.abs(right).max(initial=1.0))


def test_nothing_acts_where_nothing_is_given():
    """A force on one limb leaves the others alone, without an operation."""
    e = derive(cc.library.five_bar())
    recursion = ReverseElimination(e.limbs, e.measures)
    last = e.topology.limbs[-1][-1].v.start
    assert min(recursion.half({last: ca.SX(1)})) >= e.topology.limbs[-1][0].v.start
    assert recursion.half({}) == {}
    assert recursion.finish({}).is_zero()


# ---- parts -------------------------------------------------------------------------------------------------


def test_propagation_and_mass_matrix_are_the_spatial_operations():
    e = derive(case("tree", 3).mechanism)
    traced = e.limbs.links[-1]
    x = Vector6(ca.SX([1.0, 2.0, 3.0]), ca.SX([-1.0, 0.5, 2.0]))
    six = ca.vertcat(*x)
    M = mass_matrix(traced.inertia)
    B = propagation(e.limbs, traced)
    terms = {
        "B x": B @ six,
        "into": stack([traced.X.motion_into(x)]),
        "B' x": B.T @ six,
        "out": stack([traced.X.force_out(x)]),
        "M x": M @ six,
        "times": stack([traced.inertia.times(x)]),
        "carried": carried(M, traced),
        "product": B.T @ M @ B,
    }
    got = evaluate(case("tree", 3).mechanism, terms)
    for one, other in (("B x", "into"), ("B' x", "out"), ("M x", "times"), ("carried", "product")):
        close_to(got[one], got[other])


def test_double_pendulum_by_hand():
    """m^_2 is the lower rod about its joint; m^_1 is what the upper joint feels while the lower one is free."""
    m = planar.double_pendulum()
    U, D = ReverseElimination(derive(m).limbs, derive(m).measures).factors()
    q = np.array([0.4, -1.1])
    U, D = planar.numbers(m, lambda e: [U, D], q, np.zeros(2))
    M = planar.inertia(q)
    np.testing.assert_allclose(np.ravel(D), [M[0, 0] - M[0, 1] ** 2 / M[1, 1], M[1, 1]], rtol=1e-14)
    np.testing.assert_allclose(U, [[1, M[0, 1] / M[1, 1]], [0, 1]], rtol=1e-14)


def test_the_leg_of_the_paper():
    """(23) to (26) in the plane, at the centres of mass and in the axes of the base, give the same I (17)."""
    l1, l2, m1, m2, I1, I2 = 0.4, 0.6, 3.0, 4.0, 0.04, 0.12
    a, bend = 0.7, -1.3
    E = np.array([[0, -1], [1, 0]])

    def along(angle, length):
        return length * np.array([np.cos(angle), np.sin(angle)])

    d1, r1, d2 = along(a, l1 / 2), along(a, l1 / 2), along(a + bend, l2 / 2)
    B21 = np.block([[np.ones((1, 1)), np.zeros((1, 2))], [(E @ (r1 + d2))[:, None], np.eye(2)]])
    p1, p2 = (np.concatenate([[1.0], E @ d])[:, None] for d in (d1, d2))
    N_l = np.block([[np.eye(3), np.zeros((3, 3))], [B21, np.eye(3)]])
    N_d = np.block([[p1, np.zeros((3, 1))], [np.zeros((3, 1)), p2]])
    mass = np.diag([I1, m1, m1, I2, m2, m2])

    m = cc.Mechanism("leg")
    proximal = m.body("proximal", cc.rigid(m1, (l1 / 2, 0, 0), (0, I1, I1)))
    distal = m.body("distal", cc.rigid(m2, (l2 / 2, 0, 0), (0, I2, I2)))
    m.revolute("base", m.ground, proximal)
    m.revolute("elbow", proximal.at(l1), distal)
    (got,) = planar.numbers(m, lambda e: [NaturalComplement(e.limbs).inertia()], [a, bend], np.zeros(2))
    np.testing.assert_allclose(got, N_d.T @ N_l.T @ mass @ N_l @ N_d, rtol=1e-14)


def test_a_rotor_on_a_cut_joint_updates_the_factors():
    """Its inertia couples limbs that are otherwise apart; without inertia it changes nothing."""
    for inertia in (0.3, 0.0):
        m = cc.library.four_bar()
        m.rotor("B", inertia, ratio=3.0)
        e = derive(m)
        recursion = ReverseElimination(e.limbs, e.measures)
        U, D = recursion.factors()
        got = evaluate(m, {"U": U, "D": D, "M": e.M, "crba": crba(e.limbs)})
        close_to(got["U"] @ np.diag(got["D"][:, 0]) @ got["U"].T, got["M"])
        assert np.allclose(got["M"], got["crba"]) == (inertia == 0.0)


def test_work_grows_with_the_number_of_links():
    """One more link costs the same however many there are: forward dynamics is O(n)."""

    def chain(n):
        m = cc.Mechanism(f"chain of {n}", gravity=(0, -9.81, 0))
        at = m.ground
        for i in range(n):
            body = m.body(f"b{i}", cc.rigid(1.0, (0.5, 0.1, 0.2), (0.1, 0.2, 0.3)))
            m.revolute(f"j{i}", at, body, axis=np.eye(3)[i % 3])
            at = body.at(1, 0, 0)
        e = derive(m)
        recursion = ReverseElimination(e.limbs, e.measures)
        force = ca.SX.sym("f", n)
        a = recursion.finish(recursion.half(dict(enumerate(ca.vertsplit(force)))))
        return count({"f": force, "q": e.limbs.q, "p": e.limbs.p}, {"a": a}, "p")[0].total

    # axes come round every third link; the first links and the last ones are special
    totals = np.array([chain(n) for n in (6, 9, 12, 18)])
    one_more = np.diff(totals) / [1, 1, 2]
    np.testing.assert_array_equal(one_more, one_more[0])
