"""Kinetic energy and the potential of gravity, traced.

The theory is in ``docs/theory/equations.md``.
"""

from __future__ import annotations

import casadi as ca

from closedchain.derive.kinematics import Kinematics
from closedchain.derive.limbs import Limbs
from closedchain.derive.spatial import dot


def kinetic_energy(limbs: Limbs, motion: Kinematics) -> ca.SX:
    """``sum (w . L + v . p) / 2`` over all links."""
    total = ca.SX(0)
    for i, traced in enumerate(limbs.links):
        total += ca.densify(motion.twist[i].dot(traced.inertia.times(motion.twist[i]))) / 2
    return total


def elastic_energy(limbs: Limbs) -> ca.SX:
    """Energy in the shapes of flexible links."""
    return sum((traced.beam.energy for traced in limbs.links if traced.beam is not None), ca.SX(0))


def elastic_loss(limbs: Limbs) -> ca.SX:
    """Power that the damping of flexible links takes."""
    return sum((traced.beam.loss for traced in limbs.links if traced.beam is not None), ca.SX(0))


def gravity_potential(limbs: Limbs, motion: Kinematics) -> ca.SX:
    """``-sum m g . r`` over all links, r from the origin of the world."""
    g = limbs.vector(limbs.topology.mechanism.gravity)
    total = ca.SX(0)
    for i, traced in enumerate(limbs.links):
        total -= dot(g, traced.inertia.m * motion.X[i].r + motion.X[i].R @ traced.inertia.mc)
    return total
