"""The parts of a mechanism: bodies and their frames, joints, and what acts on them. Plain data, made by `Mechanism`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.errors import ModelError
from closedchain.model.expression import Expression, Number
from closedchain.model.joint_types import JointType
from closedchain.model.rotation import IDENTITY, Rotation, from_axis, from_matrix, from_rpy
from closedchain.model.shapes import MassProperties, Vector

if TYPE_CHECKING:
    from closedchain.model.mechanism import Mechanism


def suggest(name: str, known: Any) -> str:
    """A tail for 'unknown name' errors: the nearest known names."""
    known = list(known)
    near = get_close_matches(str(name), known, n=3, cutoff=0.5)
    if near:
        return f"; did you mean {' or '.join(map(repr, near))}?"
    return f"; known: {', '.join(map(repr, known[:12]))}{', ...' if len(known) > 12 else ''}" if known else ""


@dataclass(frozen=True, eq=False)
class Frame:
    """A place and orientation on a body. ``name`` is None until a joint or force takes the frame up."""

    body: Body
    position: Vector
    rotation: Rotation = IDENTITY
    name: str | None = None

    @property
    def place(self) -> tuple[Expression, Expression, Expression]:
        """World coordinates of the frame's origin as expressions, for forces and events."""
        return self._leaves("place")

    @property
    def speed(self) -> tuple[Expression, Expression, Expression]:
        """World velocity of the frame's origin as expressions, for forces and events."""
        return self._leaves("speed")

    def _leaves(self, op: str) -> tuple[Expression, Expression, Expression]:
        if self.name is None:
            raise ModelError(f"name the frame on {self.body.name!r} first: body.frame(name, at=...)")
        return tuple(Expression(op, self.body.name, self.name, axis) for axis in range(3))  # type: ignore[return-value]

    def __repr__(self) -> str:
        return f"Frame({self.body.name}.{self.name or '?'})"


class Body:
    """A rigid body: mass properties and named frames. ``body.tip`` and ``body["tip"]`` give a frame."""

    def __init__(self, mechanism: Mechanism, name: str, properties: MassProperties, kind: str, outline: Any) -> None:
        self.mechanism = mechanism
        self.name = name
        self.properties = properties
        self.kind = kind
        self.outline = outline
        self.frames: dict[str, Frame] = {"origin": Frame(self, (0.0, 0.0, 0.0), name="origin")}
        for frame, position in properties.frames.items():
            self.frames[frame] = Frame(self, position, name=frame)
        self.frames["com"] = Frame(self, properties.com, name="com")

    def at(
        self,
        x: Number = 0.0,
        y: Number = 0.0,
        z: Number = 0.0,
        *,
        rpy: Sequence[Number] | None = None,
        R: Any = None,
        axis: Sequence[float] | None = None,
    ) -> Frame:
        """A frame at (x, y, z) in the body, for use in a joint or force.

        The orientation is that of the body unless ``rpy`` (roll, pitch, yaw about fixed axes, rad), ``R`` (3x3, columns
        are the frame's axes) or ``axis`` (direction of the frame's z) says otherwise.
        """
        for c in (x, y, z):
            if not isinstance(c, Expression) and np.ndim(c) > 0:
                raise ModelError(f"frame on {self.name!r}: give three numbers, body.at(x, y, z), not {c!r}")
        return Frame(self, (x, y, z), _rotation(rpy, R, axis, f"frame on {self.name!r}"))

    def frame(
        self,
        name: str,
        at: Sequence[Number] = (0, 0, 0),
        *,
        rpy: Sequence[Number] | None = None,
        R: Any = None,
        axis: Sequence[float] | None = None,
    ) -> Frame:
        """Name a frame on this body; see `at` for the orientation."""
        if len(at) != 3:
            raise ModelError(f"frame {self.name}.{name}: a position has three components, not {len(at)}")
        rotation = _rotation(rpy, R, axis, f"frame {self.name}.{name}")
        return self.mechanism._name_frame(Frame(self, (at[0], at[1], at[2]), rotation), name)

    def __getitem__(self, name: str) -> Frame:
        try:
            return self.frames[name]
        except KeyError:
            raise ModelError(f"body {self.name!r} has no frame {name!r}{suggest(name, self.frames)}") from None

    def __getattr__(self, name: str) -> Frame:
        if name.startswith("_") or name == "frames":
            raise AttributeError(name)
        try:
            return self.frames[name]
        except KeyError:
            raise AttributeError(
                f"body {self.name!r} has no frame or attribute {name!r}{suggest(name, self.frames)}"
            ) from None

    def __repr__(self) -> str:
        return f"Body({self.name!r})"


