"""Limbs on several processors: what `benchmarks.distribute` measures, in one process or in a job of ranks.

``mpiexec -n 2 python -m benchmarks.teams ASKED.json FOUND.json`` measures cases on ranks, and the same without mpiexec
on threads.
"""

from __future__ import annotations

import json
import statistics
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numba
import numpy as np

import closedchain as cc
from benchmarks.families import held
from closedchain.close.formulation import Formulation
from closedchain.errors import RunWarning
from closedchain.march.program.compiled import compiled
from closedchain.native.call import call
from closedchain.native.traced.graph import Graph
from closedchain.parallel import kernels, shares, threads
from closedchain.parallel.cutting import CONTRIBUTIONS, TOTALS, Cutting, Member, X, Y
from closedchain.parallel.kernels import EXCHANGE, NOTHING, REDUCE
from closedchain.parallel.processors import start_apart
from closedchain.parallel.teams import Partition, Ranks, Threads, world
from closedchain.results.run import Run
from closedchain.testing.operations import count

NOTHING_VARIES = np.zeros(0)
SIZES = (4, 2048)  # numbers told in a meeting
METHODS: dict[str, Formulation] = {
    "OperationalSpace": cc.OperationalSpace(),
    "Projection": cc.Projection(),
    "VirtualSpring": cc.VirtualSpring(1e5, 100.0),
}


@dataclass(frozen=True)
class Case:
    """A mechanism, a formulation and a run, in words that can be sent to a job.

    Attributes
    ----------
    family
        ``"held"``, or a name in `cc.library`.
    sizes
        Arguments of the family.
    method
        A key of METHODS.
    until
        End of the run, s.
    rtol
        Tolerance of a step.
    repeats
        How often it is run.
    """

    family: str
    sizes: tuple[int, ...] = ()
    method: str = "OperationalSpace"
    until: float = 0.1
    rtol: float = 1e-8
    repeats: int = 20

    @property
    def name(self) -> str:
        """For a table."""
        sizes = f"{self.sizes[0]} arms of {self.sizes[1]} links" if self.sizes else self.family.replace("_", "-")
        return sizes if self.method == "OperationalSpace" else f"{sizes}, {self.method}"

    @property
    def formulation(self) -> Formulation:
        """How loops are closed."""
        return METHODS[self.method]

    def mechanism(self) -> cc.Mechanism:
        """The mechanism; the same one for the same case."""
        return _made(self.family, tuple(self.sizes))


@cache
def _made(family: str, sizes: tuple[int, ...]) -> cc.Mechanism:
    return held(*sizes) if family == "held" else getattr(cc.library, family)()


@dataclass(frozen=True)
class Work:
    """What a member does in one evaluation of a function, exactly.

    Attributes
    ----------
    operations
        Of each step.
    then
        What follows each step: EXCHANGE, REDUCE or nothing.
    messages, bytes
        Sent to neighbours after each step, or put into a reduction.
    """

    operations: tuple[int, ...]
    then: tuple[int, ...]
    messages: tuple[int, ...]
    bytes: tuple[int, ...]


def work_of(member: Member) -> Work:
    """Count what a member does."""
    sent = [[p.length for p in parcels if p.sender == member.number] for parcels in member.parcels]
    reduced = [step.received[1] if step.then == REDUCE else 0 for step in member.steps]
    return Work(
        tuple(step.operations.total for step in member.steps),
        tuple(step.then for step in member.steps),
        tuple(len(parcels) for parcels in sent),
        tuple(8 * (sum(parcels) + n) for parcels, n in zip(sent, reduced, strict=True)),
    )


@dataclass(frozen=True)
class Plan:
    """A mechanism cut for a team: operations in one process, and what each member does.

    Attributes
    ----------
    alone
        Operations of the right-hand side and of the correction in one process.
    rhs, correct
        By member.
    limbs
        How many each member has, the free body of `held` not counted.
    """

    alone: tuple[int, int]
    rhs: tuple[Work, ...]
    correct: tuple[Work, ...]
    limbs: tuple[int, ...]

    def longer(self, shorter: Plan, one_more: Plan, links: float) -> Plan:
        """The same with more links in each arm, by the difference of two plans for one limb each.

        Counts of `held` are straight lines in the links from 11 on.
        """
        times = links * sum(self.limbs) / sum(shorter.limbs)
        rhs, correct = (
            round(n + times * (y - x)) for n, x, y in zip(self.alone, shorter.alone, one_more.alone, strict=True)
        )
        if len(self.rhs) == 1:  # no steps, since there is nobody to meet
            return Plan((rhs, correct), (whole(rhs),), (whole(correct),), self.limbs)

        def works(mine: Sequence[Work], a: Sequence[Work], b: Sequence[Work]) -> tuple[Work, ...]:
            return tuple(_more(work, a[-1], b[-1], links * arms) for work, arms in zip(mine, self.limbs, strict=True))

        return Plan(
            (rhs, correct),
            works(self.rhs, shorter.rhs, one_more.rhs),
            works(self.correct, shorter.correct, one_more.correct),
            self.limbs,
        )


