"""Inverse dynamics of closed chains: the efforts of actuators that a given motion takes, by three roads.

With everything that acts but the actuators on the left, the equations of the cut mechanism are::

    r = M a + h - tau = B' u - A' lam

for the actuators' efforts u, whose joint velocities are ``B v``, and the closing forces lam. The motion is given, so r
is; what differs is how lam is got rid of.

`by_projection`
    The motions that the loops allow, ``A N = 0``, take lam away: ``(B N)' u = N' r``. With as many actuators as
    freedoms this is a square system. With more of them the efforts of least norm are taken, or those next to a wanted
    preload; what may be added are internal forces, the null space of ``(B N)'``. With fewer, what no actuator can
    balance is told.
`by_spring_elimination`
    J. Wang, C. M. Gosselin and L. Cheng, Multibody System Dynamics 7 (2002) 143-170, equation (20), for any mechanism:
    the forces ``f = k c`` of the virtual springs appear linearly. The rows of motions Z that move no actuator, ``B Z =
    0``, contain no effort: ``Z' A' f = -Z' r`` gives f, and the other rows then give u. In (20) the last term is
    ``+ l1 cos(theta) f_By``, and the numerator of ``f_Bx`` lacks ``m3 g r3 l2 cos(alpha) cos(phi)``.
`by_natural_complement`
    S. K. Saha and W. O. Schiehlen, Mechanics of Structures and Machines 29 (2001) 143-175; A. Raoofian and others,
    Modares Mechanical Engineering 17(6) (2017) 377-384: r from the recursion ``N_d' N_l' w`` of the decoupled natural
    orthogonal complement, without M and h, and the loops' complement L in the actuated rates, ``[A; B] L = [0; 1]``:
    ``u = L' r``.

The theory is in ``docs/theory/inverse_dynamics.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from closedchain.derive.applied import trace_applied
from closedchain.derive.denoc import NaturalComplement
from closedchain.derive.equations import Equations
from closedchain.derive.rnea import body_forces, rnea
from closedchain.derive.rotors import with_rotors
from closedchain.derive.spatial import Vector6
from closedchain.errors import ModelError
from closedchain.march.assemble import active_rows
from closedchain.march.redundancy import driven, independent_rows, least_rank
from closedchain.march.size import drawn_length
from closedchain.march.state import State

SINGULAR = 1e-9  # relative size of a singular value of the actuators that counts as zero
UNBALANCED = 1e-8  # of the forces of a motion: what no actuator gives, and is not rounding

Freedom = tuple[str, int]  # a joint, and the number of one of its velocities


@dataclass(frozen=True, eq=False)
class Terms:
    """What inverse dynamics needs at samples of a motion; the leading axis is time.

    Attributes
    ----------
    r, r_recursive
        ``M a + h - tau`` without the actuators, from M and h, and from the recursion of Newton and Euler.
    A, B
        Closure rows that are not drives, and the rows of the actuated joint velocities.
    force_size
        (n) how large a moment the forces on the bodies can have, N m, for judging what rounding is.
    """

    equations: Equations
    p: np.ndarray
    actuators: tuple[Freedom, ...]
    start: State
    r: np.ndarray
    r_recursive: np.ndarray
    A: np.ndarray
    B: np.ndarray
    force_size: np.ndarray

    @property
    def velocity_size(self) -> np.ndarray:
        """Of each velocity, so that angles and lengths compare."""
        return _sizes(
            self.equations, self.p, [u for x in self.equations.topology.links for u in x.joint.type.velocity_units]
        )

    @property
    def effort_size(self) -> np.ndarray:
        """Of each actuator: the length of the drawing for a torque, one for a force."""
        joints = self.equations.topology.mechanism.joints
        units = [joints[joint].type.velocity_units[index] for joint, index in self.actuators]
        return drawn_length(self.equations, self.p) / _sizes(self.equations, self.p, units)


@dataclass(frozen=True, eq=False)
class Balance:
    """Efforts of the actuators over time.

    Attributes
    ----------
    u
        (n, actuators).
    unbalanced
        (n, nv): generalised forces that no actuator gives, as a force along the motion that lacks them.
    internal
        (n, actuators, k): efforts that balance each other; of these any multiple may be added.
    conditioning
        (n): how well the actuators hold the mechanism, 0 where something moves although all of them are locked.
    freedoms
        Of the mechanism, at generic poses.
    """

    u: np.ndarray
    unbalanced: np.ndarray
    internal: np.ndarray
    conditioning: np.ndarray
    freedoms: int


def terms(
    e: Equations,
    actuators: Sequence[Freedom],
    t: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    a: np.ndarray,
    p: np.ndarray,
    start: State,
) -> Terms:
    """Evaluate the equations along a motion."""
    f = _function(e, tuple(actuators), tuple(loops(e, start)))
    n, nv = len(t), e.topology.nv
    got = f.map(n)(t[None], q.T, v.T, np.tile(p, (n, 1)).T, a.T)
    r, r_rec, A, B, size = (np.array(x) for x in got)

    def stacked(x: np.ndarray) -> np.ndarray:
        return x.reshape(x.shape[0], n, nv).transpose(1, 0, 2)

    moments, forces = size
    return Terms(
        e, p, tuple(actuators), start, r.T, r_rec.T, stacked(A), stacked(B), moments + forces * drawn_length(e, p)
    )


def loops(e: Equations, state: State) -> list[int]:
    """Closure rows that hold, without those of drives, which are actuators here."""
    return [row for row in active_rows(e, state.open_joints) if row not in driven(e)]


def _function(e: Equations, actuators: tuple[Freedom, ...], closures: tuple[int, ...]) -> ca.Function:
    m = e.topology.mechanism
    key = ("inverse dynamics", actuators, closures)
    if key not in m._derived:
        mine = set(actuators)
        without = [x.name for x in m.motors.values() if (x.joint, x.index) in mine]
        applied = trace_applied(e.limbs, e.motion, e.measures, without=without)
        a = ca.SX.sym("a", e.topology.nv)
        h = with_rotors(e.measures, ca.SX(e.topology.nv, e.topology.nv), rnea(e.limbs, e.motion, applied.wrenches))[1]
        tau = ca.densify(applied.tau)
        rows = [e.measures.velocity_row(joint, index)[0] for joint, index in actuators]
        needed = body_forces(e.limbs, e.motion, applied.wrenches, a)
        outputs = [
            ca.densify(e.M @ a) + h - tau,
            _recursive(e, needed, a) - tau,
            e.closure.A[list(closures), :],
            ca.vertcat(ca.SX(0, e.topology.nv), *rows),
            ca.vertcat(sum(_norm(f.ang) for f in needed), sum(_norm(f.lin) for f in needed)),
        ]
        dense = [ca.densify(e.known(x)) for x in outputs]  # control laws of other motors act
        m._derived[key] = ca.Function("inverse", [*e.symbols.values(), a], dense)
    return m._derived[key]


def _norm(x: ca.SX) -> ca.SX:
    return ca.sqrt(ca.sumsqr(ca.densify(x)))


def _recursive(e: Equations, needed: Sequence[Vector6], a: ca.SX) -> ca.SX:
    """``N_d' N_l' w``: what the bodies need, carried through the joints of the tree, and the rotors'."""
    complement = NaturalComplement(e.limbs)
    through = complement.joint_wrenches([ca.vertcat(ca.densify(f.ang), ca.densify(f.lin)) for f in needed])
    out = [ca.densify(p.T @ w) for p, w in zip(complement.p, through, strict=True)]
    n = e.topology.nv
    rotors, bias = with_rotors(e.measures, ca.SX(n, n), ca.SX.zeros(n, 1))
    return ca.vertcat(ca.SX(0, 1), *out) + ca.densify(rotors @ a) + bias


