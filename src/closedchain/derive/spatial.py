"""Spatial algebra on traced scalars: six-vectors as pairs (angular, linear), rigid-body inertias, transforms.

After R. Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 2. Every result is sparsified, so that structural
zeros propagate and a planar mechanism pays for planar arithmetic.

The theory is in ``docs/theory/compiled.md``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca

from closedchain.model.bodies.rotation import snap


def tidy(a: ca.SX) -> ca.SX:
    """Drop zeros; mend constants that rounding left next to 0 or +-1."""
    a = ca.sparsify(ca.SX(a))
    if a.is_constant():
        return ca.SX(ca.sparsify(ca.DM(snap(ca.DM(a).full()))))
    return a


def skew(a: ca.SX) -> ca.SX:
    """The matrix of the cross product: ``skew(a) b = a x b``."""
    return ca.sparsify(ca.skew(ca.densify(a)))


def cross(a: ca.SX, b: ca.SX) -> ca.SX:
    """``a x b``, column by column if b has several."""
    return ca.sparsify(skew(a) @ b)


def dot(a: ca.SX, b: ca.SX) -> ca.SX:
    """Scalar product."""
    return ca.densify(a.T @ b)


def zero(columns: int = 1) -> ca.SX:
    """A structural zero of three rows."""
    return ca.SX(3, columns)


@dataclass(frozen=True, eq=False, slots=True)
class Vector6:
    """A twist, spatial acceleration or wrench, or several side by side: angular and linear part.

    That of a flexible link has a third part: the rates or accelerations of its shape, or the forces on them.
    """

    ang: ca.SX
    lin: ca.SX
    shape: ca.SX | None = None

    def __iter__(self) -> Iterator[ca.SX]:
        """Its parts: two, or three with a shape."""
        yield self.ang
        yield self.lin
        if self.shape is not None:
            yield self.shape

    def __add__(self, other: Vector6) -> Vector6:
        shape = self.shape if other.shape is None else other.shape
        if self.shape is not None and other.shape is not None:
            shape = ca.sparsify(self.shape + other.shape)
        return Vector6(ca.sparsify(self.ang + other.ang), ca.sparsify(self.lin + other.lin), shape)

    def __neg__(self) -> Vector6:
        return self.map(operator.neg)

    def map(self, change: Callable[[ca.SX], ca.SX]) -> Vector6:
        """The same change of every part."""
        return Vector6(*map(change, self))

    def times(self, x: ca.SX) -> Vector6:
        """The combination of the columns with the coefficients x."""
        return self.map(lambda part: ca.sparsify(part @ x))

    def dot(self, other: Vector6) -> ca.SX:
        """Power of each column of the other along each column of this: ``self' other``."""
        out = ca.SX(self.ang.T @ other.ang + self.lin.T @ other.lin)
        if self.shape is not None and other.shape is not None:
            out += self.shape.T @ other.shape
        return ca.sparsify(out)

    def stacked(self) -> ca.SX:
        """All parts below each other."""
        return ca.sparsify(ca.SX(ca.vertcat(*self)))

    @classmethod
    def split(cls, x: ca.SX) -> Vector6:
        """The inverse of `stacked`."""
        return cls(x[:3, :], x[3:6, :], x[6:, :] if x.shape[0] > 6 else None)

    def turned(self, R: ca.SX) -> Vector6:
        """In other axes; the part of the shape has none."""
        return Vector6(ca.sparsify(R @ self.ang), ca.sparsify(R @ self.lin), self.shape)

    @property
    def rigid(self) -> Vector6:
        """Without the part of the shape."""
        return Vector6(self.ang, self.lin)


NULL = Vector6(zero(), zero())


