"""``python -m benchmarks.attack --minutes N --seed S``: attack the library until the time is over.

Counts add up in a JSON file over calls and seeds; the same call goes on where the last one ended. ``--recheck`` runs
the cases of all open findings again, and moves those that end well to the mended ones. Exit code 1 if the ledger holds
open findings.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import closedchain as cc
from benchmarks.attack.kinds import KINDS, run_case
from benchmarks.attack.ledger import Ledger
from benchmarks.attack.worker import Worker
from closedchain.integrate.solvers import SOLVERS


def main(given: list[str] | None = None) -> int:
    """Run the attacks; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attack", description="Attack the library.")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long; default 10")
    parser.add_argument("--seed", type=int, default=0, help="where the random numbers come from; default 0")
    parser.add_argument("--kinds", default=",".join(KINDS), help=f"which of {', '.join(KINDS)}; default all")
    parser.add_argument("--cases", type=int, default=None, help="stop after so many cases of each kind")
    parser.add_argument("--jobs", type=int, default=1, help="how many workers at once; default 1")
    parser.add_argument("--ledger", type=Path, default=Path("out/attack.json"), help="default out/attack.json")
    parser.add_argument("--again", nargs=3, metavar=("KIND", "SEED", "NUMBER"), help="run one case here, and show it")
    parser.add_argument("--recheck", action="store_true", help="run the cases of open findings again, and stop")
    parser.add_argument("--summary", action="store_true", help="show the ledger, and stop")
    wanted = parser.parse_args(given)
    kinds = wanted.kinds.split(",")
    unknown = set(kinds) - set(KINDS)
    if unknown:
        parser.error(f"no kind {', '.join(sorted(unknown))}; there are: {', '.join(KINDS)}")
    if wanted.jobs < 1:
        parser.error(f"--jobs must be at least 1, not {wanted.jobs}")
    if wanted.again:
        outcome = run_case(wanted.again[0], int(wanted.again[1]), int(wanted.again[2]))
        print(f"{outcome.label}\n{outcome.finding}\n{outcome.figures or ''}")
        print(outcome.reproduce if isinstance(outcome.reproduce, str) else json.dumps(outcome.reproduce, indent=1))
        return bool(outcome.finding)
    wanted.ledger.parent.mkdir(parents=True, exist_ok=True)
    ledger = Ledger(wanted.ledger)
    if wanted.recheck:
        recheck(ledger, kinds, wanted.jobs)
    elif not wanted.summary:
        march(ledger, kinds, wanted.minutes, wanted.seed, wanted.cases, wanted.jobs)
    show(ledger)
    return bool(ledger.data["findings"])


def warm_up() -> None:
    """Let Numba compile the solvers, which is no part of a case's budget."""
    for solver in SOLVERS.values():
        solver.load()
    cc.simulate(cc.library.four_bar(), until=0.01)


def march(ledger: Ledger, kinds: list[str], minutes: float, seed: int, most: int | None, jobs: int = 1) -> None:
    """Case after case, of the kind that has had the least of its share in this call."""
    warm_up()
    spent, done = dict.fromkeys(kinds, 0.0), dict.fromkeys(kinds, 0)
    ends, stop, choosing = time.monotonic() + 60 * minutes, threading.Event(), threading.Lock()
    workers = [Worker() for _ in range(jobs)]

    def work(worker: Worker) -> None:
        with worker:
            while time.monotonic() < ends and not stop.is_set():
                with choosing:
                    open_ = [kind for kind in kinds if most is None or done[kind] < most]
                    if not open_:
                        return
                    kind = min(open_, key=lambda name: spent[name] / KINDS[name].share)
                    done[kind] += 1
                    spent[kind] += 1e-3  # so that several workers do not all take the first
                    number, begin = ledger.take(kind, seed), time.monotonic()
                outcome = worker.run(kind, seed, number)
                seconds = time.monotonic() - begin
                with choosing:
                    spent[kind] += seconds
                if stop.is_set():  # its worker was killed
                    return
                if ledger.add(kind, seed, number, outcome, seconds):
                    print(f"{kind} {seed} {number}: {outcome.label}: {outcome.finding[:300]}", flush=True)

    with ThreadPoolExecutor(jobs) as pool, contextlib.suppress(KeyboardInterrupt):
        try:  # the ledger is complete after every case
            list(pool.map(work, workers))
        except BaseException:
            stop.set()
            for worker in workers:
                worker.kill()
            raise


def recheck(ledger: Ledger, kinds: list[str], jobs: int = 1) -> None:
    """Run the noted cases of the open findings again; those that end well are mended."""
    warm_up()
    at = version()

    def again(finding: dict) -> None:
        with Worker() as worker:
            outcomes = [worker.run(finding["kind"], *place) for place in finding["cases"]]
        print(f"{finding['kind']}, {finding['label']}: {ledger.settle(finding, outcomes, at)}", flush=True)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(again, [finding for finding in ledger.data["findings"] if finding["kind"] in kinds]))


def version() -> str:
    """The commit of the sources, or the version of the library where there is none."""
    words = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return cc.__version__


def show(ledger: Ledger) -> None:
    """The counts, and the findings in a line each."""
    for name, kind in ledger.data["kinds"].items():
        labels = ", ".join(f"{label} {n}" for label, n in sorted(kind["labels"].items(), key=lambda x: -x[1]))
        print(
            f"{name}: {kind['cases']} cases in {kind['seconds'] / 60:.1f} min, {kind['findings']} findings ({labels})"
        )
        for what, many in kind.get("counts", {}).items():
            print(f"    {many} {what}")
        for figure, largest in kind["largest"].items():
            print(f"    largest {figure}: {largest['value']:.3g} in case {largest['case']}")
    for known in ledger.data["findings"]:
        print(f"{known['count']} x {known['kind']}, {known['label']}: {known['what'][:200]}\n    {known['again']}")
    print(f"{len(ledger.data['findings'])} open findings, {len(ledger.data['mended'])} mended")


if __name__ == "__main__":
    raise SystemExit(main())
