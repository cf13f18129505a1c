"""What acts in a mechanism: motors, springs, dampers, stops, rotors, gears, drives, forces. Plain data."""

from __future__ import annotations

from dataclasses import dataclass

from closedchain.model.expression import Number
from closedchain.model.parts import Frame
from closedchain.model.shapes import Vector


@dataclass(frozen=True, eq=False)
class Motor:
    """A force or torque ``effort`` on velocity number ``index`` of a joint."""

    name: str
    joint: str
    index: int
    effort: Number


@dataclass(frozen=True, eq=False)
class JointSpring:
    """``-stiffness (q - rest)`` on one coordinate of a joint."""

    name: str
    joint: str
    index: int
    stiffness: Number
    rest: Number


@dataclass(frozen=True, eq=False)
class JointDamper:
    """``-(damping v + coulomb tanh(v / velocity))`` on one velocity of a joint."""

    name: str
    joint: str
    index: int
    damping: Number
    coulomb: Number = 0.0
    velocity: Number = 1.0


@dataclass(frozen=True, eq=False)
class JointStop:
    """A compliant stop: outside (low, high) a coordinate meets ``stiffness`` and ``damping``."""

    name: str
    joint: str
    index: int
    low: Number
    high: Number
    stiffness: Number
    damping: Number


@dataclass(frozen=True, eq=False)
class Rotor:
    """A rotor geared to a joint velocity: it adds ``inertia ratio^2`` there."""

    name: str
    joint: str
    index: int
    inertia: Number
    ratio: Number


@dataclass(frozen=True, eq=False)
class Coupling:
    """A gear or mimic joint: coordinate ``driven`` equals ``ratio`` times coordinate ``driver`` plus ``offset``."""

    name: str
    driven: tuple[str, int]
    driver: tuple[str, int]
    ratio: Number
    offset: Number


@dataclass(frozen=True, eq=False)
class Drive:
    """A prescribed motion: a coordinate of a joint is a function of time; the force it takes is a result."""

    name: str
    joint: str
    index: int
    position: Number


@dataclass(frozen=True, eq=False)
class FrameForce:
    """A force and a moment at a frame, in world axes or in the frame's own."""

    name: str
    frame: Frame
    force: Vector
    moment: Vector
    world: bool


@dataclass(frozen=True, eq=False)
class PointSpring:
    """A spring and damper between the origins of two frames: pull ``k (d - length) + c d'`` at distance d."""

    name: str
    a: Frame
    b: Frame
    stiffness: Number
    length: Number
    damping: Number
