"""Which nodes of a flexible mechanism are held together by joints, and which displacements describe them (ERLS).

A flexible body is a chain of beam nodes; a rigid body is one node, at its origin. Joints and forces hang on the nearest
node by a rigid arm: on a beam each of them has a node of its own (a *station*), so that the arm is an offset across the
beam or beyond its ends. Nodes that joints hold together form a *cluster*. One of them, the root, has all displacements
of a node; every other one is reached by a joint from a node nearer to the root, and has only those displacements of its
own that the joint leaves free (Vidoni et al. 2012, "Constraints for general parallel robots"): a pin shares
displacements, not rotations about its axis; a weld shares everything; what the ground holds does not move.

The paper's rule for the frame in which a joint's displacements are measured is the rule for the root: the link with the
lowest number among those that *start* at the joint (the joint is at its origin), else the lowest among those that end
there. Displacements that shall be zeroed in a certain node's frame make that node the root.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from closedchain.cut.topology import Topology
from closedchain.errors import ModelError
from closedchain.lock import once
from closedchain.model.expressions.expression import Expression, Number
from closedchain.model.forces.force import At, actions, efforts
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import Frame, Joint

GROUND = -1
SPATIAL = ("x", "y", "z", "rx", "ry", "rz")  # displacements of a node, in the axes of its body
PLANAR = ("x", "y", "rz")
SAME = 1e-9  # of the length of a beam: stations nearer to each other are one


@dataclass(frozen=True)
class Node:
    """A node that a joint or a force hangs on, or an end of a beam.

    ``xi`` is its place on the beam, 0 to 1; None for the one node of a rigid body.
    """

    body: str
    xi: float | None

    @property
    def told(self) -> str:
        """For messages: the body, and where on it."""
        return repr(self.body) if self.xi is None else f"{self.body!r} at x/L = {self.xi:g}"


@dataclass(frozen=True, eq=False)
class Hold:
    """A joint as a relation: the slave's displacements follow from those of the master but for the joint's freedoms.

    Attributes
    ----------
    master, slave
        Numbers of nodes; a master may be the `GROUND`.
    forward
        Whether the slave is on the joint's second side (S).
    free
        Which of the joint's freedoms the slave has for itself; all but those that are locked.
    """

    joint: Joint
    master: int
    slave: int
    forward: bool
    free: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of a mechanism that are held by joints, or loaded, and how they hang together.

    Attributes
    ----------
    nodes
        In the order of the bodies in the drawing, along each beam.
    roots
        Nodes with all displacements of their own.
    holds
        Relations that give all other nodes, in an order in which masters come first.
    closing
        Joints that close a cycle of nodes: relations between nodes that are known already.
    value
        Computes numbers of the drawing, at the values of the parameters that hold.
    """

    topology: Topology
    flexible: Mapping[str, Number]  # length of each flexible body, m
    nodes: tuple[Node, ...]
    roots: tuple[int, ...]
    holds: tuple[Hold, ...]
    closing: tuple[Hold, ...]
    value: Callable[[Number], float]

    @once
    def _stations(self) -> dict[str, list[tuple[float, int]]]:
        out: dict[str, list[tuple[float, int]]] = {}
        for k, node in enumerate(self.nodes):
            out.setdefault(node.body, []).append((node.xi or 0.0, k))
        return out

    def of(self, frame: Frame) -> int:
        """Number of the node that a frame hangs on; `GROUND` for the ground."""
        if frame.body.name == "ground":
            return GROUND
        stations = self._stations[frame.body.name]
        if frame.body.name not in self.flexible:
            return stations[0][1]
        xi = self.value(frame.position[0]) / self.value(self.flexible[frame.body.name])
        return min(stations, key=lambda s: abs(s[0] - xi))[1]

    @once
    def hold_of(self) -> dict[str, Hold]:
        """The relation that each joint is, by its name."""
        return {hold.joint.name: hold for hold in (*self.holds, *self.closing)}


