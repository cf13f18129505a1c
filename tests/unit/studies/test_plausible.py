"""Checks of many points at once say what the checks of each say."""

import numpy as np

import closedchain as cc
from closedchain.studies.plausible import valid


def test_many_points_are_checked_as_one_by_one(rng):
    m = cc.Mechanism("block", gravity=(0, -9.81, 0))
    mass = m.parameter("mass", 1.0)
    body = m.body("block", cc.rigid(mass=mass, com=(0, 0, 0), inertia=(1.0, 1.0, m.parameter("polar", 1.5), 0.1, 0, 0)))
    m.revolute("hinge", m.ground, body)
    names = list(m.parameters)
    p = np.tile(list(m.parameters.values()), (200, 1))
    p[:, names.index("mass")] = rng.choice([-1.0, 0.0, 1.0, 2.0], 200)
    p[:, names.index("polar")] = rng.uniform(-0.5, 2.5, 200)  # a body has at most 2, and at least something

    def one(row):
        try:
            m.validate(dict(zip(names, row.tolist(), strict=True)))
        except cc.ModelError:
            return False
        return True

    wanted = np.array([one(row) for row in p])
    assert 20 < wanted.sum() < 180
    np.testing.assert_array_equal(valid(m, p), wanted)
