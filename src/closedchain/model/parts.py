"""The parts of a mechanism: bodies and their frames, and the joints between them. Plain data, made by `Mechanism`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.arguments import entries, known, listed, not_both, suggest, text
from closedchain.attached import Attached
from closedchain.errors import ModelError
from closedchain.model.bodies.rotation import IDENTITY, Rotation, from_axis, from_matrix, from_rpy
from closedchain.model.bodies.shapes import MassProperties, Vector
from closedchain.model.expressions.expression import Expression, Number, check_number
from closedchain.model.joints.types import JointType

if TYPE_CHECKING:
    from closedchain.model.bodies.flexible import make_flexible
    from closedchain.model.mechanism import Mechanism


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


class Body(Attached):
    """A body: mass properties and named frames, rigid unless `flexible` says otherwise.

    ``body.tip`` and ``body["tip"]`` give a frame.
    """

    if TYPE_CHECKING:  # attached by `closedchain.verbs`
        flexible = make_flexible

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
        what = f"frame on {self.name!r}"
        for label, c in zip("xyz", (x, y, z), strict=True):
            if listed(c) is not None:
                raise ModelError(f"{what}: give three numbers, body.at(x, y, z), not {c!r}")
            check_number(c, f"{what}: {label}")
        return Frame(self, (x, y, z), _rotation(rpy, R, axis, what))

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
        text(f"the name of a frame on {self.name!r}", name)
        if "." in name:
            raise ModelError(
                f"frame {name!r} on body {self.name!r}: a dot stands between the body and the frame, as in "
                f"'{self.name}.tip'; write {name.replace('.', '_')!r}"
            )
        what = f"frame {self.name}.{name}"
        x, y, z = entries(at, 3, f"{what}: a position has three components", "at=(0.1, 0, 0)")
        return self.mechanism._name_frame(Frame(self, (x, y, z), _rotation(rpy, R, axis, what)), name)

    def __getitem__(self, name: str) -> Frame:
        return self.frames[known(f"body {self.name!r} has no frame", name, self.frames)]

    __iter__ = None  # frames have names, not numbers: a body is no sequence

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
    not_both(what, rpy=rpy, R=R, axis=axis)
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
        if isinstance(velocity, int | np.integer) and 0 <= velocity < len(names):
            return int(velocity)
        return names.index(known(f"{what}: joint {self.name!r} has no coordinate", velocity, names))

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

    def coordinate(self, index: int) -> Expression:
        """One of the coordinates as an expression, by its number."""
        return self._all("coordinate", self.type.coordinates)[index]

    def velocity(self, index: int) -> Expression:
        """One of the velocities as an expression, by its number."""
        return self._all("velocity", self.type.velocities)[index]

    def _all(self, op: str, names: tuple[str, ...]) -> tuple[Expression, ...]:
        return tuple(Expression(op, self.name, None if len(names) == 1 else n) for n in names)

    def _leaves(self, op: str, names: tuple[str, ...]) -> Any:
        leaves = self._all(op, names)
        return leaves[0] if len(leaves) == 1 else leaves

    def __repr__(self) -> str:
        return f"Joint({self.name!r}, {self.type.name}, {self.a.body.name}-{self.b.body.name})"
