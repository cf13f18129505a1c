"""Is this a mechanism? Each check raises a `ModelError` that names the culprit, its number, and what to try."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.errors import ModelError
from closedchain.model.expressions.expression import HUGE, Number
from closedchain.model.parts import Frame

if TYPE_CHECKING:
    from closedchain.model.mechanism import Mechanism
    from closedchain.model.parts import Body

Values = Callable[[Number], float]

SLACK = 1e-9  # relative: thin rods and plates meet the triangle inequality with equality


def check_body(body: Body, value: Values) -> None:
    """Mass not negative; inertia that some distribution of that mass can have."""
    p = body.properties
    mass = value(p.mass)
    com = np.array([value(x) for x in p.com])
    xx, yy, zz, xy, xz, yz = (value(x) for x in p.inertia)
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    what = f"body {body.name!r}"
    if not (np.isfinite(mass) and np.isfinite(com).all() and np.isfinite(I).all()):
        raise ModelError(f"{what} has a mass, centre of mass or inertia that is not finite (mass {mass})")
    for name, x, unit in (("mass", mass, "kg"), ("centre of mass", com, "m"), ("inertia", I, "kg m^2")):
        _refuse_huge(f"{what} has a {name}" if name != "inertia" else f"{what} has an inertia", x, unit)
    if mass < 0:
        raise ModelError(f"{what} has a negative mass of {mass:g} kg")
    size = np.abs(I).max()
    if mass == 0 and (size > 0 or np.abs(com).max() > 0):
        if size > 0:
            raise ModelError(
                f"{what} has an inertia of {size:g} kg m^2 but no mass: give it a mass, or use cc.massless()"
            )
        return
    moments = np.linalg.eigvalsh(I)
    if moments[0] < -SLACK * size:
        raise ModelError(
            f"{what} has an inertia that is not positive (principal moments {moments[0]:.4g}, {moments[1]:.4g}, "
            f"{moments[2]:.4g} kg m^2): check the signs of the off-diagonal entries, and that it is taken about the "
            "centre of mass"
        )
    if moments[2] > (moments[0] + moments[1]) * (1 + SLACK) + SLACK * size:
        raise ModelError(
            f"{what} has an inertia that no body can have: the largest principal moment {moments[2]:.4g} kg m^2 "
            f"exceeds the sum of the others, {moments[0] + moments[1]:.4g} (triangle inequality); "
            "for a planar drawing give Ixx + Iyy >= Izz"
        )


def _refuse_huge(what: str, numbers: Any, unit: str) -> None:
    """Numbers that follow from others may be beyond what each of them is allowed."""
    largest = float(np.abs(numbers).max())
    if not largest < HUGE:
        raise ModelError(f"{what} of {largest:g} {unit}, too large to compute with: give numbers below {HUGE:g}")


def check_mechanism(m: Mechanism, value: Values) -> None:
    """The whole drawing: something moves, everything is connected, nothing massless is left free."""
    if not m.bodies:
        raise ModelError(f"mechanism {m.name!r} has no body: add one with m.body(name, cc.rod(length=1, mass=1))")
    for body in m.bodies.values():
        check_body(body, value)
    if m.output is not None and not isinstance(m.output, Frame):
        raise ModelError(
            f"m.output of {m.name!r} must be a frame, for instance m.find_frame('body.tip'), not {m.output!r}"
        )
    _check_connected(m)
    if all(j.type.nv == 0 for j in m.joints.values()) and not m.flexible and not m.stands:
        raise ModelError(f"nothing moves in mechanism {m.name!r}: all its joints are welds")
    if all(value(b.properties.mass) == 0 for b in m.bodies.values()):
        raise ModelError(f"mechanism {m.name!r} has no mass at all: give at least the moving bodies a mass")
    _check_ends(m, value)
    for joint in m.joints.values():
        for frame in (joint.a, joint.b):
            place = [value(x) for x in frame.position]
            _refuse_huge(f"joint {joint.name!r} has a frame on {frame.body.name!r} with a coordinate", place, "m")
    for actuator in m.actuators.values():
        actuator.model.check(f"actuator on {actuator.output[0]!r}", value)
    for element in m.force_elements.values():
        element.check(value)


def _check_connected(m: Mechanism) -> None:
    """Every body must be reached from the ground; a free flyer says so with m.free(...)."""
    reached, frontier = {"ground"}, ["ground"]
    while frontier:
        here = frontier.pop()
        for j in m.joints.values():
            ends = (j.a.body.name, j.b.body.name)
            if here in ends:
                other = ends[1] if ends[0] == here else ends[0]
                if other not in reached:
                    reached.add(other)
                    frontier.append(other)
    lost = [name for name in m.bodies if name not in reached]
    if lost:
        raise ModelError(
            f"no joint connects {', '.join(map(repr, lost))} with the ground in mechanism {m.name!r}: "
            f"add a joint, or m.free(name, m.ground, {lost[0]}) for a body that floats"
        )


def _check_ends(m: Mechanism, value: Values) -> None:
    """A massless body that hangs on one joint with freedom would accelerate without limit, unless rotors resist."""
    resisting = {(r.joint, r.index) for r in m.rotors.values() if value(r.inertia) * value(r.ratio) != 0}
    for body in m.bodies.values():
        joints = [j for j in m.joints.values() if body in (j.a.body, j.b.body)]
        if value(body.properties.mass) != 0 or len(joints) != 1:
            continue
        if any((joints[0].name, i) not in resisting for i in range(joints[0].type.nv)):
            raise ModelError(
                f"body {body.name!r} has no mass and hangs on joint {joints[0].name!r} alone: nothing says how it "
                "accelerates; give it a mass, weld it, or connect it further"
            )
