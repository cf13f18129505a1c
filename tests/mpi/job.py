"""What ranks do in the tests: ``mpiexec -n 2 python -m tests.mpi.job agree FOLDER``; the last line is JSON."""

import contextlib
import hashlib
import json
import math
import os
import signal
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import closedchain as cc
from closedchain.cli.parts import output
from closedchain.parallel.teams import Ranks, world
from closedchain.progress import reported
from tests.mpi import cases


def agree(folder):
    """Every case that has limbs for all ranks, against the serial runs in a file."""
    n, told = world().size, {}
    with np.load(Path(folder) / "serial.npz") as serial:
        for name in cases.CASES:
            if n not in cases.team_sizes(name):
                continue
            for closing in cases.closings(name, n):
                got = cases.run(name, partition=Ranks(closing=closing))
                motion = cases.motion(got)
                digests = world().allgather(hashlib.sha256(motion.tobytes()).hexdigest())
                told[f"{name}, {closing}"] = {
                    "difference": float(np.abs(motion - serial[name]).max()),
                    "tolerance": cases.CASES[name][3],
                    "same for all ranks": len(set(digests)) == 1,
                    "limbs": [limb for member in got.partition.members for limb in member.limbs],
                    "messages": [member.messages for member in got.partition.members],
                    "metadata": "partition" in got.dataset.attrs,
                }
    return told


# ---- what can go wrong -----------------------------------------------------------------------------------------------


def push(t, now):
    """A controller that meets with trouble on one rank: the first is killed, for others it is the last."""
    if t >= cases.trouble["at"] and world().rank == (0 if cases.trouble["kind"] == "kill" else world().size - 1):
        happen(cases.trouble["kind"])
    one_of_them = cases.trouble["kind"] == "disagree" and t >= cases.trouble["at"] and world().rank == 1
    return 0.5 * math.sin(3.0 * t) - 0.1 * now["O'"] + 0.1 * one_of_them


def happen(kind):
    if kind == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "raise":
        raise ZeroDivisionError("the second rank's controller has gone wrong")
    if kind == "interrupt":
        cases.trouble["at"] = math.inf
        signal.raise_signal(signal.SIGINT)


def controlled(kind="", at=math.inf, **options):
    """A four-bar whose crank is pushed by a controller: it may meet with trouble."""
    cases.trouble.update(kind=kind, at=at)
    m = cc.library.four_bar()
    m.motor("O", torque=cc.Sampled(push, period=0.05), name="pusher")
    given = {"until": 2.0, "t_eval": cc.Every(0.01), "method": cc.Projection(), "partition": Ranks()}
    return cc.simulate(m, **(given | options))


def bits(run):
    """A few digits that change with any bit of a run."""
    return hashlib.sha256(np.ascontiguousarray(cases.motion(run)).tobytes()).hexdigest()


def unprepared(t, steps):
    if t > 1.0:
        raise OSError("no room is left")


def kill(folder):
    """The first rank is killed in the middle of a saved run."""
    controlled("kill", 1.0, save=cc.SaveTo(folder, every=0.0))


def live(killed, failed):
    """What comes after: the killed run goes on, ranks fail together, and in the end one fails alone."""
    told = {"again": again(killed), "errors": errors()}
    if world().rank == 0:
        print(json.dumps(told), flush=True)
    # called on the first rank only, where nothing is prepared for it
    output.be_silent()  # as the command does
    with reported(unprepared):
        controlled(save=cc.SaveTo(failed, every=0.0))


def again(folder):
    """Go on with what was left, and make the same run undisturbed; meanwhile the script listens to everything."""
    left = np.fromfile(Path(folder) / "piece0.t")
    world().Barrier()
    ears = world().Irecv(np.empty(1000))
    same = bits(controlled(save=cc.SaveTo(folder, every=0.0))) == bits(controlled())
    heard = ears.Test()
    ears.Cancel()
    ears.Wait()
    return {"samples that were there": int((left > 0).sum()), "same": same, "heard": heard}


def stopped():
    """Ctrl-C on one rank: all of them raise it, and have what was computed."""
    try:
        controlled("interrupt", 1.0)
    except cc.Interrupted as stop:
        return str(stop.run.status.name)


def errors():
    """Failures that all ranks live to tell: a message for each."""
    return {
        "nan": failure(lambda: broken_limb(solver=cc.solvers.RK4(step=0.01))),
        "nan, adaptive": failure(lambda: broken_limb()),
        "controller": failure(lambda: controlled("raise", 1.0)),
        "controllers": failure(lambda: controlled("disagree", 1.0)),
        "interrupt": failure(stopped),
        "different": failure(lambda: controlled(rtol=1e-8 if world().rank else 1e-9)),
        "folders": failure(in_folders_of_their_own),
        "too many": failure(lambda: cc.simulate(cc.library.pendulum(), until=1.0, partition=Ranks())),
    }


def broken_limb(**options):
    """The rocker's torque is no number from half a second on."""
    m = cc.library.four_bar()
    m.motor("C", torque=cc.math.sqrt(0.5 - cc.t), name="worn out")
    return cc.simulate(m, until=1.0, method=cc.Projection(), partition=Ranks(), **options)


def in_folders_of_their_own():
    """As on hosts that share no disk."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return controlled(save="run")


def failure(attempt):
    """What each rank says."""
    try:
        said = attempt()
    except (cc.ModelError, cc.RunError) as error:
        said = f"{type(error).__name__}: {error}"
    return world().allgather(said)


if __name__ == "__main__":
    warnings.simplefilter("ignore", cc.RunWarning)
    command = {"agree": agree, "kill": kill, "live": live}[sys.argv[1]]
    told = command(*sys.argv[2:])
    if world().rank == 0:
        print(json.dumps(told, default=str), flush=True)
