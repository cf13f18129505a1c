"""What all formulations share: the state, and quaternions brought back to length one."""

import casadi as ca
import numpy as np

import closedchain as cc
from closedchain.close.formulation import has_quaternions, normalise, state_symbols
from closedchain.derive.equations import derive
from tests.random_mechanisms import shape


def chain(rng):
    m = cc.Mechanism("chain")
    one, two, three = (m.body(name, shape(rng)) for name in ("one", "two", "three"))
    m.free("f", m.ground, one)
    m.revolute("r", one, two)
    m.spherical("s", two, three)
    return derive(m)


def test_normalise_touches_quaternions_only(rng):
    e = chain(rng)
    q = rng.normal(size=12)
    got = np.array(ca.Function("f", [e.limbs.q], [normalise(e, e.limbs.q)])(q))[:, 0]
    wanted = q.copy()
    wanted[3:7] /= np.linalg.norm(q[3:7])
    wanted[8:12] /= np.linalg.norm(q[8:12])
    np.testing.assert_allclose(got, wanted, rtol=1e-15)
    assert [str(x) for x in ca.vertsplit(e.limbs.q)] == [
        f"q_{i}" for i in range(12)
    ]  # the symbols themselves are untouched


def test_has_quaternions(rng):
    assert has_quaternions(chain(rng))
    assert not has_quaternions(derive(cc.library.four_bar()))


def test_state(rng):
    e = chain(rng)
    assert state_symbols(e).numel() == 12 + 10 + 1
