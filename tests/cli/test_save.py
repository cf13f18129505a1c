"""Files: what is written can be read back, names and all."""

import csv
import os

import numpy as np
import pytest
import xarray

import closedchain as cc
from closedchain.cli.parts import save
from closedchain.cli.parts.exits import WrongUsage

ENDINGS = (".nc", ".csv", ".png", ".svg")
PNG = b"\x89PNG\r\n"


def simulated(name, samples=11):
    entry = cc.library.get(name)
    return cc.simulate(entry.build(), until=0.2, t_eval=np.linspace(0.0, 0.2, samples))


@pytest.mark.parametrize("name", cc.library.MECHANISMS)
def test_netcdf_keeps_names_numbers_and_units(cli, name):
    """Primes, blanks and dots in names (``O'``, ``leg1 base.angle1'``), and a mechanism without closures."""
    answer = cli("run", name, "--until", "0.2", "--samples", "11", "--out", "a.nc")
    assert answer.code == 0, answer.err
    assert "wrote a.nc\n" in answer.out
    wanted = simulated(name).dataset
    with xarray.open_dataset("a.nc") as data:
        assert list(data.data_vars) == list(wanted.data_vars)
        xarray.testing.assert_equal(data, wanted)
        assert {k: v.attrs for k, v in data.data_vars.items()} == {k: v.attrs for k, v in wanted.data_vars.items()}
        for key in ("mechanism", "method", "solver", "rtol", "status", "steps", "parameters", "closedchain"):
            assert data.attrs[key] == wanted.attrs[key]


@pytest.mark.parametrize("name", ["pendulum", "four-bar", "gough-stewart"])
def test_csv_has_one_line_for_each_time(cli, name):
    assert cli("run", name, "--until", "0.2", "--samples", "11", "--out", "a.csv").code == 0
    wanted = simulated(name).dataset
    with open("a.csv", newline="") as text:
        head, *lines = csv.reader(text)
    assert len(lines) == 11
    columns = [k for k, v in wanted.data_vars.items() if v.dims == ("time",)]
    assert head == ["time", *columns]
    data = np.array(lines, float)
    for i, name in enumerate(head):
        np.testing.assert_array_equal(data[:, i], wanted[name])


def test_a_folder_gets_everything(cli, tmp_path):
    answer = cli("run", "four-bar", "--until", "0.1", "--out", "results/today", "--json")
    names = ["four-bar.nc", "four-bar.csv", "four-bar.png"]
    assert answer.json["wrote"] == [os.path.join("results", "today", name) for name in names]
    assert sorted(p.name for p in (tmp_path / "results/today").iterdir()) == sorted(names)


def test_several_outs(cli, tmp_path):
    told = cli("run", "four-bar", "--until", "0.1", "--out", "a.csv", "--out", "deep/b.png", "--json").json
    assert told["wrote"] == ["a.csv", os.path.join("deep", "b.png")]
    assert (tmp_path / "deep/b.png").read_bytes().startswith(PNG)


def test_plot_without_out_goes_into_out(cli, tmp_path):
    told = cli("run", "four-bar", "--until", "0.1", "--plot", "O,O'", "--plot", "energy_error", "--json").json
    assert told["wrote"] == [os.path.join("out", "four-bar.png")]
    assert (tmp_path / "out/four-bar.png").read_bytes().startswith(PNG)


def test_plot_chooses_what_is_drawn(cli, monkeypatch):
    drawn = []
    monkeypatch.setattr("closedchain.results.run.Run.plot", lambda self, *names, path=None: drawn.append((names, path)))
    cli("run", "four-bar", "--until", "0.1", "--plot", "O, lam", "--out", "a.png")
    cli("run", "four-bar", "--until", "0.1", "--out", "b.png")
    assert [(names, path.name) for names, path in drawn] == [(("O", "lam"), "a.png"), ((), "b.png")]


@pytest.mark.parametrize(
    ("out", "folder"), [("x", True), ("x.d/", True), ("exists.d", True), ("x.csv", False), ("y/x.nc", False)]
)
def test_what_is_a_folder(tmp_path, out, folder):
    (tmp_path / "exists.d").mkdir()
    paths = save.targets([out], "four-bar", ENDINGS)
    assert len(paths) == (3 if folder else 1)
    assert all(path.parent.is_dir() for path in paths)


@pytest.mark.parametrize(("name", "file"), [("four-bar", "four-bar"), ("my [x]/y z", "my-x-y-z"), ("../..", "run")])
def test_names_of_files(name, file):
    assert save.file_name(name) == file


