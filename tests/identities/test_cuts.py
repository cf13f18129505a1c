"""Where a mechanism is cut is a matter of bookkeeping: any other cut gives the same motion of every body and joint."""

import numpy as np
import pytest

from closedchain.model.joints.types import JOINT_TYPES
from tests.identities.sample import Case
from tests.random_mechanisms import draw

SEEDS = range(300, 307)


def drawing(seed, cut):
    return Case(draw(seed, bodies=3 + seed % 3, loops=1 + seed % 2, acting=True, cut=cut), seed)


def loop_of(c, name):
    """Joints that lock something on the loop closed by the joint ``name``, itself left out."""
    joint = c.mechanism.joints[name]
    paths = [set(c.topology.path(c.topology.link_of[f.body.name])) for f in (joint.a, joint.b)]
    joints = [c.topology.links[i].joint for i in sorted(paths[0] ^ paths[1])]
    return [j.name for j in joints if j.type.closure]


def motion(c, q, v):
    """Accelerations of all bodies, and velocities of all joints by name."""
    a, _ = c.accelerations(q, v)
    bodies = [c.equations.motion.frame(body["origin"]) for body in c.mechanism.bodies.values()]
    joints = list(c.mechanism.joints.values())
    traced = [x for b in bodies for x in (*b.J, *b.bias)] + [c.equations.measures.velocities(j) for j in joints]
    got = c.evaluate(traced, q, v)
    n = 4 * len(bodies)
    accelerations = [
        J @ a + bias[:, 0] for i in range(0, n, 4) for J, bias in zip(got[i : i + 2], got[i + 2 : i + 4], strict=True)
    ]
    return np.array(accelerations), {j.name: x[:, 0] for j, x in zip(joints, got[n:], strict=True)}


def same_state(c, velocities, poses_moving):
    """The closed configuration and given joint velocities in the numbering of another cut."""
    v = [velocities.get(link.joint.name, poses_moving.get(link.body.name)) for link in c.topology.links]
    return c.drawing.q(), np.concatenate(v)


def compare(one, other):
    q, v = one.closed()
    accelerations, velocities = motion(one, q, v)
    # twists of the bodies in their own frames, for those that another cut sets adrift
    J, T = one.independent.jacobians(q), one.independent.poses(q)
    twists = {
        name: np.concatenate([T[name][:3, :3].T @ (J[name] @ v)[:3], T[name][:3, :3].T @ (J[name] @ v)[3:]])
        for name in J
    }
    q2, v2 = same_state(other, velocities, twists)
    A = other.numbers(q2, v2)["A"]
    np.testing.assert_allclose(A @ v2, 0, atol=1e-11 * max(1, np.abs(A).max()))
    accelerations2, velocities2 = motion(other, q2, v2)
    size = np.abs(accelerations).max()
    # both sides solve random loops whose condition is at most some 1e5
    np.testing.assert_allclose(accelerations2 / size, accelerations / size, atol=1e-9)
    for name, rates in velocities.items():
        np.testing.assert_allclose(velocities2[name], rates, atol=1e-11 * max(1, np.abs(v).max()))


@pytest.mark.parametrize("seed", SEEDS)
def test_every_other_cut_of_a_loop(seed):
    one = drawing(seed, "closing")
    for name in loop_of(one, one.drawing.closing[0]):
        other = drawing(seed, {name, *one.drawing.closing[1:]})
        assert name in [j.name for j in other.topology.cuts]
        compare(one, other)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_library_chooses(seed):
    compare(drawing(seed, "closing"), drawing(seed, None))


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_a_body_cut_out_altogether(seed):
    """All joints of one body are cut: it floats with six coordinates of its own, and the cuts hold it."""
    one = drawing(seed, "closing")
    for body in one.mechanism.bodies:
        around = [j for j in one.mechanism.joints.values() if body in (j.a.body.name, j.b.body.name)]
        if all(JOINT_TYPES[j.type.name].closure for j in around):
            other = drawing(seed, {*one.drawing.closing, *(j.name for j in around)})
            assert f"{body}.free" in [j.name for j in other.topology.joints]
            compare(one, other)
            return
    pytest.fail("no body of this seed can be cut out: choose another")