def by_projection(x: Terms, weights: np.ndarray, wanted: np.ndarray) -> Balance:
    """``(B N)' u = N' r``; where there are several u, the one with the least ``sum w_i (u_i - wanted_i)^2``."""
    N, freedoms = motions(x)
    # in units that compare: velocities by the mechanism's size
    J = x.B @ N
    g = np.einsum("nvf,nv->nf", N, x.r)
    n, count = len(J), len(x.actuators)
    if not freedoms:
        empty = np.zeros((n, count, count)) + np.eye(count)
        return Balance(np.broadcast_to(wanted, (n, count)).copy(), np.zeros_like(x.r), empty, np.ones(n), 0)
    scale = x.effort_size / np.sqrt(weights)
    scaled = np.swapaxes(J, 1, 2) * scale  # (n, freedoms, actuators)
    left = g - np.einsum("naf,na->nf", J, np.broadcast_to(wanted, (n, count)))
    U, s, Vt = np.linalg.svd(scaled, full_matrices=True)
    least = min(freedoms, count)
    biggest = s[:, :1] if least else np.ones((n, 1))
    keep = s > SINGULAR * np.maximum(biggest, 1e-300)
    inverse = np.where(keep, 1 / np.where(keep, s, 1.0), 0.0)
    along = np.einsum("nfk,nf->nk", U[:, :, :least], left)
    u = wanted + scale * np.einsum("nka,nk->na", Vt[:, :least], inverse * along)
    missing = left - np.einsum("nfk,nk->nf", U[:, :, :least], np.where(keep, along, 0.0))
    # N is orthonormal in scaled velocities, so the force along it is N missing
    unbalanced = np.einsum("nvf,nf->nv", N / x.velocity_size[:, None] ** 2, missing)
    internal = scale[:, None] * np.swapaxes(Vt[:, least:], 1, 2)
    plain = np.linalg.svd(np.swapaxes(J, 1, 2) * x.effort_size / drawn_length(x.equations, x.p), compute_uv=False)
    conditioning = plain[:, -1] if count >= freedoms else np.zeros(n)
    return Balance(u, unbalanced, internal, np.minimum(conditioning, 1.0), freedoms)


