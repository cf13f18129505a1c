"""Integrals of shapes along a beam: all that its inertia, stiffness and damping need to know of them.

With U the displacements (rows x, y, z) and t the torsion of unit coordinates, all on ``xi = x / length``:

    N0 = int U dxi                      N1 = int xi U dxi
    G[a][b] = int U_a' U_b dxi          t0 = int t dxi,   t2 = int t' t dxi
    ku = int u_xi' u_xi dxi             kv = int v_xixi' v_xixi dxi
    kt = int t_xi' t_xi dxi             kw = int w_xixi' w_xixi dxi
    H(xi) = int_0^xi (v_s' v_s + w_s' w_s) ds,   H0 = int H dxi,   H1 = int xi H dxi

(a row times a row, transposed first, is an n x n matrix). With the length L, mass m and moduli E, G of a beam, its mass
matrix is ``m (G[0][0] + G[1][1] + G[2][2]) + rho Ip L t2``, its stiffness ``EA/L ku + E Iz/L^3 kv + E Iy/L^3 kw +
GJ/L kt``, and bending moves its points along -x by ``eta' H(xi) eta / (2 L)``.

Gauss-Legendre points between the breaks of the shapes, as many as their waves and powers need: exact to rounding.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.errors import ModelError
from closedchain.lock import once
from closedchain.model.shapes.curves import traced

if TYPE_CHECKING:
    from closedchain.model.shapes.shape_set import ShapeSet

WAVES_IN_A_SPAN = 12.0  # rad: longer spans are split, so that few points are enough in each
POINTS = 18  # for a span with that much of a wave, squared: error below rounding


@dataclass(frozen=True, eq=False)
class Integrals:
    """See the equations of this module. All are pure numbers; n is the number of shapes.

    Attributes
    ----------
    N0, N1
        3 x n.
    G
        3 x 3 x n x n.
    t0
        n.
    t2, ku, kv, kw, kt, H0, H1
        n x n.
    """

    shapes: ShapeSet
    N0: np.ndarray
    N1: np.ndarray
    G: np.ndarray
    t0: np.ndarray
    t2: np.ndarray
    ku: np.ndarray
    kv: np.ndarray
    kw: np.ndarray
    kt: np.ndarray
    H0: np.ndarray
    H1: np.ndarray

    def H(self, xi: Any) -> Any:
        """Foreshortening up to xi: n x n, of numbers or traced."""
        n = self.shapes.n
        total = type(xi)(n, n) if traced(xi) else np.zeros((n, n))
        for a, b in itertools.pairwise(_spans(self.shapes)):
            upto = _clip(xi, a, b)
            points, weights = _gauss(self.shapes, b - a)
            for s, weight in zip(points, weights, strict=True):
                at = a + (upto - a) * s
                for field in "vw":
                    slopes = type(xi)(1, n) if traced(xi) else np.zeros((1, n))
                    for i in self.shapes.using(field):
                        slopes[0, i] = self.shapes.shapes[i].curves[field].derivative(at, 1, near=(a + b) / 2)
                    total = total + weight * (upto - a) * (slopes.T @ slopes)
        return total

    @once
    def damping(self) -> dict[str, np.ndarray]:
        """Modal damping ``cu, cv, cw, ct`` by field, n x n pure numbers.

        With the eigenpairs ``k phi = lambda g phi, phi' g phi = 1`` of a field's own shapes, ``c = g phi
        diag(sqrt(lambda)) phi' g``. The damping matrix ``2 zeta sqrt(stiffness mass) c``, summed over the fields, gives
        each mode that the shapes of this field have on their own the damping ratio zeta. Scales: axial ``EA/L`` and m,
        bending ``EI/L^3`` and m, torsion ``GJ/L`` and ``rho Ip L``.
        """
        mixed = [shape.name for shape in self.shapes.shapes if len(shape.curves) > 1]
        if mixed:
            raise ModelError(
                f"the shape {mixed[0]!r} moves in several directions at once, for which modal damping is not defined: "
                "use rayleigh=(alpha, beta) instead of damping=..."
            )
        stiffness = {"u": self.ku, "v": self.kv, "w": self.kw, "t": self.kt}
        inertia = {"u": self.G[0, 0], "v": self.G[1, 1], "w": self.G[2, 2], "t": self.t2}
        found = {}
        for field in "uvwt":
            own = list(self.shapes.using(field))
            found[field] = np.zeros((self.shapes.n, self.shapes.n))
            if own:
                block = np.ix_(own, own)
                g = inertia[field][block]
                squared, phi = eigenpairs(stiffness[field][block], g)
                found[field][block] = (g @ phi) * np.sqrt(np.maximum(squared, 0.0)) @ (g @ phi).T
        return found

    @property
    def cu(self) -> np.ndarray:
        """Modal damping of axial shapes; see `damping`."""
        return self.damping["u"]

    @property
    def cv(self) -> np.ndarray:
        """Modal damping of bending along y; see `damping`."""
        return self.damping["v"]

    @property
    def cw(self) -> np.ndarray:
        """Modal damping of bending along z; see `damping`."""
        return self.damping["w"]

    @property
    def ct(self) -> np.ndarray:
        """Modal damping of torsion; see `damping`."""
        return self.damping["t"]


def integrate(shapes: ShapeSet) -> Integrals:
    """All integrals of a set of shapes."""
    spans = list(itertools.pairwise(_spans(shapes)))
    rules = [(a, b - a, _gauss(shapes, b - a)) for a, b in spans]
    xi = np.concatenate([a + h * points for a, h, (points, _) in rules])
    weights = np.concatenate([h * w for _, h, (_, w) in rules])
    fields = shapes.fields(xi)

    def product(f: np.ndarray, g: np.ndarray, by: Any = 1.0) -> np.ndarray:
        return np.einsum("k,ki,kj->ij", weights * by, f, g)

    U = [fields[field][0] for field in "uvw"]
    slopes = [fields[field][1] for field in "vw"]
    return Integrals(
        shapes=shapes,
        N0=np.array([weights @ f for f in U]),
        N1=np.array([(weights * xi) @ f for f in U]),
        G=np.array([[product(f, g) for g in U] for f in U]),
        t0=weights @ fields["t"][0],
        t2=product(fields["t"][0], fields["t"][0]),
        ku=product(fields["u"][1], fields["u"][1]),
        kv=product(fields["v"][2], fields["v"][2]),
        kw=product(fields["w"][2], fields["w"][2]),
        kt=product(fields["t"][1], fields["t"][1]),
        # the order of integration is swapped: int_0^1 int_0^xi f(s) ds dxi = int_0^1 (1 - s) f(s) ds
        H0=sum(product(f, f, 1.0 - xi) for f in slopes),  # type: ignore[arg-type]
        H1=sum(product(f, f, (1.0 - xi**2) / 2) for f in slopes),  # type: ignore[arg-type]
    )


def eigenpairs(k: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solutions of ``k phi = lambda g phi`` with ``phi' g phi = 1``, lambda rising; g is positive definite."""
    size = 1.0 / np.sqrt(np.diag(g))  # shapes of unit size: powers of xi are otherwise of very different ones
    lower = np.linalg.cholesky(size[:, None] * g * size)
    half = np.linalg.solve(lower, size[:, None] * k * size)
    squared, psi = np.linalg.eigh(np.linalg.solve(lower, half.T))
    return squared, size[:, None] * np.linalg.solve(lower.T, psi)


