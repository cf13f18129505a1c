"""``python -m papers [paper ...]``: check the claims, and print what was found."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import textwrap

import papers


def names() -> list[str]:
    """All papers."""
    return [x.name for x in pkgutil.iter_modules(papers.__path__) if x.ispkg]


def main(wanted: list[str]) -> int:
    """Print each claim with its verdict."""
    unknown = [name for name in wanted if name not in names()]
    if unknown:
        print(f"no paper is named {unknown[0]!r}; known: {', '.join(names())}", file=sys.stderr)
        return 2
    for name in wanted or names():
        for claim in importlib.import_module(f"papers.{name}").CLAIMS:
            finding = claim.check()
            print(f"{name}, {claim.where}: {claim.says}")
            print(
                textwrap.fill(f"{finding.verdict}: {finding.because}", 110, initial_indent="  ", subsequent_indent="  ")
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