class Transform(NamedTuple):
    """Pose of a frame C in a frame P: rotation ``R_PC`` and position ``r_PC`` (in P)."""

    R: ca.SX
    r: ca.SX

    def __matmul__(self, other: Transform) -> Transform:
        return Transform(tidy(self.R @ other.R), tidy(self.r + self.R @ other.r))

    def inverse(self) -> Transform:
        """Pose of P in C."""
        return Transform(self.R.T, tidy(-(self.R.T @ self.r)))

    def motion_into(self, x: Vector6) -> Vector6:
        """A twist or acceleration given in P, about P's origin, as seen in C about C's origin."""
        return Vector6(ca.sparsify(self.R.T @ x.ang), ca.sparsify(self.R.T @ (x.lin - cross(self.r, x.ang))))

    def motion_out(self, x: Vector6) -> Vector6:
        """The inverse of `motion_into`."""
        ang = ca.sparsify(self.R @ x.ang)
        return Vector6(ang, ca.sparsify(self.R @ x.lin + cross(self.r, ang)))

    def force_out(self, f: Vector6) -> Vector6:
        """A wrench given in C, about C's origin, as felt in P about P's origin."""
        lin = ca.sparsify(self.R @ f.lin)
        return Vector6(ca.sparsify(self.R @ f.ang + cross(self.r, lin)), lin)

    def point(self, x: ca.SX) -> ca.SX:
        """A point given in C, in the coordinates of P."""
        return tidy(self.r + self.R @ x)


IDENTITY = Transform(ca.SX.eye(3), zero())


def cross_motion(a: Vector6, b: Vector6) -> Vector6:
    """``a x b`` for twists (Featherstone's crm)."""
    return Vector6(cross(a.ang, b.ang), ca.sparsify(cross(a.ang, b.lin) + cross(a.lin, b.ang)))


def cross_force(a: Vector6, f: Vector6) -> Vector6:
    """``a x* f`` for a twist and a wrench (crf)."""
    return Vector6(ca.sparsify(cross(a.ang, f.ang) + cross(a.lin, f.lin)), cross(a.ang, f.lin))


class Shaping(NamedTuple):
    """What a shape adds to an inertia: momentum of each of its rates (columns), and their own inertia ``G``."""

    momentum: Vector6
    G: ca.SX

    def __add__(self, other: Shaping) -> Shaping:  # type: ignore[override]
        return Shaping(self.momentum + other.momentum, ca.sparsify(self.G + other.G))


class Inertia(NamedTuple):
    """Rigid-body inertia about the origin of its frame: mass, first moment ``mc = m c``, and matrix ``I``.

    That of a flexible link depends on its shape, and couples the shape's rates with the twist.
    """

    m: ca.SX
    mc: ca.SX
    I: ca.SX
    shaping: Shaping | None = None

    def __add__(self, other: Inertia) -> Inertia:  # type: ignore[override]
        return Inertia(
            ca.sparsify(self.m + other.m),
            ca.sparsify(self.mc + other.mc),
            ca.sparsify(self.I + other.I),
            both(self.shaping, other.shaping),
        )

    def times(self, x: Vector6) -> Vector6:
        """Momentum of a twist, or force of an acceleration; several columns at once."""
        rigid = Vector6(
            ca.sparsify(self.I @ x.ang + cross(self.mc, x.lin)),
            ca.sparsify(self.m * x.lin - cross(self.mc, x.ang)),
        )
        return rigid if self.shaping is None else with_shape(rigid, self.shaping, x)

    def seen_from(self, X: Transform) -> Inertia:
        """The same body about the origin of P, in the axes of P."""
        mc = ca.sparsify(X.R @ self.mc)
        moved = ca.sparsify(mc + self.m * X.r)
        turned = symmetric(X.R @ self.I @ X.R.T)
        shift = ca.sparsify(skew(X.r) @ skew(mc) + skew(moved) @ skew(X.r))
        shaping = self.shaping
        if shaping is not None:
            shaping = Shaping(X.force_out(shaping.momentum), shaping.G)
        return Inertia(self.m, moved, symmetric(turned - shift), shaping)


def both(a: Shaping | None, b: Shaping | None) -> Shaping | None:
    """The sum of two shapings of the same shape, of which either may be missing."""
    if a is None or b is None:
        return a if b is None else b
    return a + b


def with_shape(rigid: Vector6, shaping: Shaping, x: Vector6) -> Vector6:
    """The momentum of a twist x, of which ``rigid`` comes from its rigid part, with all that the shape adds."""
    own = shaping.momentum.dot(x.rigid)
    if x.shape is None:
        return Vector6(rigid.ang, rigid.lin, own)
    moved = shaping.momentum.times(x.shape)
    return rigid + Vector6(moved.ang, moved.lin, ca.sparsify(own + shaping.G @ x.shape))


def symmetric(a: ca.SX) -> ca.SX:
    """Use the lower triangle for both: the upper one is never computed."""
    return ca.sparsify(ca.tril2symm(ca.tril(ca.densify(a))))
