"""`simulate`: from a mechanism and a start to a `Run`.

A module `closedchain.simulate` would hide the function of the package that has this name.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from closedchain.arguments import real, shown
from closedchain.close.erls import ERLS
from closedchain.close.formulation import Formulation
from closedchain.close.multipliers import Multipliers
from closedchain.erls.start import ErlsState
from closedchain.errors import ModelError, RunError, RunWarning, warn
from closedchain.integrate.solvers import SOLVERS
from closedchain.integrate.trajectory import Status
from closedchain.march.checkpoints import Saving
from closedchain.march.controllers import memories
from closedchain.march.events import Event, check_events
from closedchain.march.identity import check_same, described
from closedchain.march.judge.gaps import allowed_gap, fitted
from closedchain.march.options import (
    MOST_STEPS,
    check_divergence,
    check_laws,
    check_match,
    check_options,
    sample_times,
    usual_solver,
)
from closedchain.march.program.compiled import compiled
from closedchain.march.program.solver_inputs import for_solver
from closedchain.march.run_loop import March, Refused, Task
from closedchain.march.stabilisation import Stabilisation
from closedchain.march.start import check_start
from closedchain.march.team import Team
from closedchain.model.forces.sampled import held
from closedchain.model.mechanism import Mechanism
from closedchain.pose.assemble import assemble
from closedchain.pose.size import drawn_scale
from closedchain.pose.state import State, parameter_vector
from closedchain.progress import followed
from closedchain.results.diagnose import interrupted
from closedchain.results.march_solution import MarchSolution
from closedchain.results.run import Run


def simulate(
    mechanism: Mechanism,
    start: State | None = None,
    until: float = 1.0,
    *,
    method: Formulation | None = None,
    solver: str | None = None,
    rtol: float = 1e-8,
    atol: float | None = None,
    t_eval: Any = None,
    every: float | None = None,
    begin: float | None = None,
    events: Sequence[Event] = (),
    singularity: str = "pass",
    divergence: str = "stop",
    step: float | None = None,
    first_step: float | None = None,
    max_step: float = np.inf,
    max_steps: int = 10_000_000,
    dense_output: bool = False,
    parameters: Mapping[str, float] | None = None,
    save_to: str | Path | None = None,
    save_every: float = 5.0,
    partition: Team | None = None,
    progress: Callable[[float, int], object] | None = None,
) -> Run:
    """Simulate the motion of a mechanism.

    Parameters
    ----------
    mechanism
        What moves.
    start
        From `assemble`; None: ``mechanism.assemble()``.
    until, begin
        End and beginning of the run, s; it begins at the time of the start, which is usually 0.
    method
        How loops are closed; default `Multipliers()`. With `ERLS()` flexible links are finite elements.
    solver
        A name from ``closedchain list solvers``. ``"dop853"`` (default) or ``"dopri5"``; for stiff equations
        ``"radau5"`` or ``"rodas5p"``, with exact Jacobians; ``"auto"`` finds out itself, and says so in ``run.record``;
        with ``step``: ``"rk4"``, ``"semi-implicit-euler"``, ``"rosenbrock2"``; ``"cvodes"`` and ``"idas"`` for a second
        opinion. Methods that are differential-algebraic have solvers of their own.
    rtol, atol
        Tolerances of a step: entry i of the state may be off by about ``rtol |x_i| + atol``. The default of atol is
        rtol times the size of the entry: 1 for an angle, the mechanism's length for a slide, both over its time for
        their rates, so that units do not matter (``docs/theory/integrators.md``); a number is in the entry's own unit.
        A fixed step has no error estimate: there they only bound the closure and energy errors of a good run. Halve
        the step to see how exact the motion is.
    t_eval, every
        Times at which the motion is kept, or the time between two of them, s; default: 201 equal ones.
    events
        `Event` objects: record, stop, or open and close joints when an expression passes zero.
    singularity
        At a singular pose of the closures or of the actuators: ``"pass"`` (default) goes on, with closures watched one
        by one, and keeps a record of the first; ``"warn"`` looks for all of them, also between steps, and warns;
        ``"stop"`` ends the run there with a sentence.
    divergence
        Where the motion runs away (its energy grows a millionfold at an even pace, comes from nowhere, or a beam bends
        by more than its length), or where a loop opens that is drawn with rounded numbers: ``"stop"`` (default) ends
        the run with a sentence, ``"warn"`` goes on and warns at the end, ``"pass"`` does not look.
    step, first_step, max_step, max_steps
        Limits of the steps; ``step`` for solvers with a fixed one only.
    dense_output
        Keep the solution between steps, as ``run.sol(t)``.
    parameters
        Parameter values for this run only; nothing is recompiled.
    save_to, save_every
        A folder: samples are written there as they come, so that a long run needs little memory, and every
        ``save_every`` seconds what is needed to go on. The same call goes on where it was left, after Ctrl-C, a crash
        or a power cut, to the same bits; of a finished run it reads the result.
    partition
        Limbs on several processors: ``cc.Ranks()`` over the ranks of an MPI job, ``cc.Threads(2)`` over threads of this
        process; the answer is the same, to rounding.
    progress
        Called with the time reached and the number of steps, now and then; default: a bar in a terminal, if the run
        takes more than some seconds.

    Raises
    ------
    RunError
        If the run ends early; what was computed is in its ``run``.
    Interrupted
        After Ctrl-C, when what is there is saved: a ``KeyboardInterrupt`` with what was computed in its ``run``.

    Examples
    --------
    >>> import closedchain as cc
    >>> run = cc.simulate(cc.library.four_bar(), until=1.0, rtol=1e-10)
    >>> f"{float(run['O'][-1]):.6f}"
    '2.829418'
    """
    method = Multipliers() if method is None else method
    if not isinstance(method, Formulation):
        raise ModelError(f"method must be a formulation, for instance cc.Multipliers(), not {method!r}")
    if partition is not None and not isinstance(partition, Team):
        raise ModelError(f"partition takes cc.Ranks() or cc.Threads(2), not {partition!r}")
    if isinstance(method, ERLS) and partition is not None:
        raise ModelError("ERLS cannot be shared out by limbs: leave partition out")
    if isinstance(method, ERLS):  # finite elements are assembled with numbers
        from closedchain.results.erls.simulate import simulate_erls

        return simulate_erls(
            mechanism, start, until,
            method=method, solver=solver, rtol=rtol, atol=atol, t_eval=t_eval, every=every, begin=begin,
            step=step, first_step=first_step, max_step=max_step, max_steps=max_steps, parameters=parameters,
            progress=progress, events=events, singularity=singularity, divergence=divergence,
            dense_output=dense_output, save_to=save_to, save_every=save_every,
        )  # fmt: skip
    solver = usual_solver(method) if solver is None else solver
    check_options(solver, until, begin, rtol, atol, step, singularity)
    until, begin = float(until), None if begin is None else float(begin)
    check_divergence(divergence)
    if save_to is not None and not isinstance(save_to, str | Path):
        raise ModelError(f"save_to takes the name of a folder, not {save_to!r}")
    seconds_between = real(save_every)
    if seconds_between is None or not seconds_between >= 0:
        raise ModelError(f"save_every takes seconds between two checkpoints, not {shown(save_every)}")
    if not isinstance(dense_output, bool):
        raise ModelError(f"dense_output is True or False, not {dense_output!r}")
    if not isinstance(max_steps, int | np.integer):
        raise ModelError(f"max_steps must be a whole number, not {max_steps!r}")
    max_steps = min(max_steps, MOST_STEPS)
    max_step = np.inf if max_step is None else max_step
    if (SOLVERS[solver].driver or not SOLVERS[solver].adaptive) and (first_step is not None or max_step != np.inf):
        raise ModelError(f"{solver!r} takes neither first_step nor max_step")
    for name, value in (("first_step", first_step), ("max_step", max_step), ("max_steps", max_steps)):
        if value is not None and not (real(value) or 0.0) > 0:
            raise ModelError(f"{name} must be a positive number, not {shown(value)}")
    first_step, max_step = None if first_step is None else real(first_step), real(max_step) or np.inf
    if not isinstance(mechanism, Mechanism):
        raise ModelError(f"simulate needs a cc.Mechanism, not {mechanism!r}")
    if parameters is not None and not isinstance(parameters, Mapping):
        raise ModelError(f"parameters takes a mapping by name, not {parameters!r}")
    if progress is not None and not callable(progress):
        raise ModelError(f"progress takes a function of time and steps, not {progress!r}")
    check_match(method, solver, events, singularity, dense_output, save_to)
    if partition is not None:
        partition.refuse(method, solver)
    if start is not None and not isinstance(start, State):
        raise ModelError(f"the start must be a state from m.assemble(...), not {start!r}")
    if start is None:
        start = assemble(mechanism, parameters=parameters, time=begin or 0.0)
    if isinstance(start, ErlsState):
        raise ModelError(
            "the start is from a run with cc.ERLS(...), a state of its rigid-link system with displacements: go on "
            "with that method, or start from m.assemble(...)"
        )
    start = start.of(mechanism, "the start")
    changes = {**start.parameters, **(parameters or {})}
    start = replace(start, parameters=changes, t=start.t if begin is None else begin)
    mechanism.validate(start.parameters)
    p = parameter_vector(mechanism, start.parameters)

    cuts = {*(j.name for j in start.topology.cuts), *mechanism.drives, *mechanism.couplings}
    events = check_events(mechanism, cuts, events)
    check_laws(start, events)

    task = Task(
        until=until,
        times=sample_times(start.t, until, t_eval, every),
        method=method,
        solver=solver,
        rtol=rtol,
        atol=atol,
        events=events,
        singularity=singularity,
        divergence=divergence,
        dense_output=dense_output,
        step=step,
        first_step=first_step,
        max_step=max_step,
        max_steps=max_steps,
        progress=progress,
        team=None if partition is None else partition.fresh(),
    )
    SOLVERS[solver].load()  # the first time in a process this loads Numba; it is no part of the march
    quiet = partition is not None and not partition.leads
    with (
        nullcontext() if partition is None else partition.undisturbed(),
        followed(progress, until, quiet) as told,
    ):
        clock = time.perf_counter()
        program = compiled(start, method, native=partition is None)
        program = Stabilisation(until < start.t, step).applied(program)
        scale = drawn_scale(program.equations, p, until - start.t)
        check_start(program, start, p, scale, 10 * allowed_gap(method) * rtol if method.drifts else 0.0)
        start = fitted(program, start)
        for_solver(solver, program, p)  # compiled before the march begins
        prepared = time.perf_counter()
        if partition is not None:
            check_same(partition, described(start, task, program) | {"save_to": str(save_to)})
        if save_to is not None:
            controllers = held(mechanism).controllers
            memories.saved(controllers, memories.begun(controllers))  # says which of them cannot be
            writes = partition is None or partition.leads
            task = replace(task, saving=Saving(save_to, described(start, task, program), save_every, writes))
        marching = March(start, replace(task, progress=told), program)
        refusal, stopped = None, False
        try:
            marching.run()
        except Refused as refused:
            refusal = str(refused)
        except KeyboardInterrupt:
            if not marching.segments:
                raise
            stopped = True
    seconds = {**program.seconds, "prepare": prepared - clock, "march": time.perf_counter() - prepared}
    run = Run(MarchSolution(mechanism, marching.segments, marching.record, p), task, seconds)
    if stopped or run.status is Status.interrupted:
        raise interrupted(run, None if task.saving is None else task.saving.folder.shown)
    if refusal is not None:
        raise RunError(f"{refusal}. {len(run.t)} samples up to t = {run.t[-1]:.6g} s are kept in the error's .run", run)
    if not run.complete:
        raise RunError(run.explanation, run)
    for complaint in run.complaints():
        warn(complaint, RunWarning)
    return run
