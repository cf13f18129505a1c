"""A run from start to end, piece by piece.

A new piece begins where closures change, a singular pose comes near, a condition on the state changes, or another
solver takes over. The theory is in ``docs/theory/closures.md``.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from closedchain.errors import ModelError
from closedchain.integrate.integrate import integrate
from closedchain.integrate.interrupt import check, interrupts, noted
from closedchain.integrate.problem import Problem, Samples, Tolerances
from closedchain.integrate.solvers import DOP853, SOLVERS, Solver
from closedchain.integrate.trajectory import SENTENCES, Failure, Status, Trajectory, joined
from closedchain.march.automatic import Stiffness
from closedchain.march.checkpoints import Left, Saving
from closedchain.march.controllers.held_inputs import HeldInputs
from closedchain.march.events import Watch
from closedchain.march.impacts import switch
from closedchain.march.judge.divergence import Judge
from closedchain.march.judge.gaps import fitted, told
from closedchain.march.marks import SINGULAR, Happening, Instant
from closedchain.march.piece_hooks import WATCHED, PieceHooks
from closedchain.march.program.compiled import Compiled, compiled, relative_tolerances, tolerances
from closedchain.march.program.solver_inputs import problem
from closedchain.march.segment import Choice, Segment
from closedchain.march.stabilisation import Stabilisation
from closedchain.march.sundials import SundialsProblem, integrate_sundials
from closedchain.march.task import Task
from closedchain.march.team import SharedProblem
from closedchain.pose.size import drawn_scale
from closedchain.pose.state import State, parameter_vector

# Where rows were left out as redundant, the others are chosen anew when their pivot has fallen to this share.
FADED = 0.05
# The same where they are held at what a rounded drawing misses: a row that fades lets it grow by the root of its share.
FADES = 0.5
MOST_STEPS = 2**62  # counted in 64 bits
# Independent velocities are chosen anew when others would be this much better.
LESS_GOOD = 0.4


class Refused(Exception):
    """A switch that cannot be made; what was computed before is kept."""


@dataclass
class Place:
    """Where a run is: all that the next piece depends on, besides the task.

    Attributes
    ----------
    state, work
        Where the piece begins.
    solver
        As it is now.
    tuned
        The step that gains were derived from on the way, if they were (`march.stabilisation`).
    guarded
        Whether closures are watched one by one.
    armed
        The time of the last switch: events begin after it.
    next_step
        The first one to try.
    clear
        By kind of singular pose: whether none was told of just before.
    fresh
        Whether the equations must be chosen anew.
    judged
        The state with which energies are compared; None if the run begins here, or with other joints open.
    signs
        Of what events watch, by their numbers, where the last piece ended: a closing force may jump through zero there.
    """

    state: State
    solver: str
    tuned: float | None = None
    work: float = 0.0
    guarded: bool = False
    armed: float | None = None
    next_step: float | None = None
    clear: dict[str, bool] | None = None
    fresh: bool = False
    judged: State | None = None
    signs: dict[int, float] = field(default_factory=dict)


@dataclass
class March:
    """The march of one run: ``run()`` goes on until its end."""

    start: State
    task: Task
    program: Compiled
    saving: Saving | None = None
    segments: list[Segment] = field(default_factory=list)
    record: list[Happening] = field(default_factory=list)

    def __post_init__(self) -> None:
        task, solver = self.task, self.task.solver
        self.place = Place(self.start, solver.name, next_step=solver.lengths.first)
        self.chosen: Choice = (self.start, False, 0, None)
        self.stiffness = Stiffness(task.until) if solver.name == "auto" else None
        if self.stiffness is not None:
            self.place.solver = self.stiffness.solver
        p = parameter_vector(self.start.mechanism, self.start.parameters)
        self.scale = drawn_scale(self.program.equations, p, task.until - self.start.t)
        self.held_inputs = HeldInputs(
            self.start.mechanism,
            p,
            self.start.t,
            task.until,
            watched=solver.adaptive and not solver.driver,
            max_step=solver.lengths.longest,
            saves=self.saving is not None,
        )
        self.judge = Judge(
            self.program,
            self.start,
            task.until,
            task.divergence,
            solver.lengths.fixed,
            self._note_divergence,
            task.rtol,
        )

    def run(self) -> None:
        """Integrate to the end, through events and singular poses."""
        saving = self.saving
        with interrupts():
            if saving is None:
                with self._guarded():
                    self._pieces(None)
                return
            try:
                with self._guarded():
                    left = self._load(saving)
                    if left is None or not left.finished:
                        self._pieces(left)
                        saving.finish(self)
                    elif left.refusal:
                        raise Refused(left.refusal)
            except Refused as refusal:
                saving.finish(self, str(refusal))
                raise
            finally:
                if self.task.team is not None:
                    self.task.team.meet()
                saving.let_go(self)

    def _guarded(self) -> AbstractContextManager[None]:
        team, saving = self.task.team, self.saving
        return (
            nullcontext()
            if team is None
            else team.guarded(self.program, None if saving is None else saving.folder.shown)
        )

    def _load(self, saving: Saving) -> Left | None:
        if self.task.team is None:
            return saving.load(self)
        left = self.task.team.agree(lambda: saving.load(self))
        self.task.team.agree(saving.check_shared)  # the first rank has locked it by now
        return left

    def _pieces(self, left: Left | None) -> None:
        if left is None and self.start.mechanism.tolerance > 0:
            self.record.append(told(self.program, self.start))
        try:
            while self._piece(left):
                left = None
                check(None if self.task.team is None else any(self.task.team.everyone(noted())))
        except KeyboardInterrupt:
            if not self.segments:
                raise
            self._end(Status.interrupted)

    def _piece(self, left: Left | None) -> bool:
        """March one piece, or go on where one was left; whether there is another one."""
        here, task, state = self.place, self.task, self.place.state
        if left is None and (here.fresh or here.guarded):
            self.chosen = (state, here.guarded, len(self.segments), here.tuned)
            rows = self.program.rows
            try:
                self.program = self.choose(self.chosen)
            except ModelError as refusal:
                if not self.segments:
                    raise
                raise Refused(f"the run stops at t = {state.t:.6g} s: {refusal}") from None
            here.state = state = fitted(self.program, state)
            here.fresh = False
            if self.program.choice.aimed and self.program.rows != rows:
                self.record.append(told(self.program, state))
        program = self.program
        pivot = _pivot(program, state, here.work)
        if task.team is not None:
            packed = program.pack(state.q, state.v, here.work)
            pivot = min(pivot, task.team.pivot(program, state.t, packed, self.held_inputs.p))
        if (program.guarded or (pivot < WATCHED and task.method.guards)) and not here.guarded:
            here.guarded = True
            self.record.append(Happening(state.t, "singular pose", _near_singular(state)))
            if task.singularity == "stop":
                self._add(self._stopped(program))
                return False
            here.clear = dict.fromkeys(SINGULAR, False)  # this one has been told
            return True
        x = program.pack(state.q, state.v, here.work)
        if left is None:
            self.record += [
                Happening(state.t, "condition", text) for text in self.held_inputs.settle(program, state.t, x)
            ]
            if here.judged is None:
                self.judge.begin(program, state, x, self.held_inputs.p)
                here.judged = state
        watch = self._watch(program)
        if left is not None:
            watch.restore(left.watch)
        resume = None if left is None else left.arrays
        trajectory = self._put_back(self._march(program, x, watch, pivot, resume), program)
        failure = trajectory.failure
        end = watch.at(failure.t) if failure and trajectory.status is Status.event else Instant()
        if end.changes and not task.times.asks(float(trajectory.t[-1])):
            trajectory = trajectory.without_last()  # nobody asked for a sample there
        self._add(Segment(state, program, trajectory, here.solver, self.held_inputs, self.chosen))
        here.clear, here.signs = watch.clear, {}
        self.record += [entry for t, mark in watch.found if (entry := mark.entry(t))]
        if end.singular:
            self._end(Status.singular)
            return False
        return self._goes_on(trajectory, watch, end)

    def _goes_on(self, trajectory: Trajectory, watch: Watch, end: Instant) -> bool:
        """What comes after a piece; False if nothing."""
        here = self.place
        if trajectory.status is Status.singular:
            return self._near_a_singular_pose(trajectory)
        failure = trajectory.failure
        said = self.held_inputs.release_all(failure.t) if failure and trajectory.status is Status.nan else None
        changes = trajectory.status in (Status.stiff, Status.calm, Status.new_gains)
        if not (said or end.switches or end.changes or changes or trajectory.status is Status.passed):
            return False
        self._resume(trajectory)
        here.next_step = here.next_step if said else trajectory.next_step
        if trajectory.status is Status.passed:
            here.guarded, here.fresh = False, True
        elif trajectory.status is Status.new_gains:
            assert here.next_step is not None
            here.tuned, here.fresh = here.next_step, True
        elif changes:
            assert self.stiffness is not None and here.next_step is not None
            self._tell("solver", self.stiffness.change(trajectory.status, here.state.t, here.next_step))
            here.solver = self.stiffness.solver
        self._tell("condition", said)
        if end.switches or end.changes:
            here.armed = here.state.t
        if end.changes and failure:
            here.signs = watch.signs(failure.t, failure.x)  # before anything changes
        for change in end.changes:
            self._tell("condition", self.held_inputs.flip(change, here.state.t))
        return not end.switches or self._switch(end)

    def _tell(self, what: str, text: str | None) -> None:
        """An entry in the record, at the time that the run has come to; none without a text."""
        if text:
            self.record.append(Happening(self.place.state.t, what, text))

    def _note_divergence(self, t: float, found: str) -> None:
        self.record.append(Happening(t, "divergence", found))

    def _near_a_singular_pose(self, trajectory: Trajectory) -> bool:
        here, task = self.place, self.task
        self._resume(trajectory)
        here.next_step = trajectory.next_step  # the motion goes on as before
        here.fresh = True
        if trajectory.pivot < WATCHED and not here.guarded:  # the next step would lead to a singular pose
            if not task.method.guards and not trajectory.counts.steps:
                short = (here.next_step or 0.0) / 8  # a shorter step may end before the pose, or beyond it
                if short < 1e-6 * abs(task.until - self.start.t):
                    return False
                here.next_step = short
            here.guarded = task.method.guards
            if here.guarded and task.singularity == "pass":  # otherwise the watch looks for the pose itself
                self.record.append(Happening(here.state.t, "singular pose", _near_singular(here.state)))
        return True

    def _switch(self, end: Instant) -> bool:
        here = self.place
        here.guarded, here.next_step, here.fresh, here.judged = False, None, True, None
        try:
            here.state, happening = switch(here.state, end.switches, self.task.method, self.program)
        except ModelError as refusal:
            raise Refused(str(refusal)) from None
        self.record.append(happening)
        if end.stops:
            self._add(self._stopped(self.choose((here.state, False, len(self.segments), here.tuned)), Status.event))
            return False
        return True

    def stabilisation(self, step: float | None) -> Stabilisation:
        """For steps of some length; None for the fixed one, if there is any."""
        fixed = self.task.solver.lengths.fixed
        return Stabilisation(self.task.until < self.start.t, fixed if step is None else step)

    def choose(self, chosen: Choice) -> Compiled:
        """The equations of a piece; see `Segment.chosen`."""
        state, guarded, number, step = chosen
        before = self.segments[:number]
        pivots = [s.program.choice.pivots for s in before]
        last = before[-1].program if before else None
        # keep the misfit of the numbers, even if no row is redundant any more
        aimed = last is not None and last.choice.aimed
        program = compiled(state, self.task.method, guarded, pivots, native=self.task.team is None, aimed=aimed)
        return self.stabilisation(step).applied(program.aimed(state, last))

    # ---- a piece -----------------------------------------------------------------------------------------------------

    def _watch(self, program: Compiled) -> Watch:
        here, task = self.place, self.task
        events = tuple(event for event in task.events if event.changes(here.state.open_joints))
        return Watch(
            program, events, self.held_inputs, here.armed, task.singularity, here.clear, here.signs, self.scale.time
        )

    def _march(
        self, program: Compiled, x: np.ndarray, watch: Watch, pivot: float, resume: dict[str, np.ndarray] | None
    ) -> Trajectory:
        here, task, p = self.place, self.task, self.held_inputs.p
        state, kind = here.state, SOLVERS[here.solver]
        forward = 1 if task.until >= state.t else -1
        # the first piece has a sample at its beginning, others have it at the end of the piece before
        times = task.times.after(state.t, forward, not self.segments)
        # where rows were left out as redundant, or velocities are independent, they are chosen anew when they fade
        faded = fading(program)
        least = faded * pivot if faded else -np.inf
        span, hooks, solver = (state.t, task.until), PieceHooks(self, program, watch), self._solver()
        tolerance = Tolerances(
            task.rtol,
            tolerances(program, self.scale, task.rtol, task.atol),
            relative_tolerances(program, self.scale, task.rtol, task.atol),
        )
        if kind.driver:
            equations = SundialsProblem(
                program, p, program.sizes(self.scale), program.balances(self.scale), self.scale.time, least
            )
            return integrate_sundials(solver, equations, x, span, tolerance, Samples(times[:]), hooks)
        saving = self.saving
        if saving is not None:
            saving.begin(len(self.segments) - self._continues(program, here.solver), len(x))
        samples = Samples(times, None if saving is None else saving.keep)
        before = -np.inf if program.guarded else WATCHED
        if task.team is not None:  # whose members prepare what they have compiled, and nothing else
            shared = SharedProblem(program, self.scale.time, least, before)
            return task.team.integrate(shared, solver, x, span, tolerance, samples, hooks, resume)
        made = problem(here.solver, program, p, self.scale.time, pivot_after=least, pivot_before=before)
        return integrate(solver, made, x, span, tolerance, samples, hooks, resume)

    def _solver(self) -> Solver:
        """The solver of a piece: the run's, with the attempts that are left and the next step."""
        asked = self.task.solver
        own: dict[str, Any] = {"max_steps": self._steps_left()}
        if asked.adaptive and not asked.driver:
            own["first_step"] = self.place.next_step
        if self.stiffness is None:
            return replace(asked, **own)
        own |= {"max_step": asked.lengths.longest, "dense_output": asked.dense_output}
        return SOLVERS[self.place.solver](**own)

    def _steps_left(self) -> int:
        """Attempts that the run may still make."""
        made = sum(s.trajectory.counts.steps + s.trajectory.counts.rejections for s in self.segments)
        return max(1, min(self.task.solver.max_steps, MOST_STEPS) - made)

    def _continues(self, program: Compiled, solver: str) -> bool:
        """Whether the next piece continues the last one: other joints may be open under the same equations."""
        last = self.segments[-1] if self.segments else None
        if last is None or last.start.open_joints != self.place.state.open_joints:
            return False
        return last.program.same(program) and last.solver == solver

    def _put_back(self, trajectory: Trajectory, program: Compiled) -> Trajectory:
        """A piece that an event ended: between steps the dense output leaves the manifold a little, its end returns."""
        failure = trajectory.failure
        if trajectory.status is not Status.event or failure is None or program.correct is None:
            return trajectory
        x = failure.x
        for _ in range(3):
            x = program.correct(failure.t, x, self.held_inputs.p)[0]
        states = trajectory.x.copy()
        states[-1] = x  # the event is the last sample
        return replace(trajectory, x=states, failure=replace(failure, x=x))

    def _add(self, segment: Segment) -> None:
        """Keep a piece, as part of the one before if their equations and solvers are the same."""
        continues = self._continues(segment.program, segment.solver)
        saving = self.saving
        if saving is not None:
            saving.begin(len(self.segments) - continues, segment.trajectory.x.shape[1])
            segment = replace(segment, trajectory=saving.put_away(segment.trajectory))
        if continues:
            last = self.segments[-1]
            self.segments[-1] = replace(last, trajectory=joined(last.trajectory, segment.trajectory))
        else:
            self.segments.append(segment)

    def _end(self, status: Status) -> None:
        last = self.segments[-1]
        message = last.trajectory.message
        if status is Status.interrupted:
            message = f"at t = {self.place.state.t} {': '.join(SENTENCES[status])}"
        self.segments[-1] = replace(last, trajectory=replace(last.trajectory, status=status, message=message))

    def _resume(self, trajectory: Trajectory) -> None:
        """Go on where a piece ended."""
        failure = trajectory.failure
        assert failure is not None
        q, v, self.place.work = self.program.unpack(failure.t, failure.x, self.held_inputs.p)
        self.place.state = replace(self.place.state, q=q, v=v, t=failure.t)

    def _stopped(self, program: Compiled, status: Status = Status.singular) -> Segment:
        """A piece that ends where it begins."""
        here, state = self.place, self.place.state
        x = program.pack(state.q, state.v, here.work)
        w = program.rhs.prepare(self.held_inputs.p)
        still = Problem(program.rhs.address, w)
        one = integrate(DOP853(), still, x, (state.t, state.t), samples=Samples([state.t]))
        trajectory = replace(one, status=status, failure=Failure(state.t, x, None, "start or stop away from it"))
        chosen = (state, here.guarded, len(self.segments), here.tuned)
        return Segment(state, program, trajectory, here.solver, self.held_inputs, chosen)


def fading(program: Compiled) -> float:
    """The share of its first pivot at which what was chosen at the start is chosen anew; 0 for never."""
    if program.guarded:
        return 0.0
    if program.method.chooses:
        return LESS_GOOD
    if len(program.rows) == len(program.active):
        return 0.0
    return FADES if program.choice.aimed else FADED


def _pivot(program: Compiled, state: State, work: float) -> float:
    """Smallest relative pivot of the closures at a state."""
    if program.correct is None:
        return 1.0
    p = parameter_vector(state.mechanism, state.parameters)
    return float(program.correct(state.t, program.pack(state.q, state.v, work), p)[1][2])


def _near_singular(state: State) -> str:
    return f"near a singular pose at t = {state.t:.6g} s: closure rows are watched one by one from here on"
