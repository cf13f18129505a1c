"""The mesh as the kernels take it: tables of pieces, of nodes, and of the entries of T.

A *piece* is an element of a beam or a whole rigid body. Nodes at joints are *held*; the others lie in *chains* between
two held ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numba
import numpy as np

if TYPE_CHECKING:
    from closedchain.erls.element import Piece


class Fields(NamedTuple):
    """Fields of displacements of the pieces, and their inertia; see `element.Piece`.

    Attributes
    ----------
    P0, G, one : (pieces, 3, 4), (pieces, 4, 4), (pieces, 4) field at rest, Gram matrix, and the field that is 1.
    E : (pieces, 3, 4, k) fields of unit displacements.
    B, N1 : (pieces, 3, 3, k, k), (pieces, 3, k) integrals of products of these fields, and of the fields.
    """

    P0: np.ndarray
    G: np.ndarray
    one: np.ndarray
    E: np.ndarray
    B: np.ndarray
    N1: np.ndarray


class Elasticity(NamedTuple):
    """Stiffness and damping of the pieces.

    Attributes
    ----------
    EA : (pieces,) N.
    K, slopes : (pieces, k, k) stiffness, and geometric stiffness of a unit tension.
    stiffens : (pieces,) 1 where axial strain counts the bending.
    damping : (pieces, 2) Rayleigh's alpha and beta.
    """

    EA: np.ndarray
    K: np.ndarray
    slopes: np.ndarray
    stiffens: np.ndarray
    damping: np.ndarray


class Sections(NamedTuple):
    """Sections that turn.

    Attributes
    ----------
    j : (pieces, 3) moments of inertia.
    spin, turned : (pieces, k, k), (pieces, 3, k) their inertia, and how unit displacements turn them in sum.
    at, turns : (pieces, 3, 6), (pieces, 3, 3, k) sections at the points of Gauss, and their rotations.
    """

    j: np.ndarray
    spin: np.ndarray
    turned: np.ndarray
    at: np.ndarray
    turns: np.ndarray


class NodeTable(NamedTuple):
    """Which node is which.

    Attributes
    ----------
    held, chain : (nodes,) number among the held nodes, or -1; number among the others, or -1.
    owner : (nodes,) the body.
    modal : (nodes, k, m) factors of modal damping, see `mesh.modal_damping`; m is 0 if there is none.
    """

    held: np.ndarray
    chain: np.ndarray
    owner: np.ndarray
    modal: np.ndarray


class Entries(NamedTuple):
    """Places of the entries of T.

    Attributes
    ----------
    rows, columns : of each entry, column after column.
    order, begin : the same entries row after row, and where each row begins.
    """

    rows: np.ndarray
    columns: np.ndarray
    order: np.ndarray
    begin: np.ndarray


class Arrays(NamedTuple):
    """The mesh for the kernels.

    Attributes
    ----------
    body : (pieces,) the body of each piece.
    ends : (pieces, 2) its nodes; the second is -1 for a rigid body.
    length : (pieces,) m; 0 means a rigid body.
    chains : (chains, 4) first and last node (both held), first piece, number of nodes between; a rigid body is a chain
        with one end: its node, -1, its piece, -1.
    """

    body: np.ndarray
    ends: np.ndarray
    length: np.ndarray
    field: Fields
    elastic: Elasticity
    sections: Sections
    nodes: NodeTable
    chains: np.ndarray
    entries: Entries


_I1, _I2 = numba.int64[::1], numba.int64[:, ::1]
_F1, _F2, _F3 = numba.float64[::1], numba.float64[:, ::1], numba.float64[:, :, ::1]
_F4, _F5 = numba.types.Array(numba.float64, 4, "C"), numba.types.Array(numba.float64, 5, "C")
_Tuple = numba.types.NamedTuple
ArraysType = _Tuple(
    (
        *(_I1, _I2, _F1),
        _Tuple((_F3, _F3, _F2, _F4, _F5, _F3), Fields),
        _Tuple((_F1, _F3, _F3, _I1, _F2), Elasticity),
        _Tuple((_F2, _F3, _F3, _F3, _F4), Sections),
        _Tuple((_I1, _I1, _I1, _F3), NodeTable),
        *(_I2, numba.types.NamedUniTuple(_I1, 4, Entries)),
    ),
    Arrays,
)


def fields(pieces: Sequence[Piece], size: int) -> Fields:
    """Fields of pieces, with room for ``size`` displacements each."""
    return Fields(
        P0=np.array([x.P0 for x in pieces]),
        G=np.array([x.G for x in pieces]),
        one=np.array([x.one for x in pieces]),
        E=np.array([_widened(x.E, size) for x in pieces]),
        B=np.array([_squared(x.B, size) for x in pieces]),
        N1=np.array([_widened(x.N1, size) for x in pieces]),
    )


def elasticity(pieces: Sequence[Piece], stiffens: Sequence[int], size: int) -> Elasticity:
    """Stiffness and damping of pieces; ``stiffens`` says where axial strain counts the bending."""
    return Elasticity(
        EA=np.array([x.EA for x in pieces]),
        K=np.array([_squared(x.K, size) for x in pieces]),
        slopes=np.array([_squared(x.slopes, size) for x in pieces]),
        stiffens=np.array(stiffens, np.int64),
        damping=np.array([(x.alpha, x.beta) for x in pieces]),
    )


def sections(pieces: Sequence[Piece], size: int) -> Sections:
    """Sections of pieces."""
    return Sections(
        j=np.array([x.j for x in pieces]),
        spin=np.array([_squared(x.spin, size) for x in pieces]),
        turned=np.array([_widened(x.turned, size) for x in pieces]),
        at=np.array([x.sections for x in pieces]),
        turns=np.array([_widened(x.turns, size) for x in pieces]),
    )


def node_table(held: Sequence[int], owner: Sequence[int], modal: np.ndarray) -> NodeTable:
    """Nodes by their numbers among the held ones (-1: none of them), bodies, and factors of modal damping."""
    numbers = np.array(held, np.int64)
    chain = np.where(numbers < 0, np.cumsum(numbers < 0) - 1, -1)
    return NodeTable(held=numbers, chain=chain.astype(np.int64), owner=np.array(owner, np.int64), modal=modal)


def entries(rows: np.ndarray, columns: np.ndarray, height: int) -> Entries:
    """Entries of a matrix of that height at these places, column after column."""
    return Entries(
        rows=np.array(rows, np.int64),
        columns=np.array(columns, np.int64),
        order=np.argsort(rows, kind="stable").astype(np.int64),
        begin=np.searchsorted(np.sort(rows), np.arange(height + 1)).astype(np.int64),
    )


def _squared(a: np.ndarray, size: int) -> np.ndarray:
    """The matrix of a rigid body in the room of an element's."""
    out = np.zeros((*a.shape[:-2], size, size))
    out[..., : a.shape[-2], : a.shape[-1]] = a
    return out


def _widened(a: np.ndarray, size: int) -> np.ndarray:
    out = np.zeros((*a.shape[:-1], size))
    out[..., : a.shape[-1]] = a
    return out
