"""The judge of kills sees other bits and failures. Runs and studies are killed in ``tests/invariants``."""

import json
import os
import signal
import subprocess
from functools import partial

import numpy as np
import pytest

from benchmarks.attack import kills


@pytest.mark.parametrize(
    ("told", "label"),
    [
        ({"killed": 3, "same": True, "same_as_unsaved": True}, "resumed"),
        ({"killed": 3, "same": False, "same_as_unsaved": True}, "other bits"),
        ({"killed": 3, "different": []}, "resumed"),
        ({"killed": 3, "different": ["O"]}, "other bits"),
    ],
)
def test_the_judge(told, label, monkeypatch):
    answer = subprocess.CompletedProcess([], 0, f"a word\n{json.dumps(told)}\n", "")
    monkeypatch.setattr(kills.subprocess, "run", lambda *args, **options: answer)

    assert label in kills.long(np.random.default_rng(0)).label


def test_a_process_that_fails_is_a_finding(monkeypatch):
    answer = subprocess.CompletedProcess([], 1, "", "Traceback\nKeyError: 3\n")
    monkeypatch.setattr(kills.subprocess, "run", lambda *args, **options: answer)

    outcome = kills.long(np.random.default_rng(0))

    assert outcome.label == "failed" and "KeyError: 3" in outcome.signature


@pytest.mark.parametrize(
    ("status", "bits", "label"),
    [
        (0, b"same", "too fast"),
        (signal.SIGKILL, b"same", "resumed after kills"),
        (signal.SIGKILL, b"others", "other bits"),
        (1 << 8, b"same", "failed"),
    ],
)
def test_the_judge_of_forks(status, bits, label, tmp_path, monkeypatch):
    monkeypatch.setattr(kills, "forked", lambda work, seconds: int(status))

    outcome = kills.killed(
        lambda folder: [bits if folder.name == "killed" else b"same"], "it", 2, np.random.default_rng(0), tmp_path
    )

    assert label in outcome.label and bool(outcome.finding) == (label in ("other bits", "failed"))


def test_a_fork_is_killed():
    assert os.WTERMSIG(kills.forked(signal.pause, 0.0)) == signal.SIGKILL


def test_a_case_is_killed_and_resumed(tmp_path):
    outcome = kills.killed(partial(kills.run, "fixed steps"), "it", 1, np.random.default_rng(0), tmp_path)

    assert not outcome.finding, outcome.finding
