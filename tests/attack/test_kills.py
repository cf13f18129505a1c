"""The judge of kills sees other bits and failures. Runs and studies are killed in ``tests/invariants``."""

import json
import subprocess

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

    assert label in kills.attack(np.random.default_rng(0)).label


def test_a_process_that_fails_is_a_finding(monkeypatch):
    answer = subprocess.CompletedProcess([], 1, "", "Traceback\nKeyError: 3\n")
    monkeypatch.setattr(kills.subprocess, "run", lambda *args, **options: answer)

    outcome = kills.attack(np.random.default_rng(0))

    assert outcome.label == "failed" and "KeyError: 3" in outcome.signature
