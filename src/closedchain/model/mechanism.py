"""A mechanism as a user draws it: bodies, joints between their frames in any order, and what acts on them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.arguments import entries, needs, not_negative
from closedchain.attached import Attached
from closedchain.errors import ModelError
from closedchain.model import validate
from closedchain.model.bodies.shapes import MassProperties, Shape, Vector
from closedchain.model.derived import Derived
from closedchain.model.drawing import RESERVED, Place, atomic
from closedchain.model.expressions.expression import Expression, Number, check_number
from closedchain.model.expressions.parameters import Parameters
from closedchain.model.forces.draw import DrawsActions
from closedchain.model.joints.draw import DrawsJoints
from closedchain.model.parts import Body, Frame

if TYPE_CHECKING:
    from closedchain.look.graph import draw_graph
    from closedchain.model.bodies.flexible import rigid_twin
    from closedchain.pose.assemble import assemble, assemblies
    from closedchain.pose.equilibrium import equilibrium
    from closedchain.pose.mobility import mobility
    from closedchain.results.vibration.linearise import linearise
    from closedchain.results.vibration.modes import modes

__all__ = ["RESERVED", "Mechanism", "Parameters", "Place"]

LENGTHS = frozenset(("length", "radius", "inner", "size", "width", "height", "thickness"))  # dimensions of shapes


class Mechanism(DrawsJoints, DrawsActions, Attached):
    """Bodies, joints, motors and forces, connected in any order into any graph.

    Parameters
    ----------
    name
        For tables, plots and error messages.
    gravity
        Acceleration of free fall in world axes, m/s^2. Default: 9.81 along -z.
    tolerance
        How far loops may be open because the numbers of the drawing are rounded: a length in its unit, at most a
        hundredth of the drawing's length. Angles may be off by as much on an arm of a tenth of that length. Loops that
        are closed more than once (four hinges in space, Bennett's linkage) close only if their data fit exactly; with
        data rounded to a micrometre say ``1e-6``, or what the error of `assemble` recommends. A run keeps the gaps of
        its start, and reports them in ``run.closure_error`` and ``run.record``.

    Examples
    --------
    >>> import closedchain as cc
    >>> m = cc.Mechanism("pendulum", gravity=(0, -9.81, 0))
    >>> arm = m.body("arm", cc.rod(length=1.0, mass=1.0))
    >>> hinge = m.revolute("hinge", m.ground, arm)
    """

    if TYPE_CHECKING:  # attached by `closedchain.verbs`
        rigid_twin = rigid_twin
        assemble = assemble
        assemblies = assemblies
        mobility = mobility
        equilibrium = equilibrium
        linearise = linearise
        modes = modes
        draw_graph = draw_graph

    def __init__(self, name: str, gravity: Sequence[Number] = (0.0, 0.0, -9.81), tolerance: float = 0.0) -> None:
        super().__init__(name)
        not_negative(f"mechanism {name!r}: tolerance", tolerance, "of metres")
        self.tolerance = float(tolerance)
        self.output: Frame | None = None  # the frame whose motion is the purpose of the mechanism, if it has one
        self.start: dict[str, Any] = {}  # what `assemble` holds when nothing else is said: values by joint
        self.start_velocity: dict[str, Any] = {}
        self.stands = False  # whether it may be a structure in which nothing moves: the rigid twin of one that bends
        pull = entries(gravity, 3, f"mechanism {name!r}: gravity has three components", "(0, 0, -9.81)")
        self.gravity: Vector = self._vector(pull, "gravity")
        self.ground = Body(self, "ground", MassProperties(0.0, (0.0, 0.0, 0.0), (0.0,) * 6), "ground", {})

    @atomic
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
        needs(f"body {name!r}", shape, Shape, "a shape, for instance cc.rod(length=1, mass=1)")
        self._take(name)
        for k, x in shape.dimensions.items():
            if k.split(".")[0] in LENGTHS and not isinstance(x, Expression) and check_number(x, f"{name}.{k}") < 0:  # type: ignore[operator]
                raise ModelError(f"body {name!r}: its {k} is {x}, but a length cannot be negative")
        dimensions = {k: self._number(x, f"{name}.{k}") for k, x in shape.dimensions.items()}
        body = Body(self, name, shape.build(dimensions), shape.kind, shape.outline)
        for known_as in (name, *(f"{name}.{frame}" for frame in body.frames)):
            if self._find(known_as):
                raise ModelError(f"body {name!r}: {known_as!r} is a frame of another body already: choose another name")
        validate.check_body(body, self.values())
        self.bodies[name] = body
        return body

    def values(self, overrides: Mapping[str, float] | None = None) -> Callable[[Number], float]:
        """A function that computes numbers of the drawing at the present parameter values."""
        merged = self.parameters.merged(overrides)

        def value(x: Number) -> float:
            if isinstance(x, Expression):
                with np.errstate(all="ignore"):  # what is not finite is reported by whoever needs the number
                    return float(x.evaluate(lambda leaf: merged[leaf.args[0]]))
            return float(x)

        return value

    def validate(self, parameters: Mapping[str, float] | None = None) -> None:
        """Raise a `ModelError` that names the culprit if this mechanism cannot be right."""
        value = self.values(parameters)
        validate.check_mechanism(self, value)
        for flexibility in self.flexible.values():
            flexibility.check(value)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_kept": Derived()}  # a copy is the drawing: it derives and compiles its own equations

    def __copy__(self) -> Mechanism:
        return copy.deepcopy(self)  # bodies know their mechanism: a copy that shares them would be none

    def __repr__(self) -> str:
        return f"Mechanism({self.name!r}, {len(self.bodies)} bodies, {len(self.joints)} joints)"
