"""Families of mechanisms that grow: how the cost of a formulation depends on the number of loops.

No number of these drawings is zero unless the geometry says so: an exact zero is structure, and would make one member
of a family cheaper than its neighbours.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.transform import Rotation

import closedchain as cc


def ladder(n: int) -> cc.Mechanism:
    """Four-bars side by side (`n` of them): n + 1 uprights on the ground, each joined to the next by a coupler.

    The "N four-bar" of the IFToMM benchmark problems: rods of 1 m and 1 kg, one freedom whatever n is. Limbs are short,
    and each loop meets its two neighbours only.
    """
    m = cc.Mechanism(f"ladder of {n} loops", gravity=(0, -9.81, 0))
    uprights = [m.body(f"upright {i}", cc.rod(length=1.0, mass=1.0)) for i in range(n + 1)]
    for i, upright in enumerate(uprights):
        m.revolute(f"foot {i}", m.ground.at(float(i), 0, 0), upright, guess=1.2)
    for i in range(n):
        coupler = m.body(f"coupler {i}", cc.rod(length=1.0, mass=1.0))
        m.revolute(f"left {i}", uprights[i].tip, coupler, guess=-1.2)
        m.revolute(f"right {i}", coupler.tip, uprights[i + 1].tip)
    m.start = {"foot 0": 1.2}
    return m


def tower(n: int) -> cc.Mechanism:
    """Four-bars one on top of the other (`n` of them): each stands on the coupler of the one below.

    One freedom more with each storey. The limb is a single tree that is 2 n bodies deep, the worst case for a
    formulation that needs the inertia matrix of a limb.
    """
    m = cc.Mechanism(f"tower of {n} loops", gravity=(0, -9.81, 0))
    floor = m.ground
    for i in range(n):
        left, right = (m.body(f"{side} {i}", cc.rod(length=1.0, mass=1.0)) for side in ("left", "right"))
        coupler = m.body(f"coupler {i}", cc.rod(length=0.8, mass=1.0))
        m.revolute(f"left foot {i}", floor, left, guess=1.2)
        m.revolute(f"right foot {i}", floor.at(0.9, 0, 0), right, guess=1.3)
        m.revolute(f"left head {i}", left.tip, coupler, guess=-1.2)
        m.revolute(f"right head {i}", coupler.tip, right.tip)
        m.start[f"left foot {i}"] = 1.2
        floor = coupler
    return m


def hub(legs: int) -> cc.Mechanism:
    """A free platform on `legs` legs, each a universal joint, a slide and a ball joint, which is cut.

    The Gough-Stewart platform of the library with any number of legs, evenly spread, and a constant force in each.
    It has six freedoms whatever the number of legs is: a leg brings as many coordinates as its ball joint takes away.
    """
    m = cc.Mechanism(f"hub with {legs} legs", gravity=(0, 0, -9.81))
    height, tilt = 1.5, 0.1
    platform = m.body("platform", cc.rigid(mass=1.5, inertia=(0.08, 0.08, 0.08)))
    m.free("pose", m.ground, platform, guess=(0, 0, height, math.cos(tilt / 2), 0, math.sin(tilt / 2), 0))
    across = 0.00625
    for k in range(legs):
        angle = 2 * math.pi * (k + 0.37) / legs  # never along an axis
        foot = (2 * math.cos(angle), 2 * math.sin(angle), 0.0)
        corner = (0.6 * math.cos(angle + 0.3), 0.6 * math.sin(angle + 0.3), -0.4)

        # pose of the leg: azimuth about z, polar angle from z, length
        x = math.cos(tilt) * corner[0] + math.sin(tilt) * corner[2] - foot[0]
        y = corner[1] - foot[1]
        z = height - math.sin(tilt) * corner[0] + math.cos(tilt) * corner[2]
        length = math.hypot(x, y, z)

        lower = m.body(f"lower {k}", cc.rigid(mass=0.1, com=(0, 0, 0.5), inertia=(across, across, across / 10)))
        upper = m.body(f"upper {k}", cc.rigid(mass=0.1, com=(0, 0, -0.5), inertia=(across, across, across / 10)))
        m.universal(
            f"base {k}",
            m.ground.at(*foot),
            lower,
            axes=((0, 0, 1), (0, 1, 0)),
            guess=(math.atan2(y, x), math.acos(z / length)),
        )
        m.prismatic(f"slide {k}", lower, upper, guess=length)
        m.spherical(f"ball {k}", upper, platform.at(*corner), cut=True)
        m.motor(f"slide {k}", force=5.0)
    return m


def held(arms: int, links: int) -> cc.Mechanism:
    """A free body held by `arms` arms: chains of `links` links in space with a ball joint, which is cut, at the tip.

    The general machine of Lilly and Orin with limbs as heavy as one likes: a link bends about an axis across the one
    before, by a little, so that an arm is a bow over the ground. Bows of 1 m stand evenly spread, and feet stand where
    the tips then meet the body: the drawing is closed as it is.
    """
    m = cc.Mechanism(f"{arms} arms of {links} links", gravity=(0, 0, -9.81))
    body = m.body("body", cc.rigid(mass=2.0, inertia=(0.08, 0.09, 0.1)))
    height, length, mass = 0.6, 1.0 / links, 1.0 / links
    m.free("pose", m.ground, body, guess=(0, 0, height, 1, 0, 0, 0))
    bend = [0.9 / links, 2.2 / links]  # about z and about y by turns: a quarter of a turn sideways, a bow upwards
    across = mass * (length**2 / 12 + 1e-3)
    for k in range(arms):
        angle = 2 * math.pi * (k + 0.37) / arms
        corner = (0.15 * math.cos(angle), 0.15 * math.sin(angle), -0.05)
        turn = Rotation.from_euler("z", angle + math.pi) * Rotation.from_euler("y", -1.2)

        # where the tip is, seen from the foot
        pose, reach = turn, np.zeros(3)
        for i in range(links):
            pose = pose * Rotation.from_euler("zy"[i % 2], bend[i % 2])
            reach = reach + pose.apply((length, 0, 0))
        foot = np.array((*corner[:2], height + corner[2])) - reach

        end = m.ground.at(*foot, R=turn.as_matrix())
        for i in range(links):
            inertia = (0.1 * across, across, across)
            link = m.body(f"link {k}.{i}", cc.rigid(mass=mass, com=(length / 2, 0, 0), inertia=inertia))
            m.revolute(f"bend {k}.{i}", end, link, axis=((0, 0, 1), (0, 1, 0))[i % 2], guess=bend[i % 2])
            end = link.at(length, 0, 0)
        m.spherical(f"tip {k}", end, body.at(*corner), cut=True)
    return m
