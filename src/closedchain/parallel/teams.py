"""`Ranks` and `Threads`: limbs of one mechanism on several processors, for ``cc.simulate(..., partition=...)``.

Each member compiles and evaluates the equations of its limbs only, and integrates their states only. Members take the
same steps: whatever decides on a step is made of numbers of all of them.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.close.formulation import Formulation
from closedchain.errors import ModelError
from closedchain.integrate.hooks import Hooks, InputsError, Snapshot
from closedchain.integrate.interrupt import check, note, noted
from closedchain.integrate.problem import Correction, Problem, Samples, Tolerances
from closedchain.integrate.solvers import Solver
from closedchain.integrate.trajectory import Status, Trajectory
from closedchain.march.piece_hooks import PieceHooks
from closedchain.march.program.compiled import Compiled
from closedchain.march.team import SOLVERS, SharedProblem, Team
from closedchain.parallel import shares
from closedchain.parallel.arrival import await_all
from closedchain.parallel.cutting import Cutting
from closedchain.parallel.processors import one_thread_of_linear_algebra, start_apart

if TYPE_CHECKING:
    from closedchain.parallel.account import Account
    from closedchain.parallel.guarded import Guarded

CLOSING = ("everyone", "master")
SAME = 1e-9  # what a controller may say differently on two ranks: hosts round sines in their own ways
CANNOT_SHARE = (
    "{} cannot be shared out by limbs: take cc.VirtualSpring, cc.ModifiedDeNOC, cc.Projection, cc.OperationalSpace, "
    "cc.DeNOC or cc.Multipliers"
)


@dataclass(frozen=True, eq=False)
class Parts:
    """How a program is cut for a team: who owns which limb, the cuts of both functions, and entries of the state.

    ``operations`` are those of one evaluation in one process, ``costs`` those of each limb's part.
    """

    names: tuple[str, ...]
    operations: int
    costs: list[int]
    member_of: list[int]
    rhs: Cutting
    correct: Cutting | None

    @property
    def limbs(self) -> list[tuple[str, ...]]:
        """Names of each member's limbs."""
        named = list(zip(self.names, self.member_of, strict=True))
        return [tuple(name for name, owner in named if owner == r) for r in range(len(self.rhs.members))]

    def entries(self, member: int) -> list[int]:
        """Entries of the state of a member."""
        return list(self.rhs.members[member].x)


