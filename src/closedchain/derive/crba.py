"""Composite rigid bodies: the inertia matrix `M` (Featherstone 2008, table 6.2).

Entries exist only between a link and the links it hangs on, so the matrix is block diagonal by limbs and branches.

The theory is in ``docs/theory/equations.md``.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from closedchain.derive.limbs import Limbs

Entry = tuple[int, int, Any]
"""Row, column and traced value"""


def crba(limbs: Limbs) -> ca.SX:
    """The inertia matrix, n x n, sparse, both triangles filled."""
    links = limbs.links
    composite = [traced.inertia for traced in links]
    for i in reversed(range(len(links))):
        parent = links[i].link.parent
        if parent >= 0:
            composite[parent] = composite[parent] + links[i].inertia_out(composite[i])

    entries: list[Entry] = []  # put together at the end: a sparse matrix that grows is slow
    for i, traced in enumerate(links):
        rows = traced.link.freedoms
        Phi = traced.motion.Phi
        F = composite[i].times(Phi)
        block = Phi.dot(F)
        entries += _entries(ca.tril2symm(ca.tril(block)) if block.numel() else block, rows, rows)
        j = i
        while links[j].link.parent >= 0:
            F = links[j].force_out(F)
            j = links[j].link.parent
            block, above = links[j].motion.Phi.dot(F), links[j].link.freedoms
            entries += _entries(block, above, rows) + _entries(block.T, rows, above)
    n = limbs.topology.nv
    pattern, order = ca.Sparsity.triplet(n, n, [i for i, _, _ in entries], [j for _, j, _ in entries], False)
    return ca.SX(pattern, ca.vertcat(*(entries[k][2] for k in order)))


def _entries(block: ca.SX, rows: slice, columns: slice) -> list[Entry]:
    """Row, column and value of what is not zero in a block."""
    block = ca.sparsify(block)
    places = zip(*block.sparsity().get_triplet(), block.nonzeros(), strict=True)
    return [(rows.start + i, columns.start + j, x) for i, j, x in places]
