"""Limbs to members: by their costs, or as a user says."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.parallel import shares


def test_the_dearest_limb_goes_first_to_whoever_has_least():
    assert shares.share_out([5, 9, 4, 1], 2) == [0, 1, 0, 1]  # 9 and 10; members are numbered by their first limb
    assert shares.share_out([1, 1, 1], 3) == [0, 1, 2]
    assert shares.share_out([100, 0, 0, 0], 3) == [0, 1, 2, 1]  # also what costs nothing is shared out
    assert shares.share_out([3, 2, 1], 1) == [0, 0, 0]


def test_no_share_is_far_above_the_mean(rng):
    """Dearest first is at most a third above the best there is (Graham 1969), which the mean and the dearest bound."""
    for _ in range(50):
        costs = [int(x) for x in rng.integers(1, 1000, int(rng.integers(3, 20)))]
        members = int(rng.integers(1, len(costs) + 1))
        out = shares.share_out(costs, members)
        load = np.bincount(out, costs, minlength=members)
        assert load.min() > 0
        pairs = sorted(costs)[-members - 1 :]  # two of the m + 1 dearest share a member
        best = max(load.sum() / members, max(costs), sum(pairs[:2]) if len(pairs) > members else 0)
        assert load.max() <= (4 / 3 - 1 / (3 * members)) * best * (1 + 1e-12) or members > len(costs) / 2


@pytest.fixture(scope="module")
def topology():
    return cc.library.rrr3().assemble().topology


def test_limbs_are_named_by_any_of_their_bodies(topology):
    names = shares.limb_names(topology)
    assert len(names) == 3
    others = [link.body.name for link in topology.links if link.limb == 1]
    assert shares.given_shares(topology, [[names[0], names[2]], [others[-1]]], 2) == [0, 1, 0]
    assert shares.given_shares(topology, names, 3) == [0, 1, 2]  # a name alone is a list of one


def test_wrong_shares_are_refused(topology):
    a, b, c = shares.limb_names(topology)
    for groups, members, message in (
        ([[a], [b], [c]], 2, "limbs= needs a list for each member: 2 of them, not 3"),
        ([[a, b], [c + "x"]], 2, f"no limb with a body '{c}x'.*did you mean '{c}'"),
        ([[a, b], [b, c]], 2, f"the limb '{b}' is given to members 0 and 1"),
        ([[a], [b]], 2, f"nobody has '{c}'"),
        ([[a, b, c], []], 2, "member 1 has no limb"),
    ):
        with pytest.raises(cc.ModelError, match=message):
            shares.given_shares(topology, groups, members)
