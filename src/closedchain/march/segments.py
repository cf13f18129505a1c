"""A run from start to end, piece by piece: a new piece begins where closures change or a singular pose comes near.

The theory is in ``docs/theory/closures.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from closedchain.close.formulation import Formulation, pack
from closedchain.errors import ModelError
from closedchain.march.closing import Closing
from closedchain.march.compiled import Compiled, compiled
from closedchain.march.events import SAME_TIME, SINGULAR, Event, Happening, Switch, Watch
from closedchain.march.integrate import Failure, Status, Trajectory, integrate
from closedchain.march.state import State, parameter_vector

# Near a singular pose pivots fall with the square of the distance; from here on they are watched one by one.
WATCHED = 1e-4
# Where rows were left out as redundant, the others are chosen anew when their pivot has fallen to this share.
FADED = 0.05


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


def march(start: State, task: Task) -> tuple[list[Segment], list[Happening]]:
    """Integrate to the end, through events and singular poses."""
    segments: list[Segment] = []
    record: list[Happening] = []
    state, work, guarded = start, 0.0, False
    armed: float | None = None
    while True:
        program = compiled(state, task.method, guarded)
        pivot = _pivot(program, state, work)
        if (program.guarded or pivot < WATCHED) and not guarded:
            guarded = True
            record.append(Happening(state.t, "singular pose", _near_singular(state)))
            if task.singularity == "stop":
                return [*segments, Segment(state, program, _stopped(state, work, program, task))], record
            continue
        trajectory, watch = _piece(state, work, program, task, armed, pivot, first=not segments)
        segments.append(Segment(state, program, trajectory))
        if watch is not None:
            record += [
                Happening(t, event.name, f"{event.name} at t = {t:.9g} s")
                for t, event in watch.found
                if not isinstance(event.then, Switch)
            ]
        if trajectory.status is Status.event and watch is not None and watch.found[-1][1].name == SINGULAR:
            segments[-1] = replace(segments[-1], trajectory=replace(trajectory, status=Status.singular))
            return segments, record
        if trajectory.status is Status.singular:
            state, work = _resume(state, trajectory, program)
        elif trajectory.status is Status.event and watch is not None and _switches(watch, trajectory):
            state, work = _resume(state, trajectory, program)
            armed, guarded = state.t, False
            state, happening = switch(state, _switches(watch, trajectory), task.method)
            record.append(happening)
        else:
            return segments, record


def _stopped(state: State, work: float, program: Compiled, task: Task) -> Trajectory:
    """A piece that ends where it begins, because the pose is singular."""
    here, _ = _piece(
        state,
        work,
        program,
        replace(task, until=state.t, times=np.array([state.t]), events=(), singularity="pass"),
        None,
        1.0,
        first=True,
    )
    x = pack(state.q, state.v, work)
    return replace(here, status=Status.singular, failure=Failure(state.t, x, None, "start or stop away from it"))


def _switches(watch: Watch, trajectory: Trajectory) -> list[Event]:
    """The events that end a piece by opening or closing joints, all at its last instant; none if one says stop."""
    assert trajectory.failure is not None
    last = [event for time, event in watch.found if abs(time - trajectory.failure.t) <= SAME_TIME]
    return [] if any(event.then == "stop" for event in last) else [e for e in last if isinstance(e.then, Switch)]


def _changes(state: State, event: Event) -> bool:
    """Whether an event would change anything: a foot that stands does not touch down."""
    if not isinstance(event.then, Switch):
        return True
    opened = set(state.open_joints)
    return bool(opened & set(event.then.close) or set(event.then.open) - opened)


def _piece(
    state: State, work: float, program: Compiled, task: Task, armed: float | None, pivot: float, first: bool
) -> tuple[Trajectory, Watch | None]:
    p = parameter_vector(state.mechanism, state.parameters)
    forward = 1 if task.until >= state.t else -1
    left = task.times[
        (forward * task.times >= forward * state.t) if first else (forward * task.times > forward * state.t)
    ]
    events = tuple(event for event in task.events if _changes(state, event))
    watch: Watch | None = Watch(program, events, p, armed, task.singularity)
    if watch is not None and watch.idle:
        watch = None
    trajectory = integrate(
        task.solver,
        program.rhs.address,
        pack(state.q, state.v, work),
        (state.t, task.until),
        program.rhs.prepare(p),
        rtol=task.rtol,
        atol=task.atol,
        t_eval=left,
        dense_output=task.dense_output,
        step=task.step,
        first_step=task.first_step,
        max_step=task.max_step,
        max_steps=task.max_steps,
        correct=program.correct.address if program.correct else 0,
        w_correct=program.correct.prepare(p) if program.correct else None,
        min_pivot=_least_pivot(program, pivot),
        watch=watch,
        steps_per_call=50 if watch else 500,
        progress=task.progress,
    )
    return trajectory, watch


def _resume(state: State, trajectory: Trajectory, program: Compiled) -> tuple[State, float]:
    """The state where a piece ended; between steps the dense output leaves the manifold a little, so it is put back."""
    failure = trajectory.failure
    assert failure is not None
    n, m = state.topology.nq, state.topology.nv
    x = failure.x
    if program.correct is not None and trajectory.status is Status.event:
        p = parameter_vector(state.mechanism, state.parameters)
        for _ in range(3):
            x = program.correct(failure.t, x, p)[0]
    return replace(state, q=x[:n].copy(), v=x[n : n + m].copy(), t=failure.t), float(x[-1])


def switch(state: State, events: list[Event], method: Formulation) -> tuple[State, Happening]:
    """Open and close joints; where some close, one impulse makes all velocities consistent.

    With the new closures, ``v+ = v- - M^-1 A' S^-1 (A v-)``: no work-less impulse changes the velocities less.
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
    A, drift = A[rows], c_t.ravel()[rows]
    M_inv_At = np.linalg.solve(M, A.T)
    impulse = np.linalg.lstsq(A @ M_inv_At, A @ state.v + drift, rcond=1e-12)[0] if rows else np.zeros(0)
    v = state.v - M_inv_At @ impulse if rows else state.v
    before, now = (0.5 * float(x @ M @ x) for x in (state.v, v))
    labels = [f"{e.closure.joints[i]} {e.closure.labels[i]}" for i in rows]
    numbers = {
        "impulse": dict(zip(labels, impulse.tolist(), strict=True)),
        "kinetic_before": before,
        "kinetic_after": now,
        "lost": before - now,
    }
    words = [f"{j!r} closes" for j in closing] + [f"{j!r} opens" for j in opening]
    text = f"{name} at t = {state.t:.9g} s: {', '.join(words)}; the impact takes {before - now:.6g} J"
    return replace(after, v=v), Happening(state.t, name, text, numbers)


def _pivot(program: Compiled, state: State, work: float) -> float:
    """Smallest relative pivot of the closures at a state."""
    if program.correct is None:
        return 1.0
    p = parameter_vector(state.mechanism, state.parameters)
    return float(program.correct(state.t, pack(state.q, state.v, work), p)[1][2])


def _least_pivot(program: Compiled, pivot: float) -> float:
    """The pivot at which a piece ends."""
    if program.guarded:
        return -np.inf
    return max(WATCHED, FADED * pivot) if len(program.rows) < len(program.active) else WATCHED


def _near_singular(state: State) -> str:
    return f"near a singular pose at t = {state.t:.6g} s: closure rows are watched one by one from here on"
