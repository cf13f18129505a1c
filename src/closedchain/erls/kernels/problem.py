"""The tuples that the kernels take: the `Plan` (addresses and sizes) and the `Room` in which numbers live."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np


class Functions(NamedTuple):
    """Addresses of native functions."""

    motion: int
    newton: int
    tangent: int
    residual: int


class MotionPlaces(NamedTuple):
    """Where the motions of links and displacements at joints begin in the output of `motion`.

    Attributes
    ----------
    bodies, J : motions of the links, and their Jacobians by q.
    u, u_dot, u_ddot : displacements ``u_hat`` at joints, their rates and accelerations.
    T, D : entries of T, and D, of ``u_hat = T u``.
    block, closed : zeroed block of dr/dq, and the smallest pivot of the closures.
    """

    bodies: int
    J: int
    u: int
    u_dot: int
    u_ddot: int
    T: int
    D: int
    block: int
    closed: int


class LoadPlaces(NamedTuple):
    """Where loads begin in the output of `motion`: on u and q, their power, and what of it acts on displacements."""

    on_u: int
    on_q: int
    power: int
    pushed: int


class TangentPlaces(NamedTuple):
    """Where derivatives begin in the output of `tangent`: rates of T, those of ``D' f``, and those of loads."""

    T_dot: int
    T_ddot: int
    turning: int
    by_u: int
    by_u_dot: int
    by_u_ddot: int
    by_w: int


class Options(NamedTuple):
    """Which terms there are, as integers.

    Attributes
    ----------
    loops : whether there are loops to close.
    paper : whether only the rows of u count.
    driven : whether there are drives, which do work.
    resists : whether damping is the paper's.
    """

    loops: int
    paper: int
    driven: int
    resists: int


class Plan(NamedTuple):
    """Addresses of native functions, sizes, and where the parts of their outputs begin.

    Attributes
    ----------
    tree, n_q, n_u, n_held, n_chain, n : coordinates of the tree; q; u; displacements of held nodes; displacements of
        chain nodes; all of y.
    """

    functions: Functions
    motion: MotionPlaces
    loads: LoadPlaces
    tangent: TangentPlaces
    options: Options
    tree: int
    n_q: int
    n_u: int
    n_held: int
    n_chain: int
    n: int


class Call(NamedTuple):
    """Parameters, input and output of a native function."""

    w: np.ndarray
    x: np.ndarray
    out: np.ndarray


class Tree(NamedTuple):
    """The rigid-link system.

    Attributes
    ----------
    where : (n_q,) places of the independent coordinates in the tree.
    q, last : (tree,) coordinates of the tree, closed; and workspace.
    when : (1,) the time at which they are, s.
    """

    where: np.ndarray
    q: np.ndarray
    last: np.ndarray
    when: np.ndarray


class NodeMotion(NamedTuple):
    """Displacements of all nodes in the axes of their bodies, and forces on them.

    Attributes
    ----------
    u : (3, nodes, k) displacements, rates and accelerations.
    rates : (nodes, k) rates for damping: those of u_hat, or the paper's ``T u'``.
    f : (nodes, k) forces.
    ends : (pieces, 2, k) forces of each piece on its nodes, without modal damping; or (0, 2, k), if they are not kept.
    hats : (n_held,) forces on the held nodes.
    swings : (bodies, m) rates of the shapes of each body, for modal damping.
    """

    u: np.ndarray
    rates: np.ndarray
    f: np.ndarray
    ends: np.ndarray
    hats: np.ndarray
    swings: np.ndarray


class OnePiece(NamedTuple):
    """Workspace for one piece: W (3, 3); P, A, Q (3, 4); rotation of a section, its rate and acceleration (3, 3)."""

    W: np.ndarray
    P: np.ndarray
    A: np.ndarray
    Q: np.ndarray
    turn: np.ndarray


class ZeroedBlock(NamedTuple):
    """The zeroed block of J.

    Attributes
    ----------
    block, units : (n_q, n_q) workspace, and the units of its rows and columns.
    begun : (1,) its determinant, without units, at the start.
    """

    block: np.ndarray
    units: np.ndarray
    begun: np.ndarray


class Room(NamedTuple):
    """Where numbers live.

    Attributes
    ----------
    wrenches : (bodies, 6) on the rigid links.
    work : (2,) power of all that acts, and of damping.
    counts : evaluations, Newton steps for loops.
    steps : (n_q + 1, 3) of differences, see `linearise.difference_steps`.
    """

    motion: Call
    newton: Call
    tangent: Call
    tree: Tree
    nodes: NodeMotion
    piece: OnePiece
    zeroed: ZeroedBlock
    wrenches: np.ndarray
    work: np.ndarray
    counts: np.ndarray
    steps: np.ndarray


_I1, _F1, _F2, _F3 = numba.int64[::1], numba.float64[::1], numba.float64[:, ::1], numba.float64[:, :, ::1]


def _integers(kind: type) -> numba.types.NamedUniTuple:
    return numba.types.NamedUniTuple(numba.int64, len(kind._fields), kind)  # type: ignore[attr-defined]


PlanType = numba.types.NamedTuple(
    (*map(_integers, (Functions, MotionPlaces, LoadPlaces, TangentPlaces, Options)), *(numba.int64,) * 6), Plan
)
_Call = numba.types.NamedUniTuple(_F1, 3, Call)
RoomType = numba.types.NamedTuple(
    (
        *(_Call,) * 3,
        numba.types.NamedTuple((_I1, _F1, _F1, _F1), Tree),
        numba.types.NamedTuple((_F3, _F2, _F2, _F3, _F1, _F2), NodeMotion),
        numba.types.NamedUniTuple(_F2, 5, OnePiece),
        numba.types.NamedTuple((_F2, _F2, _F1), ZeroedBlock),
        *(_F2, _F1, _I1, _F2),
    ),
    Room,
)
