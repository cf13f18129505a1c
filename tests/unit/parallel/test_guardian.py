"""The guardian of ranks, with sleeping processes for ranks: it needs no MPI."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from closedchain.parallel import guarded, guardian

LIMIT = 60  # s; a guardian that hangs fails


class Watched:
    """Three processes that sleep, and their guardian."""

    def __init__(self, patience=3600.0, saved="results/long", children=3):
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the others
        self.file.write(bytes(8 * guarded.WIDTH * children))
        self.file.flush()
        self.notes = np.memmap(self.file, float, "r+", shape=(children, guarded.WIDTH))
        sleep = "import sys, time; time.sleep(3600)"
        self.ranks = [subprocess.Popen([sys.executable, "-S", "-c", sleep]) for _ in range(children)]
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", guardian.__file__],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=(self.file.fileno(),),
        )  # fmt: skip
        limbs = [["leg1"], ["leg2", "leg3"], ["leg4"]]
        self.tell(
            ranks=[{"rank": r, "pid": p.pid, "limbs": limbs[r]} for r, p in enumerate(self.ranks)],
            host="", saved=saved, patience=patience, grace=0.1, notes=self.file.fileno(),
            width=guarded.WIDTH, places=guarded.PLACES,
        )  # fmt: skip
        assert self.process.stdout.read() == b""  # closed when it is ready

    def tell(self, **what):
        self.process.stdin.write(json.dumps(what).encode() + b"\n")
        self.process.stdin.flush()

    def said(self):
        """All that it says until it ends, which it does by itself."""
        return self.process.communicate(timeout=LIMIT)[1].decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (*self.ranks, self.process):
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()
        self.file.close()


def test_it_says_who_died_how_and_when_and_ends_the_others():
    with Watched() as team:
        team.notes[:, guarded.PLACES["time"][0]] = 1.25, 1.5, 1.25
        team.ranks[1].kill()
        said = team.said()
        assert said.strip() == (
            "closedchain: rank 1 (limbs leg2, leg3) died (signal 9, SIGKILL) at t = 1.5 s. All ranks have been ended; "
            "what was saved is in 'results/long', the same command goes on."
        )
        assert [p.wait(timeout=LIMIT) for p in team.ranks] == [-signal.SIGKILL] * 3


def test_of_many_deaths_it_tells_the_first(rng):
    """All are dead before it looks: what happened first is first in its list."""
    for first in rng.permutation(3):
        with Watched(saved="") as team:
            os.kill(team.process.pid, signal.SIGSTOP)
            for k in (first, *(set(range(3)) - {first})):
                team.ranks[k].kill()
                team.ranks[k].wait()
            os.kill(team.process.pid, signal.SIGCONT)
            said = team.said()
            assert f"rank {first} (" in said and said.count("closedchain") == 1 and "nothing was saved" in said


def test_it_is_silent_when_a_run_ends_or_a_rank_has_spoken():
    with Watched() as team:
        team.tell(over=True)
        assert team.said() == "" and team.process.returncode == 0
        assert [p.poll() for p in team.ranks] == [None] * 3  # nobody is ended
    with Watched() as team:
        team.notes[2, guarded.SPOKEN] = 1.0
        for rank in team.ranks:
            rank.kill()
        assert team.said() == ""


def test_a_rank_that_stands_still_is_named_and_all_are_ended():
    with Watched(patience=0.4) as team:
        team.ranks[2].send_signal(signal.SIGSTOP)
        team.notes[:2, guarded.PLACES["talking"][0]] = 1.0  # two wait for the third
        time.sleep(0.8)
        assert team.process.poll() is None  # as long as nobody marches, nothing has to move
        team.notes[:, guarded.MARCHING] = 1.0
        for _ in range(8):
            team.notes[0, 0] += 1.0
            time.sleep(0.1)
        assert team.process.poll() is None  # it moves
        said = team.said()
        assert "nothing has moved for 0.4 s: rank 2 (limb leg4) stands still (it has been stopped by a signal)" in said
        assert "rank 0" not in said and "rank 1" not in said
        assert [p.wait(timeout=LIMIT) for p in team.ranks] == [-signal.SIGKILL] * 3


def test_a_machine_that_was_put_to_sleep_has_not_stood_still():
    """It sleeps for longer than the guardian's patience; afterwards the guardian may be the first to wake up."""
    with Watched(patience=0.8) as team:
        team.notes[:, guarded.MARCHING] = 1.0
        time.sleep(0.3)  # it has seen that
        os.kill(team.process.pid, signal.SIGSTOP)
        time.sleep(1.0)
        os.kill(team.process.pid, signal.SIGCONT)
        time.sleep(0.1)
        team.tell(over=True)
        assert team.said() == ""


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (None, "died"),
        (signal.SIGSEGV, "died (signal 11, SIGSEGV)"),
        (3 << 8, "left with exit code 3 in the middle of the run"),
    ],
)
def test_causes(code, said):
    assert guardian._cause(code) == said


def test_it_needs_the_standard_library_only():
    """It runs without our package, and without site-packages: quickly."""
    text = Path(guardian.__file__).read_text()
    imported = {line.split()[1].split(".")[0] for line in text.splitlines() if line.startswith(("import ", "from "))}
    assert imported <= set(sys.stdlib_module_names)
