"""What a motion is asked to do: paths for frames and for coordinates, in the forms people write them.

A mapping names what moves and how: ``{"platform": path}`` for a frame, ``{"O": path}`` for a coordinate. A path is a
`closedchain.model.paths.Path`; a number, an expression of time or a function of time may stand for a path of one
coordinate, and three of them for the path of a point.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from closedchain.arguments import listed, suggest
from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Expression, Number
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import Body, Frame, Joint
from closedchain.model.paths import Path
from closedchain.model.paths.checks import of_time


@dataclass(frozen=True, eq=False)
class FrameTarget:
    """A frame that is to follow a path: position (None leaves a component free), and rotation (None leaves it free)."""

    frame: Frame
    position: tuple[Number | None, ...]
    rotation: tuple[tuple[Number, ...], ...] | None

    @property
    def name(self) -> str:
        """For messages."""
        if self.frame.name is not None:
            return f"{self.frame.body.name}.{self.frame.name}"
        return f"{self.frame.body.name} at ({', '.join(str(x) for x in self.frame.position)})"


@dataclass(frozen=True, eq=False)
class CoordinateTarget:
    """A coordinate of a joint that is to follow a path, or its distance ahead of another one that is."""

    joint: Joint
    index: int
    position: Number
    ahead_of: tuple[str, int] | None = None

    @property
    def name(self) -> str:
        """Its name in results."""
        return self.joint.labels()[self.index]


@dataclass(frozen=True, eq=False)
class Targets:
    """All that a motion is asked to do.

    Attributes
    ----------
    duration
        Length of the longest path, s; None if none of them has one.
    breaks
        Times at which an acceleration may jump.
    """

    frames: tuple[FrameTarget, ...]
    coordinates: tuple[CoordinateTarget, ...]
    duration: float | None = None
    breaks: tuple[float, ...] = ()

    @property
    def names(self) -> list[str]:
        """What is prescribed, for messages."""
        return [x.name for x in self.frames] + [x.name for x in self.coordinates if x.ahead_of is None]


def path_targets(mechanism: Mechanism, along: Mapping[Any, Any]) -> Targets:
    """Read a mapping of paths.

    Parameters
    ----------
    mechanism
        What moves.
    along
        Paths by frame (`Frame`, `Body`, ``"body"``, ``"body.frame"``), joint or coordinate (``"O"``, ``"table.x"``).
    """
    if not isinstance(along, Mapping):
        raise ModelError(
            f"a motion is asked for by a mapping from frames and joints to paths, for instance "
            f"{{'platform': cc.paths.rose(0.05, period=2)}}, not by {along!r}"
        )
    frames: list[FrameTarget] = []
    coordinates: list[CoordinateTarget] = []
    durations: list[float] = []
    breaks: set[float] = set()
    for key, path in along.items():
        if isinstance(path, Path):
            durations.append(path.duration)
            breaks |= set(path.breaks)
        frame, joint = _find(mechanism, key)
        if frame is not None:
            frames.append(_frame(mechanism, frame, path, str(getattr(key, "name", key))))
        else:
            assert joint is not None
            coordinates += _coordinates(mechanism, joint, key, path)
    coordinates += _shafts(mechanism, [(x.joint.name, x.index) for x in coordinates])
    return Targets(tuple(frames), tuple(coordinates), max(durations, default=None), tuple(sorted(breaks)))


def _find(m: Mechanism, key: Any) -> tuple[Frame | None, Joint | None]:
    """The frame or the joint that is meant."""
    if isinstance(key, Body):
        key = key["origin"]
    if isinstance(key, Frame | Joint):
        owner = key.body.mechanism if isinstance(key, Frame) else None
        if (owner is not None and owner is not m) or (isinstance(key, Joint) and m.joints.get(key.name) is not key):
            raise ModelError(f"{key} belongs to another mechanism than {m.name!r}")
        return (key, None) if isinstance(key, Frame) else (None, key)
    if not isinstance(key, str):
        raise ModelError(f"a path is for a frame, a body, a joint or a coordinate by name, not for {key!r}")
    by_label = {x: j for j in m.joints.values() for x in j.labels()}
    if key in m.joints or key in by_label:
        return None, m.joints[key] if key in m.joints else by_label[key]
    if m._find(key) is not None:
        return m.find_frame(key), None
    known = [*m.bodies, *m.joints, *by_label]
    raise ModelError(f"mechanism {m.name!r} has no frame, joint or coordinate {key!r}{suggest(key, known)}")


def _frame(m: Mechanism, frame: Frame, path: Any, key: str) -> FrameTarget:
    if frame.body is m.ground:
        raise ModelError(f"path of {key!r}: the ground does not move")
    if isinstance(path, Path):
        if len(path.components) not in (0, 3):
            raise ModelError(
                f"path of {key!r}: a frame's position has three components, but this path has {len(path.components)}"
            )
        parts: Any = path.components or (None,) * 3
        rotation = path.rotation
    else:
        parts, rotation = listed(path), None
        if parts is None or len(parts) != 3:
            raise ModelError(
                f"path of {key!r}: give a path of cc.paths, or three functions of time (None leaves one free), "
                f"not {path!r}"
            )
    position = tuple(None if x is None else _of_time(m, x, f"path of {key!r}") for x in parts)
    turned = None
    if rotation is not None:
        turned = tuple(tuple(_of_time(m, x, f"path of {key!r}") for x in row) for row in rotation)
    return FrameTarget(frame, position, turned)


def _coordinates(m: Mechanism, joint: Joint, key: Any, path: Any) -> list[CoordinateTarget]:
    labels = joint.labels()
    name = joint.name if isinstance(key, Joint) else key
    if joint.type.has_quaternion:
        raise ModelError(
            f"path of {name!r}: a {joint.type.name} joint has no coordinates that follow a path one by one; prescribe "
            f"a frame instead, for instance {{{joint.b.body.name!r}: ...}}"
        )
    if not labels:
        raise ModelError(f"path of {name!r}: the joint is a weld and does not move")
    picked = labels if name == joint.name else (name,)
    if isinstance(path, Path):
        if path.rotation is not None:
            raise ModelError(f"path of {name!r}: a coordinate has no orientation; give the path of a frame")
        parts: Any = path.components
    else:
        several = listed(path)
        parts = (path,) if several is None else several
    if len(parts) != len(picked):
        raise ModelError(
            f"path of {name!r}: it has {len(picked)} coordinate{'s' * (len(picked) != 1)} ({', '.join(picked)}), "
            f"but the path has {len(parts)} component{'s' * (len(parts) != 1)}"
        )
    return [
        CoordinateTarget(joint, labels.index(label), _of_time(m, x, f"path of {label!r}"))
        for label, x in zip(picked, parts, strict=True)
        if x is not None
    ]


def _shafts(m: Mechanism, known: list[tuple[str, int]]) -> list[CoordinateTarget]:
    """Shafts of motors behind springs go with the joints that they drive, unless they have paths of their own."""
    return [
        CoordinateTarget(m.joints[x.joint], x.index, 0.0, x.output)
        for x in m.actuators.values()
        if x.output != (x.joint, x.index) and (x.joint, x.index) not in known
    ]


def _of_time(m: Mechanism, x: Any, what: str) -> Number:
    """An expression of time and parameters; numbers stay numbers, since a path is no part of the drawing."""
    value = of_time(x, what)
    for leaf in value.leaves() if isinstance(value, Expression) else ():
        if leaf.op == "parameter":
            m._check_parameter(leaf, what)
    return value
