"""Static shapes of the far end plus normal modes of the held beam, from a mesh (Craig and Bampton 1968).

The beam is clamped at xi = 0, where the body's frame is. Its interface is the other end: for bending the displacement
and the slope there, for stretching and twisting the displacement and the angle. A *static* shape has one of these equal
to 1, the others 0, and no load in between: cubic polynomials for bending, straight lines else, which a mesh gives
exactly. *Normal modes* are those of the beam with both ends held, by finite elements: Hermite's cubics for bending,
linear ones else. Static shapes alone hold any load at the ends exactly; normal modes add the inertia in between.
"""

from __future__ import annotations

import itertools

import numpy as np

from closedchain.arguments import boolean, whole
from closedchain.errors import ModelError
from closedchain.model.shapes.curves import Pieces, power
from closedchain.model.shapes.families import FIELD_OF, check_count
from closedchain.model.shapes.integrals import eigenpairs
from closedchain.model.shapes.shape_set import Shape, ShapeSet

STATIC_BENDING = (
    Pieces((0.0, 1.0), ((0.0, 0.0, 3.0, -2.0),)),  # unit displacement of the tip
    Pieces((0.0, 1.0), ((0.0, 0.0, -1.0, 1.0),)),  # unit slope dv/dxi of the tip
)
STATIC_ALONG = (power(1),)


def static(*, y: bool = False, z: bool = False, axial: bool = False, torsion: bool = False) -> ShapeSet:
    """Static shapes of the far end only: tip displacement and tip slope in each plane, stretch, and twist.

    Parameters
    ----------
    y, z, axial, torsion
        Which fields take part.

    Examples
    --------
    >>> from closedchain.model import shapes
    >>> shapes.static(y=True)
    ShapeSet(y1, y2)
    """
    asked = {"y": y, "z": z, "axial": axial, "torsion": torsion}
    for kind, yes in asked.items():
        boolean(f"static: {kind}", yes)
    return craig_bampton(**{kind: 0 for kind, yes in asked.items() if yes})  # type: ignore[arg-type]


def craig_bampton(
    *,
    y: int | None = None,
    z: int | None = None,
    axial: int | None = None,
    torsion: int | None = None,
    elements: int = 16,
) -> ShapeSet:
    """Static shapes of the far end and normal modes of the beam held at both ends.

    Parameters
    ----------
    y, z, axial, torsion
        How many normal modes beside the static shapes (two of bending, one of the others); 0: static shapes only;
        None: nothing moves in this direction.
    elements
        Of the mesh, for normal modes.

    Returns
    -------
    ShapeSet
        ``y1`` is the displacement of the tip, ``y2`` its slope times the length, ``y3``, ... normal modes, scaled to a
        largest nodal displacement of 1.

    Examples
    --------
    >>> from closedchain.model import shapes
    >>> shapes.craig_bampton(y=2, torsion=0)
    ShapeSet(y1, y2, y3, y4, torsion1)
    """
    whole("craig_bampton: elements", elements, 1)
    found = []
    for kind, count in {"y": y, "z": z, "axial": axial, "torsion": torsion}.items():
        if count is None:
            continue
        shapes = STATIC_BENDING if kind in "yz" else STATIC_ALONG
        curves = [*shapes, *_normal(kind in "yz", check_count(count, f"craig_bampton: {kind}"), elements, kind)]
        found += [Shape(f"{kind}{k}", **{FIELD_OF[kind]: curve}) for k, curve in enumerate(curves, start=1)]
    if not found:
        raise ModelError(
            "craig_bampton needs a direction at least: say how many normal modes, for instance craig_bampton(y=2)"
        )
    return ShapeSet(tuple(found))


def _normal(bending: bool, count: int, elements: int, kind: str) -> list[Pieces]:
    """The lowest normal modes of the mesh with both ends held."""
    if count == 0:
        return []
    k, m = _mesh(bending, elements)
    held = 2 if bending else 1
    inner = slice(held, len(k) - held)
    there = len(k[inner, inner])
    if count > there:
        raise ModelError(
            f"craig_bampton: {kind}={count} normal modes, but a mesh of {elements} elements with held ends has "
            f"{there}: give more elements"
        )
    _, phi = eigenpairs(k[inner, inner], m[inner, inner])
    curves = []
    for shape in phi.T[:count]:
        nodes = np.zeros(len(k))
        nodes[inner] = shape
        moved = nodes[::held] if bending else nodes
        if np.abs(moved).max() < 1e-9 * np.abs(nodes).max():
            moved = nodes  # all nodes are at rest, and only their slopes are not
        first = np.flatnonzero(np.abs(moved) > 0.3 * np.abs(moved).max())[0]
        curves.append(_through(nodes / moved[first] * abs(moved[first]) / np.abs(moved).max(), bending, elements))
    return curves


def _mesh(bending: bool, elements: int) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and mass of a mesh of [0, 1] with unit data; per node displacement (and slope by xi)."""
    h = 1.0 / elements
    if bending:
        k = np.array(
            [[12, 6 * h, -12, 6 * h], [6 * h, 4 * h * h, -6 * h, 2 * h * h],
             [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h * h, -6 * h, 4 * h * h]]
        ) / h**3  # fmt: skip
        m = np.array(
            [[156, 22 * h, 54, -13 * h], [22 * h, 4 * h * h, 13 * h, -3 * h * h],
             [54, 13 * h, 156, -22 * h], [-13 * h, -3 * h * h, -22 * h, 4 * h * h]]
        ) * h / 420  # fmt: skip
    else:
        k, m = np.array([[1, -1], [-1, 1]]) / h, np.array([[2, 1], [1, 2]]) * h / 6
    per_node = len(k) // 2
    K, M = np.zeros((2, per_node * (elements + 1), per_node * (elements + 1)))
    for i in range(elements):
        here = slice(per_node * i, per_node * (i + 2))
        K[here, here] += k
        M[here, here] += m
    return K, M


def _through(nodes: np.ndarray, bending: bool, elements: int) -> Pieces:
    """The curve of a mesh from its nodal values."""
    at = np.arange(elements + 1) / elements
    if bending:
        return hermite(at, nodes[::2], nodes[1::2])
    rows = ((a, (b - a) * elements) for a, b in itertools.pairwise(nodes.tolist()))
    return Pieces(tuple(at.tolist()), tuple(rows))


def hermite(at: np.ndarray, values: np.ndarray, slopes: np.ndarray) -> Pieces:
    """Cubics through values with given slopes."""
    rows = []
    for i, h in enumerate(np.diff(at)):
        rise = (values[i + 1] - values[i]) / h
        second = (3 * rise - 2 * slopes[i] - slopes[i + 1]) / h
        third = (slopes[i] + slopes[i + 1] - 2 * rise) / h**2
        rows.append((float(values[i]), float(slopes[i]), float(second), float(third)))
    return Pieces(tuple(float(x) for x in at), tuple(rows))
