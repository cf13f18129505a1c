"""Runs that are killed again and again: ``python -m tests.invariants.killed_runs CASE KILLS SEED FOLDER``.

Each attempt is a child process of its own that marches on from the last checkpoint and is killed with SIGKILL at a
random moment. What the last one, which is let go, comes to is compared with a run that nobody disturbed, bit by bit.
"""

from __future__ import annotations

import json
import random
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np

import closedchain as cc
from tests.invariants.killed import killed
from tests.invariants.test_rechoosing import triple_rocker


class Integrating:
    """A controller that remembers: proportional and integral."""

    def __init__(self):
        self.sum = 0.0

    def reset(self):
        self.sum = 0.0

    def __call__(self, t, now):
        error = 4.0 - now["O'"]
        self.sum += error
        return 0.8 * error + 0.02 * self.sum


def controlled():
    """A four-bar under a controller with a memory, a square wave, and an event that is recorded."""
    m = cc.library.four_bar()
    m.motor("O", torque=cc.Sampled(Integrating(), period=0.01))
    m.motor("C", torque=lambda t: cc.math.where(t % 0.7 < 0.2, 1.0, -1.0))
    crossing = cc.Event("crossing", cc.math.sin(m.joints["O"].q), direction=1)
    return m, {"until": 40.0, "rtol": 1e-9, "events": [crossing], "t_eval": cc.Every(1e-3)}


def stiff():
    """Stiff springs, which the run goes over to an implicit solver for."""
    m = cc.library.four_bar()
    return m, {
        "until": 20.0,
        "rtol": 1e-8,
        "t_eval": cc.Every(1e-2),
        "method": cc.VirtualSpring(1e7, 6e3),
        "solver": "auto",
    }


def rechosen():
    """A triple rocker, whose independent velocity is chosen anew again and again, with a bang-bang torque."""
    m = triple_rocker()
    m.motor("O", torque=lambda t, q, v: cc.math.where(q["O"] > 1.0, -0.2, 0.2))
    return m, {"until": 60.0, "rtol": 1e-10, "t_eval": cc.Every(1e-2), "method": cc.Projection()}


CASES = {f.__name__: f for f in (controlled, stiff, rechosen)}


@cache
def drawn(case):
    """The mechanism of a case, drawn and compiled once: children find it ready."""
    return CASES[case]()


def march(case, folder):
    """The run of a case, saved in a folder every few milliseconds."""
    m, options = drawn(case)
    return cc.simulate(m, save=cc.SaveTo(folder, every=0.005), **options)


def numbers(run):
    """All that a run says, as bytes."""
    record = repr([(h.t, h.what, h.text) for h in run.record])
    outputs = run["O"].values.tobytes() + run["work"].values.tobytes() + run["O.motor"].values.tobytes()
    return [run.t.tobytes(), run.x.tobytes(), outputs, record.encode(), repr(run.counts).encode()]


def main(case, kills, seed, folder):
    """Kill a run so often; tells how often that happened, how far it had come, and whether the result is the same."""
    folder = Path(folder)
    m, options = drawn(case)
    direct = cc.simulate(m, **options)  # all is loaded and compiled now
    begin = time.perf_counter()
    undisturbed = march(case, folder / "undisturbed")
    length = time.perf_counter() - begin
    dice = random.Random(seed)
    places = []
    while len(places) < kills:
        moment = dice.uniform(0.0, 4.0 * length / kills)
        if killed(lambda: march(case, folder / "killed"), lambda _, moment=moment: time.sleep(moment)):
            files = list((folder / "killed").glob("piece*.t")) if (folder / "killed").exists() else []
            places.append(sum(p.stat().st_size // 8 for p in files))
        else:  # it had finished: begin anew
            for path in (folder / "killed").iterdir():
                path.unlink()
    resumed = march(case, folder / "killed")
    return {
        "killed": len(places),
        "distinct_places": len(set(places)),
        "samples": len(undisturbed.t),
        "same": numbers(resumed) == numbers(undisturbed),
        "same_as_unsaved": bool(np.array_equal(direct.x, undisturbed.x)),
        "pieces": len(undisturbed.segments),
    }


if __name__ == "__main__":
    case, kills, seed, folder = sys.argv[1:]
    print(json.dumps(main(case, int(kills), int(seed), folder)))
