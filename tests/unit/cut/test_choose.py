"""The choice of cuts: the spanning tree of least price, compared with all spanning trees there are."""

from itertools import combinations

import numpy as np
import pytest

from closedchain.cut.choose import Edge, _entries, choose_tree


def components(nodes, edges, kept):
    """Sets of nodes that the kept edges connect."""
    parts = [{i} for i in range(nodes)]
    for k in kept:
        a, b = (next(p for p in parts if n in p) for n in (edges[k].a, edges[k].b))
        if a is not b:
            a |= b
            parts.remove(b)
    return parts


def is_spanning_tree(nodes, edges, kept):
    return len(kept) == nodes - 1 and len(components(nodes, edges, kept)) == 1


def price(edges, kept):
    """What the cuts cost: wanted joints that are cut, then closure equations."""
    cut = [e for k, e in enumerate(edges) if k not in set(kept)]
    return (sum(e.wanted for e in cut), sum(6 - e.freedoms for e in cut))


def random_graph(rng, nodes, extra, wanted=0.0, cuts=0.0):
    """A connected graph: a random tree and some more edges, which may run beside others."""
    ends = [(int(rng.integers(0, k)), k) for k in range(1, nodes)]
    while len(ends) < nodes - 1 + extra:
        a, b = (int(x) for x in rng.integers(0, nodes, 2))
        if a != b:
            ends.append((a, b))
    order = rng.permutation(len(ends))
    return [
        Edge(
            *ends[k][:: 1 if rng.random() < 0.5 else -1],
            freedoms=int(rng.integers(0, 6)),
            wanted=bool(rng.random() < wanted),
            cut=bool(rng.random() < cuts),
        )
        for k in order
    ]


@pytest.mark.parametrize("seed", range(60))
def test_least_price_among_all_spanning_trees(seed):
    rng = np.random.default_rng(seed)
    nodes, extra = int(rng.integers(2, 7)), int(rng.integers(0, 4))
    edges = random_graph(rng, nodes, extra, wanted=0.3 if seed % 2 else 0.0)
    kept, floating = choose_tree(nodes, edges)
    trees = [t for t in combinations(range(len(edges)), nodes - 1) if is_spanning_tree(nodes, edges, t)]

    assert floating == []
    assert is_spanning_tree(nodes, edges, kept)
    assert price(edges, kept) == min(price(edges, t) for t in trees)


@pytest.mark.parametrize("seed", range(60))
def test_short_limbs_among_trees_of_that_price(seed):
    """The exchange is a local search: no tree that differs in one joint is better."""
    rng = np.random.default_rng(1000 + seed)
    nodes, extra = int(rng.integers(3, 7)), int(rng.integers(1, 4))
    edges = random_graph(rng, nodes, extra)
    kept, floating = choose_tree(nodes, edges)
    score = _entries(nodes, edges, set(kept), floating)
    for i, j in ((i, j) for i in set(range(len(edges))) - set(kept) for j in kept):
        swapped = set(kept) - {j} | {i}
        if is_spanning_tree(nodes, edges, sorted(swapped)) and price(edges, swapped) == price(edges, kept):
            assert _entries(nodes, edges, swapped, floating) >= score


@pytest.mark.parametrize("seed", range(40))
def test_user_cuts_are_cut_and_every_part_gets_one_floating_body(seed):
    rng = np.random.default_rng(2000 + seed)
    nodes = int(rng.integers(2, 8))
    edges = random_graph(rng, nodes, int(rng.integers(0, 4)), wanted=0.2, cuts=0.5)
    kept, floating = choose_tree(nodes, edges)
    parts = components(nodes, edges, kept)
    uncut = [k for k, e in enumerate(edges) if not e.cut]

    assert not any(edges[k].cut for k in kept)
    assert len(parts) == len(components(nodes, edges, uncut))  # nothing else was opened
    assert len(kept) == nodes - len(parts)  # and no loop is left
    adrift = [part for part in parts if 0 not in part]
    assert sorted(len(part & set(floating)) for part in adrift) == [1] * len(adrift)


@pytest.mark.parametrize("seed", range(20))
def test_the_same_graph_gives_the_same_tree(seed):
    rng = np.random.default_rng(3000 + seed)
    edges = random_graph(rng, 8, 5, wanted=0.2)

    assert choose_tree(8, edges) == choose_tree(8, list(edges))


def test_the_direction_of_a_joint_does_not_matter(rng):
    edges = random_graph(rng, 8, 5)
    turned = [Edge(e.b, e.a, e.freedoms, e.wanted, e.cut) for e in edges]

    assert choose_tree(8, edges) == choose_tree(8, turned)


def ring(n, freedoms=1):
    """The ground and n bodies in one loop."""
    return [Edge(k, (k + 1) % (n + 1), freedoms) for k in range(n + 1)]


@pytest.mark.parametrize("n", range(2, 9))
def test_a_ring_is_cut_opposite_the_ground(n):
    """Two limbs whose lengths differ by one at most."""
    kept, _ = choose_tree(n + 1, ring(n))
    (opened,) = set(range(n + 1)) - set(kept)

    assert abs(opened - (n - opened)) <= 1


def test_parallel_joints_leave_one():
    kept, _ = choose_tree(2, [Edge(0, 1, 1), Edge(1, 0, 1), Edge(0, 1, 3)])

    assert kept == [0]


def test_entries_are_those_of_the_inertia_matrix():
    """A chain of three hinges has a full matrix, three arms on the ground a diagonal one."""
    chain = [Edge(0, 1, 1), Edge(1, 2, 1), Edge(2, 3, 1)]
    star = [Edge(0, 1, 1), Edge(0, 2, 1), Edge(0, 3, 1)]

    assert _entries(4, chain, {0, 1, 2}, []) == 6
    assert _entries(4, star, {0, 1, 2}, []) == 3
    assert _entries(3, [Edge(1, 2, 1)], {0}, [1]) == 21 + 6 + 1  # a floating body and a hinge on it


def test_a_large_graph_is_quick_enough_to_finish(rng):
    """200 loops; a search that doubles with each loop would never end."""
    edges = random_graph(rng, 201, 200)
    kept, _ = choose_tree(201, edges)

    assert is_spanning_tree(201, edges, kept)
