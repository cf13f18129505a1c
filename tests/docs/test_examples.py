"""Every script of examples/ runs by itself, and gives the command line a mechanism."""

import runpy
from pathlib import Path

import pytest

import closedchain as cc

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


def test_there_are_examples():
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(str(path), run_name="__main__")

    said = capsys.readouterr().out
    written = [word for line in said.splitlines() if line.startswith("wrote ") for word in line.split()[1::2]]
    assert written
    assert all(Path(name).stat().st_size > 0 for name in written)
    assert {str(p) for p in Path("out").iterdir()} == set(written)

    # `closedchain run examples/NAME.py` asks for this
    mechanism = names["mechanism"]()
    assert isinstance(mechanism, cc.Mechanism)
    assert mechanism.assemble().q.size > 0
