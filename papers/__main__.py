"""``python -m papers [paper ...]``: write the documentation's pages on the papers."""

from __future__ import annotations

import sys

import papers
from papers import pages
from papers.reproduce import reproduce

if __name__ == "__main__":
    pages.write([reproduce(name) for name in sys.argv[1:] or papers.names()])