def _spans(shapes: ShapeSet) -> np.ndarray:
    """The breaks, with spans that hold too many waves split."""
    waves = max(curve.wave_number for shape in shapes.shapes for curve in shape.curves.values())
    ends = [0.0]
    for a, b in itertools.pairwise(shapes.breaks):
        parts = max(1, int(np.ceil(waves * (b - a) / WAVES_IN_A_SPAN)))
        ends += list(a + (b - a) * np.arange(1, parts + 1) / parts)
    return np.array(ends)


def _gauss(shapes: ShapeSet, span: float) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights on (0, 1) for products of two shapes and xi^2 in a span."""
    curves = [curve for shape in shapes.shapes for curve in shape.curves.values()]
    for_waves = POINTS + int(np.ceil(max(curve.wave_number for curve in curves) * span))
    for_powers = max(curve.degree for curve in curves) + 2
    waving = any(curve.wave_number for curve in curves)
    points, weights = np.polynomial.legendre.leggauss(max(for_powers, for_waves if waving else 0))
    return (points + 1) / 2, weights / 2


def _clip(xi: Any, low: float, high: float) -> Any:
    if not traced(xi):
        return float(np.clip(xi, low, high))
    return low + (xi - low) * (xi > low) * (xi <= high) + (high - low) * (xi > high)