@dataclass(eq=False)
class Partition(Team):
    """What teams share: limbs to members, by their costs or as given.

    Parameters
    ----------
    limbs
        A list of limbs for each member, named by one of their bodies; None: shared out by operation counts.
    closing
        ``"everyone"``: each member computes what several need of it, and sums over limbs are made by one reduction;
        ``"master"``: the first member computes that, once, and sends the others what they need (Khan and Krovi).
    """

    limbs: Sequence[Sequence[str]] | None = None
    closing: str = "everyone"
    parts: Parts | None = field(default=None, init=False, repr=False)
    told: list[np.ndarray] = field(default_factory=list, init=False, repr=False)
    seconds: float = field(default=0.0, init=False, repr=False)
    _cut: tuple[Compiled, Parts] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.closing not in CLOSING:
            raise ModelError(f"closing is {' or '.join(map(repr, CLOSING))}, not {self.closing!r}")

    @property
    def members(self) -> int:
        """How many there are."""
        raise NotImplementedError

    kind = "member"

    @property
    def leads(self) -> bool:
        """See `march.team.Team`."""
        return True

    @property
    def about(self) -> str:
        """See `march.team.Team`."""
        limbs = "" if self.limbs is None else f", limbs {[list(x) for x in self.limbs]}"
        return f"{self.members} {self.kind}s, closing {self.closing}{limbs}"

    def meet(self) -> None:
        """See `march.team.Team`."""

    def everyone(self, mine: Any) -> list[Any]:
        """See `march.team.Team`."""
        return [mine]

    def undisturbed(self) -> contextlib.AbstractContextManager[None]:
        """See `march.team.Team`."""
        return one_thread_of_linear_algebra()

    @contextlib.contextmanager
    def guarded(self, program: Compiled, saved: Path | None) -> Iterator[None]:
        """See `march.team.Team`."""
        self.parts = self.cut(program)
        yield

    def cut(self, program: Compiled) -> Parts:
        """Share out the limbs of a program."""
        if self._cut is None or self._cut[0] is not program:
            self._cut = (program, self._cut_anew(program))
        return self._cut[1]

    def _cut_anew(self, program: Compiled) -> Parts:
        top = program.equations.topology
        names = shares.limb_names(top)
        master = self.closing == "master"
        traced = shares.trace_limbs(program, master)
        moving = [name for limb, name in enumerate(names) if limb in traced.limbs]
        if self.members > len(moving):
            n = len(moving)
            raise ModelError(
                f"{top.mechanism.name!r} has {n} limb{'s' * (n > 1)} ({', '.join(moving)}) for {self.members} "
                f"{self.kind}s: take {n}{' or fewer' * (n > 1)}, or cut other joints (cut=True)"
            )
        costs = traced.costs(len(names), master)
        if self.limbs is None:
            member_of = shares.share_out(costs, self.members)
        else:
            member_of = shares.given_shares(top, self.limbs, self.members)
            for member in range(self.members):
                if not any(member_of[limb] == member for limb in traced.limbs):
                    raise ModelError(f"limbs=: member {member} has no limb that moves")
        rhs = shares.cut_for(traced, member_of, correction=False, master=master)
        correct = None if traced.correct is None else shares.cut_for(traced, member_of, correction=True, master=master)
        return Parts(names, program.rhs.counts.total, costs, member_of, rhs, correct)

    def pivot(self, program: Compiled, t: float, x: np.ndarray, p: np.ndarray) -> float:
        """See `march.team.Team`."""
        traced = shares.trace_limbs(program, self.closing == "master")
        return 1.0 if traced.pivot is None else float(traced.pivot(t, x, np.concatenate([p, program.numbers])))

    def refuse(self, method: Formulation, solver: str) -> None:
        """See `march.team.Team`."""
        if method.kind != "ode":
            raise ModelError(CANNOT_SHARE.format(type(method).__name__))
        if solver not in SOLVERS:
            raise ModelError(f"limbs on several {self.kind}s are marched by {', '.join(SOLVERS)}, not by {solver!r}")

    def refuse_options(self, program: Compiled, solver: Solver | None = None, hooks: Hooks | None = None) -> None:
        """Refuse what members cannot do together."""
        if program.closed.solved_first or program.closed.algebraic:
            raise ModelError(CANNOT_SHARE.format(type(program.method).__name__))
        for wanted, said in (
            (hooks is not None and hooks.finds_events, "events and conditions on the state"),
            (solver is not None and solver.dense_output, "dense_output"),
            (hooks is not None and hooks.handover_every, "gains that follow the steps"),
        ):
            if wanted:
                raise ModelError(f"limbs on several {self.kind}s have no {said}: leave them out, or run in one process")

    def works(
        self,
        program: Compiled,
        parts: Parts,
        member: int,
        talk: Sequence[int],
        meeting: tuple[np.ndarray, np.ndarray],
        guarded: Guarded | None = None,
    ) -> list[shares.Work]:
        """Compile a member's part of the rates and of the correction."""
        name = program.equations.topology.mechanism.name
        n_p = program.equations.limbs.p.numel() + program.closed.parameters.numel()
        cuttings = [parts.rhs, *([parts.correct] if parts.correct is not None else [])]
        return [
            shares.make_work(name, cutting, member, n_p, talk, meeting, None if guarded is None else guarded.counts(i))
            for i, cutting in enumerate(cuttings)
        ]

    def book(self, counts: list[np.ndarray], seconds: float) -> None:
        """Add up what members counted, piece after piece of a run."""
        self.told = [a + b for a, b in zip(self.told, counts, strict=True)] if self.told else list(counts)
        self.seconds += seconds

    @property
    def account(self) -> Account:
        """Who owned what, what was sent, and how long members computed and waited, in the run that was made last."""
        from closedchain.parallel.account import account

        if self.parts is None:
            raise ModelError(f"these {self.kind}s have not run yet: cc.simulate(..., partition=...)")
        return account(self)

    def fresh(self) -> Partition:
        """See `march.team.Team`."""
        new = copy(self)
        new.parts, new.told, new.seconds, new._cut = None, [], 0.0, None
        return new


