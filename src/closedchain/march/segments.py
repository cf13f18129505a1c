"""A run from start to end, piece by piece: a new piece begins where closures change or a singular pose comes near.

The theory is in ``docs/theory/closures.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from closedchain.close.formulation import Formulation
from closedchain.errors import ModelError
from closedchain.march.closing import Closing
from closedchain.march.companions import for_solver
from closedchain.march.compiled import Compiled, compiled
from closedchain.march.events import SAME_TIME, SINGULAR, Event, Happening, Switch, Watch
from closedchain.march.integrate import integrate
from closedchain.march.solvers import SOLVERS
from closedchain.march.state import State, parameter_vector
from closedchain.march.trajectory import Failure, Status, Trajectory

# Near a singular pose pivots fall with the square of the distance; from here on they are watched one by one.
WATCHED = 1e-4
# Where rows were left out as redundant, the others are chosen anew when their pivot has fallen to this share.
FADED = 0.05
# Independent velocities are chosen anew when others would be this much better.
LESS_GOOD = 0.4


@dataclass(frozen=True, eq=False)
class Segment:
    """A piece of a run under one set of equations."""

    start: State
    program: Compiled
    trajectory: Trajectory


@dataclass(frozen=True)
class Task:
    """What to integrate, and how."""

    until: float
    times: np.ndarray
    method: Formulation
    solver: str
    rtol: float
    atol: Any
    events: tuple[Event, ...] = ()
    singularity: str = "pass"
    dense_output: bool = False
    step: float | None = None
    first_step: float | None = None
    max_step: float = np.inf
    max_steps: int = 10_000_000
    progress: Callable[[float, int], object] | None = None


def march(start: State, task: Task, program: Compiled) -> tuple[list[Segment], list[Happening]]:
    """Integrate to the end, through events and singular poses; ``program`` is that of the start."""
    segments: list[Segment] = []
    record: list[Happening] = []
    state, work, guarded = start, 0.0, False
    armed: float | None = None
    next_step = task.first_step
    clear: dict[str, bool] | None = None
    while True:
        if state is not start or guarded:
            program = compiled(state, task.method, guarded, [s.program.choice.pivots for s in segments])
        pivot = _pivot(program, state, work)
        if (program.guarded or (pivot < WATCHED and task.method.guards)) and not guarded:
            guarded = True
            record.append(Happening(state.t, "singular pose", _near_singular(state)))
            if task.singularity == "stop":
                return [*segments, Segment(state, program, _stopped(state, work, program, task))], record
            clear = dict.fromkeys(SINGULAR, False)  # this one has been told
            continue
        p = parameter_vector(state.mechanism, state.parameters)
        events = tuple(event for event in task.events if _changes(state, event))
        watch = Watch(program, events, p, armed, task.singularity, clear)
        trajectory = _put_back(
            _piece(state, work, program, task, watch, pivot, next_step, first=not segments), program, p
        )
        segments.append(Segment(state, program, trajectory))
        clear = watch.clear
        record += [
            Happening(t, event.name, f"{event.name} at t = {t:.9g} s{watch.words.get(t, '')}")
            for t, event in watch.found
            if not isinstance(event.then, Switch)
        ]
        if trajectory.status is Status.event and watch.found[-1][1].name in SINGULAR.values():
            segments[-1] = replace(segments[-1], trajectory=replace(trajectory, status=Status.singular))
            return segments, record
        if trajectory.status is Status.singular:
            state, work = _resume(segments[-1])
            next_step = trajectory.next_step  # the motion goes on as before
            if trajectory.pivot < WATCHED and not guarded:  # the next step would lead to a singular pose
                if not task.method.guards and not trajectory.counts.steps:
                    short = (next_step or 0.0) / 8  # a shorter step may end before the pose, or beyond it
                    if short < 1e-6 * abs(task.until - start.t):
                        return segments, record
                    next_step = short
                guarded = task.method.guards
                if guarded and task.singularity == "pass":  # otherwise the watch looks for the pose itself
                    record.append(Happening(state.t, "singular pose", _near_singular(state)))
        elif trajectory.status is Status.event and _switches(watch, trajectory):
            state, work = _resume(segments[-1])
            armed, guarded, next_step = state.t, False, None
            try:
                state, happening = switch(state, _switches(watch, trajectory), task.method)
            except ModelError as refusal:
                raise Refused(str(refusal), segments, record) from None
            record.append(happening)
            if any(event.then == "stop" for time, event in watch.found if abs(time - state.t) <= SAME_TIME):
                program = compiled(state, task.method)
                return [*segments, Segment(state, program, _stopped(state, work, program, task, Status.event))], record
        else:
            return segments, record


class Refused(Exception):
    """A switch that cannot be made; it carries what was computed before."""

    def __init__(self, text: str, segments: list[Segment], record: list[Happening]) -> None:
        super().__init__(text)
        self.segments, self.record = segments, record


def _stopped(state: State, work: float, program: Compiled, task: Task, status: Status = Status.singular) -> Trajectory:
    """A piece that ends where it begins."""
    here = replace(task, until=state.t, times=np.array([state.t]), events=(), singularity="pass")
    watch = Watch(program, (), parameter_vector(state.mechanism, state.parameters), None)
    trajectory = _piece(state, work, program, here, watch, 1.0, None, first=True)
    x = program.pack(state.q, state.v, work)
    return replace(trajectory, status=status, failure=Failure(state.t, x, None, "start or stop away from it"))


def _switches(watch: Watch, trajectory: Trajectory) -> list[Event]:
    """The events that end a piece by opening or closing joints, all at its last instant."""
    assert trajectory.failure is not None
    last = [event for time, event in watch.found if abs(time - trajectory.failure.t) <= SAME_TIME]
    return [e for e in last if isinstance(e.then, Switch)]


def _changes(state: State, event: Event) -> bool:
    """Whether an event would change anything: a foot that stands does not touch down."""
    if not isinstance(event.then, Switch):
        return True
    opened = set(state.open_joints)
    return bool(opened & set(event.then.close) or set(event.then.open) - opened)


def _piece(
    state: State,
    work: float,
    program: Compiled,
    task: Task,
    watch: Watch,
    pivot: float,
    first_step: float | None,
    first: bool,
) -> Trajectory:
    p = parameter_vector(state.mechanism, state.parameters)
    forward = 1 if task.until >= state.t else -1
    left = task.times[
        (forward * task.times >= forward * state.t) if first else (forward * task.times > forward * state.t)
    ]
    looks = not watch.idle
    faded = FADED if len(program.rows) < len(program.active) else None
    faded = LESS_GOOD if task.method.chooses else faded
    return integrate(
        task.solver,
        program.rhs.address,
        program.pack(state.q, state.v, work),
        (state.t, task.until),
        program.rhs.prepare(p),
        rtol=task.rtol,
        atol=task.atol,
        t_eval=left,
        dense_output=task.dense_output,
        step=task.step,
        first_step=first_step if SOLVERS[task.solver].adaptive else None,
        max_step=task.max_step,
        max_steps=task.max_steps,
        correct=program.correct.address if program.correct else 0,
        w_correct=program.correct.prepare(p) if program.correct else None,
        # where rows were left out as redundant, or velocities are independent, they are chosen anew when they fade
        min_pivot=faded * pivot if faded and not program.guarded else -np.inf,
        least_pivot=-np.inf if program.guarded else WATCHED,
        watch=watch if looks else None,
        steps_per_call=50 if looks else 500,
        progress=task.progress,
        **for_solver(task.solver, program, p),
    )


def _put_back(trajectory: Trajectory, program: Compiled, p: np.ndarray) -> Trajectory:
    """A piece that an event ended: between steps the dense output leaves the manifold a little, its end is put back."""
    failure = trajectory.failure
    if trajectory.status is not Status.event or failure is None or program.correct is None:
        return trajectory
    x = failure.x
    for _ in range(3):
        x = program.correct(failure.t, x, p)[0]
    states = trajectory.x.copy()
    states[-1] = x  # the event is the last sample
    return replace(trajectory, x=states, failure=replace(failure, x=x))


def _resume(segment: Segment) -> tuple[State, float]:
    """The state where a piece ended."""
    failure = segment.trajectory.failure
    assert failure is not None
    p = parameter_vector(segment.start.mechanism, segment.start.parameters)
    q, v, work = segment.program.unpack(failure.t, failure.x, p)
    return replace(segment.start, q=q, v=v, t=failure.t), work


def switch(state: State, events: list[Event], method: Formulation) -> tuple[State, Happening]:
    """Open and close joints; where some close, one impulse P makes all velocities consistent.

    With the new closures, ``M (v+ - v-) + A' P = 0`` and ``A v+ + c_t = 0``: no work-less impulse changes the
    velocities less. Springs need no impulse; what those of an opened joint had stored is lost.
    """
    name = ", ".join(event.name for event in events)
    closing = tuple(j for event in events if isinstance(event.then, Switch) for j in event.then.close)
    opening = tuple(j for event in events if isinstance(event.then, Switch) for j in event.then.open)
    open_joints = tuple(sorted((set(state.open_joints) - set(closing)) | set(opening)))
    after = replace(state, open_joints=open_joints)
    program = compiled(after, method)
    e = program.equations
    p = parameter_vector(state.mechanism, state.parameters)
    terms = e.function("impact", {"M": e.M, "A": e.closure.A, "c": e.closure.c, "c_t": e.closure.c_t})
    M, A, c, c_t = (np.array(x) for x in terms(state.t, state.q, state.v, p))
    rows = list(program.rows)
    Closing(e, p, time=state.t, open_joints=open_joints).check_fixed()
    new = [i for i in program.active if e.closure.joints[i] in closing]
    gap = float(np.abs(c.ravel()[new]).max(initial=0.0))
    if gap > 1e-6:
        joint = e.closure.joints[new[int(np.argmax(np.abs(c.ravel()[new])))]]
        raise ModelError(
            f"event {name!r} closes joint {joint!r} at t = {state.t:.6g} s, but its frames are "
            f"{gap:.3g} m (or rad) apart there: let the event happen where they meet"
        )
    rows = [] if method.all_rows else rows
    A, slip = A[rows], A[rows] @ state.v + c_t.ravel()[rows]
    K = np.block([[M, A.T], [A, np.zeros((len(rows), len(rows)))]])
    solution = np.linalg.lstsq(K, np.concatenate([np.zeros(len(M)), -slip]), rcond=1e-12)[0]
    v, impulse = state.v + solution[: len(M)], solution[len(M) :]
    before, now = (0.5 * float(x @ M @ x) for x in (state.v, v))
    stored = [_stored(compiled(x, method), x, p) for x in (state, after)]
    labels = [f"{e.closure.joints[i]} {e.closure.labels[i]}" for i in rows]
    numbers = {
        "impulse": dict(zip(labels, impulse.tolist(), strict=True)),
        "kinetic_before": before,
        "kinetic_after": now,
        "lost": before - now + stored[0] - stored[1],
    }
    words = [f"{j!r} closes" for j in closing] + [f"{j!r} opens" for j in opening]
    text = f"{name} at t = {state.t:.9g} s: {', '.join(words)}; the impact takes {numbers['lost']:.6g} J"
    return replace(after, v=v), Happening(state.t, name, text, numbers)


def _stored(program: Compiled, state: State, p: np.ndarray) -> float:
    """Energy in springs that close loops."""
    x = program.pack(state.q, state.v)
    got = program.evaluate("stored", lambda: {"E": program.closed.stored}, np.array([state.t]), x[None], p)
    return float(got["E"][0, 0, 0])


def _pivot(program: Compiled, state: State, work: float) -> float:
    """Smallest relative pivot of the closures at a state."""
    if program.correct is None:
        return 1.0
    p = parameter_vector(state.mechanism, state.parameters)
    return float(program.correct(state.t, program.pack(state.q, state.v, work), p)[1][2])


def _near_singular(state: State) -> str:
    return f"near a singular pose at t = {state.t:.6g} s: closure rows are watched one by one from here on"
