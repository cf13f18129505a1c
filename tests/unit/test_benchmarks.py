"""The benchmarks are found, run, and write what they print. What they measure is no matter of tests."""

import importlib
import json
import math
import os
import re
from dataclasses import asdict
from functools import partial

import numpy as np
import pytest

from benchmarks import report, teams, work_precision
from benchmarks.__main__ import discover
from benchmarks.families import held, hub, ladder, tower
from benchmarks.operations import exponent
from benchmarks.speed import object_cache
from benchmarks.work_precision import Linear, Point, Results
from closedchain.close.methods import METHODS
from closedchain.integrate.structure import structure
from closedchain.parallel.kernels import EXCHANGE, NOTHING, REDUCE

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
        (
            "work_precision",
            (
                "four-bar: cost of an error",
                "springs at rtol",
                "against k",
                "rule that the dampers",
                "as a multiple of rtol",
            ),
        ),
        ("load", ("2,000 samples", "reaction", "10 runs of a four-bar", "3 different mechanisms", "pieces")),
        ("speed", ("pendulum", "four-bar", "compile, cold", "right-hand side", "import closedchain")),
        (
            "sweep",
            (
                "cc.sweep",
                "growth with the number of runs",
                "one by one",
                "cc.simulate",
                "evaluation of the right-hand side",
            ),
        ),
        ("distribute", ("What a meeting costs", "Two arms", "weak", "The model", "larger machines", "O(log m)")),
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


@pytest.mark.parametrize(
    ("family", "size", "loops", "bodies"),
    [(ladder, 3, 3, 7), (tower, 2, 2, 6), (hub, 4, 4, 9), (partial(held, 3), 2, 3, 7)],
)
def test_members_of_a_family_have_their_loops_and_close(family, size, loops, bodies):
    mechanism = family(size)

    start = mechanism.assemble()

    assert len(start.topology.cuts) == loops
    assert len(mechanism.bodies) == bodies


# ---- work and precision ----------------------------------------------------------------------------------------------


def dense_lu(n):
    """Divisions, multiplications and subtractions of Gauss's elimination, one by one."""
    return sum((n - k - 1) + 2 * (n - k - 1) ** 2 for k in range(n))


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_the_formula_of_a_full_matrix_counts_the_elimination(n):
    assert Linear.dense(n).factor == dense_lu(n)


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_a_full_structure_is_a_full_matrix(n):
    counted = Linear.of(structure(np.ones((n, n), bool)))
    # an inverse for each pivot, and the matrix itself: g I - J_kk - J_kf J_fk / g
    assert counted.factor == dense_lu(n) + n + 3 * n * n
    assert counted.solve == Linear.dense(n).solve
    assert counted.prepare == 0


def test_zeros_of_a_structure_are_not_counted():
    n = 12
    bands = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 1
    counted = Linear.of(structure(bands))
    # a row below and a column beside each pivot but the last
    assert counted.factor - 3 * n * n == n + 3 * (n - 1)
    oscillators = np.block([[np.zeros((n, n)), np.eye(n)], [np.ones((n, n)), np.ones((n, n))]]).astype(bool)
    assert Linear.of(structure(oscillators, range(n))).factor == Linear.of(structure(np.ones((n, n), bool))).factor


def points():
    """Two solvers, one of them never good enough, and springs."""
    return [
        Point("multipliers", "dop853", 1e-4, error=1e-3, seconds=1.0, operations=10.0),
        Point("multipliers", "dop853", 1e-6, error=1e-5, seconds=2.0, operations=20.0),
        Point("multipliers", "dop853", 1e-8, error=1e-7, seconds=4.0, operations=40.0),
        Point("multipliers", "radau5", 1e-4, error=1e-3, seconds=0.5, operations=5.0),
        Point("multipliers", "rodas5p", 1e-4, failure="refused"),
    ]


def test_the_cheapest_run_that_is_good_enough_counts():
    assert work_precision.cheapest(points(), 1e-4, "seconds") == 2.0
    assert work_precision.cheapest(points(), 1e-3, "seconds") == 0.5
    assert work_precision.cheapest(points(), 1e-9, "seconds") is None


def test_what_was_refused_or_not_reached_is_an_empty_cell():
    table = work_precision.by_solver(points(), "four-bar", 1e-4)
    assert list(table.columns) == ["formulation", "dop853", "radau5"]
    assert table.rows == [["multipliers", "2000 (0)", ""]]


