"""The table of contents: derived once for each drawing, with functions of t, q, v, p."""

import numpy as np

import closedchain as cc
from closedchain.derive.equations import derive
from tests.unit.derive import planar


def test_kept_until_the_drawing_changes():
    m = cc.library.pendulum()
    first = derive(m)
    assert derive(m) is first
    name = next(iter(m.parameters))
    m.parameters[name] = 1.1 * m.parameters[name]
    assert derive(m) is first  # a number is not the drawing
    m.motor(next(iter(m.joints)), torque=1.0)
    assert derive(m) is not first


def test_functions_are_dense_and_named():
    e = derive(planar.double_pendulum())
    f = e.function("terms", {"M": e.M, "A": e.closure.A})
    assert f.name_in() == ["t", "q", "v", "p"] and f.name_out() == ["M", "A"]
    assert f.size_out(0) == (2, 2) and f.sparsity_out(0).is_dense()
    assert f.size_out(1) == (0, 2)  # no loop, no rows


def test_symbols_have_the_sizes_of_the_topology():
    m = cc.library.gough_stewart()
    e = derive(m)
    assert e.limbs.q.shape == (e.topology.nq, 1)
    assert e.limbs.v.shape == (e.topology.nv, 1)
    assert e.limbs.p.shape == (len(m.parameters), 1)
    assert e.M.shape == (e.topology.nv,) * 2
    assert e.h.shape == e.tau.shape == (e.topology.nv, 1)
    assert e.qdot.shape == (e.topology.nq, 1)


def test_equations_of_motion(rng):
    """M a + h = tau with the textbook's M and h, and a motor on the elbow."""
    m = cc.Mechanism("driven", gravity=(0, -planar.G, 0))
    upper = m.body("upper", cc.rod(length=planar.L1, mass=planar.M1))
    m.revolute("A", m.ground, upper)
    m.revolute("B", upper.tip, m.body("lower", cc.rod(length=planar.L2, mass=planar.M2)))
    m.motor("B", torque=2.0)
    q, v = rng.uniform(-3, 3, 2), rng.normal(size=2)
    M, h, tau = planar.numbers(m, lambda e: [e.M, e.h, e.tau], q, v)
    wanted = np.linalg.solve(planar.inertia(q), [0, 2.0] - planar.bias(q, v))
    np.testing.assert_allclose(np.linalg.solve(M, (tau - h)[:, 0]), wanted, rtol=1e-11)
