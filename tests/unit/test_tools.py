"""Tools that compare two trees: what they find in small examples."""

import ast

import pytest

from tools import mutate, sentences

SOURCE = '''"""A docstring is no sentence that a user sees."""

TABLE = {"solver": "takes fixed steps only"}


def check(name: str, x: float) -> float:
    """Neither is this one."""
    if x < 0 or x > 10:
        raise ValueError(f"{name} must be between 0 and " + "10" + f", not {x!r}{'; it has no value' if x else ''}")
    return -x + 1.5
'''


def test_sentences_are_what_a_module_says(tmp_path):
    (tmp_path / "module.py").write_text(SOURCE)
    assert sentences.sentences(tmp_path) == [
        "; it has no value",
        "takes fixed steps only",
        "{} must be between 0 and 10, not {}{}",
    ]


def test_sentences_that_are_gone_and_new(tmp_path, capsys):
    (tmp_path / "module.py").write_text(SOURCE)
    (tmp_path / "before.txt").write_text("; it has no value\nan old one\n{} must be between 0 and 10, not {}{}\n")
    sentences.main(["--package", str(tmp_path), "--against", str(tmp_path / "before.txt")])
    assert capsys.readouterr().out.splitlines() == ["- an old one", "+ takes fixed steps only"]


def test_each_mutation_changes_one_thing():
    told = [mutate.mutated(SOURCE, place)[1].split(": ", 1)[1] for place in mutate.places(SOURCE)]
    assert set(told) == {
        "x < 0 or x > 10  ->  x < 0 and x > 10", "x < 0  ->  x >= 0", "0  ->  1", "x > 10  ->  x <= 10", "10  ->  11",
        "-x + 1.5  ->  -x - 1.5", "-x  ->  +x", "1.5  ->  2.35",
        *(x for x in told if x.startswith("f'")),
    }  # fmt: skip
    for place in mutate.places(SOURCE):
        text, _ = mutate.mutated(SOURCE, place)
        assert ast.dump(ast.parse(text)) != ast.dump(ast.parse(SOURCE))


def test_a_seed_chooses_the_mutations():
    first, again, other = (mutate.chosen(["cut"], 5, seed) for seed in (0, 0, 1))
    assert first == again != other and len(first) == 5


@pytest.mark.parametrize(("mutation", "line"), [(None, "0 of 1"), ("wrong", "1 of 1")])
def test_killed_and_survived(monkeypatch, capsys, mutation, line):
    """The tests pass without a mutation; with it they fail, or do not."""
    answers = iter([True, mutation is None])
    monkeypatch.setattr(mutate, "passes", lambda *_: next(answers))
    monkeypatch.setattr(mutate, "COPIED", ("src",))
    mutate.main(["cut", "--count", "1"])
    printed = capsys.readouterr().out
    assert f"{line} mutations killed" in printed
    assert printed.startswith("killed" if mutation else "SURVIVED")
