"""A double pendulum of uniform rods with its textbook equations, for tests that want formulas."""

from functools import cache

import numpy as np

import closedchain as cc
from closedchain.derive.equations import derive
from tests.turns import with_counters

L1, L2, M1, M2, G = 1.2, 0.7, 2.0, 1.5, 9.81


@cache
def double_pendulum():
    m = cc.Mechanism("double pendulum", gravity=(0, -G, 0))
    upper = m.body("upper", cc.rod(length=L1, mass=M1))
    lower = m.body("lower", cc.rod(length=L2, mass=M2))
    m.revolute("A", m.ground, upper)
    m.revolute("B", upper.tip, lower)
    return m


def inertia(q):
    """Relative angles; uniform rods."""
    c = np.cos(q[1])
    I2 = M2 * L2**2 / 3
    coupling = M2 * L1 * L2 / 2 * c
    return np.array([[M1 * L1**2 / 3 + M2 * L1**2 + I2 + 2 * coupling, I2 + coupling], [I2 + coupling, I2]])


def bias(q, v):
    s = M2 * L1 * L2 / 2 * np.sin(q[1])
    weight = M2 * G * L2 / 2 * np.cos(q[0] + q[1])
    return np.array(
        [
            -s * (2 * v[0] * v[1] + v[1] ** 2) + (M1 / 2 + M2) * G * L1 * np.cos(q[0]) + weight,
            s * v[0] ** 2 + weight,
        ]
    )


def numbers(m, outputs, q, v, t=0.0):
    """Traced expressions of a mechanism at a state; cut angles are measured between -pi and pi."""
    e = derive(m)
    q = with_counters(e.topology, q)
    f = e.function("f", {f"x{i}": x for i, x in enumerate(outputs(e))})
    return [np.array(x) for x in f.call([t, q, v, list(m.parameters.values())])]
