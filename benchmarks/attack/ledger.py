"""The ledger of all attacks: how many cases of each kind, how they ended, and what was found.

One JSON file. Counts add up over calls and seeds; a call with the same seed goes on behind the last case it counted.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from benchmarks.attack.outcome import Outcome

FORMAT = 1
MOST_PLACES = 20  # cases of one finding that are written down


class Ledger:
    """Counts and findings, written to disk after every case."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data: dict[str, Any] = {"format": FORMAT, "kinds": {}, "findings": []}
        if path.exists():
            self.data = json.loads(path.read_text(encoding="utf-8"))
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

    def add(self, name: str, seed: int, number: int, outcome: Outcome, seconds: float) -> bool:
        """Count a case; True if it is a finding that was not there yet."""
        kind = self.kind(name)
        kind["cases"] += 1
        kind["seconds"] = round(kind["seconds"] + seconds, 3)
        kind["labels"][outcome.label] = kind["labels"].get(outcome.label, 0) + 1
        kind["next"][str(seed)] = number + 1
        for figure, value in outcome.figures.items():
            if not value <= kind["largest"].get(figure, {"value": -1.0})["value"]:  # also if it is not a number
                kind["largest"][figure] = {"value": value, "case": [seed, number]}
        new = bool(outcome.finding) and self._note(name, [seed, number], outcome)
        kind["findings"] += bool(outcome.finding)
        self.write()
        return new

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

    def write(self) -> None:
        """Write beside, then rename: a kill leaves the ledger of before."""
        beside = self.path.with_name(self.path.name + ".new")
        beside.write_text(json.dumps(self.data, indent=1, default=repr) + "\n", encoding="utf-8")
        os.replace(beside, self.path)
