"""Studies that are killed again and again: ``python -m tests.invariants.killed_sweeps CASE KILLS SEED FOLDER``.

Each attempt is a child process of its own that goes on with the study and is killed with SIGKILL at a random moment.
What the last one, which is let go, comes to is compared with a study that nobody disturbed, bit by bit.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np

import closedchain as cc
from closedchain.studies import sweep as home
from tests.invariants.killed import killed


def reach(run):
    """A measure that needs the whole run."""
    return float(run["O"].max())


@cache
def drawn():
    """The mechanism, drawn and compiled once: children find it ready."""
    return cc.library.four_bar()


VARIED = {
    "crank.length": np.linspace(0.9, 1.1, 12),
    "coupler.length": np.linspace(3.6, 6.4, 8),
}  # the longest do not fit
CASES = {
    "batch": {"parameters": VARIED, "until": 0.1, "t_eval": cc.Every(0.01)},
    "pool": {
        "parameters": {"O.motor": np.linspace(5.0, 7.0, 32)},
        "until": 0.02,
        "t_eval": cc.Every(0.01),
        "measure": {"reach": reach},
        "executor": 2,
    },
}


def march(case, folder, **options):
    """The study of a case, in a folder."""
    home.BLOCK, home.IN_A_JOB = 8, {"simulate": 2, "batch": 4}  # small pieces, so that there is much to interrupt
    return cc.sweep(drawn(), save=folder, **(CASES[case] | options))


def different(case, executor, folder):
    """Names of what is different with other workers."""
    wanted = numbers(march(case, Path(folder) / "here", executor=None))
    got = numbers(march(case, Path(folder) / "there", executor=executor))
    return [name for name in wanted if wanted[name] != got.get(name)]


def numbers(found):
    """All that a study says, as bytes by name."""
    out = {}
    for name, array in found.variables.items():
        values = array.values
        out[str(name)] = repr(values.tolist()).encode() if values.dtype.kind in "OUT" else values.tobytes()
    return out


def progress(folder):
    """What a study has on disk: blocks, and points of others."""
    lines, sizes = 0, []
    with contextlib.suppress(FileNotFoundError):  # there are no blocks yet
        lines = (folder / "done.txt").read_bytes().count(b"\n")
    with contextlib.suppress(FileNotFoundError):  # there are no points, or the last one became a block just now
        for path in sorted((folder / "partial").iterdir()):
            with contextlib.suppress(FileNotFoundError):
                sizes.append(path.stat().st_size)
    return lines, sizes


def wait_for(folder, child, changes):
    """Until something new has been on disk so many times; or the child has ended."""
    before = progress(folder)
    while changes and os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        now = progress(folder)
        changes -= now != before
        before = now
        time.sleep(0.001)


def main(case, kills, seed, folder):
    """Kill a study so often; tells how often that happened, how far it had come, and whether the result is the same."""
    folder = Path(folder)
    undisturbed = march(case, folder / "undisturbed")  # all is loaded and compiled now
    dice = random.Random(seed)
    places, again = [], 0

    def wait(child):
        wait_for(folder / "killed", child, dice.randrange(4))
        time.sleep(dice.uniform(0.0, 0.02))

    while len(places) < kills:
        if killed(lambda: march(case, folder / "killed"), wait):
            places.append(str(progress(folder / "killed")))
        else:  # it had finished: begin anew
            again += 1
            shutil.rmtree(folder / "killed")
    resumed = march(case, folder / "killed")
    wanted, got = numbers(undisturbed), numbers(resumed)
    return {
        "killed": len(places),
        "distinct_places": len(set(places)),
        "again": again,
        "different": [name for name in wanted if wanted[name] != got.get(name)],
        "variables": len(wanted),
        "status": sorted(set(undisturbed["status"].values.ravel().tolist())),
        "engine": undisturbed.attrs["engine"],
    }


if __name__ == "__main__":
    case, kills, seed, folder = sys.argv[1:]
    print(json.dumps(main(case, int(kills), int(seed), folder)))
