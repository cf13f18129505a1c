"""What is decided with numbers before an equivalent rigid-link system is traced: its coordinates, and what is zeroed.

Coordinates q are those of the motors' joints if they are independent, filled up by those of joints on the ground, of
rigid links first, and by others; as in `close.independent`, the remaining ones are solved for.

Zeroed displacements (after (36) of the paper): with ``zero="chord"`` the far end of each driven link has no
displacement across it, measured in its own frame, so that q is the direction of the chord and u are smallest; with
``"base"`` the driven end has no rotation, so that q is the angle of the motor. A choice is regular where the rows of J
at the zeroed displacements form a regular block. Its *health* is the mean (geometric) of the pivots of that block: the
n-th root of its determinant, with lengths and angles measured by the largest displacement and rotation that any
coordinate gives to any node. It has the sign of the determinant: where it changes, a run has gone past a singular pose.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from closedchain.arguments import suggest
from closedchain.close.erls import ERLS
from closedchain.derive.equations import Equations
from closedchain.derive.erls.links import Displacements
from closedchain.derive.erls.nodes import GROUND, Node, Nodes
from closedchain.erls.mesh import elements_of, places_along
from closedchain.errors import ModelError
from closedchain.model.mechanism import Mechanism
from closedchain.pose.independent import Pivots, eliminate, scaled
from closedchain.pose.redundancy import choose_rows, independent_rows
from closedchain.pose.state import State

REGULAR = 1e-6  # health of a block of J that is regular
GOOD = 0.1  # and of one that is taken without looking for a better one
POOR = 0.02  # below: the run complains
TURNS, MOVES = ("rx", "ry", "rz"), ("x", "y", "z")


@dataclass(frozen=True)
class Wish:
    """A displacement to be zeroed.

    Attributes
    ----------
    node, name : of the node, along or about an axis of its body.
    joint, freedom : or the node's own along a freedom of this joint, where name is empty.
    root : whether the node has to be a root for that.
    why : what it means, in words.
    """

    node: Node
    why: str
    name: str = ""
    joint: str = ""
    freedom: int = 0
    root: bool = False

    @property
    def what(self) -> str:
        """The displacement, for messages."""
        return f"{self.name or 'what joint ' + repr(self.joint) + ' leaves free'} of {self.node.told}"


def choose_coordinates(
    e: Equations, state: State, names: Sequence[str] | None = None, flexible: Collection[str] = ()
) -> Pivots:
    """Pivots ``(row, velocity)``: the velocities left over are the coordinates of the rigid-link system."""
    m, nv = e.topology.mechanism, e.topology.nv
    rows = independent_rows(e, state)
    if rows.singular:
        raise ModelError(
            f"{m.name!r} starts at a singular pose, where its rigid-link system has no independent coordinates: start "
            "elsewhere, or use a floating frame (cc.Multipliers())"
        )
    wanted = _driven(e) if names is None else _named(e, names)
    grounded = _grounded(e, flexible) if names is None else []
    # a quaternion has no angle that could be a coordinate
    never = {k for link in e.topology.links if link.joint.type.has_quaternion for k in range(link.v.start, link.v.stop)}
    A = scaled(e, state)[list(rows.kept)] if rows.kept else np.zeros((0, nv))
    pattern = np.zeros(A.shape, bool)
    if rows.kept:
        places = e.closure.A[list(rows.kept), :].sparsity().get_triplet()
        pattern[places[0], places[1]] = True

    def chosen(avoided: Collection[int]) -> tuple[Pivots, set[int]]:
        found = tuple((rows.kept[i], j) for i, j in eliminate(A, pattern, sorted(avoided))) if rows.kept else ()
        return found, set(range(nv)) - {column for _, column in found}

    for k in grounded:  # as many as are missing
        if not set(wanted) >= chosen(wanted)[1] and set(wanted) | {k} <= chosen([*wanted, k])[1] - never:
            wanted = [*wanted, k]
    for avoided in (wanted, set(range(nv)) - never):
        pivots, left = chosen(avoided)
        if not left & never or names is not None:
            break
    if names is not None and left != set(wanted):
        others = ", ".join(repr(e.topology.v_labels[k]) for k in sorted(left))
        raise ModelError(
            f"ERLS: {', '.join(map(repr, names))} cannot be the coordinates of {m.name!r}, which has {len(left)} "
            f"freedoms: take as many that are independent, for instance {others}"
        )
    if left & never:
        label = e.topology.v_labels[min(left & never)]
        joint = next(x.joint for x in e.topology.links if x.v.start <= min(left & never) < x.v.stop)
        draw = "draw the joint as a universal or as hinges" if joint.type.closure else "draw it as slides and hinges"
        raise ModelError(
            f"ERLS needs coordinates that are angles or slides, but {label!r} of {m.name!r} moves independently: "
            f"{draw}, with light bodies between them, or use a floating frame (cc.Multipliers())"
        )
    return pivots


def _driven(e: Equations) -> list[int]:
    """Velocities of the tree that motors act on, and no drive."""
    m = e.topology.mechanism
    driven = {(x.joint, x.index) for x in m.motors.values()} - {(x.joint, x.index) for x in m.drives.values()}
    links = e.topology.tree_joints
    return sorted(links[joint].v.start + index for joint, index in driven if joint in links)


def _grounded(e: Equations, flexible: Collection[str]) -> list[int]:
    """Velocities of the tree of joints on the ground: of rigid links first, in the order of the drawing."""
    m = e.topology.mechanism
    driven = {(x.joint, x.index) for x in m.drives.values()}
    links = [x for x in e.topology.links if "ground" in (x.joint.a.body.name, x.joint.b.body.name)]
    links.sort(key=lambda x: (x.body.name in flexible, x.index))
    return [x.v.start + i for x in links for i in range(x.joint.type.nv) if (x.joint.name, i) not in driven]


def _named(e: Equations, names: Sequence[str]) -> list[int]:
    """Velocities of the tree by the names of their coordinates."""
    labels = list(e.topology.v_labels)
    for name in names:
        if name not in labels:
            raise ModelError(f"ERLS: {name!r} is no coordinate of a joint that is not cut{suggest(str(name), labels)}")
    return sorted(labels.index(name) for name in names)


def driven_links(e: Equations, independent: Sequence[int]) -> list[tuple[int, int]]:
    """Link and number of the freedom of each coordinate q."""
    out = []
    for k in independent:
        link = next(x for x in e.topology.links if x.v.start <= k < x.v.stop)
        out.append((link.index, k - link.v.start))
    return out


def wishes(e: Equations, nodes: Nodes, independent: Sequence[int], kind: str, own: np.ndarray) -> list[Wish]:
    """For each coordinate the displacement that a kind of choice zeroes.

    Parameters
    ----------
    own : (nodes, 6, nv) displacement (x, y, z) and rotation of each held node by each velocity of the tree.
    """
    out = []
    for (index, freedom), k in zip(driven_links(e, independent), independent, strict=True):
        link = e.topology.links[index]
        name, joint = link.body.name, link.joint.name
        near = nodes.of(link.joint.a if link.reversed else link.joint.b)
        turns = np.abs(own[near, 3:, k]).max() > 0
        if kind == "chord" and name in nodes.flexible and turns:
            far = Node(name, 1.0 if (nodes.nodes[near].xi or 0.0) < 0.5 else 0.0)
            moved = np.abs(own[nodes.nodes.index(far), :3, k])
            moved[0] = 0.0  # along the beam
            if moved.max() > 0:
                axis = "xyz"[int(np.argmax(moved))]
                why = f"the far end of {name!r} is not displaced along {axis}: q is its chord"
                out.append(Wish(far, why, axis, root=True))
                continue
        if nodes.hold_of[joint].slave == near:
            why = f"{name!r} has no displacement of its own along joint {joint!r}: q is what its motor sees"
            out.append(Wish(nodes.nodes[near], why, joint=joint, freedom=freedom))
            continue
        part = own[near, 3:, k] if turns else own[near, :3, k]
        axis = ("r" if turns else "") + "xyz"[int(np.argmax(np.abs(part)))]
        why = f"{name!r} has no {axis} at joint {joint!r}: q is its direction there"
        out.append(Wish(nodes.nodes[near], why, axis, root=True))
    return out


def named_places(nodes: Nodes, method: ERLS) -> list[tuple[Node, str]]:
    """Node and direction of displacements named by the user, as ``"link1.2.y"``: body, number of the node, direction.

    The numbers are those of the mesh that joints and loads ask for: ``nodes`` are these.
    """
    out = []
    for label in method.zero:
        body, number, name = _parts(nodes.topology.mechanism, label)
        xi = None
        if body in nodes.flexible:
            stations = [node.xi or 0.0 for node in nodes.nodes if node.body == body]
            places = places_along(stations, elements_of(method.elements, body))
            if number >= len(places):
                raise ModelError(
                    f"ERLS: {label!r} is to be zeroed, but {body!r} has {len(places) - 1} elements, with nodes 0 to "
                    f"{len(places) - 1}"
                )
            xi = places[number]
        out.append((Node(body, xi), name))
    return out


def named_wishes(d: Displacements, places: Sequence[tuple[Node, str]], labels: Sequence[str]) -> list[Wish]:
    """Wishes for displacements that were named by the user."""
    out = []
    for (node, name), label in zip(places, labels, strict=True):
        mine = [x.name for x in d.of if d.nodes.nodes[x.node] == node]
        out.append(Wish(node, f"{label!r} was asked for", name, root=name not in mine))
    return out


def _parts(m: Mechanism, label: str) -> tuple[str, int, str]:
    """Body, number of the node and direction; names of bodies and of directions may have dots in them."""
    for body in m.bodies if isinstance(label, str) else ():
        number, _, name = label.removeprefix(f"{body}.").partition(".")
        if label.startswith(f"{body}.") and number.isdigit() and name:
            return body, int(number), name
    raise ModelError(
        f"ERLS: {label!r} is no displacement; they are named by body, number of the node and direction, as in "
        f"'{next(iter(m.bodies))}.0.rz'"
    )


def choose_cycles(G: np.ndarray, pattern: np.ndarray, avoided: Sequence[int]) -> Pivots:
    """Pivots ``(row, displacement)`` of the gaps of cycles (rows of G) at the start; avoided ones stay free if they
    can.
    """
    if not len(G):
        return ()
    kept = choose_rows([G])
    return tuple((kept[i], j) for i, j in eliminate(G[list(kept)], pattern[list(kept)], sorted(avoided)))


def find(d: Displacements, wish: Wish) -> int:
    """Number of a displacement among u; -1 if it is none."""
    node = d.nodes.nodes.index(wish.node)
    if wish.name:
        return next((k for k, x in enumerate(d.of) if x.node == node and x.name == wish.name), -1)
    if not any(hold.joint.name == wish.joint and hold.slave == node for hold in d.nodes.holds):
        return -1
    return next((k for k, x in enumerate(d.of) if x.node == node and x.freedom == wish.freedom), -1)


def on_ground(d: Displacements) -> list[int]:
    """Displacements of rigid bodies along what their joints on the ground leave free."""
    mine = {h.slave for h in d.nodes.holds if h.master == GROUND and h.joint.type.nv} - {
        k for k, node in enumerate(d.nodes.nodes) if node.body in d.nodes.flexible
    }
    return [k for k, x in enumerate(d.of) if x.node in mine and x.freedom >= 0]


def best(J: np.ndarray, turning: np.ndarray, among: Sequence[int]) -> tuple[int, ...]:
    """Displacements with the best conditioned block of J (n_u x n_q), of some: pivots of a QR factorisation."""
    from scipy.linalg import qr

    if len(among) < J.shape[1] or not J.shape[1]:
        return ()
    rows = list(among)
    order = qr((J / scales(J, turning)[:, None])[rows].T, mode="r", pivoting=True)[1]
    return tuple(sorted(rows[k] for k in order[: J.shape[1]]))


def health(blocks: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Of zeroed blocks of J (..., n_q, n_q), see the module's docstring; 1 if there is no coordinate."""
    if not units.size:
        return np.ones(blocks.shape[:-2])
    pivots = np.linalg.det(blocks / units)
    return np.sign(pivots) * np.abs(pivots) ** (1 / len(units))


def units(J: np.ndarray, turning: np.ndarray, zeroed: Sequence[int]) -> np.ndarray:
    """What the zeroed block of J is measured by, entry by entry (n_q, n_q)."""
    rows = scales(J, turning)
    columns = np.maximum(np.abs(J / rows[:, None]).max(axis=0, initial=0.0), 1e-300) if len(J) else np.ones(J.shape[1])
    return np.outer(rows[list(zeroed)], columns)


def scales(J: np.ndarray, turning: np.ndarray) -> np.ndarray:
    """The largest displacement, or rotation, that coordinates give to any node (n_u,)."""
    largest = np.abs(J).max(axis=1, initial=0.0)
    return np.array([max(largest[turning == kind].max(initial=0.0), 1e-300) for kind in turning])


def is_rotation(d: Displacements) -> np.ndarray:
    """Of each displacement in u: whether it is an angle."""
    out = []
    for x in d.of:
        if x.name in (*TURNS, *MOVES):
            out.append(x.name in TURNS)
        else:
            joint, _, velocity = x.name.rpartition(".")
            kind = d.nodes.hold_of[joint].joint.type
            out.append(kind.velocity_units[kind.velocities.index(velocity)] == "rad/s")
    return np.array(out, bool)
