"""`simulate`: from a mechanism and a start to a `Run`."""

from __future__ import annotations

import hashlib
import json
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from closedchain import processor
from closedchain._version import __version__
from closedchain.close.erls import ERLS
from closedchain.close.formulation import Formulation
from closedchain.close.multipliers import Multipliers
from closedchain.derive.equations import Equations
from closedchain.erls.start import ErlsState
from closedchain.errors import AssemblyError, Interrupted, ModelError, RunError, RunWarning
from closedchain.integrate.solvers import SOLVERS, marching
from closedchain.integrate.times import Equal, Given
from closedchain.integrate.trajectory import Status
from closedchain.lock import PATIENCE, locked
from closedchain.march.checkpoints import Saving
from closedchain.march.controllers import memories
from closedchain.march.controllers.fingerprint import fingerprint
from closedchain.march.events import Event, Switch, check_events
from closedchain.march.judge.divergence import ACTIONS
from closedchain.march.judge.gaps import fitted
from closedchain.march.program.compiled import Compiled, compiled
from closedchain.march.program.solver_inputs import for_solver
from closedchain.march.run_loop import March, Refused, Task
from closedchain.march.team import Team
from closedchain.model.forces.control import traced_laws
from closedchain.model.forces.sampled import Controller, held
from closedchain.model.mechanism import Mechanism
from closedchain.model.parts import suggest
from closedchain.model.values import numeric, real, shown
from closedchain.pose.assemble import active_rows, assemble
from closedchain.pose.closing import TOLERANCE, Closing
from closedchain.pose.inertia import weightless
from closedchain.pose.rank import apart
from closedchain.pose.size import Scale, drawn_scale, row_sizes, velocity_sizes
from closedchain.pose.state import State, parameter_vector
from closedchain.progress import followed
from closedchain.results.diagnose import explain
from closedchain.results.run import Run

