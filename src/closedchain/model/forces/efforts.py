"""Efforts: torques, forces and prescribed motions, as numbers, expressions, or functions of t or of (t, q, v)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from closedchain.arguments import suggest
from closedchain.errors import ModelError
from closedchain.model.drawing import Drawing
from closedchain.model.expressions.expression import Expression, Number, t
from closedchain.model.parts import Joint


def effort(drawing: Drawing, value: Any, name: str) -> Number:
    """A torque or force: a number, or a function of t, q, v."""
    if callable(value) and not isinstance(value, Expression):
        q, v = Leaves("coordinate", drawing.joints), Leaves("velocity", drawing.joints)
        value = value(t) if _count_arguments(value, name) == 1 else value(t, q, v)
    if not isinstance(value, Expression):
        return drawing._number(value, name)
    for leaf in value.leaves():
        if leaf.op == "parameter":
            drawing._check_parameter(leaf, name)
        elif leaf.op in ("place", "speed"):
            drawing.find_frame(f"{leaf.args[0]}.{leaf.args[1]}")
        elif leaf.op == "sampled":
            if leaf.args[1] is None:
                raise ModelError(f"{name}: {leaf} gives {leaf.args[0].outputs} numbers; take one of them, as u[0]")
        elif leaf.op in ("multiplier", "conditioning"):
            raise ModelError(f"{name} depends on {leaf}: a torque or force may not, only an event may")
        elif leaf.op != "time":
            joint, coordinate = leaf.args
            if joint not in drawing.joints:
                raise ModelError(f"{name} refers to the unknown joint {joint!r}{suggest(joint, drawing.joints)}")
            coordinate_leaf(leaf.op, drawing.joints[joint], coordinate)  # a joint of this kind has such a coordinate
    return value


def _count_arguments(function: Callable[..., Any], name: str) -> int:
    """One for a function of time, three for a function of time, coordinates and velocities."""
    try:
        takes = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # functions of C code do not always tell
        raise ModelError(
            f"{name}: {function!r} does not say which arguments it takes; write it as lambda t: ... "
            "or lambda t, q, v: ..."
        ) from None
    needed = [p for p in takes if p.default is inspect.Parameter.empty]
    count = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in needed)
    if count == 0 and any(p.kind is p.VAR_POSITIONAL for p in takes):
        count = 1  # a function of any number of arguments, such as cc.math.sin itself, is a function of time
    for p in needed:
        if p.kind is p.KEYWORD_ONLY:
            raise ModelError(f"{name}: the function needs {p.name!r} by name: give it a default, {p.name}=...")
    if count not in (1, 3):
        raise ModelError(f"{name}: a function of the effort takes (t) or (t, q, v), not {count} arguments")
    return count


@dataclass
class Leaves:
    """``q["A"]``, ``v["A"]`` or ``q["leg.x"]`` inside a torque function."""

    op: str
    joints: Mapping[str, Joint] = field(default_factory=dict)

    def __getitem__(self, key: str) -> Expression:
        if not isinstance(key, str):
            raise ModelError(f"a torque names a coordinate by a text, for instance q['A'], not by {key!r}")
        if key in self.joints:
            joint, name = key, None
        else:
            joint, _, name = key.rpartition(".")  # type: ignore[assignment]
        if joint not in self.joints:
            raise ModelError(f"a torque refers to the unknown joint {key!r}{suggest(key, self.joints)}")
        return coordinate_leaf(self.op, self.joints[joint], name)


def coordinate_leaf(op: str, joint: Joint, name: str | None) -> Expression:
    """The expression of one coordinate or velocity of a joint."""
    names = joint.type.coordinates if op == "coordinate" else joint.type.velocities
    if name is None and len(names) != 1:
        raise ModelError(
            f"joint {joint.name!r} ({joint.type.name}) has {len(names)} values {names}: "
            f"write for instance {f'{joint.name}.{names[0]}'!r}"
            if names
            else f"joint {joint.name!r} is a weld and has no coordinate"
        )
    if name is not None and name not in names:
        raise ModelError(f"joint {joint.name!r} has no {op} {name!r}{suggest(name, names)}")
    return Expression(op, joint.name, None if len(names) == 1 else name)
