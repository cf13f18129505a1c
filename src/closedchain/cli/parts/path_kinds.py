"""Kinds of paths as typed, ``KIND:NUMBERS``, and the options of time and place that they share.

Numbers are distances from where something is at the start, so that every path begins there; only round paths with a
centre of their own say where in the world they are.

How to add your own kind
------------------------
1. Write a function ``(place, rows, plan) -> Path`` below: where the target is at the start, the numbers after the
   colon, and times, law and plane. Take these from the `Plan` by its methods: an option that no path asks for is then
   told to the user instead of being ignored.
2. Add one line to ``KINDS``, with the form that messages and the help show.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from closedchain.arguments import one_of, positive
from closedchain.cli.parts.exits import WrongUsage, as_typed
from closedchain.errors import ModelError

if TYPE_CHECKING:
    from closedchain.model.paths import Path

LAWS = ("minimum-jerk", "trapezoidal", "uniform")
PLANES = {"xy": ((1, 0, 0), (0, 1, 0)), "yz": ((0, 1, 0), (0, 0, 1)), "zx": ((0, 0, 1), (1, 0, 0))}

Place = tuple[float, ...]  # three numbers for a frame, one for a coordinate
Rows = list[list[float]]  # as typed: rows are separated by semicolons, the numbers of a row by commas


@dataclass
class Plan:
    """Options that all paths share, and which of them a path has asked for; ``usual`` is how long they take, s."""

    usual: float
    period: float | None = None
    duration: float | None = None
    law: str | None = None
    centre: Place | None = None
    plane: str | None = None
    used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for option in ("period", "duration"):
            if getattr(self, option) is not None:
                as_typed(partial(positive, f"--{option}", getattr(self, option), "of seconds"))
        for option, known in (("law", LAWS), ("plane", tuple(PLANES))):
            if getattr(self, option) is not None:
                as_typed(partial(one_of, f"--{option}", getattr(self, option), known))

    def length(self) -> float:
        """How long something takes that is done once, s."""
        self.used.add("duration")
        return self.duration or self.usual

    def once(self) -> dict[str, Any]:
        """Of a motion from rest to rest: how long, and with which law."""
        self.used.add("law")
        return {"duration": self.length(), "law": self.law or "minimum-jerk"}

    def again(self) -> dict[str, Any]:
        """Of a round path: again and again with a period, or once from rest to rest."""
        return self.once() if self.period is None else {"period": self.round_trip()}

    def round_trip(self) -> float:
        """Period of a path that never rests, s."""
        self.used.add("period")
        return self.period or self.usual

    def axes(self) -> tuple[Place, Place]:
        """Two directions that span the plane of round paths."""
        self.used.add("plane")
        return PLANES[self.plane or "xy"]

    def middle(self, place: Place, radius: float) -> Place:
        """The centre of a round path that begins at a place, or the one that was typed."""
        self.used.add("centre")
        return self.centre or tuple(x - radius * d for x, d in zip(place, self.axes()[0], strict=True))

    def check_used(self) -> None:
        """Complain about an option that no path has a use for."""
        for option, use in _USES.items():
            if getattr(self, option) is not None and option not in self.used:
                raise WrongUsage(f"--{option} changes nothing here: {use}")


_USES = {
    "period": "it is for circle, rose and sine, which go on and on; other paths take --duration",
    "duration": "no path moves from rest to rest; --until says when to stop, --period how long a round takes",
    "law": "no path moves from rest to rest (circle and rose do with --duration instead of --period)",
    "centre": "it is the centre of a circle or a rose",
    "plane": "it is the plane of a circle, a rose or an arc",
}


@dataclass(frozen=True)
class Kind:
    """A kind of path: how it is made, how it is typed, and which numbers it takes.

    Attributes
    ----------
    build
        None: it is no matter of a place alone.
    counts
        How many numbers it takes; none: as many as the place has.
    several
        Whether it takes several rows of numbers.
    for_frames
        Whether it is for frames only, not for coordinates.
    """

    build: Callable[[Place, Rows, Plan], Path] | None
    form: str
    counts: tuple[int, ...] = ()
    several: bool = False
    for_frames: bool = False


def _move(place: Place, rows: Rows, plan: Plan) -> Path:
    from closedchain.model import paths

    return paths.line(_said(place), _said(_moved(place, rows[0])), **plan.once())


def _points(place: Place, rows: Rows, plan: Plan) -> Path:
    from closedchain.model import paths

    return paths.points(_stations(place, rows), **plan.once())


def _spline(place: Place, rows: Rows, plan: Plan) -> Path:
    from closedchain.model import paths

    return paths.spline(_stations(place, rows), **plan.once())


def _sine(place: Place, rows: Rows, plan: Plan) -> Path:
    from closedchain.model import paths

    period = plan.round_trip()
    each = [paths.sine(a, period, centre=x) for a, x in zip(rows[0], place, strict=True)]
    return paths.Path(tuple(path.components[0] for path in each), duration=period, endless=True)


def _hold(place: Place, rows: Rows, plan: Plan) -> Path:
    from closedchain.model import paths

    return paths.rest(_said(place), plan.length())


def _circle(place: Place, rows: Rows, plan: Plan) -> Path:
    from closedchain.model import paths

    radius = rows[0][0]
    return paths.circle(radius, centre=plan.middle(place, radius), axes=plan.axes(), **plan.again())


def _rose(place: Place, rows: Rows, plan: Plan) -> Path:
    from closedchain.model import paths

    r0, k = (*rows[0], 2)[:2]
    return paths.rose(r0, k, centre=plan.middle(place, r0), axes=plan.axes(), **plan.again())  # type: ignore[arg-type]


def _arc(place: Place, rows: Rows, plan: Plan) -> Path:
    import numpy as np

    from closedchain.model import paths

    x, y, angle = rows[0]
    u, w = (np.array(axis, float) for axis in plan.axes())
    centre = np.array(place) + x * u + y * w
    return paths.arc(place, centre=centre.tolist(), angle=angle, normal=np.cross(u, w).tolist(), **plan.once())


def turn(rotation: Any, by: Sequence[float], plan: Plan) -> Path:
    """From an orientation by a rotation vector, rad, with the law on its angle."""
    from closedchain.model import paths

    angle = math.hypot(*by)
    if not angle:
        raise ModelError("a turn needs an angle: it is the length of the rotation vector, rad")
    there = paths.rest((0, 0, 0), 0.0).oriented(rotation).turned(tuple(by), paths.line(0.0, angle, **plan.once()))
    return paths.Path((), there.rotation, there.duration, there.breaks)


KINDS = {
    "move": Kind(_move, "move:D"),
    "points": Kind(_points, "points:D;D;...", several=True),
    "spline": Kind(_spline, "spline:D;D;...", several=True),
    "sine": Kind(_sine, "sine:A"),
    "hold": Kind(_hold, "hold", counts=(0,)),
    "circle": Kind(_circle, "circle:R", counts=(1,), for_frames=True),
    "rose": Kind(_rose, "rose:R[,K]", counts=(1, 2), for_frames=True),
    "arc": Kind(_arc, "arc:X,Y,ANGLE", counts=(3,), for_frames=True),
    "turn": Kind(None, "turn:X,Y,Z", counts=(3,), for_frames=True),
    "table": Kind(None, "table:FILE.csv"),
}
ALSO_CALLED = {"line": "move", "rest": "hold"}  # in Python


def _moved(place: Place, by: Sequence[float]) -> Place:
    return tuple(x + d for x, d in zip(place, by, strict=True))


def _stations(place: Place, rows: Rows) -> list[Any]:
    """The start, and all places after it."""
    before = [0.0] * len(place)
    for k, row in enumerate(rows, start=1):
        if row == before:
            where = "the start itself" if k == 1 else f"the same as place {k - 1}"
            raise ModelError(
                f"place {k} is {where}: leave it out, as --duration is shared out by distance and leaves no time for it"
            )
        before = row
    return [_said(place), *(_said(_moved(place, row)) for row in rows)]


def _said(place: Place) -> Any:
    """One number for a coordinate, three for a point."""
    return place[0] if len(place) == 1 else place