def test_one_file_that_cannot_be_written_does_not_cost_the_others(cli, monkeypatch):
    def full(self, path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("closedchain.results.run.Run.to_netcdf", full)
    answer = cli("run", "four-bar", "--until", "0.1", "--out", "all/")
    assert answer.code == 1
    assert answer.err.startswith(f"error: could not write '{os.path.join('all', 'four-bar.nc')}': ")
    assert "No space left" in answer.err
    assert "four-bar.csv" in answer.out and "four-bar.png" in answer.out
    told = cli("run", "four-bar", "--until", "0.1", "--out", "all/", "--json").json
    assert "No space left" in told["error"] and len(told["wrote"]) == 2


def test_a_name_that_netcdf_does_not_allow(cli, file):
    text = """
import closedchain as cc
mechanism = cc.Mechanism("slashed", gravity=(0, -9.81, 0))
mechanism.revolute("[left", mechanism.ground, mechanism.body("arm", cc.rod(length=1.0, mass=1.0)))
"""
    answer = cli("run", file(text), "--out", "all/")
    assert answer.code == 1
    assert "cannot write 'all/slashed.nc'".replace("/", os.sep) in answer.err
    assert "wrote" in answer.out and "slashed.csv" in answer.out


def test_a_folder_that_cannot_be_made_is_told_before_the_run(cli, tmp_path, monkeypatch):
    monkeypatch.setattr("closedchain.simulation.simulate", lambda *_, **__: pytest.fail("ran"))
    (tmp_path / "taken").write_text("a file")
    for out in ("taken/deeper/", "taken/a.csv"):
        answer = cli("run", "four-bar", "--out", out)
        assert answer.code == 2
        assert "--out: cannot make the folder 'taken" in answer.err


def test_without_netcdf4(cli, monkeypatch, tmp_path):
    monkeypatch.setattr(save, "has_netcdf", lambda: False)
    answer = cli("run", "four-bar", "--out", "a.nc")
    assert answer.code == 2
    assert "pip install 'closedchain[netcdf]'" in answer.err
    answer = cli("run", "four-bar", "--until", "0.1", "--out", "all/")
    assert answer.code == 0
    assert answer.err.startswith("note: no .nc file")
    assert sorted(p.suffix for p in (tmp_path / "all").iterdir()) == [".csv", ".png"]


def test_targets_are_not_repeated():
    assert len(save.targets(["a.csv", "a.csv"], "x", ENDINGS)) == 1
    with pytest.raises(WrongUsage, match="a file ends in"):
        save.targets(["a.txt"], "x", ENDINGS)


@pytest.mark.parametrize(
    "command",
    [
        ("run", "pendulum", "--out", ""),
        ("run", "pendulum", "--to", ""),
        ("run", "pendulum", "--out", "x.csv", "--out", " "),
        ("sweep", "pendulum", "--vary", "start.hinge=0.1,0.2", "--out", ""),
        ("sweep", "pendulum", "--vary", "start.hinge=0.1,0.2", "--to", ""),
        ("torques", "four-bar", "--path", "O=move:1", "--out", ""),
        ("compare", "pendulum", "--out", ""),
        ("modes", "flexible-arm", "--out", ""),
        ("modes", "flexible-arm", "--over", "hinge=0:1:2", "--out", ""),
        ("stiffness", "four-bar", "--out", ""),
        ("run", "flexible-pacdrive", "--method", "erls", "--out", ""),
        ("demo", "--out", ""),
        ("reproduce", "wang2002", "fig6", "--out", ""),
    ],
    ids=" ".join,
)
def test_an_empty_name_is_refused_before_anything_is_computed(cli, tmp_path, command):
    answer = cli(*command)
    option = command[-2]
    assert answer.code == 2 and f"error: {option} is empty: give a name" in answer.err, answer
    assert not list(tmp_path.glob("*.csv")) and not (tmp_path / "out").exists()


def test_a_null_byte_in_a_name_is_refused(cli):
    answer = cli("run", "pendulum", "--out", "a\0.csv")
    assert answer.code == 2 and "--out = 'a\\x00.csv' has a null byte in it" in answer.err


def test_a_full_disk_is_told_with_the_path(cli, monkeypatch, tmp_path):
    (tmp_path / "x.csv").write_text("old")

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    answer = cli("run", "pendulum", "--until", "0.1", "--out", "x.csv", "--out", "x.nc", "--out", "x.png")
    assert answer.code == 1 and answer.out.count("wrote") == 0
    for name in ("x.csv", "x.nc", "x.png"):
        assert f"error: cannot write '{name}': No space left on device" in answer.err
    assert (tmp_path / "x.csv").read_text() == "old" and sorted(os.listdir(tmp_path)) == ["x.csv"]
