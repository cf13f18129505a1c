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

All three start from the same A and B. The first two share r, which comes from M and h; the third has its own. Whatever
the road, what remains of ``r - B' u`` must be closing forces; what is not is told, and belongs to a motion that is not
the actuators' to choose.

The theory is in ``docs/theory/inverse_dynamics.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from closedchain.derive.denoc import NaturalComplement
from closedchain.derive.equations import Equations, Freedom
from closedchain.derive.rnea import body_forces, rnea
from closedchain.derive.rotors import with_rotors
from closedchain.derive.spatial import Vector6
from closedchain.errors import ModelError
from closedchain.lock import once
from closedchain.model.derived import cached_by
from closedchain.native.at_samples import at_samples
from closedchain.pose.closing import active_rows
from closedchain.pose.rank import ALIKE, UNDETERMINED, cut_off, null_space, relative_tolerance, significant
from closedchain.pose.redundancy import generic_rank, independent_rows
from closedchain.pose.size import drawn_length, row_sizes, velocity_sizes
from closedchain.pose.state import State, parameter_vector
from closedchain.progress import visibly

UNBALANCED = 1e-8  # of the forces of a motion: what no actuator gives, and is not rounding


@dataclass(frozen=True, eq=False)
class Terms:
    """What inverse dynamics needs at samples of a motion; the leading axis is time.

    Attributes
    ----------
    r, r_recursive
        ``M a + h - tau`` without the actuators, from M and h, and from the recursion of Newton and Euler.
    A, B
        Closure rows that hold (``rows`` are their numbers), and the rows of the actuated joint velocities. The row of
        a drive holds unless its coordinate is actuated.
    force_size
        (n) how large a moment the forces on bodies and joints can have, N m, for judging what rounding is.
    freedoms
        Of the mechanism at poses around the first one: drives that are no actuators take some away.
    idle
        Freedoms that no actuator needs to hold: of what spins about itself.
    """

    equations: Equations
    actuators: tuple[Freedom, ...]
    rows: tuple[int, ...]
    start: State
    r: np.ndarray
    r_recursive: np.ndarray
    A: np.ndarray
    B: np.ndarray
    force_size: np.ndarray
    length: float
    freedoms: int
    idle: int = 0

    @once
    def velocity_size(self) -> np.ndarray:
        """By which velocities compare."""
        return velocity_sizes(self.equations, self.length)

    @once
    def effort_size(self) -> np.ndarray:
        """Of each actuator: the length of the drawing for a torque, one for a force."""
        units = [self.equations.topology.unit(*freedom) for freedom in self.actuators]
        return np.array([1.0 if u == "m/s" else self.length for u in units])

    @once
    def motions(self) -> np.ndarray:
        """A basis (n, nv, freedoms) of what the closures allow, orthonormal in velocities over their sizes."""
        size = self.velocity_size
        n, nv = len(self.B), len(size)
        if self.freedoms == nv:
            return np.broadcast_to(np.diag(size), (n, nv, nv))
        Vt = np.linalg.svd(self._scaled)[2]
        return size[:, None] * np.swapaxes(Vt[:, nv - self.freedoms :], 1, 2)

    @once
    def regular(self) -> np.ndarray:
        """(n) whether the closures have the rank at a sample that they have around it."""
        wanted = len(self.velocity_size) - self.freedoms
        if not wanted:
            return np.ones(len(self.B), bool)
        s = np.linalg.svd(self._scaled, compute_uv=False)
        return s[:, wanted - 1] > UNDETERMINED * s[:, 0]

    def only(self, samples: np.ndarray) -> Terms:
        """Some of the samples."""
        if np.array_equal(samples, np.arange(len(self.r))):
            return self
        arrays = ("r", "r_recursive", "A", "B", "force_size")
        return replace(self, **{name: getattr(self, name)[samples] for name in arrays})

    @once
    def tolerance(self) -> float:
        """Of the drawing, without units."""
        return relative_tolerance(self.equations, parameter_vector(self.start.mechanism, self.start.parameters))

    @once
    def _scaled(self) -> np.ndarray:
        """A with angles and lengths compared by the size of the drawing."""
        return self.A * self.velocity_size / row_sizes(self.equations, self.rows, self.length)[:, None]

    @once
    def felt(self) -> np.ndarray:
        """``(B N)'``: what efforts do along the motions, (n, freedoms, actuators), both over their sizes."""
        return np.swapaxes(self.B @ self.motions, 1, 2) * self.effort_size / max(self.length, 1e-300)

    @once
    def conditioning(self) -> np.ndarray:
        """(n) how well the actuators hold the mechanism, 0 where something moves although all of them are locked."""
        n, freedoms, count = self.felt.shape
        if not freedoms:
            return np.ones(n)
        if count < freedoms - self.idle:
            return np.zeros(n)
        return np.minimum(np.linalg.svd(self.felt, compute_uv=False)[:, freedoms - self.idle - 1], 1.0)

    @property
    def redundancy(self) -> int:
        """How many actuators there are beyond the freedoms."""
        return max(0, len(self.actuators) - self.freedoms + self.idle)

    @property
    def internal(self) -> np.ndarray:
        """(n, actuators, redundancy) efforts that balance each other: any multiple of them may be added."""
        n, freedoms, count = self.felt.shape
        if not freedoms:
            return np.broadcast_to(np.diag(self.effort_size), (n, count, count))
        Vt = np.linalg.svd(self.felt)[2]
        return self.effort_size[:, None] * np.swapaxes(Vt[:, count - self.redundancy :], 1, 2)


