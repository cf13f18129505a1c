"""Flexible bodies: a body that is a beam, and the shapes in which it may deform.

The beam lies along +x of its body, from the origin to ``x = length``, with its mass spread evenly: bending along y has
the stiffness E Iz, along z E Iy, stretching E A, twisting G J (Euler and Bernoulli; small strains and rotations).
Sections turn by ``(torsion, -dw/dx, dv/dx)``. What moves as a whole is the body's frame, as of a rigid body; the
coordinates of the shapes, ``coupler.y1`` and so on, are measured against it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.arguments import boolean, entries, instance
from closedchain.errors import ModelError
from closedchain.model.bodies.sections import Section
from closedchain.model.derived import Derived
from closedchain.model.drawing import attempt
from closedchain.model.expressions.expression import Number, is_zero
from closedchain.model.parts import Body, Frame
from closedchain.model.shapes import ShapeSet, craig_bampton
from closedchain.model.shapes.integrals import eigenpairs

if TYPE_CHECKING:
    from closedchain.model.mechanism import Mechanism

OFF_MIDDLE = 1e-6  # of the length: how far the centre of mass may be from the middle of a beam
NOT_SLENDER = 0.2  # of m L^2 / 12: how much more inertia may be than that of a thin beam
ROUNDING = 1e-9  # of m L^2 / 12: how much less it may be, and products of inertia that are none
ALIKE = 1e-12  # of unit shapes: a smaller eigenvalue of their Gram matrix means that they are dependent
STRAINLESS = 1e-9  # smallest k / g of a combination of shapes that strains the beam
MOVES = {"u": ("A", "stretch", "axial"), "v": ("Iz", "bend along y", "y"), "w": ("Iy", "bend along z", "z")}
MOVES |= {"t": ("J", "twist", "torsion")}


@dataclass(frozen=True, eq=False)
class Flexibility:
    """What makes a body flexible. Numbers are parameters of the drawing: ``coupler.E``, ``coupler.section.A``, ...

    Attributes
    ----------
    body
        The body; its mass is the beam's.
    length
        m; the beam is from x = 0 to here.
    E, G
        Young's modulus and the shear modulus, Pa.
    section
        A `Section` whose numbers are parameters.
    shapes
        A `ShapeSet`.
    damping
        Damping ratio of all modes of the shapes, 0 to 1.
    rayleigh
        alpha (1/s) and beta (s): damping alpha times mass plus beta times stiffness.
    stiffening
        Whether an axial load, as by rotation, changes the stiffness against bending.
    """

    body: Body
    length: Number
    E: Number
    G: Number
    section: Section
    shapes: ShapeSet
    damping: Number = 0.0
    rayleigh: tuple[Number, Number] = (0.0, 0.0)
    stiffening: bool = False
    declared: tuple[str, ...] = ()  # parameters that came with it

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the coordinates in results."""
        return tuple(f"{self.body.name}.{name}" for name in self.shapes.names)

    @property
    def polar(self) -> Number:
        """Moment of inertia about the axis: as drawn, or of the section where a thin rod was drawn; 0 if neither is
        known. It is that of the rigid twin, too.
        """
        drawn, section = self.body.properties.inertia[0], self.section
        if not is_zero(drawn) or is_zero(section.J) or is_zero(section.A):
            return drawn
        return self.body.properties.mass * (section.Iy + section.Iz) / section.A

    def check(self, value: Callable[[Number], float]) -> None:
        """Raise a `ModelError` if this cannot be a beam at the present values of the parameters."""
        _check_moduli(self, value)
        _check_beam(self, value)


