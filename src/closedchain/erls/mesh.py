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
from typing import Any, NamedTuple

import numba
import numpy as np

from closedchain.derive.erls.nodes import SPATIAL, Nodes
from closedchain.erls.element import Piece, beam_element, rigid_piece
from closedchain.errors import ModelError
from closedchain.model.bodies.flexible import Flexibility
from closedchain.model.expressions.expression import Number
from closedchain.model.parts import Body

Value = Callable[[Number], float]

ELEMENTS = 2  # of a beam of which nothing else is said
ROUNDING = 1e-9  # of the inertia of a thin rod: what more is drawn is inertia of its sections


class Arrays(NamedTuple):
    """The mesh for the kernels.

    Attributes
    ----------
    body : (pieces,) the body of each piece.
    ends : (pieces, 2) its nodes; the second is -1 for a rigid body.
    P0, G, one : (pieces, 3, 4), (pieces, 4, 4), (pieces, 4) field at rest, Gram matrix, and the field that is 1.
    length, EA : (pieces,) m and N; a length of 0 means a rigid body.
    K, spin, B, N1, slopes : (pieces, k, k), ..., (pieces, 3, 3, k, k), (pieces, 3, k), (pieces, k, k), see
        `element.Piece`.
    damping : (pieces, 2) Rayleigh's alpha and beta.
    stiffens : (pieces,) 1 where axial strain counts the bending.
    j, turned : (pieces, 3), (pieces, 3, k) inertia of the sections, and how unit displacements turn them in sum.
    sections, turns : (pieces, 3, 6), (pieces, 3, 3, k) sections at the points of Gauss, and their rotations.
    held : (nodes,) number among the held nodes, or -1.
    chain : (nodes,) number among the others, or -1.
    chains : (chains, 4) first and last node (both held), first piece, number of nodes between; a rigid body is a chain
        with one end: its node, -1, its piece, -1.
    rows, columns : places of the entries of T, column after column.
    order, begin : the same entries row after row, and where each row begins.
    E : (pieces, 3, 4, k) fields of unit displacements.
    modal : (nodes, k, m) factors of modal damping, see `modal_damping`; m is 0 if there is none.
    owner : (nodes,) the body of each node.
    """

    body: np.ndarray
    ends: np.ndarray
    P0: np.ndarray
    G: np.ndarray
    one: np.ndarray
    length: np.ndarray
    EA: np.ndarray
    K: np.ndarray
    spin: np.ndarray
    B: np.ndarray
    N1: np.ndarray
    slopes: np.ndarray
    damping: np.ndarray
    stiffens: np.ndarray
    j: np.ndarray
    turned: np.ndarray
    sections: np.ndarray
    turns: np.ndarray
    held: np.ndarray
    chain: np.ndarray
    chains: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    order: np.ndarray
    begin: np.ndarray
    E: np.ndarray
    modal: np.ndarray
    owner: np.ndarray


_I1, _I2 = numba.int64[::1], numba.int64[:, ::1]
_F1, _F2, _F3 = numba.float64[::1], numba.float64[:, ::1], numba.float64[:, :, ::1]
_F4, _F5 = numba.types.Array(numba.float64, 4, "C"), numba.types.Array(numba.float64, 5, "C")
ArraysType = numba.types.NamedTuple(
    (
        *(_I1, _I2, _F3, _F3, _F2, _F1, _F1, _F3, _F3, _F5, _F3, _F3, _F2, _I1, _F2, _F3, _F3, _F4),
        *(_I1, _I1, _I2, _I1, _I1, _I1, _I1, _F4, _F3, _I1),
    ),
    Arrays,
)


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
    arrays: Arrays

    @property
    def axes(self) -> list[int]:
        """Places of the displacements of a node among all six."""
        return [SPATIAL.index(name) for name in self.names]

    @property
    def chain_nodes(self) -> np.ndarray:
        """Numbers of the nodes that no joint holds."""
        return np.flatnonzero(self.arrays.chain >= 0)

    @property
    def held_nodes(self) -> np.ndarray:
        """Numbers of the nodes at stations."""
        return np.flatnonzero(self.arrays.held >= 0)

    def nodes_of(self, body: str) -> range:
        """Numbers of the nodes of a body."""
        return range(self.first[body], self.first[body] + self.bodies.count(body))

    @property
    def masses(self) -> np.ndarray:
        """Of each piece, kg."""
        return np.einsum("pi,pij,pj->p", self.arrays.one, self.arrays.G, self.arrays.one)


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


