"""Paths as typed: ``[TARGET=]KIND:NUMBERS``, for instance ``rose:0.05``, ``platform=move:0,0,0.1`` or ``O=move:2*pi``.

A target is a frame (three numbers for a place) or a coordinate (one number). Without a target it is the output frame of
the mechanism. The kinds are in `path_kinds`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from closedchain.cli.parts import path_kinds, values
from closedchain.cli.parts.exits import WrongUsage, as_typed
from closedchain.cli.parts.path_kinds import ALSO_CALLED, KINDS, Kind, Place, Plan, Rows
from closedchain.errors import ModelError

if TYPE_CHECKING:
    from closedchain.model.mechanism import Mechanism
    from closedchain.model.parts import Frame
    from closedchain.model.paths import Path
    from closedchain.pose.state import State


@dataclass(frozen=True)
class Spec:
    """A path as typed: ``target`` is empty for the output of the mechanism."""

    typed: str
    target: str
    kind: str
    arguments: str

    @property
    def option(self) -> str:
        """For messages."""
        return f"--path {self.typed}"

    @property
    def said(self) -> str:
        """Without the target."""
        return f"{self.kind}:{self.arguments}" if self.arguments else self.kind


@dataclass
class Followed:
    """What a frame or a coordinate is to follow.

    Attributes
    ----------
    target, name
        A `Frame`, or the name of a coordinate; its name.
    said
        As typed, without the target.
    orientation
        Of a frame: ``"given"`` by its path, ``"kept"`` as it is at the start, ``"follows"`` from the position, or left
        ``"free"``; None for a coordinate.
    """

    target: Frame | str
    name: str
    path: Path
    said: str
    orientation: str | None = None


def build(specs: Sequence[Spec], m: Mechanism, start: State, plan: Plan, free_orientation: bool) -> list[Followed]:
    """Paths for all that was typed, each beginning where the mechanism is at its start.

    Where the positions of frames leave a motion open, their orientations are kept as they are at the start.
    """
    out: dict[str, Followed] = {}
    for spec in specs:
        for one in _read_path(spec, m, start, plan):
            if one.name in out:
                _combine(out[one.name], one)
            else:
                out[one.name] = one
    plan.check_used()
    found = list(out.values())
    frames = [one for one in found if not isinstance(one.target, str)]
    for one in frames:
        one.orientation = "given" if one.path.rotation is not None else "free" if free_orientation else "follows"
        if not one.path.components:
            one.path = _stay(pose(m, start, one.target)[0]).oriented(one.path)
    if not free_orientation and _leave_open(m, start, found):
        for one in frames:
            if one.orientation == "follows":
                one.path, one.orientation = one.path.oriented(pose(m, start, one.target)[1]), "kept"
    return found


def along(found: Sequence[Followed]) -> Mapping[Any, Path]:
    """As `follow` takes it."""
    return {one.target: one.path for one in found}


def example(m: Mechanism) -> str:
    """A path that a mechanism could follow, as it is typed."""
    return "circle:0.01" if m.output is not None else f"'{_movable_name(m)}=move:10*deg'"


# ---- what was typed -------------------------------------------------------------------------------------------------


def read(typed: str) -> Spec:
    """Take ``[TARGET=]KIND:NUMBERS`` apart."""
    from closedchain.arguments import suggest

    target, equals, rest = typed.partition("=")
    in_a_file_name = ":" in target and target.partition(":")[0].strip() in KINDS
    if not equals or in_a_file_name:
        target, rest = "", typed
    kind, _, arguments = (x.strip() for x in rest.partition(":"))
    if kind not in KINDS:
        near = f"; did you mean {ALSO_CALLED[kind]!r}?" if kind in ALSO_CALLED else suggest(kind, KINDS)
        raise WrongUsage(
            f"--path {typed}: {kind!r} is no kind of path{near if 'did you mean' in near else ''} "
            f"(write {', '.join(x.form for x in KINDS.values())}; before it TARGET= for another frame than the output, "
            "or for a joint)"
        )
    return Spec(typed, target.strip(), kind, arguments)


def point(option: str, text: str) -> Place:
    """Three numbers separated by commas."""
    found = _numbers(option, text)
    if len(found) != 3:
        raise WrongUsage(f"{option} takes three numbers, X,Y,Z, not {text!r}")
    return tuple(found)


def _numbers(option: str, text: str) -> list[float]:
    """Numbers separated by commas, with ``pi`` and ``deg``."""
    return [values.number(option, part) for part in text.split(",")]


def _rows(spec: Spec, size: int) -> Rows:
    """The numbers of a path whose target has a place of this size."""
    kind = KINDS[spec.kind]
    counts = kind.counts or (size,)
    texts = spec.arguments.split(";") if kind.several else [spec.arguments]
    rows = [_numbers(spec.option, text) for text in texts] if spec.arguments else [[]]
    for row in rows:
        if len(row) not in counts:
            of = "" if kind.counts else f"for a {'coordinate' if size == 1 else 'frame'} "
            wanted = " or ".join(map(str, counts)) if counts != (0,) else "no"
            raise WrongUsage(
                f"{spec.option}: {of}it takes {wanted} number{'s' * (wanted != '1')}{' each' * kind.several}, not "
                f"{len(row)}: write '{_form(kind, size)}'"
            )
    return rows


def _form(kind: Kind, size: int) -> str:
    """How it is typed for a target with a place of this size."""
    name, _, what = kind.form.partition(":")
    if kind.counts or size == 1:
        return kind.form
    return f"{name}:{what.replace(what[0], ','.join(what[0] + axis for axis in 'xyz'))}"


# ---- what is meant --------------------------------------------------------------------------------------------------


def _read_path(spec: Spec, m: Mechanism, start: State, plan: Plan) -> list[Followed]:
    """The path of a frame or of a coordinate; a table may have many of these."""
    if spec.kind == "table":
        return _read_table(spec, m)
    target, name = _target(spec, m)
    kind = KINDS[spec.kind]
    place: Place
    if isinstance(target, str):
        if kind.for_frames:
            raise WrongUsage(
                f"{spec.option}: {spec.kind} is a path in space, but {name!r} is a coordinate; write '{name}=move:D', "
                f"'{name}=sine:A' or '{name}=points:D;D'"
            )
        place, rotation = (start[target],), None
    else:
        place, rotation = pose(m, start, target)
    rows = _rows(spec, len(place))
    build_ = kind.build or (lambda place, rows, plan: path_kinds.turn(rotation, rows[0], plan))
    return [Followed(target, name, as_typed(lambda: build_(place, rows, plan), spec.option), spec.said)]


def _read_table(spec: Spec, m: Mechanism) -> list[Followed]:
    """The rows of a file: of a frame, of a coordinate, or of all coordinates that its columns are named after."""
    from closedchain.model import paths

    file = os.path.expanduser(spec.arguments)
    if not spec.arguments:
        raise WrongUsage(f"{spec.option}: write 'table:FILE.csv'")
    if not os.path.isfile(file):
        raise WrongUsage(f"{spec.option}: there is no file '{spec.arguments}'")
    columns: dict[str, Path] = {}
    try:
        columns = paths.joint_table(file)
    except ModelError as error:  # without names it is a frame's
        if not spec.target and m.output is None:
            raise WrongUsage(f"{spec.option}: {error}") from error
    labels = {x for joint in m.joints.values() for x in joint.labels()}
    if not spec.target and columns and set(columns) <= labels:
        return [Followed(name, name, path, spec.said) for name, path in columns.items()]
    target, name = _target(spec, m)
    if isinstance(target, str) and name in columns:
        return [Followed(target, name, columns[name], spec.said)]
    return [Followed(target, name, as_typed(lambda: paths.table(file), spec.option), spec.said)]


def _target(spec: Spec, m: Mechanism) -> tuple[Frame | str, str]:
    """The frame or the coordinate that is meant, and its name."""
    from closedchain.arguments import suggest

    name = spec.target
    if not name:
        if m.output is None:
            raise WrongUsage(
                f"{spec.option}: {m.name!r} has no output frame, so say what is to move, for instance "
                f"--path {example(m)}; {_movable(m)}"
            )
        return m.output, f"{m.output.body.name}.{m.output.name}"
    labels = {x: joint for joint in m.joints.values() for x in joint.labels()}
    joint = labels.get(name) or m.joints.get(name)
    if joint is not None and joint.type.has_quaternion:
        raise WrongUsage(
            f"{spec.option}: the coordinates of joint {joint.name!r} ({joint.type.name}) follow no paths one by one; "
            f"give one to the frame that it moves: --path '{joint.b.body.name}=...'"
        )
    if name in labels:
        return name, name
    if joint is not None:
        several = ", ".join(joint.labels())
        which = f"has the coordinates {several}: give each its path" if several else "does not move"
        raise WrongUsage(f"{spec.option}: joint {name!r} {which}")
    frame = m._find(name)
    if frame is None:
        near = suggest(name, [*m.bodies, *labels])
        hint = near if "did you mean" in near else f"; {_movable(m)}"
        raise WrongUsage(f"{spec.option}: {m.name!r} has no frame, joint or coordinate {name!r}{hint}")
    if frame.body is m.ground:
        raise WrongUsage(f"{spec.option}: the ground does not move")
    return frame, f"{frame.body.name}.{frame.name}"


def _movable_name(m: Mechanism) -> str:
    joints = [joint.name for joint in m.joints.values() if len(joint.labels()) == 1]
    return next(iter(joints), next(iter(m.bodies), "body"))


def _movable(m: Mechanism, most: int = 12) -> str:
    """What a path may be given for."""

    def some(names: Sequence[str]) -> str:
        return ", ".join(map(repr, names[:most])) + (", ..." if len(names) > most else "")

    labels = [x for j in m.joints.values() if not j.type.has_quaternion for x in j.labels()]
    return f"there are the bodies {some([*m.bodies])} and the coordinates {some(labels)}"


def _combine(one: Followed, other: Followed) -> None:
    """Position and orientation of a frame, typed one by one."""
    first, second = one.path, other.path
    if not first.components:
        first, second = second, first
    if not first.components or second.components or first.rotation is not None:
        raise WrongUsage(f"--path: {one.name!r} has two paths, {one.said} and {other.said}; only a turn can be added")
    one.path, one.said = first.oriented(second), f"{one.said}, {other.said}"


def _leave_open(m: Mechanism, start: State, found: Sequence[Followed]) -> bool:
    """Whether paths leave some motion to choose."""
    from closedchain.derive.equations import derive
    from closedchain.model.targets import path_targets
    from closedchain.pose.follow import Follower
    from closedchain.pose.state import parameter_vector

    asked = as_typed(lambda: path_targets(m, along(found)), "--path")
    follower = Follower(derive(m), asked, parameter_vector(m, start.parameters), start.open_joints)
    try:
        follower.check_determined(start.t, start.q)
    except ModelError:
        return True
    return False


def _stay(place: Place) -> Path:
    from closedchain.model import paths

    return paths.rest(place, 0.0)


def pose(m: Mechanism, state: State, frame: Any) -> tuple[Place, Any]:
    """Position and rotation of a frame in the world."""
    from dataclasses import replace

    from closedchain.results.motion.motion import Motion

    at = Motion.instant(replace(state, v=0 * state.v, a=None)).frame(frame)
    return tuple(at["position"].values[0].tolist()), at["rotation"].values[0].tolist()
