"""Limbs over real ranks: the answers of 1, 2, 3 and 7 of them, and how runs end when something goes wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.mpi import cases

ROOT = Path(__file__).parents[2]
LIMIT = 300  # s, of a job that takes some ten: whatever hangs fails


def job(ranks, *arguments, module="tests.mpi.job"):
    """``mpiexec`` of the wheel that is installed beside Python."""
    mpiexec = Path(sys.executable).with_name("mpiexec")
    paths = os.pathsep.join([str(ROOT), *sys.path])
    return subprocess.run(
        [str(mpiexec), "-n", str(ranks), sys.executable, "-m", module, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
        cwd=ROOT,
        timeout=LIMIT,
    )


def answer(done):
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == "", done.stderr  # nobody has anything to complain of, the guardian neither
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    """A folder with all cases as one process computes them."""
    folder = tmp_path_factory.mktemp("serial")
    np.savez(folder / "serial.npz", **{name: cases.motion(cases.run(name)) for name in cases.CASES})
    return folder


@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
def test_ranks_give_the_answer_of_one_process(ranks, serial):
    told = answer(job(ranks, "agree", serial))
    wanted = [name for name in cases.CASES if ranks in cases.team_sizes(name)]
    assert {name.rpartition(", ")[0] for name in told} == set(wanted)
    for name, got in told.items():
        assert got["difference"] <= got["tolerance"], (name, got)
        assert got["same for all ranks"], name
        assert got["metadata"] and len(got["messages"]) == ranks, got
        mechanism = cases.CASES[name.rpartition(", ")[0]][0]
        assert len(got["limbs"]) == len(set(got["limbs"])) == cases.LIMBS[mechanism]
        assert (sum(got["messages"]) > 0) == (ranks > 1), name


def test_whatever_goes_wrong_is_told_and_nothing_saved_is_lost(tmp_path):
    # a rank is killed: the one that writes
    folder = tmp_path / "killed"
    killed = job(2, "kill", folder)
    assert killed.returncode != 0
    assert killed.stderr.count("closedchain:") == 1, killed.stderr
    assert "rank 0 (limb crank) died" in killed.stderr and "at t = " in killed.stderr
    assert f"what was saved is in '{folder}', the same command goes on" in killed.stderr

    # the same command goes on, to the bits of an undisturbed run
    done = job(2, "live", folder, tmp_path / "failed")
    told = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))  # MPI may say more
    assert told["again"]["samples that were there"] > 50 and told["again"]["same"] and not told["again"]["heard"]

    # failures of all ranks: each has the same message
    errors = told["errors"]
    for name, said in errors.items():
        assert len(said) == 2 and len({x.replace("rank 1: ", "") for x in said}) == 1, (name, said)
    assert "RunError" in errors["nan"][0] and "'worn out' is nan there" in errors["nan"][0]
    assert "at t = 0.5 s" in errors["nan, adaptive"][0] and "rate of C" in errors["nan, adaptive"][0]
    assert "the controller 'push' raised ZeroDivisionError: the second rank" in errors["controller"][0]
    assert "at t = 1 s: a controller told rank 1 something else than rank 0" in errors["controllers"][0]
    assert errors["interrupt"][0] == "interrupted"
    assert "other tolerances: rtol 1e-09, atol by size on rank 0, rtol 1e-08" in errors["different"][0]
    assert "rank 1: save='run' is not the folder that the first rank writes to" in errors["folders"][0]
    assert "'pendulum' has 1 limb (arm) for 2 ranks: take 1" in errors["too many"][0]

    # and a rank that fails alone says so, once, and ends all
    assert done.returncode != 0
    assert done.stderr.count("closedchain:") == 1, done.stderr
    assert "rank 0 (limb crank) failed at t = 1" in done.stderr and "OSError: no room is left (job.py" in done.stderr
    assert (tmp_path / "failed" / "checkpoint.npz").exists()


def test_the_command_line_on_ranks():
    what = ["run", "gough-stewart", "--partition", "ranks", "--method", "operational-space", "--until", "0.1", "--json"]
    told = json.loads(job(4, *what, module="closedchain").stdout)  # one object: one rank speaks
    assert told["complete"] and told["complaints"] == [] and told["partition"]["kind"] == "rank"
    assert len(told["partition"]["members"]) == 4

    # a mistake is told once, not by each rank
    wrong = job(2, *what[:2], "--partition", "ranks", "--rtol", "-1", module="closedchain")
    assert wrong.returncode != 0 and wrong.stderr.count("rtol") == 1, wrong.stderr


DRAWN = """
import closedchain as cc
from mpi4py import MPI

mechanism = cc.library.four_bar()
if MPI.COMM_WORLD.rank == 1:
    raise OSError("this host has no such file")
"""


def test_a_rank_of_the_command_that_cannot_begin_ends_all(tmp_path):
    """The others would wait for it, and it is not the one that speaks."""
    file = tmp_path / "drawn.py"
    file.write_text(DRAWN)
    done = job(2, "run", file, "--partition", "ranks", module="closedchain")
    assert done.returncode != 0
    assert done.stderr.count("error: rank 1: ") == 1 and "OSError: this host has no such file" in done.stderr
