"""A folder is empty or ours; nothing foreign is touched, nothing is written through links."""

import errno
import fcntl
import json
import os
import shutil
import subprocess
import sys
import threading
from functools import partial

import pytest

import closedchain as cc
from closedchain.disk.folder import FORMAT, LOCK, MARK, READERS, Folder, mark_of

OWN = r"checkpoint\.npz|piece\d+\.[tx]"


def claimed(path):
    folder = Folder(path, "save", "run", OWN)
    folder.claim()
    return folder


def contents(path):
    return {x.name: x.read_bytes() for x in path.iterdir() if x.is_file()}


def test_an_empty_folder_is_marked(tmp_path):
    folder = claimed(tmp_path / "a" / "b")
    assert json.loads((tmp_path / "a" / "b" / MARK).read_text()) == mark_of("run")
    assert mark_of("run") == {"closedchain": "run", "format": FORMAT, "version": cc.__version__}
    folder.release()
    claimed(tmp_path / "a" / "b").release()


def test_every_earlier_format_with_a_mark_has_a_reader():
    """From format 4 on the mark itself names the version."""
    assert set(READERS) == {2, 3} and FORMAT >= 4


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
        (
            {"closedchain": "run", "format": 99},
            f"has format 99, closedchain .* writes {FORMAT}: it comes",
        ),
        (
            {"closedchain": "run", "format": 99, "version": "7.1"},
            f"has format 99, closedchain .* writes {FORMAT}: read it with closedchain 7.1, which wrote it",
        ),
        ({"closedchain": "run", "format": 3}, "format 3, .*: read it with closedchain 0.1.0 before its release"),
        ({"closedchain": "study", "format": 99, "version": "7.1"}, "holds a study, not a run"),
        ({"closedchain": "run"}, "cannot be read, it is damaged"),
        ([], "cannot be read, it is damaged"),
        ({"closedchain": "sun", "format": FORMAT}, "is damaged, it names a 'sun': give another folder, or delete"),
        ({"closedchain": "fleet", "format": 99}, "holds a fleet, not a run"),  # of a later version
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


@pytest.mark.parametrize("how", ["put", "append", "write"])
def test_a_folder_that_was_removed_is_told_once(tmp_path, how):
    folder = claimed(tmp_path / "run")
    shutil.rmtree(tmp_path / "run")
    with pytest.raises(cc.FileError) as told:
        folder.put("piece0.t", b"x", 0) if how == "put" else getattr(folder, how)("piece0.t", b"x")
    folder.release()
    assert str(told.value) == (
        f"cannot write '{tmp_path}/run/piece0.t': there is no folder '{tmp_path}/run', it was removed during the run, "
        "with all that was saved: the same call begins anew"
    )


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
        "import sys; from closedchain.disk.folder import Folder; f = Folder(sys.argv[1], 'save', 'run', 'x')\n"
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


@pytest.mark.parametrize(("name", "message"), [("", "save is empty"), ("a\0b", "null byte")])
def test_names(name, message):
    with pytest.raises(cc.ModelError, match=message):
        Folder(name, "save", "run", OWN)


# ---- files that are not ours, or not ours alone ----------------------------------------------------------------------


