"""Cut a mechanism into limbs: a spanning tree of its graph, and the joints left over.

A *limb* is a tree of bodies that hangs on the ground by one joint once the cuts are made. The inertia matrix is block
diagonal by limbs, and only the closures at the cuts connect them.

The theory is in ``docs/theory/cut.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from closedchain.cut.choose import Edge, choose_tree
from closedchain.errors import ModelError
from closedchain.lock import once
from closedchain.model.bodies.flexible import Flexibility
from closedchain.model.derived import cached
from closedchain.model.expressions.expression import Expression
from closedchain.model.forces.force import Along, actions, efforts
from closedchain.model.joints.types import JOINT_TYPES, JointType
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import Body, Joint


@dataclass(frozen=True, eq=False)
class Link:
    """A body in the tree: the joint it hangs on, and where its coordinates lie in `q` and `v`.

    Attributes
    ----------
    q, v
        Of the joint.
    shape_q, shape_v
        Of the body's shape, next to them; empty for a rigid body.
    shape
        What these coordinates are; None for a rigid body.
    """

    index: int
    body: Body
    joint: Joint
    reversed: bool  # the joint was drawn from this body towards its parent
    parent: int  # -1 for the ground
    limb: int
    q: slice
    v: slice
    shape_q: slice
    shape_v: slice
    shape: ShapeCoordinates | None = None

    @property
    def freedoms(self) -> slice:
        """All velocities of the link: of its joint, then of its shape."""
        return slice(self.v.start, self.shape_v.stop)

    @property
    def shapes(self) -> int:
        """How many coordinates the body's shape has."""
        return self.shape_v.stop - self.shape_v.start

    @property
    def q_labels(self) -> tuple[str, ...]:
        """Name of each coordinate."""
        return self.joint.labels() + (() if self.shape is None else self.shape.labels())

    @property
    def q_units(self) -> tuple[str, ...]:
        """Unit of each coordinate."""
        return self.joint.type.coordinate_units + (() if self.shape is None else self.shape.type.coordinate_units)

    @property
    def v_labels(self) -> tuple[str, ...]:
        """Name of each velocity."""
        return self.joint.velocity_labels() + (() if self.shape is None else self.shape.labels())

    @property
    def v_units(self) -> tuple[str, ...]:
        """Unit of each velocity."""
        return self.joint.type.velocity_units + (() if self.shape is None else self.shape.type.velocity_units)


@dataclass(frozen=True, eq=False)
class ShapeCoordinates:
    """The coordinates of a flexible body's shape, described like those of a joint."""

    flexibility: Flexibility

    @property
    def name(self) -> str:
        """Of the body."""
        return self.flexibility.body.name

    @once
    def type(self) -> JointType:
        """Names and units, as a joint has them."""
        names, torsion = self.flexibility.shapes.names, set(self.flexibility.shapes.using("t"))
        others = {i for field in "uvw" for i in self.flexibility.shapes.using(field)}
        units = tuple("rad" if i in torsion - others else "m" for i in range(len(names)))
        return JointType("shape", (), names, units, names, tuple(f"{unit}/s" for unit in units), ())

    def labels(self) -> tuple[str, ...]:
        """Names in results."""
        return self.flexibility.labels

    velocity_labels = labels
    limits: ClassVar[tuple[()]] = ()


@dataclass(frozen=True, eq=False)
class Counter:
    """An angle of a cut joint: its turns are counted in `q`, after the coordinates of the tree."""

    joint: Joint
    index: int  # among the joint's coordinates
    q: int
    middle: Any  # where it is looked for if the user says nothing: a number or expression of the drawing

    @property
    def label(self) -> str:
        """Name of the coordinate."""
        return self.joint.labels()[self.index]


