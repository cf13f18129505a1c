"""The tuples that the kernels take: the `Plan` (addresses and sizes) and the `Room` in which numbers live."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np


class Plan(NamedTuple):
    """Addresses of native functions, sizes, and where the parts of their outputs begin.

    Attributes
    ----------
    motion, newton, tangent, residual : addresses.
    loops : whether there are loops to close.
    tree, n_q, n_u, n_held, n_chain, n : coordinates of the tree; q; u; displacements of held nodes; displacements of
        chain
        nodes; all of y.
    bodies, J, u, u_dot, u_ddot, T, D, on_u, on_q, power, pushed, block, closed : beginnings in the output of
        `motion`.
    T_dot, T_ddot, turning, by_u, by_u_dot, by_u_ddot, by_w : beginnings in the output of `tangent`.
    paper : whether only the rows of u count.
    driven : whether there are drives, which do work.
    resists : whether damping is the paper's.
    """

    motion: int
    newton: int
    tangent: int
    residual: int
    loops: int
    tree: int
    n_q: int
    n_u: int
    n_held: int
    n_chain: int
    n: int
    bodies: int
    J: int
    u: int
    u_dot: int
    u_ddot: int
    T: int
    D: int
    on_u: int
    on_q: int
    power: int
    pushed: int
    block: int
    closed: int
    T_dot: int
    T_ddot: int
    turning: int
    by_u: int
    by_u_dot: int
    by_u_ddot: int
    by_w: int
    paper: int
    driven: int
    resists: int


class Room(NamedTuple):
    """Where numbers live.

    Attributes
    ----------
    w_motion, w_newton, w_tangent : parameters of the native functions.
    where : (n_q,) places of the independent coordinates in the tree.
    q, last : (tree,) coordinates of the tree, closed; and workspace.
    when : (1,) the time at which they are, s.
    x, out : input and output of `motion`.
    into, moved : input and output of `newton`.
    asked, told : input and output of `tangent`.
    u : (3, nodes, k) displacements, rates and accelerations of all nodes, in the axes of their bodies.
    rates : (nodes, k) rates for damping: those of u_hat, or the paper's ``T u'``.
    f : (nodes, k) forces on them.
    ends : (pieces, 2, k) forces of each piece on its nodes, without modal damping; or (0, 2, k), if they are not kept.
    turn : (3, 3) rotation of a section, its rate and acceleration.
    wrenches : (bodies, 6) on the rigid links.
    W, P, A, Q : (3, 3), (3, 4), ... of one piece.
    hats : (n_held,) forces on the held nodes.
    swings : (bodies, m) rates of the shapes of each body, for modal damping.
    work : (2,) power of all that acts, and of damping.
    counts : evaluations, Newton steps for loops.
    block, units : (n_q, n_q) workspace for the zeroed block of J, and the units of its rows and columns.
    begun : (1,) determinant of that block, without units, at the start.
    steps : (n_q + 1, 3) of differences, see `linearise.difference_steps`.
    """

    w_motion: np.ndarray
    w_newton: np.ndarray
    w_tangent: np.ndarray
    where: np.ndarray
    q: np.ndarray
    last: np.ndarray
    when: np.ndarray
    x: np.ndarray
    out: np.ndarray
    into: np.ndarray
    moved: np.ndarray
    asked: np.ndarray
    told: np.ndarray
    u: np.ndarray
    rates: np.ndarray
    f: np.ndarray
    ends: np.ndarray
    turn: np.ndarray
    wrenches: np.ndarray
    W: np.ndarray
    P: np.ndarray
    A: np.ndarray
    Q: np.ndarray
    hats: np.ndarray
    swings: np.ndarray
    work: np.ndarray
    counts: np.ndarray
    block: np.ndarray
    units: np.ndarray
    begun: np.ndarray
    steps: np.ndarray


_I1, _F1, _F2, _F3 = numba.int64[::1], numba.float64[::1], numba.float64[:, ::1], numba.float64[:, :, ::1]
PlanType = numba.types.NamedUniTuple(numba.int64, len(Plan._fields), Plan)
RoomType = numba.types.NamedTuple(
    (*(_F1,) * 3, _I1, *(_F1,) * 9, _F3, _F2, _F2, _F3, *(_F2,) * 6, _F1, _F2, _F1, _I1, _F2, _F2, _F1, _F2), Room
)
