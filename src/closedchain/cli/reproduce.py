"""``closedchain reproduce``: what the papers show and claim, computed again."""

from __future__ import annotations

import importlib
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from closedchain.cli.parts import output, save
from closedchain.cli.parts.exits import FAILED, GOOD, WrongUsage
from closedchain.disk.whole import write

# other ways to begin the name of an exhibit
KINDS = {"figure": "fig", "equation": "eq", "eqn": "eq", "tab": "table", "sec": "section"}
FOLDER = Path(__file__).resolve().parents[3]  # of the repository, in which the papers are


def reproduce(
    paper: Annotated[str | None, typer.Argument(help="Name of a paper; without it they are listed.")] = None,
    exhibits: Annotated[
        list[str] | None, typer.Argument(help="Figures, tables or passages of it, such as fig6; default: all.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All papers, on one page; takes some minutes.")] = False,
    out: Annotated[str, typer.Option(metavar="FOLDER", help="Where pictures, or the page, go.")] = "out/reproduce",
    as_json: output.Json = False,
) -> int:
    """Compute the figures, tables and claims of a paper again, and judge them.

    For one paper verdicts are printed and pictures are written to a folder; with --all everything is on one page,
    index.html.
    """
    papers = _papers()
    if everything:
        if paper is not None:
            raise WrongUsage(f"--all computes all papers: leave out {paper!r}, or leave out --all")
        return _all(papers, out, as_json)
    if paper is None:
        _list(papers, as_json)
        return GOOD
    name = paper.lower().replace("-", "_")
    if name not in papers.names():
        raise WrongUsage(f"no paper is named {paper!r}; known: {', '.join(papers.names())}")
    there = {_plain(x.name): x.name for x in papers.load(name).exhibits}
    if unknown := [x for x in exhibits or () if _plain(x) not in there]:
        raise WrongUsage(f"{name} has no {unknown[0]!r}; it has {', '.join(there.values())}")
    return _one(name, [there[_plain(x)] for x in exhibits or ()], out, as_json)


def _papers() -> Any:
    """The package `papers`, which is in the repository and is not installed."""
    if not (FOLDER / "papers" / "__init__.py").is_file():
        raise WrongUsage(
            "the papers come with the repository, not with the installed package: clone it, run 'make demo' there, and "
            "call .venv/bin/closedchain reproduce"
        )
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    return importlib.import_module("papers")


def _plain(exhibit: str) -> str:
    """``Figure 6``, ``Fig.6`` and ``fig6`` are the same; so are ``eq(20)`` and ``eq20``, and dots do not matter."""
    text = re.sub(r"[\s.()_-]", "", exhibit.lower())
    word = re.match(r"[a-z]+(?=\d)", text)
    return KINDS.get(word[0], word[0]) + text[word.end() :] if word else text


def _list(papers: Any, as_json: bool) -> None:
    found = [papers.load(name) for name in papers.names()]
    if as_json:
        output.print_json({"papers": {x.name: [exhibit.name for exhibit in x.exhibits] for x in found}})
        return
    rows = [(x.name, ", ".join(exhibit.name for exhibit in x.exhibits), f"{len(x.claims)}") for x in found]
    output.show(output.table(("paper", "figures, tables, passages", "claims"), rows, right=("claims",)))
    output.show("closedchain reproduce wang2002 fig6 computes a figure, --all writes a page with everything")


def _one(name: str, wanted: list[str], given: str, as_json: bool) -> int:
    reproducing = importlib.import_module("papers.reproduce")
    to = save.folder(given)  # fails before minutes of computing, not after
    found = reproducing.reproduce(name, wanted)
    files: dict[str, list[str]] = {}
    for made in found.exhibits:
        for i, picture in enumerate(made.pictures):
            path = to / f"{name}-{made.name}{f'-{i + 1}' if i else ''}.png"
            write(path, picture)
            files.setdefault(made.name, []).append(str(path))
    if as_json:
        output.print_json(_plain_data(found) | {"pictures": files})
    else:
        output.show(found.citation, "")
        for made in found.exhibits:
            _show(made, files.get(made.name, []))
    return FAILED if any(made.failed for made in found.exhibits) else GOOD


def _show(made: Any, files: list[str]) -> None:
    output.show(f"{made.name}: {made.title}")
    for file in files:
        output.show(f"  picture: {file}")
    for table in made.tables:
        output.show(output.table(tuple(table.columns), [tuple(row) for row in table.rows]))
        if table.note:
            output.show(f"  {table.note}")
    if made.error:
        output.show(f"  could not be computed: {made.error}")
    for claim in made.claims:
        output.show(f"  {claim.where}: {claim.says}")
        finding = claim.finding
        output.show(f"    {finding.verdict}: {finding.because}" if finding else f"    not checked: {claim.error}")
    output.show("")


def _all(papers: Any, given: str, as_json: bool) -> int:
    reproducing, html = (importlib.import_module(f"papers.{x}") for x in ("reproduce", "html"))
    to = save.folder(given)
    start, found = time.perf_counter(), []
    if not as_json:
        output.say("note", f"{len(papers.names())} papers are computed, which takes some minutes")
    for x in reproducing.reproduce_all():
        found.append(x)
        if not as_json:
            counts = Counter(claim.finding.verdict if claim.finding else "not checked" for claim in x.claims)
            output.show(f"{x.name}: {', '.join(f'{n} {verdict}' for verdict, n in counts.items())} ({x.seconds:.0f} s)")
    found.sort(key=lambda x: papers.names().index(x.name))
    page = to / "index.html"
    write(page, html.page(found))
    if as_json:
        output.print_json({"page": str(page), "papers": {x.name: _plain_data(x) for x in found}})
    else:
        output.show(f"{page}: {sum(len(x.claims) for x in found)} claims, {time.perf_counter() - start:.0f} s")
    return FAILED if any(made.failed for x in found for made in x.exhibits) else GOOD


def _plain_data(found: Any) -> dict[str, Any]:
    """What was found, for JSON."""
    return {
        "paper": found.name,
        "seconds": found.seconds,
        "exhibits": [
            {
                "name": made.name,
                "title": made.title,
                "tables": [
                    {"columns": list(x.columns), "rows": [list(row) for row in x.rows], "note": x.note}
                    for x in made.tables
                ],
                "error": made.error,
            }
            for made in found.exhibits
        ],
        "claims": [
            {
                "exhibit": made.name,
                "name": claim.name,
                "where": claim.where,
                "says": claim.says,
                "verdict": claim.finding and claim.finding.verdict,
                "because": claim.finding.because if claim.finding else claim.error,
                "numbers": dict(claim.finding.numbers) if claim.finding else {},
            }
            for made in found.exhibits
            for claim in made.claims
        ],
    }
