"""Poses, velocities, Jacobians and bias accelerations of frames against 4 x 4 matrices and their differences."""

import numpy as np
import pytest

from closedchain.testing.measured import close_to
from closedchain.testing.terms import twists
from tests.identities.sample import LOOPS, TREES, case

KEYS = TREES + LOOPS[:6]


def frames(c):
    """All frames that joints and forces have put on the moving bodies."""
    return [f for body in c.mechanism.bodies.values() for f in body.frames.values()]


def traced(c, frame):
    m = c.equations.motion.frame(frame)
    return [m.X.R, m.X.r, *m.velocity, *m.bias, *m.J]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_frames_move_as_their_definition_says(key):
    c = case(*key)
    q, v = c.anywhere()
    ref = c.independent
    T, J = ref.poses(q), ref.jacobians(q)
    g = np.array([ref.value(x) for x in c.mechanism.gravity])
    places = [(f.body.name, ref.frame(f)) for f in frames(c)]

    def velocities(q):
        T, J = ref.poses(q), ref.jacobians(q)
        return np.array([ref.at(J, T, name, place[:3, 3]) @ v for name, place in places])

    drifts = ref.drift(velocities, q, v)
    got = c.evaluate([x for f in frames(c) for x in traced(c, f)], q, v)
    for i, (name, place) in enumerate(places):
        R, r, w, vel, bias_w, bias_v, J_w, J_v = got[8 * i : 8 * i + 8]
        here, J_f = T[name] @ place, ref.at(J, T, name, place[:3, 3])
        # rounding of the products along a chain of up to seven bodies
        close_to(R, here[:3, :3], 1e-13)
        close_to(r[:, 0], here[:3, 3], 1e-13)
        close_to(np.vstack([J_w, J_v]), J_f, 1e-13)
        close_to(np.concatenate([w, vel])[:, 0], J_f @ v, 1e-13)
        # the root falls upwards with -g, so gravity is in every bias; sixth-order difference: about 1e-11
        bias = np.concatenate([bias_w, bias_v])[:, 0] + np.concatenate([np.zeros(3), g])
        close_to(bias, drifts[i], 1e-10)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_twists_are_rates_of_the_poses(key):
    """The same for the links: R' = R skew(w), r' = R v, with the twist in the link's own frame."""
    c = case(*key)
    q, v = c.anywhere(1)
    for mine, wanted in twists(c, q, v):
        close_to(mine, wanted, 1e-12)  # derivatives by CasADi: exact to rounding


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_coordinate_rates(key):
    c = case(*key)
    q, v = c.anywhere(2)
    np.testing.assert_allclose(c.numbers(q, v)["qdot"], c.independent.rate(q, v), atol=1e-15)
