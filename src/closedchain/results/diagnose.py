"""Why a run ended early, in a sentence that names the culprit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from closedchain.march.integrate import Status

if TYPE_CHECKING:
    from closedchain.results.run import Run


def explain(run: Run) -> str:
    """A message for a run that did not finish."""
    trajectory = run.trajectory
    failure = trajectory.failure
    assert failure is not None
    name = run.mechanism.name
    e = run.program.equations
    q, v = failure.x[: e.topology.nq], failure.x[e.topology.nq : e.topology.nq + e.topology.nv]
    cause = _culprit(run, failure.t, q, v) if trajectory.status is Status.nan else None
    cause = cause or _singular(run, failure.t, q, v)
    text = f"the run of {name!r} with {run.solver} ended at t = {failure.t:.6g} s: {trajectory.message}"
    if cause:
        text += f". {cause}"
    return text + f". {len(trajectory.t)} samples up to t = {trajectory.t[-1]:.6g} s are kept in the error's .run"


def _culprit(run: Run, t: float, q: np.ndarray, v: np.ndarray) -> str | None:
    """The motor or force whose value is not a number."""
    e = run.program.equations
    for name, effort in e.applied.efforts.items():
        f = e.function("effort", {"effort": effort})
        for dt in (0.0, 1e-9, 1e-6, 1e-3):  # the trouble may begin just after the last good state
            value = np.array(f(t + dt, q + dt * 0, v, run.p)).ravel()
            if not np.isfinite(value).all():
                return (
                    f"{name!r} is {value[~np.isfinite(value)][0]} there: look at its function of t, q, v "
                    "(a square root or logarithm of a negative number, a division by zero)"
                )
    return None


def _singular(run: Run, t: float, q: np.ndarray, v: np.ndarray) -> str | None:
    """A joint without inertia, or closures that lost rank."""
    e = run.program.equations
    f = e.function("matrices", {"M": e.M, "A": e.closure.A})
    M, A = (np.array(x) for x in f(t, q, v, run.p))
    if np.isfinite(M).all() and M.size:
        value, vector = np.linalg.eigh(M)
        if value[0] <= 1e-12 * value[-1]:
            joint = e.topology.v_labels[int(np.argmax(np.abs(vector[:, 0])))]
            return (
                f"Joint velocity {joint!r} has no inertia ({value[0]:.2g}): give the bodies it moves a mass or a moment of "
                "inertia, for instance a rod a radius"
            )
    A = A[list(run.program.rows)]
    if A.size and np.isfinite(A).all():
        s = np.linalg.svd(A, compute_uv=False)
        if s[-1] < 1e-6 * s[0]:
            u = np.linalg.svd(A)[0][:, -1]
            i = run.program.rows[int(np.argmax(np.abs(u)))]
            return (
                f"The loops come close to a singular pose (smallest singular value {s[-1]:.2g} of {s[0]:.2g}, "
                f"worst at joint {e.closure.joints[i]!r}): stop before it, or drive the mechanism another way"
            )
    return None
