"""Many runs of one mechanism at once: the same equations, other parameters and starts.

A *point* is a start and a set of parameter values. `batch_march` marches many of them on all cores, with nothing
compiled or looked up for each:

- with step control (``dop853``, ``dopri5``) every point is marched by the solver's own compiled loop, one after another
  on each thread; its numbers are those of `cc.simulate`, to the last bit;
- with a fixed step (``rk4``) several points are advanced together in the lanes of vector registers
  (`march.batch_lanes`); its numbers are those of `cc.simulate`, to rounding;
- with any other solver points are marched one by one through `integrate`.

Nothing is chosen anew on the way: a point that comes close to a singular pose ends there with ``Status.singular``, and
is one for `cc.simulate`. What else is not for a batch, `can_batch` says.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from closedchain.close.formulation import Formulation
from closedchain.march.arguments import fixed_steps, positive, sample_times, vector
from closedchain.march.batch_assemble import BatchStart, Reason, batch_assemble
from closedchain.march.batch_threads import cores, share_out
from closedchain.march.bound import Bound
from closedchain.march.companions import for_solver
from closedchain.march.compiled import Compiled
from closedchain.march.integrate import integrate
from closedchain.march.segments import WATCHED, fading
from closedchain.march.solvers import SOLVERS
from closedchain.march.trajectory import Status
from closedchain.model.held import held
from closedchain.model.mechanism import Mechanism
from closedchain.native import LaneFunction, compile_lanes, engine

__all__ = ["Batch", "BatchResult", "BatchStart", "Reason", "batch_assemble", "batch_march", "can_batch"]

SETTLE = 5  # corrections of a start where the drawing's numbers are rounded, as in `simulate`


@dataclass(frozen=True, eq=False)
class Batch:
    """Points to march, and how.

    Attributes
    ----------
    program
        The equations of all points.
    t0, until, t_eval
        Beginning and end, s, and the times (k,) of samples.
    x0, p
        Starts (m, nx); parameters (m, np) with the method's own numbers behind them.
    solver, rtol, atol, step, first_step, max_step, max_steps
        As for `integrate`.
    """

    program: Compiled
    t0: float
    until: float
    x0: np.ndarray
    p: np.ndarray
    t_eval: np.ndarray
    solver: str
    rtol: float
    atol: np.ndarray
    step: float | None
    first_step: float | None
    max_step: float
    max_steps: int

    def records(self) -> tuple[np.ndarray, np.ndarray]:
        """Options and states of all points, as for `integrate`."""
        from closedchain.march import step_control

        m = len(self.x0)
        o, s = np.zeros(m, step_control.OPTIONS), np.zeros(m, step_control.STATE)
        o["t0"], o["t1"], o["direction"] = self.t0, self.until, 1.0 if self.until >= self.t0 else -1.0
        o["rtol"], o["max_step"], o["first_step"] = self.rtol, self.max_step, self.first_step or 0.0
        o["max_steps"], o["correct_tol"], o["correct_samples"] = self.max_steps, 1e-13, 1
        o["min_pivot"], o["least_pivot"], o["look_at"] = -np.inf, self.least_pivot, -1
        if self.step is not None:
            o["fixed_steps"], o["step"] = fixed_steps(self.step, abs(self.until - self.t0))
        s["t"], s["err_old"], s["h_min"], s["bad_index"] = self.t0, 1e-4, np.inf, -1
        s["cause"], s["pivot"] = Status.step_too_small, 1.0
        return o, s

    @property
    def least_pivot(self) -> float:
        """The pivot below which a run stops before its step."""
        return -np.inf if self.program.guarded else WATCHED

    @property
    def watched(self) -> float:
        """The pivot below which a start is singular."""
        return self.least_pivot if self.program.method.guards else -np.inf

    @property
    def settle(self) -> int:
        """How often a start is corrected."""
        return SETTLE if self.program.equations.topology.mechanism.tolerance > 0 else 0


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
    home = SOLVERS[solver]
    if method.kind not in home.marches:
        return f"the equations of {type(method).__name__} are not marched by {solver!r}"
    if home.driver or solver == "auto":
        return (
            f"solver {solver!r} looks at each run on its way" if not home.driver else f"{solver!r} is {home.driver}'s"
        )
    if home.adaptive and method.tunes:
        return f"the gains of {type(method).__name__} follow the steps of each run"
    if events:
        return "events are looked for in each run"
    if singularity != "pass":
        return "singular poses are looked for in each run"
    numbers = held(mechanism)
    if numbers.controllers:
        return "a sampled controller is called in each run"
    if numbers.jumps:
        return f"a run steps onto the instants at which {numbers.jumps[0].node} jumps"
    return None


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
    >>> from closedchain.march.compiled import compiled
    >>> from closedchain.march.state import parameter_vector
    >>> m = cc.library.pendulum()
    >>> program = compiled(m.assemble(), cc.Multipliers())
    >>> x0 = np.array([[0.1, 0.0, 0.0], [0.2, 0.0, 0.0]])
    >>> p = np.tile(parameter_vector(m), (2, 1))
    >>> result = batch_march(program, 0.0, 1.0, x0, p, [1.0])
    >>> result.x[:, 0, 0].round(4)
    array([-0.1  , -0.2002])
    """
    clock = time.perf_counter()
    batch = _checked(
        program, t0, until, x0, p, t_eval, solver, rtol, atol, step, first_step, max_step, max_steps, numbers
    )
    threads = cores() if threads is None else int(positive("threads", threads))
    x = np.full((len(batch.x0), len(batch.t_eval), batch.x0.shape[1]), np.nan)
    together = _lanes(program, solver, lanes)
    if solver in ("dop853", "dopri5"):
        state = _march_points(batch, x, threads, stop)
    elif together > 1:
        state = _march_lanes(batch, x, threads, stop, together)
    else:
        state = _march_one_by_one(batch, x, threads, stop)
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
    return Batch(
        program=program,
        t0=float(t0),
        until=float(until),
        x0=x0,
        p=np.ascontiguousarray(np.hstack([p, own])),
        t_eval=np.ascontiguousarray(sample_times(np.asarray(t_eval, float), t0, until)),
        solver=solver,
        rtol=float(rtol),
        atol=vector("atol", rtol if atol is None else atol, n),
        step=None if step is None else float(positive("step", step)),
        first_step=None if first_step is None else float(positive("first_step", first_step)),
        max_step=float(positive("max_step", max_step)),
        max_steps=max_steps,
    )


