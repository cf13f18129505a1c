"""A comparison as one HTML page that needs nothing but itself: figure, table, failures, what to cite."""

from __future__ import annotations

import io
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.disk.whole import write
from closedchain.look.document import document
from closedchain.results.compare.comparison import ABOUT, COLUMNS

if TYPE_CHECKING:
    from closedchain.results.compare.comparison import Comparison

HEADINGS = {name: heading.removesuffix(" [J]") for heading, name, _ in COLUMNS}
STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; }
body { margin: 2rem auto; max-width: 84rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0.2rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.note { color: #555; margin-top: 0; } .wide { overflow-x: auto; }
figure { margin: 1rem 0; } svg { width: 100%; height: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { padding: 0.2rem 0.7rem; text-align: right; white-space: nowrap; }
th { border-bottom: 2px solid #888; font-weight: 600; vertical-align: bottom; }
td.name, th.name { text-align: left; } tr.first td { border-top: 1px solid #ddd; } tr.failed td { color: #a33; }
dt { font-weight: 600; } dd { margin: 0 0 0.4rem 1.5rem; }
"""


def page(comparison: Comparison) -> str:
    """The page as text."""
    data = comparison.dataset
    name = escape(str(data.attrs["mechanism"]))
    notes = comparison.notes()
    parts = [
        f'<p class="note">{escape(notes[0])}. {_sentence(notes[1])}</p>',
        f"<figure>{_figure(comparison)}</figure>",
        "<h2>Runs</h2>",
        f'<div class="wide">{_runs(comparison)}</div>',
        "<h2>Operations in one evaluation of the right-hand side</h2>",
        f'<div class="wide">{_operations(comparison)}</div>',
    ]
    for title, sentences in (
        ("Failed", comparison.failures()),
        ("Worse than promised", comparison.complaints()),
    ):
        if sentences:
            parts += [f"<h2>{title}</h2>", _items(sentences)]
    parts += [
        "<h2>What the columns are</h2>",
        _legend(),
        "<h2>What to cite</h2>",
        _items(comparison.citations()),
    ]
    return document(f"{name}: methods compared", STYLE, parts)


def write_page(comparison: Comparison, path: Any) -> None:
    """Write a page with the figure, the table, failures and citations; it needs nothing but itself."""
    write(path, page(comparison))


def _sentence(words: str) -> str:
    return escape(words[:1].upper() + words[1:] + ".")


def _figure(comparison: Comparison) -> str:
    """The figure as an SVG element; its names are its own, and nothing in it depends on the day."""
    import matplotlib as mpl

    target = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "closedchain"}):
        quiet = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        comparison.plot().savefig(target, format="svg", metadata=quiet)
    svg = target.getvalue()
    svg = svg[svg.index("<svg") :]
    alone = '<svg role="img" aria-label="error of a coordinate against time and operations" '
    return svg.replace("<svg ", alone, 1).strip()


def _runs(comparison: Comparison) -> str:
    headings, body = comparison.cells()
    lines = ["<table>", _row(headings, "th")]
    last = ""
    for line, row in zip(body, comparison.rows(), strict=True):
        kind = " ".join(x for x, true in (("first", line[0] != last), ("failed", row["failure"])) if true)
        lines.append(_row([line[0] if line[0] != last else "", *line[1:]], "td", kind))
        last = line[0]
    return "\n".join([*lines, "</table>"])


def _operations(comparison: Comparison) -> str:
    data = comparison.dataset["operations"]
    kinds = [kind for kind in data["kind"].values if kind == "total" or bool((data.sel(kind=kind) > 0).any())]
    lines = ["<table>", _row(["method", *map(str, kinds)], "th")]
    for method in data["formulation"].values:
        numbers = [data.sel(formulation=method, kind=kind).item() for kind in kinds]
        lines.append(_row([str(method), *("-" if not np.isfinite(x) else f"{x:.5g}" for x in numbers)], "td"))
    return "\n".join([*lines, "</table>"])


def _row(cells: list[str], tag: str, kind: str = "") -> str:
    name, *rest = (escape(x) for x in cells)
    first = f'<{tag} class="name">{name}</{tag}>'
    opening = f'<tr class="{kind}">' if kind else "<tr>"
    return opening + first + "".join(f"<{tag}>{x}</{tag}>" for x in rest) + "</tr>"


def _items(sentences: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(x)}</li>" for x in sentences) + "</ul>"


def _legend() -> str:
    out = ""
    for name, about in ABOUT.items():
        heading = HEADINGS.get(name, name.replace("_", " "))
        out += f"<dt>{escape(heading)} ({escape(about['units'])})</dt><dd>{escape(about['about'])}</dd>"
    return f"<dl>{out}</dl>"
