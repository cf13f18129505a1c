"""``closedchain list``: what there is to choose from."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from closedchain.cli.parts import options, output
from closedchain.cli.parts.exits import GOOD


class What(StrEnum):
    """Things that have names."""

    mechanisms = "mechanisms"
    methods = "methods"
    solvers = "solvers"


HEADINGS = {"until": "usual run [s]"}


def list_(
    what: Annotated[What, typer.Argument(help="What to list.")] = What.mechanisms, as_json: output.Json = False
) -> int:
    """List the mechanisms, methods or solvers there are.

    Mechanisms are those of the library; methods are the ways to close loops; solvers march in time.
    """
    rows = {What.mechanisms: _mechanisms, What.methods: _methods, What.solvers: _solvers}[what]()
    if as_json:
        output.print_json({what.value: rows})
        return GOOD
    columns = tuple(HEADINGS.get(key, key) for key in rows[0])
    cells = [tuple(f"{x:g}" if isinstance(x, float) else str(x) for x in row.values()) for row in rows]
    numbers = [HEADINGS.get(key, key) for key, x in rows[0].items() if isinstance(x, int | float)]
    output.show(output.table(columns, cells, right=numbers))
    return GOOD


def _mechanisms() -> list[dict[str, str | float]]:
    from closedchain.model.library import FLEXIBLE, MECHANISMS

    return [{"name": name, "until": x.until, "about": x.about} for name, x in (MECHANISMS | FLEXIBLE).items()]


def _methods() -> list[dict[str, str | float]]:
    return [{"name": name, "method": repr(x), "citation": x.citation()} for name, x in options.methods().items()]


def _solvers() -> list[dict[str, str | float]]:
    from closedchain.integrate.solvers import SOLVERS

    return [
        {"name": name, "order": x.order, "step": "chosen" if x.adaptive else "fixed", "citation": x.citation}
        for name, x in SOLVERS.items()
    ]
