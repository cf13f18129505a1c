"""The layout of the package: rooms of a bearable size, no circular imports, one table of methods."""

import ast
import inspect
from pathlib import Path

import pytest

import closedchain as cc
from closedchain.attached import Attached
from closedchain.verbs import VERBS, function
from tools import house

ROOT = Path(__file__).resolve().parents[2]
MOST_FILES = 20


def test_no_module_imports_itself_on_the_way():
    assert house.cycle() == []


def test_a_circle_is_found(monkeypatch):
    """Also one that is closed inside of a function."""
    trees = {
        "closedchain.one": ast.parse("from closedchain import two"),
        "closedchain.two": ast.parse("def f():\n    from closedchain.one import g"),
        "closedchain.three": ast.parse("if TYPE_CHECKING:\n    from closedchain import four"),
        "closedchain.four": ast.parse("import closedchain.three"),
    }
    monkeypatch.setattr(house, "modules", lambda: trees)
    assert set(house.cycle()) == {"closedchain.one", "closedchain.two"}


def test_names_of_ours_are_imported_as_text_by_the_tables_only():
    assert set(house.imported_by_text()) <= {"closedchain", "closedchain.verbs"}


def test_folders_are_not_crowded():
    assert house.files()["derive"] > 10  # it looks at something
    assert {folder: n for folder, n in house.files().items() if n > MOST_FILES} == {}


def test_every_folder_says_what_it_holds_and_what_it_must_not_know():
    """CONTRIBUTING has the table: ``python -m tools.house --rooms`` prints it."""
    table = house.rooms()
    assert all(cell.strip() for line in table.splitlines()[2:] for cell in line.strip("|").split("|"))
    assert table in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_tests_stand_where_their_modules_do():
    """A folder of unit tests has the name of a folder of the package."""
    folders = {
        path.parent.relative_to(ROOT / "tests" / "unit") for path in (ROOT / "tests" / "unit").rglob("test_*.py")
    }
    assert {str(x) for x in folders if not (house.PACKAGE / x).is_dir()} == set()


@pytest.mark.parametrize(("kind", "method", "target"), VERBS, ids=lambda x: x.split(":")[-1])
def test_attached_methods_are_their_functions(kind, method, target):
    owners = [x for x in _classes() if x.__name__ == kind]
    assert len(owners) == 1 and getattr(owners[0], method) is function(target)
    assert next(iter(inspect.signature(function(target)).parameters)) not in ("args", "kwargs")


def _classes() -> list[type]:
    for _, _, target in VERBS:
        function(target)  # which imports the classes
    return Attached.__subclasses__() + [y for x in Attached.__subclasses__() for y in x.__subclasses__()]


def test_type_checkers_know_the_attached_methods():
    """Each class names its methods under ``if TYPE_CHECKING``: as many as the table has, and the same functions."""
    wanted = {(kind, method, target.split(":")[1]) for kind, method, target in VERBS if method != "__str__"}
    found = set()
    for tree in house.modules().values():
        for kind in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
            for block in (x for x in kind.body if isinstance(x, ast.If)):
                for line in (x for x in block.body if isinstance(x, ast.Assign)):
                    found.add((kind.name, line.targets[0].id, line.value.id))
    assert found == wanted


def test_an_attached_method_has_the_help_of_its_function():
    m = cc.library.four_bar()
    assert m.assemble.__doc__ == cc.assemble.__doc__ and "guess" in inspect.signature(m.assemble).parameters
    assert "mechanism" not in inspect.signature(m.assemble).parameters


def test_the_drawing_of_the_rooms_is_true():
    page = (ROOT / "docs" / "development" / "architecture.md").read_text(encoding="utf-8")
    drawing = page.split("```text\n")[1].split("```")[0].splitlines()
    assert [line.split("  ")[0] for line in drawing] == [layer.strip("()") for layer in house.layers()]


def test_files_that_the_architecture_names_are_there():
    page = (ROOT / "docs" / "development" / "architecture.md").read_text(encoding="utf-8")
    named = {name for name in page.split("`")[1::2] if name.endswith((".py", "/")) and " " not in name}
    assert len(named) > 15 and {name for name in named if not (house.PACKAGE / name).exists()} == set()
