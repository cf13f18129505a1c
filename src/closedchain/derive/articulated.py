"""Articulated bodies: forward dynamics of open limbs, and the force propagation behind ``Lambda_inv`` and ``Omega``.

R. Featherstone, International Journal of Robotics Research 2(1) (1983) 13-30; K. W. Lilly and D. E. Orin, "O(N)
recursive algorithm for the operational space inertia matrix of a robot manipulator", 11th IFAC World Congress (1990).
The work grows with the number of links; no inertia matrix of joints is formed.

Link i with all that hangs on it, the joints beyond free to move, resists with the articulated inertia ``I_A``. Its own
joint takes a part of that away, and what is left is felt by the link it hangs on:

    U = I_A Phi,   D = Phi' U = L diag(d) L',   V = U L'^-1,   W = V diag(d)^-1
    I_A(parent) += X' (I_A - W V') X

A wrench F on the link and efforts e in its joint move the joint by z, and are felt by the parent as what is left:

    z = L^-1 (e + Phi' F),                 F(parent) += X' (F - W z)          towards the ground, `inward`
    a = L'^-1 (diag(d)^-1 z - W' X delta(parent)),   delta = X delta(parent) + Phi a     away from it, `outward`

Two sets of forces with the columns z and y give ``sum z' diag(d)^-1 y`` over all joints (`product`), which is how one
set accelerates along the other: with unit forces at a tip, ``Lambda_inv = J M^-1 J'``. ``Omega f = M^-1 J' f`` is one
pass outward of ``z f``; the N x 6 matrix itself is not needed.

``delta`` is the acceleration of a link less the one it would have with all joint accelerations zero: velocities and
gravity are in the wrenches of `rnea.body_forces`, and no bias is left in these recursions.

The theory is in ``docs/theory/operational_space.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import NamedTuple

import casadi as ca

from closedchain.derive.ldl import LDL
from closedchain.derive.limbs import Limbs, TracedLink
from closedchain.derive.spatial import (
    NULL,
    Inertia,
    Shaping,
    Transform,
    Vector6,
    both,
    skew,
    symmetric,
    with_shape,
)

Columns = dict[int, ca.SX]
"""By number of the link: what the joint it hangs on gets, a row for each freedom, a column for each set of forces."""


class ArticulatedInertia(NamedTuple):
    """A symmetric 6 x 6 matrix from accelerations to wrenches: ``[A B; B' C]``; a flexible link has more."""

    A: ca.SX
    B: ca.SX
    C: ca.SX
    shaping: Shaping | None = None

    @classmethod
    def of(cls, body: Inertia) -> ArticulatedInertia:
        """Of a single body."""
        return cls(body.I, skew(body.mc), ca.sparsify(body.m * ca.SX.eye(3)), body.shaping)

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:  # type: ignore[override]
        A, B, C = (ca.sparsify(x + y) for x, y in zip(self[:3], other[:3], strict=True))
        return ArticulatedInertia(A, B, C, both(self.shaping, other.shaping))

    def times(self, x: Vector6) -> Vector6:
        """Wrenches of accelerations."""
        rigid = Vector6(ca.sparsify(self.A @ x.ang + self.B @ x.lin), ca.sparsify(self.B.T @ x.ang + self.C @ x.lin))
        return rigid if self.shaping is None else with_shape(rigid, self.shaping, x)

    def less(self, W: Vector6, V: Vector6, Phi: Vector6) -> ArticulatedInertia:
        """``I - W V'``: nothing is left along the freedoms Phi, and where these are axes the zeros become structure.

        The shape is among the freedoms, so that nothing is left of it.
        """
        A, B, C = symmetric(self.A - W.ang @ V.ang.T), self.B - W.ang @ V.lin.T, symmetric(self.C - W.lin @ V.lin.T)
        ang, lin = ([k for k in range(3) if k not in _axes_of(Phi, part)] for part in (0, 1))
        return ArticulatedInertia(_only(A, ang, ang), _only(B, ang, lin), _only(C, lin, lin))

    def turned(self, R: ca.SX) -> ArticulatedInertia:
        """The same in other axes: ``R A R'`` and so on."""
        axis = _axis(R)
        if axis is None:
            return ArticulatedInertia(
                symmetric(R @ self.A @ R.T), ca.sparsify(R @ self.B @ R.T), symmetric(R @ self.C @ R.T)
            )
        A, B, C = (_turned_about(axis, R, x) for x in self[:3])
        return ArticulatedInertia(symmetric(A), B, symmetric(C))

    def shifted(self, r: ca.SX) -> ArticulatedInertia:
        """The same about another origin, from which the old one is seen at r."""
        if r.nnz() == 0:
            return self
        B = ca.sparsify(self.B + skew(r) @ self.C)
        return ArticulatedInertia(symmetric(self.A - self.B @ skew(r) + skew(r) @ B.T), B, self.C)

    def seen_from_parent(self, traced: TracedLink) -> ArticulatedInertia:
        """The same about the origin of the link that this one hangs on, in its axes."""
        steps: tuple[Transform, ...] = (traced.motion.X, traced.X_PJ)
        if any(X.R.nnz() > 5 for X in steps):  # two turns about axes are cheaper than one about any line, no others
            steps = (traced.X,)
        out = self
        for X in steps:
            out = out.turned(X.R).shifted(X.r)
        if traced.carried is None:
            return out
        push = self.times(traced.carried)
        shaping = Shaping(traced.X.force_out(push), symmetric(traced.carried.dot(push)))
        return ArticulatedInertia(*out[:3], shaping)


class ArticulatedBodies:
    """The factors of all limbs at once; see the module's docstring for the letters.

    Parameters
    ----------
    limbs
        The traced links.
    rotors
        Inertia of rotors on a joint, one for each freedom, by number of the link.
    """

    def __init__(self, limbs: Limbs, rotors: Mapping[int, ca.SX]) -> None:
        self.limbs = limbs
        felt = [ArticulatedInertia.of(traced.inertia) for traced in limbs.links]
        self.D: dict[int, LDL] = {}
        self.W: dict[int, Vector6] = {}
        for i in reversed(range(len(limbs.links))):
            traced, Phi, left = limbs.links[i], limbs.links[i].motion.Phi, felt[i]
            U = felt[i].times(Phi)
            D = Phi.dot(U)
            if i in rotors:
                D = ca.sparsify(D + ca.diag(rotors[i]))
            self.D[i] = factor = LDL(D)
            V = Vector6(factor.forward(U.ang.T).T, factor.forward(U.lin.T).T)
            self.W[i] = V.times(ca.diag(factor.d_inv))
            if traced.link.parent >= 0:
                if Phi.ang.shape[1]:
                    left = felt[i].less(self.W[i], V, Phi if i not in rotors else NULL)
                felt[traced.link.parent] = felt[traced.link.parent] + left.seen_from_parent(traced)

    def inward(
        self, wrenches: Mapping[int, Vector6], efforts: Mapping[int, ca.SX], stop: int | None = None
    ) -> tuple[Columns, Vector6 | None]:
        """Carry wrenches on links and efforts on joints towards the ground.

        Parameters
        ----------
        wrenches
            By link, in its frame, with a column for each set of forces.
        efforts
            By the link whose joint they act in, freedoms x columns.
        stop
            A link to end at: its own joint is not entered.

        Returns
        -------
        The columns z, and the wrench that arrives at ``stop``.
        """
        felt, z = dict(wrenches), Columns()
        arrived = None
        for i in reversed(range(len(self.limbs.links))):
            F, e = felt.get(i), efforts.get(i)
            if i == stop:
                arrived = F
                continue
            traced = self.limbs.links[i]
            Phi, parent = traced.motion.Phi, traced.link.parent
            y = e
            if F is not None:
                push = Phi.dot(F)
                y = push if e is None else ca.sparsify(e + push)
            if y is None:
                continue
            if y.nnz():
                z[i] = self.D[i].forward(y)
                back = -self.W[i].times(z[i])
                F = back if F is None else F + back
            if F is not None and parent >= 0:
                F = traced.force_out(F)
                felt[parent] = felt[parent] + F if parent in felt else F
        return z, arrived

    def product(self, z: Columns, y: Columns) -> ca.SX | None:
        """``z' diag(d)^-1 y`` over all joints that both move; None where there is none."""
        terms = [z[i].T @ (ca.diag(self.D[i].d_inv) @ y[i]) for i in z if i in y]
        if not terms:
            return None
        total = reduce(lambda a, b: a + b, terms)
        return symmetric(total) if z is y else ca.sparsify(total)

    def outward(self, z: Columns) -> ca.SX:
        """Joint accelerations under the forces z, from the ground outwards."""
        a: list[ca.SX] = []
        delta: dict[int, Vector6] = {-1: NULL}
        for i, traced in enumerate(self.limbs.links):
            carried = traced.motion_into(delta[traced.link.parent])
            W, factor = self.W[i], self.D[i]
            own = -W.dot(carried)
            if i in z:
                own = own + factor.d_inv * z[i]
            a.append(factor.backward(ca.sparsify(own)))
            delta[i] = carried + traced.motion.Phi.times(a[i])
        return ca.densify(ca.vertcat(ca.SX(0, 1), *a))


def _axis(R: ca.SX) -> int | None:
    """The coordinate axis that a rotation is about, if that is plain to see."""
    if R.nnz() > 5:
        return None
    fixed = [k for k in range(3) if R[k, k].nnz() and R[k, k].is_one() and R[k, :].nnz() == R[:, k].nnz() == 1]
    return fixed[0] if fixed else None


def _turned_about(axis: int, R: ca.SX, M: ca.SX) -> ca.SX:
    """``R M R'`` for a turn about an axis, 12 multiplications instead of 54: the trace of the turned block stays."""
    i, j, k = (axis + 1) % 3, (axis + 2) % 3, axis
    R, M = ca.densify(R), ca.densify(M)
    c, s = R[i, i], R[j, i]
    ss, cs = s * s, c * s
    D, O = M[i, i] - M[j, j], M[i, j] + M[j, i]
    along, across = ss * D + cs * O, cs * D - ss * O
    out = ca.SX.zeros(3, 3)
    out[k, k] = M[k, k]
    out[i, i], out[j, j] = M[i, i] - along, M[j, j] + along
    out[i, j], out[j, i] = M[i, j] + across, M[j, i] + across
    out[i, k], out[j, k] = c * M[i, k] - s * M[j, k], s * M[i, k] + c * M[j, k]
    out[k, i], out[k, j] = c * M[k, i] - s * M[k, j], s * M[k, i] + c * M[k, j]
    return ca.sparsify(out)


def _axes_of(Phi: Vector6, part: int) -> set[int]:
    """Coordinate axes (of the angular part, or of the linear one) that are freedoms by themselves."""
    out = set()
    for k in range(Phi.ang.shape[1]):
        if Phi.shape is not None and Phi.shape[:, k].nnz():  # what moves with a shape is none by itself
            continue
        mine, other = (ca.sparsify(x[:, k]) for x in ((Phi.ang, Phi.lin) if part == 0 else (Phi.lin, Phi.ang)))
        if mine.nnz() == 1 and other.nnz() == 0 and mine.is_constant():
            out.add(mine.sparsity().get_triplet()[0][0])
    return out


def _only(M: ca.SX, rows: list[int], columns: list[int]) -> ca.SX:
    out = ca.SX(3, 3)
    for i in rows:
        for j in columns:
            out[i, j] = M[i, j]
    return ca.sparsify(out)
