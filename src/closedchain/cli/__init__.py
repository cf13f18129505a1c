"""The command line: ``closedchain demo | list | info | run | modes | compare | ...``. One file for each verb.

Not known here: how numbers are computed. A command calls a verb and reports its result.

How to add your own verb
------------------------
1. Write a function in a file of this folder, named after the verb. Its docstring is the help text, its arguments are
   groups of options: those of `parts.options`, which all verbs share, and data classes of its own (`parts.grouped`).
   Heavy libraries (CasADi, Numba, matplotlib, xarray) are imported inside functions: help stays quick.
2. Give it ``--json`` (`options.Answer`): one object on stdout and nothing else. What a person reads goes through
   `output.show`, which knows whether it writes to a terminal or into a pipe.
3. Return an exit code of `exits`, or raise: `exits.WrongUsage` for what was typed, any `ClosedChainError` for what
   the model or the run did. `exits.Verbs` makes a sentence and a code of it.
4. Add one line to ``VERBS`` below. `list.py` is the shortest example, `run.py` the whole thing.
"""

from __future__ import annotations

from typing import Annotated, NoReturn

import typer

from closedchain._version import __version__
from closedchain.cli import compare, demo, info, list, modes, recommend, reproduce, run, stiffness, sweep, torques
from closedchain.cli.parts import exits
from closedchain.cli.parts.grouped import GroupedHelp

VERBS = (
    demo.demo,
    list.list_,
    info.info,
    run.run,
    modes.modes,
    torques.torques,
    compare.compare,
    sweep.sweep,
    recommend.recommend,
    stiffness.stiffness,
    reproduce.reproduce,
)

app = typer.Typer(
    name="closedchain",
    cls=exits.Verbs,
    rich_markup_mode=None,  # plain help reads well in pipes and narrow terminals
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _verb in VERBS:
    app.command(_verb.__name__.rstrip("_"), cls=GroupedHelp, epilog=exits.EPILOG)(_verb)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"closedchain {__version__}")
        raise typer.Exit()


@app.callback(invoke_without_command=True)
def closedchain(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Simulate robots and mechanisms with closed kinematic loops.

    Begin with 'closedchain demo', then try 'closedchain list' and 'closedchain run four-bar'.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> NoReturn:
    """The command ``closedchain``; ends the process with an exit code of `exits`."""
    raise SystemExit(app(prog_name="closedchain"))
