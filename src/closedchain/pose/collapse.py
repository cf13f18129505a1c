"""Collapsed poses: bodies that lie on each other although nothing in the drawing puts them there.

Loops with equal sides close in more ways than their drawing means. A rhombus folds on itself, a stage of a scissor lift
on the stage below, a crank on a rod of the same length: two joints come to lie on one axis, two bodies on each other.
Such a pose is closed, often even regular as far as ranks tell, but hardly ever wanted: what lies on each other moves as
one, and efforts that should hold it have no lever.

Two bodies *coincide* if they have two joint axes (or centres of ball and Hooke joints) in common, at least one of them
by chance. Two axes are common by design if a chain of joints at that place connects the bodies, as two rods that hang
on one pin; they are common by chance otherwise. Only joints that are part of a loop count.

The theory is in ``docs/theory/assembly.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import casadi as ca
import numpy as np

from closedchain.cut.topology import Topology
from closedchain.derive.equations import Equations
from closedchain.model.derived import cached
from closedchain.pose.closing import Closing

SAME = 1e-5  # of the drawing's length, and rad: a search ends this near to a place even where it converges slowly
ASKED = 1e-3  # of the drawing's length: a guess this near to a collapsed pose asks for it
AROUND = 8  # searches around the guess before joints of collapsed bodies are thrown about
THROWS = 60  # searches from there; each opens about every second fold

TOLD = 4  # pairs of bodies, and groups of joints, that a message names


@dataclass(frozen=True)
class Collapse:
    """Pairs of bodies that coincide at a pose, and the groups of joints that share a place by chance."""

    bodies: tuple[tuple[str, str], ...] = ()
    joints: tuple[tuple[str, ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.bodies)

    def __str__(self) -> str:
        pairs = [f"{a!r} lies on {b!r}" for a, b in self.bodies[:TOLD]]
        groups = ["joints " + " and ".join(map(repr, names)) + " coincide" for names in self.joints[:TOLD]]
        more = [f"{len(self.bodies) - TOLD} more pairs of bodies"] * (len(self.bodies) > TOLD)
        return f"{', '.join(pairs + more)} ({'; '.join(groups)})"


def collapse(closing: Closing, q: np.ndarray) -> Collapse:
    """Find bodies that coincide at a closed pose."""
    pivots = _pivots(closing.e)
    if len(pivots.joints) < 2:
        return Collapse()
    r, z = (np.array(x).T for x in pivots.f(closing.t, q, np.zeros(closing.topology.nv), closing.p))
    near = SAME * closing.scale.length
    same = _coincide(pivots.axis, r, z, near)
    pairs = [(i, k) for i, k in np.argwhere(np.triu(same, 1)).tolist()]
    place = _groups(len(r), pairs)
    by_design = _groups(len(r), [(i, k) for i, k in pairs if pivots.bodies[i] & pivots.bodies[k]])
    if len(set(place)) == len(set(by_design)):
        return Collapse()
    at: dict[int, dict[int, int]] = {}  # place -> body -> the design group that brings it there
    for i, bodies in enumerate(pivots.bodies):
        at.setdefault(place[i], {}).update(dict.fromkeys(bodies, by_design[i]))
    found: dict[tuple[str, str], None] = {}
    where: dict[int, None] = {}
    for here, present in at.items():
        for a, b in combinations(sorted(present), 2):
            others = (x for x in at if x != here and a in at[x] and b in at[x])
            if present[a] != present[b] and any(_apart(pivots.axis, r, z, here, x, near) for x in others):
                found[(pivots.names[b], pivots.names[a])] = None
                where[here] = None
    groups = tuple(tuple(pivots.joints[i] for i in range(len(r)) if place[i] == x) for x in where)
    return Collapse(tuple(found), groups)


def unfolded(closing: Closing, q: np.ndarray) -> np.ndarray:
    """A closed pose without coincident bodies for the same held values, near the guess; q itself if there is none.

    A guess that is the collapsed pose itself asks for it; coordinates at zero because nobody said where they begin are
    no guess. Otherwise the search is repeated from places around the
    guess, and the nearest result counts. If all of them are collapsed, joints of the coincident bodies are thrown about
    at random, and what has fewer such bodies is kept, so that a stack of folds is opened one by one.
    """
    rng = np.random.default_rng(0)  # the same each time
    guess = closing.places(closing.q0)
    near = np.abs(closing.places(q) - guess).max() < ASKED * closing.scale.length
    if not len(closing.columns) or (near and _guessed(closing, collapse(closing, q))):
        return q
    regular = []
    for attempt in range(AROUND):
        moved = closing.column_size * rng.normal(0, 0.1 * (1 + attempt) ** 0.5, len(closing.columns))
        start = closing.count(closing.step(closing.q0, moved))
        found = _closed(closing, start)
        if found is not None and not collapse(closing, found):
            regular.append(found)
    if regular:
        return min(regular, key=lambda x: float(np.linalg.norm(closing.places(x) - guess)))
    best, folds = q, collapse(closing, q)
    for _ in range(THROWS):
        bodies = {name for pair in folds.bodies for name in pair}
        found = _closed(closing, scatter(closing, rng, best, bodies))
        folds_there = folds if found is None else collapse(closing, found)
        if found is not None and len(folds_there.bodies) < len(folds.bodies):
            best, folds = found, folds_there
        if not folds:
            return best
    return q


def _guessed(closing: Closing, folds: Collapse) -> bool:
    """Whether a guess was given or drawn for any joint of the loops that coincident bodies are part of."""
    bodies = {name for pair in folds.bodies for name in pair} - {"ground"}
    loops = ([j for j in closing.topology.joints if j.name in names] for names in _loops(closing.topology))
    return any(
        closing.guessed.intersection(j.labels())
        for loop in loops
        if any({j.a.body.name, j.b.body.name} & bodies for j in loop)
        for j in loop
    )


def scatter(
    closing: Closing, rng: np.random.Generator, near: np.ndarray | None = None, bodies: set[str] | None = None
) -> np.ndarray:
    """A random configuration: angles anywhere, lengths around the guess, orientations anywhere.

    With ``near`` and ``bodies`` only joints of these bodies are moved, from there.
    """
    q = closing.q0.copy() if near is None else near.copy()
    slides = np.array([unit == "m" for unit in closing.topology.q_units])
    size = closing.scale.length + np.abs(closing.q0[slides]).max(initial=0.0)
    for link in closing.topology.links:
        kind = link.joint.type
        if bodies is not None and not {link.joint.a.body.name, link.joint.b.body.name} & bodies:
            continue
        for k, (label, unit) in enumerate(zip(link.joint.labels(), kind.coordinate_units, strict=True)):
            if label in closing.held:
                continue
            i = link.q.start + k
            q[i] = rng.uniform(-np.pi, np.pi) if unit == "rad" else q[i] + rng.normal(0, 0.5 * size)
        if kind.has_quaternion and not all(x in closing.held for x in link.joint.labels()):
            q[link.q.stop - 4 : link.q.stop] = rng.normal(size=4)
    return closing.count(closing.step(q, np.zeros(len(closing.columns))))


def _closed(closing: Closing, start: np.ndarray) -> np.ndarray | None:
    """Where a search ends if it closes, with angles in the turns of the guess unless a gear knows better."""
    found = closing.search(start)
    if not closing.closes(found):
        return None
    found = closing.settle(closing.polish(found))
    turned = found.copy()
    for link in closing.topology.links:
        for k, i in enumerate(range(link.q.start, link.q.stop)):
            if link.joint.type.wraps(k):
                turned[i] -= 2 * np.pi * np.round((found[i] - closing.q0[i]) / (2 * np.pi))
    turned = closing.count(turned)
    return turned if closing.closes(turned) else found


@dataclass(frozen=True, eq=False)
class _Pivots:
    """Joints in loops whose bodies have an axis or a point in common, and where these are."""

    joints: tuple[str, ...]
    axis: np.ndarray  # whether each is an axis
    bodies: tuple[frozenset[int], ...]  # welded ones count as one
    names: dict[int, str]
    f: ca.Function  # (t, q, v, p) -> places and axes, 3 x n


@cached
def _pivots(e: Equations) -> _Pivots:
    topology = e.topology
    shared = [j for j in topology.joints if j.type.common_axis is not None or j.type.common_point]
    joints = [j for j in shared if j.name in _in_loops(topology)]
    welds = [
        (topology.link_of[j.a.body.name] + 1, topology.link_of[j.b.body.name] + 1)
        for j in topology.joints
        if j.type.nv == 0
    ]
    one = _groups(len(topology.links) + 1, welds)
    names = {one[0]: "ground"}
    for link in topology.links:
        names.setdefault(one[link.index + 1], link.body.name)
    frames = [e.motion.X[topology.link_of[j.a.body.name]] @ e.limbs.attach(j.a, j).X for j in joints]
    lines = [2 if j.type.common_axis is None else j.type.common_axis for j in joints]
    places = ca.horzcat(ca.SX(3, 0), *(ca.densify(X.r) for X in frames))
    axes = ca.horzcat(ca.SX(3, 0), *(ca.densify(X.R)[:, along] for X, along in zip(frames, lines, strict=True)))
    return _Pivots(
        tuple(j.name for j in joints),
        np.array([j.type.common_axis is not None for j in joints], bool),
        tuple(frozenset(one[topology.link_of[x.body.name] + 1] for x in (j.a, j.b)) for j in joints),
        names,
        e.function("pivots", {"r": places, "z": axes}),
    )


def _in_loops(topology: Topology) -> set[str]:
    """Names of the joints that are part of a loop."""
    return set().union(*_loops(topology))


def _loops(topology: Topology) -> Iterator[set[str]]:
    """Names of the joints of each loop."""
    for joint in topology.cuts:
        ways = [set(topology.path(topology.link_of[side.body.name])) for side in (joint.a, joint.b)]
        yield {joint.name} | {topology.links[i].joint.name for i in ways[0] ^ ways[1]}


def _coincide(axis: np.ndarray, r: np.ndarray, z: np.ndarray, near: float) -> np.ndarray:
    """Which pivots are at one place: the same axis, or the same point."""
    d = r[:, None] - r[None]
    off = d - np.einsum("ikx,ix->ik", d, z)[..., None] * z[:, None]  # across the axis of the first
    lines = (np.linalg.norm(off, axis=2) < near) & (np.linalg.norm(np.cross(z[:, None], z[None]), axis=2) < SAME)
    points = np.linalg.norm(d, axis=2) < near
    both = axis[:, None] & axis[None]
    neither = ~axis[:, None] & ~axis[None]
    return (both & lines) | (neither & points)


def _apart(axis: np.ndarray, r: np.ndarray, z: np.ndarray, i: int, k: int, near: float) -> bool:
    """Whether two places, each named by one of its pivots, are two: a point on an axis adds nothing to it."""
    if axis[i] == axis[k]:
        return True
    i, k = (i, k) if axis[i] else (k, i)
    d = r[k] - r[i]
    return bool(np.linalg.norm(d - (d @ z[i]) * z[i]) > near)


def _groups(n: int, pairs: list[tuple[int, int]]) -> list[int]:
    """A number for each of n things, the same for those that pairs connect: the first of the group."""
    group = list(range(n))

    def first(i: int) -> int:
        while group[i] != i:
            i = group[i] = group[group[i]]
        return i

    for i, k in pairs:
        a, b = first(i), first(k)
        group[max(a, b)] = min(a, b)
    return [first(i) for i in range(n)]
