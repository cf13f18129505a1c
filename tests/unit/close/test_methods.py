"""Every formulation in the table closes a loop, says whom to cite, and can be a key."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.methods import METHODS
from closedchain.march.program.compiled import compiled
from closedchain.pose.state import parameter_vector


@pytest.mark.parametrize("name", METHODS)
def test_method(name):
    method = METHODS[name]
    m = cc.library.four_bar()
    start = m.assemble()
    program = compiled(start, method)
    x = program.pack(start.q, start.v)
    p = parameter_vector(m)
    assert np.isfinite(program.rhs(0.0, x, p)).all()
    traced = {"a": program.closed.a, "lam": program.closed.lam}
    got = program.evaluate("test", lambda: traced, np.zeros(1), x[None], p)
    assert got["a"].shape == (1, 3, 1) and got["lam"].shape == (1, 2, 1)
    q, v, work = program.unpack(0.0, x, p)
    np.testing.assert_allclose(np.concatenate([q, v]), np.concatenate([start.q, start.v]), atol=1e-12)
    assert work == 0
    assert method.citation()
    assert hash(method) == hash(METHODS[name])
    assert len(set(METHODS.values())) == len(METHODS)
