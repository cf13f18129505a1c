"""What reactions depend on: places, freedoms, what acts along them, springs in the place of joints."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.pose.redundancy import independent_rows
from closedchain.results.reactions.at_joints import at_joints, holders
from closedchain.results.reactions.balance import balance
from closedchain.testing.terms import TIME
from tests.identities.sample import GEARED, LOOPS, case
from tests.unit.results.efforts.motions_by_hand import accelerations, at_state, source


def test_places_and_freedoms_of_a_slide():
    """Along its axis the second frame moves, wherever the first one points to."""
    m = cc.Mechanism("slide")
    block = m.body("block", cc.rigid(1.0, inertia=(0.1, 0.1, 0.1)))
    m.prismatic("rail", m.ground.at(1, 2, 3, rpy=(0, 0, 0.5)), block.at(0, 0.1, 0), axis=(1, 0, 0))
    at = at_joints(at_state(m, cc.State(m, np.array([0.7]), np.array([2.0]))))
    along = np.array([np.cos(0.5), np.sin(0.5), 0])
    np.testing.assert_allclose(at.Phi["rail"][0, :, 0], [0, 0, 0, *along], atol=1e-15)
    np.testing.assert_allclose(at.first.r[0, 0], [1, 2, 3], atol=1e-15)
    np.testing.assert_allclose(at.second.r[0, 0], np.array([1, 2, 3]) + 0.7 * along, atol=1e-15)
    np.testing.assert_allclose(at.first.R[0, 0][:, 2], along, atol=1e-15)  # joints have their own axes: z slides
    # the weight, at a tenth of a metre beside the joint
    centre = 0.1 * np.array([np.sin(0.5), -np.cos(0.5), 0])
    np.testing.assert_allclose(at.need[0, 0], [*np.cross(centre, [0, 0, 9.81]), 0, 0, 9.81], atol=1e-14)


def test_what_acts_along_a_joint():
    """Motor, spring, damper, stop and rotor, each by hand."""
    m = cc.Mechanism("wheel", gravity=(0, 0, 0))
    wheel = m.body("wheel", cc.rigid(1.0, inertia=(0.1, 0.1, 0.1)))
    m.revolute("O", m.ground, wheel, limits=cc.Stops(-1.0, 0.5, stiffness=20.0, damping=0.3))
    m.motor("O", torque=3.0)
    m.joint_spring("O", 5.0, rest=0.2)
    m.joint_damper("O", 0.7)
    m.rotor("O", 0.01, ratio=10)
    at = at_joints(at_state(m, cc.State(m, np.array([0.6]), np.array([2.0])), a=[4.0]))
    wanted = 3.0 - 5.0 * 0.4 - 0.7 * 2 - 20 * 0.1 - 0.3 * 2 - 0.01 * 10**2 * 4
    np.testing.assert_allclose(at.tau["O"], [[wanted]], rtol=1e-14)
    assert at.acted == {"O"}


def test_drives_and_gears_and_what_they_act_on():
    m = cc.library.double_pendulum()
    first, second = m.joints
    m.couple("gear", second, first, ratio=-2.0)
    m.drive(first, cc.t)
    sample = at_state(m, cc.State(m, np.zeros(2), np.array([1.0, -2.0])), a=[0.0, 0.0])
    assert {k: [x for x, _ in v] for k, v in holders(sample.equations, frozenset()).items()} == {
        "gear": [(second, 0), (first, 0)],
        f"{first}.drive": [(first, 0)],
    }
    assert list(holders(sample.equations, frozenset({(first, 0)}))) == ["gear"]
    np.testing.assert_array_equal(at_joints(sample).shares["gear"], [1.0, 2.0])


# ---- springs in the place of joints --------------------------------------------------------------------------------

SPRUNG = LOOPS[::6] + GEARED[::2]


def stretched(c):
    """A state some centimetres and tenths of a radian off, moving at random."""
    q, v = c.closed()
    rng = np.random.default_rng([7, c.seed])
    q = q + c.numbers(q, 0.05 * rng.normal(size=len(v)))["qdot"]
    for link in c.topology.links:
        if link.joint.type.has_quaternion:
            four = slice(link.q.stop - 4, link.q.stop)
            q[four] /= np.linalg.norm(q[four])
    return cc.State(c.mechanism, q, v + 0.3 * rng.normal(size=len(v)), t=TIME)


@pytest.mark.parametrize("key", SPRUNG, ids=str)
@pytest.mark.parametrize(
    "spring", [cc.VirtualSpring(100.0, damping=3.0), cc.ModifiedDeNOC(100.0)], ids=lambda x: type(x).__name__
)
def test_springs_that_are_stretched_balance_the_bodies_too(key, spring):
    """The two ends of a spring are apart, and what it does to each body is known exactly."""
    c = case(*key)
    state = stretched(c)
    assert np.abs(c.numbers(state.q, state.v)["c"]).max() > 0.01
    rows = independent_rows(c.equations, cc.State(c.mechanism, *c.closed(), t=TIME)).moving
    a, lam = accelerations(c.mechanism, state, spring, rows)
    sample = at_state(c.mechanism, state, a, closing={row: lam[[i]] for i, row in enumerate(rows)})
    got = balance(source(sample))
    assert float(got["relative_error"].max()) < 1e-12  # rounding


def test_springs_inside_a_limb_pull_at_the_body_they_take_their_axes_from():
    """Otherwise the sample above would be blind for it."""
    roots = set()
    for key in SPRUNG:
        topology = case(*key).topology
        of = topology.link_of
        roots |= {topology.common_ancestor(of[j.a.body.name], of[j.b.body.name]) for j in topology.cuts}
    assert -1 in roots and max(roots) >= 0
