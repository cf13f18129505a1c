"""``closedchain compare``: the table, the page, the picture and JSON tell the same."""

import json

import pytest

import closedchain as cc

QUICK = ["--until", "0.2", "--methods", "multipliers,denoc", "--tolerances", "1e-5,1e-7"]


def test_json_has_every_run(cli):
    told = cli("compare", "four-bar", *QUICK, "--json").json
    assert [(r["method"], r["solver"], r["rtol"]) for r in told["runs"]] == [
        (m, s, x) for m in ("Multipliers", "DeNOC") for s in ("dop853", "dopri5") for x in (1e-5, 1e-7)
    ]
    run = cc.simulate(cc.library.four_bar(), until=0.2, rtol=1e-7)
    row = told["runs"][1]
    assert (row["steps"], row["closure_error"]) == (run.counts.steps, float(run.closure_error.max()))
    assert told["operations"]["Multipliers"]["total"] == run.metadata["operations"]
    assert told["reference"].startswith("Multipliers with dop853") and len(told["citations"]) == 4
    assert (told["mechanism"], told["until"], told["wrote"]) == ("four-bar", 0.2, [])
    assert row["length_error"] is None  # a four-bar has angles only


def test_the_table_in_a_pipe_has_every_column(cli):
    answer = cli("compare", "four-bar", *QUICK)
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0].split()[:4] == ["method", "solver", "rtol", "error"] and "prepare" in lines[0]
    assert len([line for line in lines if " dop853  1e-0" in line or " dopri5  1e-0" in line]) == 8
    assert "four-bar from 0 to 0.2 s" in lines


def test_a_narrow_terminal_gets_fewer_columns(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    answer = cli("compare", "four-bar", *QUICK)
    assert "prepare" not in answer.out and "error" in answer.out.splitlines()[0]


def test_page_and_picture_are_written(cli, tmp_path):
    answer = cli("compare", "four-bar", *QUICK, "--out", "new/page.html", "--out", "plot.svg")
    assert answer.code == 0
    assert answer.out.splitlines()[-2:] == ["wrote new/page.html", "wrote plot.svg"]
    assert (tmp_path / "new/page.html").read_text().startswith("<!DOCTYPE html>")
    assert "<svg" in (tmp_path / "plot.svg").read_text()


def test_failures_are_rows_and_sentences(cli, file):
    text = """import closedchain as cc
def mechanism():
    m = cc.Mechanism("bad torque")
    arm = m.body("arm", cc.rod(length=1.0, mass=1.0))
    m.revolute("O", m.ground, arm)
    m.motor("O", torque=lambda t, q, v: cc.math.log(0.1 - t))
    return m
"""
    answer = cli("compare", file(text), "--methods", "multipliers", "--solvers", "dopri5", "--tolerances", "1e-6")
    assert answer.code == 1
    assert "failed" in answer.out and "error: no run reached its end: Multipliers: " in answer.err
    told = json.loads(cli("compare", "model.py", *QUICK, "--methods", "multipliers", "--until", "1", "--json").out)
    assert told["error"].startswith("no run reached its end") and told["runs"][0]["failure"]


def test_rk4_with_a_step(cli):
    by = ["--methods", "multipliers", "--solvers", "rk4", "--tolerances", "1e-4"]
    options = ["--until", "0.1", *by, "--step", "0.01"]
    assert cli("compare", "four-bar", *options, "--json").json["runs"][0]["steps"] == 10


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--methods", "denok"], "did you mean 'denoc'"),
        (["--methods", ","], "--methods needs at least one name"),
        (["--solvers", "dop583"], "did you mean 'dop853'"),
        (["--tolerances", "1e-6,small"], "--tolerances: 'small' is not a finite number"),
        (["--tolerances", "-1"], "rtol must be a positive number"),
        (["--out", "page.txt"], "a file ends in .html, .png, .svg or .pdf; for a folder write 'page.txt/'"),
        (["--until", "0"], "runs of some length"),
        (["--step", "0.01"], "--step is for solvers with a fixed one, as rk4: --solvers dop853,dopri5 has none"),
        (["--set", "O.moter=1"], "did you mean 'O.motor'"),
        (["--hold", "Q=1"], "'Q'"),
    ],
)
def test_wrong_usage(cli, arguments, words):
    answer = cli("compare", "four-bar", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err


def test_the_bar_counts_runs():
    from closedchain.progress import Progress

    bar = Progress(quiet=True)
    with bar as progress:
        progress.count(3, 12, "DeNOC")
    assert bar._latest == {"description": "running", "completed": 3, "total": 12, "state": "3 of 12: DeNOC"}
