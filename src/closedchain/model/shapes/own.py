"""Shapes of one's own: from functions, or from samples (a finite-element program's output, a measurement)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from closedchain import arguments
from closedchain.arguments import known, mapping
from closedchain.errors import ModelError
from closedchain.model.shapes.craig_bampton import hermite
from closedchain.model.shapes.curves import Pieces
from closedchain.model.shapes.shape_set import FIELDS, Shape, ShapeSet

SPANS, DEGREE = 16, 9  # sin(2 pi xi) is then met to 1e-14, its second derivative to 1e-10
SMOOTH = 1e-9  # of the largest value: a function that is missed by more between the points is not smooth
NAMES = {"u": "axial", "v": "y", "w": "z", "t": "torsion"}
# coefficients of the Chebyshev polynomials of 2 s - 1 by powers of s, a row each: whole numbers
POWERS = np.array([np.polynomial.Chebyshev.basis(k, domain=(0, 1)).convert(kind=np.polynomial.Polynomial).coef.round()
                   .tolist() + [0.0] * (DEGREE - k) for k in range(DEGREE + 1)])  # fmt: skip
Function = Callable[[np.ndarray], Any]


def from_functions(shapes: Mapping[str, Any], *, breaks: Sequence[float] = (0.0, 1.0)) -> ShapeSet:
    """Shapes given as functions of xi.

    Parameters
    ----------
    shapes
        By field, ``{"v": f}`` or several ``{"v": [f, g], "w": [f]}``: one shape for each function, named ``y1``,
        ``y2``, ``z1``, ...; or by name, ``{"wobble": {"v": f, "w": g}}``: one shape that moves several fields at once.
        Fields are ``u``, ``v``, ``w`` (displacements along x, y, z for a coordinate of 1 m) and ``t`` (angle about x
        for a coordinate of 1 rad). A function takes an array of xi in [0, 1] and returns one of the same shape.
    breaks
        0, where the functions have kinks, and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from closedchain.model import shapes
    >>> shapes = shapes.from_functions({"v": [lambda xi: np.sin(np.pi * xi), lambda xi: xi**2]})
    >>> shapes.names
    ('y1', 'y2')

    Notes
    -----
    Between the breaks a function is replaced by polynomials of degree 9 on 16 spans, through Chebyshev points. One that
    these miss is refused.
    """
    if not isinstance(shapes, Mapping) or not shapes:
        raise ModelError(f"from_functions takes functions by field, for instance {{'v': f}}, not {shapes!r}")
    ends = _places(breaks, "from_functions: breaks")
    found = []
    for key, values in shapes.items():
        if isinstance(values, Mapping):
            for field in values:
                _check_field(field, f"from_functions: the shape {key!r}")
            found.append(Shape(key, **{f: _sampled(g, ends, f"{key}.{f}") for f, g in values.items()}))
            continue
        _check_field(key, "from_functions")
        functions = list(values) if isinstance(values, list | tuple) else [values]
        for k, function in enumerate(functions, start=1):
            name = f"{NAMES[key]}{k}"
            found.append(Shape(name, **{key: _sampled(function, ends, name)}))
    return ShapeSet(tuple(found))


def from_samples(
    xi: Any, *, u: Any = None, v: Any = None, w: Any = None, t: Any = None, slopes: Mapping[str, Any] | None = None
) -> ShapeSet:
    """Shapes given by their values at some places: cubic splines go through them.

    Parameters
    ----------
    xi
        Places, rising from 0 to 1; four at least.
    u, v, w, t
        Values there: one row for one shape, or a row for each of several. See `from_functions` for the fields.
    slopes
        Derivatives by xi of v or w at the same places, ``{"v": ...}``: nodal rotations times the length. Hermite's
        cubics then take the place of splines; they are those of a mesh of Euler-Bernoulli beams.

    Examples
    --------
    >>> import numpy as np
    >>> from closedchain.model import shapes
    >>> at = np.linspace(0, 1, 11)
    >>> shapes.from_samples(at, v=[at**2, at**3], t=at)
    ShapeSet(y1, y2, torsion1)
    """
    at = _places(xi, "from_samples: xi")
    slopes = mapping("from_samples: slopes", slopes, "field, for instance {'v': ...}")
    fields = {"u": u, "v": v, "w": w, "t": t}
    for field in slopes:
        if fields.get(field) is None:
            raise ModelError(f"from_samples: slopes of {field!r}, of which there are no values")
    found = []
    for field, values in fields.items():
        if values is None:
            continue
        rows = _rows(values, len(at), f"from_samples: {field}")
        if field in slopes:
            tangents = _rows(slopes[field], len(at), f"from_samples: slopes of {field}")
            if len(tangents) != len(rows):
                raise ModelError(f"from_samples: {len(rows)} shapes of {field}, but slopes of {len(tangents)}")
            curves = [hermite(at, row, tangent) for row, tangent in zip(rows, tangents, strict=True)]
        elif len(at) < 4:
            raise ModelError(
                f"from_samples: a spline needs four places at least, not {len(at)}: add some, or the slopes"
            )
        else:
            curves = [_spline(at, row) for row in rows]
        found += [Shape(f"{NAMES[field]}{k}", **{field: curve}) for k, curve in enumerate(curves, start=1)]
    return ShapeSet(tuple(found))


def _check_field(field: Any, what: str) -> None:
    known(f"{what}: unknown field", field, FIELDS)


def _places(values: Any, what: str) -> np.ndarray:
    try:
        at = np.asarray(values, float)
    except (TypeError, ValueError):
        at = np.zeros(0)
    if at.ndim != 1 or len(at) < 2 or not (np.diff(at) > 0).all() or at[0] != 0.0 or at[-1] != 1.0:
        raise ModelError(f"{what} must rise from 0 to 1, for instance (0, 0.5, 1), not {values!r}")
    return at


def _rows(values: Any, count: int, what: str) -> np.ndarray:
    try:
        rows = np.atleast_2d(np.asarray(values, float))
    except (TypeError, ValueError):
        raise ModelError(f"{what}: values must be numbers, not {values!r}") from None
    if rows.ndim != 2 or rows.shape[1] != count:
        raise ModelError(f"{what} has {rows.shape[-1]} values in a row for {count} places")
    if not np.isfinite(rows).all():
        raise ModelError(f"{what} has a value that is not finite")
    return rows


def _spline(at: np.ndarray, values: np.ndarray) -> Pieces:
    from scipy.interpolate import CubicSpline  # a second to import

    rows = CubicSpline(at, values, bc_type="not-a-knot").c[::-1].T
    return Pieces(tuple(at.tolist()), tuple(map(tuple, rows.tolist())))


def _sampled(function: Any, breaks: np.ndarray, name: str) -> Pieces:
    """Polynomials through Chebyshev points on spans between the breaks."""
    arguments.function(f"from_functions: {name}", function, "xi")
    parts = max(1, SPANS // (len(breaks) - 1))
    ends = np.unique(np.concatenate([np.linspace(a, b, parts + 1) for a, b in itertools.pairwise(breaks)]))
    angles = np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1)
    spans = np.diff(ends)
    values = _values(function, ends[:-1, None] + spans[:, None] * (1 + np.cos(angles)) / 2, name)
    chebyshev = values @ np.cos(np.outer(angles, np.arange(DEGREE + 1))) * 2 / (DEGREE + 1)
    chebyshev[:, 0] /= 2
    rows = chebyshev @ POWERS / spans[:, None] ** np.arange(DEGREE + 1)
    curve = Pieces(tuple(ends.tolist()), tuple(map(tuple, rows.tolist())))

    between = (ends[:-1, None] + spans[:, None] * np.linspace(0.02, 0.98, 7)).ravel()
    missed = np.abs(_values(function, between, name) - curve.derivative(between)).max()
    if missed > SMOOTH * np.abs(values).max():
        raise ModelError(
            f"from_functions: {name} is not smooth: polynomials miss it by {missed:.1e} of {np.abs(values).max():.3g}; "
            "give its kinks as breaks=(0, ..., 1), or use from_samples"
        )
    return curve


def _values(function: Function, xi: np.ndarray, name: str) -> np.ndarray:
    try:
        values = np.asarray(function(xi), float) + np.zeros_like(xi)
    except Exception as trouble:
        raise ModelError(
            f"from_functions: {name} must take an array of xi and return one of numbers ({trouble})"
        ) from trouble
    if values.shape != xi.shape or not np.isfinite(values).all():
        raise ModelError(f"from_functions: {name} must return a finite number for every xi in [0, 1]")
    return values
