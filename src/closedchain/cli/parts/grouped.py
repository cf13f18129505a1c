"""Options in groups: a data class holds the options that belong together, and a command takes its objects.

Typer makes an option of each parameter of a command. A command here takes groups instead, and `grouped` gives Typer a
parameter for each of their fields:

    @grouped
    def run(drawing: Drawing, solving: Solving) -> int: ...

How to add your own group
-------------------------
1. Derive a frozen data class with keyword-only fields from `Group`; ``panel`` is its heading in the help.
2. Annotate each field with a ``typer.Option``, and give it a default. A subclass may give an inherited field another
   default. A field annotated with a mapping of names to annotations stands for all of these options, and holds those
   that were typed, by name.
3. Give it a method that makes the library's object of what was typed, inside `exits.as_typed`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, ClassVar, get_args, get_type_hints

from typer.core import TyperCommand
from typer.models import ParameterInfo

KEYWORD = inspect.Parameter.KEYWORD_ONLY


@dataclass(frozen=True, kw_only=True)
class Group:
    """Options that belong together; ``panel`` is their heading in the help."""

    panel: ClassVar[str] = "Options"


def grouped(command: Callable[..., int]) -> Callable[..., int]:
    """A command that takes groups, with a parameter for each of their fields instead."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if isinstance(hint, type) and issubclass(hint, Group)}
    flat: dict[str, inspect.Parameter] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        ours = (
            _parameters(groups[name]) if name in groups else [parameter.replace(annotation=hints[name], kind=KEYWORD)]
        )
        for one in ours:
            if one.name in flat:
                raise TypeError(f"{command.__name__} has two options {one.name!r}")
            flat[one.name] = one

    def flattened(**typed: Any) -> int:
        return command(**{name: _made(groups[name], typed) if name in groups else typed[name] for name in own})

    own = list(inspect.signature(command).parameters)
    flattened.__name__, flattened.__doc__, flattened.__module__ = command.__name__, command.__doc__, command.__module__
    flattened.__annotations__ = {name: one.annotation for name, one in flat.items()} | {"return": int}
    flattened.__signature__ = inspect.Signature([*flat.values()], return_annotation=int)  # type: ignore[attr-defined]
    return flattened


def _parameters(group: type[Group]) -> list[inspect.Parameter]:
    """A parameter for each option of a group."""
    hints = get_type_hints(group, include_extras=True)
    out = []
    for field in fields(group):
        hint = hints[field.name]
        for name, one in (_table(hint) or {field.name: hint}).items():
            default = inspect.Parameter.empty if field.default is MISSING else field.default
            default = None if _table(hint) is not None else default
            out.append(inspect.Parameter(name, KEYWORD, default=default, annotation=_under(one, group.panel, default)))
    return out


def _under(hint: Any, panel: str, default: Any) -> Any:
    """An annotation with the heading of its group; a default that is a value is shown instead of words about it."""
    kind, info = get_args(hint)
    if not isinstance(info, ParameterInfo):
        raise TypeError(f"an option is annotated with typer.Option(...), not with {info!r}")
    info = copy(info)
    info.rich_help_panel = info.rich_help_panel or panel
    if isinstance(info.show_default, str) and default is not None:
        info.show_default = True
    return Annotated[kind, info]


def _table(hint: Any) -> Mapping[str, Any] | None:
    """The options that one field stands for, if it stands for several."""
    found = next((x for x in get_args(hint)[1:] if isinstance(x, Mapping)), None)
    return None if found is None else found


def _made(group: type[Group], typed: Mapping[str, Any]) -> Group:
    """The object of a group."""
    hints = get_type_hints(group, include_extras=True)
    values: dict[str, Any] = {}
    for field in fields(group):
        table = _table(hints[field.name])
        if table is None:
            values[field.name] = typed[field.name]
        else:
            values[field.name] = {name: typed[name] for name in table if typed[name] is not None}
    return group(**values)


class GroupedHelp(TyperCommand):
    """A command whose help has its options under the headings of their groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, in the order of their groups."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
                panel = getattr(parameter, "rich_help_panel", None) or usual
                panels.setdefault("Options" if parameter.name == "help" else panel, []).append(record)
        panels["Options"] = panels.pop("Options")  # what all commands have goes last
        for panel, records in panels.items():
            with formatter.section(panel):
                formatter.write_dl(records)
