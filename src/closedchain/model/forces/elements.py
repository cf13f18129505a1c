"""Drawing a force of a class of one's own: its numbers become parameters, its bodies and frames named frames."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from closedchain.arguments import listed, suggest
from closedchain.errors import ModelError
from closedchain.model.actuators.base import RULES
from closedchain.model.expressions.expression import Expression, check_number
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
    _check_rules(element, what)
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
    action = _action(m, drawn, what)
    for part in action.parts:
        _check_part(m, part, what)
    for x in (*action.numbers, action.potential):
        if isinstance(check_number(x, f"{what}: each effort, power and potential"), Expression):
            effort(m, x, what)
    m.force_elements[drawn.name] = drawn
    return drawn


def _check_rules(element: Force, what: str) -> None:
    """Refuse rules that there are not, or for fields that there are not."""
    names = [field.name for field in fields(element)]  # type: ignore[arg-type]
    for name, rule in element.rules.items():
        if rule not in RULES:
            raise ModelError(f"{what}: there is no rule {rule!r} for {name!r}{suggest(rule, RULES)}")
        if name not in names:
            raise ModelError(f"{what}: its rules name {name!r}, which is no field of it{suggest(name, names)}")


def _action(m: Mechanism, drawn: Force, what: str) -> Action:
    """What a force does; errors in its ``action`` name the force."""
    try:
        action = drawn.action(m)
    except KeyError as error:
        name = error.args[0] if error.args else None
        near = suggest(str(name), [*m.joints, *m.bodies])
        raise ModelError(f"{what}: its action asks {m.name!r} for {name!r}, which it does not have{near}") from error
    except ModelError as error:
        raise ModelError(f"{what}: {error}") from error
    if not isinstance(action, Action):
        raise ModelError(f"{what}: action must return an Action(Along(...), At(...), potential=...), not {action!r}")
    return action


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
        if any(len(listed(x) or ()) != 3 for x in (part.force, part.moment)):
            raise ModelError(f"{what}: a force and a moment have three components each")
    else:
        raise ModelError(f"{what}: an action consists of Along(...) and At(...), not {part!r}")
