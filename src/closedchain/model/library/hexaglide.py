"""The hexaglide: a platform on six struts of constant length whose feet slide on parallel rails (6-PUS)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from closedchain.arguments import one_of
from closedchain.model.bodies.shapes import box, disc, rod
from closedchain.model.library.reachable import reachable
from closedchain.model.library.servos import gains, pose_efforts, servo
from closedchain.model.mechanism import Mechanism

RAILS = (-0.75, -0.65, -0.05, 0.05, 0.65, 0.75)  # y of the rails, which run along x in the plane z = 0; m
REACH = (-1.0, -1.0, 1.0, 1.0, -1.0, -1.0)  # on which side of its joint on the platform a slider is
CORNERS = (  # on the platform; m
    (-0.043, -0.246), (-0.192, -0.161), (0.235, -0.086), (0.235, 0.086), (-0.192, 0.161), (-0.043, 0.246),
)  # fmt: skip
STRUT = 1.2  # m
PLATFORM_MASS, STRUT_MASS, SLIDER_MASS = 12.0, 1.5, 4.0
G, PERIOD = 9.81, 2.0


@reachable
def hexaglide(
    drive: str = "move",
    *,
    pose: Sequence[float] = (0.0, 0.0, -0.7, 0.0, 0.0, 0.0),
    goal: Sequence[float] = (0.15, 0.06, -0.64, 0.06, 0.1, 0.08),
) -> Mechanism:
    """A platform under six rails; each strut has a universal joint on its slider and a ball joint on the platform.

    Parameters
    ----------
    drive
        ``"move"``: servos on the sliders take the platform to ``goal`` and back every 2 s; ``"none"``: it falls.
    pose, goal
        Position (m) and roll, pitch, yaw (rad) of the platform.

    Notes
    -----
    The arrangement is that of the machine tool built at ETH Zurich (Honegger, Codourey and Burdet 1997): six parallel
    rails in a horizontal plane, struts of one length. The numbers are ours: struts 1.2 m and 1.5 kg, sliders 4 kg, a
    platform of 12 kg.
    """
    one_of("hexaglide: drive", drive, ("move", "none"))
    m = Mechanism("hexaglide", gravity=(0, 0, -G))
    platform = m.body("platform", disc(radius=0.28, thickness=0.05, mass=PLATFORM_MASS))
    m.output = platform["origin"]
    start, end = _slides(pose), _slides(goal)
    m.free("pose", m.ground, platform, guess=(*pose[:3], *_quaternion(pose[3:])))
    gain = gains(m, 2e4, 1.2e3) if drive == "move" else None
    hold = pose_efforts(_slides, _potential, pose)
    for k, (x, y) in enumerate(CORNERS):
        strut = f"strut{k + 1}"
        slider = m.body(f"slider{k + 1}", box((0.15, 0.06, 0.06), mass=SLIDER_MASS))
        link = m.body(strut, rod(STRUT, STRUT_MASS, radius=0.015))
        slide = m.prismatic(f"rail{k + 1}", m.ground.at(0.0, RAILS[k], 0.0), slider, axis=(1, 0, 0), guess=start[k])
        m.start[slide.name] = start[k]

        # the strut's direction is Ry(swing) Rz(lean) x
        d = (_corners(pose)[k] - [start[k], RAILS[k], 0.0]) / STRUT
        guess = (math.atan2(-d[2], d[0]), math.asin(d[1]))
        m.universal(f"{strut} joint", slider, link, axes=((0, 1, 0), (0, 0, 1)), guess=guess)
        m.spherical(f"{strut} ball", link.tip, platform.frame(f"corner{k + 1}", at=(x, y, 0.0)), cut=True)
        if gain is not None:
            servo(m, slide, start[k], end[k], float(hold[k]), gain, PERIOD)
    return m


def _corners(pose: Sequence[float]) -> np.ndarray:
    """Joints of the platform in the world, (6, 3)."""
    w, x, y, z = _quaternion(pose[3:])
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return np.asarray(pose[:3], float) + np.pad(np.array(CORNERS), ((0, 0), (0, 1))) @ R.T


def _quaternion(rpy: Sequence[float]) -> tuple[float, float, float, float]:
    """Of ``Rz(yaw) Ry(pitch) Rx(roll)``: w, x, y, z."""
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a / 2), math.sin(a / 2)) for a in rpy)
    return (
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    )


def _slides(pose: Sequence[float]) -> np.ndarray:
    """Inverse kinematics: where the sliders are."""
    x, y, z = _corners(pose).T
    return x + np.array(REACH) * np.sqrt(STRUT**2 - (y - RAILS) ** 2 - z**2)


def _potential(pose: Sequence[float]) -> float:
    return float(G * (PLATFORM_MASS * pose[2] + STRUT_MASS * _corners(pose)[:, 2].sum() / 2))
