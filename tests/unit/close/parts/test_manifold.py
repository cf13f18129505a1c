"""One step back to the manifold: what is corrected, and what is left alone."""

import casadi as ca
import numpy as np

import closedchain as cc
from closedchain.close.formulation import state_symbols
from closedchain.close.parts.elimination import ClosureFactor, TreeFactor
from closedchain.close.parts.manifold import newton_step, split
from closedchain.derive.equations import derive
from closedchain.pose.state import parameter_vector


def step(m, project=True):
    """x_plus and residual, traced, with the first two closure rows."""
    e = derive(m)
    rows = tuple(range(min(2, len(e.closure))))
    c = e.closure.c[list(rows), :]
    c_dot = e.closure.A[list(rows), :] @ e.limbs.v
    tree = TreeFactor(e.M)
    return newton_step(e, state_symbols(e), c, c_dot, tree, ClosureFactor(tree, e.closure, rows), project)


def test_nothing_to_correct():
    assert step(cc.library.double_pendulum()) is None
    x_plus, residual = step(cc.library.four_bar(), project=False)  # but the pivots are watched
    e = derive(cc.library.four_bar())
    assert x_plus.numel() == e.topology.nq + e.topology.nv + 1 and residual[0].is_zero() and not residual[2].is_zero()


def test_quaternions_are_corrected_without_loops():
    m = cc.Mechanism("ball")
    m.spherical("S", m.ground, m.body("body", cc.rigid(1.0, (0, 0, 0.3), (1, 1, 1))))
    e = derive(m)
    x, tree = state_symbols(e), TreeFactor(e.M)
    x_plus, residual = newton_step(e, x, ca.SX(0, 1), ca.SX(0, 1), tree, ClosureFactor(tree, e.closure, ()))
    f = ca.Function("f", [x], [x_plus, residual])
    corrected, left = (np.array(y)[:, 0] for y in f([0, 1.5, 0, 2.0, 1, 2, 3, 0.5]))
    np.testing.assert_allclose(corrected, [0, 0.6, 0, 0.8, 1, 2, 3, 0.5], rtol=1e-15)
    np.testing.assert_array_equal(left, [0, 0, 1])


def test_a_step_closes_the_loop():
    """From 1e-4 off, Newton's step leaves the square of that."""
    m = cc.library.four_bar()
    e, start = derive(m), m.assemble()
    x = state_symbols(e)
    tree = TreeFactor(e.M)
    cuts = ClosureFactor(tree, e.closure, (0, 1))
    x_plus, residual = newton_step(e, x, e.closure.c, e.closure.A @ e.limbs.v, tree, cuts)
    f = ca.Function("f", [e.limbs.t, x, e.limbs.p], [x_plus, residual])
    q = start.q.copy()
    q[0] += 1e-4
    before = f(0, np.concatenate([q, start.v, [1.5]]), parameter_vector(m))
    after = f(0, before[0], parameter_vector(m))
    assert 1e-5 < float(before[1][0]) < 1e-3
    assert float(after[1][0]) < 1e-7  # curvatures of links of 1 to 4 m
    assert float(before[0][-1]) == 1.5  # work is left alone


def test_split():
    assert split(ca.SX(0, 1)) == []
    assert [float(x) for x in split(ca.SX([1.0, 0.0, 2.0]))] == [1.0, 0.0, 2.0]
