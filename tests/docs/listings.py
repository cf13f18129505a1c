"""The listings that README.md and docs/ print: find them, run them, and compare what they say with what is shown.

How a page is read
------------------
- A fence ``python`` is run. All of a page run in one namespace, from top to bottom, as a reader would type them.
- A fence ``text`` right after it is what it prints. If it ends in an error, the last line is ``ErrorClass: message``;
  a `RunWarning` is a line ``RunWarning: message``. An error or a warning that is not shown fails the test.
- A fence ``python title="NAME.py"`` is a file: it is written before it is run.
- In a fence ``console`` the lines that begin with ``$ closedchain`` are run through the command line, up to a pipe.

A shown number must agree with the printed one to one and a half units of the last digit shown, whole numbers exactly.
White space counts as one blank, so long lines may be folded. ``...`` stands for anything: use it for what depends on
the machine, such as times and counts of steps.

``python -m tests.docs.listings --write`` runs all pages and puts the present output into those that are out of date.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

FENCE = re.compile(
    r'^(?P<indent> *)```(?P<language>\w+)(?: title="(?P<file>[^"]+)")?\n(?P<body>.*?)^(?P=indent)```$',
    re.DOTALL | re.MULTILINE,
)
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?(?![\w.]*\w)")
WIDTH = 80  # a page shows so many characters; longer lines of output are folded


@dataclass
class Listing:
    """A piece of code on a page, and what the page says it prints (None: nothing is shown)."""

    page: Path
    line: int
    language: str
    code: str
    file: str | None = None
    shown: str | None = None
    place: tuple[int, int] = (0, 0)  # of the shown text in the page

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def listings(page: Path) -> list[Listing]:
    """All listings of a page that can be run, each with the output shown after it."""
    text = page.read_text(encoding="utf-8")
    found: list[Listing] = []
    end = 0
    for fence in FENCE.finditer(text):
        language, body = fence["language"], textwrap.dedent(fence["body"])
        if language in ("python", "console"):
            line = text.count("\n", 0, fence.start("body")) + 1
            found.append(Listing(page, line, language, body, fence["file"]))
        elif language == "text" and found and not text[end : fence.start()].strip() and found[-1].shown is None:
            found[-1].shown, found[-1].place = body, fence.span("body")
        end = fence.end()
    return found


def run_page(page: Path) -> Iterator[tuple[Listing, str]]:
    """Run the listings of a page one after another in the present folder; yields each with what it printed."""
    namespace: dict[str, object] = {"__name__": "listing"}
    for listing in listings(page):
        if listing.file:
            Path(listing.file).write_text(listing.code, encoding="utf-8")
        run = run_python if listing.language == "python" else run_console
        yield listing, run(listing, namespace)


def run_python(listing: Listing, namespace: dict[str, object]) -> str:
    """Run Python code; returns its output with the error and the warnings it ended in."""
    from closedchain.errors import AssemblyWarning, RunWarning

    # line numbers of a traceback are those of the page
    code = compile("\n" * (listing.line - 1) + listing.code, str(listing.page), "exec")
    said = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(said):
        warnings.simplefilter("always", RunWarning)
        warnings.simplefilter("always", AssemblyWarning)
        try:
            exec(code, namespace)
        except Exception as error:
            if listing.shown is None or "Error:" not in listing.shown:
                raise
            print(f"{type(error).__name__}: {error}")
    output = said.getvalue()
    for warning in caught:
        output += f"{warning.category.__name__}: {warning.message}\n"
    return output


def run_console(listing: Listing, namespace: dict[str, object]) -> str:
    """Run the commands ``$ closedchain ...`` of a listing; one that fails is an error."""
    from typer.testing import CliRunner

    from closedchain.cli import app

    output = ""
    for command in re.findall(r"^\$ closedchain (.*?)(?: \| .*)?$", listing.code, re.MULTILINE):
        result = CliRunner().invoke(
            app, shlex.split(command, comments=True), prog_name="closedchain", catch_exceptions=False
        )
        output += result.output
        if result.exit_code:
            raise AssertionError(f"{listing}: '{command}' ended with {result.exit_code}: {result.output}")
    return output


def differences(shown: str, printed: str) -> str | None:
    """What is wrong with a shown output, or None if it agrees with the printed one."""
    pieces = re.split(rf"({NUMBER.pattern}|\.\.\.|\s+)", shown.strip())
    pattern, numbers = "", []
    for piece in pieces:
        if piece == "...":
            pattern += r".*?"
        elif not piece.strip():
            pattern += r"\s+" if piece else ""
        elif NUMBER.fullmatch(piece):
            pattern += rf"({NUMBER.pattern})"
            numbers.append(piece)
        else:
            pattern += re.escape(piece)
    found = re.fullmatch(pattern, printed.strip(), re.DOTALL)
    if found is None:
        return "the words differ"
    for said, got in zip(numbers, found.groups(), strict=True):
        if not _agree(said, got):
            return f"the page says {said}, the library {got}"
    return None


def _agree(shown: str, printed: str) -> bool:
    """Whether two numbers agree to one and a half units of the last digit shown; whole numbers exactly."""
    if not re.search(r"[.e]", shown):
        return shown == printed
    mantissa, _, exponent = shown.partition("e")
    decimals = len(mantissa.partition(".")[2])
    unit = 10.0 ** (int(exponent or 0) - decimals)
    return abs(float(shown) - float(printed)) <= 1.5 * unit


# ---- putting present output into the pages ---------------------------------------------------------------------------


def fold(output: str) -> str:
    """Fold long lines, except those of a table."""
    lines = []
    for line in output.rstrip().splitlines():
        indent = len(line) - len(line.lstrip()) + 2
        if len(line) > WIDTH and "   " not in line.strip():
            lines += textwrap.wrap(line, WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False)
        else:
            lines.append(line.rstrip())
    return "\n".join(lines) + "\n"


def out_of_date(shown: str, output: str) -> bool:
    """Whether a page should be rewritten; what somebody abbreviated with ``...`` stays as long as it is true."""
    return differences(shown, output) is not None or ("..." not in shown and shown != fold(output))


def write_page(page: Path) -> int:
    """Replace every shown output that is out of date; returns how many there were."""
    text = page.read_text(encoding="utf-8")
    stale = [
        (listing.place, fold(output))
        for listing, output in run_page(page)
        if listing.shown is not None and out_of_date(listing.shown, output)
    ]
    for (first, last), output in reversed(stale):
        text = text[:first] + output + text[last:]
    page.write_text(text, encoding="utf-8")
    return len(stale)


def main() -> None:
    """The command described at the top."""
    os.environ["MPLBACKEND"] = "Agg"
    wanted = [Path(a).resolve() for a in sys.argv[1:] if a != "--write"] or PAGES
    for page in wanted:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            if "--write" in sys.argv:
                print(f"{page.relative_to(ROOT)}: {write_page(page)} outputs replaced")
                continue
            for listing, output in run_page(page):
                wrong = differences(listing.shown, output) if listing.shown is not None else None
                print(f"{listing}: {wrong or 'ok'}")


if __name__ == "__main__":
    main()
