"""A mechanism as a user draws it: bodies, joints between their frames in any order, and what acts on them."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from closedchain.errors import ModelError
from closedchain.model import validate
from closedchain.model.expression import Expression, Number, check_number, is_zero, parameter, t
from closedchain.model.functions import pi
from closedchain.model.joint_types import JOINT_TYPES
from closedchain.model.parts import (
    Body,
    Coupling,
    Drive,
    Frame,
    FrameForce,
    Friction,
    Joint,
    JointDamper,
    JointSpring,
    JointStop,
    Leaves,
    Motor,
    PointSpring,
    Rotor,
    Stops,
    suggest,
)
from closedchain.model.rotation import IDENTITY, Rotation, from_axis, from_two_axes
from closedchain.model.shapes import MassProperties, Shape, Vector

Place = Body | Frame

LENGTHS = frozenset(("length", "radius", "inner", "size", "width", "height", "thickness"))  # dimensions of shapes

# variables and axes of every dataset
RESERVED = frozenset(
    "time closure wrench axis lam closure_error closure_velocity_error kinetic_energy potential_energy power work "
    "energy_error closure_conditioning actuation_conditioning output_conditioning".split()
)


def _atomic(method: Any) -> Any:
    """A method that changes the drawing altogether or, if it is refused, not at all."""

    @functools.wraps(method)
    def attempt(self: Mechanism, *args: Any, **kwargs: Any) -> Any:
        if self._attempting:
            return method(self, *args, **kwargs)
        tables = {k: dict(v) for k, v in vars(self).items() if isinstance(v, dict)}
        values, taken, revision = dict(self.parameters._values), set(self._taken), self.revision
        frames = {body: dict(body.frames) for body in (self.ground, *self.bodies.values())}
        self._attempting = True
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            for name, table in tables.items():
                setattr(self, name, table)
            self.parameters._values, self._taken, self.revision = values, taken, revision
            for body, before in frames.items():
                body.frames = before
            raise
        finally:
            self._attempting = False

    return attempt


def _verb(module: str, name: str) -> Any:
    """A method that is a function of a later layer, which takes the mechanism as its first argument."""

    def method(self: Mechanism, *args: Any, **kwargs: Any) -> Any:
        return getattr(importlib.import_module(module), name)(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"See `{module}.{name}`."
    return method


class Parameters(MutableMapping[str, float]):
    """The numbers of a mechanism by name. Values may change at will; names come from the drawing."""

    def __init__(self, mechanism: str) -> None:
        self._mechanism = mechanism
        self._values: dict[str, float] = {}

    def declare(self, name: str, value: float) -> None:
        """Add a name."""
        if name in self._values:
            raise ModelError(f"mechanism {self._mechanism!r} already has a parameter {name!r}: choose another name")
        self._values[name] = value

    def __getitem__(self, name: str) -> float:
        self._check(name)
        return self._values[name]

    def __setitem__(self, name: str, value: float) -> None:
        self._check(name)
        if isinstance(value, Expression):
            raise ModelError(f"the value of parameter {name!r} must be a number, not the expression {value}")
        self._values[name] = check_number(value, f"parameter {name!r}")  # type: ignore[assignment]

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a parameter, or the default if there is none of that name."""
        return self._values.get(name, default)

    def __delitem__(self, name: str) -> None:
        raise ModelError(f"parameter {name!r} belongs to the drawing and cannot be deleted")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def _check(self, name: str) -> None:
        if name not in self._values:
            raise ModelError(
                f"mechanism {self._mechanism!r} has no parameter {name!r}{suggest(name, self._values)} "
                "(a number drawn as exactly zero is structure: draw it with m.parameter(...) to vary it)"
            )

    def merged(self, overrides: Mapping[str, float] | None) -> dict[str, float]:
        """All values, some of them replaced for the moment."""
        values = dict(self._values)
        for name, value in (overrides or {}).items():
            self._check(name)
            values[name] = check_number(value, f"parameter {name!r}")  # type: ignore[assignment]
        return values

    def __repr__(self) -> str:
        return f"Parameters({self._values})"


