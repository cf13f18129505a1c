"""A mechanism as numbers: nodes, pieces and chains of nodes, in the arrays that the kernels take.

Nodes are numbered body by body, along each beam. Those at stations (`derive.erls.nodes`) are *held*: joints relate
them. The others lie in chains between two held nodes, and are eliminated chain by chain. The state is

    y = (displacements of chain nodes, displacements u of held nodes, coordinates q)

which `numbering` brings into the order of the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from closedchain.derive.erls.nodes import SPATIAL, Nodes
from closedchain.erls.element import BeamSection, Piece, beam_element, rigid_piece
from closedchain.erls.kernels import tables
from closedchain.errors import ModelError
from closedchain.model.bodies.flexible import Flexibility
from closedchain.model.expressions.expression import Number
from closedchain.model.parts import Body

Value = Callable[[Number], float]

ELEMENTS = 2  # of a beam of which nothing else is said
ROUNDING = 1e-9  # of the inertia of a thin rod: what more is drawn is inertia of its sections


class Settings(NamedTuple):
    """How beams are meshed.

    Attributes
    ----------
    elements : of each beam, or of all.
    rayleigh, stiffening : of all beams; None: as each says.
    """

    elements: int | Mapping[str, int]
    rayleigh: tuple[float, float] | None = None
    stiffening: bool | None = None


@dataclass(frozen=True, eq=False)
class Mesh:
    """Nodes and pieces of a mechanism.

    Attributes
    ----------
    names : displacements of a node.
    places : (nodes, 3) positions in their bodies, m.
    bodies : of each node, its name.
    numbers : of each node, its number on its body.
    first : number of the first node of each body.
    pieces : elements and rigid bodies.
    resisted : of each beam (nodes, k, m): displacements whose elastic forces are its modal damping, by unit swings.
    """

    names: tuple[str, ...]
    places: np.ndarray
    bodies: tuple[str, ...]
    numbers: np.ndarray
    first: Mapping[str, int]
    pieces: tuple[Piece, ...]
    resisted: Mapping[str, np.ndarray]
    arrays: tables.Arrays

    @property
    def axes(self) -> list[int]:
        """Places of the displacements of a node among all six."""
        return [SPATIAL.index(name) for name in self.names]

    @property
    def chain_nodes(self) -> np.ndarray:
        """Numbers of the nodes that no joint holds."""
        return np.flatnonzero(self.arrays.nodes.chain >= 0)

    @property
    def held_nodes(self) -> np.ndarray:
        """Numbers of the nodes at stations."""
        return np.flatnonzero(self.arrays.nodes.held >= 0)

    def nodes_of(self, body: str) -> range:
        """Numbers of the nodes of a body."""
        return range(self.first[body], self.first[body] + self.bodies.count(body))

    @property
    def masses(self) -> np.ndarray:
        """Of each piece, kg."""
        one, G = self.arrays.field.one, self.arrays.field.G
        return np.einsum("pi,pij,pj->p", one, G, one)


def elements_between(stations: list[float], count: int) -> list[int]:
    """How many elements lie between stations: at least one, and in proportion to the length.

    Examples
    --------
    >>> elements_between([0.0, 1.0], 4), elements_between([0.0, 0.3, 1.0], 4)
    ([4], [1, 3])
    """
    return [max(1, round(count * (b - a))) for a, b in pairwise(stations)]


def places_along(stations: list[float], count: int) -> list[float]:
    """Places of all nodes of a beam, as fractions of its length.

    Examples
    --------
    >>> places_along([0.0, 0.5, 1.0], 3)
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    out = [stations[0]]
    for (a, b), between in zip(pairwise(stations), elements_between(stations, count), strict=True):
        out += np.linspace(a, b, between + 1)[1:].tolist()
    return out


def elements_of(elements: int | Mapping[str, int], body: str) -> int:
    """How many elements a beam is to have."""
    return elements.get(body, ELEMENTS) if isinstance(elements, Mapping) else elements


