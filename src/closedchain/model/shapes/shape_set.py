"""`ShapeSet`: the shapes in which a beam may deform, as data. Shapes are pure numbers on ``xi = x / length``."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from closedchain.errors import ModelError
from closedchain.lock import once
from closedchain.model.shapes.curves import Curve, traced
from closedchain.model.shapes.integrals import Integrals, integrate

FIELDS = ("u", "v", "w", "t")  # displacements along x, y, z, and the angle about x
NUMBERED = re.compile(r"(y|z|axial|torsion)\d+")
NAME = re.compile(r"\w([\w -]*\w)?")
ROUNDING = 1e-13  # of the largest value of a shape: smaller values are zeros


@dataclass(frozen=True)
class Shape:
    """One shape: which curve each displacement follows. None: it does not take part.

    Attributes
    ----------
    name
        As in ``"y1"``; results have the coordinate as ``"coupler.y1"``.
    u, v, w
        Displacements along x, y and z for a coordinate of 1 m.
    t
        Angle of torsion about x for a coordinate of 1 rad.
    """

    name: str
    u: Curve | None = None
    v: Curve | None = None
    w: Curve | None = None
    t: Curve | None = None

    @property
    def curves(self) -> dict[str, Curve]:
        """The curves that there are, by field."""
        return {field: curve for field in FIELDS if (curve := getattr(self, field)) is not None}


@dataclass(frozen=True)
class ShapeSet:
    """Shapes of a beam. Made by the functions of `closedchain.model.shapes`; sets are joined with ``+``.

    A beam with coordinates eta has, at ``xi = x / length``, the displacement ``U(xi) eta`` (m) and the rotation
    ``diag(1, 1/length, 1/length) T(xi) eta`` (rad): coordinates of bending and axial shapes are in m, those of torsion
    in rad. The set knows no length, no stiffness and no mass.

    Examples
    --------
    >>> from closedchain.model import shapes
    >>> shapes = shapes.pinned_pinned(y=2) + shapes.craig_bampton(axial=0)
    >>> shapes.names
    ('y1', 'y2', 'axial1')
    >>> U, T = shapes.at(0.5)
    >>> print(U.round(12))
    [[0.  0.  0.5]
     [1.  0.  0. ]
     [0.  0.  0. ]]
    """

    shapes: tuple[Shape, ...]

    def __post_init__(self) -> None:
        if not self.shapes:
            raise ModelError("a set of shapes needs a shape at least: say how many, as in pinned_pinned(y=2)")
        for shape in self.shapes:
            if not isinstance(shape.name, str) or not NAME.fullmatch(shape.name):
                raise ModelError(f"a shape is named by letters, digits, blanks, '-' and '_', not {shape.name!r}")
            if not shape.curves:
                raise ModelError(f"the shape {shape.name!r} moves nothing: give it one of u, v, w, t")
        twice = {name for name in self.names if self.names.count(name) > 1}
        if twice:
            raise ModelError(f"two shapes are named {min(twice)!r}: names must be unique")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the shapes, in the order of the coordinates."""
        return tuple(shape.name for shape in self.shapes)

    @property
    def n(self) -> int:
        """How many shapes there are."""
        return len(self.shapes)

    @property
    def breaks(self) -> tuple[float, ...]:
        """Where the shapes are only piecewise smooth (nodes of a mesh), 0 and 1 included."""
        inner = {b for shape in self.shapes for curve in shape.curves.values() for b in curve.breaks}
        return tuple(sorted(inner | {0.0, 1.0}))

    def using(self, field: str) -> tuple[int, ...]:
        """Numbers of the shapes that move a field, ``"u"``, ``"v"``, ``"w"`` or ``"t"``."""
        return tuple(i for i, shape in enumerate(self.shapes) if field in shape.curves)

    def at(self, xi: Any) -> tuple[Any, Any]:
        """Displacements and rotations of the section at xi, for unit coordinates.

        Parameters
        ----------
        xi
            Place on the beam, 0 to 1: a number, or a traced scalar of CasADi.

        Returns
        -------
        U, T
            3 x n each: displacement along x, y, z; and ``(t, -dw/dxi, dv/dxi)``. NumPy arrays for a number; for a
            traced scalar matrices of its kind, with structural zeros.
        """
        if not traced(xi):
            xi = float(xi)
        U = type(xi)(3, self.n) if traced(xi) else np.zeros((3, self.n))
        T = type(xi)(3, self.n) if traced(xi) else np.zeros((3, self.n))
        for i, shape in enumerate(self.shapes):
            for row, field in enumerate("uvw"):
                if field in shape.curves:
                    U[row, i] = shape.curves[field].derivative(xi)
            if shape.t is not None:
                T[0, i] = shape.t.derivative(xi)
            if shape.w is not None:
                T[1, i] = -shape.w.derivative(xi, 1)
            if shape.v is not None:
                T[2, i] = shape.v.derivative(xi, 1)
        if not traced(xi):  # a sine at its node is zero, and a zero is structure
            U[np.abs(U) < ROUNDING * self._largest[0]] = 0.0
            T[np.abs(T) < ROUNDING * self._largest[1]] = 0.0
        return U, T

    @once
    def _largest(self) -> tuple[np.ndarray, np.ndarray]:
        """About the largest displacement and rotation of each shape."""
        found = self.fields(np.linspace(0.0, 1.0, 101))
        moved = np.abs([found[field][0] for field in "uvw"]).max((0, 1))
        turned = np.abs([found["t"][0], found["w"][1], found["v"][1]]).max((0, 1))
        return moved, turned

    def fields(self, xi: Any) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Displacements u, v, w (along x, y, z), the angle t about x, and their derivatives by xi.

        Parameters
        ----------
        xi
            Places on the beam: a number or an array of any shape.

        Returns
        -------
        dict
            For ``"u"``, ``"v"``, ``"w"``, ``"t"``: value, first and second derivative, each of shape
            ``(*xi.shape, n)``; ``fields(xi)["v"][0] @ eta`` is the deflection along y.
        """
        xi = np.asarray(xi, float)
        found = {field: tuple(np.zeros((*xi.shape, self.n)) for _ in range(3)) for field in FIELDS}
        for i, shape in enumerate(self.shapes):
            for field, curve in shape.curves.items():
                for order in range(3):
                    found[field][order][..., i] = curve.derivative(xi, order)
        return found  # type: ignore[return-value]

    @once
    def integrals(self) -> Integrals:
        """Integrals of the shapes along the beam, computed once."""
        return integrate(self)

    def __add__(self, other: ShapeSet) -> ShapeSet:
        """Both sets together; numbered names go on counting: ``pinned_pinned(y=1) + static(y=True)`` has y1, y2, y3."""
        if not isinstance(other, ShapeSet):
            return NotImplemented
        shapes = list(self.shapes)
        for shape in other.shapes:
            taken = {s.name for s in shapes}
            numbered = NUMBERED.fullmatch(shape.name)
            if shape.name in taken and numbered:
                count = 1
                while f"{numbered[1]}{count}" in taken:
                    count += 1
                shape = replace(shape, name=f"{numbered[1]}{count}")
            shapes.append(shape)
        return ShapeSet(tuple(shapes))

    def __repr__(self) -> str:
        return f"ShapeSet({', '.join(self.names)})"
