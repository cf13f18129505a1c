"""What keeps the larger mechanisms of the library from falling: the efforts that hold a pose, and servos around them.

A servo takes its joint from the start to a goal and back, again and again:
``effort = hold + kp (wanted - q) + kd (wanted' - v)`` with ``wanted = start + stroke sin(pi t / period)^2``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from closedchain.model.expressions.expression import Expression, t
from closedchain.model.expressions.functions import pi, sin
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import Joint

Gains = tuple[Expression, Expression]


def gains(m: Mechanism, kp: float, kd: float, suffix: str = "") -> Gains:
    """Declare the gains of some servos."""
    return m.parameter(f"kp{suffix}", kp), m.parameter(f"kd{suffix}", kd)


def servo(m: Mechanism, joint: Joint, start: float, goal: float, hold: float, gain: Gains, period: float) -> None:
    """Drive a hinge or a slide from ``start`` to ``goal`` and back in each period (s)."""
    kp, kd = gain
    name = joint.name
    stroke, at_rest = m.parameter(f"{name} stroke", goal - start), m.parameter(f"{name} hold", hold)
    wanted = m.parameter(f"{name} start", start) + stroke * sin(pi * t / period) ** 2
    rate = stroke * (pi / period) * sin(2 * pi * t / period)
    effort = at_rest + kp * (wanted - joint.q) + kd * (rate - joint.v)
    if joint.type.velocity_units[0] == "rad/s":
        m.motor(joint, torque=effort)
    else:
        m.motor(joint, force=effort)


def chain_torques(axes: Any, origins: Any, places: Any, forces: Any) -> np.ndarray:
    """Torques that hold a chain of hinges at rest.

    Parameters
    ----------
    axes, origins
        (n, 3) of the hinges from the base on, in world axes.
    places, forces
        (n + 1, 3) where each of the n links, and last the tip, is pulled, and with which force.
    """
    return np.array(
        [
            -axis @ np.cross(np.asarray(places)[i:] - origin, np.asarray(forces)[i:]).sum(axis=0)
            for i, (axis, origin) in enumerate(zip(np.asarray(axes), np.asarray(origins), strict=True))
        ]
    )


def pose_efforts(inverse: Callable[[Any], Any], potential: Callable[[Any], float], pose: Any) -> np.ndarray:
    """Efforts of the motors that hold a parallel robot at rest: ``J' effort = dV/dx`` for all small moves of its pose.

    Parameters
    ----------
    inverse
        Motor coordinates of a pose; as many as the pose has numbers.
    potential
        Energy (J) of a pose.
    pose
        Where to hold it.
    """
    x, h = np.asarray(pose, float), 1e-5  # central differences: errors of h^2 do not matter beside a controller
    moves = h * np.eye(len(x))
    J = np.array([(np.asarray(inverse(x + d)) - np.asarray(inverse(x - d))) / (2 * h) for d in moves])
    gradient = np.array([(potential(x + d) - potential(x - d)) / (2 * h) for d in moves])
    return np.linalg.solve(J, gradient)


def about_z(angle: float) -> np.ndarray:
    """Rotation about z."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def about_x(angle: float) -> np.ndarray:
    """Rotation about x."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
