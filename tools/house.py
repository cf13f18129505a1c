"""The house in figures: files in a folder, import cycles, lengths of signatures, classes and functions.

``python -m tools.house`` prints the largest of each; ``tests/unit/test_house.py`` bounds them from above. Whatever is
larger than its bound stands in `EXCEPTIONS`, with a reason.
``--rooms`` prints the table of rooms in CONTRIBUTING.md, which is made from the docstrings of the folders.
"""

from __future__ import annotations

import argparse
import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

MOST_FILES = 20  # in a folder
PUBLIC, INTERNAL = 12, 8  # parameters of a function that others call, and of one that stays inside
MOST_FIELDS, MOST_LINES = 12, 80  # of a class, and of a function without its docstring

# what is larger, and why
EXCEPTIONS = {
    "closedchain.erls.kernels.condense:condense": "one sweep over the elements of a link, compiled as a whole",
    "closedchain.erls.kernels.eliminate:solve": "forward and backward sweep over the links, compiled as a whole",
    "closedchain.integrate.methods.dop853:attempt": "twelve stages written out: in loops they are 9 to 11 % slower",
    "closedchain.integrate.methods.radau5:advance": "the decisions about a step in their order, as in Hairer's code",
    "closedchain.model.actuators.electric:Electric": "a data sheet: one field for each of its numbers",
}

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "closedchain"
UNKNOWN = "Not known here: "


@cache
def modules() -> dict[str, ast.Module]:
    """The syntax tree of every module, by name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    return found


def _at_run_time(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those for type checkers."""
    for_checkers = isinstance(tree, ast.If) and isinstance(tree.test, ast.Name) and tree.test.id == "TYPE_CHECKING"
    for node in tree.orelse if for_checkers else ast.iter_child_nodes(tree):
        yield node
        yield from _at_run_time(node)


def imports(name: str) -> set[str]:
    """Modules that a module imports, also inside of functions."""
    known, found = modules(), set()
    for node in _at_run_time(known[name]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {x if x in known else node.module for x in inner}
    return (found & known.keys()) - {name}


def cycle() -> list[str]:
    """Modules that import each other in a circle; none if there is no circle."""
    try:
        TopologicalSorter({name: imports(name) for name in modules()}).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def imported_by_text() -> list[str]:
    """Modules that import by text, and hold a name of ours in a text that is no docstring."""
    found = []
    for name, tree in modules().items():
        called = {getattr(x.func, "attr", getattr(x.func, "id", "")) for x in ast.walk(tree) if isinstance(x, ast.Call)}
        texts = [x.value for x in ast.walk(tree) if isinstance(x, ast.Constant) and isinstance(x.value, str)]
        ours = any(re.fullmatch(r"closedchain(\.\w*)*(:\w+)?", x) for x in texts)
        if ours and called & {"import_module", "__import__", "resolve_name"}:
            found.append(name)
    return found


def files() -> Counter[str]:
    """How many modules each folder holds."""
    return Counter(str(path.parent.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if path.stem != "__init__")


def _functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    for name, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                yield f"{name}:{node.name}", node


def signatures() -> Counter[str]:
    """How many parameters each function has."""
    found: Counter[str] = Counter()
    for name, node in _functions():
        given = [x.arg for x in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        found[name] = max(found[name], len([x for x in given if x not in ("self", "cls")]))
    return found


def lengths() -> Counter[str]:
    """How many lines each function has, its docstring left out."""
    found: Counter[str] = Counter()
    for name, node in _functions():
        first = node.body[0]
        said = (
            isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
        )
        docstring = (first.end_lineno or 0) - first.lineno + 1 if said else 0
        found[name] = max(found[name], (node.end_lineno or 0) - node.lineno + 1 - docstring)
    return found


def fields() -> Counter[str]:
    """How many fields each class declares; what belongs to the class itself is none."""
    found: Counter[str] = Counter()
    for name, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found[f"{name}:{node.name}"] = sum(
                    isinstance(x, ast.AnnAssign) and not ast.unparse(x.annotation).startswith("ClassVar")
                    for x in node.body
                )
    return found


def most_parameters(name: str) -> int:
    """How many parameters a function may have: code that is compiled, or has an underscore, is internal."""
    module, _, function = name.rpartition(":")
    inside = {"integrate", "native", "kernels"} & set(module.split("."))
    return INTERNAL if function.startswith("_") or inside else PUBLIC


def too_large() -> dict[str, int]:
    """Functions and classes beyond their bounds, exceptions included."""
    found = {name: n for name, n in signatures().items() if n > most_parameters(name)}
    found |= {name: n for name, n in fields().items() if n > MOST_FIELDS}
    return found | {name: n for name, n in lengths().items() if n > MOST_LINES}


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "/").replace("``", "`")


def layers() -> list[str]:
    """The layers as the linter has them, the uppermost first."""
    project = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    return next(x["layers"] for x in contracts if x["id"] == "layers")


def rooms() -> str:
    """The table of rooms, from the docstrings of the folders."""
    lines = ["| folder | holds | must not know |", "|---|---|---|"]
    order = [x.strip("() ") for row in reversed(layers()) for x in row.split("|")]
    folders = [path.parent.relative_to(PACKAGE) for path in PACKAGE.rglob("__init__.py")]
    for folder in sorted((x for x in folders if x.parts), key=lambda x: (order.index(x.parts[0]), x.parts)):
        paragraphs = (ast.get_docstring(modules()[".".join(("closedchain", *folder.parts))]) or "").split("\n\n")
        unknown = next((x.removeprefix(UNKNOWN) for x in paragraphs if x.startswith(UNKNOWN)), "")
        lines.append(f"| `{folder.as_posix()}/` | {_cell(paragraphs[0])} | {_cell(unknown)} |")
    return "\n".join(lines)


def main() -> None:
    """Print the largest of each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rooms", action="store_true", help="print the table of rooms instead")
    if parser.parse_args().rooms:
        print(rooms())
        return
    print(f"{len(modules())} modules, cycle: {' -> '.join(cycle()) or 'none'}")
    kinds = {
        "files in a folder": files(),
        "parameters": signatures(),
        "fields of a class": fields(),
        "lines of a function": lengths(),
    }
    for what, found in kinds.items():
        print(f"{what}: " + ", ".join(f"{name} {count}" for name, count in found.most_common(8)))
    for name, count in sorted(too_large().items()):
        print(f"{name} {count}: {EXCEPTIONS.get(name, 'TOO LARGE')}")


if __name__ == "__main__":
    main()