@dataclass(frozen=True, eq=False)
class Topology:
    """The cut mechanism: links in an order in which parents come first, limb after limb, and the cut joints."""

    mechanism: Mechanism
    links: tuple[Link, ...]
    cuts: tuple[Joint, ...]

    @once
    def nq(self) -> int:
        """Number of coordinates: those of the tree, and the counters."""
        return self.tree_nq + len(self.counters)

    @once
    def tree_nq(self) -> int:
        """Number of coordinates of the tree."""
        return sum(link.joint.type.nq + link.shapes for link in self.links)

    @once
    def counters(self) -> tuple[Counter, ...]:
        """The angles of cut joints that a pose tells only up to whole turns.

        The turns are counted by one more coordinate for each, whose rate is the joint's velocity.
        """
        middle = _used_coordinates(self.mechanism)
        angles = [(j, i) for j in self.cuts for i in range(j.type.nq) if j.type.wraps(i)]
        return tuple(Counter(j, i, self.tree_nq + k, middle.get((j.name, i), 0.0)) for k, (j, i) in enumerate(angles))

    @once
    def nv(self) -> int:
        """Number of velocities."""
        return sum(link.joint.type.nv + link.shapes for link in self.links)

    @once
    def limb_velocities(self) -> tuple[list[int], ...]:
        """Numbers of the velocities of each limb."""
        return tuple([k for link in limb for k in range(link.v.start, link.shape_v.stop)] for limb in self.limbs)

    @once
    def limbs(self) -> tuple[tuple[Link, ...], ...]:
        """Links grouped by limb."""
        count = 1 + max(link.limb for link in self.links)
        return tuple(tuple(link for link in self.links if link.limb == k) for k in range(count))

    @once
    def link_of(self) -> dict[str, int]:
        """Number of the link of a body; the ground is -1."""
        return {"ground": -1} | {link.body.name: link.index for link in self.links}

    @once
    def tree_joints(self) -> dict[str, Link]:
        """The link that hangs on each joint that is not cut."""
        return {link.joint.name: link for link in self.links}

    @once
    def joints(self) -> tuple[Joint, ...]:
        """All joints, in the order of the drawing; joints implied by cutting come last."""
        drawn = list(self.mechanism.joints.values())
        implied = [link.joint for link in self.links if link.joint.name not in self.mechanism.joints]
        return tuple(drawn + implied)

    @once
    def measured(self) -> tuple[Joint | ShapeCoordinates, ...]:
        """All that has coordinates: all joints, then the shapes of flexible bodies."""
        return self.joints + tuple(link.shape for link in self.links if link.shape is not None)

    @once
    def own(self) -> dict[str, tuple[slice, slice]]:
        """Where the coordinates and velocities of what is not cut lie in `q` and `v`, by joint and flexible body."""
        joints = {link.joint.name: (link.q, link.v) for link in self.links}
        return joints | {link.shape.name: (link.shape_q, link.shape_v) for link in self.links if link.shape is not None}

    def unit(self, name: str, index: int) -> str:
        """Unit of a velocity of a joint or of the shape of a body."""
        return next(x for x in self.measured if x.name == name).type.velocity_units[index]

    @once
    def q_units(self) -> tuple[str, ...]:
        """Unit of each coordinate in `q`."""
        return tuple(unit for link in self.links for unit in link.q_units) + ("rad",) * len(self.counters)

    @once
    def v_units(self) -> tuple[str, ...]:
        """Unit of each velocity in `v`."""
        return tuple(unit for link in self.links for unit in link.v_units)

    @once
    def q_labels(self) -> tuple[str, ...]:
        """Name of each coordinate in `q`."""
        tree = tuple(label for link in self.links for label in link.q_labels)
        return tree + tuple(counter.label for counter in self.counters)

    @once
    def v_labels(self) -> tuple[str, ...]:
        """Name of each velocity in `v`."""
        return tuple(label for link in self.links for label in link.v_labels)

    def path(self, index: int) -> list[int]:
        """Links from the given one up to the ground, the given one first."""
        out = []
        while index >= 0:
            out.append(index)
            index = self.links[index].parent
        return out

    def common_ancestor(self, i: int, j: int) -> int:
        """The last link that the paths of i and j to the ground share; -1 is the ground."""
        above = set(self.path(i))
        return next((k for k in self.path(j) if k in above), -1)


@cached
def cut(mechanism: Mechanism) -> Topology:
    """Choose the cuts of a mechanism and number what remains.

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.cut.topology import cut
    >>> [joint.name for joint in cut(cc.library.four_bar()).cuts]
    ['B']
    """
    mechanism.validate()
    return _cut(mechanism)


