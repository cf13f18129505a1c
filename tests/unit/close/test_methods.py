"""Every formulation in the table closes a loop, says whom to cite, and can be a key."""

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.close.methods import METHODS
from closedchain.derive.equations import derive
from closedchain.march.state import parameter_vector


@pytest.mark.parametrize("name", METHODS)
def test_method(name):
    method = METHODS[name]
    m = cc.library.four_bar()
    e = derive(m)
    start = m.assemble()
    closed = method.close(e, (0, 1))
    f = ca.Function("f", [e.limbs.t, closed.x, e.limbs.p], [closed.dx, closed.a, closed.lam])
    x = np.concatenate([start.q, start.v, [0.0]])
    dx, a, lam = f(0, x, parameter_vector(m))
    assert np.isfinite(np.array(dx)).all() and a.shape == (3, 1) and lam.shape == (2, 1)
    assert method.citation()
    assert hash(method) == hash(METHODS[name])
    assert len(set(METHODS.values())) == len(METHODS)
