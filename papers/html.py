"""One page with everything: our figures beside what the papers say, and a verdict for each claim."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Sequence
from html import escape

from papers.paper import CORRECTED, FAILS, HOLDS, VERDICTS, Table
from papers.reproduce import Judged, Made, Reproduced

MARKS = {HOLDS: "good", CORRECTED: "half", FAILS: "bad"}
STYLE = """
:root { color-scheme: light }
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 68rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.7rem } h2 { font-size: 1.35rem; border-top: 1px solid #ccc; margin-top: 3rem; padding-top: 1.5rem }
h3 { font-size: 1.05rem; margin: 2rem 0 .5rem }
img { max-width: 100%; height: auto }
table { border-collapse: collapse; font-size: .88rem; margin: .6rem 0; display: block; overflow-x: auto }
th, td { border-bottom: 1px solid #ddd; padding: .2rem .7rem; text-align: left; vertical-align: top }
.claim { border-left: 4px solid #999; margin: .8rem 0; padding: .1rem .9rem }
.claim p { margin: .3rem 0 }
.verdict { font-weight: 600; padding: 0 .45em; border: 2px solid; border-radius: .3em; white-space: nowrap }
.good { border-color: #009e73 } .half { border-color: #e69f00 } .bad { border-color: #d55e00 }
.small { font-size: .88rem; color: #555 }
"""


def page(found: Sequence[Reproduced]) -> str:
    """The whole page; pictures are in it."""
    body = [
        "<h1>Five papers, reproduced claim by claim</h1>",
        "<p>Figures and tables are computed by closedchain, and so is every verdict: <em>holds</em>, <em>holds with a "
        "correction</em>, or <em>does not hold</em>. Statements are given in our words.</p>",
        _summary(found),
        *(_paper(x) for x in found),
    ]
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width'><title>Reproduced with closedchain</title>"
        f"<style>{STYLE}</style></head><body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def _summary(found: Sequence[Reproduced]) -> str:
    rows = []
    for x in found:
        counts = Counter(claim.finding.verdict if claim.finding else "error" for claim in x.claims)
        cells = [f"<a href='#{x.name}'>{x.name}</a>", str(len(x.exhibits)), *(str(counts[v]) for v in VERDICTS)]
        rows.append([*cells, f"{x.seconds:.0f} s"])
    return _rows(["paper", "figures, tables, passages", *VERDICTS, "computed in"], rows)


def _paper(x: Reproduced) -> str:
    mends = "".join(f"<li>{escape(mend)}</li>" for mend in x.mends)
    links = ", ".join(f"<a href='#{x.name}-{made.name}'>{made.name}</a>" for made in x.exhibits)
    return (
        f"<h2 id='{x.name}'>{escape(x.citation)}</h2><p>{escape(x.about)}</p><p class='small'>{links}</p>"
        f"<details><summary>Misprints, data that are left out, and what we chose</summary><ul>{mends}</ul></details>"
        + "".join(_exhibit(x.name, made) for made in x.exhibits)
    )


def _exhibit(paper: str, made: Made) -> str:
    parts = [f"<h3 id='{paper}-{made.name}'>{escape(made.name)}: {escape(made.title)}</h3>"]
    for i, picture in enumerate(made.pictures):
        data = base64.b64encode(picture).decode()
        which = f", {i + 1} of {len(made.pictures)}" if len(made.pictures) > 1 else ""
        parts.append(f"<p><img alt='{escape(made.title)}{which}' src='data:image/png;base64,{data}'></p>")
    parts += [_table(table) for table in made.tables]
    if made.error:
        parts.append(f"<div class='claim bad'><p>could not be computed: {escape(made.error)}</p></div>")
    return "\n".join(parts + [_claim(claim) for claim in made.claims])


def _table(table: Table) -> str:
    rows = [[escape(cell) for cell in row] for row in table.rows]
    note = f"<p class='small'>{escape(table.note)}</p>" if table.note else ""
    return _rows([escape(name) for name in table.columns], rows) + note


def _rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{name}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _claim(claim: Judged) -> str:
    said = f"<p><span class='small'>{escape(claim.where)}.</span> The paper: {escape(claim.says)}.</p>"
    if claim.finding is None:
        return f"<div class='claim bad'>{said}<p>could not be checked: {escape(claim.error)}</p></div>"
    mark = MARKS[claim.finding.verdict]
    found = f"<span class='verdict {mark}'>{claim.finding.verdict}</span> {escape(claim.finding.because)}."
    return f"<div class='claim {mark}'>{said}<p>{found}</p></div>"
