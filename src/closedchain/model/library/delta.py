"""The Delta robot, with the parallelograms of its forearms drawn as what they are: pairs of rods."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from closedchain.arguments import one_of
from closedchain.model.bodies.sections import Section
from closedchain.model.bodies.shapes import disc, rod
from closedchain.model.library.reachable import reachable
from closedchain.model.library.servos import about_z, gains, pose_efforts, servo
from closedchain.model.mechanism import Mechanism
from closedchain.model.shapes import pinned_pinned, static

BASE, PLATFORM, HALF_WIDTH = 0.2, 0.045, 0.05  # m: radii of the motor and rod circles; half the width of a forearm
UPPER, FOREARM = 0.35, 0.8  # m
UPPER_MASS, ROD_MASS, PLATFORM_MASS = 1.0, 0.12, 1.0
G, PERIOD = 9.81, 0.5
ALUMINIUM, GLASS_FIBRE = 70e9, 40e9  # Pa


@reachable
def delta(
    drive: str = "move",
    *,
    position: Sequence[float] = (-0.1, -0.05, -0.8),
    goal: Sequence[float] = (0.15, 0.1, -0.75),
    flexible: bool | str = False,
) -> Mechanism:
    """A Delta: three motors on the base, three upper arms, six forearm rods, and a platform that only translates.

    Each rod has a universal joint at the elbow and a ball joint at the platform: with balls at both ends it would spin
    about its own axis. So nothing is redundant, and the three freedoms are those of the motors.

    Parameters
    ----------
    drive
        ``"move"``: servos take the platform to ``goal`` and back, twice a second; ``"none"``: it falls.
    position, goal
        Of the platform, m; the motors lie in the plane z = 0.
    flexible
        ``"arms"``: the upper arms bend in both planes and twist (static shapes of their ends); they are aluminium tubes
        (E = 70e9 Pa, nu = 0.33) of 40 mm with a wall of 12 mm, which weigh the 1 kg of the rigid ones to 1 %.
        ``"rods"``: the rods bend in both planes (a sine each); they are solid glass fibre (E = 40e9 Pa) of 10 mm, and
        their sines have 28 Hz on their own. True: both.

    Notes
    -----
    The numbers are ours, chosen for a robot of the size that packs food: motors on a radius of 0.2 m, upper arms 0.35 m
    and 1 kg, rods 0.8 m and 0.12 kg, a platform of 1 kg with its rods on a radius of 0.045 m. A motor's angle is how
    far its arm points below the horizontal.
    """
    one_of("delta: drive", drive, ("move", "none"))
    if not isinstance(flexible, bool):
        one_of("delta: flexible", flexible, ("arms", "rods"))
    m = Mechanism("flexible-delta" if flexible else "delta", gravity=(0, 0, -G))
    platform = m.body("platform", disc(radius=0.06, thickness=0.02, mass=PLATFORM_MASS))
    m.output = platform["origin"]
    m.free("pose", m.ground, platform, guess=(*position, 1.0, 0.0, 0.0, 0.0))
    start, end = _angles(position), _angles(goal)
    gain = gains(m, 400.0, 15.0) if drive == "move" else None
    hold = pose_efforts(_angles, _potential, position)
    for k, turn in enumerate(_turns()):
        arm = f"arm{k + 1}"
        upper = m.body(f"{arm} upper", rod(UPPER, UPPER_MASS, radius=0.02))
        if flexible in (True, "arms"):
            upper.flexible(ALUMINIUM, Section.tube(0.02, 0.012), shapes=static(y=True, z=True, torsion=True), nu=0.33)
        motor = m.revolute(
            f"{arm} motor", m.ground.at(*BASE * turn[:, 0], R=turn), upper, axis=(0, 1, 0), guess=start[k]
        )
        m.start[motor.name] = start[k]
        far = upper.tip.position[0] if flexible else UPPER  # where a beam ends is no number of its own
        swing, lean = _rod_angles(turn.T @ position, start[k])
        for side, y in (("left", HALF_WIDTH), ("right", -HALF_WIDTH)):
            name = f"{arm} {side}"
            link = m.body(f"{name} rod", rod(FOREARM, ROD_MASS, radius=0.005))
            if flexible in (True, "rods"):
                link.flexible(GLASS_FIBRE, Section.circle(0.005), shapes=pinned_pinned(y=1, z=1))
            m.universal(f"{name} elbow", upper.at(far, y, 0.0), link, axes=((0, 1, 0), (0, 0, 1)), guess=(swing, lean))
            corner = platform.frame(name, at=(turn @ [PLATFORM, y, 0.0]).tolist())
            m.spherical(f"{name} ball", link.tip, corner, cut=True)
        if gain is not None:
            servo(m, motor, start[k], end[k], float(hold[k]), gain, PERIOD)
    return m


def _turns() -> list[np.ndarray]:
    """Axes of the arms: x outwards, y along the motor."""
    return [about_z(2 * math.pi * k / 3) for k in range(3)]


def _angles(position: Sequence[float]) -> list[float]:
    """Inverse kinematics, elbows outwards: ``2 UPPER (x cos q - z sin q) = x^2 + y^2 + z^2 + UPPER^2 - FOREARM^2``."""
    angles = []
    for turn in _turns():
        x, y, z = turn.T @ np.asarray(position, float) + [PLATFORM - BASE, 0.0, 0.0]
        want = (x**2 + y**2 + z**2 + UPPER**2 - FOREARM**2) / (2 * UPPER)
        angles.append(-math.atan2(z, x) - math.acos(want / math.hypot(x, z)))
    return angles


def _rod_angles(position: np.ndarray, q: float) -> tuple[float, float]:
    """Angles of the elbow's two axes; the position is that of the platform in the axes of the arm."""
    c, s = math.cos(q), math.sin(q)
    x, y, z = position + [PLATFORM - BASE - UPPER * c, 0.0, UPPER * s]
    along, across = c * x - s * z, s * x + c * z
    return math.atan2(-across, along), math.asin(y / FOREARM)


def _potential(position: Sequence[float]) -> float:
    heights = -UPPER * np.sin(_angles(position))  # of the elbows
    rods = 2 * ROD_MASS * (heights + position[2]) / 2
    return float(G * (PLATFORM_MASS * position[2] + (UPPER_MASS * heights / 2 + rods).sum()))