class _Growing:
    """Nodes and pieces of a mesh, body after body.

    Attributes
    ----------
    names : displacements of a node.
    first : number of the first node of each body.
    places, owners, numbers, held : of each node its position, body, number on its body, and number among the held
        nodes, or -1.
    pieces, body, ends, stiffens : of each piece its integrals, link, nodes, and whether axial strain counts the
        bending.
    chains : see `kernels.tables.Arrays`.
    modal, resisted : of each beam, see `modal_damping`.
    """

    def __init__(self, names: tuple[str, ...], value: Value) -> None:
        self.names, self.value = names, value
        self.first: dict[str, int] = {}
        self.places: list[np.ndarray] = []
        self.owners: list[str] = []
        self.numbers: list[int] = []
        self.held: list[int] = []
        self.pieces: list[Piece] = []
        self.body: list[int] = []
        self.ends: list[tuple[int, int]] = []
        self.stiffens: list[int] = []
        self.chains: list[tuple[int, int, int, int]] = []
        self.modal: dict[str, np.ndarray] = {}
        self.resisted: dict[str, np.ndarray] = {}

    def add_rigid(self, drawn: Body, link: int, held: int) -> None:
        """A rigid body is one piece with one node, at its origin."""
        first = self.first[drawn.name] = len(self.places)
        self.places.append(np.zeros(3))
        self.owners.append(drawn.name)
        self.numbers.append(0)
        self.held.append(held)
        self.pieces.append(rigid_piece(self.names, *mass_properties(drawn, self.value)))
        self.body.append(link)
        self.chains.append((first, -1, len(self.pieces) - 1, -1))
        self.ends.append((first, -1))
        self.stiffens.append(0)

    def add_beam(
        self, beam: Flexibility, link: int, stations: list[tuple[float, int]], count: int, settings: Settings
    ) -> None:
        """A beam is a chain of elements between each two stations (place, number among the held nodes)."""
        name, L = beam.body.name, self.value(beam.length)
        first = self.first[name] = len(self.places)
        numbers = beam_numbers(beam, self.value, self.names)
        if settings.rayleigh is not None:
            numbers = numbers._replace(alpha=settings.rayleigh[0], beta=settings.rayleigh[1])
        stiffens = int(beam.stiffening if settings.stiffening is None else settings.stiffening)
        at, pieces = [0.0], len(self.pieces)
        self.held.append(stations[0][1])
        between_stations = elements_between([x for x, _ in stations], count)
        for ((begin, _), (end, held)), between in zip(pairwise(stations), between_stations, strict=True):
            self.chains.append((first + len(at) - 1, first + len(at) - 1 + between, len(self.pieces), between - 1))
            for x in np.linspace(begin, end, between + 1)[1:]:
                self.pieces.append(beam_element(self.names, at[-1] * L, (x - at[-1]) * L, numbers))
                self.body.append(link)
                self.ends.append((first + len(at) - 1, first + len(at)))
                self.stiffens.append(stiffens)
                at.append(float(x))
                self.held.append(-1)
            self.held[-1] = held
        self.places += [np.array([x * L, 0.0, 0.0]) for x in at]
        self.modal[name], self.resisted[name] = modal_damping(beam, self.value, self.names, at, self.pieces[pieces:])
        self.owners += [name] * len(at)
        self.numbers += range(len(at))

    def arrays(self, link_of: Mapping[str, int], entries: tables.Entries) -> tables.Arrays:
        """All of it for the kernels."""
        size, pieces = 2 * len(self.names), self.pieces
        modal = _by_node(self.modal, self.owners, len(self.names))
        return tables.Arrays(
            body=np.array(self.body, np.int64),
            ends=np.array(self.ends, np.int64),
            length=np.array([x.length for x in pieces]),
            field=tables.fields(pieces, size),
            elastic=tables.elasticity(pieces, self.stiffens, size),
            sections=tables.sections(pieces, size),
            nodes=tables.node_table(self.held, [link_of[name] for name in self.owners], modal),
            chains=np.array(self.chains, np.int64).reshape(-1, 4),
            entries=entries,
        )


def make_mesh(
    nodes: Nodes,
    flexible: Mapping[str, Flexibility],
    value: Value,
    names: tuple[str, ...],
    T_places: tuple[np.ndarray, np.ndarray],
    settings: Settings,
) -> Mesh:
    """Cut the beams into elements and compute all integrals, at the present values of the parameters.

    Parameters
    ----------
    nodes, flexible : what is held by joints, and the beams.
    value : computes numbers of the drawing.
    names : displacements of a node.
    T_places : rows and columns of the entries of T.
    settings : how many elements beams have, and what holds for all of them.
    """
    elements = settings.elements
    if isinstance(elements, Mapping):
        unknown = [name for name in elements if name not in flexible]
        if unknown:
            raise ModelError(
                f"ERLS: elements are given for {unknown[0]!r}, which is not a flexible body; flexible are "
                f"{', '.join(map(repr, flexible))}"
            )
    link_of, mesh = nodes.topology.link_of, _Growing(names, value)
    for name, drawn in nodes.topology.mechanism.bodies.items():
        stations = [(node.xi or 0.0, k) for k, node in enumerate(nodes.nodes) if node.body == name]
        if name in flexible:
            mesh.add_beam(flexible[name], link_of[name], stations, elements_of(elements, name), settings)
        else:
            mesh.add_rigid(drawn, link_of[name], stations[0][1])
    arrays = mesh.arrays(link_of, tables.entries(*T_places, len(nodes.nodes) * len(names)))
    m = arrays.nodes.modal.shape[2]
    widened = {name: np.pad(x, ((0, 0), (0, 0), (0, m - x.shape[2]))) for name, x in mesh.resisted.items()}
    numbers = np.array(mesh.numbers)
    return Mesh(
        names, np.array(mesh.places), tuple(mesh.owners), numbers, mesh.first, tuple(mesh.pieces), widened, arrays
    )


