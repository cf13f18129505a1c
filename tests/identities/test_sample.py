"""The sample is not blind: every joint is in it, in the tree forwards and backwards, and cut; and everything acts."""

import numpy as np
import pytest

from tests.identities.sample import GEARED, LOOPS, PLATFORMS, SCALAR, TREES, case
from tests.random_mechanisms import CLOSING_KINDS, KINDS, draw


def everything():
    return [case(*key) for key in (*TREES, *LOOPS, *SCALAR)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("backwards", [False, True])
def test_joint_is_in_a_tree(kind, backwards):
    assert any(k.joint.type.name == kind and k.reversed == backwards for c in everything() for k in c.topology.links)


@pytest.mark.parametrize("kind", CLOSING_KINDS)
@pytest.mark.parametrize("between_links", [False, True], ids=["on the ground", "inside"])
def test_joint_is_cut(kind, between_links):
    cuts = [(c, j) for c in everything() for j in c.topology.cuts if j.type.name == kind]
    assert any(("ground" not in (j.a.body.name, j.b.body.name)) == between_links for _, j in cuts)


@pytest.mark.parametrize("what", ["motors", "joint_springs", "joint_dampers"])
def test_something_acts_on_cut_joints(what):
    assert any(x.joint in c.drawing.closing for c in everything() for x in getattr(c.mechanism, what).values())


def test_loops_inside_a_limb_are_followed_from_their_own_root():
    roots = set()
    for c in everything():
        of = c.topology.link_of
        roots |= {c.topology.common_ancestor(of[j.a.body.name], of[j.b.body.name]) for j in c.topology.cuts}
    assert -1 in roots and max(roots) >= 0


@pytest.mark.parametrize("key", PLATFORMS, ids=str)
def test_platforms_are_held_by_many_rows(key):
    """More than two for each freedom of the platform."""
    c = case(*key)
    ends = [{j.a.body.name, j.b.body.name} for j in c.topology.cuts]
    rows = len(c.rows)
    assert all("b1" in pair for pair in ends)
    assert rows > 2 * c.mechanism.joints["j1"].type.nv


def test_gears_rotors_stops_and_motions_are_drawn():
    geared = [case(*key) for key in GEARED]
    assert all(c.mechanism.couplings and c.mechanism.drives for c in geared)
    assert any(gear.driven[0] in c.drawing.closing for c in geared for gear in c.mechanism.couplings.values())
    assert any(drive.joint in c.drawing.closing for c in geared for drive in c.mechanism.drives.values())
    for c in geared:  # loops may leave no room for a motion that is prescribed; these do
        q, v = c.closed()
        got = c.numbers(q, v)
        np.testing.assert_allclose(got["A"] @ v + got["c_t"], 0, atol=1e-11)
    assert any(r.joint in c.drawing.closing for c in geared for r in c.mechanism.rotors.values())
    stops = [(c, stop) for c in geared for stop in c.mechanism.joint_stops.values()]
    pressed = [not low(c, s) <= c.drawing.at[s.joint][s.index] <= high(c, s) for c, s in stops]
    assert any(pressed)


def low(c, stop):
    return c.independent.value(stop.low)


def high(c, stop):
    return c.independent.value(stop.high)


def test_sizes_and_branching_vary():
    assert {len(c.topology.limbs) for c in everything()} >= {1, 2, 3}
    assert {len(c.topology.cuts) for c in everything()} == {0, 1, 2, 3}


def test_a_seed_gives_the_same_mechanism_again():
    one, two = draw(7, bodies=4, loops=1, acting=True), draw(7, bodies=4, loops=1, acting=True)
    other = draw(8, bodies=4, loops=1, acting=True)
    assert dict(one.mechanism.parameters) == dict(two.mechanism.parameters)
    assert list(one.mechanism.motors) == list(two.mechanism.motors)
    assert dict(one.mechanism.parameters) != dict(other.mechanism.parameters)
    assert all((one.at[k] == two.at[k]).all() for k in one.at)


def test_what_cannot_move_is_refused():
    with pytest.raises(ValueError, match="keeps 1 freedoms"):
        draw(0, bodies=2, loops=1, kinds=("revolute",), closing=("weld",))


def test_the_drawing_knows_where_its_bodies_are():
    for c in everything():
        poses = c.independent.poses(c.drawing.q())
        for name, T in poses.items():
            # products of a dozen rotation matrices
            np.testing.assert_allclose(T, c.drawing.poses[name], atol=1e-13)


@pytest.mark.parametrize("length", [3, 4, 6, 8])
def test_loops_of_a_wanted_length(length):
    """The way from one side of a cut to the other goes over as many joints as asked for, less the closing one."""
    for seed in range(5):
        kinds = ("universal", "cylindrical")
        drawn = draw([seed, 9], bodies=9, loops=2, branching=0.3, kinds=kinds, mobility=-30, loop_length=length)
        topology = drawn.topology
        assert len(topology.cuts) == 2
        for joint in topology.cuts:
            ends = (topology.link_of[frame.body.name] for frame in (joint.a, joint.b))
            one, other = (set(topology.path(end)) for end in ends)
            assert len(one ^ other) + 1 == length
