"""Drawing what acts: motors, springs, dampers, rotors, gears and drives on joints; forces and springs at frames.

Models of actuators, and laws of control, are drawn by what it inherits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from closedchain.arguments import entries, suggest
from closedchain.errors import ModelError
from closedchain.model.actuators.draws import DrawsActuators
from closedchain.model.drawing import Place, atomic
from closedchain.model.expressions.expression import Expression, Number
from closedchain.model.forces.actions import (
    Coupling,
    Drive,
    FrameForce,
    JointDamper,
    JointSpring,
    Motor,
    PointSpring,
    Rotor,
)
from closedchain.model.forces.efforts import effort
from closedchain.model.forces.elements import Element, draw_element
from closedchain.model.forces.resistance import add_damper
from closedchain.model.parts import Frame, Joint


class DrawsActions(DrawsActuators):
    """The part of a mechanism that makes it move, and resists."""

    @atomic
    def motor(
        self,
        joint: str | Joint,
        torque: Any = None,
        *,
        force: Any = None,
        coordinate: str | int | None = None,
        name: str | None = None,
    ) -> Motor:
        """Drive a joint coordinate with a torque (N m) or a force (N).

        The effort is a number, a parameter, an expression, or a function ``f(t)`` or ``f(t, q, v)`` written with
        ordinary arithmetic and ``cc.math.sin``, ``cc.math.where``, ``cc.math.interp``. A joint may have
        several motors; they add up.
        """
        j = self._joint(joint, "motor")
        if (torque is None) == (force is None):
            raise ModelError(f"motor on {j.name!r}: give a torque or a force")
        index = j.index(coordinate, f"motor on {j.name!r}")
        turning = j.type.velocity_units[index] == "rad/s"
        if turning != (torque is not None):
            label = j.velocity_labels()[index]
            raise ModelError(
                f"motor on {j.name!r}: {label} {'turns' if turning else 'slides'}, "
                f"so give a {'torque' if turning else 'force'}"
            )
        name = self._free_name(name, f"{j.name}.motor")
        motor = Motor(name, j.name, index, effort(self, torque if force is None else force, name))
        self.motors[name] = motor
        return motor

    @atomic
    def joint_spring(
        self,
        joint: str | Joint,
        stiffness: Number,
        *,
        rest: Number = 0.0,
        against: str | None = None,
        coordinate: str | int | None = None,
        name: str | None = None,
    ) -> JointSpring:
        """A spring on a joint coordinate: ``-stiffness (q - rest)``.

        ``against`` names another coordinate, as in results: the spring is then between the two, with the torque
        ``-stiffness (q - other - rest)`` on the first and the opposite on the other.

        Turns are counted, also on a hinge that is cut; without a guess it starts within half a turn of ``rest``.
        """
        j = self._joint(joint, "spring")
        if j.type.has_quaternion:
            raise ModelError(
                f"spring on {j.name!r}: a {j.type.name} joint has no angle to measure; use m.spring between frames"
            )
        index = j.index(coordinate, f"spring on {j.name!r}")
        name = self._free_name(name, f"{j.name}.spring")
        k, r = self._number(stiffness, f"{name}.stiffness"), self._number(rest, f"{name}.rest")
        other = self._other(against, (j, index), f"spring on {j.name!r}")
        self.joint_springs[name] = spring = JointSpring(name, j.name, index, k, r, other)
        return spring

    @atomic
    def joint_damper(
        self,
        joint: str | Joint,
        damping: Number,
        *,
        against: str | None = None,
        coordinate: str | int | None = None,
        name: str | None = None,
    ) -> JointDamper:
        """A damper on a joint velocity: ``-damping v``; ``against`` another one as for `joint_spring`."""
        j = self._joint(joint, "damper")
        index = j.index(coordinate, f"damper on {j.name!r}")
        other = self._other(against, (j, index), f"damper on {j.name!r}")
        return add_damper(self, self._free_name(name, f"{j.name}.damper"), j, index, damping, other)

    def _other(self, label: str | None, mine: tuple[Joint, int], what: str) -> tuple[str, int] | None:
        """The coordinate that a spring or damper acts against."""
        if label is None:
            return None
        joint, index = self._freedom(label, what)
        if (joint, index) == mine:
            raise ModelError(f"{what} acts against itself: name another coordinate")
        units = [j.type.velocity_units[i] for j, i in (mine, (joint, index))]
        if units[0] != units[1]:
            raise ModelError(f"{what} acts against {label!r}, but one of them turns and the other slides")
        if joint.type.has_quaternion:
            raise ModelError(f"{what}: {label!r} belongs to a {joint.type.name} joint, which has no angle to measure")
        return joint.name, index

    @atomic
    def rotor(
        self,
        joint: str | Joint,
        inertia: Number,
        *,
        ratio: Number = 1.0,
        coordinate: str | int | None = None,
        name: str | None = None,
    ) -> Rotor:
        """A motor's rotor behind a gear: it adds ``inertia ratio^2`` (kg m^2; kg for a slide) to a joint velocity."""
        j = self._joint(joint, "rotor")
        index = j.index(coordinate, f"rotor on {j.name!r}")
        name = self._free_name(name, f"{j.name}.rotor")
        rotor = Rotor(
            name, j.name, index, self._number(inertia, f"{name}.inertia"), self._number(ratio, f"{name}.ratio")
        )
        self.rotors[name] = rotor
        return rotor

    @atomic
    def couple(self, name: str, driven: str, driver: str, *, ratio: Number = 1.0, offset: Number = 0.0) -> Coupling:
        """Gear two coordinates together: ``driven = ratio driver + offset``.

        Coordinates are named as in results: ``"O"``, or ``"table.x"`` for a joint with several. The force that the
        gear carries is the multiplier of its closure row.
        """
        self._take(name)
        ends = [self._coordinate(label, f"coupling {name!r}") for label in (driven, driver)]
        if ends[0] == ends[1]:
            raise ModelError(f"coupling {name!r} couples {driven!r} with itself")
        gear = Coupling(
            name, ends[0], ends[1], self._number(ratio, f"{name}.ratio"), self._number(offset, f"{name}.offset")
        )
        self.couplings[name] = gear
        return gear

    @atomic
    def drive(
        self, joint: str | Joint, position: Any, *, coordinate: str | int | None = None, name: str | None = None
    ) -> Drive:
        """Prescribe a joint coordinate as a function of time (an expression of ``cc.t``, or a function ``f(t)``).

        The force or torque that this takes is found in results under the drive's name. The function must have two
        derivatives in time; they are formed exactly.
        """
        j = self._joint(joint, "drive")
        if j.type.has_quaternion:
            raise ModelError(f"drive on {j.name!r}: a {j.type.name} joint has no single coordinate to prescribe")
        index = j.index(coordinate, f"drive on {j.name!r}")
        name = self._free_name(name, f"{j.name}.drive")
        motion = effort(self, position, f"{name}.position")
        for leaf in motion.leaves() if isinstance(motion, Expression) else ():
            if leaf.op not in ("time", "parameter"):
                raise ModelError(f"drive on {j.name!r}: the prescribed motion may depend on time only, not on {leaf}")
        self.drives[name] = drive = Drive(name, j.name, index, motion)
        return drive

    def _coordinate(self, label: str, what: str) -> tuple[str, int]:
        """Joint and number of a coordinate by its name in results."""
        if not isinstance(label, str):
            raise ModelError(f"{what} takes the names of two coordinates, for instance 'O' or 'table.x', not {label!r}")
        for joint in self.joints.values():
            if label in joint.labels():
                if joint.type.has_quaternion:
                    raise ModelError(f"{what}: {label!r} belongs to a {joint.type.name} joint and cannot be coupled")
                return joint.name, joint.labels().index(label)
        known = [x for j in self.joints.values() for x in j.labels()]
        raise ModelError(f"{what}: no coordinate is named {label!r}{suggest(label, known)}")

    @atomic
    def force(
        self,
        name: str,
        at: Place,
        force: Sequence[Any] = (0, 0, 0),
        *,
        moment: Sequence[Any] = (0, 0, 0),
        axes: str = "world",
    ) -> FrameForce:
        """A force (N) and a moment (N m) on a body at a frame; each component as an effort of `motor`.

        ``axes`` is ``"world"`` (default) or ``"frame"``: the components turn with the body.
        """
        if not isinstance(axes, str) or axes not in ("world", "frame"):
            raise ModelError(f"force {name!r}: axes must be 'world' or 'frame', not {axes!r}")
        sentence = f"force {name!r}: a force and a moment have three components each"
        force = entries(force, 3, sentence, "(0, 0, lambda t: 5 * cc.math.sin(t))")
        moment = entries(moment, 3, sentence, "(0, 0, 1.5)")
        frame = self._on_moving_body(at, name)
        parts = [effort(self, x, f"{name}.{a}") for a, x in zip("xyz", force, strict=True)]
        turns = [effort(self, x, f"{name}.moment.{a}") for a, x in zip("xyz", moment, strict=True)]
        self.forces[name] = acting = FrameForce(name, frame, tuple(parts), tuple(turns), axes == "world")  # type: ignore
        return acting

    @atomic
    def spring(
        self, name: str, a: Place, b: Place, stiffness: Number, *, length: Number = 0.0, damping: Number = 0.0
    ) -> PointSpring:
        """A spring and damper between two points: it pulls with ``k (d - length) + c d'`` at distance d (N)."""
        self._take(name)
        fa, fb = self._place(a, name), self._place(b, name)
        if fa.body is fb.body:
            raise ModelError(f"spring {name!r} connects body {fa.body.name!r} with itself")
        k, free_length = self._number(stiffness, f"{name}.stiffness"), self._number(length, f"{name}.length")
        spring = PointSpring(name, fa, fb, k, free_length, self._number(damping, f"{name}.damping"))
        self.springs[name] = spring
        return spring

    @atomic
    def force_element(self, element: Element) -> Element:
        """Add a force of a class of your own; see `closedchain.model.forces.force` on how to write one.

        Its numbers become parameters, its bodies and frames named frames. Returns the force as drawn, which is also
        in ``m.force_elements``; results have its efforts under its name.
        """
        return draw_element(self._whole, element)

    def _on_moving_body(self, place: Place, name: str) -> Frame:
        self._take(name)
        frame = self._place(place, name)
        if frame.body is self.ground:
            raise ModelError(f"force {name!r} acts on the ground, which does not move")
        return frame
