"""What a name in a study means: a parameter of the mechanism, a number of the method, or a part of the start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass

from closedchain.arguments import suggest
from closedchain.close.formulation import Formulation
from closedchain.cut.topology import cut
from closedchain.errors import ModelError
from closedchain.model.mechanism import Mechanism

SHORT = {"k": "stiffness", "b": "damping"}  # of the numbers of a method, in the letters of the equations


@dataclass(frozen=True)
class Role:
    """What a name stands for: ``kind`` is parameter, method, coordinate or velocity; ``name`` is its name there."""

    kind: str
    name: str


def roles(names: Sequence[str], mechanism: Mechanism, method: Formulation) -> dict[str, Role]:
    """The meaning of each name; a `ModelError` for names that have none, or the same one."""
    out = {name: _role(name, mechanism, method) for name in names}
    seen: dict[Role, str] = {}
    for name, role in out.items():
        if role in seen:
            raise ModelError(f"{seen[role]!r} and {name!r} are the same number: vary one of them")
        seen[role] = name
    return out


def _role(name: str, mechanism: Mechanism, method: Formulation) -> Role:
    topology = cut(mechanism)
    coordinates = [x for joint in topology.measured for x in joint.labels()]
    velocities = [x for joint in topology.measured for x in joint.velocity_labels()]
    numbers = method_numbers(method)
    if name in mechanism.parameters:
        return Role("parameter", name)
    if name.startswith("start."):
        part = name.removeprefix("start.")
        if part in coordinates:
            return Role("coordinate", part)
        if part.removesuffix("'") in velocities and part.endswith("'"):
            return Role("velocity", part.removesuffix("'"))
        if part in velocities:  # rates that are no derivative of a coordinate have no prime
            return Role("velocity", part)
        known = [*coordinates, *(f"{x}'" for x in velocities)]
        raise ModelError(f"{name!r}: {mechanism.name!r} has no coordinate or velocity {part!r}{suggest(part, known)}")
    plain = name.removeprefix("method.")
    if SHORT.get(plain, plain) in numbers:
        return Role("method", SHORT.get(plain, plain))
    if name.startswith("method.") or plain in SHORT:
        known = [*numbers, *(x for x, y in SHORT.items() if y in numbers)]
        told = f": it has {', '.join(known)}" if known else ", it has none that can be varied"
        hint = "" if known else "; cc.VirtualSpring(1e6, 1e3) has k and b"
        raise ModelError(f"{name!r} is no number of {type(method).__name__}{told}{hint}")
    if name in coordinates:
        raise ModelError(f"{name!r} is a coordinate: to vary where it starts, say 'start.{name}'")
    known = [*mechanism.parameters, *(f"start.{x}" for x in coordinates), *(f"method.{x}" for x in numbers)]
    near = suggest(name, known)
    zero = "" if "did you mean" in near else " (a number drawn as exactly zero is structure: use m.parameter(...))"
    raise ModelError(f"there is nothing named {name!r} to vary in {mechanism.name!r}{near}{zero}")


def method_numbers(method: Formulation) -> list[str]:
    """The options of a method that are plain numbers."""
    if not is_dataclass(method):
        return []
    values = {field.name: getattr(method, field.name) for field in fields(method)}
    return [name for name, x in values.items() if isinstance(x, int | float) and not isinstance(x, bool)]