def terms(
    e: Equations,
    actuators: Sequence[Freedom],
    t: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    a: np.ndarray,
    p: np.ndarray,
    start: State,
    idle: int = 0,
) -> Terms:
    """Evaluate the equations along a motion."""
    rows = closed_rows(e, start, actuators)
    f = _function(e, tuple(actuators), rows)
    n, nv = len(t), e.topology.nv
    r, r_rec, A, B, size = at_samples(f, n, [t[:, None], q, v, p, a])
    length, freedoms = drawn_length(e, p), nv - generic_rank(e, start, rows)
    force_size = size[:, 0, 0] + size[:, 1, 0] * length
    return Terms(
        e,
        tuple(actuators),
        rows,
        start,
        r[:, :, 0],
        r_rec[:, :, 0],
        A,
        B,
        force_size,
        length,
        freedoms,
        idle,
    )


def closed_rows(e: Equations, state: State, actuators: Sequence[Freedom]) -> tuple[int, ...]:
    """Closure rows that hold, without those of drives that are actuators here."""
    drives = e.topology.mechanism.drives
    asked = {name for name, drive in drives.items() if (drive.joint, drive.index) in set(actuators)}
    return tuple(row for row in active_rows(e, state.open_joints) if e.closure.joints[row] not in asked)


@cached_by(lambda e, actuators, rows: (e.topology.mechanism, e, actuators, rows))
def _function(e: Equations, actuators: tuple[Freedom, ...], rows: tuple[int, ...]) -> ca.Function:
    m = e.topology.mechanism
    applied = e.acting(actuators)
    a = ca.SX.sym("a", e.topology.nv)
    h = with_rotors(e.measures, ca.SX(e.topology.nv, e.topology.nv), rnea(e.limbs, e.motion, applied.wrenches))[1]
    tau = ca.densify(applied.tau)
    needed = body_forces(e.limbs, e.motion, applied.wrenches, a)
    sizes = {"rad/s": [_norm(f.ang) for f in needed], "m/s": [_norm(f.lin) for f in needed]}
    for name, efforts in applied.on_joints.items():
        for unit, effort in zip(m.joints[name].type.velocity_units, ca.vertsplit(efforts), strict=True):
            sizes[unit].append(ca.fabs(effort))
    outputs = [
        ca.densify(e.M @ a) + h - tau,
        _recursive(e, needed, a) - tau,
        e.closure.A[list(rows), :],
        ca.vertcat(ca.SX(0, e.topology.nv), *(e.measures.velocity_row(*x)[0] for x in actuators)),
        ca.vertcat(*(sum(x, ca.SX(0)) for x in sizes.values())),
    ]
    return ca.Function("inverse", [*e.symbols.values(), a], [ca.densify(x) for x in outputs])


def _norm(x: ca.SX) -> ca.SX:
    return ca.sqrt(ca.sumsqr(ca.densify(x)))


