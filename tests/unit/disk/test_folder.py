"""A folder is empty or ours; nothing foreign is touched, nothing is written through links."""

import json
import os
import subprocess
import sys

import pytest

import closedchain as cc
from closedchain.disk.folder import FORMAT, LOCK, MARK, Folder

OWN = r"checkpoint\.npz|piece\d+\.[tx]"


def claimed(path):
    folder = Folder(path, "save_to", "run", OWN)
    folder.claim()
    return folder


def contents(path):
    return {x.name: x.read_bytes() for x in path.iterdir() if x.is_file()}


def test_an_empty_folder_is_marked(tmp_path):
    folder = claimed(tmp_path / "a" / "b")
    assert json.loads((tmp_path / "a" / "b" / MARK).read_text()) == {"closedchain": "run", "format": FORMAT}
    folder.release()
    claimed(tmp_path / "a" / "b").release()


@pytest.mark.parametrize("name", ["lock", "piece0.t", "checkpoint.npz", "thesis.txt"])
def test_a_foreign_folder_is_not_touched(tmp_path, name):
    (tmp_path / name).write_text("precious")
    with pytest.raises(cc.ModelError, match=f"holds '{name}', but no run .*give an empty or a new folder"):
        claimed(tmp_path)
    assert contents(tmp_path) == {name: b"precious"}


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ({"closedchain": "study", "format": FORMAT}, "holds a study, not a run: give another folder"),
        ({"closedchain": "run", "format": 99}, "has format 99, this version of closedchain writes 2"),
        ({"closedchain": "run"}, "cannot be read, it is damaged"),
        ([], "cannot be read, it is damaged"),
    ],
)
def test_other_marks_are_refused(tmp_path, mark, message):
    (tmp_path / MARK).write_text(json.dumps(mark))
    with pytest.raises(cc.ModelError, match=message):
        claimed(tmp_path)
    assert list(contents(tmp_path)) == [MARK]


def test_killed_while_it_was_marked(tmp_path):
    (tmp_path / f"{MARK}.new").write_text("{")
    claimed(tmp_path).release()
    assert sorted(os.listdir(tmp_path)) == [MARK, LOCK]


@pytest.mark.parametrize("name", [LOCK, "piece0.t", "checkpoint.npz", MARK])
def test_nothing_is_written_through_a_link(tmp_path, name):
    claimed(tmp_path / "run").release()
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "run" / name).unlink(missing_ok=True)
    (tmp_path / "run" / name).symlink_to(tmp_path / "precious")
    with pytest.raises(cc.ModelError, match=r"is a link, and nothing is written through it|no plain file"):
        claimed(tmp_path / "run")
    assert (tmp_path / "precious").read_text() == "mine"


@pytest.mark.parametrize("how", ["put", "append", "write"])
def test_a_link_that_comes_later_is_not_followed(tmp_path, how):
    folder = claimed(tmp_path / "run")
    (tmp_path / "precious").write_text("mine")
    for name in ("piece0.t", "checkpoint.npz.new"):
        (tmp_path / "run" / name).symlink_to(tmp_path / "precious")
    if how == "write":
        folder.write("checkpoint.npz", b"x")
    else:
        with pytest.raises(cc.FileError, match=r"cannot write '.*piece0\.t'"):
            folder.put("piece0.t", b"x", 0) if how == "put" else folder.append("piece0.t", b"x")
    folder.release()
    assert (tmp_path / "precious").read_text() == "mine"


def test_a_pipe_is_refused(tmp_path):
    claimed(tmp_path).release()
    os.mkfifo(tmp_path / "checkpoint.npz")
    with pytest.raises(cc.ModelError, match="is no plain file"):
        claimed(tmp_path)


def test_the_folder_itself_may_be_a_link(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "disk")
    folder = claimed(tmp_path / "run")
    with pytest.raises(cc.ModelError, match="another run is writing to"):
        claimed(tmp_path / "disk")
    folder.release()
    assert (tmp_path / "disk" / MARK).exists()


def test_advice_never_costs_what_is_foreign(tmp_path):
    folder = claimed(tmp_path)
    folder.write("checkpoint.npz", b"")
    assert folder.advice() == "give another folder, or delete this one to begin anew"
    (tmp_path / "notes.txt").write_text("years of work")
    assert folder.advice() == (
        f"give another folder, or delete checkpoint.npz, {MARK}, lock in it to begin anew, but not 'notes.txt'"
    )
    folder.release()


def test_a_lock_of_another_process(tmp_path):
    code = (
        "import sys; from closedchain.disk.folder import Folder; f = Folder(sys.argv[1], 'save_to', 'run', 'x')\n"
        "f.claim(); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(cc.ModelError, match="another run is writing"):
            claimed(tmp_path)
        other.stdin.close()
        other.wait()
    claimed(tmp_path).release()


def test_what_was_there_stays_when_the_disk_is_full(tmp_path, monkeypatch):
    folder = claimed(tmp_path)
    folder.write("checkpoint.npz", b"old")

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(cc.FileError, match=r"checkpoint\.npz': No space left on device\. What the run had saved"):
        folder.write("checkpoint.npz", b"new")
    assert folder.read("checkpoint.npz") == b"old" and "checkpoint.npz.new" not in os.listdir(tmp_path)
    folder.release()


@pytest.mark.parametrize(("name", "message"), [("", "save_to is empty"), ("a\0b", "null byte")])
def test_names(name, message):
    with pytest.raises(cc.ModelError, match=message):
        Folder(name, "save_to", "run", OWN)
