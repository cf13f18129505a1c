"""An honest account of a run on several processors: who owned what, what was sent, and who waited how long."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numba
import numpy as np

from closedchain.parallel import kernels

if TYPE_CHECKING:
    from closedchain.parallel.teams import Partition


@dataclass(frozen=True)
class MemberAccount:
    """What one member did.

    Attributes
    ----------
    limbs
        That it owns.
    operations
        Of one evaluation of its part.
    evaluations
        Of rates and corrections.
    messages
        To neighbours.
    reductions, agreements
        That it took part in: sums over all limbs, and numbers that decide on a step.
    bytes
        That it gave to all of these; to a reduction or an agreement once, however MPI passes them on.
    computing, waiting
        Seconds.
    """

    limbs: tuple[str, ...]
    operations: int
    evaluations: int
    bytes: int
    messages: int
    reductions: int
    agreements: int
    computing: float
    waiting: float


@dataclass(frozen=True)
class Account:
    """What all members did.

    Attributes
    ----------
    kind
        ``"rank"`` or ``"thread"``.
    closing
        Who computes what several need.
    operations
        Of one evaluation in one process.
    members
        One for each.
    seconds
        Of the march.
    """

    kind: str
    closing: str
    operations: int
    members: tuple[MemberAccount, ...]
    seconds: float

    @property
    def alone(self) -> float:
        """What one processor would have computed, s: what all did, less what several did each for themselves.

        How much that is follows from the operations.
        """
        together = sum(m.operations for m in self.members)
        return sum(m.computing for m in self.members) * min(1.0, self.operations / max(together, 1))

    @property
    def pays(self) -> bool:
        """Whether the slowest member took less time than one processor would have."""
        return len(self.members) > 1 and max(m.computing + m.waiting for m in self.members) < self.alone

    @property
    def hint(self) -> str:
        """What to do if it did not pay; empty if it did."""
        if self.pays or len(self.members) < 2:
            return ""
        n = max(1, self.members[0].evaluations)
        computing = max(m.computing for m in self.members) / n
        waiting = max(m.waiting for m in self.members) / n
        return (
            f"{len(self.members)} {self.kind}s do not pay for limbs as small as these: a {self.kind} computes up to "
            f"{1e6 * computing:.2g} us and waits up to {1e6 * waiting:.2g} us an evaluation; one process alone would "
            f"compute for about {1e6 * self.alone / n:.2g} us"
        )

    def __str__(self) -> str:
        lines = [
            f"{self.kind} {k}: {', '.join(m.limbs)}; {m.operations} operations, {m.bytes} bytes in {m.messages} "
            f"messages, {m.reductions} reductions and {m.agreements} agreements, {m.computing:.3g} s computing, "
            f"{m.waiting:.3g} s waiting"
            for k, m in enumerate(self.members)
        ]
        return "\n".join(lines)


@numba.njit
def _cycles() -> float:
    return kernels.cycles()  # type: ignore[call-arg,no-any-return]


@cache
def clock_rate() -> float:
    """Cycles of this processor's clock in a second; infinity where compiled code cannot read it."""
    _cycles()
    begun, first = time.perf_counter(), _cycles()
    time.sleep(0.01)
    last, ended = _cycles(), time.perf_counter()
    return (last - first) / (ended - begun) or math.inf


def account(team: Partition) -> Account:
    """The account of a team's last run."""
    parts = team.parts
    assert parts is not None
    limbs = parts.limbs
    members = []
    for r, counts in enumerate(team.told or [np.zeros(kernels.COUNTS)] * len(limbs)):  # nothing was left to march
        members.append(
            MemberAccount(
                limbs[r],
                parts.rhs.members[r].operations,
                int(counts[kernels.EVALUATIONS]),
                int(counts[kernels.BYTES]),
                int(counts[kernels.MESSAGES]),
                int(counts[kernels.REDUCTIONS]),
                int(counts[kernels.GATHERINGS]),
                float(counts[kernels.COMPUTING]),
                float(counts[kernels.WAITING]),
            )
        )
    return Account(team.kind, team.closing, parts.operations, tuple(members), team.seconds)
