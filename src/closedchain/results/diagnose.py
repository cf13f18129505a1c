"""Why a run ended early, in a sentence that names the culprit.

The theory is in ``docs/theory/checks.md``.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from closedchain.errors import Interrupted
from closedchain.integrate.trajectory import SENTENCES, Failure, Status
from closedchain.march.judge.explained import Place, too_long
from closedchain.march.program.compiled import Compiled
from closedchain.pose.closing import Closing
from closedchain.pose.inertia import weightless
from closedchain.pose.redundancy import closure_jacobian

STEPPED = (Status.nan, Status.correction_failed, Status.not_solved)  # a long step may be the cause
NEAR = 1e-2  # singular values this far apart belong to a pose worth mentioning

if TYPE_CHECKING:
    from closedchain.results.run import Run


def explain(run: Run) -> str:
    """A message for a run that did not finish."""
    trajectory = run.segments[-1].trajectory
    failure = trajectory.failure
    assert failure is not None
    name = run.mechanism.name
    e = run.program.equations
    q, v, _ = run.segments[-1].program.unpack(failure.t, failure.x, run.p)
    stepped = _too_long(run, failure)
    cause = stepped or (_culprit(run, failure.t, q, v) if trajectory.status is Status.nan else None)
    here = replace(run.segments[-1].start, q=q, v=v, t=failure.t)
    if trajectory.status is Status.diverged:  # the judge of the run knew the cause
        cause = ""
    elif trajectory.status is Status.opened:
        cause = _misfit(run)
    else:
        cause = cause or weightless(e, here, run.program.active) or _lost(run, failure.t, q, v) or _told(run)
    said = re.sub(r"^at t = \S+ ", "", trajectory.message)  # the time is said once
    if trajectory.status is Status.singular:
        said = "the pose is singular or close to it"
    if stepped:  # no other advice
        said = said.removesuffix(f": {SENTENCES[trajectory.status][1]}")
    if trajectory.status is Status.nan and failure.index is not None:
        said = said.replace(f"(entry {failure.index})", f"({_entry(run.program, failure.index)})")
    text = f"the run of {name!r} with {run.solver} ended at t = {failure.t:.6g} s: {said}"
    if cause:
        text += f". {cause}"
    slides = next((h.text for h in run.record if h.tells_of("condition")), None)
    if slides:
        text += f". Before, {slides}; for dry friction draw cc.Friction, which is smooth"
    if trajectory.status is Status.singular and not run.program.method.guards:
        text += f". {type(run.program.method).__name__} cannot pass such a pose, cc.Multipliers() can"
    kept = f"{len(run.t)} samples up to t = {run.t[-1]:.6g} s are" if len(run.t) else "no sample is"
    return text + f". {kept} kept in the error's .run"


def _misfit(run: Run) -> str:
    """What to do about a loop that has opened because the drawing's numbers do not fit."""
    passed = next((h.t for h in run.record if h.tells_of("singular pose")), None)
    if passed is None:
        return (
            "The numbers of the drawing fit at the start, but not here: a number may be wrong rather than rounded. If "
            "solved rows are off, use a smaller rtol or cc.Multipliers(stabilise='projection')"
        )
    return (
        f"The run came to a singular pose at t = {passed:.6g} s, where the rounding of the drawing's numbers decides "
        "which assembly it goes on with: end the run before it, give exact numbers, or draw the mechanism without the "
        "parts that only repeat others"
    )


def _too_long(run: Run, failure: Failure) -> str | None:
    """A sentence about a fixed step that is too long for the motion."""
    last = run.segments[-1]
    step = run.task.solver.lengths.fixed
    if step is None or last.trajectory.status not in STEPPED:
        return None
    start = run.segments[0].start
    if start.open_joints != last.start.open_joints:
        start = last.start
    beyond = failure.t + np.copysign(step, run.task.until - start.t)  # where this step would have led
    here = Place(last.program, run.scale, start, last.held_inputs, beyond, np.full_like(failure.x, np.nan))
    return too_long(here, step)


