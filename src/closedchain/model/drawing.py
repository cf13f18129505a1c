"""What a mechanism is drawn on: tables of its parts, names that are taken, numbers that become parameters, places.

`DrawsJoints` and `DrawsActions` add the methods that draw; `Mechanism` is both. A method marked `atomic` changes the
drawing altogether or, if it is refused, not at all: in a notebook one corrects the line and runs it again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from closedchain.arguments import instance, known, suggest, text
from closedchain.errors import ModelError
from closedchain.model.bodies.shapes import Vector
from closedchain.model.derived import Derived
from closedchain.model.expressions.expression import Expression, Number, check_leaves, check_number, is_zero, parameter
from closedchain.model.expressions.parameters import Parameters, plain_value
from closedchain.model.forces.actions import (
    Actuator,
    Coupling,
    Drive,
    FrameForce,
    JointDamper,
    JointSpring,
    JointStop,
    Motor,
    PointSpring,
    Rotor,
)
from closedchain.model.forces.force import Force
from closedchain.model.parts import Body, Frame, Joint

if TYPE_CHECKING:
    from closedchain.model.bodies.flexible import Flexibility

Place = Body | Frame

# variables and axes of every dataset
RESERVED = frozenset(
    "time closure wrench axis lam closure_error closure_velocity_error kinetic_energy potential_energy power work "
    "energy_error closure_conditioning actuation_conditioning output_conditioning".split()
)

Method = TypeVar("Method", bound=Callable[..., Any])


@contextmanager
def attempt(drawing: Drawing) -> Iterator[None]:
    """Change the drawing altogether or, if the change is refused, not at all."""
    if drawing._attempting:
        yield
        return
    tables = {k: dict(v) for k, v in vars(drawing).items() if isinstance(v, dict)}
    values, taken, revision = dict(drawing.parameters._values), set(drawing._taken), drawing.revision
    kept = drawing._kept.copy()
    frames = {body: dict(body.frames) for body in (drawing.ground, *drawing.bodies.values())}
    drawing._attempting = True
    try:
        yield
    except BaseException:
        for name, table in tables.items():
            setattr(drawing, name, table)
        drawing.parameters._values, drawing._taken, drawing.revision = values, taken, revision
        drawing._kept = kept
        for body, before in frames.items():
            body.frames = before
        raise
    finally:
        drawing._attempting = False


def atomic(method: Method) -> Method:
    """A method that is an `attempt`."""

    @functools.wraps(method)
    def attempted(self: Drawing, *args: Any, **kwargs: Any) -> Any:
        with attempt(self):
            return method(self, *args, **kwargs)

    return attempted  # type: ignore[return-value]


class Drawing:
    """Tables of parts by name, and the rules for names, numbers and places that all drawing methods share."""

    ground: Body

    def __init__(self, name: str) -> None:
        text("the name of a mechanism", name)
        self.name = name
        self.parameters = Parameters(name)
        self.bodies: dict[str, Body] = {}
        self.joints: dict[str, Joint] = {}
        self.motors: dict[str, Motor] = {}
        self.actuators: dict[str, Actuator] = {}
        self.joint_springs: dict[str, JointSpring] = {}
        self.joint_dampers: dict[str, JointDamper] = {}
        self.joint_stops: dict[str, JointStop] = {}
        self.rotors: dict[str, Rotor] = {}
        self.couplings: dict[str, Coupling] = {}
        self.drives: dict[str, Drive] = {}
        self.forces: dict[str, FrameForce] = {}
        self.springs: dict[str, PointSpring] = {}
        self.force_elements: dict[str, Force] = {}
        self.flexible: dict[str, Flexibility] = {}  # by body
        self.revision = 0  # counts changes of the drawing, so that nothing stale is reused
        self._kept = Derived()  # see `_cache`
        self._attempting = False  # inside a method that undoes itself when it fails
        self._taken = {"ground"}

    @property
    def _cache(self) -> Derived:
        """Values that later layers computed from this revision; see `closedchain.model.derived`."""
        if self._kept.revision != self.revision:
            self._kept = Derived(self.revision)
        return self._kept

    @property
    def _acting(self) -> tuple[Force, ...]:
        """All forces and torques, in the order in which they are summed up."""
        on_joints = (self.motors, self.joint_springs, self.joint_dampers, self.joint_stops)
        tables: tuple[Mapping[str, Force], ...] = (*on_joints, self.forces, self.springs, self.force_elements)
        return tuple(force for table in tables for force in table.values())

    # ---- numbers -----------------------------------------------------------------------------------------------

    @atomic
    def parameter(self, name: str, value: float) -> Expression:
        """Declare a named number. It may be used wherever a number may, and changed without recompiling."""
        if isinstance(value, Expression):
            raise ModelError(f"parameter {name!r} needs a number as its value, not an expression")
        self.parameters.declare(name, plain_value(value, name))
        self.revision += 1
        return parameter(name)

    def _number(self, value: Any, name: str) -> Number:
        """A number of the drawing: zeros are structure, expressions stay, all else becomes a parameter."""
        number = check_number(value, name)
        if isinstance(number, Expression):
            for leaf in check_leaves(number, name, "parameter").leaves():
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

    # ---- names -------------------------------------------------------------------------------------------------

    def _take(self, name: str) -> None:
        text("a name", name)
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

    def _free_name(self, name: str | None, stem: str) -> str:
        """The name that was given, or the first one made of the stem that is not taken."""
        if name is None:
            name, k = stem, 2
            while name in self._taken:
                name, k = f"{stem}{k}", k + 1
        self._take(name)
        return name

    def _joint(self, joint: str | Joint, what: str) -> Joint:
        name = joint.name if isinstance(joint, Joint) else joint
        known(f"{what} on the unknown joint", name, self.joints)
        if isinstance(joint, Joint) and self.joints[name] is not joint:
            raise ModelError(f"{what} on joint {name!r} of another mechanism: name the joint of {self.name!r}")
        return self.joints[name]

    # ---- places ------------------------------------------------------------------------------------------------

    @atomic
    def _name_frame(self, frame: Frame, name: str) -> Frame:
        """Give a frame its name: its numbers become parameters ``body.name.x`` and so on."""
        body = frame.body
        if body.mechanism is not self:
            raise ModelError(f"body {body.name!r} belongs to another mechanism, {body.mechanism.name!r}")
        if _is_attribute(body, name):
            raise ModelError(f"body {body.name!r} already has a frame or attribute {name!r}: choose another name")
        if self._find(f"{body.name}.{name}"):
            raise ModelError(
                f"frame {name!r} on body {body.name!r} would be found as '{body.name}.{name}', which is something else "
                f"in mechanism {self.name!r} already: choose another name"
            )
        if body.name in self.flexible and f"{body.name}.{name}" in self.flexible[body.name].labels:
            raise ModelError(f"body {body.name!r} already has a shape {name!r}: choose another name for the frame")
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
        instance(repr(user), place, Frame, "placed on a body or a frame")
        if place.body.mechanism is not self:
            raise ModelError(
                f"{user!r} is placed on body {place.body.name!r} of another mechanism, {place.body.mechanism.name!r}"
            )
        if place.name is not None:
            return place
        name, k = user, 2
        while _is_attribute(place.body, name) or self._find(f"{place.body.name}.{name}"):
            name, k = f"{user}_{k}", k + 1
        return self._name_frame(place, name)

    def find_frame(self, name: str) -> Frame:
        """A frame by name: ``"body.frame"``, or ``"body"`` for its origin."""
        instance("the name of a frame", name, str, "a text, for instance 'ground.origin'")
        found = self._find(name)
        if found is not None:
            return found
        body, _, frame = name.rpartition(".")
        if body == "ground" or body in self.bodies:
            return self._body(body)[frame]  # which names the frames that there are
        raise ModelError(f"mechanism {self.name!r} has no body or frame {name!r}{suggest(name, self.bodies)}")

    def _body(self, name: str) -> Body:
        return self.ground if name == "ground" else self.bodies[name]

    def _find(self, name: str) -> Frame | None:
        if name == "ground" or name in self.bodies:
            return self._body(name)["origin"]
        # a body may have a dot in its name, and so may a frame that is named after its joint: try every one
        body, dot, frame = name.rpartition(".")
        while dot:
            if (body == "ground" or body in self.bodies) and frame in self._body(body).frames:
                return self._body(body)[frame]
            body, dot, tail = body.rpartition(".")
            frame = f"{tail}.{frame}"
        return None


def _is_attribute(body: Body, name: str) -> bool:
    return name in body.frames or hasattr(type(body), name) or name in vars(body)
