"""Bodies on legs: a hexapod, and a walker with any number of legs.

A leg has three hinges: ``yaw`` about the body's z, then ``hip`` and ``knee``, which lift the femur and the tibia. Its
foot is a ball joint to the ground; the body is free. All feet are cut, so events may open and close them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from closedchain.arguments import one_of
from closedchain.errors import ModelError
from closedchain.model.bodies.shapes import cylinder, rigid
from closedchain.model.library.reachable import reachable
from closedchain.model.library.servos import Gains, about_x, about_z, chain_torques, gains, servo
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import Body

G, PERIOD = 9.81, 2.0
UPRIGHT = about_x(math.pi / 2)  # hip axis: with the leg along x, a positive angle lifts it


@dataclass(frozen=True)
class Leg:
    """Lengths (m), and mass, centre of mass and inertia about it of coxa, femur, tibia, at their proximal joints."""

    lengths: tuple[float, float, float]
    links: tuple[tuple[float, tuple[float, float, float], tuple[float, float, float]], ...]

    def chain(self, R: np.ndarray, p: np.ndarray, q: Sequence[float]) -> tuple[np.ndarray, ...]:
        """Axes and places of the hinges, centres of mass, and the foot of a leg whose hip frame is ``R, p``."""
        axes, origins, coms = [], [], []
        for turn, angle, length, (_, com, _) in zip(
            (np.eye(3), UPRIGHT, np.eye(3)), q, self.lengths, self.links, strict=True
        ):
            R = R @ turn
            axes.append(R[:, 2])
            origins.append(p)
            R = R @ about_z(angle)
            coms.append(p + R @ com)
            p = p + R[:, 0] * length
        return np.array(axes), np.array(origins), np.array(coms), p

    def angles(self, foot: np.ndarray) -> tuple[float, float, float]:
        """Inverse kinematics: the foot in the hip's frame; the knee is up."""
        lc, lf, lt = self.lengths
        x, z = math.hypot(foot[0], foot[1]) - lc, foot[2]
        knee = -math.acos((x**2 + z**2 - lf**2 - lt**2) / (2 * lf * lt))
        hip = math.atan2(z, x) - math.atan2(lt * math.sin(knee), lf + lt * math.cos(knee))
        return math.atan2(foot[1], foot[0]), hip, knee


def _thin(
    length: float, mass: float, radius: float
) -> tuple[float, tuple[float, float, float], tuple[float, float, float]]:
    across = mass * (length**2 / 12 + radius**2 / 4)
    return mass, (length / 2, 0.0, 0.0), (mass * radius**2 / 2, across, across)


HEXAPOD_LEG = Leg(
    (0.12, 0.4, 0.5),
    (
        (0.8, (0.06, 0.0, 0.01), (0.0008, 0.0012, 0.0012)),
        (1.6, (0.18, 0.0, 0.01), (0.0015, 0.022, 0.022)),
        (1.1, (0.2, 0.005, 0.0), (0.0009, 0.023, 0.023)),
    ),
)
HEXAPOD_HIPS = (
    ((0.55, -0.25, 0.0), -math.pi / 4), ((0.0, -0.32, 0.0), -math.pi / 2), ((-0.55, -0.25, 0.0), -3 * math.pi / 4),
    ((-0.55, 0.25, 0.0), 3 * math.pi / 4), ((0.0, 0.32, 0.0), math.pi / 2), ((0.55, 0.25, 0.0), math.pi / 4),
)  # fmt: skip
WALKER_LEG = Leg((0.07, 0.2, 0.24), (_thin(0.07, 0.6, 0.03), _thin(0.2, 0.9, 0.025), _thin(0.24, 0.5, 0.015)))


@reachable
def hexapod(
    drive: str = "rise", *, rise: float = 0.06, stance: tuple[float, float, float] = (0.0, 0.35, -1.55)
) -> Mechanism:
    """A vehicle of 30 kg on six legs of three hinges, which stand on points.

    Parameters
    ----------
    drive
        ``"rise"``: servos in all hinges raise and lower the body every 2 s; ``"none"``: it falls.
    rise
        How far, m.
    stance
        Angles (rad) of yaw, hip and knee of each leg at the start.

    Notes
    -----
    The machine is the Type 1 example of our reference states for the method of Lilly and Orin (1989), who give no
    numbers: coxa 0.12, femur 0.4, tibia 0.5 m; 3.5 kg for each leg; hips on a body of 1.1 m by 0.64 m.
    """
    m = Mechanism("hexapod", gravity=(0, 0, -G))
    body = m.body("body", rigid(30.0, (0.01, -0.005, 0.02), (0.9, 2.6, 3.2)))
    one_of("hexapod: drive", drive, ("rise", "none"))
    gain = gains(m, 2000.0, 100.0) if drive == "rise" else None
    _stand(m, body, 30.0, HEXAPOD_HIPS, HEXAPOD_LEG, stance, gain, rise)
    return m