@dataclass(eq=False)
class Ranks(Partition):
    """Limbs over the ranks of an MPI job: ``mpiexec -n 4 python script.py``.

    Every rank runs the same script, and every rank gets the whole run. If one dies, fails or stands still, the run ends
    with a message that names it and its limbs.

    Parameters
    ----------
    patience
        How long nothing may move, s: then a rank is taken to stand still. Ten times as long ranks wait for each other
        before a run.
    """

    patience: float = 60.0
    _guarded: Guarded | None = field(default=None, init=False, repr=False)

    kind = "rank"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.patience, int | float | np.number) or not self.patience > 0:
            raise ModelError(f"patience takes seconds, not {self.patience!r}")

    @property
    def members(self) -> int:
        """Ranks of the job."""
        return int(world().size)

    @property
    def leads(self) -> bool:
        """See `march.team.Team`."""
        return bool(world().rank == 0)

    def meet(self) -> None:
        """See `march.team.Team`."""
        world().Barrier()

    def everyone(self, mine: Any) -> list[Any]:
        """See `march.team.Team`."""
        if self._guarded is None:
            await_all(world(), float(self.patience))
        return list(world().allgather(mine))

    @contextlib.contextmanager
    def guarded(self, program: Compiled, saved: Path | None) -> Iterator[None]:
        """See `march.team.Team`."""
        from closedchain.parallel.guarded import Guarded

        self.parts = self.cut(program)
        if self.members == 1:
            yield
            return
        self._guarded = guarded = Guarded(world(), self.parts.limbs, saved, float(self.patience))
        try:
            yield
        except KeyboardInterrupt:  # all have agreed on it
            guarded.over()
            raise
        except BaseException as error:
            guarded.fail(error)
            guarded.over()
            raise
        else:
            guarded.over()
        finally:
            self._guarded = None

    def integrate(self, problem, solver, x, t_span, tolerances, samples, hooks, resume):  # type: ignore[no-untyped-def]
        """See `march.team.Team`."""
        from closedchain.parallel.ranks import talk

        program = problem.program
        self.refuse_options(program, solver, hooks)
        wanted = (problem, solver, x, t_span, tolerances, samples, hooks, resume)
        guarded = self._guarded
        comm = world() if guarded is None else guarded.march
        self.parts = self.cut(program)
        nobody = (np.zeros((0, 8), np.int64), np.zeros((0, 2, 0)))
        works = self.works(program, self.parts, comm.rank, talk(comm), nobody, guarded)
        if guarded is None:
            return self._march(Marcher(self.parts, comm.rank, works, comm.allgather), *wanted)
        me = Marcher(self.parts, comm.rank, works, guarded.listening(comm.allgather))
        with guarded.marching():
            return self._march(me, *wanted)

    def _march(self, me: Marcher, *arguments: Any) -> Trajectory:
        begun = time.perf_counter()
        trajectory = me.march(*arguments)
        self.book(me.allgather(me.counts), time.perf_counter() - begun)
        return trajectory


class Threads(Partition):
    """Limbs over threads of this process."""

    kind = "thread"

    def __init__(
        self, number: int = 2, limbs: Sequence[Sequence[str]] | None = None, closing: str = "everyone"
    ) -> None:
        if not isinstance(number, int | np.integer) or isinstance(number, bool) or number < 1:
            raise ModelError(f"cc.Threads takes how many there shall be, 1 or more, not {number!r}")
        self._members = int(number)
        super().__init__(limbs, closing)

    @property
    def members(self) -> int:
        """Threads."""
        return self._members

    def integrate(self, problem, solver, x, t_span, tolerances, samples, hooks, resume):  # type: ignore[no-untyped-def]
        """See `march.team.Team`."""
        from closedchain.parallel.threads import GONE, talk

        program = problem.program
        self.refuse_options(program, solver, hooks)
        wanted = (problem, solver, x, t_span, tolerances, samples, hooks, resume)
        self.parts = parts = self.cut(program)
        n = self.members
        width = max(shares.widest(c) for c in (parts.rhs, parts.correct) if c is not None)
        meeting = (np.zeros((n, 8), np.int64), np.zeros((n, 2, width)))
        everyone = [self.works(program, parts, r, talk(), meeting) for r in range(n)]
        table, barrier = [None] * n, threading.Barrier(n)
        marchers = [Marcher(parts, r, works, _around(table, barrier, r), r == 0) for r, works in enumerate(everyone)]
        done: list[Trajectory | None] = [None] * n
        failed: list[BaseException] = []

        def go(r: int) -> None:
            try:
                done[r] = marchers[r].march(*wanted)
            except threading.BrokenBarrierError:
                pass
            except BaseException as error:
                failed.append(error)
            finally:
                meeting[0][r, 0] = GONE
                if done[r] is None:
                    barrier.abort()

        begun = time.perf_counter()
        crew = [threading.Thread(target=go, name=f"closedchain member {r}", args=(r,), daemon=True) for r in range(n)]
        try:
            start_apart(crew)
            for thread in crew:
                thread.join()
        except BaseException:  # a second Ctrl-C, which is not patient
            barrier.abort()
            raise
        if failed:
            raise failed[0]
        self.book([m.counts for m in marchers], time.perf_counter() - begun)
        assert done[0] is not None
        return done[0]