SAMPLES = 201
MOST_SAMPLES = 1e9
MOST_STEPS = 2**62  # counted in 64 bits
LEAST_RTOL = 3e-15  # some units of rounding


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
        How loops are closed; default `Multipliers()`. With `ERLS()` flexible links are finite elements, and the result
        is an `ErlsRun`.
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
    if isinstance(method, ERLS):  # finite elements are assembled with numbers: a run of their own, with the same verbs
        from closedchain.results.erls.simulate import simulate_erls

        return simulate_erls(  # type: ignore[return-value]
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
    if until < start.t:
        method = method.backward()
    if step is not None:
        method = method.tuned(step)

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
        scale = drawn_scale(program.equations, p, until - start.t)
        check_start(program, start, p, scale, 10 * method.promise * rtol if method.drifts else 0.0)
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
    run = Run(mechanism, marching.segments, marching.record, p, task, seconds)
    if stopped or run.status is Status.interrupted:
        raise interrupted(run, None if task.saving is None else task.saving.folder.shown)
    if refusal is not None:
        raise RunError(f"{refusal}. {len(run.t)} samples up to t = {run.t[-1]:.6g} s are kept in the error's .run", run)
    if not run.complete:
        raise RunError(explain(run), run)
    for complaint in run.complaints():
        warnings.warn(complaint, RunWarning, stacklevel=2)
    return run


def interrupted(run: Any, folder: Path | None = None) -> Interrupted:
    """What Ctrl-C left of a run."""
    end = " when it had reached its end" if run.complete else f" after t = {run.t[-1]:.6g} s" if len(run.t) else ""
    saved = "" if folder is None else f"; what was saved is in '{folder}', the same call goes on from there"
    stop = Interrupted(f"the run was interrupted{end}{saved}", run)
    stop.add_note(f"{len(run.t)} samples are in the exception's .run")
    return stop


def sample_times(begin: float, until: float, t_eval: Any, every: float | None = None) -> Given | Equal:
    """The times at which the motion is kept."""
    if every is not None:
        if t_eval is not None:
            raise ModelError("say t_eval or every, not both")
        seconds = real(every)
        if seconds is None or not 0 < seconds < math.inf:
            raise ModelError(f"every must be a positive number of seconds between two samples, not {shown(every)}")
        if seconds < np.spacing(max(abs(begin), abs(until))):
            raise ModelError(
                f"every = {every:g} s is too short for times near {until:g} s, which differ by "
                f"{np.spacing(max(abs(begin), abs(until))):.2g} s at least: take longer ones"
            )
        if abs(until - begin) / every > MOST_SAMPLES:
            raise ModelError(f"every = {every:g} s makes {abs(until - begin) / every:.2g} samples: take longer ones")
        intervals = math.floor(abs(until - begin) / every * (1 + 1e-12))
        if intervals and abs(intervals * every - abs(until - begin)) <= 1e-9 * abs(until - begin):
            return Equal(begin, until, intervals)
        return Equal(begin, begin + math.copysign(intervals * every, until - begin), intervals)
    if t_eval is not None:
        times = numeric(t_eval)
        if times is None or times.ndim != 1 or not np.isfinite(times).all():
            raise ModelError(f"t_eval must be a vector of finite times, not {shown(t_eval)}")
        low, high = min(begin, until), max(begin, until)
        if times.size and not (low <= times.min() and times.max() <= high):
            raise ModelError(
                f"t_eval goes from {times.min():g} to {times.max():g} s, outside of the run, {low:g} to {high:g}"
            )
        if not (np.diff(times) * (1 if until >= begin else -1) > 0).all():
            raise ModelError("t_eval must go strictly from the beginning of the run to its end")
        return Given(times)
    if until == begin:
        return Given(np.array([begin]))
    times = np.linspace(begin, until, SAMPLES)
    if not (np.diff(times) * np.sign(until - begin) > 0).all():
        raise ModelError(
            f"until={until!r}: a run of {abs(until - begin):.3g} s from t = {begin:g} s is too short for {SAMPLES} "
            "samples that differ: give a later until, or t_eval"
        )
    return Given(times)


def usual_solver(method: Formulation) -> str:
    """The solver that is taken if none is named."""
    return marching(method.kind)[0]


def check_match(
    method: Formulation,
    solver: str,
    events: Any,
    singularity: str,
    dense_output: bool,
    save_to: Any,
) -> None:
    """Say which solver a method needs, and what a solver cannot do."""
    name, home = type(method).__name__, SOLVERS[solver]
    if method.kind not in home.marches:
        what = "ordinary differential equations" if method.kind == "ode" else f"of {method.kind}"
        others = " or ".join(map(repr, marching(method.kind)[:4]))
        raise ModelError(f"the equations of {name} are {what}, which {solver!r} does not march: take solver={others}")
    if save_to is not None and dense_output:
        raise ModelError("dense_output keeps all steps in memory; a run that is saved keeps samples: say every=...")
    if home.driver:
        for what, asked in (("events", bool(events)), ("dense_output", dense_output), ("save_to", save_to is not None)):
            if asked:
                raise ModelError(f"solver {solver!r} is a second opinion from {home.driver}, without {what}")
        if singularity != "pass":
            raise ModelError(f"solver {solver!r} is a second opinion from {home.driver}: it does not look for poses")


def check_same(team: Team, about: dict[str, str]) -> None:
    """All processes of a team must have been given the same run: otherwise they would wait for each other for ever."""
    everyone = team.everyone(about)
    for rank, about in enumerate(everyone):
        for name, value in everyone[0].items():
            if about.get(name) != value:
                raise ModelError(
                    f"ranks were given different runs, with other {name}: {value} on rank 0, {about.get(name)} on rank "
                    f"{rank}; every rank has to make the same call"
                )


@locked
def digest_of_equations(program: Compiled) -> str:
    """A few digits that change with the equations of motion."""
    inputs = [program.equations.limbs.t, program.closed.x, program.equations.limbs.p, program.closed.parameters]
    traced = ca.Function("equations", inputs, [program.closed.dx])
    return hashlib.sha256(traced.serialize().encode()).hexdigest()[:16]


def described_controller(controller: Controller) -> str:
    """A controller in words, and a few digits that change with its code."""
    seen = fingerprint(controller.function, values=False)  # it may remember things
    return f"{controller.name} every {controller.period!r} s, {controller.outputs} outputs, code {seen}"


def described(start: State, task: Task, program: Compiled) -> dict[str, str]:
    """What a run is, in words by name; a saved run goes on only where all of them are the same."""
    m = start.mechanism
    numbers = hashlib.sha256(start.q.tobytes() + start.v.tobytes()).hexdigest()[:16]
    times = task.times
    kept = times if isinstance(times, Equal) else hashlib.sha256(times.array.tobytes()).hexdigest()[:16]
    return {
        "mechanism": f"{m.name!r}, equations {digest_of_equations(program)}",
        "controllers": "; ".join(described_controller(c) for c in held(m).controllers),
        "coordinates": ", ".join(program.equations.topology.q_labels),
        "parameters": json.dumps(m.parameters.merged(start.parameters)),
        "start": f"t = {start.t!r}, state {numbers}, open joints {start.open_joints}",
        "until": repr(float(task.until)),
        "method": repr(task.method),
        "solver": task.solver,
        "tolerances": f"rtol {task.rtol!r}, atol {'by size' if task.atol is None else repr(task.atol)}",
        "steps": f"step {task.step}, first {task.first_step}, longest {task.max_step}, most {task.max_steps}",
        "samples": f"{kept}",
        "events": "; ".join(f"{e.name}: {e.when} {e.direction} {e.then}" for e in task.events),
        "singularity": task.singularity,
        "divergence": task.divergence,
        "partition": "" if task.team is None else task.team.about,
        "cpu": processor.setting(),
        "closedchain": __version__,
    }


def check_options(
    solver: str,
    until: float,
    begin: float | None,
    rtol: float,
    atol: float | None,
    step: float | None,
    singularity: str = "pass",
) -> None:
    """Say what is wrong with the numbers of a call before anything is computed."""
    if solver not in SOLVERS:
        near = suggest(solver.lower(), SOLVERS) if isinstance(solver, str) else ""
        near = near if "did you mean" in near else ""
        raise ModelError(f"there is no solver {solver!r}{near}; there are {', '.join(SOLVERS)}")
    if singularity not in ("pass", "warn", "stop"):
        raise ModelError(f"singularity must be 'pass', 'warn' or 'stop', not {singularity!r}")
    for name, value in (("until", until), ("begin", begin), ("rtol", rtol), ("atol", atol), ("step", step)):
        missing = value is None and name in ("until", "rtol")
        if missing or (value is not None and real(value) is None):
            raise ModelError(f"{name} must be a number, not {shown(value)}")
    check_times(until, begin)
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value is not None and not 0 < (real(value) or 0.0) < math.inf:
            raise ModelError(f"{name} must be a positive number, not {shown(value)}")
    if SOLVERS[solver].adaptive and rtol < LEAST_RTOL:
        raise ModelError(f"rtol = {rtol:g} is below what double precision can keep: take {LEAST_RTOL:g} or more")
    if SOLVERS[solver].adaptive and step is not None:
        raise ModelError(f"{solver!r} chooses its own steps: leave step out, or take solver='rk4'")
    if not SOLVERS[solver].adaptive and (step is None or not 0 < (real(step) or 0.0) < math.inf):
        raise ModelError(f"{solver!r} needs a fixed step > 0, for instance step=1e-3, not {shown(step)}")


def check_times(until: float, begin: float | None) -> None:
    """A run goes from a finite time to a finite time."""
    for name, value in (("until", until), ("begin", 0.0 if begin is None else begin)):
        number = real(value)
        if number is None:
            raise ModelError(f"{name} must be a number, not {shown(value)}")
        if not math.isfinite(number):
            raise ModelError(f"{name}={shown(value)}: such a run has no end: give finite times")


def check_divergence(divergence: str) -> None:
    """Say what may be done about a motion that runs away."""
    if divergence not in ACTIONS:
        raise ModelError(f"divergence is {', '.join(map(repr, ACTIONS[:-1]))} or {ACTIONS[-1]!r}, not {divergence!r}")


def check_laws(start: State, events: Sequence[Event]) -> None:
    """Refuse to open joints where a law counts on all of them being closed: its efforts would be wrong."""
    laws = [repr(law) for law in traced_laws(start.mechanism) if law.counts_on_closures]
    opened = dict.fromkeys(start.open_joints, "is open at the start")
    for event in events:
        for joint in event.then.open if isinstance(event.then, Switch) else ():
            opened.setdefault(joint, f"is opened by the event {event.name!r}")
    if laws and opened:
        joint, how = next(iter(opened.items()))
        raise ModelError(
            f"{' and '.join(laws)} count{'s' * (len(laws) == 1)} on all joints of {start.mechanism.name!r} being "
            f"closed, but {joint!r} {how}: keep it closed, or control these coordinates with cc.PD(...), which knows "
            "no equations"
        )


@PATIENCE
def check_start(program: Compiled, start: State, p: np.ndarray, scale: Scale, gap: float = 0.0) -> None:
    """A start that leaves a loop open would be a wrong answer from the first step on; ``gap`` is allowed, relative."""
    e = program.equations
    missing = weightless(e, start, program.active)
    if missing:
        raise ModelError(f"mechanism {start.mechanism.name!r} cannot be simulated. {missing}")
    active = active_rows(e, start.open_joints)
    closing = Closing(e, p, time=start.t, rows=active, open_joints=start.open_joints)
    closing.check_fixed()
    if not active or program.method.all_rows:  # springs may be stretched
        return
    c, c_dot = (np.abs(np.array(x)).ravel()[active] for x in residuals(e)(start.t, start.q, start.v, p))
    size = row_sizes(e, active, scale.length)
    fast = max(1.0 / scale.time, np.abs(start.v / velocity_sizes(e, scale.length)).max(initial=0.0))
    units, closed = [e.closure.units[i] for i in active], max(1e3 * TOLERANCE, gap)
    # as `assemble` has it, which finds velocities first and a branch for them after that
    loose = 2 * size * closing.loose(closing.relative_jacobian(start.q), start.v)
    for what, r, unit, most in (
        ("position", c, "m or rad", apart(units, closed, start.mechanism.tolerance, scale.length)),
        ("velocity", c_dot, "m/s or rad/s", np.maximum(closed * fast * size, loose)),
    ):
        i = int(np.argmax(r / most))
        if r[i] > most[i]:
            raise AssemblyError(
                f"the start is not consistent in {what}: joint {e.closure.joints[active[i]]!r} is off by {r[i]:.3g} "
                f"{unit} ({e.closure.labels[active[i]]}). Take it from m.assemble(...) with the same parameters; loops "
                "that are open on purpose are closed by springs, cc.VirtualSpring(...) or cc.ModifiedDeNOC(...)"
            )


@locked
def residuals(e: Equations) -> Any:
    """A CasADi function (t, q, v, p) -> all closure residuals and their rates."""
    derived = e.topology.mechanism._derived
    if "residuals" not in derived:
        rate = e.closure.A @ e.limbs.v + e.closure.c_t
        derived["residuals"] = e.function("residuals", {"c": e.closure.c, "c_dot": rate})
    return derived["residuals"]
