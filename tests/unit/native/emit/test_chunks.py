"""Chunks: bounded, complete, and the slots of the work array are never shared by two living values."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

from closedchain.native.emit.chunks import split, suitable_length
from closedchain.native.traced.graph import Graph
from closedchain.native.traced.trace import trace


def random_graph(n: int, reach: int, seed: int) -> Graph:
    """Products and sums of values that are at most ``reach`` back."""
    rng = np.random.default_rng(seed)
    graph = Graph()
    values = [graph.input(0, i) for i in range(4)]
    while len(values) < n:
        a, b = rng.integers(max(0, len(values) - reach), len(values), size=2)
        values.append(graph.operate("mul" if rng.random() < 0.5 else "sub", values[a], values[b]))
    graph.outputs = [(0, i, number) for i, number in enumerate(values[-10:])]
    return graph.without_dead_values()


@pytest.mark.parametrize(("n", "reach", "length"), [(50, 10, 400), (3000, 20, 100), (3000, 2000, 100), (500, 50, 1)])
def test_bounded_and_complete(n: int, reach: int, length: int) -> None:
    graph = random_graph(n, reach, seed=n)
    chunks = split(graph, length)
    program = [k for k in range(len(graph)) if not graph.is_leaf(k)]
    assert [k for values in chunks.values for k in values] == program
    assert max(len(values) for values in chunks.values) <= length
    # a cut moves back by a quarter of the length at most, so the number of chunks is linear in the program
    assert len(chunks.values) <= len(program) / (0.75 * length) + 1


@pytest.mark.parametrize("reach", [5, 50, 1000])
def test_slots_hold_what_is_read(reach: int) -> None:
    graph = random_graph(2000, reach, seed=reach)
    chunks = split(graph, 64)
    holds: dict[int, int] = {}
    for values in chunks.values:
        own = set(values)
        for k in values:
            for operand in graph.operands(k):
                if operand not in own and not graph.is_leaf(operand):
                    assert holds[chunks.slot[operand]] == operand
        taken = [chunks.slot[k] for k in values if k in chunks.slot]
        assert len(taken) == len(set(taken))
        holds |= {chunks.slot[k]: k for k in values if k in chunks.slot}
    assert chunks.n_slots == len(set(chunks.slot.values()))


def test_one_chunk_needs_no_slot() -> None:
    x = casadi.SX.sym("x", 5)
    chunks = split(trace("f", {"x": x}, {"y": casadi.sumsqr(casadi.sin(x))}))
    assert len(chunks.values) == 1
    assert chunks.n_slots == 0


def test_a_chain_reuses_its_slot() -> None:
    graph = random_graph(2000, reach=3, seed=0)
    assert split(graph, 50).n_slots <= 8


@pytest.mark.parametrize("n", [1, 4000, 4001, 20_000, 20_001, 10**6])
def test_suitable_length_is_bounded(n: int) -> None:
    assert 1000 <= suitable_length(n) <= 4000
