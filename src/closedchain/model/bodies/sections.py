"""Cross-sections of beams: areas and their moments, and how far the outermost fibres are, for stress.

The letters are those of the body's axes: the beam lies along x. ``Iz`` (integral of y^2) resists bending along y,
``Iy`` (integral of z^2) bending along z, ``J`` torsion. A section that is made by its dimensions keeps them: when a
body takes it each dimension becomes a parameter of its own, so that ``link.section.wall`` changes all numbers together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Expression, Number, check_number, is_zero
from closedchain.model.expressions.functions import exp, maximum, minimum, pi

NUMBERS = ("A", "Iy", "Iz", "J", "y", "z", "torsion_radius")
ODD_ZETA_5 = 31 / 32 * 1.0369277551433699263  # sum of 1 / n^5 over odd n


@dataclass(frozen=True)
class Section:
    """A cross-section by its numbers; or by its dimensions, see `rectangle`, `circle`, `tube`, `box`.

    Attributes
    ----------
    A
        Area, m^2.
    Iy, Iz
        Second moments of area about the body's y and z axes, m^4; ``Iz`` is for bending along y.
    J
        Torsion constant, m^4: the torque is G J times the twist by length. The polar moment Iy + Iz for round sections
        only.
    y, z
        Distances of the outermost fibres from the axis, m, for stress. None: not known.
    torsion_radius
        Largest shear stress by torsion is torque times this by J, m. None: not known.

    Examples
    --------
    >>> import closedchain as cc
    >>> cc.Section(A=6e-4, Iz=2e-8).Iy
    0.0
    >>> cc.Section.rectangle(y=0.02, z=0.04).A
    0.0008
    """

    A: Number
    Iy: Number = 0.0
    Iz: Number = 0.0
    J: Number = 0.0
    y: Number | None = None
    z: Number | None = None
    torsion_radius: Number | None = None
    kind: str = field(default="", compare=False)
    dimensions: Mapping[str, Number] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for name in NUMBERS:
            value = getattr(self, name)
            if value is None and name not in ("A", "Iy", "Iz", "J"):
                continue
            number = check_number(value, f"section: {name}")
            if not isinstance(number, Expression) and (number < 0 or (name == "A" and number == 0)):  # type: ignore[operator]
                raise ModelError(
                    f"section: {name} is {number:g}, but it must be {'above' if name == 'A' else 'at least'} 0"
                )
            object.__setattr__(self, name, number)

    @classmethod
    def rectangle(cls, y: Number, z: Number) -> Section:
        """A full rectangle.

        Parameters
        ----------
        y, z
            Its whole widths along the body's y and z axes, m.

        Notes
        -----
        J and the largest shear stress are Saint-Venant's series for the rectangle (Timoshenko and Goodier, Theory of
        Elasticity, section 109), summed to rounding, for either side being the longer one.
        """
        _positive("rectangle", y=y, z=z)
        long, short = maximum(y, z), minimum(y, z)
        ratio = long / short
        # the sum of tanh(n pi r / 2) / n^5 over odd n, as what it is for long rectangles minus a rest that dies fast
        rest = sum(2 / n**5 * exp(-n * pi * ratio) / (1 + exp(-n * pi * ratio)) for n in (1, 3, 5, 7))
        J = long * short**3 / 3 * (1 - 192 / pi**5 / ratio * (ODD_ZETA_5 - rest))
        corner = sum(2 / n**2 * exp(-n * pi / 2 * ratio) / (1 + exp(-n * pi * ratio)) for n in range(1, 22, 2))
        return cls(
            A=y * z,
            Iy=y * z**3 / 12,
            Iz=z * y**3 / 12,
            J=J,
            y=y / 2,
            z=z / 2,
            torsion_radius=short * (1 - 8 / pi**2 * corner),
            kind="rectangle",
            dimensions={"y": y, "z": z},
        )

    @classmethod
    def circle(cls, radius: Number) -> Section:
        """A full circle of the given radius, m."""
        _positive("circle", radius=radius)
        moment = pi / 4 * radius**4
        return cls(pi * radius**2, moment, moment, 2 * moment, radius, radius, radius, "circle", {"radius": radius})

    @classmethod
    def tube(cls, radius: Number, wall: Number) -> Section:
        """A round tube of the given outer radius and thickness of the wall, m."""
        _positive("tube", radius=radius, wall=wall)
        if _plain(radius, wall) and wall > radius:
            raise ModelError(f"tube: a wall of {wall:g} m does not fit into a radius of {radius:g} m")
        inner = radius - wall
        moment = pi / 4 * (radius**4 - inner**4)
        return cls(
            pi * (radius**2 - inner**2),
            moment,
            moment,
            2 * moment,
            radius,
            radius,
            radius,
            "tube",
            {"radius": radius, "wall": wall},
        )

    @classmethod
    def box(cls, y: Number, z: Number, wall: Number) -> Section:
        """A rectangular tube: outer widths along y and z, and the thickness of the wall, m.

        J is Bredt's formula for thin walls: some 5 % too small for a wall of a tenth of the width.
        """
        _positive("box", y=y, z=z, wall=wall)
        if _plain(y, z, wall) and 2 * wall > minimum(y, z):
            raise ModelError(f"box: walls of {wall:g} m do not fit into {y:g} m by {z:g} m")
        yi, zi, ym, zm = y - 2 * wall, z - 2 * wall, y - wall, z - wall
        J = 2 * wall * (ym * zm) ** 2 / (ym + zm)
        return cls(
            A=y * z - yi * zi,
            Iy=(y * z**3 - yi * zi**3) / 12,
            Iz=(z * y**3 - zi * yi**3) / 12,
            J=J,
            y=y / 2,
            z=z / 2,
            torsion_radius=J / (2 * ym * zm * wall),
            kind="box",
            dimensions={"y": y, "z": z, "wall": wall},
        )

    def drawn(self, number: Callable[[Number, str], Number]) -> Section:
        """The section with its dimensions, or its numbers, as ``number(value, name)`` makes them: parameters."""
        if self.kind:
            return getattr(Section, self.kind)(**{k: number(x, k) for k, x in self.dimensions.items()})
        known = {name: x for name in NUMBERS if (x := getattr(self, name)) is not None}
        return Section(**{name: number(x, name) for name, x in known.items()})  # type: ignore[arg-type]


def _plain(*numbers: Any) -> bool:
    return not any(isinstance(x, Expression) for x in numbers)


def _positive(kind: str, **sizes: Number) -> None:
    for name, size in sizes.items():
        number = check_number(size, f"{kind}: {name}")
        if is_zero(number) or (_plain(number) and (number < 0 or not math.isfinite(number))):  # type: ignore[arg-type,operator]
            raise ModelError(f"{kind}: {name} is {number:g} m, but it must be above 0")
