"""March a `System` in time, and see what came out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from closedchain.erls.steps.hooks import ErlsHooks
from closedchain.erls.steps.judge import ErlsJudge
from closedchain.erls.steps.motion import Motion
from closedchain.erls.steps.stepper import ErlsStepper
from closedchain.erls.system import System
from closedchain.integrate.interrupt import interrupts
from closedchain.integrate.loop import Loop
from closedchain.integrate.problem import Samples
from closedchain.integrate.solvers import ESDIRK4, Solver
from closedchain.integrate.trajectory import SENTENCES, Status, Trajectory


def integrate(
    system: System,
    until: float,
    t_eval: np.ndarray,
    *,
    atol: float,
    solver: Solver | None = None,
    divergence: str = "stop",
    progress: Callable[[float, int], object] | None = None,
) -> Motion:
    """March from the start of the system to a time.

    Parameters
    ----------
    until : end, s.
    t_eval : times at which the solution is kept.
    atol : tolerance of the error of a step, m; see `stepper.tolerances`.
    solver : one of `stepper.METHODS` with its options; None: ESDIRK.
    divergence : ``"stop"``, ``"warn"`` or ``"pass"`` where the motion runs away.
    progress : called with time and steps now and then.
    """
    solver = solver or ESDIRK4()
    stepper = ErlsStepper(system, until, atol, solver)
    judge = None if divergence == "pass" else ErlsJudge(stepper, until, divergence)
    if judge is not None and stepper.status is Status.running:
        judge.begin()
    hooks = ErlsHooks(system, until, solver.lengths.longest, judge, progress)
    times = np.ascontiguousarray(t_eval, float)
    with interrupts():
        found = Loop(stepper, (system.start.t, until), Samples(times), times, hooks, False).run()
    if judge is not None:
        found = _run_away(found, judge)
    trees, works = stepper.beside()
    failure = None if found.failure is None else replace(found.failure, x=stepper.tree.copy())
    return Motion(
        **{**vars(found), "failure": failure},
        tree=trees,
        work=works[:, 0],
        lengths=works[:, 1],
        t_end=stepper.t,
        health=float(stepper.m["health"]),
        closed=float(stepper.m["closed"]),
        record=() if judge is None else tuple(judge.record),
    )


def _run_away(found: Trajectory, judge: ErlsJudge) -> Trajectory:
    """Steps may have failed because the motion has run away since the judge looked: then that is the reason."""
    if found.status in (Status.finished, Status.diverged, Status.interrupted) or found.failure is None:
        return found
    verdict = judge(found.failure.t, judge.stepper.x)
    if verdict is None:
        return found
    status, said = verdict
    advice = SENTENCES[status][1]
    message = f"at t = {found.failure.t} {said}: {advice}"
    return replace(found, status=status, message=message, failure=replace(found.failure, advice=advice))
