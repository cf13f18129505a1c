"""Saved runs and studies that are killed with SIGKILL at random moments: resumed, they come to the same bits.

Most cases fork a process that has everything compiled, and take about a second. Some are those of ``tests/invariants``,
longer and each in a process of its own.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import closedchain as cc
from benchmarks.attack.bases import in_small_pieces, pick
from benchmarks.attack.outcome import Outcome, found
from closedchain.model.library import MECHANISMS
from tests.invariants.killed_runs import Integrating
from tests.invariants.killed_sweeps import numbers as numbers_of_study
from tests.invariants.killed_sweeps import reach
from tests.invariants.test_rechoosing import triple_rocker

BUDGET = 100.0  # s of processor time of this process, which mostly waits
LONG = 0.05  # of the cases
KILLS = (3, 13)
CASES = (
    ("killed_runs", "controlled"), ("killed_runs", "stiff"), ("killed_runs", "rechosen"),
    ("killed_sweeps", "batch"), ("killed_sweeps", "pool"),
)  # fmt: skip


def attack(rng: np.random.Generator) -> Outcome:
    """One run or study, killed several times."""
    if rng.random() < LONG:
        return long(rng)
    name = pick(rng, WORK)
    kills = int(rng.integers(1, 5))
    with tempfile.TemporaryDirectory(prefix="attack-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.RunWarning)
        return killed(partial(WORK[name], name), name, kills, rng, Path(folder))


# ---- in forks of this process ----------------------------------------------------------------------------------------


def controlled() -> tuple[cc.Mechanism, dict[str, Any]]:
    """A controller with a memory, a square wave, and an event."""
    m = cc.library.four_bar()
    m.motor("O", torque=cc.Sampled(Integrating(), period=0.01))
    m.motor("C", torque=lambda t: cc.math.where(t % 0.7 < 0.2, 1.0, -1.0))
    crossing = cc.Event("crossing", cc.math.sin(m.joints["O"].q), direction=1)
    return m, {"until": 1.0, "rtol": 1e-9, "events": [crossing], "every": 1e-2}


def rechosen() -> tuple[cc.Mechanism, dict[str, Any]]:
    """Independent velocities that are chosen anew, with a torque that jumps with the state."""
    m = triple_rocker()
    m.motor("O", torque=lambda t, q, v: cc.math.where(q["O"] > 1.0, -0.2, 0.2))
    return m, {"until": 5.0, "rtol": 1e-10, "every": 1e-2, "method": cc.Projection()}


def released() -> tuple[cc.Mechanism, dict[str, Any]]:
    """A joint that opens on the way."""
    m = cc.library.four_bar()
    release = cc.Event("release", cc.t - 0.5, then=cc.Switch(open=("B",)))
    return m, {"until": 1.0, "rtol": 1e-9, "every": 1e-3, "events": [release]}


def plain(mechanism: str, **options: Any) -> tuple[cc.Mechanism, dict[str, Any]]:
    """A mechanism of the library under some method and solver."""
    return MECHANISMS[mechanism].build(), options


RUNS: dict[str, Callable[[], tuple[cc.Mechanism, dict[str, Any]]]] = {
    "controlled": controlled,
    "rechosen": rechosen,
    "released": released,
    "stiff": partial(plain, "four-bar", until=2.0, every=1e-2, method=cc.VirtualSpring(1e7, 6e3), solver="auto"),
    "fixed steps": partial(plain, "five-bar", until=2.0, step=1e-3, solver="rk4"),
    "implicit": partial(plain, "slider-crank", until=3.0, rtol=1e-8, every=1e-2, solver="radau5"),
    "index 2": partial(plain, "four-bar", until=1.0, rtol=1e-8, every=1e-2, method=cc.GGL()),
    "index 3": partial(plain, "four-bar", until=2.0, step=1e-3, method=cc.Index3()),
    "spatial": partial(plain, "delta", until=1.0, rtol=1e-9, every=1e-3, method=cc.OperationalSpace()),
}
STUDIES: dict[str, dict[str, Any]] = {
    "batch": {
        "parameters": {"crank.length": np.linspace(0.9, 1.1, 8), "coupler.length": np.linspace(3.6, 6.4, 6)},
        "until": 0.1,
        "t_eval": cc.Every(0.01),
    },  # the longest do not fit
    "measured": {
        "parameters": {"O.motor": np.linspace(5.0, 7.0, 12)},
        "until": 0.02,
        "t_eval": cc.Every(0.01),
        "measure": {"reach": reach},
    },
}


@cache
def drawn(name: str) -> tuple[cc.Mechanism, dict[str, Any]]:
    """The mechanism of a run, drawn and compiled once: children find it ready."""
    m, options = RUNS[name]()
    cc.simulate(m, **options)
    return m, options


def run(name: str, folder: Path) -> list[bytes]:
    """A saved run, as bytes."""
    m, options = drawn(name)
    got = cc.simulate(m, save_to=folder, save_every=0.005, **options)
    record = repr([(h.t, h.what, h.text) for h in got.record])
    return [got.t.tobytes(), got.x.tobytes(), got["work"].values.tobytes(), record.encode(), repr(got.counts).encode()]


@cache
def study_drawn() -> cc.Mechanism:
    """The mechanism of all studies."""
    return cc.library.four_bar()


def study(name: str, folder: Path) -> list[bytes]:
    """A study on disk, as bytes."""
    with in_small_pieces():
        got = numbers_of_study(cc.sweep(study_drawn(), save=folder, **STUDIES[name]))
    return [got[key] for key in sorted(got)]


WORK: dict[str, Callable[[str, Path], list[bytes]]] = dict.fromkeys(RUNS, run) | dict.fromkeys(STUDIES, study)


def killed(work: Callable[[Path], list[bytes]], name: str, kills: int, rng: np.random.Generator, home: Path) -> Outcome:
    """Kill work on a folder several times; the last attempt is let go, and must come to the same bits."""
    work(home / "first")  # all is loaded and compiled now
    begin = time.perf_counter()
    wanted = work(home / "undisturbed")
    length = time.perf_counter() - begin
    moments = [float(rng.uniform(0.0, 1.2)) for _ in range(kills)]
    reproduce = f"benchmarks.attack.kills: {name!r}, killed at {moments} of its length, each time it is resumed"
    died = 0
    for moment in moments:
        status = forked(lambda: work(home / "killed"), moment * length)
        if os.WIFSIGNALED(status):
            died += 1
        elif status:
            return found("failed", f"{name} failed when it was resumed after {died} kills", reproduce, f"{name} failed")
    got = work(home / "killed")
    if got != wanted:
        return found("other bits", f"{name} after {died} kills at {moments}", reproduce, f"{name}: other bits")
    return Outcome(f"{name} resumed after kills" if died else f"{name} was too fast to kill", counts={"kills": died})


def forked(work: Callable[[], object], seconds: float) -> int:
    """Do the work in a fork that is killed after some seconds; its status."""
    child = os.fork()
    if child == 0:
        try:
            signal.setitimer(signal.ITIMER_PROF, 0)
            work()
            os._exit(0)
        finally:
            os._exit(1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)  # it is ours until it is waited for
    return os.waitpid(child, 0)[1]


# ---- in processes of their own ---------------------------------------------------------------------------------------


def long(rng: np.random.Generator) -> Outcome:
    """A long run or study of the tests."""
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
    if not same:
        return found(
            "other bits", f"{module} {case} after {told['killed']} kills: {told}", again, f"{case}: other bits"
        )
    return Outcome(f"long {case} resumed after kills", counts={"kills": told["killed"]})
