"""The sentences that a user may see: messages of errors and warnings, and the help of commands.

``python -m tools.sentences`` prints them, one on a line, with ``{}`` for values; ``--against FILE`` compares them with
a list made before and prints those that are gone (``-``) and new (``+``). So a change can be shown to lose none::

    python -m tools.sentences --package OLD/src/closedchain > before.txt
    python -m tools.sentences --against before.txt

A sentence is a text of at least three words that a module says: no docstring and no comment. Texts reach an error by
ways that syntax does not show (a table, a constant, a function that words it), so all of them count.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "closedchain"
WORDS = re.compile(r"[A-Za-z]{2,}[^A-Za-z{}]+\s?[A-Za-z{}]")  # two words, or a word and a value, with a gap between
CODE = re.compile(r"%[a-z.]+|\bvoid\b|CPointer|[;=]\s*$|^[\s\W]*$|double\*|px;|</?\w+>")


def text(node: ast.AST) -> str | None:
    """The words of a literal, an f-string, or their sum; None of anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(text(part) or "{}" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = text(node.left), text(node.right)
        return None if left is None and right is None else (left or "{}") + (right or "{}")
    return None


def texts(node: ast.AST) -> Iterator[str]:
    """All texts below a node but docstrings and annotations; of a text its whole only."""
    said = text(node)
    if said is not None:
        yield said
        nodes = [part for part in ast.walk(node) if isinstance(part, ast.FormattedValue)]
        for part in nodes:  # a sentence may stand in a condition inside of another
            yield from texts(part.value)
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        children = value if isinstance(value, list) else [value]
        if name == "body" and isinstance(value, list):
            children = [x for x in children if not (isinstance(x, ast.Expr) and isinstance(x.value, ast.Constant))]
        for child in children:
            if isinstance(child, ast.AST):
                yield from texts(child)


def is_sentence(said: str) -> bool:
    """Whether a text is words for people."""
    return len(said.split()) >= 3 and WORDS.search(said) is not None and CODE.search(said) is None


def sentences(package: Path) -> list[str]:
    """Sentences of a package, sorted, each once; white space is folded, and values are ``{}``."""
    found = set()
    for path in sorted(package.rglob("*.py")):
        for said in texts(ast.parse(path.read_text(encoding="utf-8"), filename=str(path))):
            folded = " ".join(said.split())
            if is_sentence(folded):
                found.add(folded)
    return sorted(found)


def differences(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Sentences that are gone, and new ones."""
    gone, new = sorted(set(before) - set(after)), sorted(set(after) - set(before))
    return [*(f"- {x}" for x in gone), *(f"+ {x}" for x in new)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print them."""
    parser = argparse.ArgumentParser(description="The sentences of the package that a user may see.")
    parser.add_argument("--package", type=Path, default=PACKAGE, help="the folder of the package")
    parser.add_argument("--against", type=Path, help="a list made before: print what is gone, and what is new")
    told = parser.parse_args(arguments)
    found = sentences(told.package)
    if told.against is not None:
        found = differences(told.against.read_text(encoding="utf-8").splitlines(), found)
    print("\n".join(found))


if __name__ == "__main__":
    main()
