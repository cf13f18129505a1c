"""Andrews' squeezing mechanism as a drawing, with the numbers of the test set."""

from types import SimpleNamespace

import numpy as np
from numpy import cos, sin

import closedchain as cc
from tests.reference.compare import load

NUMBERS = load("ivp_test_set/andrews")


def squeezer():
    """Seven bodies: K1 and K2 carry the point P, at which three dyads meet; the closures are those of the test set."""
    n, at = NUMBERS, NUMBERS["lengths"]
    m = cc.Mechanism("squeezing mechanism", gravity=(0, 0, 0))

    def body(number, com):
        mass, inertia = n["masses"][number - 1], n["inertias"][number - 1]
        return m.body(f"K{number}", cc.rigid(mass, com=(*com, 0), inertia=(inertia, inertia, inertia)))

    # centres of mass in the frame of the hinge towards the ground
    K1, K2 = body(1, (at["ra"], 0)), body(2, (-at["da"], 0))
    K3 = body(3, (at["sb"], -at["sa"]))
    K4, K5 = body(4, (0, -(at["e"] - at["ea"]))), body(5, (at["tb"], at["ta"]))
    K6, K7 = body(6, (at["zf"] - at["fa"], 0)), body(7, (at["ub"], -at["ua"]))
    A, B, C = (m.ground.at(*n[name], 0) for name in "ABC")

    m.revolute("beta", m.ground, K1)
    m.revolute("Theta", K1.at(at["rr"], 0, 0), K2)
    m.revolute("gamma", B, K3)
    m.revolute("delta", A, K5)
    m.revolute("Phi", K5.at(at["zt"], 0, 0), K4)
    m.revolute("epsilon", A, K7)
    m.revolute("Omega", K7.at(0, -at["u"], 0), K6)

    # seen from K2, as in the test set: its multipliers are ours
    P = K2.at(-at["d"], 0, 0)
    m.revolute("P3", P, K3.at(0, -at["ss"], 0), cut=True)
    m.revolute("P4", P, K4.at(0, -at["e"], 0), cut=True)
    m.revolute("P6", P, K6.at(at["zf"], 0, 0), cut=True)

    m.motor("beta", torque=n["moment"])
    m.spring("spring", C, K3.at(at["sd"], -at["sc"], 0), n["c0"], length=n["l0"])
    return m


def start(m):
    """The published start, at rest."""
    angles = dict(zip(NUMBERS["angles"], NUMBERS["start"]["q"], strict=True))
    return m.assemble(angles)


def columns(run, suffix=""):
    """Angles of a run in the order of the test set; ``"'"`` for velocities, ``"''"`` for accelerations."""
    return [run[name + suffix].values for name in NUMBERS["angles"]]


def published(q, v):
    """``M, f, G, g`` of ``M q'' = f - G' lam`` and ``g = 0``, as the test set prints them."""
    at = SimpleNamespace(**NUMBERS["lengths"])
    m1, m2, m3, m4, m5, m6, m7 = NUMBERS["masses"]
    i1, i2, i3, i4, i5, i6, i7 = NUMBERS["inertias"]
    (xa, ya), (xb, yb), (xc, yc) = (NUMBERS[name] for name in "ABC")
    be, th, ga, ph, de, om, ep = q
    bep, thp, _, php, dep, omp, epp = v
    e, z = at.e - at.ea, at.zf - at.fa

    M = np.zeros((7, 7))
    M[0, 0] = m1 * at.ra**2 + m2 * (at.rr**2 - 2 * at.da * at.rr * cos(th) + at.da**2) + i1 + i2
    M[0, 1] = M[1, 0] = m2 * (at.da**2 - at.da * at.rr * cos(th)) + i2
    M[1, 1] = m2 * at.da**2 + i2
    M[2, 2] = m3 * (at.sa**2 + at.sb**2) + i3
    M[3, 3] = m4 * e**2 + i4
    M[3, 4] = M[4, 3] = m4 * (e**2 + at.zt * e * sin(ph)) + i4
    M[4, 4] = m4 * (at.zt**2 + 2 * at.zt * e * sin(ph) + e**2) + m5 * (at.ta**2 + at.tb**2) + i4 + i5
    M[5, 5] = m6 * z**2 + i6
    M[5, 6] = M[6, 5] = m6 * (z**2 - at.u * z * sin(om)) + i6
    M[6, 6] = m6 * (z**2 - 2 * at.u * z * sin(om) + at.u**2) + m7 * (at.ua**2 + at.ub**2) + i6 + i7

    x, y = at.sd * cos(ga) + at.sc * sin(ga) + xb - xc, at.sd * sin(ga) - at.sc * cos(ga) + yb - yc
    force = -NUMBERS["c0"] * (1 - NUMBERS["l0"] / np.hypot(x, y))
    f = np.array(
        [
            NUMBERS["moment"] - m2 * at.da * at.rr * thp * (thp + 2 * bep) * sin(th),
            m2 * at.da * at.rr * bep**2 * sin(th),
            force * (x * (at.sc * cos(ga) - at.sd * sin(ga)) + y * (at.sd * cos(ga) + at.sc * sin(ga))),
            m4 * at.zt * e * dep**2 * cos(ph),
            -m4 * at.zt * e * php * (php + 2 * dep) * cos(ph),
            -m6 * at.u * z * epp**2 * cos(om),
            m6 * at.u * z * omp * (omp + 2 * epp) * cos(om),
        ]
    )

    # P as K2 has it, less P as K3, K4 and K6 have it
    G, g = np.zeros((6, 7)), np.zeros(6)
    for k in (0, 2, 4):
        g[k : k + 2] = at.rr * cos(be) - at.d * cos(be + th), at.rr * sin(be) - at.d * sin(be + th)
        G[k, :2] = -at.rr * sin(be) + at.d * sin(be + th), at.d * sin(be + th)
        G[k + 1, :2] = at.rr * cos(be) - at.d * cos(be + th), -at.d * cos(be + th)
    g[:2] -= at.ss * sin(ga) + xb, -at.ss * cos(ga) + yb
    g[2:4] -= at.e * sin(ph + de) + at.zt * cos(de) + xa, -at.e * cos(ph + de) + at.zt * sin(de) + ya
    g[4:] -= at.zf * cos(om + ep) + at.u * sin(ep) + xa, at.zf * sin(om + ep) - at.u * cos(ep) + ya
    G[:2, 2] = -at.ss * cos(ga), -at.ss * sin(ga)
    G[2, 3:5] = -at.e * cos(ph + de), -at.e * cos(ph + de) + at.zt * sin(de)
    G[3, 3:5] = -at.e * sin(ph + de), -at.e * sin(ph + de) - at.zt * cos(de)
    G[4, 5:] = at.zf * sin(om + ep), at.zf * sin(om + ep) - at.u * cos(ep)
    G[5, 5:] = -at.zf * cos(om + ep), -at.zf * cos(om + ep) - at.u * sin(ep)
    return M, f, G, g
