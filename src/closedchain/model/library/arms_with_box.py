"""Arms that carry a box together: the simple closed-chain mechanism of Lilly and Orin (1989), with PUMA 560 arms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from closedchain.arguments import entries, one_of, whole
from closedchain.errors import ModelError
from closedchain.model.bodies.shapes import rigid
from closedchain.model.library.reachable import reachable
from closedchain.model.library.servos import about_x, about_z, chain_torques, gains, servo
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import Body, Frame, Joint

# standard Denavit-Hartenberg rows: d, a, alpha; mass, centre of mass and inertia about it in the link's frame
PUMA: tuple[tuple[Any, ...], ...] = (
    (0.0, 0.0, math.pi / 2, 10.0, (0.0, 0.0, 0.0), (0.345, 0.345, 0.345)),
    (0.0, 0.4318, 0.0, 17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
    (0.15005, 0.0203, -math.pi / 2, 4.8, (-0.0203, -0.0141, 0.07), (0.071, 0.086, 0.0175)),
    (0.4318, 0.0, math.pi / 2, 0.82, (0.0, 0.019, 0.0), (0.0018, 0.0013, 0.0018)),
    (0.0, 0.0, -math.pi / 2, 0.34, (0.0, 0.0, 0.0), (0.0003, 0.0004, 0.0003)),
    (0.0, 0.0, 0.0, 0.09, (0.0, 0.0, 0.032), (0.00015, 0.00015, 4e-5)),
)
TOOL, WRIST = 0.1, 0.4318  # from the last frame to the tip, along z: of the hand, of an arm without it
BOX_MASS, BOX_COM = 12.0, (0.02, -0.01, 0.015)
BOX_INERTIA = ((0.17, 0.01, -0.02), (0.01, 0.26, 0.005), (-0.02, 0.005, 0.3))
GAINS = ((4000.0, 250.0), (4000.0, 250.0), (2000.0, 100.0), (100.0, 2.0), (100.0, 2.0), (0.05, 0.003))
G, PERIOD = 9.81, 2.0
CONTACTS = {"rigid": "weld", "point": "spherical", "soft": "universal"}


@reachable
def arms_with_box(
    contact: str = "rigid",
    arms: int = 3,
    *,
    joints: int = 6,
    drive: str = "lift",
    position: Sequence[float] = (0.0, 0.0, 0.45),
    lift: float = 0.1,
    grasps: Sequence[Any] | None = None,
) -> Mechanism:
    """Arms of the PUMA 560 around a box of 12 kg, which they lift and put down again every 2 s.

    Parameters
    ----------
    contact
        What a hand does to the box: ``"rigid"``, a weld; ``"point"``, a ball joint; ``"soft"``, a universal joint whose
        axes lie in the face of the box, so that it also carries a moment about the normal, as a soft finger does.
    arms
        How many; their bases stand evenly on a circle of radius 0.85 m and look inwards.
    joints
        6, or 3 for arms that end at the wrist (with ``contact="point"``).
    drive
        ``"lift"``: servos in all joints; ``"none"``.
    position
        Of the box's frame at the start, m; its axes are those of the world.
    lift
        How far the servos raise the box, m.
    grasps
        Frames of the tips on the box, each as ``(R, p)``; by default on a circle of radius 0.2 m, at heights from -0.03
        to 0.03 m, pointing inwards.

    Notes
    -----
    Arms: standard Denavit-Hartenberg rows, masses and inertias as P. Corke's tables have them (after Armstrong, Khatib
    and Burdick 1986), with a tool of 0.1 m and without motor inertias. Two things are written differently, with the
    same motion: the first link turns about its own axis only, so its mass (10 kg here) does not matter, and 0.005 kg
    m^2 of its 0.35 about that axis are counted with the third link (about x and z, which together see that same
    turn): the third link's own numbers break the triangle inequality. Box, places and grasps are ours.

    As in the paper, the box is a limb of its own; the tips are cut, and the pose of the box has six coordinates.
    """
    one_of("arms_with_box: contact", contact, tuple(CONTACTS))
    one_of("arms_with_box: drive", drive, ("lift", "none"))
    one_of("arms_with_box: joints", joints, (3, 6))
    whole("arms_with_box: arms", arms, 1)
    if joints == 3 and contact != "point":
        raise ModelError("arms_with_box: arms of three joints cannot turn their tips: use contact='point'")
    if grasps is None:
        grasps = [_grasp(k, arms) for k in range(arms)]
    grasps = entries(grasps, arms, f"arms_with_box: give one grasp for each of the {arms} arms", "[(R, p), ...]")
    m = Mechanism("arms-with-box", gravity=(0, 0, -G))
    box = m.body("box", rigid(BOX_MASS, BOX_COM, BOX_INERTIA))
    m.output = box["origin"]
    pose = (*position, 1.0, 0.0, 0.0, 0.0)
    m.free("pose", m.ground, box, guess=pose)
    m.start = dict(zip((f"pose.{x}" for x in ("x", "y", "z", "qw", "qx", "qy", "qz")), pose, strict=True))
    servos = [gains(m, *pair, suffix=str(i)) for i, pair in enumerate(GAINS[:joints], 1)] if drive == "lift" else []
    up, load = np.array([0.0, 0.0, lift]), BOX_MASS * G / arms
    for k, (R, p) in enumerate(grasps):
        place, towards = _base(k, arms)
        at = np.asarray(position, float) + np.asarray(p, float) - place
        q, goal = (_angles(towards.T @ np.asarray(R), towards.T @ x, joints) for x in (at, at + up))
        tip, hinges = _arm(m, f"arm{k + 1}", m.ground.at(*place, R=towards), q)
        m.joint(CONTACTS[contact], f"arm{k + 1} tip", tip, box.frame(f"grasp{k + 1}", at=p, R=R), cut=True)
        if servos:
            hold = _holding(towards, q, load)
            for i, hinge in enumerate(hinges):
                servo(m, hinge, q[i], goal[i], hold[i], servos[i], PERIOD)
    return m


def _base(k: int, arms: int) -> tuple[np.ndarray, np.ndarray]:
    """Place and axes of a base: x looks at the middle."""
    angle = 2 * math.pi * k / arms
    return 0.85 * np.array([math.cos(angle), math.sin(angle), 0.0]), about_z(angle + math.pi)


def _grasp(k: int, arms: int) -> tuple[np.ndarray, np.ndarray]:
    """Axes and place of a tip on the box: z points inwards, x down."""
    angle = 2 * math.pi * k / arms
    c, s = math.cos(angle), math.sin(angle)
    height = 0.06 * k / (arms - 1) - 0.03 if arms > 1 else 0.0
    return np.array([[0.0, s, -c], [0.0, -c, -s], [-1.0, 0.0, 0.0]]), np.array([0.2 * c, 0.2 * s, height])


def _arm(m: Mechanism, name: str, base: Frame, q: Sequence[float]) -> tuple[Frame, list[Joint]]:
    """Draw an arm; its tip and its hinges. Each body's frame is the link's, at the end of the link."""
    last: Body | Frame = base
    hinges = []
    for i, (angle, (d, a, alpha, mass, com, inertia)) in enumerate(zip(q, PUMA, strict=False), 1):
        link = m.body(f"{name} link{i}", rigid(mass, com, inertia))
        back = about_x(-alpha)
        hinges.append(m.revolute(f"{name} joint{i}", last, link.at(*-back @ [a, 0.0, d], R=back), guess=angle))
        last = link
    assert isinstance(last, Body)
    return last.frame("tip", at=(0.0, 0.0, TOOL if len(q) == 6 else WRIST)), hinges


def _angles(R: np.ndarray, p: np.ndarray, joints: int) -> list[float]:
    """Inverse kinematics: tip at ``p`` with axes ``R`` in the base's frame; elbow up, the wrist bent one way."""
    d3, a2, a3, d4 = PUMA[2][0], PUMA[1][1], PUMA[2][1], PUMA[3][0]
    x, y, z = p - TOOL * R[:, 2] if joints == 6 else p
    q1 = math.atan2(y, x) + math.asin(d3 / math.hypot(x, y))
    along = x * math.cos(q1) + y * math.sin(q1)
    forearm, bend = math.hypot(a3, d4), math.atan2(d4, a3)
    elbow = -math.acos((along**2 + z**2 - a2**2 - forearm**2) / (2 * a2 * forearm))
    q2 = math.atan2(z, along) - math.atan2(forearm * math.sin(elbow), a2 + forearm * math.cos(elbow))
    q3 = elbow - bend
    if joints == 3:
        return [q1, q2, q3]
    # axes of the hand in those of the third link: Rz(q4) Ry(-q5) Rz(q6)
    H = (about_z(q1) @ about_x(math.pi / 2) @ about_z(q2 + q3) @ about_x(-math.pi / 2)).T @ R
    return [
        q1, q2, q3,
        math.atan2(H[1, 2], H[0, 2]),
        -math.atan2(math.hypot(H[0, 2], H[1, 2]), H[2, 2]),
        math.atan2(H[2, 1], -H[2, 0]),
    ]  # fmt: skip


def _holding(towards: np.ndarray, q: Sequence[float], load: float) -> np.ndarray:
    """Torques that hold an arm and ``load`` N at its tip."""
    R, p = towards, np.zeros(3)
    axes, origins, places, forces = [], [], [], []
    for angle, (d, a, alpha, mass, com, _) in zip(q, PUMA, strict=False):
        axes.append(R[:, 2])
        origins.append(p)
        R = R @ about_z(angle)
        p = p + R @ [a, 0.0, d]
        R = R @ about_x(alpha)
        places.append(p + R @ com)
        forces.append((0.0, 0.0, -mass * G))
    places.append(p + R[:, 2] * (TOOL if len(q) == 6 else WRIST))
    forces.append((0.0, 0.0, -load))
    return chain_torques(axes, origins, places, forces)
