"""``python -m benchmarks.attack --minutes N --seed S``: attack the library until the time is over.

Counts add up in a JSON file over calls and seeds; the same call goes on where the last one ended. Exit code 1 if the
ledger holds findings.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from pathlib import Path

import closedchain as cc
from benchmarks.attack.kinds import KINDS, run_case
from benchmarks.attack.ledger import Ledger
from benchmarks.attack.worker import Worker
from closedchain.march.solvers import SOLVERS


def main(given: list[str] | None = None) -> int:
    """Run the attacks; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attack", description="Attack the library.")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long; default 10")
    parser.add_argument("--seed", type=int, default=0, help="where the random numbers come from; default 0")
    parser.add_argument("--kinds", default=",".join(KINDS), help=f"which of {', '.join(KINDS)}; default all")
    parser.add_argument("--cases", type=int, default=None, help="stop after so many cases of each kind")
    parser.add_argument("--ledger", type=Path, default=Path("out/attack.json"), help="default out/attack.json")
    parser.add_argument("--again", nargs=3, metavar=("KIND", "SEED", "NUMBER"), help="run one case here, and show it")
    parser.add_argument("--summary", action="store_true", help="show the ledger, and stop")
    wanted = parser.parse_args(given)
    kinds = wanted.kinds.split(",")
    unknown = set(kinds) - set(KINDS)
    if unknown:
        parser.error(f"no kind {', '.join(sorted(unknown))}; there are: {', '.join(KINDS)}")
    if wanted.again:
        outcome = run_case(wanted.again[0], int(wanted.again[1]), int(wanted.again[2]))
        print(f"{outcome.label}\n{outcome.finding}\n{outcome.figures or ''}")
        print(outcome.reproduce if isinstance(outcome.reproduce, str) else json.dumps(outcome.reproduce, indent=1))
        return bool(outcome.finding)
    wanted.ledger.parent.mkdir(parents=True, exist_ok=True)
    ledger = Ledger(wanted.ledger)
    if not wanted.summary:
        march(ledger, kinds, wanted.minutes, wanted.seed, wanted.cases)
    show(ledger)
    return bool(ledger.data["findings"])


def warm_up() -> None:
    """Let Numba compile the solvers, which is no part of a case's budget."""
    for solver in SOLVERS.values():
        solver.load()
    cc.simulate(cc.library.four_bar(), until=0.01)


def march(ledger: Ledger, kinds: list[str], minutes: float, seed: int, most: int | None) -> None:
    """Case after case, of the kind that has had the least of its share in this call."""
    warm_up()
    spent, done = dict.fromkeys(kinds, 0.0), dict.fromkeys(kinds, 0)
    ends = time.monotonic() + 60 * minutes
    with Worker() as worker, contextlib.suppress(KeyboardInterrupt):  # the ledger is complete after every case
        while time.monotonic() < ends:
            open_ = [kind for kind in kinds if most is None or done[kind] < most]
            if not open_:
                break
            kind = min(open_, key=lambda name: spent[name] / KINDS[name].share)
            number, begin = ledger.next(kind, seed), time.monotonic()
            outcome = worker.run(kind, seed, number)
            seconds = time.monotonic() - begin
            spent[kind] += seconds
            done[kind] += 1
            if ledger.add(kind, seed, number, outcome, seconds):
                print(f"{kind} {seed} {number}: {outcome.label}: {outcome.finding[:300]}", flush=True)


def show(ledger: Ledger) -> None:
    """The counts, and the findings in a line each."""
    for name, kind in ledger.data["kinds"].items():
        labels = ", ".join(f"{label} {n}" for label, n in sorted(kind["labels"].items(), key=lambda x: -x[1]))
        print(
            f"{name}: {kind['cases']} cases in {kind['seconds'] / 60:.1f} min, {kind['findings']} findings ({labels})"
        )
        for figure, largest in kind["largest"].items():
            print(f"    largest {figure}: {largest['value']:.3g} in case {largest['case']}")
    for known in ledger.data["findings"]:
        print(f"{known['count']} x {known['kind']}, {known['label']}: {known['what'][:200]}\n    {known['again']}")


if __name__ == "__main__":
    raise SystemExit(main())
