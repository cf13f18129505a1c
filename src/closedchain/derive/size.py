"""How large a mechanism is, from its drawing alone: the length, mass and time by which everything else is compared.

They are functions of the parameters, and they follow a change of units exactly: what is decided by them is decided in
the same way for a mechanism in micrometres and in kilometres.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import casadi as ca

from closedchain.derive.equations import Equations
from closedchain.model.parts import Body

# (1e-12)^2: a distance so much shorter than what it is the difference of is rounding
ROUNDING = 1e-24


def traced_length(e: Equations) -> ca.SX:
    """The length by which angles and lengths are compared, m.

    The largest distance between two joint frames, or a joint frame and the centre of mass, on one moving body; without
    any, that between two joint frames on the ground; without any, the largest radius of gyration; else 1 m.
    """
    square = ca.SX(1)
    for candidate in (_gyration(e), _spread(e, [e.topology.mechanism.ground]), _spread(e, _bodies(e), com=True)):
        square = ca.if_else(candidate > 0, candidate, square)
    return ca.sqrt(square)


def traced_mass(e: Equations) -> ca.SX:
    """The mass of all moving bodies, kg.

    Without any, their moments of inertia over the square of the length; else 1 kg.
    """
    mass = sum((_mass(e, body) for body in _bodies(e)), ca.SX(0))
    turning = sum((_moment(e, body) for body in _bodies(e)), ca.SX(0)) / traced_length(e) ** 2
    return ca.if_else(mass > 0, mass, ca.if_else(turning > 0, turning, 1))


def traced_time(e: Equations) -> ca.SX:
    """The period of a pendulum of that length, ``2 pi sqrt(length / g)``, s; 0 without gravity."""
    g = ca.sumsqr(e.limbs.vector(e.topology.mechanism.gravity))
    return ca.if_else(g > 0, 2 * ca.pi * ca.sqrt(traced_length(e) / ca.sqrt(g)), 0)


def traced_sizes(e: Equations, units: Iterable[str]) -> ca.SX:
    """By which quantities of these units are compared: the length for ``"m"`` and ``"m/s"``, 1 for all others."""
    length = traced_length(e)
    return ca.vertcat(ca.SX(0, 1), *(length if unit in ("m", "m/s") else ca.SX(1) for unit in units))


def _bodies(e: Equations) -> list[Body]:
    return [link.body for link in e.topology.links]


def _spread(e: Equations, bodies: Iterable[Body], com: bool = False) -> ca.SX:
    """Square of the largest distance between joint frames, and centres of mass, on one of some bodies."""
    square = ca.SX(0)
    for body in bodies:
        frames = [side for joint in e.topology.joints for side in (joint.a, joint.b) if side.body is body]
        places = [e.limbs.in_body(frame).r for frame in (*frames, *([body["com"]] if com else []))]
        reach = ca.SX(0)
        for place in places:
            reach = ca.fmax(reach, ca.sumsqr(place))
        for one, other in combinations(places, 2):
            distance = ca.sumsqr(one - other)
            square = ca.fmax(square, ca.if_else(distance > ROUNDING * reach, distance, 0))
    return square


def _gyration(e: Equations) -> ca.SX:
    """Square of the largest radius of gyration about the centre of mass."""
    square = ca.SX(0)
    for body in _bodies(e):
        mass = _mass(e, body)
        square = ca.fmax(square, ca.if_else(mass > 0, _moment(e, body) / mass, 0))
    return square


def _mass(e: Equations, body: Body) -> ca.SX:
    return e.limbs.number(body.properties.mass)


def _moment(e: Equations, body: Body) -> ca.SX:
    return sum((e.limbs.number(x) for x in body.properties.inertia[:3]), ca.SX(0))
