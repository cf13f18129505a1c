"""``NAME|FILE.py``: a mechanism of the library, or one that a file draws.

A file has a mechanism named ``mechanism``, or a function ``mechanism()`` that returns one. It may also have a
``start``: a `State`, or a function ``start()`` or ``start(mechanism)`` that returns one.
"""

from __future__ import annotations

import importlib.util
import inspect
import linecache
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from closedchain.arguments import suggest
from closedchain.cli.parts.exits import UserFileError, WrongUsage
from closedchain.cli.parts.save import typed
from closedchain.disk.names import LARGEST_PROGRAM, data_of
from closedchain.errors import ClosedChainError, ModelError

if TYPE_CHECKING:
    from closedchain.model.mechanism import Mechanism
    from closedchain.pose.state import State

UNTIL = 1.0  # s, for files


@dataclass(frozen=True)
class Source:
    """A mechanism to work with.

    Attributes
    ----------
    mechanism
        Freshly built: its parameters may be changed.
    until
        Length of its usual run, s.
    start
        Makes the start that the file wants; None: ``mechanism.assemble()``.
    """

    mechanism: Mechanism
    until: float
    start: Callable[[], State] | None = None


def complete(incomplete: str) -> list[str]:
    """Names of mechanisms, for the shell's completion."""
    from closedchain.model.library import FLEXIBLE, MECHANISMS

    return [name for name in MECHANISMS | FLEXIBLE if name.startswith(incomplete)]


def find(where: str) -> Source:
    """The mechanism that the user means."""
    if where.endswith(".py") or "/" in where or "\\" in where:
        return _from_file(typed("the file", where))
    from closedchain.model.library import FLEXIBLE, MECHANISMS

    name = where.replace("_", "-").lower()
    library = MECHANISMS | FLEXIBLE
    if name not in library:
        if Path(f"{where}.py").is_file():
            raise WrongUsage(f"the library has no mechanism {where!r}; did you mean the file '{where}.py'?")

        raise WrongUsage(
            f"the library has no mechanism {where!r}{suggest(name, library)} "
            "('closedchain list' shows all; a file of your own ends in .py)"
        )
    entry = library[name]
    return Source(entry.build(), entry.until)


# ---- files ----------------------------------------------------------------------------------------------------------


def _from_file(path: Path) -> Source:
    if not path.exists():
        raise WrongUsage(f"there is no file '{path}'{_similar_file(path)}")
    if not path.is_file() or path.suffix != ".py":
        raise WrongUsage(f"'{path}' is not a Python file (its name must end in .py)")
    from closedchain.model.mechanism import Mechanism
    from closedchain.pose.state import State

    module = _guarded(path, lambda: _execute(path))
    if not hasattr(module, "mechanism"):
        raise UserFileError(f"'{path}' defines no 'mechanism'{_other_mechanism(module)}")
    mechanism = _value(path, module.mechanism, "mechanism", Mechanism)
    if not hasattr(module, "start"):
        return Source(mechanism, UNTIL)

    def start() -> State:
        state = _value(path, module.start, "start", State, mechanism)
        if state.mechanism is not mechanism:
            raise UserFileError(
                f"'{path}': 'start' belongs to another mechanism than 'mechanism'; make it with "
                "mechanism.assemble(...), or write a function start(mechanism)"
            )
        return state

    return Source(mechanism, UNTIL, start)


def _execute(path: Path) -> ModuleType:
    """Run the file as ``python FILE.py`` would find its neighbours, but not as ``__main__``."""
    try:
        data_of(path, "the drawing", LARGEST_PROGRAM)
    except ModelError as error:
        raise UserFileError(str(error)) from None
    spec = importlib.util.spec_from_file_location(f"closedchain_file_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and pickles look here
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
    return module


def _value(path: Path, value: Any, name: str, kind: type, *arguments: Any) -> Any:
    """``name`` of the file, called if it is a function, and checked."""
    if callable(value) and not isinstance(value, kind):
        takes = _positional(value)
        if takes > len(arguments):
            wanted = f"{name}()" + (f" or {name}(mechanism)" if arguments else "")
            raise UserFileError(
                f"'{path}': the function '{name}' must be callable as {wanted}; give its arguments defaults"
            )
        made = _guarded(path, lambda: value(*arguments[:takes]))
        if not isinstance(made, kind):
            raise UserFileError(f"'{path}': {name}() returns {_a(made)}, not a cc.{kind.__name__}")
        return made
    if not isinstance(value, kind):
        raise UserFileError(
            f"'{path}': '{name}' is {_a(value)}, not a cc.{kind.__name__} or a function that returns one"
        )
    return value


def _positional(function: Any) -> int:
    """How many arguments a function insists on."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 0
    return sum(p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)


def _guarded(path: Path, work: Callable[[], Any]) -> Any:
    """Do something in the user's file; an exception becomes a sentence with the line of the file."""
    try:
        return work()
    except SyntaxError as error:
        at = error.filename or str(path)
        line = (error.text or "").strip()
        where = f"'{_short(at, path)}'" + (f", line {error.lineno}" if error.lineno else "")
        raise UserFileError(f"{where}: {error.msg}{_quoted(line)}") from error
    except UserFileError:
        raise
    except (Exception, SystemExit) as error:
        number = _line_in(error, path)
        place = f"'{path}'" + (f", line {number}" if number else "")
        linecache.checkcache(str(path.resolve()))
        line = linecache.getline(str(path.resolve()), number).strip() if number else ""
        if isinstance(error, SystemExit):
            text = f"the file ended the program (exit code {error.code}); leave that to the part under __main__"
        elif isinstance(error, ClosedChainError):
            text = str(error)
        else:
            text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise UserFileError(f"{place}: {text}{_quoted(line)}") from error


def _line_in(error: BaseException, path: Path) -> int:
    """The deepest line of the file that the exception passed through; 0 if none."""
    here = path.resolve()
    lines = [f.lineno or 0 for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).resolve() == here]
    return lines[-1] if lines else 0


def _quoted(line: str) -> str:
    return f"\n    {line}" if line else ""


def _short(name: str, path: Path) -> str:
    return str(path) if Path(name).resolve() == path.resolve() else name


def _a(value: Any) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"


def _similar_file(path: Path) -> str:
    try:
        near = suggest(path.name, [p.name for p in path.parent.glob("*.py")])
    except OSError:
        return ""
    return near if "did you mean" in near else ""


def _other_mechanism(module: ModuleType) -> str:
    """A hint for files that draw one under another name."""
    from closedchain.model.mechanism import Mechanism

    found = [name for name, value in vars(module).items() if isinstance(value, Mechanism)]
    if found:
        return f": it draws {found[0]!r}; add the line 'mechanism = {found[0]}'"
    return ": draw a cc.Mechanism under this name, or write a function mechanism() that returns one"