def make_flexible(
    body: Body,
    E: Number,
    section: Section,
    *,
    shapes: ShapeSet | None = None,
    nu: Number | None = None,
    G: Number | None = None,
    length: Number | None = None,
    damping: Number = 0.0,
    rayleigh: Sequence[Number] = (0.0, 0.0),
    stiffening: bool = False,
) -> Body:
    """Let this body deform as a beam along its x axis, from its origin. A second call replaces the first.

    Parameters
    ----------
    E
        Young's modulus, Pa.
    section
        The cross-section: ``cc.Section.rectangle(y=0.02, z=0.03)``.
    shapes
        The shapes in which it may deform: ``cc.shapes.craig_bampton(y=2)``. By default static shapes of the far end
        and some normal modes in every direction in which the section has a stiffness; a planar mechanism needs
        ``y`` only. Their coordinates are in the results as ``coupler.y1``, ...
    nu, G
        Poisson's ratio (0.3 unless given) or the shear modulus, Pa.
    length
        m; by default where the frame ``tip`` is.
    damping
        Damping ratio of all modes of the shapes, for instance 0.01.
    rayleigh
        alpha (1/s) and beta (s): damping alpha times mass plus beta times stiffness.
    stiffening
        Whether axial loads, as by rotation, change the stiffness against bending.

    Examples
    --------
    >>> import closedchain as cc
    >>> m = cc.Mechanism("arm")
    >>> arm = m.body("arm", cc.rod(length=0.5, mass=2.352))
    >>> arm.flexible(E=5e9, section=cc.Section.rectangle(y=0.02, z=0.03), shapes=cc.shapes.clamped_free(y=2))
    Body('arm')
    >>> m.flexible["arm"].labels
    ('arm.y1', 'arm.y2')
    """
    drawing = body.mechanism
    name, what = body.name, f"flexible body {body.name!r}"
    if body is drawing.ground:
        raise ModelError("the ground cannot be flexible: weld a body to it, and make that one flexible")
    instance(f"{what}: section", section, Section, "a section, for instance cc.Section.rectangle(y=0.02, z=0.03)")
    if shapes is not None:
        instance(f"{what}: shapes", shapes, ShapeSet, "a set of shapes, for instance cc.shapes.craig_bampton(y=2)")
    boolean(f"{what}: stiffening", stiffening)
    if nu is not None and G is not None:
        raise ModelError(f"{what}: give either Poisson's ratio nu or the shear modulus G")
    alpha, beta = entries(rayleigh, 2, f"{what}: rayleigh damping is alpha and beta", "rayleigh=(0.5, 1e-4)")
    with attempt(drawing):
        _forget(drawing, name)

        before = set(drawing.parameters)
        if length is None:
            if "tip" not in body.frames:
                raise ModelError(f"{what} has no frame 'tip' at its end: say its length=...")
            length = body.frames["tip"].position[0]
        else:
            length = drawing._number(length, f"{name}.beam.length")
        E = drawing._number(E, f"{name}.E")
        if G is None:
            poisson = drawing._number(0.3 if nu is None else nu, f"{name}.nu")
            G = E / (2 * (1 + poisson))
            _check_poisson(poisson, drawing, what)
        else:
            G = drawing._number(G, f"{name}.G")
        drawn = section.drawn(lambda x, dimension: drawing._number(x, f"{name}.section.{dimension}"))
        flexibility = Flexibility(
            body=body,
            length=length,
            E=E,
            G=G,
            section=drawn,
            shapes=default_shapes(drawn) if shapes is None else shapes,
            damping=drawing._number(damping, f"{name}.damping"),
            rayleigh=(
                drawing._number(alpha, f"{name}.rayleigh.alpha"),
                drawing._number(beta, f"{name}.rayleigh.beta"),
            ),
            stiffening=stiffening,
            declared=tuple(key for key in drawing.parameters if key not in before),
        )
        for label, shape in zip(flexibility.labels, flexibility.shapes.names, strict=True):
            if drawing._find(label):
                raise ModelError(f"{what}: its shape {shape!r} would be found as {label!r}, which is a frame already")
            drawing._take(label)
        _check_shapes(flexibility, what)
        flexibility.check(drawing.values())
        drawing.flexible[name] = flexibility
        drawing.revision += 1
        return body


def default_shapes(section: Section) -> ShapeSet:
    """Static shapes and some normal modes for every direction in which the section has a stiffness."""
    counts = {"y": (2, section.Iz), "z": (2, section.Iy), "axial": (1, section.A), "torsion": (1, section.J)}
    return craig_bampton(**{kind: count for kind, (count, number) in counts.items() if not is_zero(number)})


