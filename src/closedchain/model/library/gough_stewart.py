"""The Gough-Stewart platform of Wang, Gosselin and Cheng (2002), sections 2.2 and 3.2.3."""

from __future__ import annotations

import math

import numpy as np

from closedchain.arguments import one_of
from closedchain.model.bodies.shapes import rigid
from closedchain.model.expressions.expression import t
from closedchain.model.expressions.functions import pi, sin
from closedchain.model.library.reachable import reachable
from closedchain.model.mechanism import Mechanism

BASE = (
    (-2.120, 1.374, 0.0), (-2.380, 1.224, 0.0), (-2.380, -1.224, 0.0),
    (-2.120, -1.374, 0.0), (0.0, -0.15, 0.0), (0.0, 0.15, 0.0),
)  # fmt: skip
PLATFORM = (
    (0.170, 0.595, -0.4), (-0.600, 0.150, -0.4), (-0.600, -0.150, -0.4),
    (0.170, -0.595, -0.4), (0.430, -0.445, -0.4), (0.430, 0.445, -0.4),
)  # fmt: skip
HOLD = (5.934, 4.672, 3.043, 5.820, 5.640, 4.107)
STROKE = (0.10, 0.05, 0.10, 0.15, 0.08, 0.12)


@reachable
def gough_stewart(
    drive: str = "pd", position: tuple[float, float, float] = (-1.5, 0.1, 1.5), tilt: float = 0.1
) -> Mechanism:
    """A platform on six legs; each leg is a universal joint, a driven slide and a ball joint.

    Parameters
    ----------
    drive
        ``"pd"``: each leg follows a stroke of a few centimetres and back in 2 s; ``"open"``: the paper's
        ``9 sin(pi t)`` N in every leg, under which the platform tumbles; ``"none"``.
    position, tilt
        Pose of the platform at the start: origin (m) and rotation about y (rad).

    Notes
    -----
    As in the paper, the platform is a limb of its own: all six ball joints are cut, and its pose has six coordinates.

    The leg's first angle is its azimuth about z, the second one its polar angle from z. Lower link: centre of mass
    0.5 m from the base joint; upper link: 0.5 m back from the platform joint. The paper gives no inertia for the
    lower link: it is taken equal to the upper one's, with a tenth of it along the leg. g = 9.8.
    """
    one_of("gough_stewart: drive", drive, ("pd", "open", "none"))
    m = Mechanism("gough-stewart", gravity=(0, 0, -9.8))
    across = 0.00625
    platform = m.body("platform", rigid(mass=1.5, inertia=(0.08, 0.08, 0.08)))
    m.output = platform["origin"]
    m.free("pose", m.ground, platform, guess=(*position, math.cos(tilt / 2), 0.0, math.sin(tilt / 2), 0.0))
    kp, kd = (m.parameter("kp", 500.0), m.parameter("kd", 50.0)) if drive == "pd" else (0.0, 0.0)
    amplitude = m.parameter("amplitude", 9.0) if drive == "open" else 0.0
    Q = np.array([[math.cos(tilt), 0, math.sin(tilt)], [0, 1, 0], [-math.sin(tilt), 0, math.cos(tilt)]])
    for k in range(6):
        leg = f"leg{k + 1}"
        lower = m.body(f"{leg} lower", rigid(mass=0.1, com=(0, 0, 0.5), inertia=(across, across, across / 10)))
        upper = m.body(f"{leg} upper", rigid(mass=0.1, com=(0, 0, -0.5), inertia=(across, across, across / 10)))
        corner = platform.frame(f"corner{k + 1}", at=PLATFORM[k])

        # inverse kinematics of the leg at the start
        d = np.array(position) + Q @ PLATFORM[k] - BASE[k]
        length = float(np.linalg.norm(d))
        azimuth, polar = math.atan2(d[1], d[0]), math.acos(d[2] / length)

        m.universal(f"{leg} base", m.ground.at(*BASE[k]), lower, axes=((0, 0, 1), (0, 1, 0)), guess=(azimuth, polar))
        slide = m.prismatic(f"{leg} slide", lower, upper, guess=length)
        m.spherical(f"{leg} ball", upper, corner, cut=True)
        m.start[f"{leg} slide"] = length
        if drive == "pd":
            start, stroke = m.parameter(f"{leg} start", length), m.parameter(f"{leg} stroke", STROKE[k])
            wanted, rate = start + stroke * sin(pi * t / 2) ** 2, stroke * (pi / 2) * sin(pi * t)
            hold = m.parameter(f"{leg} hold", HOLD[k])
            m.motor(slide, force=hold + kp * (wanted - slide.q) + kd * (rate - slide.v))
        elif drive == "open":
            m.motor(slide, force=amplitude * sin(pi * t))
    return m
