"""Bodies by their shape: mass, centre of mass and inertia of rods, boxes, cylinders, plates, balls.

A shape is a handful of named dimensions and the formulas that follow from them. When a mechanism takes a shape,
each dimension becomes a parameter of its own, so that ``crank.length`` moves the tip, the centre of mass and the
inertia together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from closedchain.arguments import entries, exactly_one, listed
from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Expression, Number, check_number, is_zero
from closedchain.model.expressions.functions import pi

Vector: TypeAlias = tuple[Number, Number, Number]

INERTIA_NAMES = ("xx", "yy", "zz", "xy", "xz", "yz")


@dataclass(frozen=True)
class MassProperties:
    """Mass (kg), centre of mass (m) and inertia about it (kg m^2; xx, yy, zz, xy, xz, yz), in the body's axes.

    Off-diagonal entries are those of the inertia *matrix* (``-integral x y dm``).
    """

    mass: Number
    com: Vector
    inertia: tuple[Number, ...]
    frames: Mapping[str, Vector] = field(default_factory=dict)


@dataclass(frozen=True)
class Shape:
    """Named dimensions, and how mass properties and frames follow from them."""

    kind: str
    dimensions: Mapping[str, Number]
    build: Callable[[Mapping[str, Number]], MassProperties]
    outline: Mapping[str, Any] = field(default_factory=dict)  # how to draw it; no part of the dynamics


def _mass(kind: str, mass: Number | None, density: Number | None, **sizes: Number) -> dict[str, Number]:
    exactly_one(f"a {kind}", mass=mass, density=density)
    flat = [name for name, size in sizes.items() if is_zero(size)]
    if density is not None and flat:
        raise ModelError(f"a {kind} with a density needs a {flat[0]}: without it, it has no volume and weighs nothing")
    return {"mass": mass} if density is None else {"density": density}  # type: ignore[dict-item]


def _of(d: Mapping[str, Number], volume: Number) -> Number:
    return d["mass"] if "mass" in d else d["density"] * volume


def rigid(mass: Number, com: Sequence[Number] = (0, 0, 0), inertia: Any = (0, 0, 0)) -> Shape:
    """A body given by its numbers.

    Parameters
    ----------
    mass
        kg.
    com
        Centre of mass in the body's frame, m.
    inertia
        About the centre of mass, in the body's axes, kg m^2: three principal values, six entries
        ``(xx, yy, zz, xy, xz, yz)``, or a symmetric 3x3 matrix.

    Examples
    --------
    >>> import closedchain as cc
    >>> shape = cc.rigid(mass=2.0, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02))
    """
    centre = entries(com, 3, "a centre of mass has three components", "(0.1, 0, 0)")
    dimensions = {"mass": mass}
    dimensions |= {f"com.{a}": c for a, c in zip("xyz", centre, strict=True)}
    dimensions |= {f"inertia.{a}": e for a, e in zip(INERTIA_NAMES, _six(inertia), strict=True)}

    def build(d: Mapping[str, Number]) -> MassProperties:
        return MassProperties(
            d["mass"],
            (d["com.x"], d["com.y"], d["com.z"]),
            tuple(d[f"inertia.{a}"] for a in INERTIA_NAMES),
        )

    return Shape("rigid", dimensions, build)


def _six(inertia: Any) -> tuple[Number, ...]:
    """The entries ``xx, yy, zz, xy, xz, yz`` of an inertia in any of its forms."""
    numbers = listed(inertia)
    if numbers is None:
        raise ModelError(f"an inertia has 3, 6 or 3x3 entries, for instance (0.01, 0.02, 0.02), not {inertia!r}")
    rows = [row for row in map(listed, numbers) if row is not None]
    if len(numbers) == len(rows) == 3:
        return _six_of_matrix(rows)
    if len(numbers) == 3:
        return (*numbers, 0.0, 0.0, 0.0)
    if len(numbers) != 6:
        raise ModelError(f"an inertia has 3, 6 or 3x3 entries, not {len(numbers)}")
    return numbers


def _six_of_matrix(rows: list[tuple[Any, ...]]) -> tuple[Number, ...]:
    for row in rows:
        entries(row, 3, "a row of an inertia matrix has three entries", "(0.01, 0, 0)")
    a = [[check_number(x, "an entry of an inertia matrix") for x in row] for row in rows]
    size = max((abs(x) for row in a for x in row if not isinstance(x, Expression)), default=0.0)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if not _equal(a[i][j], a[j][i], size):
            raise ModelError(f"the inertia matrix is not symmetric: {a[i][j]} and {a[j][i]}")
    return a[0][0], a[1][1], a[2][2], a[0][1], a[0][2], a[1][2]


def _equal(a: Number, b: Number, size: float) -> bool:
    """Equal to rounding: a matrix that was turned is symmetric to some 1e-16 only."""
    if isinstance(a, Expression) or isinstance(b, Expression):
        return a is b
    return abs(a - b) <= 1e-9 * size


def massless() -> Shape:
    """A body without mass: a mere connection between joints."""
    return Shape("massless", {}, lambda d: MassProperties(0.0, (0.0, 0.0, 0.0), (0.0,) * 6))


def point_mass(mass: Number, at: Sequence[Number] = (0, 0, 0)) -> Shape:
    """All mass in one point of the body's frame."""
    return rigid(mass, at)