def _forget(drawing: Mechanism, name: str) -> None:
    """Undo what an earlier call for this body has drawn."""
    old = drawing.flexible.pop(name, None)
    if old is not None:
        for parameter in old.declared:
            del drawing.parameters._values[parameter]
        drawing._taken -= set(old.labels)


def _check_poisson(nu: Number, drawing: Mechanism, what: str) -> None:
    value = drawing.values()(nu)
    if not -1 < value <= 0.5:
        raise ModelError(
            f"{what}: Poisson's ratio nu is {value:g}, but it is above -1 and at most 0.5 for any material"
        )


def _check_moduli(flexibility: Flexibility, value: Callable[[Number], float]) -> None:
    what = f"flexible body {flexibility.body.name!r}"
    for name, number, unit in (
        ("E", flexibility.E, "Pa"),
        ("G", flexibility.G, "Pa"),
        ("length", flexibility.length, "m"),
    ):
        if not (value(number) > 0 and np.isfinite(value(number))):
            raise ModelError(f"{what}: its {name} is {value(number):g} {unit}, but it must be above 0")
    for name, number in (
        ("damping", flexibility.damping),
        ("rayleigh alpha", flexibility.rayleigh[0]),
        ("rayleigh beta", flexibility.rayleigh[1]),
    ):
        if not value(number) >= 0:
            raise ModelError(f"{what}: its {name} is {value(number):g}, but damping takes energy away: give 0 or more")
    if not is_zero(flexibility.damping):
        flexibility.shapes.integrals.damping  # noqa: B018  (says so if it is not defined)
    section = flexibility.section
    for field, (letter, verb, kind) in MOVES.items():
        if flexibility.shapes.using(field) and not value(getattr(section, letter)) > 0:
            raise ModelError(
                f"{what} may {verb}, but its section has {letter} = 0: give the section its {letter}, or leave the "
                f"{kind} shapes out"
            )
    about_x = flexibility.body.properties.inertia[0]
    if flexibility.shapes.using("t") and not value(about_x) + value(section.Iy) + value(section.Iz) > 0:
        raise ModelError(
            f"{what} may twist, but it has no inertia about its axis: give the section its Iy and Iz, or the rod a "
            "radius"
        )


def _check_beam(flexibility: Flexibility, value: Callable[[Number], float]) -> None:
    """The mass of the body is that of a uniform beam along x."""
    body = flexibility.body
    what, properties = f"flexible body {body.name!r}", body.properties
    mass, L = value(properties.mass), value(flexibility.length)
    if not mass > 0:
        raise ModelError(f"{what} has no mass: a beam without inertia has no motion of its own; give it a mass")
    com = np.array([value(x) for x in properties.com])
    if np.abs(com - [L / 2, 0.0, 0.0]).max() > OFF_MIDDLE * L:
        raise ModelError(
            f"{what}: its centre of mass is at ({com[0]:.6g}, {com[1]:.6g}, {com[2]:.6g}) m, but a beam of length "
            f"{L:g} m with its mass spread evenly along x has it at ({L / 2:.6g}, 0, 0); draw it as cc.rod(...), weld "
            "what else it carries to it, or say another length="
        )
    thin = mass * L**2 / 12
    for axis, number in zip("yz", properties.inertia[1:3], strict=True):
        if value(number) > (1 + NOT_SLENDER) * thin:
            raise ModelError(
                f"{what}: its inertia about {axis} is {value(number):.4g} kg m^2, but a beam of {mass:g} kg and "
                f"{L:g} m has about {thin:.4g}; draw it as cc.rod(...), and weld what else it carries to it"
            )
        if value(number) < (1 - ROUNDING) * thin:
            raise ModelError(
                f"{what}: its inertia about {axis} is {value(number):.10g} kg m^2, but {mass:g} kg that are spread "
                f"evenly along {L:g} m have {thin:.10g} at least, as a thin rod; draw it as cc.rod(...)"
            )
    for axes, number in zip(("xy", "xz", "yz"), properties.inertia[3:], strict=True):
        if abs(value(number)) > ROUNDING * thin:
            raise ModelError(
                f"{what}: its product of inertia {axes} is {value(number):.4g} kg m^2, but a beam along x with its "
                "mass spread evenly has none: draw it as cc.rod(...), and weld what else it carries to it"
            )


