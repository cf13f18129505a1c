"""The frame of a page in HTML that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Sequence

from closedchain._version import __version__


def document(title: str, style: str, body: Sequence[str], scripts: Sequence[str] = ()) -> str:
    """A page with a heading and, at its end, the version; the title is HTML."""
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        f"<h1>{title}</h1>",
        *body,
        f'<p class="note">closedchain {__version__}</p>',
        *scripts,
        "</body>",
        "</html>",
    ]
    return "\n".join(lines) + "\n"
