"""CasADi functions called in place."""

import casadi as ca
import numpy as np

from closedchain.pose.in_place import InPlace


def test_the_same_numbers_as_the_function_itself(rng):
    x, y = ca.SX.sym("x", 3), ca.SX.sym("y")
    f = ca.Function("f", [x, y], [ca.densify(y * x @ x.T[:, :2]), ca.sin(x), ca.SX(0, 3), ca.densify(ca.SX(0, 1))])
    quick = InPlace(f)
    results = []
    for _ in range(3):
        a, b = rng.normal(size=3), rng.normal()
        got = quick(a, b)
        assert [x.shape for x in got] == [(3, 2), (3,), (0, 3), (0,)]
        for one, other in zip(got, f(a, b), strict=True):
            assert np.array_equal(one.ravel(), np.array(other).ravel())
        results.append(got[1])
    assert len({tuple(x) for x in results}) == 3  # what was returned stays what it was


def test_a_function_without_numbers():
    (got,) = InPlace(ca.Function("empty", [ca.SX.sym("x", 0)], [ca.SX.ones(2)]))(np.zeros(0))
    assert got.tolist() == [1.0, 1.0]
