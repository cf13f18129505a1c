"""Loops drawn closed are found closed; from nearby they are closed again; what is upside down is said to be."""

import numpy as np
import pytest

import closedchain as cc
from tests.identities.sample import LOOPS, PLATFORMS, Case, case
from tests.random_mechanisms import draw


@pytest.mark.parametrize("key", LOOPS[:9] + PLATFORMS[:2], ids=str)
def test_a_closed_drawing_stays_as_it_is(key):
    """The guesses are the closed configuration: nothing has to move."""
    c = case(*key)
    start = c.mechanism.assemble()
    np.testing.assert_allclose(start.q, c.drawing.q(), atol=1e-10)  # residuals of 1e-11 count as closed
    assert not start.v.any()


@pytest.mark.parametrize("key", LOOPS[:9], ids=str)
def test_cut_joints_are_measured_where_they_were_drawn(key):
    c = case(*key)
    start = c.mechanism.assemble()
    for name in c.drawing.closing:
        joint = c.mechanism.joints[name]
        wanted = c.drawing.at[name]
        if joint.type.has_quaternion and wanted[0] < 0:
            wanted = -wanted
        np.testing.assert_allclose([start[label] for label in joint.labels()], wanted, atol=1e-9)


@pytest.mark.parametrize("seed", range(600, 606))
def test_closed_again_from_nearby(seed):
    c = Case(draw(seed, bodies=4, loops=1 + seed % 2), seed)
    rng = np.random.default_rng(seed)
    q = c.drawing.q()
    guess = dict(zip(c.topology.q_labels, q + rng.normal(0, 0.03, len(q)), strict=True))
    start = c.mechanism.assemble(guess=guess)
    np.testing.assert_allclose(c.numbers(start.q, start.v)["c"], 0, atol=1e-11)
    for link in c.topology.links:
        if link.joint.type.has_quaternion:
            assert np.linalg.norm(start.q[link.q.stop - 4 : link.q.stop]) == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize(("kind", "turn"), [("prismatic", (1, -1, -1)), ("weld", (-1, 1, -1)), ("planar", (1, -1, -1))])
def test_a_joint_drawn_upside_down_is_refused(kind, turn):
    """Out of the plane by exactly half a turn: no pose closes it, and the message names the joint."""
    m = cc.Mechanism("slider", gravity=(0, -9.81, 0))
    crank, rod = m.body("crank", cc.rod(length=1.0, mass=1.0)), m.body("rod", cc.rod(length=4.0, mass=1.0))
    block = m.body("block", cc.box((1, 1, 1), mass=1.0))
    m.revolute("O", m.ground, crank)
    m.revolute("A", crank.tip, rod)
    m.revolute("B", rod.tip, block)
    axis = {"axis": (1, 0, 0)} if kind == "prismatic" else {}
    m.joint(kind, "P", m.ground.at(4, 0, 0), block.at(R=np.diag(turn).astype(float)), cut=True, **axis)
    with pytest.raises(cc.AssemblyError, match="'P'"):
        m.assemble(O=1.0, guess={"A": -1.2})
