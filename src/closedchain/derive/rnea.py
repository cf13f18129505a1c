"""Recursive Newton-Euler: the bias `h`, or the generalised forces of a given motion.

Featherstone 2008, table 5.1. With all joint accelerations zero the result is ``h``: Coriolis, centrifugal, gravity, and
the external wrenches moved to the left.

The theory is in ``docs/theory/equations.md``.
"""

from __future__ import annotations

import casadi as ca

from closedchain.derive.kinematics import Kinematics
from closedchain.derive.limbs import Limbs
from closedchain.derive.spatial import Vector6, cross_force


def rnea(limbs: Limbs, motion: Kinematics, external: dict[int, Vector6], a: ca.SX | None = None) -> ca.SX:
    """Generalised forces that hold the motion up.

    Parameters
    ----------
    limbs, motion
        The links and their motion relative to the ground.
    external
        Wrench on a link by its number, in the link's frame, about its origin.
    a
        Joint accelerations; None means zero.
    """
    links = limbs.links
    force = body_forces(limbs, motion, external, a)
    out = ca.SX.zeros(limbs.topology.nv, 1)
    for i in reversed(range(len(links))):
        traced = links[i]
        out[traced.link.freedoms, :] = ca.densify(traced.motion.Phi.dot(force[i]))
        if traced.link.parent >= 0:
            force[traced.link.parent] = force[traced.link.parent] + traced.force_out(force[i])
    return out


def body_forces(
    limbs: Limbs, motion: Kinematics, external: dict[int, Vector6], a: ca.SX | None = None
) -> list[Vector6]:
    """The wrench that the joints of each link must exert on it together, in the link's frame about its origin.

    Of a flexible link its last part says what they must do to the shape.
    """
    force: list[Vector6] = []
    acceleration = dict(motion.bias)
    for i, traced in enumerate(limbs.links):
        if a is not None:
            parent = traced.link.parent
            extra = traced.motion_into(_less(acceleration[parent], motion.bias[parent]))
            acceleration[i] = motion.bias[i] + extra + traced.motion.Phi.times(a[traced.link.freedoms, :])
        momentum = traced.inertia.times(motion.twist[i])
        f = traced.inertia.times(acceleration[i]) + cross_force(motion.twist[i], momentum)
        if traced.beam is not None:
            f = f + traced.beam.forces(traced.inertia, motion.twist[i])
        if i in external:
            f = f + -external[i]
        force.append(f)
    return force


def _less(x: Vector6, y: Vector6) -> Vector6:
    return x + -y
