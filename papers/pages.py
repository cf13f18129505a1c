"""The documentation's pages on the papers, by the functions that `closedchain reproduce` calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from papers.paper import VERDICTS, Table
from papers.reproduce import Judged, Made, Reproduced

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "papers"


def write(found: Sequence[Reproduced], folder: Path = FOLDER) -> None:
    """Write a page for each paper, and their pictures."""
    for x in found:
        pictures = folder / x.name
        pictures.mkdir(parents=True, exist_ok=True)
        for old in pictures.iterdir():
            old.unlink()
        for made in x.exhibits:
            for name, picture in zip(_files(made), made.pictures, strict=True):
                (pictures / name).write_bytes(picture)
        (folder / f"{x.name}.md").write_text(page(x), encoding="utf-8")


def page(x: Reproduced) -> str:
    """A paper in Markdown."""
    parts = [
        f"# {x.name}",
        x.citation + ".",
        x.about,
        f"Everything below is computed by `closedchain reproduce {x.name}`, the verdicts too; statements of the paper "
        "are given in our words.",
        "## What we mend, and what we chose",
        "\n".join(f"- {mend}" for mend in x.mends),
        *(_exhibit(x.name, made) for made in x.exhibits),
    ]
    return "\n\n".join(parts) + "\n"


def gallery(found: Sequence[Reproduced]) -> str:
    """The first page: how many claims hold, and all pictures."""
    rows = []
    for x in found:
        counts = Counter(claim.finding.verdict for claim in x.claims if claim.finding)
        rows.append([f"[{x.name}]({x.name}.md)", *(str(counts[verdict]) for verdict in VERDICTS)])
    parts = [
        "# Five papers, reproduced claim by claim",
        "The methods of closedchain come from five papers. Their mechanisms, figures, tables and claims are in "
        "`papers/`, one package for each; `closedchain reproduce wang2002 fig6` computes a figure with what is claimed "
        "of it, and `closedchain reproduce --all` writes one HTML page with everything. Every verdict is computed from "
        "runs; where a claim does not hold, the page of the paper has the evidence.",
        _table(Table(["paper", *VERDICTS], rows)),
    ]
    for x in found:
        parts += [f"## {x.name}", x.citation + "."]
        shown = [(made, file) for made in x.exhibits for file in _files(made)]
        parts.append(
            "\n".join(
                f"[![{made.name}]({x.name}/{file}){{ style='height: 5rem' }}]({x.name}.md)" for made, file in shown
            )
        )
    return "\n\n".join(parts) + "\n"


def _files(made: Made) -> list[str]:
    return [f"{made.name}{'' if i == 0 else f'-{i + 1}'}.png" for i in range(len(made.pictures))]


def _exhibit(paper: str, made: Made) -> str:
    parts = [f"## {made.name}: {made.title}"]
    parts += [f"![{made.title}]({paper}/{file})" for file in _files(made)]
    parts += [_table(table) for table in made.tables]
    parts += [_claim(claim) for claim in made.claims]
    return "\n\n".join(parts)


def _table(table: Table) -> str:
    lines = [table.columns, ["---"] * len(table.columns), *table.rows]
    text = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
    return f"{text}\n\n{table.note}".rstrip()


def _claim(claim: Judged) -> str:
    if claim.finding is None:
        raise RuntimeError(f"{claim.name} could not be checked: {claim.error}")
    said = f"*{claim.where}.* The paper: {claim.says}."
    return f"{said}<br>\n**{claim.finding.verdict.capitalize()}:** {claim.finding.because}."
