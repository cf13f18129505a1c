"""A process that watches over the ranks of one host, and says so when one of them dies or stands still.

When a rank dies, ``mpiexec`` kills all others within milliseconds: none of them can say what happened, to which limb,
or where the results are. The guardian is no rank, and can. It runs this file, with the standard library only:

    one JSON line on its standard input says whom to watch (`guarded.Guarded`), whatever follows that the run is over
    a file in memory holds what the ranks count; if nothing changes there for too long, one of them stands still

It sleeps in the kernel in between.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import mmap
import os
import select
import signal
import struct
import time
from typing import Any

STDIN, STDOUT, STDERR = range(3)
# asks what a process ended with, after it has gone (Linux 6.15; linux/pidfd.h): the size of the answer is 64 bytes
PIDFD_GET_INFO, PIDFD_INFO_EXIT, SIZE, EXIT_CODE_AT = 0xC040FF0B, 8, 64, 60
STATES = {"T": "it has been stopped by a signal", "t": "a debugger holds it", "R": "it computes without an end"}


class Guardian:
    """Watches until it is told that the run is over, or somebody dies."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.told = told  # whom to watch
        self.notes = mmap.mmap(told["notes"], 0, access=mmap.ACCESS_READ)
        self.ranks: dict[int, int] = {}  # by pidfd: place among the ranks
        # its list is in the order in which things happened, however late somebody looks at it
        self.happenings = select.epoll()
        self.happenings.register(STDIN, select.EPOLLIN)

    def begin(self) -> bool:
        """Find those to watch; whether all of them are there."""
        for place, rank in enumerate(self.told["ranks"]):
            try:
                pidfd = os.pidfd_open(rank["pid"])
            except ProcessLookupError:
                self.say(f"{self.name(place)} died at the beginning")
                self.end_all(self.told["grace"])
                return False
            self.ranks[pidfd] = place
            self.happenings.register(pidfd, select.EPOLLIN)
        self.drop(STDOUT)  # ready
        return True

    # ---- what it knows -----------------------------------------------------------------------------------------------

    def note(self, place: int, what: str) -> list[float]:
        """Numbers that a rank has left."""
        width = self.told["width"]
        return [struct.unpack_from("d", self.notes, 8 * (place * width + k))[0] for k in self.told["places"][what]]

    def name(self, place: int) -> str:
        """A rank and its limbs."""
        rank = self.told["ranks"][place]
        limbs = rank["limbs"]
        where = f" on {self.told['host']}" if self.told["host"] else ""
        return f"rank {rank['rank']}{where} ({'limb' if len(limbs) == 1 else 'limbs'} {', '.join(limbs)})"

    def reached(self) -> str:
        """How far the run has come."""
        times = [t for place in range(len(self.ranks)) for t in self.note(place, "time")]
        return f" at t = {max(times, key=abs):.6g} s" if any(times) else ""

    # ---- what it does ------------------------------------------------------------------------------------------------

    def watch(self) -> None:
        """Sleep until something happens, or nothing for too long.

        Looks are counted, not seconds: a machine that was put to sleep has not stood still.
        """
        patience = self.told["patience"]
        interval = min(patience / 8, 3600.0)
        seen, looks = b"", 0
        while True:
            happened = self.happenings.poll(interval)
            for fd, _ in happened:
                if fd != STDIN:
                    return self.mourn(fd)
                if os.read(STDIN, 1 << 16):  # the run is over
                    return None
                self.happenings.unregister(STDIN)  # the leader is about to die, which is told elsewhere
            now = self.notes[:]
            idle = not any(self.note(place, "marching")[0] for place in range(len(self.ranks)))
            if now != seen or idle:
                seen, looks = now, 0
            elif not happened:
                looks += 1
                if looks * interval >= patience:
                    return self.lose_patience()

    def mourn(self, pidfd: int) -> None:
        """A rank is dead."""
        if not any(self.note(place, "spoken")[0] for place in range(len(self.ranks))):
            place = self.ranks[pidfd]
            code = _exit_code(pidfd, self.told["ranks"][place]["pid"])
            self.say(f"{self.name(place)} {_cause(code)}{self.reached()}")
        self.end_all(self.told["grace"])

    def lose_patience(self) -> None:
        """Nothing moves."""
        behind = [p for p in self.ranks.values() if not any(self.note(p, "talking"))]
        if not behind and self.told["host"]:  # the guardian of another host knows more
            time.sleep(self.told["grace"])
        still = "; ".join(f"{self.name(p)} stands still{self.state(p)}" for p in behind) or "all ranks here wait"
        self.say(f"nothing has moved for {self.told['patience']:g} s{self.reached()}: {still}")
        self.end_all(0.0)

    def state(self, place: int) -> str:
        """What a process does."""
        with contextlib.suppress(OSError, IndexError), open(f"/proc/{self.told['ranks'][place]['pid']}/stat") as file:
            letter = file.read().rpartition(")")[2].split()[0]
            return f" ({STATES[letter]})" if letter in STATES else ""
        return ""

    def say(self, what: str) -> None:
        """One line, at once, and nothing is held open any more."""
        saved = self.told["saved"]
        kept = f"what was saved is in {saved!r}, the same command goes on" if saved else "nothing was saved (save=)"
        with contextlib.suppress(OSError):
            os.write(STDERR, f"\nclosedchain: {what}. All ranks have been ended; {kept}.\n".encode())
        self.drop(STDERR)

    def drop(self, fd: int) -> None:
        """Whoever reads there shall not wait."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), fd)

    def end_all(self, grace: float) -> None:
        """See to it that nobody is left."""
        end = time.monotonic() + grace
        left = dict(self.ranks)
        while left and time.monotonic() < end:
            for fd, _ in self.happenings.poll(max(0.0, end - time.monotonic())):
                left.pop(fd, None)
                self.happenings.unregister(fd)
        for fd in left:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(fd, signal.SIGKILL)


def _exit_code(pidfd: int, pid: int) -> int | None:
    """What a process ended with, as `os.wait` tells its parent; None where the kernel does not tell others."""
    answer = bytearray(SIZE)
    for _ in range(20):
        # as long as nobody has taken note of its death
        with contextlib.suppress(OSError, IndexError), open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
            if fields[0] == "Z":
                return int(fields[-1])
        # and afterwards
        struct.pack_into("Q", answer, 0, PIDFD_INFO_EXIT)
        with contextlib.suppress(OSError):
            fcntl.ioctl(pidfd, PIDFD_GET_INFO, answer)
            if struct.unpack_from("Q", answer)[0] & PIDFD_INFO_EXIT:
                return int(struct.unpack_from("i", answer, EXIT_CODE_AT)[0])
        time.sleep(0.001)
    return None


def _cause(code: int | None) -> str:
    if code is None:
        return "died"
    if os.WIFSIGNALED(code):
        return f"died (signal {os.WTERMSIG(code)}, {signal.Signals(os.WTERMSIG(code)).name})"
    return f"left with exit code {os.WEXITSTATUS(code)} in the middle of the run"


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # they are for the ranks
        signal.signal(number, signal.SIG_IGN)
    if line := open(STDIN, "rb", buffering=0, closefd=False).readline():  # noqa: SIM115 - empty: the leader has died
        guardian = Guardian(json.loads(line))
        if guardian.begin():
            guardian.watch()
