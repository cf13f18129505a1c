"""The numbers of a beam at the values of parameters, and places along it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from closedchain.errors import ModelError
from closedchain.model.bodies.flexible import Flexibility
from closedchain.model.expressions.expression import Number, is_zero

PLACES = 41  # along a beam, if none are asked for


class SectionNumbers(NamedTuple):
    """The numbers of a section: m^2, m^4; ``y, z, radius`` of the outermost fibres, m, for stress."""

    A: float
    Iy: float
    Iz: float
    J: float
    y: float | None = None
    z: float | None = None
    radius: float | None = None
    round: bool = False


class BeamNumbers(NamedTuple):
    """The numbers of a beam: m, kg, Pa; ``polar`` in kg m^2 about its axis."""

    name: str
    length: float
    mass: float
    polar: float
    E: float
    G: float
    section: SectionNumbers

    @classmethod
    def of(cls, beam: Flexibility, value: Callable[[Number], float]) -> BeamNumbers:
        """Those of a flexible body, at the values of parameters: ``BeamNumbers.of(m.flexible["link"], m.values())``."""
        section, body = beam.section, beam.body
        A, Iy, Iz, J = (value(x) for x in (section.A, section.Iy, section.Iz, section.J))
        mass, about_x = value(body.properties.mass), body.properties.inertia[0]
        return cls(
            name=body.name,
            length=value(beam.length),
            mass=mass,
            polar=mass * (Iy + Iz) / A if is_zero(about_x) else value(about_x),
            E=value(beam.E),
            G=value(beam.G),
            section=SectionNumbers(
                A=A,
                Iy=Iy,
                Iz=Iz,
                J=J,
                y=None if section.y is None else value(section.y),
                z=None if section.z is None else value(section.z),
                radius=None if section.torsion_radius is None else value(section.torsion_radius),
                round=section.kind in ("circle", "tube"),
            ),
        )


def places(beam: BeamNumbers, x: Any = None) -> np.ndarray:
    """Places on a beam as an array, checked; None: so many from end to end that curves look smooth."""
    L = beam.length
    if x is None:
        return np.linspace(0.0, L, PLACES)
    try:
        x = np.atleast_1d(np.asarray(x, float))
    except (TypeError, ValueError):
        raise ModelError(f"places on {beam.name!r} are numbers between 0 and {L:g} m, not {x!r}") from None
    if x.ndim != 1 or not len(x) or not ((x >= -1e-9 * L) & (x <= (1 + 1e-9) * L)).all():
        raise ModelError(f"places on {beam.name!r} are between 0 and {L:g} m, not {x}")
    return np.clip(x, 0.0, L)
