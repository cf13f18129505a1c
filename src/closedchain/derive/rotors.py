"""Rotors geared to joints: ``inertia ratio^2`` on a joint velocity, in a tree or on a cut joint.

The theory is in ``docs/theory/equations.md``.
"""

from __future__ import annotations

import casadi as ca

from closedchain.derive.limbs import Limbs
from closedchain.derive.measure import JointMeasures
from closedchain.model.forces.actions import Rotor


def with_rotors(measures: JointMeasures, M: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Add all rotors to the inertia matrix and the bias.

    The gyroscopic effect of a rotor's axis being turned is left out, as is usual for geared motors.
    """
    for row, bias, inertia in _rotors(measures):
        M = ca.sparsify(M + row.T @ (inertia * row))
        h = h + row.T * (inertia * bias)
    return M, ca.densify(h)


def rotor_energy(measures: JointMeasures) -> ca.SX:
    """Kinetic energy of all rotors."""
    total = ca.SX(0)
    for row, _, inertia in _rotors(measures):
        total += inertia * ca.densify(row @ measures.limbs.v) ** 2 / 2
    return total


def _rotors(measures: JointMeasures) -> list[tuple[ca.SX, ca.SX, ca.SX]]:
    limbs = measures.limbs
    out = []
    for rotor in limbs.topology.mechanism.rotors.values():
        row, bias = measures.velocity_row(rotor.joint, rotor.index)
        out.append((row, bias, rotor_inertia(limbs, rotor)))
    return out


def rotor_inertia(limbs: Limbs, rotor: Rotor) -> ca.SX:
    """What a rotor adds to the inertia of its joint velocity."""
    return limbs.number(rotor.inertia) * limbs.number(rotor.ratio) ** 2