def _lanes(program: Compiled, solver: str, asked: int | None) -> int:
    """How many points are advanced together."""
    possible = solver == "rk4" and isinstance(program.rhs, Bound)
    if asked is None:
        return engine.vector_width() if possible else 1
    if asked < 1 or (asked > 1 and not possible):
        raise ValueError(f"{solver} with {type(program.method).__name__} takes lanes=1, not {asked}")
    return asked


def _shared(batch: Batch, rhs: int, correct: int) -> np.ndarray:
    """What the compiled loops have to know of all points."""
    from closedchain.march.batch_points import BATCH

    shared = np.zeros(1, BATCH)
    shared[0]["rhs"], shared[0]["correct"] = rhs, correct
    shared[0]["error_order"] = SOLVERS[batch.solver].error_order
    shared[0]["watched"], shared[0]["faded"], shared[0]["settle"] = batch.watched, fading(batch.program), batch.settle
    return shared


def _march_points(batch: Batch, x: np.ndarray, threads: int, stop: Callable[[], bool] | None) -> np.ndarray:
    """Points by a solver with step control; the records of their states."""
    from closedchain.march.batch_points import ATTEMPTS, LOOPS

    march, home = LOOPS[batch.solver]
    program = batch.program
    options, state = batch.records()
    options["attempts"] = ATTEMPTS
    shared = _shared(batch, program.rhs.address, program.correct.address if program.correct else 0)
    w = work_vectors(program.rhs, batch.p)
    w_correct = work_vectors(program.correct, batch.p) if program.correct else np.empty((len(w), 0))
    now = batch.x0.copy()

    def some(first: int, last: int, flag: np.ndarray) -> None:
        room = np.zeros((home.WORK_ROWS, now.shape[1]))
        march(shared, w, w_correct, batch.atol, batch.t_eval, x, options, state, now, room, first, last, flag)

    share_out(some, len(now), threads, stop)
    state["status"][state["status"] == Status.running] = Status.interrupted  # never begun
    return state


