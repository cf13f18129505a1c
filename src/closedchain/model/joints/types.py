"""The joints a mechanism may have, as data.

A joint connects a frame P on one body with a frame S on another. It is a product of elementary motions that carries P
into S. Everything else follows from that product: the motion space `Phi` and the rates (`derive.joint_motion`), the
rows that close the joint when it is cut (`derive.closure`), its coordinates when they are measured on a pose
(`derive.measure`), its place in ERLS (`derive.erls.joints`), reactions, results and drawings.

How to add your own joint
-------------------------
A joint is one `JointType`, in one file, which may be yours: no line of the library changes. A slot, with a pin that
slides along x and turns about z, is ::

    SLOT = joint_type("slot", "Tx:0 Rz:1", "slide angle", symbol="L")

    m.joint(SLOT, "pin", crank.tip, yoke)

1. Write the elementary motions in the order from P to S, each with the number of the coordinate that drives it. A
   gimbal is ``Rz:0 Ry:1 Rx:2``, a pin-in-slot seen from the pin ``Rz:0 Tx:1``, a screw ``Tz*:0 Rz:0`` (the star scales
   a motion by the pitch of the joint).
2. Name the coordinates in the order of their numbers, each once. A coordinate that turns is in radians, one that slides
   in metres.
3. Give a letter for drawings of the graph.
4. If the library cannot derive how the joint is measured or closed, it says so in a sentence that names the joint. Then
   give ``measure``, a function ``(R_P, R_S, d, pitch) -> coordinates`` of the two orientations and of the way from P to
   S in common axes, all of them CasADi; and ``closure``, names of rows in `derive.closure` or `Lock` objects with a
   function of the same arguments that is zero where the joint is closed, one row for each locked direction.
5. `closedchain.testing.check_joint` checks motion space, closure rows, measured coordinates and energy, in a tree and
   cut, and the motion space that finite elements use.
6. ``register(SLOT)`` lets people write ``m.joint("slot", ...)``. A joint of the library stands in `JOINT_TYPES`.

``tests/recipes/test_joint.py`` follows these steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from closedchain.errors import ModelError
from closedchain.lock import locked

AXES = "xyz"
Quantity = Callable[[Any, Any, Any, Any], Any]
"""(R_P, R_S, d, pitch) -> column of values, traced"""


@dataclass(frozen=True)
class Motion:
    """One elementary motion.

    ``Rx Ry Rz`` turn, ``Tx Ty Tz`` slide, ``ball`` turns by a unit quaternion, ``free`` moves anywhere.
    """

    kind: str
    coordinate: int
    by_pitch: bool = False  # scaled by the joint's pitch (a screw advances as it turns)

    @property
    def turns(self) -> bool:
        """Whether it turns about an axis."""
        return self.kind[0] == "R"

    @property
    def axis(self) -> int:
        """Number of the axis that it turns about or slides along."""
        return AXES.index(self.kind[1])


@dataclass(frozen=True)
class Lock:
    """Rows that close a cut joint: their labels, their units (m, rad or 1), and the traced quantity that must vanish.

    The sign is that of P seen from S, so that the multiplier is the force of the first body on the second.
    """

    labels: tuple[str, ...]
    units: tuple[str, ...]
    quantity: Quantity


@dataclass(frozen=True)
class JointType:
    """A kind of joint: its motions, the names of its coordinates, and the rows that close it when cut.

    Attributes
    ----------
    motions
        In the order from P to S.
    coordinates, coordinate_units
        Names and units of the coordinates.
    velocities, velocity_units
        Names and units of the velocities.
    closure
        Rows that lock what the motions leave out: names of `derive.closure`, or `Lock` objects.
    symbol
        A letter for drawings of the graph.
    measure
        Coordinates from a relative pose; None: derived from the motions.
    """

    name: str
    motions: tuple[Motion, ...]
    coordinates: tuple[str, ...]
    coordinate_units: tuple[str, ...]
    velocities: tuple[str, ...]
    velocity_units: tuple[str, ...]
    closure: tuple[str | Lock, ...]
    symbol: str = "?"
    measure: Quantity | None = None

    @property
    def nq(self) -> int:
        """Number of coordinates; a quaternion counts four."""
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        """Number of velocities: the freedoms of the joint."""
        return len(self.velocities)

    @property
    def has_quaternion(self) -> bool:
        """Whether the last four coordinates are a unit quaternion (w, x, y, z)."""
        return any(m.kind in ("ball", "free") for m in self.motions)

    @property
    def is_ball(self) -> bool:
        """Whether it turns by a quaternion about a point: its velocities are then in the axes of S."""
        return any(m.kind == "ball" for m in self.motions)

    @property
    def has_pitch(self) -> bool:
        """Whether a motion is scaled by the pitch of the joint."""
        return any(m.by_pitch for m in self.motions)

    @property
    def has_two_axes(self) -> bool:
        """Whether it turns about x of P and y of S, which may be drawn in any two directions."""
        return [m.kind for m in self.motions] == ["Rx", "Ry"]

    @property
    def turning(self) -> tuple[int, ...]:
        """Axes that it turns about in the order from P to S, neighbours that are the same counted once."""
        axes = [m.axis for m in self.motions if m.turns]
        return tuple(x for i, x in enumerate(axes) if i == 0 or axes[i - 1] != x)

    @property
    def slides(self) -> tuple[Motion, ...]:
        """Motions that slide."""
        return tuple(m for m in self.motions if m.kind[0] == "T")

    @property
    def keeps_point(self) -> bool:
        """Whether the origins of P and S stay together."""
        return not self.slides and not any(m.kind == "free" for m in self.motions)

    @property
    def common_axis(self) -> int | None:
        """The axis that both bodies have in common: they turn about it, and slide along it at most."""
        if len(self.turning) == 1 and all(m.axis == self.turning[0] for m in self.slides):
            return self.turning[0]
        return None

    @property
    def common_point(self) -> bool:
        """Whether both bodies have a point in common, but no axis."""
        return self.keeps_point and (self.is_ball or len(self.turning) > 1)

    def fixed_in_first(self, motion: Motion) -> bool:
        """Whether the axis of a motion is the same in P at all coordinates: nothing turns before it but about it."""
        before = self.motions[: self.motions.index(motion)]
        return all(m.axis == motion.axis for m in before if m.turns)

    def fixed_in_second(self, motion: Motion) -> bool:
        """Whether the axis of a motion is the same in S at all coordinates."""
        after = self.motions[self.motions.index(motion) + 1 :]
        return all(m.axis == motion.axis for m in after if m.turns)

    def wraps(self, index: int) -> bool:
        """Whether a pose tells this coordinate only up to whole turns; the advance of a screw tells them apart."""
        return self.coordinate_units[index] == "rad" and not any(
            m.by_pitch for m in self.motions if m.coordinate == index
        )


def joint_type(
    name: str,
    motions: str,
    coordinates: str,
    *,
    symbol: str = "?",
    closure: tuple[str | Lock, ...] | None = None,
    measure: Quantity | None = None,
) -> JointType:
    """A kind of joint whose velocities are the rates of its coordinates.

    Parameters
    ----------
    motions
        Elementary motions from P to S, each with the number of its coordinate: ``"Tx:0 Rz:1"``.
    coordinates
        Their names: ``"slide angle"``.
    symbol, closure, measure
        As in `JointType`. Default closure: what the motions leave out.

    Examples
    --------
    >>> joint_type("slot", "Tx:0 Rz:1", "slide angle").closure
    ('ty', 'tz', 'align')
    """
    what = f"joint type {name!r}"
    steps = []
    for step in motions.split():
        kind, colon, number = step.partition(":")
        by_pitch, kind = kind.endswith("*"), kind.rstrip("*")
        if not colon or not number.isdigit() or kind not in [a + b for a in "RT" for b in AXES]:
            raise ModelError(f"{what}: a motion is written as 'Tx:0' (a slide) or 'Rz:1' (a turn), not {step!r}")
        steps.append(Motion(kind, int(number), by_pitch))
    names = tuple(coordinates.split())
    if len(set(names)) != len(names):
        raise ModelError(f"{what}: the names of its coordinates are not different: {coordinates!r}")
    if {m.coordinate for m in steps} != set(range(len(names))):
        raise ModelError(
            f"{what}: its motions have the coordinates {sorted({m.coordinate for m in steps})}, but it names {names}"
        )
    # a coordinate that turns is an angle, also where it slides along as that of a screw does
    units = tuple("rad" if any(m.turns and m.coordinate == i for m in steps) else "m" for i in range(len(names)))
    rates = tuple(f"{u}/s" for u in units)
    kind_ = JointType(name, tuple(steps), names, units, names, rates, closure or (), symbol, measure)
    return kind_ if closure is not None else JointType(**(vars(kind_) | {"closure": _closure(kind_)}))


def _closure(kind: JointType) -> tuple[str, ...]:
    """Rows that lock what the motions of a joint leave out."""
    own = f"joint type {kind.name!r}: its rows cannot be derived, since"
    slides, turning = kind.slides, kind.turning
    along = [m.axis for m in slides]
    if len(set(along)) != len(along):
        raise ModelError(f"{own} it slides twice along {AXES[along[0]]}: give closure=(...)")
    rows: list[str]
    if not slides:
        rows = ["point"]
    elif all(map(kind.fixed_in_first, slides)):
        rows = [f"t{a}" for i, a in enumerate(AXES) if i not in along]
    elif all(map(kind.fixed_in_second, slides)):
        rows = [f"s{a}" for i, a in enumerate(AXES) if i not in along]
    else:
        raise ModelError(f"{own} it slides between turns about other axes: give closure=(...)")
    if not turning:
        rows.append("rotation")
    elif len(turning) == 1:
        rows.append("align" if turning[0] == 2 else f"align {AXES[turning[0]]}")
    elif len(turning) == 2:
        rows.append("hooke" if turning == (0, 1) else f"hooke {AXES[turning[0]]} {AXES[turning[1]]}")
    elif len(turning) > 3:
        raise ModelError(f"{own} it turns about more than three axes: give closure=(...)")
    if kind.has_pitch:
        if [(m.kind, m.by_pitch) for m in kind.motions] != [("Tz", True), ("Rz", False)]:
            raise ModelError(f"{own} a pitch is known along z only, 'Tz*:0 Rz:0': give closure=(...)")
        rows.append("screw")
    return tuple(rows)


_QUATERNION = ("qw", "qx", "qy", "qz")
_OMEGA = ("wx", "wy", "wz")

JOINT_TYPES: dict[str, JointType] = {
    j.name: j
    for j in (
        joint_type("revolute", "Rz:0", "angle", symbol="R"),
        joint_type("prismatic", "Tz:0", "slide", symbol="P"),
        joint_type("cylindrical", "Tz:1 Rz:0", "angle slide", symbol="C"),
        joint_type("screw", "Tz*:0 Rz:0", "angle", symbol="H"),
        joint_type("universal", "Rx:0 Ry:1", "angle1 angle2", symbol="U"),
        joint_type("planar", "Tx:0 Ty:1 Rz:2", "x y angle", symbol="E"),
        joint_type("weld", "", "", symbol="W"),
        JointType(
            "spherical",
            (Motion("ball", 0),),
            _QUATERNION,
            ("1",) * 4,
            _OMEGA,
            ("rad/s",) * 3,
            ("point",),
            "S",
        ),
        # twist of S in its own axes, angular part first: the motion space is the identity
        JointType(
            "free",
            (Motion("free", 0),),
            ("x", "y", "z", *_QUATERNION),
            ("m",) * 3 + ("1",) * 4,
            (*_OMEGA, "vx", "vy", "vz"),
            ("rad/s",) * 3 + ("m/s",) * 3,
            (),
            "F",
        ),
    )
}


@locked
def register(kind: JointType) -> JointType:
    """List a kind of joint, so that ``m.joint(name, ...)`` finds it by its name; returns it."""
    known = JOINT_TYPES.setdefault(kind.name, kind)
    if known != kind:
        raise ModelError(f"a joint type is named {kind.name!r} already: choose another name")
    return kind