def _around(table: list[Any], barrier: threading.Barrier, member: int) -> Callable[[Any], list[Any]]:
    """A gathering of Python objects between threads."""

    def allgather(mine: Any) -> list[Any]:
        table[member] = mine
        barrier.wait()
        everyone = list(table)
        barrier.wait()
        return everyone

    return allgather


@dataclass(frozen=True)
class TogetherJudged:
    """A judge that sees whole states, and whose word all members have; see `integrate.hooks.Monitor`."""

    judge: Any
    together: Callable[[float, np.ndarray], tuple[Status, str] | None]
    tells: bool

    @property
    def memory(self) -> np.ndarray:
        """What the judge remembers; threads share it."""
        return self.judge.memory  # type: ignore[no-any-return]

    def next_look(self, steps: int) -> int:
        """When to look, the same for all."""
        return int(self.judge.next_look(steps))

    def __call__(self, t: float, x: np.ndarray) -> tuple[Status, str] | None:
        """What the first member finds; x is this member's part of the state."""
        return self.together(t, x)

    def pace(self, t: float, until: float, steps: int, left: int) -> None:
        """One member of a process speaks."""
        if self.tells:
            self.judge.pace(t, until, steps, left)


class TogetherHooks(Hooks):
    """The hooks of a member: whole states for those that see states, and one answer for all members."""

    def __init__(self, marcher: Marcher, program: Compiled, hooks: PieceHooks) -> None:
        self.marcher, self.program, self.hooks = marcher, program, hooks
        self.steps_per_call, self.detects_stiffness = hooks.steps_per_call, hooks.detects_stiffness
        judge = hooks.monitor
        self.monitor = None if judge is None else TogetherJudged(judge, self._judged, marcher.tells)

    def prepare(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """Parameters of the member, from those of the mechanism."""
        p = np.concatenate([values, self.program.numbers])
        return {name: work.prepare(p) for name, work in zip(("w", "w_correct"), self.marcher.works, strict=False)}

    def inputs(self, t: float, x: np.ndarray) -> tuple[float | None, dict[str, np.ndarray] | None]:
        """See `Hooks`: the first member asks, and the others compare."""
        if self.hooks.march.held_inputs.idle:
            return None, None
        me, hooks = self.marcher, self.hooks
        whole = me.whole(x)
        until: float | None = 0.0
        changed, trouble = False, ""
        try:
            if me.tells:
                until, changed = hooks.change(t, whole)
        except InputsError as error:
            trouble = str(error)
        everyone = me.allgather((until, changed, trouble, hooks.p if me.tells else None))
        until, changed, _, values = everyone[0]
        for member, (_, _, trouble, others) in enumerate(everyone):
            if trouble:
                raise InputsError(trouble)
            if others is not None and not np.allclose(others, values, rtol=SAME, atol=SAME, equal_nan=True):
                raise InputsError(f"a controller told rank {member} something else than rank 0")
        return until, self.prepare(values) if changed else None

    def _judged(self, t: float, x: np.ndarray) -> tuple[Status, str] | None:
        me, judge = self.marcher, self.hooks.monitor
        whole = me.whole(x)
        found: tuple[Status, str] | None = me.allgather(judge(t, whole) if me.tells and judge else None)[0]
        return found

    def checkpoint(self, snapshot: Snapshot, final: bool = False) -> None:
        """See `Hooks`; one member writes for all."""
        me, hooks = self.marcher, self.hooks
        # a Ctrl-C comes to each at another moment: the checkpoint before stays
        if hooks.march.saving is None or final or not me.allgather(me.tells and hooks.due())[0]:
            return
        arrays = me.allgather(snapshot())
        if me.tells:
            named = {f"{r}.{name}": a for r, found in enumerate(arrays) for name, a in found.items()}
            hooks.checkpoint(lambda: named, final=True)

    def progress(self, t: float, steps: int) -> None:
        """See `Hooks`; the first member speaks. An interruption from there is noted, and agreed on in `interrupted`."""
        if self.marcher.member:
            return
        try:
            self.hooks.progress(t, steps)
        except KeyboardInterrupt:
            note()

    def interrupted(self) -> None:
        """See `Hooks`: members agree on a Ctrl-C."""
        check(any(self.marcher.allgather(noted())))


class Marcher:
    """One member's march, with what has to be known of the others: whole states, now and then."""

    def __init__(
        self,
        parts: Parts,
        member: int,
        works: list[shares.Work],
        allgather: Callable[[Any], list[Any]],
        tells: bool = True,
    ) -> None:
        self.parts, self.member, self.works, self.allgather = parts, member, works, allgather
        self.tells = tells  # whether this one speaks to its process: each rank does, and one of several threads
        self.entries = parts.entries(member)
        self.everyone = [parts.entries(r) for r in range(len(parts.rhs.members))]

    @property
    def counts(self) -> np.ndarray:
        """What it sent, and how long it computed and waited; see `kernels`, but here in seconds."""
        from closedchain.parallel.account import clock_rate
        from closedchain.parallel.kernels import COMPUTING, WAITING

        total = np.sum([work.share.counts for work in self.works], axis=0)
        total[[COMPUTING, WAITING]] /= clock_rate()  # others may have another clock
        return total

    def whole(self, mine: np.ndarray) -> np.ndarray:
        """States of all members, from those of each (m, entries) or (entries,)."""
        parts = self.allgather(mine)
        rows = min(part.shape[0] for part in parts) if mine.ndim > 1 else None
        shape = (sum(map(len, self.everyone)),)
        out = np.empty(shape if rows is None else (rows, *shape))
        for entries, part in zip(self.everyone, parts, strict=True):
            out[..., entries] = part if rows is None else part[:rows]
        return out

    def march(
        self,
        problem: SharedProblem,
        solver: Solver,
        x: np.ndarray,
        t_span: tuple[float, float],
        tolerances: Tolerances,
        samples: Samples,
        hooks: PieceHooks,
        resume: dict[str, np.ndarray] | None,
    ) -> Trajectory:
        """From a whole state to a whole trajectory."""
        from closedchain.integrate.integrate import integrate

        def store_whole(t: np.ndarray, mine: np.ndarray) -> None:
            x = self.whole(mine)
            if self.tells and samples.store is not None:
                samples.store(t[: len(x)], x)

        if resume is not None:
            mark = f"{self.member}."
            resume = {name.removeprefix(mark): a for name, a in resume.items() if name.startswith(mark)}
        atol, together = tolerances.atol, TogetherHooks(self, problem.program, hooks)
        part, parameters = self.works[0], together.prepare(hooks.p)
        mine = integrate(
            solver,
            Problem(
                part.rhs.address,
                parameters["w"],
                Correction(self.works[1].correct.address, parameters["w_correct"]) if len(self.works) > 1 else None,
                time=problem.time,
                pivot_after=problem.pivot_after,
                pivot_before=problem.pivot_before,
                team=part.together.address,
            ),
            x[self.entries],
            t_span,
            replace(tolerances, atol=np.asarray(atol, float)[self.entries] if np.ndim(atol) else atol),
            samples if samples.store is None else replace(samples, store=store_whole),
            together,
            resume,
        )
        states = self.whole(mine.x)
        failure, message = self._failure(mine)
        return replace(mine, t=mine.t[: len(states)], x=states, failure=failure, message=message)

    def _failure(self, mine: Trajectory) -> tuple[Any, str]:
        """The failure and its message in the same words for all, whoever met with it."""
        failure, message = mine.failure, mine.message
        if failure is None:
            return None, message
        own = "" if failure.index is None else f" (entry {failure.index})"
        mine_of_all = None if failure.index is None else self.entries[failure.index]
        index = min((k for k in self.allgather(mine_of_all) if k is not None), default=None)
        entry = "" if index is None else f" (entry {index})"
        message = f"{message.removesuffix(f'{own}: {failure.advice}')}{entry}: {failure.advice}"
        return replace(failure, x=self.whole(failure.x), index=index), message


def world() -> Any:
    """The ranks of this job; needs the extra ``closedchain[mpi]``."""
    try:
        from mpi4py import MPI
    except ImportError as missing:
        raise ModelError("limbs over ranks need MPI: pip install 'closedchain[mpi]'") from missing
    return MPI.COMM_WORLD
