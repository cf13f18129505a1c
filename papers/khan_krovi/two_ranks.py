"""Both methods on two processors: ranks of an MPI job where there is MPI, threads of this process otherwise.

``mpiexec -n 2 python -m papers.khan_krovi.two_ranks FOLDER`` is what a rank does; the first one writes what came of it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import closedchain as cc
from closedchain.results.run import Run
from papers.khan_krovi.runs import projection, quietly, springs

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 120  # s, of a job that takes some five: whatever hangs fails
CLOSINGS = ("everyone", "master")
METHODS = {"compliance": springs(1e4), "projection": projection(10.0)}
# the undamped springs magnify rounding: they are compared for half a second
OPTIONS = {
    "adaptive": {"solver": "dopri5", "rtol": 1e-6, "atol": 1e-6},
    "fixed": {"solver": cc.solvers.RK4(step=1e-3), "rtol": 1e-3},
}
UNTIL = {"compliance": 0.5, "projection": 2.0}
CASES = [(method, steps) for method in METHODS for steps in OPTIONS]


def run(method: str, steps: str, **options) -> Run:
    """A case, in one process or by a team."""
    return quietly(METHODS[method], until=UNTIL[method], **OPTIONS[steps], **options)


def motion(made: Run) -> np.ndarray:
    """All angles and velocities, sample by sample."""
    return np.array([made[f"{name}{mark}"].values for name in ("O", "A", "C") for mark in ("", "'")])


def differ(team) -> dict[str, float]:
    """How far teams, made by a function of the way of closing, are from one process: rad or rad/s, by case."""
    found = {}
    for method, steps in CASES:
        alone = motion(run(method, steps))
        for closing in CLOSINGS:
            together = motion(run(method, steps, partition=team(closing)))
            found[f"{method}, {steps}, {closing}"] = float(np.abs(together - alone).max())
    return found


def mpiexec() -> str | None:
    """What starts ranks, if there is all that they need."""
    if not all(find_spec(name) for name in ("mpi4py", "numba_mpi")):
        return None
    beside = Path(sys.executable).with_name("mpiexec")
    return str(beside) if beside.exists() else shutil.which("mpiexec")


@cache
def on_two() -> tuple[str, dict[str, float]]:
    """What the two processors are, and the differences from one process."""
    starter = mpiexec()
    if starter is None:
        return "threads (there is no MPI here)", differ(lambda closing: cc.Threads(2, closing=closing))
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "differences.json")
        job = [starter, "-n", "2", sys.executable, "-m", "papers.khan_krovi.two_ranks", str(answer)]
        paths = os.pathsep.join([str(ROOT), *sys.path])
        alone = os.environ | {"PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}  # a processor for each rank
        done = subprocess.run(job, capture_output=True, text=True, env=alone, cwd=ROOT, timeout=LIMIT)
        if done.returncode:
            raise RuntimeError(f"the job of two ranks failed: {done.stderr[-500:]}")
        return "ranks of an MPI job", json.loads(answer.read_text(encoding="utf-8"))


def job(answer: Path) -> None:
    """The work of one rank."""
    from mpi4py import MPI

    found = differ(lambda closing: cc.Ranks(closing=closing))
    if MPI.COMM_WORLD.rank == 0:
        answer.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    job(Path(sys.argv[1]))
