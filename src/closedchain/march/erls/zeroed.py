"""Which displacements are zeroed: wishes tried in turn, with numbers, until one of them determines the coordinates q.

The rules are in `choice`; here they meet the traced displacements of a mechanism at its start.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from closedchain.close.erls import ERLS, close_cycles
from closedchain.derive.equations import Equations
from closedchain.derive.erls import Displacements
from closedchain.derive.erls_nodes import Node, hold_nodes
from closedchain.errors import ModelError
from closedchain.march.erls import choice
from closedchain.march.state import State


def choose_zeroed(
    e: Equations,
    start: State,
    p: np.ndarray,
    pivots: choice.Pivots,
    lengths: Mapping[str, Any],
    method: ERLS,
    locked: frozenset[tuple[str, int]],
) -> tuple[Displacements, tuple[int, ...], tuple[str, ...], np.ndarray]:
    """Choose the zeroed displacements, with the nodes they belong to as roots."""
    independent = [k for k in range(e.topology.nv) if k not in {column for _, column in pivots}]
    S = _feasible(e, start, p, pivots, independent)
    named = not isinstance(method.zero, str)
    stations = choice.named_stations(e.topology.mechanism, lengths, method) if named else {}

    def displacements(preferred: Collection[Node]) -> Displacements:
        nodes = hold_nodes(e.topology, lengths, locked=locked, preferred=preferred, stations=stations)
        return Displacements(e, nodes)

    plain = displacements(())
    tried = []
    kinds = ("named",) if isinstance(method.zero, tuple) else tuple(dict.fromkeys((method.zero, "base", "chord")))
    for kind in kinds:
        try:
            if named:
                wanted = choice.named_wishes(plain, method)
            else:
                wanted = choice.wishes(e, plain.nodes, independent, kind, _motions(plain, start, p))
            d = displacements([w.node for w in wanted if w.root])
            _close_cycles(d, start, p, [k for k in (choice.find(d, w) for w in wanted) if k >= 0])
        except ModelError as reason:
            tried.append(str(reason))
            continue
        zeroed = tuple(choice.find(d, w) for w in wanted)
        missing = [w for w, k in zip(wanted, zeroed, strict=True) if k < 0]
        if missing:
            tried.append(f"{missing[0].what} is not free")
            continue
        J = _numbers(d, d.J, start, p) @ S
        turning = choice.is_rotation(d)
        good = choice.health(J, turning, zeroed) if len(zeroed) == len(independent) else 0.0
        if good > choice.HEALTHY:
            return d, zeroed, tuple(w.why for w in wanted), choice.units(J, turning, zeroed)
        tried.append(
            f"with {', '.join(w.what for w in wanted)} zeroed the coordinates q "
            f"({', '.join(e.topology.v_labels[k] for k in independent)}) are not determined: the block of J = dr/dq at "
            f"these displacements is singular (smallest singular value {good:.1e})"
        )
    if not named:  # none of the sensible ones: the best of all
        d = displacements(())
        _close_cycles(d, start, p, ())
        J, turning = _numbers(d, d.J, start, p) @ S, choice.is_rotation(d)
        zeroed = choice.best(J, turning)
        if choice.health(J, turning, zeroed) > choice.HEALTHY:
            why = "of all displacements, those with the best conditioned block of J"
            return d, zeroed, (why,) * len(zeroed), choice.units(J, turning, zeroed)
    name = e.topology.mechanism.name
    raise ModelError(f"ERLS of {name!r}: {'; '.join(dict.fromkeys(tried))}. Try zero='chord', 'base', or other names")


def _motions(d: Displacements, start: State, p: np.ndarray) -> np.ndarray:
    """Displacement and rotation of each held node by each velocity of the tree (nodes, 6, nv)."""
    rows = ca.vertcat(*(ca.vertcat(x.lin, x.ang) for x in map(d.rigid, range(len(d.nodes.nodes)))))
    return _numbers(d, rows, start, p).reshape(len(d.nodes.nodes), 6, -1)


def _close_cycles(d: Displacements, start: State, p: np.ndarray, avoided: Sequence[int]) -> None:
    """Cycles of rigid bodies: choose what is dependent there, with numbers, and trace it."""
    if not d.gaps.numel():
        return
    G = ca.sparsify(ca.jacobian(d.gaps, d.u))
    pattern = np.zeros(G.shape, bool)
    places = G.sparsity().get_triplet()
    pattern[places[0], places[1]] = True
    close_cycles(d, choice.choose_cycles(_numbers(d, G, start, p), pattern, avoided))


def _numbers(d: Displacements, x: ca.SX, start: State, p: np.ndarray) -> np.ndarray:
    f = ca.Function("numbers", [d.e.limbs.t, d.e.limbs.q, d.e.limbs.p], [ca.densify(x)])
    return np.array(f(start.t, start.q, p))


def _feasible(e: Equations, start: State, p: np.ndarray, pivots: choice.Pivots, independent: list[int]) -> np.ndarray:
    """Velocities of the tree by those of the coordinates q (nv x n_q)."""
    S = np.zeros((e.topology.nv, len(independent)))
    S[independent, range(len(independent))] = 1.0
    if pivots:
        rows, dependent = [r for r, _ in pivots], [c for _, c in pivots]
        f = ca.Function("A", [e.limbs.t, e.limbs.q, e.limbs.p], [ca.densify(e.closure.A)])
        A = np.array(f(start.t, start.q, p))[rows]
        S[dependent] = -np.linalg.solve(A[:, dependent], A[:, independent])
    return S
