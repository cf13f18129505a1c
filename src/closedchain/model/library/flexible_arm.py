"""A single flexible arm: a beam on the hub of a motor."""

from __future__ import annotations

from closedchain.errors import ModelError
from closedchain.model.bodies.sections import Section
from closedchain.model.bodies.shapes import point_mass, rigid, rod
from closedchain.model.expressions.expression import Expression, Number, t
from closedchain.model.expressions.functions import where
from closedchain.model.library.reachable import reachable
from closedchain.model.mechanism import Mechanism
from closedchain.model.shapes import ShapeSet, clamped_free

LENGTH, DEPTH, WIDTH, DENSITY, E = 0.5, 0.02, 0.03, 7840.0, 5e9


@reachable
def flexible_arm(
    torque: Number | None = None,
    *,
    hub: Number = 0.196,
    tip_mass: Number = 0.0,
    shapes: ShapeSet | None = None,
    flexible: bool = True,
) -> Mechanism:
    """A beam clamped to the hub of a motor, in a horizontal plane: it turns by about half a radian and rings.

    The beam is 0.5 m long with a section of 20 mm (in the plane) by 30 mm, E = 5e9 Pa, 7840 kg/m^3: 2.352 kg, and an
    inertia of 0.196 kg m^2 about the hinge. Those are the numbers of the PacDrive's lower arms. Clamped, it has 10.3,
    64.7 and 181 Hz; with the hub free to turn and as heavy as the beam 14.4, 65.5 and 181 Hz.

    Parameters
    ----------
    torque
        On the hub, N m. By default a push of 3 N m for 0.25 s and the same back, so that the arm stops again.
    hub
        Inertia of the hub about the hinge, kg m^2.
    tip_mass
        A point mass on the end of the beam, kg.
    shapes
        Shapes of the beam; by default three modes of the cantilever.
    flexible
        False: the same arm with a rigid beam.
    """
    m = Mechanism("flexible-arm" if flexible else "rigid-arm", gravity=(0, 0, -9.81))
    round_ = m.body("hub", rigid(mass=1.0, inertia=(hub / 2, hub / 2, hub)))
    beam = m.body("beam", rod(LENGTH, LENGTH * DEPTH * WIDTH * DENSITY))
    if flexible:
        chosen = clamped_free(y=3) if shapes is None else shapes
        beam.flexible(E, Section.rectangle(y=DEPTH, z=WIDTH), shapes=chosen, nu=0.33)
    elif shapes is not None:
        raise ModelError("flexible_arm: a rigid arm has no shapes: leave them out, or say flexible=True")
    m.revolute("hinge", m.ground, round_)
    m.weld("clamp", round_, beam)
    m.output = beam.tip
    if isinstance(tip_mass, Expression) or tip_mass:
        m.weld("grip", beam.tip, m.body("load", point_mass(tip_mass)))
    if torque is None:
        torque = m.parameter("push", 3.0) * where(t < 0.25, 1.0, where(t < 0.5, -1.0, 0.0))
    m.motor("hinge", torque=torque)
    m.start = {"hinge": 0.0}
    return m
