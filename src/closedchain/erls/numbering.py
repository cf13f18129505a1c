"""The order of the displacements u in results: the paper's rule.

Vidoni et al. (2012): links are taken one after the other, and of each its displacements in order, node after node; one
that is shared with an earlier link keeps the place where it was first met. What a node at a joint has in common with
others is what its rows of T ask for.
"""

from __future__ import annotations

import numpy as np

from closedchain.erls.system import System


def paper_order(system: System) -> np.ndarray:
    """Places in y of all displacements, in the order of the paper; zeroed ones included."""
    mesh, k = system.mesh, len(system.mesh.names)
    nodes, entries = mesh.arrays.nodes, mesh.arrays.entries
    asked: dict[int, list[int]] = {}
    for row, column in sorted(zip(entries.rows.tolist(), entries.columns.tolist(), strict=True)):
        asked.setdefault(row, []).append(column)
    order: dict[int, None] = {}
    for node in range(len(mesh.places)):
        if nodes.held[node] < 0:
            order |= dict.fromkeys(range(nodes.chain[node] * k, (nodes.chain[node] + 1) * k))
            continue
        for row in range(nodes.held[node] * k, (nodes.held[node] + 1) * k):
            order |= dict.fromkeys(system.n_chain + column for column in asked.get(row, ()))
    return np.array(list(order), np.int64)
