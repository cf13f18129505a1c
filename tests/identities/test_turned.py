"""A planar mechanism turned into any plane of space moves as before, although none of its zeros is exact any more."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.formulation import Choice
from closedchain.close.multipliers import Multipliers
from closedchain.derive.equations import derive
from closedchain.pose.state import parameter_vector
from tests.identities.sample import solved_rows
from tests.random_mechanisms import random_rotation


def four_bar(R, closing):
    """A four-bar in the plane spanned by the first two columns of R, closed by a hinge or by a slide."""
    m = cc.Mechanism("turned", gravity=R @ [0.5, -9.81, 0])
    crank, coupler, rocker = (
        m.body(n, cc.rod(length=l, mass=1.0)) for n, l in (("crank", 1.0), ("coupler", 4.0), ("rocker", 2.5))
    )
    m.revolute("O", m.ground.at(R=R), crank)
    m.revolute("A", crank.tip, coupler)
    m.revolute("C", m.ground.at(*(R @ [3, 0, 0]), R=R), rocker)
    axis = {"axis": (1, 0, 0)} if closing == "prismatic" else {}
    at = rocker.at(2.5, 0, 0, rpy=(0, 0, 1.9)) if closing == "prismatic" else rocker.tip
    m.joint(closing, "B", coupler.tip, at, cut=True, **axis)
    m.motor("O", torque=6.0)
    return m


def accelerations(m, start):
    e = derive(m)
    rows = solved_rows(e, start)
    closed = Multipliers().close(e, Choice(rows))
    f = e.function("f", {"a": closed.a})
    return np.array(f(0, start.q, start.v, parameter_vector(m)))[:, 0], rows


@pytest.mark.parametrize("closing", ["revolute", "spherical", "cylindrical", "prismatic", "planar"])
@pytest.mark.parametrize("seed", range(2))
def test_turned(closing, seed):
    flat = four_bar(np.eye(3), closing)
    guess = {"A": -1.2, "C": 1.3}
    start = flat.assemble(O=1.2, guess=guess, velocity={"O": 0.7})
    wanted, rows = accelerations(flat, start)

    turned = four_bar(random_rotation(np.random.default_rng(seed)), closing)
    found = turned.assemble(O=1.2, guess=guess, velocity={"O": 0.7})
    np.testing.assert_allclose(found.q, start.q, atol=1e-10)  # assembled to 1e-11
    np.testing.assert_allclose(found.v, start.v, atol=1e-9)
    got, more = accelerations(turned, found)
    assert len(more) == len(rows)  # the rows that say the same thing twice are recognised behind the rounding
    np.testing.assert_allclose(got, wanted, rtol=1e-7, atol=1e-7)


def test_a_run_in_a_turned_plane():
    runs = []
    for R in (np.eye(3), random_rotation(np.random.default_rng(5))):
        m = four_bar(R, "revolute")
        start = m.assemble(O=1.2, guess={"A": -1.2, "C": 1.3})
        runs.append(cc.simulate(m, start, until=1.0, rtol=1e-9))
    # two runs to a tolerance of 1e-9, some hundred steps
    np.testing.assert_allclose(runs[1]["C"], runs[0]["C"], atol=1e-7)
    assert runs[1].good
