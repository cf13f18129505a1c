"""A process that runs cases one after the other, so that a crash or a hang is a finding and not the end.

The parent (`Worker`) sends ``kind seed number`` and waits. The child gives itself a budget of processor time for each
case: when it is used up, it writes where it is and dies of SIGPROF. A case that waits for ever uses no processor, so
the parent waits for a multiple of the budget at most.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from benchmarks.attack.kinds import KINDS, run_case
from benchmarks.attack.outcome import Outcome, found

PATIENCE = 10.0  # times the budget: other processes may want the processors, too
LIFE = 200  # cases: machine code of mechanisms stays in memory
MEMORY = 6 << 30  # bytes of address space: enough for every case, and a case that takes all of it is stopped


class Worker:
    """A child process that is replaced when it dies."""

    def __init__(self) -> None:
        self.child: subprocess.Popen[bytes] | None = None
        self.cases = 0
        self.log = tempfile.NamedTemporaryFile(prefix="attack-", suffix=".log")  # noqa: SIM115  closed by `__exit__`

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *what: object) -> None:
        self.end()
        self.log.close()

    def run(self, kind: str, seed: int, number: int) -> Outcome:
        """One case in the child; its death is a finding."""
        budget = KINDS[kind].load().BUDGET
        if self.child is None or self.cases >= LIFE:
            self._begin()
        child = self.child
        assert child is not None and child.stdin is not None and child.stdout is not None
        self.cases += 1
        os.truncate(self.log.name, 0)
        child.stdin.write(f"{kind} {seed} {number}\n".encode())
        child.stdin.flush()
        ready = select.select([child.stdout], [], [], PATIENCE * budget)[0]
        line = child.stdout.readline() if ready else b""
        if line:
            return Outcome(**json.loads(line))
        self.end()
        said = Path(self.log.name).read_text(errors="replace")
        again = f"python -m benchmarks.attack --again {kind} {seed} {number}"
        lines = [x.strip() for x in said.splitlines() if "/closedchain/" in x]
        place = lines[0].rpartition("/closedchain/")[2] if lines else ""
        if not ready:
            return found("waits for ever", f"no answer after {PATIENCE * budget:g} s", again, f"waits {place}")
        code = child.returncode
        if code == -signal.SIGPROF:
            what = f"more than {budget:g} s of processor time, at {place}"
            return found("hangs", what, {"again": again, "stack": said[-3000:]}, f"hangs in {place}")
        what = f"the process died of {signal.Signals(-code).name if code < 0 else code}: {said[-500:]}"
        return found("crash", what, {"again": again, "stack": said[-3000:]}, f"crash {code} {place}")

    def _begin(self) -> None:
        self.end()
        with open(self.log.name, "ab") as log:  # which truncating empties
            self.child = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.attack.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        self.cases = 0

    def kill(self) -> None:
        """Kill the child and whatever it started; may be called by another thread than `run`, which then returns."""
        child = self.child
        if child is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)

    def end(self) -> None:
        """Kill the child, and wait for its end."""
        self.kill()
        if self.child is not None:
            self.child.communicate()  # waits, and closes the pipes
            self.child = None


def main() -> None:
    """Answer questions until there are no more."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a case prints goes to the log
    faulthandler.enable()
    faulthandler.register(signal.SIGPROF, chain=True)  # says where, then dies
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    home = os.getcwd()
    for line in sys.stdin:
        kind, seed, number = line.split()
        signal.setitimer(signal.ITIMER_PROF, KINDS[kind].load().BUDGET)
        outcome = run_case(kind, int(seed), int(number))
        signal.setitimer(signal.ITIMER_PROF, 0)
        os.chdir(home)
        print(json.dumps(asdict(outcome), default=repr), file=answers, flush=True)


if __name__ == "__main__":
    main()
