"""Why a run ended early, in a sentence that names the culprit.

The theory is in ``docs/theory/checks.md``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from closedchain.close.formulation import pack
from closedchain.derive.equations import Equations
from closedchain.march.closing import Closing
from closedchain.march.integrate import Status
from closedchain.march.redundancy import closure_jacobian

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
    q, v = failure.x[: e.topology.nq], failure.x[e.topology.nq : e.topology.nq + e.topology.nv]
    cause = _culprit(run, failure.t, q, v) if trajectory.status is Status.nan else None
    cause = cause or weightless(e, failure.t, q, v, run.p) or _lost(run, failure.t, q, v)
    said = re.sub(r"^at t = \S+ ", "", trajectory.message)  # the time is said once
    if trajectory.status is Status.singular:
        said = "the pose is singular or close to it"
    if trajectory.status is Status.nan and failure.index is not None:
        said = said.replace(f"(entry {failure.index})", f"({_entry(e, failure.index)})")
    text = f"the run of {name!r} with {run.solver} ended at t = {failure.t:.6g} s: {said}"
    if cause:
        text += f". {cause}"
    kept = f"{len(run.t)} samples up to t = {run.t[-1]:.6g} s are" if len(run.t) else "no sample is"
    return text + f". {kept} kept in the error's .run"


def _entry(e: Equations, index: int) -> str:
    """What an entry of the state's rate is."""
    if index < e.topology.nq:
        return f"rate of {e.topology.q_labels[index]}"
    index -= e.topology.nq
    return f"acceleration of {e.topology.v_labels[index]}" if index < e.topology.nv else "power"


def _culprit(run: Run, t: float, q: np.ndarray, v: np.ndarray) -> str | None:
    """The motor or force whose value is not a number."""
    e = run.program.equations
    for name, effort in e.applied.efforts.items():
        f = e.function("effort", {"effort": effort})
        for dt in (0.0, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1):  # the trouble may begin just after the last good state
            value = np.array(f(t + dt, *_ahead(run, t, q, v, dt), run.p)).ravel()
            if not np.isfinite(value).all():
                return (
                    f"{name!r} is {value[~np.isfinite(value)][0]} there: look at its function of t, q, v "
                    "(a square root or logarithm of a negative number, a division by zero)"
                )
    return None


def _ahead(run: Run, t: float, q: np.ndarray, v: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """Where the motion is heading for."""
    rate = run.segments[-1].program.rhs(t, pack(q, v), run.p)
    if not np.isfinite(rate).all():
        return q, v
    return q + dt * rate[: len(q)], v + dt * rate[len(q) : len(q) + len(v)]


def weightless(e: Equations, t: float, q: np.ndarray, v: np.ndarray, p: np.ndarray) -> str | None:
    """A sentence about the joint velocity that nothing gives an inertia, if there is one."""
    M = np.array(e.function("inertia", {"M": e.M})(t, q, v, p))
    if not M.size or not np.isfinite(M).all():
        return None
    # angles and lengths have different units: compare after scaling to a unit diagonal
    d = np.sqrt(np.maximum(np.diag(M), 1e-300))
    value, vector = np.linalg.eigh(M / np.outer(d, d))
    flat = np.diag(M) <= 1e-14 * np.diag(M).max()
    if value[0] > 1e-13 and not flat.any():
        return None
    i = int(np.argmax(flat)) if flat.any() else int(np.argmax(np.abs(vector[:, 0])))
    return (
        f"Joint velocity {e.topology.v_labels[i]!r} has no inertia (body {_outer_body(e, i)!r} and what hangs on it "
        "weigh nothing against this motion): give it a mass or a moment of inertia, for instance a rod a radius, "
        "or cut another joint"
    )


def _outer_body(e: Equations, i: int) -> str:
    return next(link.body.name for link in e.topology.links if link.v.start <= i < link.v.stop)


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
    moving = [i for i in np.argsort(-np.abs(motion))[:3] if abs(motion[i]) > 0.1 * np.abs(motion).max()]
    direction = ", ".join(f"{e.topology.v_labels[i]} {motion[i]:+.2f}" for i in moving)
    pose = ", ".join(f"{label}={x:.4g}" for label, x in list(zip(e.topology.q_labels, q, strict=True))[:8])
    return (
        f"The loops are close to a singular pose at {pose}: the closures {rows_named} lose their hold on the motion "
        f"along ({direction}) (smallest singular value {s[smallest]:.2g}, largest {s[0]:.2g}); that direction is lost. "
        "Stop before it, or drive the mechanism by another joint"
    )
