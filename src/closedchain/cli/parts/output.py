"""What a command prints: tables for people, one JSON object for programs.

In a terminal a table adapts to its width. In a pipe it takes the width it needs, and nothing is coloured, cut or
wrapped, so that ``grep`` and ``awk`` find whole lines.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from closedchain.progress import Progress, reported

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Json = Annotated[
    bool,
    typer.Option("--json", rich_help_panel="Options", help="Print one JSON object to stdout and nothing else."),
]

WIDE = 10_000  # characters: no line is longer


def console(stderr: bool = False) -> Console:
    """A console on the present stdout or stderr; names are printed as they are, without markup."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or os.environ.get("COLUMNS") else WIDE
    return Console(file=stream, width=width, markup=False, highlight=False, emoji=False)


def be_silent() -> None:
    """Print nothing from here on: another process says the same."""
    nowhere = open(os.devnull, "w")  # noqa: SIM115  until the process ends
    sys.stdout = sys.stderr = nowhere


def show(*things: Table | str) -> None:
    """Print tables, each followed by a blank line, and lines to stdout."""
    target = console()
    for thing in things:
        if isinstance(thing, str):
            target.print(thing, soft_wrap=True)
        elif target.is_terminal:
            target.print(thing, "")
        else:
            # without the blanks that fill the last column
            with target.capture() as captured:
                target.print(thing)
            print("\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n")


def say(kind: str, message: str) -> None:
    """An ``error:``, ``warning:`` or ``note:`` on stderr, in one piece."""
    from rich.text import Text

    style = {"error": "bold red", "warning": "bold yellow"}.get(kind, "bold")
    console(stderr=True).print(Text.assemble((f"{kind}: ", style), message), soft_wrap=True)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = ()) -> Table:
    """A plain table; the columns named in ``right`` are aligned to the right."""
    from rich.text import Text

    out = _empty_table()
    for i, name in enumerate(columns):
        out.add_column(
            Text(name),
            justify="right" if name in right else "left",
            overflow="fold",
            style="cyan" if i == 0 else "",
        )
    for row in rows:
        out.add_row(*(Text(cell) for cell in row))
    return out


def facts(title: str, rows: Sequence[tuple[str, str]]) -> Table:
    """A table of two columns under a title: what, and its value."""
    from rich.text import Text

    out = _empty_table()
    out.add_column(Text(title), style="cyan", no_wrap=True)
    out.add_column(overflow="fold")
    for name, value in rows:
        out.add_row(Text(name), Text(value))
    return out


def _empty_table() -> Table:
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))


@contextlib.contextmanager
def bar(until: float = 1.0, *, quiet: bool) -> Iterator[None]:
    """Show what a run until a time, or what many runs have done, while a command works."""
    with Progress(until, quiet=quiet) as progress, reported(progress):
        yield


@contextlib.contextmanager
def only_json(as_json: bool) -> Iterator[None]:
    """While a command works with ``--json``, what anybody prints (a model file, say) goes to stderr."""
    if not as_json:
        yield
        return
    with contextlib.redirect_stdout(sys.stderr):
        yield


def print_json(content: dict[str, Any]) -> None:
    """One JSON object; numbers that JSON does not know (nan, inf) become null."""
    print(json.dumps(_plain(content), indent=2, allow_nan=False))


def _plain(x: Any) -> Any:
    if isinstance(x, dict):
        return {str(k): _plain(v) for k, v in x.items()}
    if isinstance(x, list | tuple):
        return [_plain(v) for v in x]
    if x is None or isinstance(x, str | bool | int):
        return x
    if hasattr(x, "__float__"):
        number = float(x)
        return number if math.isfinite(number) else None
    return str(x)
