"""Whole files or none: on a full disk, after an error, after Ctrl-C."""

import errno
import os
import pickle
import stat
import subprocess
import sys

import pytest

import closedchain as cc
from closedchain.disk.whole import write, written


def test_a_file_is_replaced_at_once(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("old")
    with written(path) as fresh:
        fresh.write_text("new")
        assert path.read_text() == "old" and fresh.suffix == ".csv"
    assert path.read_text() == "new" and os.listdir(tmp_path) == ["x.csv"]


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt()])
def test_what_was_there_stays_after_an_error(tmp_path, error):
    path = tmp_path / "x.csv"
    path.write_text("old")

    def fail():
        with written(path) as fresh:
            fresh.write_text("half")
            raise error

    with pytest.raises(type(error)):
        fail()
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["x.csv"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), RuntimeError("NetCDF: HDF error")])
def test_a_full_disk_is_told_with_the_path(tmp_path, error):
    def fail():
        with written(tmp_path / "x.nc") as fresh:
            fresh.write_text("half")
            raise error

    with pytest.raises(
        cc.FileError, match=r"cannot write '.*/x\.nc': (No space left on device|NetCDF: HDF error)"
    ) as e:
        fail()
    assert os.listdir(tmp_path) == [] and e.value.filename == str(tmp_path / "x.nc")
    assert isinstance(e.value, OSError) and e.value.errno == getattr(error, "errno", None)
    assert str(pickle.loads(pickle.dumps(e.value))) == str(e.value)


FULL = """
import resource, signal, sys
import closedchain as cc
from closedchain.disk.whole import write
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write(sys.argv[1], "x" * 5000)
except cc.FileError as error:
    print(error)
"""


def test_a_disk_that_takes_no_more(tmp_path):
    """A real limit of the operating system, in a process of its own."""
    path = tmp_path / "x.txt"
    path.write_text("old")
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True)
    assert done.stdout == f"cannot write '{path}': File too large\n", done.stderr
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["x.txt"]


def test_a_folder_that_is_not_there_is_said(tmp_path):
    with pytest.raises(cc.FileError, match=r"cannot write '.*/no/x\.txt': there is no folder '.*/no'"):
        write(tmp_path / "no" / "x.txt", "x")


def test_permissions_are_those_of_any_file(tmp_path):
    (tmp_path / "usual").write_text("")
    write(tmp_path / "new", b"x")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode
    (tmp_path / "new").chmod(0o640)
    write(tmp_path / "new", "y")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_a_link_is_replaced_not_followed(tmp_path):
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "x").symlink_to(tmp_path / "precious")
    write(tmp_path / "x", "new")
    assert (tmp_path / "precious").read_text() == "mine" and (tmp_path / "x").read_text() == "new"


def test_long_names_fit(tmp_path):
    write(tmp_path / ("x" * 250 + ".csv"), "a")
    assert len(os.listdir(tmp_path)) == 1
