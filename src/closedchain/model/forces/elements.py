"""Drawing a force of a class of one's own: its numbers become parameters, its bodies and frames named frames."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from closedchain.errors import ModelError
from closedchain.model.expressions.expression import Expression
from closedchain.model.forces.efforts import effort
from closedchain.model.forces.force import Action, Along, At, Force
from closedchain.model.parts import Body, Frame, Joint

if TYPE_CHECKING:
    from closedchain.model.mechanism import Mechanism

Element = TypeVar("Element", bound=Force)


def draw_element(m: Mechanism, element: Element) -> Element:
    """Add a force to a drawing; returns it with parameters and named frames."""
    if not isinstance(element, Force) or not is_dataclass(element):
        raise ModelError(f"force_element needs an object of a dataclass derived from Force, not {element!r}")
    what = f"{type(element).__name__} {element.name!r}"
    m._take(element.name)
    made: dict[str, Any] = {}
    for field in fields(element):
        value = getattr(element, field.name)
        if field.name in element.rules:
            made[field.name] = effort(m, value, f"{element.name}.{field.name}")
        elif isinstance(value, Body | Frame):
            made[field.name] = m._place(value, element.name)
        elif isinstance(value, Joint):
            made[field.name] = m._joint(value, what).name
    drawn = replace(element, **made)
    drawn.check(m.values())
    action = drawn.action(m)
    if not isinstance(action, Action):
        raise ModelError(f"{what}: action must return an Action(Along(...), At(...), potential=...), not {action!r}")
    for part in action.parts:
        _check_part(m, part, what)
    for x in (*action.numbers, action.potential):
        if isinstance(x, Expression):
            effort(m, x, what)
    m.force_elements[drawn.name] = drawn
    return drawn


def _check_part(m: Mechanism, part: Any, what: str) -> None:
    """Refuse a part of an action that does not fit its drawing."""
    if isinstance(part, Along):
        kind = m._joint(part.joint, what).type
        if not (isinstance(part.index, int) and 0 <= part.index < kind.nv):
            raise ModelError(
                f"{what}: joint {part.joint!r} is {kind.name} and has {kind.nv} freedoms, none with the number "
                f"{part.index!r}"
            )
    elif isinstance(part, At):
        if not isinstance(part.frame, Frame) or part.frame.name is None or part.frame.body.mechanism is not m:
            raise ModelError(
                f"{what} acts at {part.frame!r}, which is no named frame of {m.name!r}: keep the frame in a field of "
                "the force, or name it, body.frame(name, at=...)"
            )
        if len(part.force) != 3 or len(part.moment) != 3:
            raise ModelError(f"{what}: a force and a moment have three components each")
    else:
        raise ModelError(f"{what}: an action consists of Along(...) and At(...), not {part!r}")
