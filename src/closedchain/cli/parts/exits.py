"""How a command ends: exit codes, and a sentence instead of a traceback.

Wrong input, an error of the model and an interrupt are all told in one place, here, on stderr (or with ``--json`` as
``{"error": ...}`` on stdout). ``CLOSEDCHAIN_DEBUG=1`` adds the traceback.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import typer
from typer.core import TyperGroup

from closedchain.cli.parts import output
from closedchain.errors import ClosedChainError, ModelError

GOOD = 0
FAILED = 1  # the run or the model
WRONG_USAGE = 2  # what was typed
DOUBTFUL = 3  # finished, but the checks of the run complain
INTERRUPTED = 130  # as shells count: 128 + SIGINT

EPILOG = (
    "Exit codes: 0 good, 1 the model or the run failed, 2 wrong usage, 3 finished but the run's checks complain, "
    "130 interrupted. CLOSEDCHAIN_DEBUG=1 shows tracebacks."
)

# Typer brings a Click of its own or uses the installed one, depending on its version: this is the right one in any case
_ParserError: type[Exception] = typer.BadParameter.__mro__[2]

T = TypeVar("T")


class WrongUsage(Exception):
    """What was typed cannot be meant: an unknown name, a value that is no number, a file that is not there."""


def as_typed(work: Callable[[], T], option: str = "") -> T:
    """Do something that a `ModelError` ends only because of what was typed; ``option`` goes before its sentence."""
    try:
        return work()
    except ModelError as error:
        raise WrongUsage(f"{option}: {error}" if option else str(error)) from error


class UserFileError(ClosedChainError):
    """A model file did not work; the message names its line."""


class _Interrupted(Exception):
    """Ctrl-C, under a name that Typer does not swallow."""


class Verbs(TyperGroup):
    """The group of all verbs: makes an exit code of everything that may happen."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command line; returns the exit code, or raises SystemExit with it in standalone mode."""
        as_json = "--json" in (sys.argv[1:] if args is None else args)
        try:
            code = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra) or GOOD
        except WrongUsage as error:
            code = fail(str(error), WRONG_USAGE, as_json)
        except _ParserError as error:
            code = fail(_parser_sentence(error), WRONG_USAGE, as_json)
        except ClosedChainError as error:
            code = fail(str(error), FAILED, as_json)
        except _Interrupted as stop:
            code = fail(str(stop) or "interrupted", INTERRUPTED, as_json)
        except OSError as error:
            code = fail(f"{error.filename or 'file'}: {error.strerror or error}", FAILED, as_json)
        except Exception as error:
            code = fail(
                f"{type(error).__name__}: {error}. This was not foreseen and may be a mistake in closedchain: "
                "CLOSEDCHAIN_DEBUG=1 shows where it happened",
                FAILED,
                as_json,
            )
        if standalone_mode:
            raise SystemExit(code)
        return code

    def invoke(self, ctx: Any) -> Any:
        """Run the verb."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise _Interrupted(str(interrupt)) from interrupt


def fail(message: str, code: int, as_json: bool, **more: Any) -> int:
    """Say what went wrong, and hand back the exit code."""
    if os.environ.get("CLOSEDCHAIN_DEBUG", "0") not in ("", "0") and sys.exc_info()[0] is not None:
        traceback.print_exc()
    if as_json:
        output.print_json({"error": message, **more})
    else:
        output.say("error", message)
    return code


def _parser_sentence(error: Any) -> str:
    """Typer's own complaint (an unknown option, a missing argument), and where the help is."""
    command = error.ctx.command_path if getattr(error, "ctx", None) is not None else "closedchain"
    return f"{error.format_message().rstrip('.')}. See '{command} --help'"