def _entry(program: Compiled, index: int) -> str:
    """What an entry of the state's rate is."""
    e, picked = program.equations, program.closed.velocities
    if index < e.topology.nq:
        return f"rate of {e.topology.q_labels[index]}"
    index -= e.topology.nq
    labels = e.topology.v_labels if picked is None else [e.topology.v_labels[i] for i in picked]
    return f"acceleration of {labels[index]}" if index < len(labels) else "power"


def _culprit(run: Run, t: float, q: np.ndarray, v: np.ndarray) -> str | None:
    """The motor or force whose value is not a number."""
    e = run.program.equations
    for name, effort in e.applied.efforts.items():
        f = e.function("effort", {"effort": effort})
        # the trouble may begin just after the last good state
        for dt in run.scale.time * np.array([0.0, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1]):
            value = np.array(f(t + dt, *_ahead(run, t, q, v, dt), run.p)).ravel()
            if not np.isfinite(value).all():
                return (
                    f"{name!r} is {value[~np.isfinite(value)][0]} there: look at its function of t, q, v "
                    "(a square root or logarithm of a negative number, a division by zero)"
                )
    return None


def _ahead(run: Run, t: float, q: np.ndarray, v: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """Where the motion is heading for."""
    program = run.segments[-1].program
    x = program.pack(q, v)
    rate = program.rhs(t, x, run.p)
    return program.unpack(t + dt, x + dt * rate, run.p)[:2] if np.isfinite(rate).all() else (q, v)


def _told(run: Run) -> str | None:
    """What the record says of the singular pose at which the run was to stop."""
    said = [h.text for h in run.record if h.tells_of("singular pose")]
    return said[-1] if run.status is Status.singular and said else None


def _lost(run: Run, t: float, q: np.ndarray, v: np.ndarray) -> str | None:
    """A sentence about closures that come close to losing rank: the pose, and the direction that is lost."""
    program = run.segments[-1].program
    e, rows = program.equations, program.moving
    closing = Closing(e, run.p, time=t, rows=rows)
    if not rows or not np.isfinite(closing.jacobian(q)).all():
        return None
    u, s, vt = np.linalg.svd(closure_jacobian(closing, q))
    smallest = program.rank - 1  # what comes after it is zero at every pose
    if s[smallest] > NEAR * s[0]:
        return None
    force, motion = np.abs(u[:, smallest]), vt[smallest]
    rows_named = ", ".join(f"{e.closure.joints[rows[i]]} {e.closure.labels[rows[i]]}" for i in np.argsort(-force)[:2])
    moving = [
        i
        for i in np.argsort(-np.abs(motion).round(3), kind="stable")[:3]
        if abs(motion[i]) > 0.1 * np.abs(motion).max()
    ]
    direction = ", ".join(f"{e.topology.v_labels[i]} {motion[i]:+.2f}" for i in moving)
    pose = ", ".join(f"{label}={x:.4g}" for label, x in list(zip(e.topology.q_labels, q, strict=True))[:8])
    return (
        f"The loops are close to a singular pose at {pose}: the closures {rows_named} lose their hold on the motion "
        f"along ({direction}) (smallest singular value {s[smallest]:.2g}, largest {s[0]:.2g}); that direction is lost. "
        "Stop before it, or drive the mechanism by another joint"
    )


def interrupted(run: Any, folder: Path | None = None) -> Interrupted:
    """What Ctrl-C left of a run."""
    end = " when it had reached its end" if run.complete else f" after t = {run.t[-1]:.6g} s" if len(run.t) else ""
    saved = "" if folder is None else f"; what was saved is in '{folder}', the same call goes on from there"
    stop = Interrupted(f"the run was interrupted{end}{saved}", run)
    stop.add_note(f"{len(run.t)} samples are in the exception's .run")
    return stop