def modal_damping(
    beam: Flexibility, value: Value, names: tuple[str, ...], at: list[float], pieces: list[Piece]
) -> tuple[np.ndarray, np.ndarray]:
    """Factors F (nodes, k, m) of a beam's modal damping: its forces are ``F F' u_hat'``, summed over its nodes.

    Beside them displacements Y, with ``F = K Y``, whose elastic forces they are.

    The ratio is that of the modes of its shapes, as on a floating frame: with C their damping there, Phi the shapes at
    the nodes and K the stiffness of all elements,

        F F' = P C P',        P = K Phi (Phi' K Phi)^-1

    What the shapes cannot say is not damped, and rigid motions are not, since K takes no notice of them.
    """
    k, nodes = len(names), len(at)
    zeta, shapes = value(beam.damping), beam.shapes
    if zeta == 0.0:
        return np.zeros((nodes, k, 0)), np.zeros((nodes, k, 0))
    L, on, numbers = value(beam.length), shapes.integrals, beam_numbers(beam, value, names)
    mass, polar = numbers.mass * L, numbers.j[0] * L
    ways = {
        "u": (numbers.EA / L, mass),
        "v": (numbers.EIz / L**3, mass),
        "w": (numbers.EIy / L**3, mass),
        "t": (numbers.GJ / L, polar),
    }
    C = sum(2 * zeta * np.sqrt(stiffness * inertia) * on.damping[field] for field, (stiffness, inertia) in ways.items())
    K = np.zeros((nodes * k, nodes * k))
    for i, piece in enumerate(pieces):
        K[i * k : (i + 2) * k, i * k : (i + 2) * k] += piece.K
    both = [np.vstack([U, T / [[1.0], [L], [L]]]) for U, T in map(shapes.at, at)]
    Phi = np.vstack([x[[SPATIAL.index(name) for name in names]] for x in both])
    values, vectors = np.linalg.eigh(C)
    Y = Phi @ np.linalg.pinv(Phi.T @ K @ Phi, hermitian=True) @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    return (K @ Y).reshape(nodes, k, -1), Y.reshape(nodes, k, -1)


def _by_node(parts: Mapping[str, np.ndarray], owners: list[str], k: int) -> np.ndarray:
    """Factors of all bodies below each other, with as many columns as the largest has."""
    out = np.zeros((len(owners), k, max((x.shape[2] for x in parts.values()), default=0)))
    for name, part in parts.items():
        first = owners.index(name)
        out[first : first + len(part), :, : part.shape[2]] = part
    return out


def mass_properties(body: Body, value: Value) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass and inertia about it (3, 3) of a body as drawn."""
    p = body.properties
    xx, yy, zz, xy, xz, yz = (value(x) for x in p.inertia)
    return value(p.mass), np.array([value(x) for x in p.com]), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def beam_numbers(beam: Flexibility, value: Value, names: tuple[str, ...]) -> BeamSection:
    """Mass by length, stiffnesses and damping of a beam; raises where a stiffness is missing."""
    section, L, E, G = beam.section, value(beam.length), value(beam.E), value(beam.G)
    A, Iy, Iz, J = (value(x) for x in (section.A, section.Iy, section.Iz, section.J))
    mass = value(beam.body.properties.mass) / L
    needed = {"Iz": Iz} if "z" not in names else {"Iz": Iz, "Iy": Iy, "J": J}
    for name, number in needed.items():
        if not number > 0:
            raise ModelError(
                f"flexible body {beam.body.name!r}: its section has {name} = {number:g}, but the beams of ERLS bend "
                f"{'in the plane' if 'z' not in names else 'both ways and twist'}: give the section its {name}"
            )
    # sections as drawn, beyond a thin rod; where one was drawn they are those of the section about the axis
    xx, yy, zz = (value(x) for x in beam.body.properties.inertia[:3])
    thin = mass * L**3 / 12
    about_axis = (xx / L if xx > 0 else mass * (Iy + Iz) / A) if "rx" in names else 0.0
    about_y, about_z = (max(x - thin, 0.0) / L if x > thin * (1 + ROUNDING) else 0.0 for x in (yy, zz))
    alpha, beta = (value(x) for x in beam.rayleigh)
    return BeamSection(mass, E * A, E * Iy, E * Iz, G * J, (about_axis, about_y, about_z), alpha, beta)