def rod(length: Number, mass: Number | None = None, *, density: Number | None = None, radius: Number = 0.0) -> Shape:
    """A round bar along +x from the body's origin, with the frame ``tip`` at its end.

    Parameters
    ----------
    length, radius
        m. A radius of zero is a thin rod: no inertia about its own axis.
    mass, density
        kg, or kg/m^3 with a radius; one of the two.
    """

    def build(d: Mapping[str, Number]) -> MassProperties:
        L, r = d["length"], d["radius"]
        m = _of(d, pi * r**2 * L)
        across = m * (L**2 / 12 + r**2 / 4)
        return MassProperties(
            m, (L / 2, 0.0, 0.0), (m * r**2 / 2, across, across, 0.0, 0.0, 0.0), {"tip": (L, 0.0, 0.0)}
        )

    dimensions = {"length": length, **_mass("rod", mass, density, radius=radius), "radius": radius}
    return Shape("rod", dimensions, build, {"line": ("origin", "tip")})


def box(size: Sequence[Number], mass: Number | None = None, *, density: Number | None = None) -> Shape:
    """A solid box with edges ``size`` (m) along x, y, z, centred at the body's origin."""
    edges = entries(size, 3, "a box has three edges", "size=(0.3, 0.2, 0.1)")

    def build(d: Mapping[str, Number]) -> MassProperties:
        x, y, z = d["size.x"], d["size.y"], d["size.z"]
        m = _of(d, x * y * z)
        return MassProperties(
            m,
            (0.0, 0.0, 0.0),
            (m * (y**2 + z**2) / 12, m * (x**2 + z**2) / 12, m * (x**2 + y**2) / 12, 0.0, 0.0, 0.0),
        )

    dimensions = {f"size.{a}": s for a, s in zip("xyz", edges, strict=True)} | _mass("box", mass, density)
    return Shape("box", dimensions, build)


def cylinder(
    radius: Number,
    length: Number,
    mass: Number | None = None,
    *,
    density: Number | None = None,
    inner: Number = 0.0,
) -> Shape:
    """A round cylinder about z, centred at the body's origin; ``inner`` is the radius of a bore."""
    hole, round_ = check_number(inner, "inner of a cylinder"), check_number(radius, "radius of a cylinder")
    if not isinstance(hole, Expression) and not isinstance(round_, Expression) and hole > round_:
        raise ModelError(f"a cylinder with a radius of {round_:g} m cannot have a bore of radius inner={hole:g} m")

    def build(d: Mapping[str, Number]) -> MassProperties:
        R, r, L = d["radius"], d["inner"], d["length"]
        m = _of(d, pi * (R**2 - r**2) * L)
        along = m * (R**2 + r**2) / 2
        across = m * (3 * (R**2 + r**2) + L**2) / 12
        return MassProperties(m, (0.0, 0.0, 0.0), (across, across, along, 0.0, 0.0, 0.0))

    dimensions = {"radius": radius, "length": length, **_mass("cylinder", mass, density), "inner": inner}
    return Shape("cylinder", dimensions, build)


def plate(
    width: Number,
    height: Number,
    mass: Number | None = None,
    *,
    density: Number | None = None,
    thickness: Number = 0.0,
) -> Shape:
    """A flat rectangle ``width`` (x) by ``height`` (y), centred at the body's origin."""
    _mass("plate", mass, density, thickness=thickness)
    flat = box((width, height, thickness), mass, density=density)
    names = {"size.x": "width", "size.y": "height", "size.z": "thickness"}

    def build(d: Mapping[str, Number]) -> MassProperties:
        return flat.build({k: d[names.get(k, k)] for k in flat.dimensions})

    return Shape("plate", {names.get(k, k): v for k, v in flat.dimensions.items()}, build)


def disc(
    radius: Number, mass: Number | None = None, *, density: Number | None = None, thickness: Number = 0.0
) -> Shape:
    """A flat round plate about z, centred at the body's origin."""
    _mass("disc", mass, density, thickness=thickness)
    round_one = cylinder(radius, thickness, mass, density=density)
    names = {"length": "thickness"}

    def build(d: Mapping[str, Number]) -> MassProperties:
        return round_one.build({k: d[names.get(k, k)] for k in round_one.dimensions})

    return Shape("disc", {names.get(k, k): v for k, v in round_one.dimensions.items()}, build)


def ball(radius: Number, mass: Number | None = None, *, density: Number | None = None) -> Shape:
    """A solid ball centred at the body's origin."""

    def build(d: Mapping[str, Number]) -> MassProperties:
        r = d["radius"]
        m = _of(d, 4 / 3 * pi * r**3)
        i = 2 / 5 * m * r**2
        return MassProperties(m, (0.0, 0.0, 0.0), (i, i, i, 0.0, 0.0, 0.0))

    return Shape("ball", {"radius": radius, **_mass("ball", mass, density)}, build)
