"""The joints a mechanism may have, as data.

A joint connects a frame P on one body with a frame S on another. It is a product of elementary motions that
carries P into S; everything else (its motion space `Phi`, rates, reversal, residual when it is cut) follows from
that product in `closedchain.derive`.

How to add your own joint
-------------------------
1. Write its elementary motions in the order from P to S, each with the coordinate that drives it. A gimbal,
   for instance, is ``Rz(0) Ry(1) Rx(2)``; a slot is ``Tx(0) Rz(1)``.
2. Name its coordinates and their units. Names must be unique within the joint.
3. Name the rows that close it when it is cut: together they must lock exactly the directions that the motions
   leave out. The rows known so far are listed in `closedchain.derive.closure.ROWS`; a joint that locks something
   new adds a function there.
4. Add one line to `JOINT_TYPES` and, if it deserves a method on `Mechanism`, one there.

The tests in ``tests/unit/derive`` run over `JOINT_TYPES` and check the new joint against finite differences, both ways
round, in a tree and as a cut.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Motion:
    """One elementary motion.

    ``Rx Ry Rz`` turn, ``Tx Ty Tz`` slide, ``ball`` turns by a unit quaternion, ``free`` moves anywhere.
    """

    kind: str
    coordinate: int
    by_pitch: bool = False  # scaled by the joint's pitch (a screw advances as it turns)


@dataclass(frozen=True)
class JointType:
    """A kind of joint: its motions, the names of its coordinates, and the rows that close it when cut."""

    name: str
    motions: tuple[Motion, ...]
    coordinates: tuple[str, ...]
    coordinate_units: tuple[str, ...]
    velocities: tuple[str, ...]
    velocity_units: tuple[str, ...]
    closure: tuple[str, ...]

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

    def wraps(self, index: int) -> bool:
        """Whether a pose tells this coordinate only up to whole turns; the advance of a screw tells them apart."""
        return self.coordinate_units[index] == "rad" and self.name != "screw"


def _scalar(name: str, motions: str, coordinates: str, closure: str) -> JointType:
    """A joint whose velocities are the rates of its coordinates; motions as ``"Tz:0 Rz:0"``."""
    steps = tuple(Motion(k.rstrip("*"), int(i), "*" in k) for k, i in (s.split(":") for s in motions.split()))
    names = tuple(coordinates.split())
    units = tuple("rad" if n.startswith("angle") else "m" for n in names)
    rates = tuple(f"{u}/s" for u in units)
    return JointType(name, steps, names, units, names, rates, tuple(closure.split()))


_QUATERNION = ("qw", "qx", "qy", "qz")
_OMEGA = ("wx", "wy", "wz")

JOINT_TYPES: dict[str, JointType] = {
    j.name: j
    for j in (
        _scalar("revolute", "Rz:0", "angle", "point align"),
        _scalar("prismatic", "Tz:0", "slide", "tx ty rotation"),
        _scalar("cylindrical", "Tz:1 Rz:0", "angle slide", "tx ty align"),
        _scalar("screw", "Tz*:0 Rz:0", "angle", "tx ty align screw"),
        _scalar("universal", "Rx:0 Ry:1", "angle1 angle2", "point hooke"),
        _scalar("planar", "Tx:0 Ty:1 Rz:2", "x y angle", "tz align"),
        _scalar("weld", "", "", "point rotation"),
        JointType(
            "spherical",
            (Motion("ball", 0),),
            _QUATERNION,
            ("1",) * 4,
            _OMEGA,
            ("rad/s",) * 3,
            ("point",),
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
        ),
    )
}
