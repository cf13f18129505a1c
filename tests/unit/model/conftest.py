"""A mechanism to draw on, with two bodies; and a rig of joints to put things on."""

import pytest

import closedchain as cc


@pytest.fixture
def m():
    return cc.Mechanism("rig", gravity=(0, 0, 0))


@pytest.fixture
def a(m):
    return m.body("a", cc.rod(length=1.0, mass=1.0))


@pytest.fixture
def b(m):
    return m.body("b", cc.ball(radius=0.1, mass=1.0))


@pytest.fixture
def rig(m, a, b):
    """A hinge, a slide and a ball joint to put things on."""
    m.revolute("hinge", m.ground, a)
    m.cylindrical("tube", a.tip, b)
    c = m.body("c", cc.ball(1, 1))
    m.spherical("ball", b, c)
    m.weld("glue", c, m.body("d", cc.ball(1, 1)))
    return m
