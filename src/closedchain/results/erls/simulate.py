"""`simulate_erls`: from a flexible mechanism and a start to a `Run`, by an equivalent rigid-link system."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from closedchain.arguments import real, shown, suggest
from closedchain.close.erls import ERLS
from closedchain.errors import ModelError, RunError, RunWarning, warn
from closedchain.integrate.solvers import marching
from closedchain.integrate.times import Given
from closedchain.integrate.trajectory import Status
from closedchain.march.run_loop import Task
from closedchain.model.mechanism import Mechanism
from closedchain.pose.assemble import assemble
from closedchain.pose.state import State
from closedchain.progress import followed
from closedchain.results.run import Run

LEAST_RTOL = 1e-13


def simulate_erls(
    mechanism: Mechanism,
    start: State | None = None,
    until: float = 1.0,
    *,
    method: ERLS | None = None,
    solver: str | None = None,
    rtol: float = 1e-8,
    atol: float | None = None,
    t_eval: Any = None,
    every: float | None = None,
    begin: float | None = None,
    step: float | None = None,
    first_step: float | None = None,
    max_step: float = np.inf,
    max_steps: int = 10_000_000,
    divergence: str = "stop",
    parameters: Mapping[str, float] | None = None,
    progress: Callable[[float, int], object] | None = None,
    **others: Any,
) -> Run:
    """Simulate a mechanism with flexible links as finite elements on an equivalent rigid-link system.

    Parameters
    ----------
    mechanism
        With flexible bodies (``body.flexible(...)``); their shapes are not used, their numbers are.
    start
        From ``mechanism.assemble()``, or from that of its rigid twin: undeformed.
    until, begin
        End and beginning of the run, s.
    method
        `ERLS`: elements, terms, what is zeroed.
    solver
        ``"esdirk4"``: order 4, chooses its steps, what is too fast for them dies out (default);
        ``"generalised-alpha"``: order 2, damps no frequency unless ``rho_inf`` says so (default if that is given), with
        its own steps or a fixed ``step``.
    rtol, atol
        Tolerance: atol in metres, for displacements, and for angles by what they move the longest beam; default: rtol
        times that length. A step may have a tenth of it, since errors of many steps add up.
    t_eval, every
        Times at which the motion is kept, or the time between two of them, s; default: 201 equal ones.
    step, first_step, max_step, max_steps
        Limits of the steps.
    divergence
        Where the motion runs away: ``"stop"``, ``"warn"`` or ``"pass"``, as for `simulate`.
    parameters
        Parameter values for this run only; nothing is recompiled.
    progress
        Called with the time reached and the number of steps, now and then.

    Raises
    ------
    RunError
        If the run ends early; what was computed is in its ``run``.

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.results.erls.simulate import simulate_erls
    >>> run = simulate_erls(cc.library.pacdrive(flexible=True), until=0.02, rtol=1e-6)
    >>> f"{float(run['joint1'][-1]):.4f}"
    '-2.9571'
    """
    from closedchain.erls.system import rigid_twin, system  # loads Numba
    from closedchain.march.options import check_divergence, sample_times
    from closedchain.results.diagnose import interrupted
    from closedchain.results.erls.solution import march_erls

    check_divergence(divergence)
    method = ERLS() if method is None else method
    if not isinstance(method, ERLS):
        raise ModelError(f"simulate_erls takes cc.ERLS(...), not {method!r}")
    if not isinstance(mechanism, Mechanism):
        raise ModelError(f"simulate needs a cc.Mechanism, not {mechanism!r}")
    usual = {"events": (), "singularity": "pass", "dense_output": False, "save_to": None, "save_every": 5.0}
    for name, value in others.items():
        if name not in usual:
            raise ModelError(f"simulate has no option {name!r}{suggest(name, usual)}")
        if value != usual[name] and not (name == "events" and not value):
            raise ModelError(f"ERLS has no {name}: leave it out, or use a floating frame (cc.Multipliers())")
    fit, all_of_them = marching(method.kind), marching(ERLS().kind)
    solver = fit[0] if solver is None else solver
    if solver not in all_of_them:
        raise ModelError(f"ERLS is marched by {' or '.join(map(repr, all_of_them))}, not by {solver!r}")
    if solver not in fit:
        raise ModelError(f"rho_inf is of {fit[0]}: take solver={fit[0]!r}, or leave rho_inf out")
    numbers = {"until": until, "begin": begin, "rtol": rtol, "atol": atol, "step": step, "first_step": first_step}
    for name, value in numbers.items():
        number = 0.0 if value is None else real(value)
        if number is None or not np.isfinite(number):
            raise ModelError(f"{name} must be a finite number, not {shown(value)}")
    for name, value in (
        ("rtol", rtol),
        ("atol", atol),
        ("step", step),
        ("first_step", first_step),
        ("max_step", max_step),
    ):
        if value is not None and not value > 0:
            raise ModelError(f"{name} must be a positive number, not {value}")
    if rtol < LEAST_RTOL:
        raise ModelError(f"rtol = {rtol:g} is below what double precision can keep: take {LEAST_RTOL:g} or more")
    if start is None:
        start = assemble(mechanism, parameters=parameters, time=begin or 0.0)
    if not isinstance(start, State):
        raise ModelError(f"the start must be a state from m.assemble(...), not {start!r}")
    start = start.of(rigid_twin(mechanism) if start.mechanism is rigid_twin(mechanism) else mechanism, "the start")
    if begin is not None:
        start = replace(start, t=begin)
    if not until > start.t:
        raise ModelError(f"the run goes from {start.t:g} to {until:g} s: ERLS runs forward in time only")
    made = system(mechanism, start, method, parameters=parameters)
    if method.start == "sagged":
        from closedchain.erls.statics import sagged

        if made.given is not None:
            raise ModelError("the start is deformed already: leave out start='sagged', or start from m.assemble(...)")
        y, still = sagged(made) - made.at_rest()[0], np.zeros(made.n)
        made = replace(made, given=(y, still))
    times = sample_times(start.t, until, t_eval, every)
    grid = np.asarray(times.array if isinstance(times, Given) else times[:], float)
    task = Task(
        until=until,
        times=times,
        method=method,
        solver=solver,
        rtol=rtol,
        atol=rtol * made.longest if atol is None else atol,
        divergence=divergence,
        step=step,
        first_step=first_step,
        max_step=max_step,
        max_steps=max_steps,
    )
    with followed(progress, until) as told:
        solution = march_erls(made, until, grid, replace(task, progress=told))
    run = Run(solution, task, {"march": solution.seconds})
    if run.status is Status.interrupted:
        raise interrupted(run)
    if not run.complete:
        raise RunError(run.explanation, run)
    for complaint in run.complaints():
        warn(complaint, RunWarning)
    return run