def test_an_exponent_of_the_stiffness_is_that_of_the_hard_springs():
    costs = {1e4: 7.0, 1e5: 7.0} | {k: 3 * math.sqrt(k) for k in (1e6, 1e7, 1e8)}
    assert work_precision.exponent(costs) == pytest.approx(0.5, rel=1e-12)
    assert math.isnan(work_precision.exponent({1e6: 1.0}))


def test_kept_runs_are_read_back(tmp_path):
    results = Results(
        points={"four-bar": points()}, about={"four-bar": "words"}, drift=[{"solver": "x", "drift": 1e-9}]
    )
    work_precision.save(results, tmp_path / "kept.json")
    again = work_precision.load(tmp_path / "kept.json")
    # nan is not equal to itself
    assert repr(again) == repr(results)


def test_runs_and_pictures_are_put_beside_a_page(tmp_path):
    page = tmp_path / "page.md"
    results = Results(points={"four-bar": points()})
    work_precision.write(results, page)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"page.json", "work-precision-four-bar.png", "work-precision-stiffness.png"}


def test_formulations_are_marched_by_solvers_of_their_kind():
    assert work_precision.solvers_of(METHODS["index3"]) == ["generalised-alpha"]
    assert work_precision.solvers_of(METHODS["ggl"]) == ["radau5", "idas"]
    assert "generalised-alpha" not in work_precision.solvers_of(METHODS["multipliers"])


# ---- limbs on several processors -------------------------------------------------------------------------------------

MEETINGS = teams.Meetings("rank", 2, exchange=(1e-6, 1e-9), reduction=(2e-6, 2e-9), gathering=3e-6)


def work(*operations, messages=0, sent=0, reduced=0):
    """Three steps: one before an exchange, one before a reduction, the last one."""
    return teams.Work(operations, (EXCHANGE, REDUCE, NOTHING), (messages, 0, 0), (sent, reduced, 0))


def test_arms_are_drawn_closed():
    m = held(2, 3)
    guesses = {name: joint.guess for name, joint in m.joints.items() if name.startswith("bend")}
    start = m.assemble().coordinates
    assert all(start[name] == pytest.approx(float(np.ravel(guess)[0]), abs=1e-12) for name, guess in guesses.items())


def test_a_step_takes_as_long_as_its_slowest_member_and_meetings_come_on_top():
    model = teams.Model(1e-9, MEETINGS)
    works = [work(100, 2000, 300, messages=2, sent=80, reduced=216), work(50, 3000, 10, reduced=216), work(0, 0, 0)]
    computing, meeting = model.call(works)
    assert computing == pytest.approx(1e-9 * (100 + 3000 + 300), rel=1e-12)
    # two messages one after another; a reduction of three members has two rounds
    assert meeting == pytest.approx(2 * 1e-6 + 80e-9 + 2 * (2e-6 + 216 * 2e-9), rel=1e-12)
    assert model.call(works[:1])[1] == 0.0


def test_longer_arms_are_counted_by_straight_lines():
    def made(links, arms):
        works = tuple(work(100, n * (40 * links + 7), n * 3 * links) for n in arms)
        return teams.Plan((sum(arms) * 50 * links, sum(arms) * 20 * links), works, works, arms)

    short, longer = made(12, (1, 1)), made(14, (1, 1))
    assert made(12, (2, 1)).longer(short, longer, (128 - 12) / 2) == made(128, (2, 1))
    alone = made(12, (3,)).longer(short, longer, (128 - 12) / 2)
    assert (alone.alone, alone.rhs) == (made(128, (3,)).alone, (teams.whole(3 * 50 * 128),))


def test_what_a_job_wrote_is_read_back():
    case = teams.Case("held", (2, 4))
    run = teams.Measured(
        case, "rank", 2, (2.0, 4.0), (1.25, 1.0), 3, 30, 5, 7, (0.5, 0.4), (0.1, 0.2), (1, 0), (8, 0), 0.0, (3.0, 2.0)
    )
    found = teams.Found(MEETINGS, (run,))
    assert teams.read(json.dumps(asdict(found))) == found
    assert (run.efficiency, run.rhs_efficiency, run.calls, run.communication) == (1.0, 0.75, 35, 0.1)
