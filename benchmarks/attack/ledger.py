"""The ledger of all attacks: how many cases of each kind, how they ended, and what was found.

One JSON file. Counts add up over calls and seeds; a call with the same seed goes on behind the last case it counted.
Several workers may share a ledger: a case is taken before it runs, and counted when it has ended. A finding is open
until its cases end well when they are run again; then it is mended, and stays in the ledger as such.
"""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

from benchmarks.attack.kinds import KINDS
from benchmarks.attack.outcome import Outcome

FORMAT = 1
MOST_PLACES = 20  # cases of one finding that are written down


class Ledger:
    """Counts and findings, written to disk after every case."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data: dict[str, Any] = {"format": FORMAT, "kinds": {}, "findings": [], "mended": []}
        self._lock = threading.Lock()
        self._running: set[tuple[str, int, int]] = set()
        if path.exists():
            self.data |= json.loads(path.read_text(encoding="utf-8"))
            if self.data.get("format") != FORMAT:
                raise SystemExit(
                    f"{path} is a ledger of format {self.data.get('format')}, not {FORMAT}: take another file"
                )

    def kind(self, name: str) -> dict[str, Any]:
        """The counts of a kind of attack."""
        return self.data["kinds"].setdefault(
            name, {"cases": 0, "findings": 0, "seconds": 0.0, "labels": {}, "largest": {}, "next": {}}
        )

    def next(self, name: str, seed: int) -> int:
        """Number of the first case that was not counted yet."""
        return self.kind(name)["next"].get(str(seed), 0)

    def take(self, name: str, seed: int) -> int:
        """Take the next case of a kind; `add` counts it."""
        with self._lock:
            number = self.next(name, seed)
            while self._done(name, seed, number) or (name, seed, number) in self._running:
                number += 1
            self._running.add((name, seed, number))
            return number

    def _done(self, name: str, seed: int, number: int) -> bool:
        """Whether a case was counted, although one before it was not."""
        return number in self.kind(name).get("ahead", {}).get(str(seed), [])

    def add(self, name: str, seed: int, number: int, outcome: Outcome, seconds: float) -> bool:
        """Count a case; True if it is a finding that was not there yet."""
        with self._lock:
            self._running.discard((name, seed, number))
            kind = self.kind(name)
            kind["cases"] += 1
            kind["seconds"] = round(kind["seconds"] + seconds, 3)
            kind["labels"][outcome.label] = kind["labels"].get(outcome.label, 0) + 1
            self._count(kind, str(seed), number)
            for figure, value in outcome.figures.items():
                if not value <= kind["largest"].get(figure, {"value": -1.0})["value"]:  # also if it is not a number
                    kind["largest"][figure] = {"value": value, "case": [seed, number]}
            for what, many in outcome.counts.items():
                kind.setdefault("counts", {})[what] = kind.get("counts", {}).get(what, 0) + many
            new = bool(outcome.finding) and self._note(name, [seed, number], outcome)
            kind["findings"] += bool(outcome.finding)
            self.write()
            return new

    @staticmethod
    def _count(kind: dict[str, Any], seed: str, number: int) -> None:
        """Move the number of the next case on; cases that ended before earlier ones are noted until then."""
        ahead = set(kind.setdefault("ahead", {}).get(seed, [])) | {number}
        begin = kind["next"].get(seed, 0)
        while begin in ahead:
            ahead.discard(begin)
            begin += 1
        kind["next"][seed], kind["ahead"][seed] = begin, sorted(x for x in ahead if x > begin)

    def _note(self, name: str, place: list[int], outcome: Outcome) -> bool:
        for known in self.data["findings"]:
            if (known["kind"], known["signature"]) == (name, outcome.signature):
                known["count"] += 1
                if len(known["cases"]) < MOST_PLACES:
                    known["cases"].append(place)
                return False
        self.data["findings"].append(
            {
                "kind": name,
                "version": KINDS[name].version,
                "signature": outcome.signature,
                "count": 1,
                "cases": [place],  # seed and number
                "again": f"python -m benchmarks.attack --again {name} {place[0]} {place[1]}",
                "label": outcome.label,
                "what": outcome.finding,
                "reproduce": outcome.reproduce,
            }
        )
        return True

    def settle(self, finding: dict[str, Any], outcomes: list[Outcome], at: str) -> str:
        """Move a finding whose cases all ended well to those that are mended at this commit; returns what became of it.

        A finding whose cases are made otherwise today (`kinds.Kind.version`) stays open, since its numbers are those
        of other cases: it needs its reproduction.
        """
        with self._lock:
            bad = [outcome for outcome in outcomes if outcome.finding]
            if finding.get("version", 1) != KINDS[finding["kind"]].version:
                return "made by another version of the harness: run its reproduction"
            if bad or not outcomes:
                return f"open, {len(bad)} of {len(outcomes)} cases: {bad[0].finding[:200] if bad else 'nothing noted'}"
            self.data["findings"].remove(finding)
            self.data["mended"].append(finding | {"mended": {"cases": len(outcomes), "at": at}})
            self.write()
            return f"mended, {len(outcomes)} cases end well"

    def write(self) -> None:
        """Write beside, then rename: a kill leaves the ledger of before."""
        beside = self.path.with_name(self.path.name + ".new")
        beside.write_text(json.dumps(self.data, indent=1, default=repr) + "\n", encoding="utf-8")
        os.replace(beside, self.path)
