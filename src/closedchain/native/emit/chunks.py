"""Splitting straight-line code into chunks of bounded length.

LLVM's cost is superlinear in the length of a basic block, so a long program is cut into chunk functions. A value that
is used in a later chunk than its own goes through a work array; its slot is given to another value once the last chunk
that reads it is over, so the array stays about as long as the greatest number of values that live across a cut.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import pairwise

from closedchain.native.traced.graph import Graph

# operations in a chunk; docs/theory/native.md has the measurements behind the numbers
CHUNK_LENGTH = 4000
LONG_PROGRAM, CHUNK_LENGTH_OF_LONG = 20_000, 1000
# how far a cut may move, as a fraction of the length, to a place where fewer values are alive
_FREEDOM = 0.25


@dataclass(frozen=True, slots=True)
class Chunks:
    """A program in chunks.

    Attributes
    ----------
    values : list of list of int
        The operations of each chunk, in the order of evaluation (leaves are in none).
    slot : dict of int to int
        The slot of the work array of each value that lives across a cut.
    n_slots : int
        Length of the work array.
    """

    values: list[list[int]]
    slot: dict[int, int]
    n_slots: int


def suitable_length(n_operations: int) -> int:
    """The chunk length for a program: longer chunks run faster, in long programs shorter ones compile faster."""
    return CHUNK_LENGTH if n_operations <= LONG_PROGRAM else CHUNK_LENGTH_OF_LONG


def split(graph: Graph, length: int | None = None) -> Chunks:
    """Split a graph into chunks of at most ``length`` operations (by default the suitable length).

    Examples
    --------
    >>> g = Graph()
    >>> x = g.input(0, 0)
    >>> for _ in range(10): x = g.operate("sin", x)
    >>> g.outputs = [(0, 0, x)]
    >>> chunks = split(g, length=4)
    >>> [len(values) for values in chunks.values], chunks.n_slots
    ([4, 4, 2], 2)
    """
    program = [number for number in range(len(graph)) if not graph.is_leaf(number)]
    if length is None:
        length = suitable_length(len(program))
    place = {number: i for i, number in enumerate(program)}
    last_use = list(range(len(program)))
    for i, number in enumerate(program):
        for operand in graph.operands(number):
            if operand in place:
                last_use[place[operand]] = i
    cuts = _cuts(last_use, length)
    chunk_of = [0] * len(program)
    values: list[list[int]] = []
    for c, (start, stop) in enumerate(pairwise(cuts)):
        values.append(program[start:stop])
        chunk_of[start:stop] = [c] * (stop - start)
    slot, n_slots = _slots(program, last_use, chunk_of, len(values))
    return Chunks(values, slot, n_slots)


def _cuts(last_use: list[int], length: int) -> list[int]:
    """Where to cut: at most ``length`` apart, where the fewest values cross."""
    n = len(last_use)
    if n <= length:
        return [0, n]
    # crossing[i]: values computed before place i and used at place i or later
    change = [0] * (n + 1)
    for i, last in enumerate(last_use):
        if last > i:
            change[i + 1] += 1
            change[last + 1] -= 1
    crossing, alive = [0] * (n + 1), 0
    for i in range(n + 1):
        alive += change[i]
        crossing[i] = alive
    cuts = [0]
    while n - cuts[-1] > length:
        latest = cuts[-1] + length
        earliest = latest - int(length * _FREEDOM)
        # of equally good places, the latest: fewer chunks
        cuts.append(min(range(latest, earliest - 1, -1), key=crossing.__getitem__))
    cuts.append(n)
    return cuts


def _slots(program: list[int], last_use: list[int], chunk_of: list[int], n_chunks: int) -> tuple[dict[int, int], int]:
    """Give a slot to each value that crosses a cut."""
    slot: dict[int, int] = {}
    free: list[int] = []
    n_slots = 0
    ends: list[list[int]] = [[] for _ in range(n_chunks)]
    chunk = 0
    for i, number in enumerate(program):
        while chunk < chunk_of[i]:
            for element in ends[chunk]:
                heapq.heappush(free, element)
            chunk += 1
        last_chunk = chunk_of[last_use[i]]
        if last_chunk > chunk:
            if free:
                element = heapq.heappop(free)
            else:
                element, n_slots = n_slots, n_slots + 1
            slot[number] = element
            ends[last_chunk].append(element)
    return slot, n_slots
