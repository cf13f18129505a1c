"""The layout of the package: rooms of a bearable size, no circular imports, one table of methods."""

import ast
import inspect
import pickle
from pathlib import Path

import pytest

import closedchain as cc
from closedchain.attached import Attached
from closedchain.verbs import VERBS, function
from tools import house

ROOT = Path(__file__).resolve().parents[2]


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
    assert set(house.imported_by_text()) == {"closedchain", "closedchain.verbs"}


def test_an_import_as_text_is_found(monkeypatch):
    """Wherever the text stands in a module."""
    hidden = 'TABLE = {"radau5": "closedchain.integrate.methods.radau5:advance"}\nf = lambda x: import_module(TABLE[x])'
    foreign = 'import_module("cloudpickle")'
    monkeypatch.setattr(house, "modules", lambda: {"hidden": ast.parse(hidden), "foreign": ast.parse(foreign)})
    assert house.imported_by_text() == ["hidden"]


def test_folders_are_not_crowded():
    assert house.files()["derive"] > 10  # it looks at something
    assert {folder: n for folder, n in house.files().items() if n > house.MOST_FILES} == {}


def test_signatures_classes_and_functions_are_of_a_bearable_size():
    """Longer ones stand in `house.EXCEPTIONS` with a reason; one that has become shorter leaves the table."""
    assert house.too_large().keys() == house.EXCEPTIONS.keys()
    assert all(len(reason.split()) > 3 for reason in house.EXCEPTIONS.values())


def test_what_is_too_large_is_found(monkeypatch):
    many = ", ".join(f"x{i}" for i in range(13))
    long = "\n".join(["def long():", '    """Not counted."""', *["    x = 1"] * 81])
    trees = {
        "closedchain.one": ast.parse(f"def wide({many}): pass\n{long}"),
        "closedchain.native.two": ast.parse(f"def wide({many[:36]}): pass\ndef fine(self, {many[:30]}): pass"),
        "closedchain.three": ast.parse("class Large:\n" + "\n".join(f"    x{i}: int" for i in range(13))),
    }
    monkeypatch.setattr(house, "modules", lambda: trees)
    assert house.too_large() == {
        "closedchain.one:wide": 13,
        "closedchain.one:long": 82,
        "closedchain.native.two:wide": 9,
        "closedchain.three:Large": 13,
    }


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
    attached = getattr(owners[0], method)
    assert len(owners) == 1 and attached.__code__ is function(target).__code__
    assert attached.__name__ == method and attached.__doc__ == function(target).__doc__
    first = next(iter(inspect.signature(attached).parameters.values()))
    assert first.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD


def _classes() -> list[type]:
    for _, _, target in VERBS:
        function(target)  # which imports the classes
    return Attached.__subclasses__() + [y for x in Attached.__subclasses__() for y in x.__subclasses__()]


def test_type_checkers_know_the_attached_methods():
    """Each class names its methods under ``if TYPE_CHECKING``: those that the table has, and the same functions."""
    wanted = {(kind, method, f"closedchain.{target}") for kind, method, target in VERBS if method != "__str__"}
    found = set()
    for tree in house.modules().values():
        homes = {
            alias.asname or alias.name: f"{node.module}:{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for kind in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
            for block in (x for x in kind.body if isinstance(x, ast.If) and ast.unparse(x.test) == "TYPE_CHECKING"):
                for line in (x for x in block.body if isinstance(x, ast.Assign)):
                    found.add((kind.name, line.targets[0].id, homes[line.value.id]))
    assert found == wanted


def test_methods_of_a_users_class_are_its_own():
    class Mechanism(cc.Mechanism):
        def mobility(self):
            return "mine"

    m = Mechanism("mine")
    m.revolute("hinge", m.ground, m.body("arm", cc.rod(1.0, 1.0)))
    assert m.mobility() == "mine" and m.assemble().q.shape == (1,)

    class Path(cc.Mechanism):
        pass

    assert not hasattr(Path, "then")


def test_a_method_that_is_there_twice_is_refused(monkeypatch):
    monkeypatch.setitem(Attached._later, "Twice", {"said": lambda: None})
    with pytest.raises(TypeError, match=r"Twice\.said is defined in the class and in the table"):
        type("Twice", (Attached,), {"__module__": "closedchain.twice", "said": 1})


def test_a_function_that_is_not_there_is_no_missing_attribute(monkeypatch):
    monkeypatch.setitem(Attached._later, "Lost", {"go": lambda: function("pose.assemble:disassemble")})
    lost = type("Lost", (Attached,), {"__module__": "closedchain.lost"})()
    with pytest.raises(ImportError, match=r"method 'go' of Lost is not found: .*disassemble"):
        lost.go  # noqa: B018


def test_bound_methods_can_be_pickled():
    m = cc.library.four_bar()
    path = cc.paths.line(0, 1, duration=1.0)
    for method in (m.assemble, m.bodies["crank"].flexible, path.then, path.turned):
        again = pickle.loads(pickle.dumps(method))
        assert again.__name__ == method.__name__ and again.__func__ is method.__func__


def test_warnings_are_told_at_the_line_of_the_user():
    """However deep in the package they are found."""
    m = cc.library.five_bar()
    for ask in (lambda: m.assemble(tip=0.0), lambda: m.assemble(tip=0.0), lambda: m.assemblies and _start(m)):
        with pytest.warns(cc.AssemblyWarning, match="degenerate") as told:
            ask()
        assert told[0].filename == __file__


def _start(m):
    m.start = {"tip": 0.0}
    return m.mobility()


def test_an_attached_method_has_the_help_of_its_function():
    m = cc.library.four_bar()
    assert m.assemble.__doc__ == cc.Mechanism.assemble.__doc__ and "guess" in inspect.signature(m.assemble).parameters
    assert "mechanism" not in inspect.signature(m.assemble).parameters


def test_the_drawing_of_the_rooms_is_true():
    page = (ROOT / "docs" / "development" / "architecture.md").read_text(encoding="utf-8")
    drawing = page.split("```text\n")[1].split("```")[0].splitlines()
    assert [line.split("  ")[0] for line in drawing] == [layer.strip("()") for layer in house.layers()]


def test_files_that_the_architecture_names_are_there():
    page = (ROOT / "docs" / "development" / "architecture.md").read_text(encoding="utf-8")
    named = {name for name in page.split("`")[1::2] if name.endswith((".py", "/")) and " " not in name}
    assert len(named) > 15 and {name for name in named if not (house.PACKAGE / name).exists()} == set()