def hold_nodes(
    topology: Topology,
    flexible: Mapping[str, Number],
    *,
    locked: Collection[tuple[str, int]] = (),
    stations: Mapping[str, Collection[float]] | None = None,
    preferred: Collection[Node] = (),
    value: Callable[[Number], float] | None = None,
) -> Nodes:
    """Find the nodes of a mechanism, and choose roots and relations.

    Parameters
    ----------
    topology
        Of the rigid twin.
    flexible
        Lengths of the flexible bodies, m, by name.
    locked
        Freedoms (joint, number) that a drive holds, or that are to be held: the two sides then move as if welded there.
    stations
        Further places (0 to 1) on beams that need a node.
    preferred
        Nodes that have to be roots.
    value
        Computes numbers of the drawing; None: at the present values of its parameters.
    """
    m = topology.mechanism
    value = m.values() if value is None else value
    places: dict[str, set[float]] = {name: {0.0, 1.0, *(stations or {}).get(name, ())} for name in flexible}
    for frame in _used_frames(topology):
        name = frame.body.name
        if name in flexible:
            places[name].add(min(max(value(frame.position[0]) / value(flexible[name]), 0.0), 1.0))
    nodes = tuple(
        node
        for name in m.bodies
        for node in ([Node(name, xi) for xi in _apart(places[name])] if name in flexible else [Node(name, None)])
    )
    found = Nodes(topology, dict(flexible), nodes, (), (), (), value)

    # what each joint connects
    near: dict[int, list[tuple[Joint, int, bool]]] = {k: [] for k in (GROUND, *range(len(nodes)))}
    for joint in topology.joints:
        if joint.type.closure:  # a joint that locks nothing relates nothing
            a, b = found.of(joint.a), found.of(joint.b)
            near[a].append((joint, b, True))
            near[b].append((joint, a, False))

    def free(joint: Joint) -> tuple[int, ...]:
        return tuple(i for i in range(joint.type.nv) if (joint.name, i) not in locked)

    roots, holds, closing = [], [], []
    seen, used = {GROUND}, set()
    order = sorted(range(len(nodes)), key=lambda k: (nodes[k] not in preferred, not _starts(found, near[k], k), k))
    for root in (GROUND, *order):
        if root != GROUND:
            if root in seen:
                continue
            roots.append(root)
            seen.add(root)
        waiting = [root]
        while waiting:
            at = waiting.pop(0)
            for joint, other, forward in near[at]:
                if joint.name in used:
                    continue
                used.add(joint.name)
                relation = Hold(joint, at, other, forward, free(joint))
                if other in seen:
                    closing.append(relation)
                    continue
                seen.add(other)
                holds.append(relation)
                waiting.append(other)
    held = {GROUND} | {hold.slave for hold in holds if _of_ground(hold, holds)}
    for node in preferred:
        if nodes.index(node) in held:
            raise ModelError(
                f"{node.told} is held by the ground: there its displacements are not free; zero displacements of "
                "another node"
            )
        if nodes.index(node) not in roots:
            raise ModelError(
                f"displacements of {node.body!r} are to be zeroed at a joint where those of another body are zeroed, "
                "too, in its own frame: one of them only can be, take another choice of zero="
            )
    return Nodes(topology, dict(flexible), nodes, tuple(roots), tuple(holds), tuple(closing), value)


def _of_ground(hold: Hold, holds: list[Hold]) -> bool:
    """Whether a chain of relations leads to the ground."""
    masters = {h.slave: h.master for h in holds}
    at = hold.slave
    while at in masters:
        at = masters[at]
    return at == GROUND


def _starts(nodes: Nodes, near: list[tuple[Joint, int, bool]], k: int) -> bool:
    """Whether the body of a node starts there: the joint is at its origin."""
    node = nodes.nodes[k]
    if node.xi is not None:
        return node.xi == 0.0
    frames = [joint.a if forward else joint.b for joint, _, forward in near]
    return any(all(nodes.value(x) == 0.0 for x in frame.position) for frame in frames)


def _apart(places: set[float]) -> list[float]:
    out: list[float] = []
    for xi in sorted(places):
        if not out or xi - out[-1] > SAME:
            out.append(xi)
    return [*out[:-1], 1.0] if out[-1] > 1.0 - SAME else out


def _used_frames(topology: Topology) -> list[Frame]:
    """Frames that something hangs on, or that a law asks about."""
    m = topology.mechanism
    frames = [side for joint in topology.joints for side in (joint.a, joint.b)]
    frames += [part.frame for _, action in actions(m) for part in action.parts if isinstance(part, At)]
    frames += [] if m.output is None else [m.output]
    return frames + [m.find_frame(f"{leaf.args[0]}.{leaf.args[1]}") for leaf in _places(m)]


def _places(m: Mechanism) -> list[Expression]:
    """Leaves of laws that ask where a frame is, or how fast."""
    leaves = [leaf for law in efforts(m) if isinstance(law, Expression) for leaf in law.leaves()]
    return [leaf for leaf in leaves if leaf.op in ("place", "speed")]
