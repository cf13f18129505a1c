"""Inverse dynamics of the planar 3-RRR on the rose path, by hand: Newton-Euler in the plane, without gravity.

Leg i: base joint O, proximal angle a, elbow, distal angle b, platform joint P. With ``e(x) = (cos x, sin x)`` and
``n(x) = (-sin x, cos x)``:

    P = O + l1 e(a) + l2 e(b)

so that a', b' (and a'', b'' with the centripetal terms moved over) follow from products with e(b) and e(a). The force
F of the leg on the platform has its component along n(b) from the moments of the distal link about the elbow, and its
component s along e(b) from the three equations of the platform. The motor then carries the proximal link and what the
elbow passes on. Angles are absolute.

All arithmetic is ordinary: with a number for t the functions return numbers, with ``cc.t`` they return expressions.
"""

import math
from typing import NamedTuple

import closedchain as cc

POLAR = tuple(math.radians(x) for x in (210, 330, 90))


class Platform(NamedTuple):
    """Position, velocity and acceleration of the platform's centre."""

    p: tuple
    v: tuple
    a: tuple


class Leg(NamedTuple):
    """Angles, rates and accelerations of one leg, and the acceleration of the distal link's centre."""

    a: object
    b: object
    a_dot: object
    b_dot: object
    a_ddot: object
    b_ddot: object
    distal: tuple


def path(t, r0):
    """The rose ``r = r0 cos 2 theta`` with ``theta = pi t``, as a sum of two circular motions."""
    slow, fast = cc.pi, 3 * cc.pi
    half = r0 / 2

    def at(order):
        # derivatives of cos and sin go round in four
        c = (cc.math.cos, lambda x: -cc.math.sin(x), lambda x: -cc.math.cos(x))[order]
        s = (cc.math.sin, cc.math.cos, lambda x: -cc.math.sin(x))[order]
        x = half * (fast**order * c(fast * t) + slow**order * c(slow * t))
        y = half * (fast**order * s(fast * t) - slow**order * s(slow * t))
        return x, y

    return Platform(*(at(order) for order in range(3)))


def corner(numbers, k):
    """Platform joint k seen from the platform's centre, at platform angle 0."""
    radius = numbers["SP"] / math.sqrt(3)
    return radius * math.cos(POLAR[k]), radius * math.sin(POLAR[k])


def base(numbers, k):
    """Base joint k."""
    radius = numbers["SB"] / math.sqrt(3)
    return radius * math.cos(POLAR[k]), radius * math.sin(POLAR[k])


def leg(numbers, k, platform):
    """Inverse kinematics of leg k up to accelerations."""
    l1, l2 = numbers["l1"], numbers["l2"]
    (ox, oy), (rx, ry) = base(numbers, k), corner(numbers, k)
    dx, dy = platform.p[0] + rx - ox, platform.p[1] + ry - oy
    square = dx * dx + dy * dy
    a = cc.math.atan2(dy, dx) + cc.math.acos((l1**2 - l2**2 + square) / (2 * l1 * cc.math.sqrt(square)))
    b = cc.math.atan2(dy - l1 * cc.math.sin(a), dx - l1 * cc.math.cos(a))

    (ea, na), (eb, nb) = axes(a), axes(b)
    bend = dot(na, eb)  # sin(b - a)

    def rates(wanted):
        return dot(wanted, eb) / (l1 * bend), -dot(wanted, ea) / (l2 * bend)

    a_dot, b_dot = rates(platform.v)
    centripetal = plus(times(l1 * a_dot**2, ea), times(l2 * b_dot**2, eb))
    a_ddot, b_ddot = rates(plus(platform.a, centripetal))
    distal = plus(turning(l1, a_dot, a_ddot, ea, na), turning(l2 / 2, b_dot, b_ddot, eb, nb))
    return Leg(a, b, a_dot, b_dot, a_ddot, b_ddot, distal)


def efforts(numbers, t, r0):
    """Torques of the three motors and forces ``(x, y)`` of the three legs on the platform."""
    l1, l2, m1, m2 = (numbers[x] for x in ("l1", "l2", "m1", "m2"))
    platform = path(t, r0)
    legs = [leg(numbers, k, platform) for k in range(3)]

    # across the distal link: moments about the elbow
    across = [-(numbers["I2"] * x.b_ddot + m2 * (l2 / 2) * dot(axes(x.b)[1], x.distal)) / l2 for x in legs]

    # along the distal links: the platform's three equations
    known = [times(f, axes(x.b)[1]) for f, x in zip(across, legs, strict=True)]
    e = [axes(x.b)[0] for x in legs]
    r = [corner(numbers, k) for k in range(3)]
    columns = [(*e[k], cross(r[k], e[k])) for k in range(3)]
    need = tuple(numbers["mP"] * platform.a[i] - sum(f[i] for f in known) for i in range(2))
    need = (*need, -sum(cross(r[k], known[k]) for k in range(3)))
    along = cramer(columns, need)

    forces = [plus(f, times(s, e_k)) for f, s, e_k in zip(known, along, e, strict=True)]
    torques = [
        (numbers["I1"] + m1 * l1**2 / 4) * x.a_ddot + l1 * dot(axes(x.a)[1], plus(times(m2, x.distal), f))
        for x, f in zip(legs, forces, strict=True)
    ]
    return torques, forces


# ---- vectors of the plane, of numbers or of expressions ----------------------------------------------------


def axes(angle):
    """e and n at an angle."""
    c, s = cc.math.cos(angle), cc.math.sin(angle)
    return (c, s), (-s, c)


def dot(x, y):
    return x[0] * y[0] + x[1] * y[1]


def cross(x, y):
    return x[0] * y[1] - x[1] * y[0]


def plus(x, y):
    return x[0] + y[0], x[1] + y[1]


def times(factor, x):
    return factor * x[0], factor * x[1]


def turning(length, rate, acceleration, e, n):
    """Acceleration of the end of a turning bar."""
    return plus(times(length * acceleration, n), times(-length * rate**2, e))


def cramer(columns, right):
    """Three unknowns by determinants."""

    def determinant(x, y, z):
        return (
            x[0] * (y[1] * z[2] - y[2] * z[1]) - y[0] * (x[1] * z[2] - x[2] * z[1]) + z[0] * (x[1] * y[2] - x[2] * y[1])
        )

    x, y, z = columns
    whole = determinant(x, y, z)
    return (
        determinant(right, y, z) / whole,
        determinant(x, right, z) / whole,
        determinant(x, y, right) / whole,
    )
