"""A case that crashes, hangs or raises is a finding, and the next case runs."""

import pytest

from benchmarks.attack import __main__ as attack
from benchmarks.attack import kinds, worker
from benchmarks.attack.__main__ import main

HOSTILE = """
import os, signal, time
BUDGET = 1.0
def attack(rng):
    number = int(rng.integers(4))
    if number == 0: os.kill(os.getpid(), signal.SIGSEGV)
    if number == 1:
        while True: pass
    if number == 2: raise KeyError("lost")
    from benchmarks.attack.outcome import Outcome
    print("a word on stdout")
    return Outcome("good", figures={"number": 3.0})
"""

FAILING = """
from benchmarks.attack.outcome import Outcome
BUDGET = 1.0
def attack(rng):
    raise KeyError("lost")
"""


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """A kind of attack that does all of it, in the parent and in the child."""
    (tmp_path / "hostile_kind.py").write_text(HOSTILE)
    (tmp_path / "sitecustomize.py").write_text(
        "import sys; sys.path.insert(0, " + repr(str(tmp_path)) + ")\n"
        "import benchmarks.attack; benchmarks.attack.__path__.append(" + repr(str(tmp_path)) + ")\n"
        "from benchmarks.attack.kinds import KINDS, Kind; KINDS['hostile'] = Kind('hostile_kind', 1.0)\n"
    )
    import benchmarks.attack
    from tests.cli.conftest import environment

    root = str(kinds.__file__).removesuffix("benchmarks/attack/kinds.py")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{root}:{environment()['PYTHONPATH']}")
    monkeypatch.setattr(benchmarks.attack, "__path__", [*benchmarks.attack.__path__, str(tmp_path)])
    monkeypatch.setitem(kinds.KINDS, "hostile", kinds.Kind("hostile_kind", 1.0))


def test_crashes_and_hangs_are_findings_and_the_next_case_runs(hostile):
    does = {int(kinds.random_numbers("hostile", 0, n).integers(4)): n for n in range(40)}
    with worker.Worker() as runner:
        got = {what: runner.run("hostile", 0, does[what]) for what in range(4)}

    assert got[0].label == "crash" and "SIGSEGV" in got[0].finding
    assert got[1].label == "hangs" and "in attack" in got[1].reproduce["stack"]
    assert got[2].label == "raised KeyError" and "lost" in got[2].finding
    assert got[3].label == "good" and got[3].figures == {"number": 3.0}


def test_workers_share_a_ledger_and_findings_are_checked_again(hostile, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(attack, "warm_up", lambda: None)
    (tmp_path / "hostile_kind.py").write_text(FAILING)
    words = ["--kinds", "hostile", "--ledger", str(tmp_path / "ledger.json")]

    assert main([*words, "--cases", "4", "--jobs", "2"]) == 1
    assert main([*words, "--recheck"]) == 1
    assert "4 x hostile, raised KeyError" in capsys.readouterr().out
    (tmp_path / "hostile_kind.py").write_text(FAILING.replace('raise KeyError("lost")', 'return Outcome("good")'))
    assert main([*words, "--recheck", "--jobs", "2"]) == 0
    told = capsys.readouterr().out
    assert "mended, 4 cases end well" in told and "0 open findings, 1 mended" in told


def test_an_unknown_kind_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["--kinds", "nonsense"])
    assert "no kind nonsense" in capsys.readouterr().err
