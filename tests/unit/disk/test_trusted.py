"""Folders that others can write to are not trusted, whoever runs the tests."""

import os
from pathlib import Path

import pytest

from closedchain.disk import trusted
from closedchain.disk.trusted import distrust, distrust_all, distrust_file

pytestmark = pytest.mark.skipif(os.name != "posix", reason="owners and modes are those of POSIX")


@pytest.fixture
def home(tmp_path):
    """A folder that is closed, whatever the habits of the machine."""
    tmp_path.chmod(0o700)
    return tmp_path


def give_away(path, monkeypatch):
    """Let a file belong to somebody else."""
    if os.geteuid() == 0:
        os.chown(path, 12345, -1)
    else:
        own = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: own + 1)


@pytest.mark.parametrize("mode", [0o700, 0o755, 0o711])
def test_a_folder_of_ones_own(home, mode):
    (home / "x").mkdir()
    (home / "x").chmod(mode)
    assert distrust(home / "x") == ""
    assert distrust(home / "x" / "not" / "yet") == ""


@pytest.mark.parametrize("mode", [0o777, 0o757, 0o772, 0o1777])
def test_a_folder_of_everybody(home, mode):
    (home / "x").mkdir()
    (home / "x").chmod(mode)
    assert distrust(home / "x") == f"'{home / 'x'}' can be written by others (mode {mode:o})"


def test_a_folder_below_one_of_everybody(home):
    (home / "x" / "y").mkdir(parents=True)
    (home / "x" / "y").chmod(0o700)
    (home / "x").chmod(0o777)  # others can rename y
    assert "can be written by others (mode 777)" in distrust(home / "x" / "y")
    assert "can be written by others (mode 777)" in distrust(home / "x" / "not yet")
    (home / "x").chmod(0o1777)  # as /tmp
    assert distrust(home / "x" / "y") == "" == distrust(home / "x" / "not yet")


def test_a_link_is_followed(home):
    (home / "open").mkdir()
    (home / "open").chmod(0o777)
    (home / "x").symlink_to(home / "open")
    assert "can be written by others" in distrust(home / "x")


def test_somebody_elses(home, monkeypatch):
    (home / "x").mkdir()
    give_away(home / "x", monkeypatch)
    assert "belongs to another user" in distrust(home / "x")


def test_a_private_group_is_no_other(home, monkeypatch):
    (home / "x").mkdir()
    (home / "x").chmod(0o775)
    monkeypatch.setattr(trusted, "_private", lambda group: True)
    assert distrust(home / "x") == ""
    monkeypatch.setattr(trusted, "_private", lambda group: False)
    assert "can be written by others (mode 775)" in distrust(home / "x")


def test_files_in_a_folder(home, monkeypatch):
    x = home / "x"
    (x / "below").mkdir(parents=True)
    x.chmod(0o755)
    (x / "below").chmod(0o755)
    file = x / "below" / "code"
    file.write_text("")
    file.chmod(0o644)
    assert distrust_all(x) == "" == distrust_file(file.stat())
    file.chmod(0o666)
    assert "code' can be written by others (mode 666)" in distrust_all(x)
    assert "can be written by others" in distrust_file(file.stat())
    (x / "below").chmod(0o700)  # nobody else comes that far
    assert distrust_all(x) == ""
    (x / "below" / "link").symlink_to(file)
    assert "link' is a link" in distrust_all(x)
    (x / "below" / "link").unlink()
    give_away(file, monkeypatch)
    assert "belongs to another user" in distrust_all(x)


def test_the_root_is_an_end():
    assert isinstance(distrust(Path("/")), str)