@reachable
def walker(
    legs: int = 4, drive: str = "rise", *, rise: float = 0.05, stance: tuple[float, float, float] = (0.0, 0.4, -1.7)
) -> Mechanism:
    """A small walking machine: a round body of 12 kg on any number of legs, evenly around it.

    Parameters
    ----------
    legs
        At least three.
    drive, rise, stance
        As for `hexapod`.

    Notes
    -----
    The numbers are ours, those of a dog-sized machine with legs to the side: body of radius 0.2 m and height 0.1 m,
    coxa 0.07 m and 0.6 kg, femur 0.2 m and 0.9 kg, tibia 0.24 m and 0.5 kg, all round bars; hips on the rim.

    Examples
    --------
    A foot is lifted while the others carry the body. It may stand again where its two frames meet.

    >>> import closedchain as cc
    >>> m = cc.library.walker()
    >>> lift = cc.Event("lift", cc.t - 0.1, then=cc.Switch(open="leg1 foot"))
    >>> run = cc.simulate(m, until=0.2, events=[lift])
    >>> run.record[0].what, run.state().open_joints
    ('lift', ('leg1 foot',))
    """
    if legs < 3:
        raise ModelError(f"walker: a body does not stand on {legs} points; give it at least three legs")
    one_of("walker: drive", drive, ("rise", "none"))
    m = Mechanism("walker", gravity=(0, 0, -G))
    body = m.body("body", cylinder(radius=0.2, length=0.1, mass=12.0))
    polar = [2 * math.pi * (k + 0.5) / legs for k in range(legs)]
    hips = [((0.2 * math.cos(a), 0.2 * math.sin(a), 0.0), a) for a in polar]
    gain = gains(m, 400.0, 20.0) if drive == "rise" else None
    _stand(m, body, 12.0, hips, WALKER_LEG, stance, gain, rise)
    return m


def _stand(
    m: Mechanism,
    body: Body,
    mass: float,
    hips: Sequence[tuple[tuple[float, float, float], float]],
    leg: Leg,
    stance: tuple[float, float, float],
    gain: Gains | None,
    rise: float,
) -> None:
    """Put a body on legs: hips at their places on it, turned outwards; feet on the plane z = 0."""
    height = -leg.chain(np.eye(3), np.zeros(3), stance)[3][2]
    pose = (0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0)
    m.output = body["origin"]
    m.free("pose", m.ground, body, guess=pose)
    m.start = dict(zip((f"pose.{x}" for x in ("x", "y", "z", "qw", "qx", "qy", "qz")), pose, strict=True))
    load = G * (mass / len(hips) + sum(link[0] for link in leg.links))  # on each foot
    for k, (place, outwards) in enumerate(hips, 1):
        name, R = f"leg{k}", about_z(outwards)
        coxa, femur, tibia = (
            m.body(f"{name} {part}", rigid(*link))
            for part, link in zip(("coxa", "femur", "tibia"), leg.links, strict=True)
        )
        hinges = (
            m.revolute(f"{name} yaw", body.at(*place, R=R), coxa, guess=stance[0]),
            m.revolute(f"{name} hip", coxa.at(leg.lengths[0], R=UPRIGHT), femur, guess=stance[1]),
            m.revolute(f"{name} knee", femur.at(leg.lengths[1]), tibia, guess=stance[2]),
        )
        axes, origins, coms, foot = leg.chain(R, np.array([place[0], place[1], place[2] + height]), stance)
        sole = tibia.frame("foot", at=(leg.lengths[2], 0.0, 0.0))
        m.spherical(f"{name} foot", m.ground.at(foot[0], foot[1], 0.0), sole, cut=True)
        if gain is not None:
            weights = [(0.0, 0.0, -G * link[0]) for link in leg.links]
            hold = chain_torques(axes, origins, [*coms, foot], [*weights, (0.0, 0.0, load)])
            higher = R.T @ (foot - origins[0] - [0.0, 0.0, rise])
            for hinge, start, goal, torque in zip(hinges, stance, leg.angles(higher), hold, strict=True):
                servo(m, hinge, start, goal, float(torque), gain, PERIOD)
