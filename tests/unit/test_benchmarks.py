"""The benchmarks are found, run, and write what they print. What they measure is no matter of tests."""

import importlib
import os
import re

import pytest

from benchmarks import report
from benchmarks.__main__ import discover
from benchmarks.families import hub, ladder, tower
from benchmarks.operations import exponent
from benchmarks.speed import object_cache

NUMBER = r"\d+(\.\d+)?"


def test_scripts_are_found_by_their_main():
    found = discover()

    assert {"operations", "speed", "native_codegen"} <= set(found)
    assert not {"families", "report"} & set(found)
    assert all(found.values())


@pytest.mark.parametrize("name", discover())
def test_every_script_can_be_imported_and_has_a_main(name):
    assert callable(importlib.import_module(f"benchmarks.{name}").main)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("operations", ("pendulum", "four-bar", "Growth, ladder", "Growth, hub", "exponent")),
        ("growth", ("Beside Tables 2 and 3", "Growth with the joints", "Growth with the number of chains", "exponent")),
        ("speed", ("pendulum", "four-bar", "compile, cold", "right-hand side", "import closedchain")),
    ],
)
def test_a_quick_run_prints_its_tables_and_writes_them_to_a_page(name, words, capsys, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n<!-- begin {name} -->\nof yesterday\n<!-- end {name} -->\nafter\n", encoding="utf-8")

    importlib.import_module(f"benchmarks.{name}").main(["--quick", "--markdown", str(page)])

    printed, written = capsys.readouterr().out, page.read_text(encoding="utf-8")
    for word in words:
        assert word in printed
        assert word in written
    assert written.startswith("before\n")
    assert written.endswith("after\n")
    assert "of yesterday" not in written


def test_a_page_without_the_place_for_a_table_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing here\n", encoding="utf-8")

    with pytest.raises(ValueError, match="begin some"):
        report.Report("some").write(page)
    assert page.read_text(encoding="utf-8") == "nothing here\n"


def test_a_table_in_a_page_has_the_same_cells_in_every_line():
    table = report.Table("title", ["a", "b", "c"], [["x", "1", "2"], ["y", "3", ""]], "a note")

    lines = [line for line in table.markdown().splitlines() if line.startswith("|")]

    assert len(lines) == 4
    assert {line.count("|") for line in lines} == {4}


def test_repetitions_give_the_fastest_and_the_median():
    spent = report.duration([3.0, 1.0, 2.0, 10.0, 4.0])

    assert (spent.fastest, spent.median) == (1.0, 3.0)
    assert spent.text("s") == "1.00 (3.00)"
    assert re.fullmatch(rf"{NUMBER} \({NUMBER}\)", report.clock(lambda: None, 3).text("ns"))


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (0.012345, "0.0123"), (0.9999, "1.000"), (1.5, "1.50"), (123.4, "123"), (98765.4, "98765")],
)
def test_figures_have_three_digits(number, text):
    assert report.figure(number) == text


def test_an_exponent_is_that_of_the_large_sizes():
    sizes = (1, 2, 4, 8, 16)

    # the small sizes are off on purpose
    assert exponent(sizes, [7, 7, *(3 * n**2 for n in sizes[2:])]) == pytest.approx(2, rel=1e-12)


def test_another_object_cache_is_used_for_a_while_only(tmp_path, monkeypatch):
    monkeypatch.setenv("CLOSEDCHAIN_CACHE_DIR", "mine")
    with object_cache(str(tmp_path)):
        assert os.environ["CLOSEDCHAIN_CACHE_DIR"] == str(tmp_path)
    assert os.environ["CLOSEDCHAIN_CACHE_DIR"] == "mine"

    monkeypatch.delenv("CLOSEDCHAIN_CACHE_DIR")
    with object_cache(str(tmp_path)):
        assert os.environ["CLOSEDCHAIN_CACHE_DIR"] == str(tmp_path)
    assert "CLOSEDCHAIN_CACHE_DIR" not in os.environ


@pytest.mark.parametrize(("family", "size", "loops", "bodies"), [(ladder, 3, 3, 7), (tower, 2, 2, 6), (hub, 4, 4, 9)])
def test_members_of_a_family_have_their_loops_and_close(family, size, loops, bodies):
    mechanism = family(size)

    start = mechanism.assemble()

    assert len(start.topology.cuts) == loops
    assert len(mechanism.bodies) == bodies
