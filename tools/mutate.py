"""Single mutations of the code, each of which a test should notice.

``python -m tools.mutate derive close --count 20`` changes one thing at a time in the files of these rooms, in a copy of
the repository: a comparison, a sign, a constant, ``and`` or ``or``. It runs the tests of the rooms on each
(``tests/unit/ROOM``, or ``--tests``) and prints which mutations were killed (a test failed, or took too long) and which
survived. The seed chooses the mutations: two trees are compared with the same seed and count.

A survivor is a question, not a verdict: the mutation may change nothing that matters.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src/closedchain")
COPIED = ("src", "tests", "tools", "benchmarks", "papers", "examples", "docs", "pyproject.toml", "README.md")
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
}  # fmt: skip


def code(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes of what is computed: no annotations, no texts."""
    yield tree
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list") or isinstance(tree, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from code(child)


def change(node: ast.AST) -> bool:
    """Change a node; whether there is a way to."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        node.ops[0] = COMPARISONS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OPERATIONS:
        node.op = OPERATIONS[type(node.op)]()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node.op = ast.UAdd()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        node.value += 1
    elif isinstance(node, ast.Constant) and type(node.value) is float:
        node.value = 1.5 * node.value + 0.1
    else:
        return False
    return True


def places(source: str) -> list[int]:
    """Numbers of the nodes of a file that can be changed."""
    return [k for k, node in enumerate(code(ast.parse(source))) if change(node)]


def mutated(source: str, place: int) -> tuple[str, str]:
    """The file with one node changed, and what was changed."""
    tree = ast.parse(source)
    node = list(code(tree))[place]
    before = ast.unparse(node)
    change(node)
    line = getattr(node, "lineno", 0)
    return ast.unparse(tree), f"line {line}: {before}  ->  {ast.unparse(node)}"


def chosen(rooms: Sequence[str], count: int, seed: int) -> list[tuple[Path, int]]:
    """Files, and places in them."""
    files: list[Path] = []
    for room in rooms:
        there = ROOT / PACKAGE / room
        files += sorted(there.rglob("*.py")) if there.is_dir() else [there]
    every = [(file.relative_to(ROOT), place) for file in files for place in places(file.read_text(encoding="utf-8"))]
    return random.Random(seed).sample(every, min(count, len(every)))


def passes(copy: Path, tests: Sequence[str], seconds: float) -> bool:
    """Whether the tests pass in a copy, in time."""
    paths = {"PYTHONPATH": os.pathsep.join([str(copy / "src"), os.environ.get("PYTHONPATH", "")])}
    paths["CLOSEDCHAIN_CACHE"] = str(copy / "cache")  # code of mutants is not kept
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(command, cwd=copy, env=os.environ | paths, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return False
    if done.returncode not in (0, 1, 2):  # failures; 2: a file that cannot be imported
        raise SystemExit(done.stdout.decode() + done.stderr.decode())
    return done.returncode == 0


def main(arguments: Sequence[str] | None = None) -> None:
    """Mutate, test, and print."""
    parser = argparse.ArgumentParser(description="Which single mutations of the code do its tests notice?")
    parser.add_argument("rooms", nargs="+", help="folders or files in src/closedchain")
    parser.add_argument("--tests", nargs="+", help="what to run; default: tests/unit/ROOM")
    parser.add_argument("--count", type=int, default=10, help="how many mutations")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--seconds", type=float, default=600.0, help="tests that take longer count as failed")
    told = parser.parse_args(arguments)
    tests = told.tests or [f"tests/unit/{room}" for room in told.rooms]
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED:
            there = ROOT / name
            (shutil.copytree if there.is_dir() else shutil.copy)(there, copy / name)
        if not passes(copy, tests, told.seconds):
            raise SystemExit("the tests fail without any mutation, or take longer than --seconds")
        mutations = chosen(told.rooms, told.count, told.seed)
        for file, place in mutations:
            source = (ROOT / file).read_text(encoding="utf-8")
            text, what = mutated(source, place)
            (copy / file).write_text(text, encoding="utf-8")
            survived = passes(copy, tests, told.seconds)
            (copy / file).write_text(source, encoding="utf-8")
            print(f"{'SURVIVED' if survived else 'killed  '} {file} {what}", flush=True)
            survivors += [what] if survived else []
    print(f"{len(mutations) - len(survivors)} of {len(mutations)} mutations killed")


if __name__ == "__main__":
    main()
