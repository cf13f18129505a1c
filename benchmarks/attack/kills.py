"""Saved runs and studies that are killed with SIGKILL at random moments: resumed, they come to the same bits.

The runs, the studies and the killing are those of ``tests/invariants``; each case is a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile

import numpy as np

from benchmarks.attack.bases import pick
from benchmarks.attack.outcome import Outcome, found

BUDGET = 100.0  # s of processor time of this process, which only waits: ten times as long by the clock
KILLS = (3, 13)
CASES = (
    ("killed_runs", "controlled"), ("killed_runs", "stiff"), ("killed_runs", "rechosen"),
    ("killed_sweeps", "batch"), ("killed_sweeps", "pool"),
)  # fmt: skip


def attack(rng: np.random.Generator) -> Outcome:
    """One run or study, killed several times."""
    module, case = pick(rng, CASES)
    kills, seed = int(rng.integers(*KILLS)), int(rng.integers(2**31))
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        words = ["-m", f"tests.invariants.{module}", case, str(kills), str(seed), folder]
        got = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    again = f"python {' '.join(words[:-1])} FOLDER"
    if got.returncode:
        return found("failed", got.stderr[-600:], again, f"{module} {case} failed: {got.stderr.splitlines()[-1:]}")
    told = json.loads(got.stdout.splitlines()[-1])
    same = told["same"] and told["same_as_unsaved"] if "same" in told else not told["different"]
    figures = {"kills of one case": float(told["killed"])}
    if not same:
        return found(
            "other bits", f"{module} {case} after {told['killed']} kills: {told}", again, f"{case}: other bits"
        )
    return Outcome(f"{case} resumed after kills", figures=figures)
