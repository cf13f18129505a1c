"""A state of RBDL's four-bar: two chains of two links from one pivot, tips joined, torques on all five joints."""

import numpy as np

import closedchain as cc
from tests.reference.compare import load, native_accelerations, off, pointwise

NUMBERS = load("rbdl/four_bar")


def four_bar(massless_fifth_body):
    """RBDL puts the last hinge between link 4 and a massless body that is fixed to link 2."""
    p, torques = NUMBERS["parameters"], NUMBERS["state"]["tau"]
    m = cc.Mechanism("RBDL four-bar", gravity=p["gravity"])
    l, inertia = p["length"], p["inertia_com"]
    links = [
        m.body(f"link{k}", cc.rigid(p["mass"], (l / 2, 0, 0), (inertia / 2, inertia, inertia))) for k in (1, 2, 3, 4)
    ]
    tips = [link.frame("tip", (l, 0, 0)) for link in links]
    m.revolute("1", m.ground, links[0])
    m.revolute("2", tips[0], links[1])
    m.revolute("3", m.ground, links[2])
    m.revolute("4", tips[2], links[3])
    if massless_fifth_body:
        fifth = m.body("fifth", cc.massless())
        m.weld("fixed", tips[1], fifth)
        m.revolute("5", tips[3], fifth, cut=True)
    else:
        m.revolute("5", tips[3], tips[1], cut=True)
    for k, torque in enumerate(torques, start=1):
        m.motor(str(k), torque=torque)
    return m


def check(m):
    state, want = NUMBERS["state"], NUMBERS["computed_qdd"]["qdd"]
    q, v = state["q"][:4], state["qd"][:4]
    got = pointwise(m)(q, v)
    assert off(got.c, np.zeros(2)) < 1e-14  # metres
    assert off(got.A @ v, np.zeros(2)) < 1e-14  # m/s
    for a in (got.a, native_accelerations(m, q, v)):
        fifth = a[0] + a[1] - a[2] - a[3]  # link 2 as seen from link 4
        assert off([*a, fifth], want) < 5.1e-9  # half the last printed digit
    # what the source itself checks: the tips accelerate together
    assert off(got.A @ got.a + got.gamma, np.zeros(2)) < 1e-11


def test_accelerations_with_a_torque_on_the_cut_joint():
    check(four_bar(massless_fifth_body=False))


def test_accelerations_with_a_massless_body_in_the_loop():
    check(four_bar(massless_fifth_body=True))
