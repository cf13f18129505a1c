"""Where a mechanism comes from: the library, or a file with all that may be wrong in it."""

import sys

import pytest

DRAW = """
import closedchain as cc
def draw(length=1.0):
    m = cc.Mechanism("mine", gravity=(0, -9.81, 0))
    arm = m.body("arm", cc.rod(length=length, mass=1.0))
    m.revolute("hinge", m.ground, arm)
    m.start = {"hinge": 0.25}
    return m
"""


def start_of(cli, *arguments):
    answer = cli("info", *arguments, "--json")
    assert answer.code == 0, answer.out
    return answer.json["start"]


# ---- what works -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["four-bar", "four_bar", "Four-Bar"])
def test_spellings_of_a_library_name(cli, name):
    assert cli("info", name, "--json").json["name"] == "four-bar"


@pytest.mark.parametrize(
    ("lines", "angle"),
    [
        ("mechanism = draw()", 0.25),
        ("mechanism = draw", 0.25),
        ("def mechanism(): return draw()", 0.25),
        ("mechanism = draw()\nstart = mechanism.assemble(hinge=1.0)", 1.0),
        ("mechanism = draw()\ndef start(): return mechanism.assemble(hinge=2.0)", 2.0),
        ("mechanism = draw\ndef start(m): return m.assemble(hinge=3.0)", 3.0),
        ("mechanism = draw\ndef start(m, more=1.0): return m.assemble(hinge=3.0 + more)", 4.0),
    ],
)
def test_forms_of_a_file(cli, file, lines, angle):
    assert start_of(cli, file(DRAW + lines)) == {"hinge": angle}


def test_a_file_may_import_its_neighbours(cli, file):
    file(DRAW, "neighbour_of_the_model.py")
    before = list(sys.path)
    assert start_of(cli, file("from neighbour_of_the_model import draw as mechanism")) == {"hinge": 0.25}
    assert sys.path == before


def test_a_file_in_another_folder(cli, file, tmp_path, monkeypatch):
    file(DRAW + "mechanism = draw()")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert start_of(cli, "../model.py") == {"hinge": 0.25}
    assert start_of(cli, str(tmp_path / "model.py")) == {"hinge": 0.25}


def test_what_a_file_prints_stays_out_of_the_json(cli, file):
    answer = cli("info", file("print('hello')\n" + DRAW + "mechanism = draw()"), "--json")
    assert answer.json["name"] == "mine"
    assert answer.err == "hello\n"
    assert cli("info", "model.py").out.startswith("hello\n")


# ---- what does not --------------------------------------------------------------------------------------------------


def test_unknown_mechanism(cli):
    answer = cli("info", "gough-stuart")
    assert answer.code == 2
    assert answer.err.startswith("error: the library has no mechanism 'gough-stuart'; did you mean 'gough-stewart'")


def test_a_file_named_without_its_ending(cli, file):
    file(DRAW)
    answer = cli("info", "model")
    assert answer.code == 2
    assert "did you mean the file 'model.py'?" in answer.err


def test_a_file_that_does_not_exist(cli, file):
    answer = cli("run", "nowhere/model.py")
    assert (answer.code, answer.err) == (2, "error: there is no file 'nowhere/model.py'\n")
    file("", "robot_model.py")
    assert "did you mean 'robot_model.py'?" in cli("run", "robot_modle.py").err


def test_a_folder_is_not_a_file(cli, tmp_path):
    (tmp_path / "model.py").mkdir()
    answer = cli("run", "model.py")
    assert answer.code == 2
    assert "is not a Python file" in answer.err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "'model.py' defines no 'mechanism': draw a cc.Mechanism under this name, or write a function"),
        (DRAW + "robot = draw()", "defines no 'mechanism': it draws 'robot'; add the line 'mechanism = robot'"),
        ("mechanism = 3", "'mechanism' is of type int, not a cc.Mechanism or a function that returns one"),
        ("def mechanism(): pass", "mechanism() returns None, not a cc.Mechanism"),
        ("def mechanism(length): pass", "the function 'mechanism' must be callable as mechanism(); give its arguments"),
        ("\n\nx = 1 / 0", "'model.py', line 3: ZeroDivisionError: division by zero\n    x = 1 / 0"),
        ("raise ValueError", "'model.py', line 1: ValueError\n"),
        ("x = (1,\n", "'model.py', line 1: '(' was never closed\n    x = (1,"),
        ("import no_such_module_at_all", "line 1: ModuleNotFoundError: No module named 'no_such_module_at_all'"),
        ("import sys\nsys.exit(4)", "'model.py', line 2: the file ended the program (exit code 4)"),
        (
            DRAW + "mechanism = draw()\nmechanism.body('arm', cc.rod(length=1, mass=1))",
            "'model.py', line 10: mechanism 'mine' already has something named 'arm': names must be unique\n"
            "    mechanism.body('arm', cc.rod(length=1, mass=1))",
        ),
        (DRAW + "mechanism = draw(length=float('nan'))", "'model.py', line 5: "),
        (
            DRAW + "mechanism = draw()\ndef start():\n    return mechanism.assemble(hing=1.0)",
            "'model.py', line 11: hold: no joint or coordinate is named 'hing'; did you mean 'hinge'",
        ),
        (DRAW + "mechanism = draw()\nstart = {'hinge': 1}", "'start' is of type dict, not a cc.State or a function"),
        (DRAW + "mechanism = draw()\ndef start(a, b): pass", "must be callable as start() or start(mechanism)"),
        (DRAW + "mechanism = draw()\nstart = draw().assemble()", "'start' belongs to another mechanism than"),
    ],
)  # fmt: skip
def test_what_may_be_wrong_in_a_file(cli, file, text, sentence):
    answer = cli("run", file(text))
    assert answer.code == 1
    assert answer.err.startswith("error: ")
    assert sentence in answer.err
    told = cli("run", "model.py", "--json")
    assert told.code == 1
    assert list(told.json) == ["error"]
    assert sentence.strip() in told.json["error"]


def test_debug_shows_the_traceback(cli, file, monkeypatch):
    monkeypatch.setenv("CLOSEDCHAIN_DEBUG", "1")
    answer = cli("run", file("x = 1 / 0"))
    assert answer.code == 1
    assert "Traceback (most recent call last)" in answer.err
    assert answer.err.count("ZeroDivisionError") > 1
    assert list(cli("run", "model.py", "--json").json) == ["error"]


def test_null_bytes_in_a_file_are_told_with_their_line(cli, file):
    path = file(DRAW + "mechanism = draw()\nx = '\0'\n")
    answer = cli("run", path)
    line = DRAW.count("\n") + 2
    assert answer.code == 1 and "None" not in answer.err
    assert f"error: {path}, line {line}: the drawing has a null byte" in answer.err


def test_a_name_that_no_file_can_have(cli):
    answer = cli("run", "a\0b.py")
    assert answer.code == 2 and "has a null byte in it, which no file name can have" in answer.err


def test_a_huge_file_is_not_read(cli, tmp_path):
    with (tmp_path / "huge.py").open("wb") as huge:
        huge.truncate(17 * 2**20)
    answer = cli("run", "huge.py")
    assert answer.code == 1 and "the drawing of 17 MB is not read, the limit is 16 MB" in answer.err
