"""Help, version, and how little they import."""

import pytest

from closedchain import __version__

HEAVY = ("casadi", "numba", "llvmlite", "matplotlib", "xarray", "pandas", "scipy")

VERBS = ("demo", "list", "info", "run", "compare", "sweep", "recommend", "stiffness", "modes", "torques")

LOOK = f"""
import sys
from closedchain.cli import app
try:
    app(sys.argv[1:], prog_name="closedchain")
except SystemExit as end:
    assert end.code in (0, None), end.code
print("heavy:", [name for name in {HEAVY} if name in sys.modules])
"""


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["list"], ["list", "--json"]])
def test_help_and_list_import_nothing_heavy(process, arguments):
    answer = process(*arguments, code=LOOK)
    assert answer.code == 0, answer.err
    assert answer.out.splitlines()[-1] == "heavy: []"


def test_the_look_at_imports_can_see_them(process):
    answer = process("list", "methods", code=LOOK)
    assert "'casadi'" in answer.out.splitlines()[-1], answer.err


def test_help_names_every_verb(cli):
    for arguments in ([], ["--help"], ["-h"]):
        answer = cli(*arguments)
        assert answer.code == 0
        for verb in VERBS:
            assert f"\n  {verb}  " in answer.out


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_tells_exit_codes_and_json(cli, verb):
    answer = cli(verb, "--help")
    assert answer.code == 0
    assert "--json" in answer.out
    assert "Exit codes: 0 good" in answer.out


def test_help_of_run_has_all_options(cli):
    text = cli("run", "--help").out
    options = "--until --method --solver --rtol --atol --step --set --hold --velocity --samples --out --plot --json"
    for option in options.split():
        assert f"  {option} " in text


def test_version(cli):
    answer = cli("--version")
    assert (answer.code, answer.out) == (0, f"closedchain {__version__}\n")
