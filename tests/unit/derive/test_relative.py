"""Any quantity of two frames, with derivatives that are right wherever the frames are."""

import casadi as ca
import numpy as np
import pytest

from closedchain.derive.equations import derive
from closedchain.derive.relative import Pair
from closedchain.testing.terms import difference
from tests.random_mechanisms import draw, random_q


def strange(R_P, R_S, d, pitch):
    """Nothing that a joint would measure, and a function of everything."""
    return ca.vertcat(ca.sin(R_P[0, 1] + 2 * R_S[2, 0]) * d[1], ca.dot(d, d) * pitch + R_P[:, 2].T @ R_S[:, 1])


@pytest.fixture(scope="module", params=["on the ground", "inside"])
def traced(request):
    """A cut screw between two links of one limb, or from a link to the ground."""
    for seed in range(100):
        drawing = draw(seed, bodies=5, loops=1, branching=0.5, closing=("screw",))
        e = derive(drawing.mechanism)
        joint = e.topology.cuts[0]
        of = e.topology.link_of
        root = e.topology.common_ancestor(of[joint.a.body.name], of[joint.b.body.name])
        if (root >= 0) == (request.param == "inside"):
            return drawing, e, joint, Pair(e.limbs, joint, {-1: e.motion})
    raise AssertionError("no such mechanism in a hundred")


def test_derivatives(traced, rng):
    drawing, e, _, pair = traced
    rows = pair.rows(strange)
    f = e.function("f", {"value": rows.value, "rate": rows.J @ e.limbs.v, "bias": rows.bias, "qdot": e.qdot})
    p = list(drawing.mechanism.parameters.values())
    q, v = random_q(rng, e.topology), rng.normal(size=e.topology.nv)
    _, rate, bias, qdot = (np.array(x)[:, 0] for x in f(0, q, v, p))

    def at(s, which):
        return np.array(f(0, q + s * qdot, v, p)[which])[:, 0]

    # sixth-order differences of quantities of size ten
    np.testing.assert_allclose(difference(lambda s: at(s, 0), 1e-3), rate, atol=1e-9)
    np.testing.assert_allclose(difference(lambda s: at(s, 1), 1e-3), bias, atol=1e-8)


def test_spin(traced, rng):
    """The relative angular velocity in S, and its rate when no joint accelerates."""
    drawing, e, joint, pair = traced
    rows = pair.spin()
    f = e.function("f", {"w": rows.J @ e.limbs.v, "bias": rows.bias, "qdot": e.qdot})
    p = list(drawing.mechanism.parameters.values())
    q, v = random_q(rng, e.topology), rng.normal(size=e.topology.nv)
    w, bias, qdot = (np.array(x)[:, 0] for x in f(0, q, v, p))
    ref = drawing.independent
    R = ref.relative(joint, q)[:3, :3]
    R_dot = difference(lambda s: ref.relative(joint, q + s * qdot)[:3, :3], 1e-3)
    W = R.T @ R_dot
    np.testing.assert_allclose(w, [W[2, 1], W[0, 2], W[1, 0]], atol=1e-10)
    np.testing.assert_allclose(bias, difference(lambda s: np.array(f(0, q + s * qdot, v, p)[0])[:, 0], 1e-3), atol=1e-9)


def test_only_the_links_between_count(traced):
    """What both sides hang on does not move the one relative to the other: those columns are empty."""
    _, e, joint, pair = traced
    columns = set(pair.rows(strange).J.sparsity().get_triplet()[1])
    of = e.topology.link_of
    paths = [set(e.topology.path(of[f.body.name])) for f in (joint.a, joint.b)]
    between = {k for i in paths[0] ^ paths[1] for k in range(e.topology.links[i].v.start, e.topology.links[i].v.stop)}
    assert columns <= between