def test_rooms_hold_files_of_ours_and_strangers(tmp_path):
    folder = Folder(tmp_path, "to", "study", r"room/\d+", ("room",))
    folder.claim()
    for name in ("room/1", "room/deep/1", "room/notes.txt", "other/1"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert folder.strangers() == ["other", "room/notes.txt", "room/deep/1"]
    assert folder.advice() == "give another folder, this one holds 'other' and more, which is no part of a study"
    folder.release()


@pytest.mark.parametrize("how", ["put", "append", "cut"])
def test_a_file_with_a_second_name_elsewhere_is_not_changed_there(tmp_path, how):
    folder = claimed(tmp_path / "run")
    (tmp_path / "precious").write_text("mine")
    os.link(tmp_path / "precious", tmp_path / "run" / "piece0.t")
    if how == "cut":
        folder.cut("piece0.t", 2)
    else:
        folder.put("piece0.t", b"x", 0) if how == "put" else folder.append("piece0.t", b"x")
    folder.release()
    assert (tmp_path / "precious").read_text() == "mine"
    assert (tmp_path / "run" / "piece0.t").read_text() == {"put": "xine", "append": "minex", "cut": "mi"}[how]


def test_marks_and_checkpoints_take_the_place_of_files_with_a_second_name(tmp_path):
    folder = claimed(tmp_path / "run")
    folder.write("checkpoint.npz", b"old")
    for name in ("checkpoint.npz", LOCK, MARK):
        os.link(tmp_path / "run" / name, tmp_path / name)
    folder.release()
    before = contents(tmp_path)
    folder = claimed(tmp_path / "run")
    folder.write("checkpoint.npz", b"new")
    folder.release()
    assert contents(tmp_path) == before


# ---- two at once -----------------------------------------------------------------------------------------------------


def at_once(*tasks):
    """What threads return or raise that begin together."""
    ready, out = threading.Barrier(len(tasks)), [None] * len(tasks)

    def go(k):
        ready.wait()
        try:
            out[k] = tasks[k]()
        except Exception as error:
            out[k] = error

    threads = [threading.Thread(target=go, args=(k,)) for k in range(len(tasks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return out


def test_of_many_threads_that_make_one_folder_one_wins(tmp_path):
    for trial in range(20):
        got = at_once(*[partial(claimed, tmp_path / f"run{trial}")] * 6)
        winners = [x for x in got if isinstance(x, Folder)]
        assert len(winners) == 1 and sorted(os.listdir(winners[0].path)) == [MARK, LOCK]
        assert {type(x) for x in got} == {Folder, cc.ModelError}
        assert all("another run is writing to" in str(x) for x in got if not isinstance(x, Folder))
        winners[0].release()
        claimed(tmp_path / f"run{trial}").release()


def test_a_run_and_a_study_do_not_share_a_new_folder(tmp_path, monkeypatch):
    """Both find it empty; the second to mark it finds the mark of the first."""
    study = Folder(tmp_path, "to", "study", OWN)
    monkeypatch.setattr(Folder, "_marked", lambda folder: False)
    study._mark()
    run = Folder(tmp_path, "save", "run", OWN)
    run._mark()
    monkeypatch.undo()
    with pytest.raises(cc.ModelError, match="holds a study, not a run"):
        run.claim()
    study.claim()
    study.release()


RACE = """
import sys
import threading
from functools import partial
from closedchain.disk.folder import Folder
from closedchain.errors import ModelError
print("ready", flush=True)
for name in sys.stdin.readline().split():
    try:
        folder = Folder(name, "save", "run", "x")
        folder.claim()
        print("won", flush=True)
    except ModelError as error:
        print(error, flush=True)
sys.stdin.readline()
"""


def test_of_two_processes_that_make_one_folder_one_wins(tmp_path):
    """Folder by folder, each in its own order, so that they meet."""
    names = [str(tmp_path / f"run{k}") for k in range(60)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with (
        subprocess.Popen([sys.executable, "-c", RACE], **pipes) as one,
        subprocess.Popen([sys.executable, "-c", RACE], **pipes) as other,
    ):
        said = {}
        for process in (one, other):
            assert process.stdout.readline() == "ready\n"
        for process, order in ((one, names), (other, names[::-1])):
            process.stdin.write(" ".join(order) + "\n")
            process.stdin.flush()
        for process, order in ((one, names), (other, names[::-1])):
            for name in order:
                said.setdefault(name, []).append(process.stdout.readline().strip())
        for process in (one, other):
            process.stdin.close()
    for name, words in said.items():
        assert sorted(words) == sorted(["won", f"another run is writing to {name!r} just now: wait for it, or give "
                                        "another folder"])  # fmt: skip
        assert sorted(os.listdir(name)) == [MARK, LOCK]


def test_a_disk_that_cannot_lock_is_said(tmp_path, monkeypatch):
    def no_locks(handle, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "lockf", no_locks)
    with pytest.raises(cc.ModelError, match=r"cannot be locked \(No locks available\): give one on another disk"):
        claimed(tmp_path)
    monkeypatch.undo()
    claimed(tmp_path).release()
