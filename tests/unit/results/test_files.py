"""Files of results are whole or not there, on a full disk as well."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import xarray
from matplotlib.figure import Figure

import closedchain as cc
from closedchain.results.files import save_csv, save_netcdf, saved


def test_a_figure_is_written_if_a_file_is_named(tmp_path):
    figure = Figure()
    assert saved(figure, None) is figure
    for name, wanted in (("a.png", "a.png"), ("b", "b.png"), ("c.PDF", "c.PDF")):
        assert saved(figure, tmp_path / name) is figure
        assert (tmp_path / wanted).stat().st_size > 1000
    assert len(os.listdir(tmp_path)) == 3
    buffer = io.BytesIO()
    saved(figure, buffer)
    assert buffer.getvalue()[1:4] == b"PNG"


def test_names_are_checked(tmp_path):
    with pytest.raises(cc.ModelError, match=r"x\.doc': a picture cannot be written as \.doc; known are"):
        saved(Figure(), tmp_path / "x.doc")
    for wrong, message in (("", "path is empty"), ("a\0.png", "null byte"), (3, "takes the name of a file")):
        with pytest.raises(cc.ModelError, match=message):
            saved(Figure(), wrong)


def test_tables_and_datasets(tmp_path):
    data = xarray.Dataset({"x": ("time", [1.0, 2.0])}, {"time": [0.0, 1.0]})
    save_netcdf(data, tmp_path / "x.nc")
    save_csv(data.to_dataframe(), str(tmp_path / "x.csv"))
    with xarray.open_dataset(tmp_path / "x.nc") as back:
        np.testing.assert_array_equal(back["x"], data["x"])
    assert (tmp_path / "x.csv").read_text() == "time,x\n0.0,1.0\n1.0,2.0\n"
    assert len(os.listdir(tmp_path)) == 2


FULL = """
import json, resource, signal, sys
from pathlib import Path
import closedchain as cc

m = cc.library.pendulum()
run = cc.simulate(m, until=0.1, t_eval=cc.Every(1e-4))
folder = Path(sys.argv[1])
writers = {
    "x.nc": run.to_netcdf,
    "x.png": lambda path: run.plot(path=path),
    "x.svg": lambda path: run.plot_deformed(path=path),
    "x.html": lambda path: run.animate(path, frames=20),
    "x.gif": lambda path: run.animate(path, frames=3),
    "x.pdf": lambda path: run.plot(path=path),
}
for name, write in writers.items():  # fonts and caches of others
    write(folder / name)
    (folder / name).unlink()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
said = {}
for name, write in writers.items():
    try:
        write(folder / name)
        said[name] = "written"
    except cc.FileError as error:
        said[name] = str(error)
try:
    cc.simulate(m, until=0.1, t_eval=cc.Every(1e-4), save=folder / "run")
except cc.FileError as error:
    said["run"] = str(error)
sys.stdout.write(json.dumps(said))
"""


def test_no_writer_leaves_half_a_file_on_a_full_disk(tmp_path):
    """A limit of the operating system on the size of files stands for a disk without room."""
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert len(said) == 7
    for name, sentence in said.items():
        path = tmp_path / (name if name != "run" else "run/piece0.t")
        assert sentence.startswith(f"cannot write '{path}': "), said
    assert said["x.nc"].endswith("(is the disk full?)") and said["x.png"].endswith(": File too large")
    assert "make room, and the same call goes on" in said["run"]
    assert os.listdir(tmp_path) == ["run"]
