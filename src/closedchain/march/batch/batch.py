"""Many runs of one mechanism at once: the same equations, other parameters and starts.

A *point* is a start and a set of parameter values. `batch_march` marches many of them on all cores, with nothing
compiled or looked up for each:

- with step control (``dop853``, ``dopri5``) every point is marched by the solver's own compiled loop, one after another
  on each thread; its numbers are those of `cc.simulate`, to the last bit;
- with a fixed step (``rk4``, ``semi-implicit-euler``) several points are advanced together in the lanes of vector
  registers (`integrate.batch.lanes`); their numbers are those of `cc.simulate`, to rounding;
- with any other solver points are marched one by one through `integrate`.

Nothing is chosen anew on the way: a point that comes close to a singular pose ends there with ``Status.singular``, and
is one for `cc.simulate`. What else is not for a batch, `can_batch` says.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from closedchain.arguments import positive, vector
from closedchain.close.erls import ERLS
from closedchain.close.formulation import Formulation
from closedchain.integrate.batch.threads import cores
from closedchain.integrate.solvers import SOLVERS
from closedchain.integrate.times import sample_times
from closedchain.march.batch.assemble import BatchStart, Reason, batch_assemble
from closedchain.march.batch.ways import Batch, march_lanes, march_one_by_one, march_points
from closedchain.march.program.compiled import Compiled, asked_of, tolerances
from closedchain.model.forces.sampled import held
from closedchain.model.mechanism import Mechanism
from closedchain.native import engine
from closedchain.native.partial import Bound
from closedchain.pose.size import drawn_scale

__all__ = ["Batch", "BatchResult", "BatchStart", "Reason", "batch_assemble", "batch_march", "can_batch"]


@dataclass(frozen=True, eq=False)
class BatchResult:
    """What became of all points.

    Attributes
    ----------
    x
        Samples (m, k, nx); not a number after the end of a point that failed.
    status
        (m,) whole numbers, those of `Status`.
    t_end
        (m,) time of the last good step, s.
    steps, rejections, evaluations
        (m,) what each point cost.
    seconds
        What all of them took.
    """

    x: np.ndarray
    status: np.ndarray
    t_end: np.ndarray
    steps: np.ndarray
    rejections: np.ndarray
    evaluations: np.ndarray
    seconds: float


def can_batch(
    mechanism: Mechanism,
    method: Formulation,
    *,
    solver: str = "dop853",
    events: Sequence[object] = (),
    singularity: str = "pass",
) -> str | None:
    """Why runs of a mechanism are not for `batch_march`, in a sentence; None if they are.

    Examples
    --------
    >>> import closedchain as cc
    >>> can_batch(cc.library.four_bar(), cc.Multipliers())
    >>> can_batch(cc.library.four_bar(), cc.Multipliers(), solver="auto")
    "solver 'auto' looks at each run on its way"
    """
    home, name = SOLVERS[solver], type(method).__name__
    numbers = held(mechanism)
    reasons = {
        f"{name} assembles finite elements for each run": isinstance(method, ERLS),
        f"the equations of {name} are not marched by {solver!r}": method.kind not in home.marches,
        f"solver {solver!r} is {home.driver}'s, and knows one run at a time": bool(home.driver),
        f"solver {solver!r} looks at each run on its way": solver == "auto",
        f"the gains of {name} follow the steps of each run": home.adaptive and method.follows_steps,
        "events are looked for in each run": bool(events),
        "singular poses are looked for in each run": singularity != "pass",
        "a drawing with a tolerance keeps the gaps of each start": mechanism.tolerance > 0,
        "a sampled controller is called in each run": bool(numbers.controllers),
        "a run steps onto the instants at which a condition changes": bool(numbers.jumps),
    }
    return next((text for text, holds in reasons.items() if holds), None)


def batch_march(
    program: Compiled,
    t0: float,
    until: float,
    x0: np.ndarray,
    p: np.ndarray,
    t_eval: np.ndarray,
    *,
    solver: str = "dop853",
    rtol: float = 1e-8,
    atol: Any = None,
    step: float | None = None,
    first_step: float | None = None,
    max_step: float = np.inf,
    max_steps: int = 10_000_000,
    numbers: np.ndarray | None = None,
    threads: int | None = None,
    lanes: int | None = None,
    stop: Callable[[], bool] | None = None,
) -> BatchResult:
    """March many points of a study.

    Parameters
    ----------
    program
        The equations, from `compiled`; nothing is compiled for a point.
    t0, until
        Beginning and end of all runs, s.
    x0
        Starts (m, nx), from ``program.pack(q, v)``.
    p
        Parameter values (m, np), each as from `parameter_vector`.
    t_eval
        Times (k,) of samples, strictly from t0 to until.
    solver, rtol, atol, step, first_step, max_step, max_steps
        As for `cc.simulate`.
    numbers
        The method's own numbers (m, n), where points differ in them (a spring's stiffness); default: the program's.
    threads
        How many; default: one for each core.
    lanes
        Points that are advanced together at a fixed step; 1: one by one; default: as many as a vector register holds.
    stop
        Asked now and then; when it says True, points that are not finished end with ``Status.interrupted``.

    Returns
    -------
    BatchResult

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.march.program.compiled import compiled
    >>> from closedchain.pose.state import parameter_vector
    >>> m = cc.library.pendulum()
    >>> program = compiled(m.assemble(), cc.Multipliers())
    >>> x0 = np.array([[0.1, 0.0, 0.0], [0.2, 0.0, 0.0]])
    >>> p = np.tile(parameter_vector(m), (2, 1))
    >>> result = batch_march(program, 0.0, 1.0, x0, p, [1.0])
    >>> result.x[:, 0, 0].round(4)
    array([-3.2409, -3.3397])
    """
    clock = time.perf_counter()
    batch = _checked(
        program, t0, until, x0, p, t_eval, solver, rtol, atol, step, first_step, max_step, max_steps, numbers
    )
    threads = cores() if threads is None else int(positive("threads", threads))
    x = np.full((len(batch.x0), len(batch.t_eval), batch.x0.shape[1]), np.nan)
    together = _lanes(program, solver, lanes)
    if together > 1:
        state = march_lanes(batch, x, threads, stop, together)
    elif not SOLVERS[solver].needs:
        state = march_points(batch, x, threads, stop)
    else:
        state = march_one_by_one(batch, x, threads, stop)
    status, t_end, steps, rejections, evaluations = (
        state[name].copy() for name in ("status", "t", "steps", "rejections", "evaluations")
    )
    return BatchResult(x, status, t_end, steps, rejections, evaluations, time.perf_counter() - clock)


def _checked(
    program: Compiled,
    t0: float,
    until: float,
    x0: Any,
    p: Any,
    t_eval: Any,
    solver: str,
    rtol: float,
    atol: Any,
    step: float | None,
    first_step: float | None,
    max_step: float,
    max_steps: int,
    numbers: Any,
) -> Batch:
    """Arguments of `batch_march`, taken as they are meant or refused with a sentence."""
    if solver not in SOLVERS or SOLVERS[solver].driver or solver == "auto":
        raise ValueError(f"a batch is not marched by {solver!r}")
    adaptive = SOLVERS[solver].adaptive
    if adaptive and step is not None:
        raise ValueError(f"{solver} chooses its step; say first_step or max_step instead of step")
    if not adaptive and (step is None or first_step is not None or max_step != np.inf):
        raise ValueError(f"{solver} has a fixed step: say step=..., and neither first_step nor max_step")
    x0, p = (np.array(a, float, ndmin=2) for a in (x0, p))
    m, n = x0.shape
    if n != program.closed.x.shape[0] or len(p) != m or p.shape[1] != program.equations.limbs.p.shape[0]:
        raise ValueError(
            f"x0 and p must have a row for each point, of {program.closed.x.shape[0]} and "
            f"{program.equations.limbs.p.shape[0]} entries, not the shapes {x0.shape} and {p.shape}"
        )
    own = np.broadcast_to(program.numbers if numbers is None else np.asarray(numbers, float), (m, len(program.numbers)))
    t0, until = vector("t0 and until", (t0, until))
    scale = drawn_scale(program.equations, p, until - t0)
    return Batch(
        program=program,
        t0=float(t0),
        until=float(until),
        x0=x0,
        p=np.ascontiguousarray(np.hstack([p, own])),
        t_eval=np.ascontiguousarray(sample_times(np.asarray(t_eval, float), t0, until)),
        solver=solver,
        rtol=float(rtol),
        atol=np.ascontiguousarray(tolerances(program, scale, float(rtol), atol)),
        asked=asked_of(program, scale, float(rtol), atol),
        time=scale.time.ravel(),
        step=None if step is None else float(positive("step", step)),
        first_step=None if first_step is None else float(positive("first_step", first_step, infinite=True)),
        max_step=float(positive("max_step", max_step, infinite=True)),
        max_steps=max_steps,
    )


def _lanes(program: Compiled, solver: str, asked: int | None) -> int:
    """How many points are advanced together."""
    possible = solver in ("rk4", "semi-implicit-euler") and isinstance(program.rhs, Bound)
    if asked is None:
        return engine.vector_width() if possible else 1
    if asked < 1 or (asked > 1 and not possible):
        raise ValueError(f"{solver} with {type(program.method).__name__} takes lanes=1, not {asked}")
    return asked
