"""``python -m papers [paper ...]``: write the documentation's pages on the papers; without a name also the gallery."""

from __future__ import annotations

import sys

import papers
from papers import pages
from papers.reproduce import reproduce

if __name__ == "__main__":
    found = [reproduce(name) for name in sys.argv[1:] or papers.names()]
    pages.write(found)
    if not sys.argv[1:]:
        (pages.FOLDER / "index.md").write_text(pages.gallery(found), encoding="utf-8")