def make_mesh(
    nodes: Nodes,
    flexible: Mapping[str, Flexibility],
    elements: int | Mapping[str, int],
    value: Value,
    names: tuple[str, ...],
    T_places: tuple[np.ndarray, np.ndarray],
    *,
    rayleigh: tuple[float, float] | None = None,
    stiffening: bool | None = None,
) -> Mesh:
    """Cut the beams into elements and compute all integrals, at the present values of the parameters.

    Parameters
    ----------
    nodes, flexible : what is held by joints, and the beams.
    elements : of each beam.
    value : computes numbers of the drawing.
    names : displacements of a node.
    T_places : rows and columns of the entries of T.
    rayleigh, stiffening : of all beams; None: as each says.
    """
    bodies = nodes.topology.mechanism.bodies
    if isinstance(elements, Mapping):
        unknown = [name for name in elements if name not in flexible]
        if unknown:
            raise ModelError(
                f"ERLS: elements are given for {unknown[0]!r}, which is not a flexible body; flexible are "
                f"{', '.join(map(repr, flexible))}"
            )
    link_of = nodes.topology.link_of
    places: list[np.ndarray] = []
    owners: list[str] = []
    numbers: list[int] = []
    held: list[int] = []
    first: dict[str, int] = {}
    modal: dict[str, np.ndarray] = {}
    resisted: dict[str, np.ndarray] = {}
    pieces, body, ends, chains, stiffens = [], [], [], [], []
    number = {node: k for k, node in enumerate(nodes.nodes)}
    for name, drawn in bodies.items():
        first[name] = len(places)
        mine = [node for node in nodes.nodes if node.body == name]
        if name not in flexible:
            places.append(np.zeros(3))
            owners.append(name)
            numbers.append(0)
            held.append(number[mine[0]])
            pieces.append(rigid_piece(names, *mass_properties(drawn, value)))
            body.append(link_of[name])
            chains.append((first[name], -1, len(pieces) - 1, -1))
            ends.append((first[name], -1))
            stiffens.append(0)
            continue
        beam = flexible[name]
        L = value(beam.length)
        options = beam_numbers(beam, value, names)
        if rayleigh is not None:
            options["alpha"], options["beta"] = rayleigh
        stations = [node.xi or 0.0 for node in mine]
        at = [0.0]
        held.append(number[mine[0]])
        for k, between in enumerate(elements_between(stations, elements_of(elements, name))):
            chains.append((first[name] + len(at) - 1, first[name] + len(at) - 1 + between, len(pieces), between - 1))
            for x in np.linspace(stations[k], stations[k + 1], between + 1)[1:]:
                pieces.append(beam_element(names, at[-1] * L, (x - at[-1]) * L, **options))
                body.append(link_of[name])
                ends.append((first[name] + len(at) - 1, first[name] + len(at)))
                stiffens.append(int(beam.stiffening if stiffening is None else stiffening))
                at.append(float(x))
                held.append(-1)
            held[-1] = number[mine[k + 1]]
        places += [np.array([x * L, 0.0, 0.0]) for x in at]
        modal[name], resisted[name] = modal_damping(beam, value, names, at, pieces[-len(at) + 1 :])
        owners += [name] * len(at)
        numbers += range(len(at))
    size = 2 * len(names)

    def square(a: np.ndarray) -> np.ndarray:
        """The matrix of a rigid body in the room of an element's."""
        out = np.zeros((*a.shape[:-2], size, size))
        out[..., : a.shape[-2], : a.shape[-1]] = a
        return out

    def wide(a: np.ndarray) -> np.ndarray:
        out = np.zeros((3, size))
        out[:, : a.shape[1]] = a
        return out

    held_array = np.array(held, np.int64)
    chain = np.where(held_array < 0, np.cumsum(held_array < 0) - 1, -1)
    arrays = Arrays(
        body=np.array(body, np.int64),
        ends=np.array(ends, np.int64),
        P0=np.array([x.P0 for x in pieces]),
        G=np.array([x.G for x in pieces]),
        one=np.array([x.one for x in pieces]),
        length=np.array([x.length for x in pieces]),
        EA=np.array([x.EA for x in pieces]),
        K=np.array([square(x.K) for x in pieces]),
        spin=np.array([square(x.spin) for x in pieces]),
        B=np.array([square(x.B) for x in pieces]),
        N1=np.array([wide(x.N1) for x in pieces]),
        slopes=np.array([square(x.slopes) for x in pieces]),
        damping=np.array([(x.alpha, x.beta) for x in pieces]),
        stiffens=np.array(stiffens, np.int64),
        j=np.array([x.j for x in pieces]),
        turned=np.array([wide(x.turned) for x in pieces]),
        sections=np.array([x.sections for x in pieces]),
        turns=np.array([np.pad(x.turns, ((0, 0), (0, 0), (0, size - x.turns.shape[2]))) for x in pieces]),
        held=held_array,
        chain=chain.astype(np.int64),
        chains=np.array(chains, np.int64).reshape(-1, 4),
        rows=np.array(T_places[0], np.int64),
        columns=np.array(T_places[1], np.int64),
        order=np.argsort(T_places[0], kind="stable").astype(np.int64),
        begin=np.searchsorted(np.sort(T_places[0]), np.arange(len(nodes.nodes) * len(names) + 1)).astype(np.int64),
        E=np.array([np.pad(x.E, ((0, 0), (0, 0), (0, size - x.E.shape[2]))) for x in pieces]),
        modal=_by_node(modal, owners, len(names)),
        owner=np.array([link_of[name] for name in owners], np.int64),
    )
    m = arrays.modal.shape[2]
    widened = {name: np.pad(x, ((0, 0), (0, 0), (0, m - x.shape[2]))) for name, x in resisted.items()}
    return Mesh(names, np.array(places), tuple(owners), np.array(numbers), first, tuple(pieces), widened, arrays)


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
    L, on, options = value(beam.length), shapes.integrals, beam_numbers(beam, value, names)
    mass, polar = options["mass"] * L, options["j"][0] * L
    ways = {
        "u": (options["EA"] / L, mass),
        "v": (options["EIz"] / L**3, mass),
        "w": (options["EIy"] / L**3, mass),
        "t": (options["GJ"] / L, polar),
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


def beam_numbers(beam: Flexibility, value: Value, names: tuple[str, ...]) -> dict[str, Any]:
    """Mass by length and stiffnesses of a beam; raises where a stiffness is missing."""
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
    turning = (about_axis, *(max(x - thin, 0.0) / L if x > thin * (1 + ROUNDING) else 0.0 for x in (yy, zz)))
    alpha, beta = (value(x) for x in beam.rayleigh)
    return {
        "mass": mass, "EA": E * A, "EIy": E * Iy, "EIz": E * Iz, "GJ": G * J, "j": turning, "alpha": alpha, "beta": beta
    }  # fmt: skip