class Mechanism:
    """Bodies, joints, motors and forces, connected in any order into any graph.

    Parameters
    ----------
    name
        For tables, plots and error messages.
    gravity
        Acceleration of free fall in world axes, m/s^2. Default: 9.81 along -z.

    Examples
    --------
    >>> import closedchain as cc
    >>> m = cc.Mechanism("pendulum", gravity=(0, -9.81, 0))
    >>> arm = m.body("arm", cc.rod(length=1.0, mass=1.0))
    >>> hinge = m.revolute("hinge", m.ground, arm)
    """

    def __init__(self, name: str, gravity: Sequence[Number] = (0.0, 0.0, -9.81)) -> None:
        if not hasattr(gravity, "__len__") or len(gravity) != 3:
            got = len(gravity) if hasattr(gravity, "__len__") else f"one number, {gravity}; for instance (0, 0, -9.81)"
            raise ModelError(f"mechanism {name!r}: gravity has three components, not {got}")
        self.name = name
        self.parameters = Parameters(name)
        self.bodies: dict[str, Body] = {}
        self.joints: dict[str, Joint] = {}
        self.motors: dict[str, Motor] = {}
        self.joint_springs: dict[str, JointSpring] = {}
        self.joint_dampers: dict[str, JointDamper] = {}
        self.joint_stops: dict[str, JointStop] = {}
        self.rotors: dict[str, Rotor] = {}
        self.couplings: dict[str, Coupling] = {}
        self.drives: dict[str, Drive] = {}
        self.forces: dict[str, FrameForce] = {}
        self.springs: dict[str, PointSpring] = {}
        self.output: Frame | None = None  # the frame whose motion is the purpose of the mechanism, if it has one
        self.start: dict[str, Any] = {}  # what `assemble` holds when nothing else is said: values by joint
        self.start_velocity: dict[str, Any] = {}
        self.revision = 0  # counts changes of the drawing, so that nothing stale is reused
        self._derived: dict[Any, Any] = {}  # what later layers computed for this revision
        self._attempting = False  # inside a method that undoes itself when it fails
        self.gravity: Vector = self._vector(gravity, "gravity")
        self.ground = Body(self, "ground", MassProperties(0.0, (0.0, 0.0, 0.0), (0.0,) * 6), "ground", {})
        self._taken = {"ground"}

    # ---- numbers -----------------------------------------------------------------------------------------------

    @_atomic
    def parameter(self, name: str, value: float) -> Expression:
        """Declare a named number. It may be used wherever a number may, and changed without recompiling."""
        number = check_number(value, f"parameter {name!r}")
        if isinstance(number, Expression):
            raise ModelError(f"parameter {name!r} needs a number as its value, not an expression")
        self.parameters.declare(name, number)
        self.revision += 1
        return parameter(name)

    def _number(self, value: Any, name: str) -> Number:
        """A number of the drawing: zeros are structure, expressions stay, all else becomes a parameter."""
        number = check_number(value, name)
        if isinstance(number, Expression):
            for leaf in number.leaves():
                if leaf.op != "parameter":
                    raise ModelError(f"{name} may depend on parameters only, not on {leaf}")
                self._check_parameter(leaf, name)
            return number
        if is_zero(number):
            return 0.0
        self.parameters.declare(name, float(number))
        return parameter(name)

    def _check_parameter(self, leaf: Expression, what: str) -> None:
        if leaf.args[0] not in self.parameters:
            raise ModelError(
                f"{what} uses the parameter {leaf.args[0]!r}, which mechanism {self.name!r} does not have: "
                "parameters belong to the mechanism that made them"
            )

    def _vector(self, values: Sequence[Any], name: str) -> Vector:
        return tuple(self._number(x, f"{name}.{a}") for a, x in zip("xyz", values, strict=True))  # type: ignore

    def _effort(self, value: Any, name: str) -> Number:
        """A torque or force: a number, or a function of t, q, v."""
        if callable(value) and not isinstance(value, Expression):
            q, v = Leaves("coordinate", self.joints), Leaves("velocity", self.joints)
            kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            takes = inspect.signature(value).parameters.values()
            count = sum(p.kind in kinds and p.default is inspect.Parameter.empty for p in takes)
            if count == 0 and any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in takes):
                count = 1  # a function of any number of arguments, such as cc.sin itself, is a function of time
            if count not in (1, 3):
                raise ModelError(f"{name}: a function of the effort takes (t) or (t, q, v), not {count} arguments")
            value = value(t) if count == 1 else value(t, q, v)
        if not isinstance(value, Expression):
            return self._number(value, name)
        for leaf in value.leaves():
            if leaf.op == "parameter":
                self._check_parameter(leaf, name)
            elif leaf.op in ("place", "speed"):
                self.find_frame(f"{leaf.args[0]}.{leaf.args[1]}")
            elif leaf.op == "multiplier":
                raise ModelError(f"{name} depends on the closing force {leaf}: a force may not, only an event may")
            elif leaf.op != "time" and leaf.args[0] not in self.joints:
                raise ModelError(
                    f"{name} refers to the unknown joint {leaf.args[0]!r}{suggest(leaf.args[0], self.joints)}"
                )
        return value

    def values(self, overrides: Mapping[str, float] | None = None) -> Callable[[Number], float]:
        """A function that computes numbers of the drawing at the present parameter values."""
        merged = self.parameters.merged(overrides)

        def value(x: Number) -> float:
            if isinstance(x, Expression):
                return float(x.evaluate(lambda leaf: merged[leaf.args[0]]))
            return float(x)

        return value

    # ---- bodies and frames ---------------------------------------------------------------------------------------

    @_atomic
    def body(self, name: str, shape: Shape) -> Body:
        """Add a body.

        Parameters
        ----------
        name
            Unique among bodies, joints, motors and forces.
        shape
            From `rod`, `box`, `cylinder`, `plate`, `disc`, `ball`, `point_mass`, `massless`, or `rigid` for plain
            numbers.
        """
        if not isinstance(shape, Shape):
            raise ModelError(f"body {name!r} needs a shape, for instance cc.rod(length=1, mass=1), not {shape!r}")
        self._take(name)
        for k, x in shape.dimensions.items():
            if k.split(".")[0] in LENGTHS and not isinstance(x, Expression) and check_number(x, f"{name}.{k}") < 0:  # type: ignore[operator]
                raise ModelError(f"body {name!r}: its {k} is {x}, but a length cannot be negative")
        dimensions = {k: self._number(x, f"{name}.{k}") for k, x in shape.dimensions.items()}
        body = Body(self, name, shape.build(dimensions), shape.kind, shape.outline)
        validate.check_body(body, self.values())
        self.bodies[name] = body
        return body

    @_atomic
    def _name_frame(self, frame: Frame, name: str) -> Frame:
        """Give a frame its name: its numbers become parameters ``body.name.x`` and so on."""
        body = frame.body
        if body.mechanism is not self:
            raise ModelError(f"body {body.name!r} belongs to another mechanism, {body.mechanism.name!r}")
        if name in body.frames or hasattr(type(body), name) or name in vars(body):
            raise ModelError(f"body {body.name!r} already has a frame or attribute {name!r}: choose another name")
        for x in (x for row in frame.rotation for x in row if isinstance(x, Expression)):
            self._number(x, f"frame {body.name}.{name}")
        named = replace(frame, name=name, position=self._vector(frame.position, f"{body.name}.{name}"))
        body.frames[name] = named
        self.revision += 1
        return named

    def _place(self, place: Place, user: str) -> Frame:
        """The frame that a joint or force named ``user`` is put on."""
        if isinstance(place, Body):
            place = place["origin"]
        if not isinstance(place, Frame):
            raise ModelError(f"{user!r} must be placed on a body or a frame, not on {place!r}")
        if place.body.mechanism is not self:
            raise ModelError(
                f"{user!r} is placed on body {place.body.name!r} of another mechanism, {place.body.mechanism.name!r}"
            )
        if place.name is not None:
            return place
        name, k = user, 2
        body = place.body
        while name in body.frames or hasattr(type(body), name) or name in vars(body):
            name, k = f"{user}_{k}", k + 1
        return self._name_frame(place, name)

    def _take(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise ModelError(f"a name must be a non-empty text, not {name!r}")
        if name in RESERVED:
            raise ModelError(f"the name {name!r} is kept for a result of every run: choose another one")
        if name.endswith("'"):
            raise ModelError(
                f"the name {name!r} ends with a prime, which stands for a rate in results: choose another one"
            )
        if "/" in name or name == "." or name != name.strip() or not name.isprintable():
            raise ModelError(f"the name {name!r} cannot be used in files: no '/', and no blank at its ends")
        if name in self._taken:
            raise ModelError(f"mechanism {self.name!r} already has something named {name!r}: names must be unique")
        self._taken.add(name)
        self.revision += 1

    # ---- joints --------------------------------------------------------------------------------------------------

    @_atomic
    def joint(
        self,
        kind: str,
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
            A name in `closedchain.model.joint_types.JOINT_TYPES`.
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
        if kind not in JOINT_TYPES:
            raise ModelError(f"joint {name!r}: unknown kind {kind!r}{suggest(kind, JOINT_TYPES)}")
        kind_ = JOINT_TYPES[kind]
        what = f"joint {name!r}"
        for place in (a, b):  # fail before anything is named after this joint
            if not isinstance(place, Body | Frame):
                raise ModelError(f"{what} connects bodies or frames, not {place!r}")
        body_a = a if isinstance(a, Body) else a.body
        body_b = b if isinstance(b, Body) else b.body
        if body_a is body_b:
            raise ModelError(f"{what} connects body {body_a.name!r} with itself: it needs two different bodies")
        if cut and not kind_.closure:
            raise ModelError(f"{what} is {kind}: it locks nothing, so there is nothing to cut; leave it out instead")
        self._take(name)
        joint = Joint(
            name=name,
            type=kind_,
            a=self._place(a, name),
            b=self._place(b, name),
            rotation=_joint_rotation(kind, axis, axes, what),
            pitch=self._pitch(kind, pitch, name),
            guess=_per_coordinate(guess, kind_.nq, what, "guess"),
            limits=_limits(limits, kind_.nq, what),
            friction=_friction(friction, kind_.nv, what),
            cut=cut,
        )
        self.joints[name] = joint
        for i, stop in enumerate(_stops(limits)):
            if stop is not None:
                self._stop(joint, i, stop)
        for i, f in enumerate(joint.friction):
            if f is not None:
                label = joint.velocity_labels()[i] + ".friction"
                self._damper(label, joint, i, f.viscous, f.coulomb, f.velocity)
        return joint

    def _pitch(self, kind: str, pitch: Number, name: str) -> Number:
        if kind != "screw":
            if not is_zero(pitch):
                raise ModelError(f"joint {name!r} is {kind}: only a screw has a pitch")
            return 0.0
        if is_zero(pitch):
            raise ModelError(f"screw {name!r} has no pitch: give its advance per turn in m, or draw a revolute")
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

    # ---- what acts -----------------------------------------------------------------------------------------------

    @_atomic
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
        ordinary arithmetic and ``cc.sin``, ``cc.where``, ``cc.interp``. A joint may have several motors; they add up.
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
        motor = Motor(name, j.name, index, self._effort(torque if force is None else force, name))
        self.motors[name] = motor
        return motor

    @_atomic
    def joint_spring(
        self,
        joint: str | Joint,
        stiffness: Number,
        *,
        rest: Number = 0.0,
        coordinate: str | int | None = None,
        name: str | None = None,
    ) -> JointSpring:
        """A spring on a joint coordinate: ``-stiffness (q - rest)``.

        On a hinge that is cut the angle is measured within half a turn of ``rest``: turns are not counted there.
        """
        j = self._joint(joint, "spring")
        if j.type.has_quaternion:
            raise ModelError(
                f"spring on {j.name!r}: a {j.type.name} joint has no angle to measure; use m.spring between frames"
            )
        index = j.index(coordinate, f"spring on {j.name!r}")
        name = self._free_name(name, f"{j.name}.spring")
        k, r = self._number(stiffness, f"{name}.stiffness"), self._number(rest, f"{name}.rest")
        self.joint_springs[name] = spring = JointSpring(name, j.name, index, k, r)
        return spring

    @_atomic
    def joint_damper(
        self,
        joint: str | Joint,
        damping: Number,
        *,
        coordinate: str | int | None = None,
        name: str | None = None,
    ) -> JointDamper:
        """A damper on a joint velocity: ``-damping v``."""
        j = self._joint(joint, "damper")
        index = j.index(coordinate, f"damper on {j.name!r}")
        return self._damper(self._free_name(name, f"{j.name}.damper"), j, index, damping, 0.0, 1.0, taken=True)

    def _damper(
        self,
        name: str,
        joint: Joint,
        index: int,
        c: Number,
        coulomb: Number,
        velocity: Number,
        *,
        taken: bool = False,
    ) -> JointDamper:
        if not taken:
            self._take(name)
        for what, value in (("viscous friction or damping", c), ("Coulomb friction", coulomb)):
            if not isinstance(value, Expression) and value < 0:
                raise ModelError(f"{name}: {what} must not be negative, got {value:g}: it would feed energy in")
        if not isinstance(velocity, Expression) and not velocity > 0:
            raise ModelError(f"{name}: the velocity over which friction changes sign must be positive, not {velocity}")
        damping = self._number(c, f"{name}.viscous" if not taken else f"{name}.damping")
        dry = self._number(coulomb, f"{name}.coulomb")
        scale = 1.0 if is_zero(dry) else self._number(velocity, f"{name}.velocity")
        self.joint_dampers[name] = damper = JointDamper(name, joint.name, index, damping, dry, scale)
        return damper

    def _stop(self, joint: Joint, i: int, stop: Stops) -> None:
        if joint.type.has_quaternion:
            raise ModelError(
                f"joint {joint.name!r}: stops need an angle or a length; a {joint.type.name} joint has none"
            )
        name = joint.labels()[i] + ".stop"
        self._take(name)
        k, c = self._number(stop.stiffness, f"{name}.stiffness"), self._number(stop.damping, f"{name}.damping")
        low, high = self._number(stop.low, f"{name}.low"), self._number(stop.high, f"{name}.high")
        self.joint_stops[name] = JointStop(name, joint.name, i, low, high, k, c)

    @_atomic
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

    @_atomic
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

    @_atomic
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
        motion = self._effort(position, f"{name}.position")
        for leaf in motion.leaves() if isinstance(motion, Expression) else ():
            if leaf.op not in ("time", "parameter"):
                raise ModelError(f"drive on {j.name!r}: the prescribed motion may depend on time only, not on {leaf}")
        self.drives[name] = drive = Drive(name, j.name, index, motion)
        return drive

    def _coordinate(self, label: str, what: str) -> tuple[str, int]:
        """Joint and number of a coordinate by its name in results."""
        for joint in self.joints.values():
            if label in joint.labels():
                if joint.type.has_quaternion:
                    raise ModelError(f"{what}: {label!r} belongs to a {joint.type.name} joint and cannot be coupled")
                return joint.name, joint.labels().index(label)
        known = [x for j in self.joints.values() for x in j.labels()]
        raise ModelError(f"{what}: no coordinate is named {label!r}{suggest(label, known)}")

    @_atomic
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
        if axes not in ("world", "frame"):
            raise ModelError(f"force {name!r}: axes must be 'world' or 'frame', not {axes!r}")
        if len(force) != 3 or len(moment) != 3:
            raise ModelError(f"force {name!r}: a force and a moment have three components each")
        frame = self._on_moving_body(at, name)
        parts = [self._effort(x, f"{name}.{a}") for a, x in zip("xyz", force, strict=True)]
        turns = [self._effort(x, f"{name}.moment.{a}") for a, x in zip("xyz", moment, strict=True)]
        self.forces[name] = acting = FrameForce(name, frame, tuple(parts), tuple(turns), axes == "world")  # type: ignore
        return acting

    @_atomic
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

    def _on_moving_body(self, place: Place, name: str) -> Frame:
        self._take(name)
        frame = self._place(place, name)
        if frame.body is self.ground:
            raise ModelError(f"force {name!r} acts on the ground, which does not move")
        return frame

    def _joint(self, joint: str | Joint, what: str) -> Joint:
        name = joint.name if isinstance(joint, Joint) else joint
        if name not in self.joints:
            raise ModelError(f"{what} on the unknown joint {name!r}{suggest(str(name), self.joints)}")
        if isinstance(joint, Joint) and self.joints[name] is not joint:
            raise ModelError(f"{what} on joint {name!r} of another mechanism: name the joint of {self.name!r}")
        return self.joints[name]

    def _free_name(self, name: str | None, stem: str) -> str:
        if name is None:
            name, k = stem, 2
            while name in self._taken:
                name, k = f"{stem}{k}", k + 1
        self._take(name)
        return name

    # ---- what one asks of a mechanism ------------------------------------------------------------------------------

    def validate(self, parameters: Mapping[str, float] | None = None) -> None:
        """Raise a `ModelError` that names the culprit if this mechanism cannot be right."""
        validate.check_mechanism(self, self.values(parameters))

    def find_frame(self, name: str) -> Frame:
        """A frame by name: ``"body.frame"``, or ``"body"`` for its origin."""
        if name in self.bodies:
            return self.bodies[name]["origin"]
        if name == "ground":
            return self.ground["origin"]
        body, _, frame = name.rpartition(".")
        if body == "ground":
            return self.ground[frame]
        if body not in self.bodies:
            raise ModelError(f"mechanism {self.name!r} has no body or frame {name!r}{suggest(name, self.bodies)}")
        return self.bodies[body][frame]

    # verbs of the layers above, found when they are called: the drawing itself depends on none of them
    assemble = _verb("closedchain.march.assemble", "assemble")
    mobility = _verb("closedchain.march.mobility", "mobility")
    assembly_modes = _verb("closedchain.march.assemble", "assembly_modes")
    draw_graph = _verb("closedchain.results.graph", "draw_graph")
    __str__ = _verb("closedchain.cut.describe", "describe")

    def __repr__(self) -> str:
        return f"Mechanism({self.name!r}, {len(self.bodies)} bodies, {len(self.joints)} joints)"


def _joint_rotation(kind: str, axis: Any, axes: Any, what: str) -> Rotation:
    if axes is not None:
        if kind != "universal":
            raise ModelError(f"{what} is {kind}: only a universal joint has axes=; give axis=")
        if len(axes) != 2:
            raise ModelError(f"{what}: a universal joint has two axes, not {len(axes)}")
        return from_two_axes(axes[0], axes[1], what)
    if axis is None:
        return IDENTITY
    if kind == "universal":
        raise ModelError(f"{what} is universal: give axes=(first, second) instead of axis=")
    return from_axis(axis, what)


def _per_coordinate(value: Any, n: int, what: str, noun: str) -> tuple[float, ...]:
    if value is None:
        return ()
    values = (value,) if not hasattr(value, "__len__") else tuple(value)
    if len(values) != n:
        raise ModelError(f"{what}: {noun} needs {n} value{'s' * (n != 1)}, got {len(values)}")
    checked = tuple(check_number(x, f"{what}: {noun}") for x in values)
    if any(isinstance(x, Expression) for x in checked):
        raise ModelError(f"{what}: {noun} takes plain numbers")
    return checked  # type: ignore[return-value]


def _stops(limits: Any) -> tuple[Stops | None, ...]:
    each = (limits,) if isinstance(limits, Stops) or limits is None else tuple(limits)
    return tuple(x if isinstance(x, Stops) else None for x in each)


def _limits(limits: Any, n: int, what: str) -> tuple[tuple[float, float] | None, ...]:
    if limits is None:
        return ()
    wrong = ModelError(
        f"{what}: limits need one pair (low, high) or None for each of the {n} coordinates, not {limits!r}"
    )
    each = [limits] if isinstance(limits, Stops) else limits.tolist() if isinstance(limits, np.ndarray) else limits
    if not isinstance(each, list | tuple):
        raise wrong
    if len(each) == 2 and all(isinstance(x, int | float) for x in each):
        each = [each]
    if len(each) != n:
        raise wrong
    out: list[tuple[float, float] | None] = []
    for pair in each:
        pair = (pair.low, pair.high) if isinstance(pair, Stops) else pair
        if pair is None:
            out.append(None)
            continue
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not all(isinstance(x, int | float) for x in pair):
            raise wrong
        low, high = map(float, pair)  # infinite ones are one-sided limits
        if not low < high:
            raise ModelError(f"{what}: the lower limit {low:g} is not below the upper limit {high:g}")
        out.append((low, high))
    return tuple(out)


def _friction(friction: Any, n: int, what: str) -> tuple[Friction | None, ...]:
    if friction is None:
        return ()
    each = (friction,) * n if isinstance(friction, Friction) else friction
    if (
        not isinstance(each, list | tuple)
        or len(each) != n
        or not all(f is None or isinstance(f, Friction) for f in each)
    ):
        raise ModelError(f"{what}: friction takes a cc.Friction, or one (or None) for each of the {n} freedoms")
    return tuple(each)
