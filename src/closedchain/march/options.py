"""Options of a run: their defaults, what they may be, and which of them go together.

Each check raises a `ModelError` that names the option, its value and what to try.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from closedchain.arguments import numeric, real, shown, suggest
from closedchain.close.formulation import Formulation
from closedchain.errors import ModelError
from closedchain.integrate.solvers import SOLVERS, marching
from closedchain.integrate.times import Equal, Given
from closedchain.march.judge.divergence import ACTIONS
from closedchain.march.marks import Event
from closedchain.model.forces.control import traced_laws
from closedchain.pose.state import State

SAMPLES = 201
MOST_SAMPLES = 1e9
MOST_STEPS = 2**62  # counted in 64 bits
LEAST_RTOL = 3e-15  # some units of rounding


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
        for joint in event.switch.open:
            opened.setdefault(joint, f"is opened by the event {event.name!r}")
    if laws and opened:
        joint, how = next(iter(opened.items()))
        raise ModelError(
            f"{' and '.join(laws)} count{'s' * (len(laws) == 1)} on all joints of {start.mechanism.name!r} being "
            f"closed, but {joint!r} {how}: keep it closed, or control these coordinates with cc.PD(...), which knows "
            "no equations"
        )
