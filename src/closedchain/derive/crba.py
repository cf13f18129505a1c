"""Composite rigid bodies: the inertia matrix `M` (Featherstone 2008, table 6.2).

Entries exist only between a link and the links it hangs on, so the matrix is block diagonal by limbs and branches.

The theory is in ``docs/theory/equations.md``.
"""

from __future__ import annotations

import casadi as ca

from closedchain.derive.limbs import Limbs


def crba(limbs: Limbs) -> ca.SX:
    """The inertia matrix, n x n, sparse, both triangles filled."""
    links = limbs.links
    composite = [traced.inertia for traced in links]
    for i in reversed(range(len(links))):
        parent = links[i].link.parent
        if parent >= 0:
            composite[parent] = composite[parent] + links[i].inertia_out(composite[i])

    n = limbs.topology.nv
    M = ca.SX(n, n)
    for i, traced in enumerate(links):
        rows = traced.link.freedoms
        Phi = traced.motion.Phi
        F = composite[i].times(Phi)
        block = Phi.dot(F)
        M[rows, rows] = ca.sparsify(ca.tril2symm(ca.tril(block))) if block.numel() else block
        j = i
        while links[j].link.parent >= 0:
            F = links[j].force_out(F)
            j = links[j].link.parent
            block = links[j].motion.Phi.dot(F)
            M[links[j].link.freedoms, rows] = block
            M[rows, links[j].link.freedoms] = block.T
    return ca.sparsify(M)