def whole(operations: int) -> Work:
    """Of one who is alone."""
    return Work((operations,), (NOTHING,), (0,), (0,))


def _more(work: Work, a: Work, b: Work, times: float) -> Work:
    operations = [
        round(n + times * (y - x)) for n, x, y in zip(work.operations, a.operations, b.operations, strict=True)
    ]
    return replace(work, operations=tuple(operations))


def plan(case: Case, members: int) -> Plan:
    """Cut a case; nothing is compiled."""
    program = compiled(case.mechanism().assemble(), case.formulation, native=False)
    parts = Threads(members).cut(program)
    correct = () if parts.correct is None else tuple(work_of(member) for member in parts.correct.members)
    limbs = [0] * members
    for name, member in zip(parts.names, parts.member_of, strict=True):
        limbs[member] += name != "body"
    return Plan(alone(case), tuple(work_of(member) for member in parts.rhs.members), correct, tuple(limbs))


@cache
def alone(case: Case) -> tuple[int, int]:
    """Operations of the right-hand side and of the correction in one process."""
    program = compiled(case.mechanism().assemble(), case.formulation, native=False)
    e, closed = program.equations, program.closed
    inputs = {"t": e.limbs.t, "x": closed.x, "p": ca.vertcat(e.limbs.p, closed.parameters)}
    rhs = count(inputs, {"dx": closed.dx}, "p")[0].total
    if closed.correction is None:
        return rhs, 0
    return rhs, count(inputs, closed.correction._asdict(), "p")[0].total


