"""The planar parallel robot 3-RRR of Raoofian, Taghvaeipour and Kamali Eigoli (2017)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from closedchain.model.bodies.sections import Section
from closedchain.model.bodies.shapes import rigid, rod
from closedchain.model.expressions.functions import pi
from closedchain.model.library.reachable import reachable
from closedchain.model.mechanism import Mechanism
from closedchain.model.shapes import pinned_pinned, static

STEEL, STEEL_DENSITY = 210e9, 7850.0  # Pa, kg/m^3
POLAR = tuple(math.radians(a) for a in (210, 330, 90))


@reachable
def rrr3(
    torques: Sequence[Any] = (0.0, 0.0, 0.0),
    position: tuple[float, float] = (0.05, 0.0),
    angle: float = 0.0,
    *,
    flexible: bool = False,
) -> Mechanism:
    """Three legs of two rods (0.4 and 0.6 m) between a base of side 1.2 m and a platform of side 0.4 m.

    Horizontal plane: gravity along -z does no work. Motors on the proximal links. ``position`` (m) and ``angle``
    (rad) of the platform fix the start; all legs bend the same way (proximal angle = direction to the platform joint
    + acos(...)).

    The inertia of the platform about z is the paper's; the others are those of a flat plate.

    With ``flexible`` the rods are steel blades on edge (E = 210e9 Pa, 7850 kg/m^3) that bend in the plane: 12 mm thick
    near the base, 8 mm near the platform, and as wide as their masses ask for (79.6 and 106 mm). The proximal ones take
    the static shapes of their tip, the distal ones two sines (52.1 and 208 Hz on their own).
    """
    m = Mechanism("flexible-rrr3" if flexible else "rrr3", gravity=(0, 0, -9.81))
    l1, l2, base, side = 0.4, 0.6, 1.2, 0.4
    platform = m.body("platform", rigid(mass=8.0, inertia=(0.0817 / 2, 0.0817 / 2, 0.0817)))
    m.output = platform["origin"]
    for k, polar in enumerate(POLAR, start=1):
        proximal = m.body(f"proximal{k}", rod(length=l1, mass=3.0))
        distal = m.body(f"distal{k}", rod(length=l2, mass=4.0))
        if flexible:
            proximal.flexible(STEEL, _blade(0.012, l1, 3.0), shapes=static(y=True))
            distal.flexible(STEEL, _blade(0.008, l2, 4.0), shapes=pinned_pinned(y=2))
        ox, oy = (base / math.sqrt(3) * f(polar) for f in (math.cos, math.sin))
        px, py = (side / math.sqrt(3) * f(polar) for f in (math.cos, math.sin))
        corner = platform.frame(f"corner{k}", at=(px, py, 0.0))

        # inverse kinematics of the leg at the start
        dx = position[0] + math.cos(angle) * px - math.sin(angle) * py - ox
        dy = position[1] + math.sin(angle) * px + math.cos(angle) * py - oy
        reach = math.hypot(dx, dy)
        a = math.atan2(dy, dx) + math.acos((l1**2 + reach**2 - l2**2) / (2 * l1 * reach))
        b = math.atan2(dy - l1 * math.sin(a), dx - l1 * math.cos(a))

        m.revolute(f"base{k}", m.ground.at(ox, oy, 0.0), proximal, guess=a % (2 * pi))
        m.revolute(f"elbow{k}", proximal.tip, distal, guess=(b - a + pi) % (2 * pi) - pi)
        m.revolute(f"wrist{k}", distal.tip, corner, guess=angle - b)
        m.motor(f"base{k}", torque=torques[k - 1])
        m.start[f"base{k}"] = a % (2 * pi)
    return m


def _blade(thickness: float, length: float, mass: float) -> Section:
    """A rectangle of steel that gives a rod its mass."""
    return Section.rectangle(y=thickness, z=mass / (length * thickness * STEEL_DENSITY))