def motions(x: Terms) -> tuple[np.ndarray, int]:
    """A basis (n, nv, freedoms) of what the loops allow at each sample, orthonormal in velocities over their sizes."""
    size = x.velocity_size
    n, nv = len(x.A), len(size)
    if not x.A.shape[1] or not nv:
        return np.broadcast_to(np.diag(size), (n, nv, nv)), nv
    A = x.A * size
    length = np.linalg.norm(A, axis=2, keepdims=True)
    A = A / np.maximum(length, 1e-9 * length.max(initial=1e-300))
    _, s, Vt = np.linalg.svd(A)
    rank = int((s > least_rank(x.equations) * s[:, :1]).sum(axis=1).max())
    return size[:, None] * np.swapaxes(Vt[:, rank:], 1, 2), nv - rank


def by_spring_elimination(x: Terms) -> tuple[np.ndarray, np.ndarray]:
    """Efforts, and the forces of the springs at all closure rows that are not drives (Wang et al., (20))."""
    n, count = len(x.r), len(x.actuators)
    u, f = np.zeros((n, count)), np.zeros((n, x.A.shape[1]))
    size = x.velocity_size
    least = least_rank(x.equations)
    for k in range(n):
        B, A, r = x.B[k] * size, x.A[k] * size, x.r[k] * size
        Z = _null(B, SINGULAR)
        if A.size:
            f[k] = np.linalg.lstsq(Z.T @ A.T, -(Z.T @ r), rcond=least)[0]
        u[k] = np.linalg.lstsq(B.T, r + A.T @ f[k], rcond=SINGULAR)[0]
    return u, f


def by_natural_complement(x: Terms) -> np.ndarray:
    """Efforts from the recursion and the complement in actuated rates."""
    rows = loops(x.equations, x.start)
    picked = [rows.index(row) for row in independent_rows(x.equations, x.start).kept if row in rows]
    K = np.concatenate([x.A[:, picked], x.B], axis=1)
    if K.shape[1] != K.shape[2]:
        raise ModelError(
            f"the complement in actuated rates needs {K.shape[2] - len(picked)} actuators for as many freedoms, "
            f"not {len(x.actuators)}: use method='projection'"
        )
    both = np.linalg.solve(np.swapaxes(K, 1, 2), x.r_recursive[:, :, None])[:, :, 0]
    return both[:, len(picked) :]


def _null(B: np.ndarray, least: float) -> np.ndarray:
    if not B.size:
        return np.eye(B.shape[1])
    _, s, Vt = np.linalg.svd(B)
    return Vt[int((s > least * s.max(initial=1e-300)).sum()) :].T


def _sizes(e: Equations, p: np.ndarray, units: Sequence[str]) -> np.ndarray:
    return np.where(np.array(units, dtype=object) == "m/s", drawn_length(e, p), 1.0).astype(float)