def _rotation(rpy: Any, R: Any, axis: Any, what: str) -> Rotation:
    if sum(x is not None for x in (rpy, R, axis)) > 1:
        raise ModelError(f"{what}: give one of rpy, R, axis")
    if rpy is not None:
        return from_rpy(rpy, what)
    if R is not None:
        return from_matrix(R, what)
    return IDENTITY if axis is None else from_axis(axis, what)


@dataclass(frozen=True)
class Friction:
    """Friction in a joint coordinate.

    Attributes
    ----------
    viscous
        N m s/rad or N s/m.
    coulomb
        N m or N, independent of the speed.
    velocity
        Speed (rad/s or m/s) over which Coulomb friction changes sign smoothly: ``tanh(v / velocity)``.
    """

    viscous: Number = 0.0
    coulomb: Number = 0.0
    velocity: Number = 1e-2


@dataclass(frozen=True)
class Stops:
    """Limits that hold: a spring and a damper act outside (low, high).

    Attributes
    ----------
    low, high
        rad or m.
    stiffness
        N m/rad or N/m.
    damping
        N m s/rad or N s/m, while outside.
    """

    low: float
    high: float
    stiffness: Number
    damping: Number = 0.0


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint from frame ``a`` (P) to frame ``b`` (S); at zero coordinates the two frames coincide.

    ``rotation`` turns both frames so that the joint's own axes are where the table of joint types has them.
    """

    name: str
    type: JointType
    a: Frame
    b: Frame
    rotation: Rotation = IDENTITY
    pitch: Number = 0.0
    guess: tuple[float, ...] = ()
    limits: tuple[tuple[float, float] | None, ...] = ()
    friction: tuple[Friction | None, ...] = ()
    cut: bool | None = None

    def index(self, velocity: str | int | None, what: str) -> int:
        """Number of a velocity of this joint by its name."""
        names = self.type.velocities
        if velocity is None:
            if len(names) == 1:
                return 0
            raise ModelError(
                f"{what}: joint {self.name!r} ({self.type.name}) has {len(names)} freedoms {names}; "
                "say which one with coordinate=..."
                if names
                else f"{what}: joint {self.name!r} is a weld and has no freedom"
            )
        if velocity in names:
            return names.index(velocity)  # type: ignore[arg-type]
        if isinstance(velocity, int) and 0 <= velocity < len(names):
            return velocity
        raise ModelError(f"{what}: joint {self.name!r} has no coordinate {velocity!r}{suggest(str(velocity), names)}")

    def labels(self) -> tuple[str, ...]:
        """Names of the coordinates in results: the joint's own name if there is one only."""
        return self._labels(self.type.coordinates)

    def velocity_labels(self) -> tuple[str, ...]:
        """Names of the velocities in results."""
        return self._labels(self.type.velocities)

    def _labels(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return (self.name,) if len(names) == 1 else tuple(f"{self.name}.{n}" for n in names)

    @property
    def q(self) -> Any:
        """The coordinate as an expression (a tuple of them if there are several)."""
        return self._leaves("coordinate", self.type.coordinates)

    @property
    def v(self) -> Any:
        """The velocity as an expression (a tuple of them if there are several)."""
        return self._leaves("velocity", self.type.velocities)

    def _leaves(self, op: str, names: tuple[str, ...]) -> Any:
        leaves = tuple(Expression(op, self.name, None if len(names) == 1 else n) for n in names)
        return leaves[0] if len(leaves) == 1 else leaves

    def __repr__(self) -> str:
        return f"Joint({self.name!r}, {self.type.name}, {self.a.body.name}-{self.b.body.name})"


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


@dataclass
class Leaves:
    """``q["A"]``, ``v["A"]`` or ``q["leg.x"]`` inside a torque function."""

    op: str
    joints: Mapping[str, Joint] = field(default_factory=dict)

    def __getitem__(self, key: str) -> Expression:
        if key in self.joints:
            joint, name = key, None
        else:
            joint, _, name = key.rpartition(".")  # type: ignore[assignment]
        if joint not in self.joints:
            raise ModelError(f"a torque refers to the unknown joint {key!r}{suggest(key, self.joints)}")
        return coordinate_leaf(self.op, self.joints[joint], name)


def coordinate_leaf(op: str, joint: Joint, name: str | None) -> Expression:
    """The expression of one coordinate or velocity of a joint."""
    names = joint.type.coordinates if op == "coordinate" else joint.type.velocities
    if name is None and len(names) != 1:
        raise ModelError(
            f"joint {joint.name!r} ({joint.type.name}) has {len(names)} values {names}: "
            f"write for instance {f'{joint.name}.{names[0]}'!r}"
            if names
            else f"joint {joint.name!r} is a weld and has no coordinate"
        )
    if name is not None and name not in names:
        raise ModelError(f"joint {joint.name!r} has no {op} {name!r}{suggest(name, names)}")
    return Expression(op, joint.name, None if len(names) == 1 else name)