def _march_lanes(batch: Batch, x: np.ndarray, threads: int, stop: Callable[[], bool] | None, lanes: int) -> np.ndarray:
    """Points at a fixed step, several at once; the records of their states."""
    from closedchain.march.batch_lanes import march_rk4
    from closedchain.march.step_control import STATE

    rhs, correct = in_lanes(batch.program, lanes)
    options, state = batch.records()
    shared = _shared(batch, rhs.address, correct.address if correct else 0)
    prepare = (
        rhs.prepare_address,
        correct.prepare_address if correct else 0,
        rhs.n_work,
        correct.n_work if correct else 0,
    )

    def some(first: int, last: int, flag: np.ndarray) -> None:
        clockwork = np.zeros(1, STATE)
        march_rk4(
            shared, batch.p, batch.t_eval, x, options, state, clockwork, batch.x0, *prepare, lanes, first, last, flag
        )

    share_out(some, len(state), threads, stop, multiple=lanes)
    state["status"][state["status"] == Status.running] = Status.interrupted  # never begun
    return state


def in_lanes(program: Compiled, lanes: int) -> tuple[LaneFunction, LaneFunction | None]:
    """The right-hand side and the correction of several points at once, compiled when first asked for."""
    if ("lanes", lanes) not in program.shared:
        e, closed, name = program.equations, program.closed, program.equations.topology.mechanism.name
        inputs = {"t": e.limbs.t, "x": closed.x, "p": ca.vertcat(e.limbs.p, closed.parameters)}
        how: dict[str, Any] = {"lanes": lanes, "slow": ("p",), "shared": ("t",)}
        rhs = compile_lanes(f"{name} right-hand side", inputs, {"dx": closed.dx}, **how)
        correct = None
        if closed.x_plus is not None and closed.residual is not None:
            outputs = {"x_plus": closed.x_plus, "residual": closed.residual}
            correct = compile_lanes(f"{name} correction", inputs, outputs, **how)
        program.shared["lanes", lanes] = rhs, correct
    return program.shared["lanes", lanes]


def _march_one_by_one(batch: Batch, x: np.ndarray, threads: int, stop: Callable[[], bool] | None) -> np.ndarray:
    """Points by any other solver, through `integrate`; the records of their states."""
    program = batch.program
    _, state = batch.records()
    n_p = program.equations.limbs.p.shape[0]
    SOLVERS[batch.solver].load()

    def one(i: int) -> None:
        full, start, pivot = batch.p[i], batch.x0[i], 1.0
        mine = program.with_numbers(full[n_p:])
        p, correct = full[:n_p], mine.correct
        if correct is not None:
            for _ in range(batch.settle):
                start = correct(batch.t0, start, p)[0]
            pivot = float(correct(batch.t0, start, p)[1][2])
        if pivot < batch.watched:
            state[i]["status"] = Status.singular
            return
        faded = fading(program)
        run = integrate(
            batch.solver, mine.rhs.address, start, (batch.t0, batch.until), mine.rhs.prepare(p),
            rtol=batch.rtol, atol=batch.atol, t_eval=batch.t_eval, step=batch.step,
            correct=correct.address if correct else 0, w_correct=correct.prepare(p) if correct else None,
            min_pivot=faded * pivot if faded else -np.inf, least_pivot=batch.least_pivot, max_steps=batch.max_steps,
            first_step=batch.first_step, max_step=batch.max_step,
            **for_solver(batch.solver, mine, p),
        )  # fmt: skip
        x[i, : len(run.x)] = run.x
        s, c = state[i], run.counts
        s["status"], s["t"] = run.status, batch.until if run.failure is None else run.failure.t
        s["steps"], s["rejections"], s["evaluations"] = c.steps, c.rejections, c.evaluations

    def some(first: int, last: int, flag: np.ndarray) -> None:
        for i in range(first, last):
            if flag[0]:
                break
            one(i)

    if len(state):
        for_solver(batch.solver, program, batch.p[0, :n_p])  # compiled before threads ask for it
    share_out(some, len(state), threads, stop)
    state["status"][state["status"] == Status.running] = Status.interrupted  # never begun
    return state


def work_vectors(function: Any, p: np.ndarray) -> np.ndarray:
    """The work vectors (m, n) of a right-hand side or correction, for parameters with numbers behind them."""
    from closedchain.march.batch_points import prepare_all

    if not isinstance(function, Bound):  # a right-hand side that first solves for its dependent coordinates
        parts = [work_vectors(f, p) for f in (function.newton, function.rates)]
        return np.hstack([np.tile(function.header(), (len(p), 1)), *parts])
    w = np.zeros((len(p), function.function.n_work))
    address = function.function.prepare_address
    assert address is not None
    prepare_all(address, p, w)
    return w
