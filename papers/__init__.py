"""The five papers that the methods come from: their mechanisms, figures, tables and claims, one package for each.

``closedchain reproduce`` lists them, ``closedchain reproduce wang2002 fig6`` shows a figure with what is claimed of it,
``closedchain reproduce --all`` writes a page with everything, and ``python -m papers`` the documentation's pages.

How to add a paper
------------------
1. Make a package with `PAPER`, a `papers.paper.Paper`: an exhibit for every figure and table it has, and for passages
   that claim something.
2. Say in ``tests/papers/test_papers.py`` which figures and tables it has, and what the verdicts are.
"""

from __future__ import annotations

import importlib
import pkgutil

from papers.paper import Paper


def names() -> list[str]:
    """All papers, in the order of their names."""
    return sorted(x.name for x in pkgutil.iter_modules(__path__) if x.ispkg)


def load(name: str) -> Paper:
    """A paper by its name."""
    paper: Paper = importlib.import_module(f"papers.{name}").PAPER
    return paper