def _cut(m: Mechanism) -> Topology:
    names = ["ground", *m.bodies]
    number = {name: i for i, name in enumerate(names)}
    used = _used_joints(m)
    edges = [
        Edge(
            number[j.a.body.name],
            number[j.b.body.name],
            freedoms=j.type.nv,
            wanted=j.name in used,
            cut=bool(j.cut),
            keep=j.cut is False or not j.type.closure,
        )
        for j in m.joints.values()
    ]
    joints = list(m.joints.values())
    kept, floating = choose_tree(len(names), edges)

    lost = [joints[i].name for i, edge in enumerate(edges) if edge.keep and i not in kept]
    if lost:
        raise ModelError(
            f"joint {lost[0]!r} closes a loop of joints that are all drawn with cut=False (or lock nothing): "
            "allow one of them to be cut"
        )

    # a body that the user's cuts set free gets the six coordinates of its pose
    bodies = list(m.bodies.values())
    for node in floating:
        body = bodies[node - 1]
        name = f"{body.name}.free"
        while name in m.joints:
            name += "_"
        joints.append(Joint(name, JOINT_TYPES["free"], m.ground["origin"], body["origin"]))
        kept.append(len(joints) - 1)

    return _number(m, [joints[i] for i in sorted(kept)], [j for i, j in enumerate(joints) if i not in set(kept)])


def _number(m: Mechanism, tree: list[Joint], cuts: list[Joint]) -> Topology:
    """Depth first from the ground, in the order of the drawing: limb after limb, parents first."""
    near: dict[str, list[Joint]] = {"ground": [], **{name: [] for name in m.bodies}}
    for joint in tree:
        near[joint.a.body.name].append(joint)
        near[joint.b.body.name].append(joint)
    links: list[Link] = []
    at = {"ground": -1}
    nq = nv = limb = 0
    # joints still to be followed, the next one last; a chain may be deeper than Python's own stack
    waiting = [("ground", joint) for joint in reversed(near["ground"])]
    while waiting:
        parent, joint = waiting.pop()
        backwards = joint.b.body.name == parent
        child = joint.a.body if backwards else joint.b.body
        if child.name in at:
            continue
        if parent == "ground":
            limb += 1
        q, v = slice(nq, nq + joint.type.nq), slice(nv, nv + joint.type.nv)
        shape = ShapeCoordinates(m.flexible[child.name]) if child.name in m.flexible else None
        shapes = 0 if shape is None else shape.type.nv
        shape_q, shape_v = slice(q.stop, q.stop + shapes), slice(v.stop, v.stop + shapes)
        nq, nv = shape_q.stop, shape_v.stop
        at[child.name] = len(links)
        links.append(Link(len(links), child, joint, backwards, at[parent], limb - 1, q, v, shape_q, shape_v, shape))
        waiting += [(child.name, other) for other in reversed(near[child.name]) if other is not joint]
    return Topology(m, tuple(links), tuple(cuts))


def _used_joints(m: Mechanism) -> set[str]:
    """Joints whose motion something asks for: to cut another one is cheaper."""
    used = {part.joint for _, action in actions(m) for part in action.parts if isinstance(part, Along)}
    used |= {rotor.joint for rotor in m.rotors.values()} | {drive.joint for drive in m.drives.values()}
    used |= {name for name, _ in _used_coordinates(m)}
    return used | {leaf.args[0] for leaf in _law_leaves(m) if leaf.op == "velocity"}


def _used_coordinates(m: Mechanism) -> dict[tuple[str, int], Any]:
    """Coordinates (joint, index) that something depends on, each with the value about which it matters."""
    used: dict[tuple[str, int], Any] = {}
    for force, _ in actions(m):
        for coordinate, centre in force.centres().items():
            used.setdefault(coordinate, centre)
    for gear in m.couplings.values():
        used.setdefault(gear.driven, 0.0)
        used.setdefault(gear.driver, 0.0)
    for drive in m.drives.values():
        used.setdefault((drive.joint, drive.index), 0.0)
    for leaf in _law_leaves(m):
        if leaf.op == "coordinate":
            joint, name = leaf.args
            used.setdefault((joint, 0 if name is None else m.joints[joint].type.coordinates.index(name)), 0.0)
    return used


def _law_leaves(m: Mechanism) -> list[Expression]:
    """The leaves of all efforts and potentials."""
    laws = [*efforts(m), *(action.potential for _, action in actions(m))]
    return [leaf for law in laws if isinstance(law, Expression) for leaf in law.leaves()]
