"""Hostile folders, and that the judge sees what is wrong.

Foreign folders, links and full disks, which runs do not survive yet, are left to `benchmarks.attack`.
"""

import pickle

import numpy as np
import pytest

import closedchain as cc
from benchmarks.attack import folders

SMALL = np.random.default_rng


def test_a_command_does_not_touch_foreign_files(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "FOLDERS", (folders.by_command,))

    outcome = folders.foreign(SMALL(0), tmp_path)

    assert not outcome.finding, outcome.finding


@pytest.mark.parametrize("work", folders.HALVES)
def test_half_a_run_or_a_study_is_resumed(work, tmp_path):
    folders.HALVES[work](tmp_path / "half")
    half = folders.fingerprints(tmp_path / "half")

    assert work(tmp_path / "half") == work(tmp_path / "whole")
    assert half != folders.fingerprints(tmp_path / "half")


def test_the_judge_sees_changed_and_new_files(tmp_path, monkeypatch):
    def changes(folder):
        (folder / "notes.txt").write_text("gone")
        return b""

    def adds(folder):
        (folder / "new.txt").write_text("mine")
        return b""

    for work, label in ((changes, "foreign files changed"), (adds, "wrote into a foreign folder")):
        monkeypatch.setattr(folders, "FOLDERS", (work,))
        home = tmp_path / work.__name__
        home.mkdir()
        assert folders.foreign(SMALL(0), home).label == label


def test_the_judge_sees_code_that_was_executed_and_another_result(tmp_path, monkeypatch):
    def careless(folder):
        folder.mkdir(exist_ok=True)
        path = folder / "told"
        if not path.exists():
            path.write_bytes(pickle.dumps(1.0))
        return repr(pickle.loads(path.read_bytes())).encode()

    def blind(folder):
        folder.mkdir(exist_ok=True)
        path = folder / "told"
        if not path.exists():
            path.write_bytes(b"right")
        return path.read_bytes()

    for work, label in ((careless, "executed a planted file"), (blind, "another result")):
        monkeypatch.setattr(folders, "HALVES", {work: work})
        monkeypatch.setattr(folders, "bombs", lambda mark, victim: [pickle.dumps(folders.Bomb(mark))])
        home = tmp_path / work.__name__
        home.mkdir()
        assert folders.planted(SMALL(0), home).label == label


@pytest.mark.parametrize("place", [folders.shared, folders.guests])
def test_the_judge_sees_files_that_are_written_through_links_and_guests_that_are_lost(place, tmp_path, monkeypatch):
    def careless(folder):
        folder.mkdir(exist_ok=True)
        for path in folder.rglob("*"):
            if path.is_file():
                path.write_bytes(path.read_bytes() + b"mine")
        (folder / "piece0.t").touch()
        return b""

    monkeypatch.setattr(folders, "HALVES", {careless: careless})

    assert place(SMALL(0), tmp_path).label == "foreign files changed"


def test_the_judge_sees_a_race_with_another_result(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "HALVES", {lambda folder: folder.name.encode(): None})

    assert folders.race(SMALL(0), tmp_path).label == "another result"


def test_the_judge_reads_sentences(tmp_path):
    folder = tmp_path / "mine"
    for error, label in (
        (cc.ModelError(f"{folder} belongs to somebody else"), None),
        (OSError(27, "File too large", str(folder)), None),
        (OSError(27, "File too large"), "names no path"),
        (ValueError("embedded null byte"), "raised ValueError"),
        (cc.ModelError(f"{folder}: 'NoneType' object"), "in words of others"),
    ):
        got = folders.sentence(error, folder, "")
        assert (got and got.label) == label
