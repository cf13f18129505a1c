"""The ways to march the points of a `Batch`: one after another, in lanes, or through `integrate`.

Each gives the records (`step_control.STATE`) in which the points ended, and fills their samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from closedchain.integrate.batch.threads import share_out
from closedchain.integrate.integrate import integrate
from closedchain.integrate.problem import Samples, Tolerances
from closedchain.integrate.solvers import SOLVERS, Solver
from closedchain.integrate.times import fixed_steps
from closedchain.integrate.trajectory import Status
from closedchain.march.piece_hooks import WATCHED
from closedchain.march.program import corners
from closedchain.march.program.compiled import Compiled
from closedchain.march.program.kinematics import kinematics
from closedchain.march.program.solver_inputs import for_solver, problem
from closedchain.march.run_loop import fading
from closedchain.native import LaneFunction, compile_lanes
from closedchain.native.partial import Bound

Stop = Callable[[], bool] | None


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
    atol, asked, time
        Tolerances (m, nx), relative ones (m,) and times (m,) of all points, as for `integrate`.
    solver, rtol, step, first_step, max_step, max_steps
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
    asked: np.ndarray
    time: np.ndarray
    step: float | None
    first_step: float | None
    max_step: float
    max_steps: int

    def records(self) -> tuple[np.ndarray, np.ndarray]:
        """Options and states of all points, as for `integrate`."""
        from closedchain.integrate import step_control

        m = len(self.x0)
        o, s = np.zeros(m, step_control.OPTIONS), np.zeros(m, step_control.STATE)
        o["t0"], o["t1"], o["direction"] = self.t0, self.until, 1.0 if self.until >= self.t0 else -1.0
        o["rtol"], o["max_step"], o["first_step"] = self.rtol, self.max_step, self.first_step or 0.0
        o["time"] = self.time
        o["max_steps"], o["correct_tol"], o["correct_samples"] = self.max_steps, 1e-13, 1
        o["min_pivot"], o["least_pivot"], o["look_at"] = -np.inf, self.least_pivot, -1
        if self.step is not None:
            o["fixed_steps"], o["step"] = fixed_steps(self.step, abs(self.until - self.t0))
        s["t"], s["err_old"], s["h_min"], s["bad_index"] = self.t0, 1e-4, np.inf, -1
        s["cause"], s["pivot"] = Status.step_too_small, 1.0
        return o, s

    def one_by_one(self) -> Solver:
        """The solver with its options."""
        options: dict[str, Any] = {"max_steps": self.max_steps}
        if SOLVERS[self.solver].adaptive:
            options |= {"first_step": self.first_step, "max_step": self.max_step}
        else:
            options["step"] = self.step
        return SOLVERS[self.solver](**options)

    @property
    def least_pivot(self) -> float:
        """The pivot below which a run stops before its step."""
        return -np.inf if self.program.guarded else WATCHED

    @property
    def watched(self) -> float:
        """The pivot below which a start is singular."""
        return self.least_pivot if self.program.method.guards else -np.inf


def _shared(batch: Batch, rhs: int, correct: int) -> np.ndarray:
    """What the compiled loops have to know of all points."""
    from closedchain.integrate.batch.points import BATCH

    shared = np.zeros(1, BATCH)
    shared[0]["rhs"], shared[0]["correct"] = rhs, correct
    shared[0]["error_order"] = SOLVERS[batch.solver].error_order
    shared[0]["watched"], shared[0]["faded"] = batch.watched, fading(batch.program)
    return shared


def march_points(batch: Batch, x: np.ndarray, threads: int, stop: Stop) -> np.ndarray:
    """Points by a solver with step control; the records of their states."""
    from closedchain.integrate.batch import points as batch_points

    advance, home = SOLVERS[batch.solver].load()
    program = batch.program
    options, state = batch.records()
    options["attempts"] = batch_points.ATTEMPTS
    shared = _shared(batch, program.rhs.address, program.correct.address if program.correct else 0)
    w = work_vectors(program.rhs, batch.p)
    for name, value in corners.options(batch.solver, program).items():
        options[name] = value
    signals = corners.signals(batch.solver, program)
    if signals is not None:
        w = np.hstack([w, work_vectors(signals, batch.p)])
    w_correct = work_vectors(program.correct, batch.p) if program.correct else np.empty((len(w), 0))
    now = batch.x0.copy()

    def some(first: int, last: int, flag: np.ndarray) -> None:
        room = np.zeros((home.WORK_ROWS, now.shape[1]))
        batch_points.march_points(
            advance, shared, w, w_correct, batch.atol, batch.t_eval, x, options, state, now, room, first, last, flag
        )

    share_out(some, len(now), threads, stop)
    state["status"][state["status"] == Status.running] = Status.interrupted  # never begun
    return state


def march_lanes(batch: Batch, x: np.ndarray, threads: int, stop: Stop, lanes: int) -> np.ndarray:
    """Points at a fixed step, several at once; the records of their states."""
    from closedchain.integrate.batch.lanes import march_in_lanes
    from closedchain.integrate.step_control import STATE

    program = batch.program
    options, state = batch.records()
    shared = _shared(batch, 0, 0)
    b = shared[0]
    for name, function in in_lanes(program, lanes, SOLVERS[batch.solver].needs).items():
        suffix = "" if name == "rhs" else f"_{name}"
        b[name], b[f"prepare{suffix}"] = function.address, function.prepare_address
        b[f"n_w{suffix}"] = function.n_work
    if b["kinematics"]:
        b["tangent"], b["nq"] = kinematics(program).tangent, program.equations.topology.nq

    def some(first: int, last: int, flag: np.ndarray) -> None:
        clockwork = np.zeros(1, STATE)
        march_in_lanes(shared, batch.p, batch.t_eval, x, options, state, clockwork, batch.x0, lanes, first, last, flag)

    share_out(some, len(state), threads, stop, multiple=lanes)
    state["status"][state["status"] == Status.running] = Status.interrupted  # never begun
    return state


def in_lanes(program: Compiled, lanes: int, needs: str = "") -> dict[str, LaneFunction]:
    """The native functions of a program for several points at once, compiled when first asked for.

    ``rhs``, ``correct`` where the formulation has one, and ``kinematics`` if the solver needs it.
    """
    e, closed = program.equations, program.closed
    outputs = {"rhs": {"dx": closed.dx}}
    if closed.x_plus is not None and closed.residual is not None:
        outputs["correct"] = {"x_plus": closed.x_plus, "residual": closed.residual}
    if needs == "kinematics":
        outputs["kinematics"] = {"rates": ca.densify(closed.dx[: e.topology.nq])}
    inputs = {"t": e.limbs.t, "x": closed.x, "p": ca.vertcat(e.limbs.p, closed.parameters)}
    made = program.shared.setdefault(("lanes", lanes), {})
    for name, values in outputs.items():
        if name not in made:
            text = f"{e.topology.mechanism.name} {name} in lanes"
            made[name] = compile_lanes(text, inputs, values, lanes=lanes, slow=("p",), shared=("t",))
    return {name: made[name] for name in outputs}


def march_one_by_one(batch: Batch, x: np.ndarray, threads: int, stop: Stop) -> np.ndarray:
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
            pivot = float(correct(batch.t0, start, p)[1][2])
        if pivot < batch.watched:
            state[i]["status"] = Status.singular
            return
        faded = fading(program)
        least = faded * pivot if faded else -np.inf
        run = integrate(
            batch.one_by_one(),
            problem(batch.solver, mine, p, float(batch.time[i]), pivot_after=least, pivot_before=batch.least_pivot),
            start,
            (batch.t0, batch.until),
            Tolerances(batch.rtol, batch.atol[i], float(batch.asked[i])),
            Samples(batch.t_eval),
        )
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
    from closedchain.integrate.batch.points import prepare_all

    if not isinstance(function, Bound):  # a right-hand side that first solves for its dependent coordinates
        parts = [work_vectors(f, p) for f in (function.newton, function.rates)]
        return np.hstack([np.tile(function.room(), (len(p), 1)), *parts])
    w = np.zeros((len(p), function.function.n_work))
    address = function.function.prepare_address
    assert address is not None
    prepare_all(address, p, w)
    return w
