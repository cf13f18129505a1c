"""Which joints to cut: the spanning tree with the best limbs.

In order of importance:

1. what the user says (``cut=True`` opens a joint, ``cut=False`` keeps it);
2. a joint whose coordinate is driven, sprung or measured stays in the tree if another one can be cut;
3. the fewest closure equations: a cut joint with n freedoms costs 6 - n of them. This is a spanning tree of least
   weight, so the greedy choice (Kruskal) is exact;
4. the shortest and most equal limbs: among trees that are equal so far, the one whose inertia matrix has the fewest
   non-zero entries (each freedom counted with all freedoms it hangs on). Found by exchanging one joint at a time.

Ties are broken by the order of the drawing, so the same drawing always gives the same cuts.

The theory is in ``docs/theory/cut.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Edge:
    """A joint in the graph: nodes it connects (0 is the ground), its freedoms, and whether it must stay or go."""

    a: int
    b: int
    freedoms: int
    wanted: bool = False
    cut: bool = False
    keep: bool = False

    @property
    def price(self) -> tuple[bool, bool, int]:
        """What cutting this joint costs."""
        return (self.keep, self.wanted, 6 - self.freedoms)


def choose_tree(nodes: int, edges: Sequence[Edge]) -> tuple[list[int], list[int]]:
    """Choose the joints to keep.

    Parameters
    ----------
    nodes
        Number of bodies with the ground, which is node 0.
    edges
        The joints.

    Returns
    -------
    kept, floating
        Numbers of the edges in the tree, and one node for each part that the user's cuts set adrift.
    """
    group = list(range(nodes))

    def find(i: int) -> int:
        while group[i] != i:
            group[i] = group[group[i]]
            i = group[i]
        return i

    # Kruskal: the dearest joints to cut are kept first
    kept: list[int] = []
    candidates = [i for i, e in enumerate(edges) if not e.cut]
    for i in sorted(candidates, key=lambda i: (not edges[i].keep, not edges[i].wanted, edges[i].freedoms, i)):
        a, b = find(edges[i].a), find(edges[i].b)
        if a != b:
            group[a] = b
            kept.append(i)

    floating: list[int] = []
    for node in range(1, nodes):
        if find(node) != find(0):
            floating.append(node)
            group[find(node)] = find(0)

    return _exchange(nodes, edges, set(kept), floating), floating


def _exchange(nodes: int, edges: Sequence[Edge], kept: set[int], floating: list[int]) -> list[int]:
    """Swap a kept joint for a cut one of equal price while that shortens the limbs."""
    best = _entries(nodes, edges, kept, floating)
    better = True
    while better:
        better = False
        for i in sorted(set(range(len(edges))) - kept):
            if edges[i].cut:
                continue
            for j in _loop(nodes, edges, kept, floating, i):
                if edges[j].price != edges[i].price:
                    continue
                trial = kept - {j} | {i}
                score = _entries(nodes, edges, trial, floating)
                if score < best:
                    kept, best, better = trial, score, True
                    break
    return sorted(kept)


def _parents(nodes: int, edges: Sequence[Edge], kept: set[int], floating: list[int]) -> list[tuple[int, int]]:
    """For each node: (parent node, edge to it), from the ground outwards."""
    near: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    for i in sorted(kept):
        near[edges[i].a].append((edges[i].b, i))
        near[edges[i].b].append((edges[i].a, i))
    parent = [(-1, -1)] * nodes
    seen = {0, *floating}
    frontier = [0, *floating]
    for here in frontier:  # grows while it is walked
        for there, i in near[here]:
            if there not in seen:
                seen.add(there)
                parent[there] = (here, i)
                frontier.append(there)
    return parent


def _loop(nodes: int, edges: Sequence[Edge], kept: set[int], floating: list[int], extra: int) -> list[int]:
    """Kept joints on the loop that the joint ``extra`` closes."""
    parent = _parents(nodes, edges, kept, floating)

    def up(node: int) -> list[int]:
        path = []
        while parent[node][1] >= 0:
            path.append(parent[node][1])
            node = parent[node][0]
        return path

    a, b = up(edges[extra].a), up(edges[extra].b)
    return sorted(set(a) ^ set(b))


def _entries(nodes: int, edges: Sequence[Edge], kept: set[int], floating: list[int]) -> int:
    """Non-zero entries in the lower triangle of the inertia matrix."""
    parent = _parents(nodes, edges, kept, floating)
    total = 0
    for node in range(1, nodes):
        own = edges[parent[node][1]].freedoms if parent[node][1] >= 0 else 6 * (node in floating)
        above, here = 0, node
        while parent[here][1] >= 0:
            here = parent[here][0]
            above += edges[parent[here][1]].freedoms if parent[here][1] >= 0 else 6 * (here in floating)
        total += own * above + own * (own + 1) // 2
    return total
