"""The way of a call through the house: which modules it visits, and how often it goes from one room to another.

``python -m tools.flow`` traces some verbs, each warm (called once before), and prints a table. A visit is a call of a
Python function of the package from a function in another module; a change of room is a visit from another folder.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

import closedchain as cc


class Flow:
    """Counts visits while it is a context."""

    def __init__(self) -> None:
        self.modules: Counter[str] = Counter()
        self.changes = 0

    def _look(self, frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_globals.get("__name__", "")
        if event != "call" or not name.startswith("closedchain."):
            return
        back = frame.f_back
        while back is not None and not back.f_globals.get("__name__", "").startswith("closedchain"):
            back = back.f_back
        before = "" if back is None else back.f_globals["__name__"]
        if before != name:
            self.modules[name] += 1
            self.changes += before.split(".")[1:2] != name.split(".")[1:2]

    def __enter__(self) -> Flow:
        sys.setprofile(self._look)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)


def calls() -> dict[str, Callable[[], Any]]:
    """The verbs that are traced."""
    platform, fourbar, beam = cc.library.gough_stewart(), cc.library.four_bar(), cc.library.four_bar(flexible=True)
    start, samples = platform.assemble(), np.linspace(0.0, 0.05, 6)
    return {
        "simulate, Gough-Stewart": lambda: cc.simulate(platform, start, until=0.05, t_eval=samples),
        "inverse_dynamics, four-bar": lambda: cc.inverse_dynamics(fourbar, {"O": lambda t: 1.0 + t}, until=0.5),
        "sweep, four-bar, 3 points": lambda: cc.sweep(fourbar, {"coupler.mass": [0.5, 1.0, 2.0]}, until=0.2),
        "simulate, ERLS": lambda: cc.simulate(beam, until=0.005, method=cc.ERLS(), t_eval=[0.0, 0.005]),
        "simulate, threads": lambda: cc.simulate(platform, start, until=0.05, t_eval=samples, partition=cc.Threads(2)),
    }


def main() -> None:
    """Trace, and print the table."""
    print("| call | modules visited | visits | changes of room | most visited |\n|---|---|---|---|---|")
    for name, call in calls().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()
            with Flow() as flow:
                call()
        most = ", ".join(f"`{x.removeprefix('closedchain.')}` {n}" for x, n in flow.modules.most_common(4))
        print(f"| {name} | {len(flow.modules)} | {flow.modules.total()} | {flow.changes} | {most} |")


if __name__ == "__main__":
    main()
