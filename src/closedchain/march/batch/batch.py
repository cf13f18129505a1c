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

from closedchain.arguments import vector, whole
from closedchain.close.erls import ERLS
from closedchain.close.formulation import Formulation
from closedchain.errors import ModelError
from closedchain.integrate.batch.threads import cores
from closedchain.integrate.solvers import SOLVERS, Solver, named
from closedchain.integrate.times import sample_times
from closedchain.march.batch.assemble import BatchStart, Reason, batch_assemble
from closedchain.march.batch.ways import Batch, march_lanes, march_one_by_one, march_points
from closedchain.march.program.compiled import Compiled, relative_tolerances, tolerances
from closedchain.model.forces.sampled import sampled_inputs
from closedchain.model.mechanism import Mechanism
from closedchain.native import engine
from closedchain.native.partial import WithNumbers
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
    numbers = sampled_inputs(mechanism)
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
    span: tuple[float, float],
    x0: Any,
    p: Any,
    t_eval: Any,
    *,
    solver: str | Solver = "dop853",
    rtol: float = 1e-8,
    atol: Any = None,
    numbers: Any = None,
    threads: int | None = None,
    lanes: int | None = None,
    stop: Callable[[], bool] | None = None,
) -> BatchResult:
    """March many points of a study.

    Parameters
    ----------
    program
        The equations, from `compiled`; nothing is compiled for a point.
    span
        Beginning and end of all runs, s.
    x0
        Starts (m, nx), from ``program.pack(q, v)``.
    p
        Parameter values (m, np), each as from `parameter_vector`.
    t_eval
        Times (k,) of samples, strictly from beginning to end.
    solver, rtol, atol
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
    >>> result = batch_march(program, (0.0, 1.0), x0, p, [1.0])
    >>> result.x[:, 0, 0].round(4)
    array([-3.2409, -3.3397])
    """
    clock = time.perf_counter()
    solver = named(solver)
    if solver.driver or solver.name == "auto":
        raise ModelError(f"a batch is not marched by {solver.name!r}")
    t0, until = vector("span", span, 2).tolist()
    x0, p = _rows(program, x0, p)
    own = np.broadcast_to(
        program.numbers if numbers is None else np.asarray(numbers, float), (len(x0), len(program.numbers))
    )
    scale = drawn_scale(program.equations, p, until - t0)
    batch = Batch(
        program=program,
        t0=t0,
        until=until,
        x0=x0,
        p=np.ascontiguousarray(np.hstack([p, own])),
        t_eval=np.ascontiguousarray(sample_times(np.asarray(t_eval, float), t0, until)),
        solver=solver,
        rtol=float(rtol),
        atol=np.ascontiguousarray(tolerances(program, scale, float(rtol), atol)),
        asked=relative_tolerances(program, scale, float(rtol), atol),
        time=scale.time.ravel(),
    )
    threads = cores() if threads is None else whole("threads", threads, 1)
    x = np.full((len(batch.x0), len(batch.t_eval), batch.x0.shape[1]), np.nan)
    together = _lanes(program, solver.name, lanes)
    if together > 1:
        state = march_lanes(batch, x, threads, stop, together)
    elif not solver.needs:
        state = march_points(batch, x, threads, stop)
    else:
        state = march_one_by_one(batch, x, threads, stop)
    status, t_end, steps, rejections, evaluations = (
        state[name].copy() for name in ("status", "t", "steps", "rejections", "evaluations")
    )
    return BatchResult(x, status, t_end, steps, rejections, evaluations, time.perf_counter() - clock)


def _rows(program: Compiled, x0: Any, p: Any) -> tuple[np.ndarray, np.ndarray]:
    """Starts and parameters with a row for each point, as copies."""
    x0, p = (np.array(a, float, ndmin=2) for a in (x0, p))
    wanted = program.closed.x.shape[0], program.equations.limbs.p.shape[0]
    if len(p) != len(x0) or (x0.shape[1], p.shape[1]) != wanted:
        raise ModelError(
            f"x0 and p must have a row for each point, of {wanted[0]} and {wanted[1]} entries, not the shapes "
            f"{x0.shape} and {p.shape}"
        )
    return x0, p


def _lanes(program: Compiled, solver: str, asked: int | None) -> int:
    """How many points are advanced together."""
    possible = solver in ("rk4", "semi-implicit-euler") and isinstance(program.rhs, WithNumbers)
    if asked is None:
        return engine.vector_width() if possible else 1
    if asked < 1 or (asked > 1 and not possible):
        raise ModelError(f"{solver} with {type(program.method).__name__} takes lanes=1, not {asked}")
    return asked
