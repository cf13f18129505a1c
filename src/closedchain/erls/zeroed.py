"""Which displacements are zeroed: wishes tried in turn, with numbers, until one of them determines the coordinates q.

The rules are in `choice`; here they meet the traced displacements of a mechanism at its start.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial

import casadi as ca
import numpy as np

from closedchain.close.erls import ERLS, close_cycles
from closedchain.derive.equations import Equations
from closedchain.derive.erls.links import Displacements
from closedchain.derive.erls.nodes import Node, Nodes, hold_nodes
from closedchain.erls import choice
from closedchain.errors import ModelError
from closedchain.pose.state import State


@dataclass(frozen=True, eq=False)
class Zeroed:
    """A choice: displacements, the numbers of those that are zeroed, what each means, and how healthy it is."""

    d: Displacements
    which: tuple[int, ...]
    why: tuple[str, ...]
    health: float


class Choosing:
    """Choices of zeroed displacements of a mechanism at its start, with the nodes they belong to as roots."""

    def __init__(
        self,
        e: Equations,
        start: State,
        p: np.ndarray,
        pivots: choice.Pivots,
        nodes: Nodes,
        method: ERLS,
        locked: frozenset[tuple[str, int]],
    ) -> None:
        self.e, self.start, self.p, self.pivots, self.nodes = e, start, p, pivots, nodes
        self.method, self.locked = method, locked
        self.independent = [k for k in range(e.topology.nv) if k not in {column for _, column in pivots}]
        self.S = _feasible(e, start, p, pivots, self.independent)
        self.places = [] if isinstance(method.zero, str) else choice.named_places(nodes, method)
        self.plain = self.displacements(())
        self.tried: list[str] = []

    def displacements(self, preferred: Collection[Node]) -> Displacements:
        """The displacements with certain nodes as roots."""
        stations: dict[str, set[float]] = {}
        for node, _ in self.places:
            if node.xi is not None:
                stations.setdefault(node.body, set()).add(node.xi)
        nodes = self.nodes
        return Displacements(
            self.e,
            hold_nodes(
                self.e.topology,
                nodes.flexible,
                locked=self.locked,
                preferred=preferred,
                stations=stations,
                value=nodes.value,
            ),
        )

    def sensible(self, kind: str) -> Zeroed | None:
        """What `choice.wishes` asks for, or names; None if that cannot be, and why is told."""
        try:
            if kind == "named":
                wanted = choice.named_wishes(self.plain, self.places, self.method.zero)
            else:
                own = _motions(self.plain, self.start, self.p)
                wanted = choice.wishes(self.e, self.plain.nodes, self.independent, kind, own)
            d = self.displacements([w.node for w in wanted if w.root])
            _close_cycles(d, self.start, self.p, [k for k in (choice.find(d, w) for w in wanted) if k >= 0])
        except ModelError as reason:
            self.tried.append(str(reason))
            return None
        which = tuple(choice.find(d, w) for w in wanted)
        missing = [w for w, k in zip(wanted, which, strict=True) if k < 0]
        if missing:
            self.tried.append(f"{missing[0].what} is not free")
            return None
        if len(which) != len(self.independent):
            self.tried.append(
                f"{len(which)} displacements are to be zeroed, but there are {len(self.independent)} coordinates q "
                f"({', '.join(self._coordinates)}): as many have to be"
            )
            return None
        return self._judged(d, which, [w.why for w in wanted], ", ".join(w.what for w in wanted))

    def best(self, grounded: bool) -> Zeroed | None:
        """Displacements with the best block of J: of rigid links on the ground along their joints, or of all."""
        d = self.displacements(())
        _close_cycles(d, self.start, self.p, choice.on_ground(d) if grounded else ())
        J = _numbers(d, d.J, self.start, self.p) @ self.S
        among = choice.on_ground(d) if grounded else range(len(d.of))
        which = choice.best(J, choice.is_rotation(d), among)
        if len(which) != len(self.independent):
            return None
        bodies = [d.nodes.nodes[d.of[k].node].body for k in which]
        why = ["of all displacements, those with the best conditioned block of J"] * len(which)
        if grounded:
            why = [f"{body!r}, rigid and on the ground, is not displaced: q is what its joint sees" for body in bodies]
        return self._judged(d, which, why, f"displacements of {', '.join(map(repr, dict.fromkeys(bodies)))}")

    @property
    def _coordinates(self) -> list[str]:
        return [self.e.topology.v_labels[k] for k in self.independent]

    def _judged(self, d: Displacements, which: tuple[int, ...], why: Sequence[str], told: str) -> Zeroed | None:
        J = _numbers(d, d.J, self.start, self.p) @ self.S
        good = abs(float(choice.health(J[list(which)], choice.units(J, choice.is_rotation(d), which))))
        if good > choice.REGULAR:
            return Zeroed(d, which, tuple(why), good)
        self.tried.append(
            f"with {told} zeroed the coordinates q ({', '.join(self._coordinates)}) are not determined: the block of "
            f"J = dr/dq at these displacements is singular (health {good:.1e})"
        )
        return None


def choose_zeroed(among: Choosing) -> Zeroed:
    """Choose the zeroed displacements: what is asked for, if it is good; else what is best."""
    method = among.method
    if not isinstance(method.zero, str):
        ways: list[Callable[[], Zeroed | None]] = [lambda: among.sensible("named")]
    else:
        kinds = dict.fromkeys((method.zero, "base", "chord"))
        ways = [*(partial(among.sensible, kind) for kind in kinds), lambda: among.best(True), lambda: among.best(False)]
    found: list[Zeroed] = []
    for way in ways:
        got = way()
        if got is not None:
            found.append(got)
            if got.health >= choice.GOOD:
                return got
    if found:
        return max(found, key=lambda x: x.health)
    name, tried = among.e.topology.mechanism.name, "; ".join(dict.fromkeys(among.tried))
    raise ModelError(f"ERLS of {name!r}: {tried}. Try zero='chord', 'base', or other names")


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