# ---- runs -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """Runs of a case in one process and by a team, by turns; times are in seconds, of marches in compiled code.

    Attributes
    ----------
    alone, together
        Of each repeat.
    steps, evaluations, corrections, gatherings
        Of a run.
    computing, waiting
        Of each member, in the fastest run.
    messages, bytes
        Sent by each member in a run.
    difference
        Largest one of an entry of the state at the end, between the two.
    evaluation
        Seconds of one right-hand side, in one process and by the team: the fastest of short batches. Others may have
        the processors in a march, but not in all batches.
    """

    case: Case
    kind: str
    members: int
    alone: tuple[float, ...]
    together: tuple[float, ...]
    steps: int
    evaluations: int
    corrections: int
    gatherings: int
    computing: tuple[float, ...]
    waiting: tuple[float, ...]
    messages: tuple[int, ...]
    bytes: tuple[int, ...]
    difference: float
    evaluation: tuple[float, float]

    @property
    def calls(self) -> int:
        """Of right-hand sides and corrections."""
        return self.evaluations + self.corrections

    @property
    def efficiency(self) -> float:
        """Fastest run in one process, by that of the team times its members."""
        return min(self.alone) / (self.members * min(self.together))

    @property
    def usual_efficiency(self) -> float:
        """The same of medians."""
        return statistics.median(self.alone) / (self.members * statistics.median(self.together))

    @property
    def rhs_efficiency(self) -> float:
        """The same of right-hand sides in short batches."""
        return self.evaluation[0] / (self.members * self.evaluation[1])

    @property
    def communication(self) -> float:
        """Share of a march that the member that waited least was waiting: what waiting for slower ones is not."""
        return min(self.waiting) / min(self.together)


def measure(case: Case, team: Partition) -> Measured:
    """Run a case in one process and by a team, by turns."""
    m = case.mechanism()
    start = m.assemble()
    options: dict[str, Any] = {"method": case.formulation, "until": case.until, "rtol": case.rtol}
    options["t_eval"] = np.array([0.0, case.until])  # a correction for each sample would be a run of its own kind
    one_process, together, best = [], [], None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)
        for _ in range(case.repeats + 1):
            if team.leads:
                one = cc.simulate(m, start, **options)
                one_process.append(marched(one))
            quietly(team)
            run = cc.simulate(m, start, partition=team, **options)
            together.append(marched(run))
            if best is None or together[-1] <= min(together[1:], default=np.inf):
                best = run
    assert best is not None
    account, told = best.partition, best.task.team.told
    ends = [run.segments[-1].trajectory.x[-1] for run in ([one, best] if one_process else [best, best])]
    return Measured(
        case,
        account.kind,
        len(account.members),
        tuple(one_process[1:]),  # the first runs compile
        tuple(together[1:]),
        best.counts.steps,
        best.counts.evaluations,
        best.counts.corrections,
        int(told[0][kernels.GATHERINGS]),
        tuple(member.computing for member in account.members),
        tuple(member.waiting for member in account.members),
        tuple(member.messages for member in account.members),
        tuple(member.bytes for member in account.members),
        float(np.abs(ends[0] - ends[1]).max()),
        evaluations(best, team, 50 * case.repeats),
    )


def marched(run: Run) -> float:
    """Seconds in compiled code, meetings included: the same for one process and for a team, threads begun or not."""
    return sum(piece.trajectory.seconds for piece in run.segments)


def evaluations(run: Run, team: Partition, batches: int, length: int = 20) -> tuple[float, float]:
    """Seconds of a right-hand side at the start of a run, in one process and by a team."""
    piece = run.segments[0]
    program, x, clock = piece.program, piece.trajectory.x[0], np.zeros(1)
    p = np.atleast_2d(piece.p)[0]
    alone = np.inf
    if team.leads:
        dx, w = np.zeros_like(x), program.rhs.prepare(p)
        for _ in range(batches):
            begun = time.perf_counter()
            _often(program.rhs.address, clock, x, w, dx, length)
            alone = min(alone, time.perf_counter() - begun)
    quietly(team)
    cutting = team.cut(program).rhs

    everything = np.concatenate([p, program.numbers])

    def batch(work: shares.Work) -> Callable[[], object]:
        mine = x[list(cutting.members[work.share.numbers[kernels.ME]].x)]
        dx, w = np.zeros_like(mine), work.prepare(everything)
        return lambda: _often(work.rhs.address, clock, mine, w, dx, length)

    return alone / length, _fastest(team, cutting, batch, batches, everything) / length


def quietly(team: Partition) -> None:
    """Wait for the others without taking their processor."""
    if isinstance(team, Ranks):
        request = world().Ibarrier()
        while not request.Test():
            time.sleep(5e-4)


# ---- meetings --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Meetings:
    """What it costs to meet: seconds of one meeting, and more for each byte.

    Attributes
    ----------
    exchange, reduction
        ``(a, 1 / b)``: latency, and seconds a byte.
    gathering
        Of an agreement on a step.
    """

    kind: str
    members: int
    exchange: tuple[float, float]
    reduction: tuple[float, float]
    gathering: float


@numba.njit(nogil=True)
def _often(address, clock, x, w, y, n):  # type: ignore[no-untyped-def]
    for _ in range(n):
        call(address, clock, x, w, y)


@numba.njit(nogil=True)
def _agree(address, values, n):  # type: ignore[no-untyped-def]
    for _ in range(n):
        call(address, values)


def swap(members: int, n: int) -> Cutting:
    """No arithmetic: each member is told n numbers by the next one."""
    graph = Graph()
    values = [graph.input(X, i) for i in range(members * n)]
    graph.outputs = [(Y, i, values[(i + n) % len(values)]) for i in range(len(values))]
    mine = [range(r * n, (r + 1) * n) for r in range(members)]
    return Cutting(graph, [i // n for i in range(len(values))], mine)


def total(members: int, n: int) -> Cutting:
    """No arithmetic but sums of n numbers over all members."""
    graph = Graph()
    values = [graph.input(X, i) for i in range(members * n)]
    sums = [graph.input(TOTALS, i) for i in range(n)]
    graph.outputs = [(Y, i, sums[i % n]) for i in range(len(values))]
    graph.outputs += [(CONTRIBUTIONS, i, k) for i, k in enumerate(values)]
    mine = [range(r * n, (r + 1) * n) for r in range(members)]
    return Cutting(graph, [i // n for i in range(len(values))], mine, range(members), n)


def meetings(team: Partition, sizes: Sequence[int] = SIZES, batches: int = 100, length: int = 50) -> Meetings:
    """Measure meetings by the very code that runs go through; the fastest of many batches."""

    def seconds(cutting: Cutting, gathers: bool = False) -> float:
        def batch(work: shares.Work) -> Callable[[], object]:
            x = np.ones(len(work.cutting.members[work.share.numbers[kernels.ME]].x))
            clock, y, w, few = np.zeros(1), np.zeros_like(x), work.prepare(NOTHING_VARIES), np.zeros(4)
            if gathers:
                return lambda: _agree(work.together.address, few, length)
            return lambda: _often(work.rhs.address, clock, x, w, y, length)

        return _fastest(team, cutting, batch, batches) / length

    lines = []
    for kind in (swap, total):
        spent = [seconds(kind(team.members, n)) for n in sizes]
        slope = max(0.0, (spent[-1] - spent[0]) / (8.0 * (sizes[-1] - sizes[0])))
        lines.append((max(0.0, spent[0] - 8 * sizes[0] * slope), slope))
    return Meetings(team.kind, team.members, *lines, seconds(swap(team.members, 1), gathers=True))


def _fastest(
    team: Partition,
    cutting: Cutting,
    batch: Callable[[shares.Work], Callable[[], object]],
    batches: int,
    p: np.ndarray = NOTHING_VARIES,
) -> float:
    """Seconds of the fastest batch, as the first member sees it."""

    def often(action: Callable[[], object], meet: Callable[[], object]) -> float:
        times = []
        for _ in range(batches):
            meet()
            begun = time.perf_counter()
            action()
            times.append(time.perf_counter() - begun)
        return min(times)

    if isinstance(team, Ranks):
        from closedchain.parallel import ranks

        nobody = (np.zeros((0, 8), np.int64), np.zeros((0, 2, 0)))
        work = shares.make_work("batch", cutting, world().rank, p.size, ranks.talk(world()), nobody)
        return often(batch(work), world().Barrier)
    n = team.members
    meeting = (np.zeros((n, 8), np.int64), np.zeros((n, 2, shares.widest(cutting))))
    works = [shares.make_work("batch", cutting, r, p.size, threads.talk(), meeting) for r in range(n)]
    barrier, times = threading.Barrier(n), [0.0] * n

    def go(r: int) -> None:
        times[r] = often(batch(works[r]), barrier.wait)

    crew = [threading.Thread(target=go, args=(r,), daemon=True) for r in range(n)]
    start_apart(crew)
    for thread in crew:
        thread.join()
    return times[0]


# ---- the model ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Model:
    """Seconds from counts: of operations, and of meetings of two members.

    Steps of all members begin together: a step takes as long as its slowest member. A reduction and a gathering of m
    members are those of two, one after another ``ceil(log2 m)`` times (recursive doubling). The messages that a member
    sends in an exchange follow each other.
    """

    per_operation: float
    meetings: Meetings

    def call(self, works: Sequence[Work]) -> tuple[float, float]:
        """Seconds that one evaluation of a function takes: computing, and meeting."""
        rounds = int(np.ceil(np.log2(len(works)))) if len(works) > 1 else 0
        computing, meeting = 0.0, 0.0
        for i, then in enumerate(works[0].then):
            computing += self.per_operation * max(work.operations[i] for work in works)
            most = max(work.bytes[i] for work in works)
            if then == EXCHANGE and len(works) > 1:
                a, per_byte = self.meetings.exchange
                meeting += a * max(1, *(work.messages[i] for work in works)) + per_byte * most
            elif then == REDUCE:
                a, per_byte = self.meetings.reduction
                meeting += rounds * (a + per_byte * most)
        return computing, meeting

    def march(self, counts: Measured, made: Plan) -> tuple[float, float]:
        """Seconds of a march of so many evaluations, corrections and agreements: computing, and meeting."""
        rounds = int(np.ceil(np.log2(len(made.rhs)))) if len(made.rhs) > 1 else 0
        rhs, correct = self.call(made.rhs), self.call(made.correct) if made.correct else (0.0, 0.0)
        n, k = counts.evaluations, counts.corrections
        agreements = counts.gatherings * rounds * self.meetings.gathering
        return n * rhs[0] + k * correct[0], n * rhs[1] + k * correct[1] + agreements


def model_of(measured: Measured, made: Plan, known: Meetings) -> Model:
    """With the seconds an operation that the run in one process took, the integrator's own work included."""
    operations = measured.evaluations * made.alone[0] + measured.corrections * made.alone[1]
    return Model(min(measured.alone) / operations, known)


# ---- jobs -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """What a job, or this process with threads, has found."""

    meetings: Meetings
    runs: tuple[Measured, ...]


def find(team: Partition, cases: Sequence[Case], sizes: Sequence[int] = SIZES, batches: int = 100) -> Found:
    """Measure meetings and cases."""
    return Found(meetings(team, sizes, batches), tuple(measure(case, team) for case in cases))


def job(asked: Path, answer: Path) -> None:
    """The work of one rank, or of a process with threads; the first rank writes what was found."""
    words = json.loads(asked.read_text(encoding="utf-8"))
    team = Threads(words["threads"]) if words["threads"] else Ranks()
    found = find(team, [Case(**_tuples(case)) for case in words["cases"]])
    if team.leads:
        answer.write_text(json.dumps(asdict(found)), encoding="utf-8")


def read(text: str) -> Found:
    """What a job wrote."""
    found = json.loads(text)
    runs = [Measured(**{**_tuples(run), "case": Case(**_tuples(run["case"]))}) for run in found["runs"]]
    return Found(Meetings(**_tuples(found["meetings"])), tuple(runs))


def _tuples(given: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}


if __name__ == "__main__":
    job(Path(sys.argv[1]), Path(sys.argv[2]))
