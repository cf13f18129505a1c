"""Drawing joints between bodies: `joint` for any kind, and a method for each kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from closedchain.arguments import suggest
from closedchain.errors import ModelError
from closedchain.model.drawing import Drawing, Place, atomic
from closedchain.model.expressions.expression import Number, is_zero
from closedchain.model.expressions.functions import pi
from closedchain.model.forces.resistance import add_friction, add_stop
from closedchain.model.joints import options as joint_options
from closedchain.model.joints.types import JOINT_TYPES, JointType
from closedchain.model.parts import Body, Frame, Joint


class DrawsJoints(Drawing):
    """The part of a mechanism that connects bodies with joints."""

    @atomic
    def joint(
        self,
        kind: str | JointType,
        name: str,
        a: Place,
        b: Place,
        *,
        axis: Sequence[float] | None = None,
        axes: Sequence[Sequence[float]] | None = None,
        pitch: Number = 0.0,
        guess: float | Sequence[float] | None = None,
        limits: Any = None,
        friction: Any = None,
        cut: bool | None = None,
    ) -> Joint:
        """Connect two bodies (or frames on them) with a joint of the given kind.

        Parameters
        ----------
        kind
            A name in `closedchain.model.joints.types.JOINT_TYPES`, or a `JointType` of your own.
        name
            Unique in the mechanism. Coordinates are found under this name in results.
        a, b
            Bodies or frames. At zero coordinates the two frames coincide; the motion is that of b seen from a.
        axis
            Direction of the joint's z axis in the frames (the hinge, slide or screw axis; normal of a planar joint).
        axes
            For a universal joint: its first axis (fixed in a) and second axis (fixed in b).
        pitch
            For a screw: advance per turn, m.
        guess
            Where the search for a closed configuration starts.
        limits
            ``(low, high)``: leaving them is reported; or `Stops`, which hold the joint. For several coordinates,
            one of these (or None) for each.
        friction
            A `Friction`, or one (or None) for each freedom.
        cut
            True: open this joint. False: never open it. None: the library decides.
        """
        if not isinstance(kind, JointType):
            if not isinstance(kind, str) or kind not in JOINT_TYPES:
                raise ModelError(f"joint {name!r}: unknown kind {kind!r}{suggest(kind, JOINT_TYPES)}")
            kind = JOINT_TYPES[kind]
        what = f"joint {name!r}"
        for place in (a, b):  # fail before anything is named after this joint
            if not isinstance(place, Body | Frame):
                raise ModelError(f"{what} connects bodies or frames, not {place!r}")
        body_a = a if isinstance(a, Body) else a.body
        body_b = b if isinstance(b, Body) else b.body
        if body_a is body_b:
            raise ModelError(f"{what} connects body {body_a.name!r} with itself: it needs two different bodies")
        cut = joint_options.check_cut(cut, what)
        if cut and not kind.closure:
            raise ModelError(
                f"{what} is {kind.name}: it locks nothing, so there is nothing to cut; leave it out instead"
            )
        self._take(name)
        joint = Joint(
            name=name,
            type=kind,
            a=self._place(a, name),
            b=self._place(b, name),
            rotation=joint_options.rotation(kind, axis, axes, what),
            pitch=self._pitch(kind, pitch, name),
            guess=joint_options.guess(guess, kind, what),
            limits=joint_options.limits(limits, kind.nq, what),
            friction=joint_options.friction(friction, kind.nv, what),
            cut=cut,
        )
        self.joints[name] = joint
        for i, stop in enumerate(joint_options.stops(limits)):
            if stop is not None:
                add_stop(self, joint, i, stop)
        for i, rubbing in enumerate(joint.friction):
            if rubbing is not None:
                add_friction(self, joint, i, rubbing)
        return joint

    def _pitch(self, kind: JointType, pitch: Number, name: str) -> Number:
        if not kind.has_pitch:
            if not is_zero(pitch):
                raise ModelError(f"joint {name!r} is {kind.name}: only a screw has a pitch")
            return 0.0
        if is_zero(pitch):
            raise ModelError(f"{kind.name} {name!r} has no pitch: give its advance per turn in m, or draw a revolute")
        return self._number(pitch, f"{name}.pitch") / (2 * pi)

    def revolute(self, name: str, a: Place, b: Place, **options: Any) -> Joint:
        """A hinge: one angle about ``axis`` (default z). See `joint` for the options."""
        return self.joint("revolute", name, a, b, **options)

    def prismatic(self, name: str, a: Place, b: Place, **options: Any) -> Joint:
        """A slide along ``axis`` (default z). See `joint`."""
        return self.joint("prismatic", name, a, b, **options)

    def universal(self, name: str, a: Place, b: Place, **options: Any) -> Joint:
        """A Hooke joint with two ``axes``: one fixed in a (default x), one in b (default y). See `joint`."""
        return self.joint("universal", name, a, b, **options)

    def spherical(self, name: str, a: Place, b: Place, **options: Any) -> Joint:
        """A ball joint; its orientation is a unit quaternion. See `joint`."""
        return self.joint("spherical", name, a, b, **options)

    def cylindrical(self, name: str, a: Place, b: Place, **options: Any) -> Joint:
        """An angle about and a slide along ``axis`` (default z). See `joint`."""
        return self.joint("cylindrical", name, a, b, **options)

    def planar(self, name: str, a: Place, b: Place, **options: Any) -> Joint:
        """x, y and an angle in the plane normal to ``axis`` (default z). See `joint`."""
        return self.joint("planar", name, a, b, **options)

    def screw(self, name: str, a: Place, b: Place, *, pitch: Number, **options: Any) -> Joint:
        """An angle about ``axis`` with an advance of ``pitch`` m per turn. See `joint`."""
        return self.joint("screw", name, a, b, pitch=pitch, **options)

    def free(self, name: str, a: Place, b: Place, **options: Any) -> Joint:
        """No connection: b moves anywhere relative to a. See `joint`."""
        return self.joint("free", name, a, b, **options)

    def weld(self, name: str, a: Place, b: Place, **options: Any) -> Joint:
        """A rigid connection. See `joint`."""
        return self.joint("weld", name, a, b, **options)
