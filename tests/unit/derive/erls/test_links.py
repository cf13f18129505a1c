"""Nodes of flexible mechanisms: who is held by whom, in whose frame, and what true joint coordinates are."""

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.derive.erls.links import Displacements
from closedchain.derive.erls.loads import TrueJoints, trace_loads
from closedchain.derive.erls.nodes import Node, hold_nodes
from closedchain.errors import ModelError

SECTION = cc.Section.rectangle(y=0.02, z=0.03)


def flexible(body, **options):
    return body.flexible(E=1e9, section=SECTION, shapes=cc.shapes.polynomials(y=1), **options)


def displaced(m, **options):
    twin = m.rigid_twin()
    e = derive(twin)
    lengths = {name: beam.length for name, beam in m.flexible.items()}
    return Displacements(e, hold_nodes(e.topology, lengths, **options))


@pytest.fixture(scope="module")
def robot():
    return displaced(cc.library.pacdrive(flexible=True))


def test_frames_at_joints_follow_the_rule_of_the_paper(robot):
    """The lowest link that starts at a joint: 3, 4, 5, 7, 9, 11; at the tip link 5 ends."""
    roots = [robot.nodes.nodes[k] for k in robot.nodes.roots]
    assert {(node.body, node.xi) for node in roots} == {
        *((f"link{k}", 0.0) for k in (3, 4, 5, 7, 9, 11)),
        ("link5", 1.0),
    }
    assert robot.planar and not robot.nodes.closing and len(robot.of) == 32


def test_a_pin_shares_displacements_and_a_weld_everything(robot):
    T = np.array(ca.DM(ca.jacobian(robot.columns, robot.u).sparsity(), 1.0).full(), bool)
    names = [(robot.nodes.nodes[x.node].body, x.name) for x in robot.of]

    def asked(body, xi, row):
        node = robot.nodes.nodes.index(Node(body, xi))
        return {names[k] for k in np.flatnonzero(T[3 * node + row])}

    assert asked("link1", 1.0, 0) == {("link3", "x"), ("link3", "y")}
    assert asked("link1", 1.0, 2) == {("link1", "rz")}
    assert asked("link11", 1.0, 2) == {("link5", "rz")}
    assert asked("link1", 0.0, 0) == set()  # the ground holds it


def test_a_station_for_every_force():
    m = cc.Mechanism("loaded")
    beam = flexible(m.body("beam", cc.rod(1.0, 1.0)))
    m.revolute("hinge", m.ground, beam)
    m.force("push", beam.at(0.3, 0, 0), (0, 0, 1.0))
    d = displaced(m)
    assert [node.xi for node in d.nodes.nodes] == [0.0, 0.3, 1.0]


def test_a_node_that_the_ground_holds_is_no_root():
    m = cc.Mechanism("arm")
    beam = flexible(m.body("beam", cc.rod(1.0, 1.0)))
    m.revolute("hinge", m.ground, beam)
    with pytest.raises(ModelError, match="'beam' at x/L = 0 is held by the ground"):
        displaced(m, preferred=[Node("beam", 0.0)])


def test_two_roots_of_one_joint():
    m = cc.library.five_bar()
    for name in ("left distal", "right distal"):
        flexible(m.bodies[name])
    with pytest.raises(ModelError, match="one of them only can be"):
        displaced(m, preferred=[Node("left distal", 1.0), Node("right distal", 1.0)])


def test_true_coordinates(rng):
    """A joint's true angle is that between the two ends; a motor works on it."""
    m = cc.Mechanism("two links", gravity=(0, -9.81, 0))
    one, two = (flexible(m.body(name, cc.rod(0.5, 1.0))) for name in ("one", "two"))
    m.revolute("first", m.ground, one)
    m.revolute("second", one.tip, two)
    m.motor("second", torque=2.0)
    d = displaced(m)
    e = d.e
    loads = trace_loads(d)
    q = TrueJoints(d).coordinates(e.topology.mechanism.joints["second"])
    angles = [d.column(d.nodes.nodes.index(Node(body, xi)))[2] for body, xi in (("one", 1.0), ("two", 0.0))]
    want = e.limbs.q[1] + angles[1] - angles[0]
    f = ca.Function(
        "f", [e.limbs.q, d.u, e.limbs.v, d.u_dot, e.limbs.p], [q - want, loads.on_u, loads.on_v, loads.power]
    )
    p = list(e.topology.mechanism.parameters.merged(None).values())
    u_dot, v = rng.normal(size=len(d.of)), rng.normal(size=2)
    off, on_u, on_v, power = (
        np.array(x).ravel() for x in f(rng.normal(size=2), rng.normal(size=len(d.of)), v, u_dot, p)
    )
    assert abs(off[0]) < 1e-15
    assert power[0] == pytest.approx(on_u @ u_dot + on_v @ v, rel=1e-14)


def test_what_there_is_not():
    m = cc.library.pendulum()
    flexible(next(iter(m.bodies.values())))
    joint = next(iter(m.joints))
    m.motor(joint, torque=cc.Sampled(lambda t, now: 0.0, period=0.1))
    with pytest.raises(ModelError, match="no sampled controllers"):
        trace_loads(displaced(m))