def _check_shapes(flexibility: Flexibility, what: str) -> None:
    """Shapes are independent, and none moves the beam without strain."""
    integrals, names = flexibility.shapes.integrals, flexibility.shapes.names
    g = integrals.G[0, 0] + integrals.G[1, 1] + integrals.G[2, 2] + integrals.t2
    for i in np.flatnonzero(np.diag(g) <= 0):
        raise ModelError(f"{what}: the shape {names[i]!r} is zero everywhere: leave it out")
    size = 1 / np.sqrt(np.diag(g))
    least, mix = np.linalg.eigh(size[:, None] * g * size)
    if least[0] < ALIKE:
        alike = " and ".join(repr(names[i]) for i in sorted(np.argsort(-np.abs(mix[:, 0]))[:2]))
        raise ModelError(f"{what}: its shapes are not independent (look at {alike}): leave one out")
    strain, phi = eigenpairs(integrals.ku + integrals.kv + integrals.kw + integrals.kt, g)
    if strain[0] < STRAINLESS * max(1.0, strain[-1]) ** 0.5:
        share = np.abs(phi[:, 0]) / size  # of unit shapes
        mixed = [repr(names[i]) for i in np.flatnonzero(share > 1e-3 * share.max())]
        culprit = f"the shape {mixed[0]}" if len(mixed) == 1 else f"a combination of the shapes {', '.join(mixed)}"
        raise ModelError(f"{what}: {culprit} moves it without strain, as its frame does already: leave such shapes out")


def rigid_twin(mechanism: Mechanism) -> Mechanism:
    """A copy of a drawing without flexibility: the same parts, names, numbers and parameters.

    Bodies and frames are made anew for the copy, and what refers to them; expressions and laws, which name what they
    depend on, are shared. Parameters have their present values, and are changed in each drawing for itself. A beam that
    was drawn as a thin rod has the inertia of its section about its axis, as when it twists.

    Examples
    --------
    >>> import closedchain as cc
    >>> m = cc.library.four_bar(flexible=True)
    >>> sorted(m.flexible), sorted(m.rigid_twin().flexible)
    (['coupler'], [])
    """
    twin: Mechanism = object.__new__(type(mechanism))
    vars(twin).update(vars(mechanism))
    frames: dict[Frame, Frame] = {}
    anew: dict[Body, Body] = {}
    for body in (mechanism.ground, *mechanism.bodies.values()):
        other = anew[body] = copy.copy(body)
        other.mechanism = twin
        if body.name in mechanism.flexible and body is not mechanism.ground:
            _, *rest = body.properties.inertia
            beam = mechanism.flexible[body.name]
            other.properties = replace(body.properties, inertia=(beam.polar, *rest))
        other.frames = {name: replace(frame, body=other) for name, frame in body.frames.items()}
        frames |= {frame: other.frames[name] for name, frame in body.frames.items()}

    def moved(part: Any) -> Any:
        if isinstance(part, Frame):
            return frames.get(part, part)
        if isinstance(part, Body):
            return anew[part]
        if is_dataclass(part) and not isinstance(part, type):
            changed = {
                f.name: moved(old) for f in fields(part) if isinstance(old := getattr(part, f.name), Frame | Body)
            }
            return replace(part, **changed) if changed else part
        return part

    for table, parts in vars(mechanism).items():
        if isinstance(parts, dict):
            setattr(twin, table, {moved(key): moved(part) for key, part in parts.items()})
    shapes = {label for flexibility in mechanism.flexible.values() for label in flexibility.labels}
    twin.flexible, twin._kept = {}, Derived()
    twin.stands = mechanism.stands or bool(mechanism.flexible)
    twin.start, twin.start_velocity = (
        {key: x for key, x in start.items() if key not in shapes} for start in (twin.start, twin.start_velocity)
    )
    twin.ground, twin.output = anew[mechanism.ground], moved(mechanism.output)
    twin.parameters = copy.copy(mechanism.parameters)
    twin._taken = mechanism._taken - shapes
    return twin
