"""What a flexible body on a floating frame does along a motion: displacements and section forces from its shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from closedchain.errors import ModelError
from closedchain.model.mechanism import Mechanism
from closedchain.results.beams.fields import BeamFields, warn_of_axial_loads
from closedchain.results.beams.numbers import BeamNumbers, places
from closedchain.results.beams.section_forces import section_forces
from closedchain.results.reactions.reactions import Moved


def beam_of_shapes(moved: Moved, mechanism: Mechanism, name: str, x: Any, forces: str) -> BeamFields:
    """Fields along a flexible body, by its name, at places x; see `results.beams.deflection.beam`."""
    pieces = list(moved._samples())
    e, data = pieces[0].equations, mechanism.flexible[name]
    values = mechanism.values(dict(zip(mechanism.parameters, pieces[0].parameters, strict=False)))
    numbers = BeamNumbers.of(data, values)
    at = places(numbers, x)
    link = e.topology.links[e.topology.link_of[name]]
    if link.shape is None or link.shape.labels() != data.labels:
        raise ModelError(f"body {name!r} was made flexible, or given other shapes, after the motion was computed")
    found, left = None, ()
    if forces == "equilibrium":
        found, left = section_forces(moved, data, numbers, at)  # type: ignore[assignment]
    t, eta = (np.concatenate([y(s) for s in pieces]) for y in (lambda s: s.t, lambda s: s.q[:, link.shape_q]))
    fields = BeamFields.from_shapes(
        numbers, data.shapes, t, eta, at, stiffening=data.stiffening, forces=found, undetermined=left
    )
    if forces == "equilibrium" and not data.stiffening:
        bent = {f for shape in data.shapes.shapes for f in shape.curves}
        warn_of_axial_loads(fields, [axis for axis, f in (("y", "v"), ("z", "w")) if f in bent])
    return fields