def _recursive(e: Equations, needed: Sequence[Vector6], a: ca.SX) -> ca.SX:
    """``N_d' N_l' w``: what the bodies need, carried through the joints of the tree, and the rotors'."""
    complement = NaturalComplement(e.limbs)
    through = complement.joint_wrenches([ca.densify(f.stacked()) for f in needed])
    out = [ca.densify(p.T @ w) for p, w in zip(complement.p, through, strict=True)]
    n = e.topology.nv
    rotors, bias = with_rotors(e.measures, ca.SX(n, n), ca.SX.zeros(n, 1))
    return ca.vertcat(ca.SX(0, 1), *out) + ca.densify(rotors @ a) + bias


def by_projection(x: Terms, weights: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """``(B N)' u = N' r``; where there are several u, the one with the least ``sum w_i (u_i - wanted_i)^2``.

    Sums are over efforts divided by their sizes. The rank is that of the actuators, whatever the weights.
    """
    n, freedoms, count = x.felt.shape
    if not freedoms:
        return np.broadcast_to(wanted, (n, count)).copy()
    g = np.einsum("nvf,nv->nf", x.motions, x.r) / x.length
    left = g - np.einsum("nfa,na->nf", x.felt, np.broadcast_to(wanted, (n, count)) / x.effort_size)
    U, s, Vt = np.linalg.svd(x.felt, full_matrices=False)
    keep = np.arange(s.shape[1]) < significant(s, least=ALIKE)[:, None]
    along = np.where(keep, np.einsum("nfk,nf->nk", U, left) / np.where(keep, s, 1.0), 0.0)
    u = np.einsum("nka,nk->na", Vt, along)  # the least one with equal weights
    if x.redundancy and np.ptp(weights):
        # move along internal forces to where the weighted sum is least: w^1/2 (u + Z z), by least squares
        root = np.sqrt(weights)
        Z = x.internal / x.effort_size[:, None]
        for k in range(n):
            u[k] += Z[k] @ np.linalg.lstsq(root[:, None] * Z[k], -root * u[k], rcond=None)[0]
    return wanted + u * x.effort_size


def by_spring_elimination(x: Terms) -> np.ndarray:
    """Efforts, after the forces of the springs in the closure rows (Wang et al., (20))."""
    _check_exact(x)
    u, size = np.zeros((len(x.r), len(x.actuators))), x.velocity_size
    for k in visibly(range(len(u)), "finding efforts"):
        B, A, r = x.B[k] * size, x.A[k] * size, x.r[k] * size
        # motions that move no actuator
        Z = null_space(B, least=ALIKE)
        if A.size:
            cut = cut_off(A @ Z, x._scaled[k] @ Z, x.tolerance, ALIKE)
            r = r + A.T @ np.linalg.lstsq(Z.T @ A.T, -(Z.T @ r), rcond=cut)[0]
        u[k] = np.linalg.lstsq(B.T, r, rcond=ALIKE)[0]
    return u


def by_natural_complement(x: Terms) -> np.ndarray:
    """Efforts from the recursion and the complement in actuated rates."""
    _check_exact(x)
    kept = set(independent_rows(x.equations, x.start).kept)
    picked = [k for k, row in enumerate(x.rows) if row in kept]
    K = np.concatenate([x.A[:, picked], x.B], axis=1)
    try:
        both = np.linalg.solve(np.swapaxes(K, 1, 2), x.r_recursive[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        raise ModelError(
            "the actuated velocities do not determine the others at one of the samples (a singular pose, conditioning "
            f"{x.conditioning.min():.1e}): use method='projection'"
        ) from None
    return both[:, len(picked) :]


def _check_exact(x: Terms) -> None:
    if len(x.actuators) != x.freedoms:
        raise ModelError(
            f"this method has no choice among efforts: it needs as many actuators as freedoms, but "
            f"{len(x.actuators)} actuators move {x.freedoms} freedoms here; use method='projection'"
        )


def closing_forces(x: Terms, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Forces ``lam`` in the closure rows under efforts u, and what of ``r - B' u + A' lam`` they leave, (n, nv)."""
    size = x.velocity_size
    lam, left = np.zeros((len(x.r), x.A.shape[1])), x.r - np.einsum("nav,na->nv", x.B, u)
    if lam.shape[1]:
        for k in visibly(range(len(left)), "finding closing forces"):
            A = x.A[k] * size
            cut = cut_off(A, x._scaled[k], x.tolerance, ALIKE)
            lam[k] = np.linalg.lstsq(A.T, -left[k] * size, rcond=cut)[0]
            left[k] += x.A[k].T @ lam[k]
    return lam, left
