"""``closedchain sweep``: what is typed, what is told, and going on after Ctrl-C."""

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import xarray

import closedchain as cc
from tests.cli.conftest import environment

QUICK = ["--until", "0.05", "--samples", "3"]


def test_json_tells_points_and_spread(cli):
    typed = ["--vary", "O.motor=5:7:3", "--vary", "start.O=80*deg,pi/2", "--measure", "fastest=max O'"]
    told = cli("sweep", "four-bar", *typed, *QUICK, "--json").json
    assert (told["points"], told["finished"], told["axes"]) == (6, 6, {"O.motor": 3, "start.O": 2})
    m = cc.library.four_bar()
    run = cc.simulate(m, m.assemble(O=cc.pi / 2), parameters={"O.motor": 7.0}, until=0.05, t_eval=cc.Every(0.025))
    assert told["numbers"]["fastest"]["max"] == pytest.approx(float(run["O'"].max()), rel=1e-12)  # starts to rounding
    assert told["numbers"]["fastest"]["at"] == "O.motor = 7, start.O = 1.5708"
    assert told["failures"] == told["complaints"] == told["wrote"] == []


def test_a_folder_and_files(cli, tmp_path):
    typed = ["sweep", "pendulum", "--vary", "start.hinge=0.1:1:4", "--to", "study", "--out", "a.csv", "--out", "a.nc"]
    answer = cli(*typed, *QUICK)
    assert (answer.code, answer.err) == (0, "")
    assert "4 start.hinge" in answer.out and "finished  4 of 4" in answer.out and "wrote a.csv" in answer.out
    there = xarray.open_zarr(tmp_path / "study" / "results.zarr", consolidated=False, chunks=None)
    with xarray.open_dataset("a.nc") as file, open("a.csv", newline="") as lines:
        assert file["hinge"].values.tolist() == there["hinge"].values.tolist()
        assert [row["status"] for row in csv.DictReader(lines)] == ["finished"] * 4
    again = cli(*typed, *QUICK)  # nothing to compute
    assert again.code == 0
    other = cli("sweep", "pendulum", "--vary", "start.hinge=0.1:2:4", "--to", "study", *QUICK)
    assert other.code == 2 and "holds another study, with other points" in other.err


def test_samples(cli):
    typed = ["--vary", "start.hinge=normal(0.5,0.1)", "--vary", "arm.mass=1:2", "--count", "5", "--seed", "3"]
    drawn = ([], [], ["--sampling", "monte-carlo"])
    told = [cli("sweep", "pendulum", *typed, *more, *QUICK, "--json").json for more in drawn]
    assert told[0]["axes"] == {"sample": 5} and told[0]["numbers"] == told[1]["numbers"] != told[2]["numbers"]


def test_failures_are_told(cli, monkeypatch):
    monkeypatch.setattr("closedchain.pose.assemble.RESTARTS", 0)
    answer = cli("sweep", "four-bar", "--vary", "coupler.length=4,9,10", "--workers", "1", *QUICK)
    assert answer.code == 3 and "finished  1 of 3" in answer.out
    assert "2 points failed (no start), the first at coupler.length = 9: " in answer.err
    answer = cli("sweep", "four-bar", "--vary", "coupler.length=9", *QUICK, "--json")
    assert answer.code == 1 and "does not close" in answer.json["error"]


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["crank.length=1:2:1e12"], "--vary crank.length=1:2:1e12: 1e+12 are too many, 1e+07 are the most"),
        (["crank.length=1:2:1e12:log"], "1e+12 are too many, 1e+07 are the most"),
        (["crank.length=1:2:1e300"], "1e+300 are too many, 1e+07 are the most"),
        (["crank.length=1:2:1e6", "--vary", "O.motor=1:2:1e6"], "these are 1e+12 points, and 1e+07 are the most"),
        (["crank.length=1:2", "--count", "1000000000000"], "these are 1e+12 points, and 1e+07 are the most"),
        (["crank.length=1", "--samples", "1000000000000"], "--samples: 1e+12 are too many, 1e+07 are the most"),
        (["krank.length=1,2"], "did you mean 'crank.length'"),
        (["crank.length"], "--vary takes NAME=VALUE"),
        (["crank.length=1:2"], "how many? Write 1:2:11 for 11 values, or add --count 1000"),
        (["crank.length=1:2:2.5"], "write FROM:TO:COUNT with a whole number"),
        (["crank.length=1:2:3:4"], "write FROM:TO:COUNT"),
        (["crank.length=-1:2:3:log"], "equal ratios need two positive ends"),
        (["crank.length=gamma(1,2)", "--count", "3"], "uniform(a,b), loguniform(a,b) or normal(mean,sd)"),
        (["crank.length=normal(1,-2)", "--count", "3"], "standard deviation must be positive"),
        (["crank.length=2:1", "--count", "3"], "the first number must be the smaller one"),
        (["crank.length=one"], "'one' is not a finite number"),
        (["crank.length=1,,2"], "'' is not a finite number"),
        (["crank.length=normal(1,,2)", "--count", "3"], "'' is not a finite number"),
        (["k=1e4,1e6"], "'k' is no number of Multipliers"),
        (["crank.length=normal(1,2)"], "how many samples? Add --count 1000"),
        (["crank.length=1:2", "--count", "3", "--sampling", "quasi"], "or 'monte-carlo', not 'quasi'"),
        (["crank.length=1,2", "--sampling", "monte-carlo"], "--sampling says how samples are drawn: add --count N"),
        (["crank.length=1:2", "--count", "3", "--together"], "--together is for lists, and --count for distributions"),
        (["crank.length=1,2", "--step", "1e-3"], "'dop853' chooses its own steps"),
        (["crank.length=1,2", "--velocity", "Q=1"], "'Q'"),
        (["crank.length=1", "--measure", "x=big O"], "a measure in words"),
        (["crank.length=1", "--keep", "Q"], "no variable or frame 'Q'"),
        (["crank.length=1", "--out", "a.png"], "a file ends in .nc or .csv; for a folder write 'a.png/'"),
    ],
    ids=lambda x: None,
)
def test_what_cannot_be_meant_is_said(cli, typed, message):
    answer = cli("sweep", "four-bar", "--vary", *typed, "--until", "0.01")
    assert answer.code == 2 and message in answer.err, answer.err


def test_springs_of_many_stiffnesses(cli):
    typed = ["--method", "virtual-spring", "--vary", "k=1e5:1e7:3:log", "--measure", "gap=max closure_error"]
    told = cli("sweep", "four-bar", *typed, *QUICK, "--json").json
    assert told["numbers"]["gap"]["at"] == "k = 100000"


def test_ctrl_c_says_how_to_go_on(tmp_path):
    typed = ["sweep", "four-bar", "--vary", "O.motor=5:7:50000", "--until", "2", "--to", "study"]
    child = subprocess.Popen(
        [sys.executable, "-m", "closedchain.cli", *typed],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        cwd=tmp_path,
        # whoever started the tests may have told them to ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    done = Path(tmp_path) / "study" / "done.txt"
    while child.poll() is None and not (done.exists() and done.stat().st_size):
        time.sleep(0.01)
    os.kill(child.pid, signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert "of 50000 points are in 'study': the same call goes on from there" in err
