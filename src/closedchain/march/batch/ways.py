"""The ways to march the points of a `Batch`: one after another, in lanes, or through `integrate`.

Each gives the records (`step_control.STATE`) in which the points ended, and fills their samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from closedchain.integrate.batch.threads import Piece, share_out
from closedchain.integrate.integrate import integrate
from closedchain.integrate.problem import Samples, Tolerances
from closedchain.integrate.solvers import Solver
from closedchain.integrate.times import fixed_steps
from closedchain.integrate.trajectory import Status
from closedchain.lock import locked
from closedchain.march.piece_hooks import WATCHED
from closedchain.march.program import corners
from closedchain.march.program.compiled import Compiled
from closedchain.march.program.kinematics import kinematics
from closedchain.march.program.solver_inputs import for_solver, problem
from closedchain.march.run_loop import fading
from closedchain.native import LaneFunction, compile_lanes
from closedchain.native.partial import WithNumbers

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
    solver
        With its options.
    rtol, atol, asked, time
        The relative tolerance; tolerances (m, nx), relative ones (m,) and times (m,) of all points, as for `integrate`.
    """

    program: Compiled
    t0: float
    until: float
    x0: np.ndarray
    p: np.ndarray
    t_eval: np.ndarray
    solver: Solver
    rtol: float
    atol: np.ndarray
    asked: np.ndarray
    time: np.ndarray

    def records(self) -> tuple[np.ndarray, np.ndarray]:
        """Options and states of all points, as for `integrate`."""
        from closedchain.integrate import step_control

        m = len(self.x0)
        o, s = np.zeros(m, step_control.OPTIONS), np.zeros(m, step_control.STATE)
        o["t0"], o["t1"], o["direction"] = self.t0, self.until, 1.0 if self.until >= self.t0 else -1.0
        lengths = self.solver.lengths
        o["rtol"], o["max_step"], o["first_step"] = self.rtol, lengths.longest, lengths.first or 0.0
        o["time"] = self.time
        o["max_steps"], o["correct_tol"], o["correct_samples"] = self.solver.max_steps, 1e-13, 1
        o["min_pivot"], o["least_pivot"], o["look_at"] = -np.inf, self.least_pivot, -1
        if lengths.fixed is not None:
            o["fixed_steps"], o["step"] = fixed_steps(lengths.fixed, abs(self.until - self.t0))
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


def _shared(batch: Batch, rhs: int, correct: int) -> np.ndarray:
    """What the compiled loops have to know of all points."""
    from closedchain.integrate.batch.points import BATCH

    shared = np.zeros(1, BATCH)
    shared[0]["rhs"], shared[0]["correct"] = rhs, correct
    shared[0]["error_order"] = batch.solver.error_order
    shared[0]["watched"], shared[0]["faded"] = batch.watched, fading(batch.program)
    return shared


def march_points(batch: Batch, x: np.ndarray, threads: int, stop: Stop) -> np.ndarray:
    """Points by a solver with step control; the records of their states."""
    from closedchain.integrate.batch import points as batch_points

    advance, home = batch.solver.load()
    program = batch.program
    options, state = batch.records()
    options["attempts"] = batch_points.ATTEMPTS
    shared = _shared(batch, program.rhs.address, program.correct.address if program.correct else 0)
    w = work_vectors(program.rhs, batch.p)
    for name, value in corners.options(batch.solver.name, program).items():
        options[name] = value
    signals = corners.signals(batch.solver.name, program)
    if signals is not None:
        w = np.hstack([w, work_vectors(signals, batch.p)])
    w_correct = work_vectors(program.correct, batch.p) if program.correct else np.empty((len(w), 0))
    points = batch_points.Points(w, w_correct, batch.atol, options, state, batch.x0.copy())
    samples = batch_points.PointSamples(batch.t_eval, x)

    def some(piece: Piece) -> None:
        work = np.zeros((home.WORK_ROWS, points.x.shape[1]))
        batch_points.march_points(advance, shared, points, samples, work, piece)

    share_out(some, len(state), threads, stop)
    state["status"][state["status"] == Status.running] = Status.interrupted  # never begun
    return state


def march_lanes(batch: Batch, x: np.ndarray, threads: int, stop: Stop, lanes: int) -> np.ndarray:
    """Points at a fixed step, several at once; the records of their states."""
    from closedchain.integrate.batch.lanes import LanePoints, march_in_lanes
    from closedchain.integrate.batch.points import PointSamples
    from closedchain.integrate.step_control import STATE

    program = batch.program
    options, state = batch.records()
    shared = _shared(batch, 0, 0)
    b = shared[0]
    for name, function in in_lanes(program, lanes, batch.solver.needs).items():
        suffix = "" if name == "rhs" else f"_{name}"
        b[name], b[f"prepare{suffix}"] = function.address, function.prepare_address
        b[f"n_w{suffix}"] = function.n_work
    if b["kinematics"]:
        b["tangent"], b["nq"] = kinematics(program).tangent, program.equations.topology.nq

    points, samples = LanePoints(batch.p, batch.x0, options, state), PointSamples(batch.t_eval, x)

    def some(piece: Piece) -> None:
        march_in_lanes(shared, points, samples, np.zeros(1, STATE), lanes, piece)

    share_out(some, len(state), threads, stop, multiple=lanes)
    state["status"][state["status"] == Status.running] = Status.interrupted  # never begun
    return state


@locked
def in_lanes(program: Compiled, lanes: int, needs: str = "") -> dict[str, LaneFunction]:
    """The native functions of a program for several points at once, compiled when first asked for.

    ``rhs``, ``correct`` where the formulation has one, and ``kinematics`` if the solver needs it.
    """
    e, closed = program.equations, program.closed
    outputs = {"rhs": {"dx": closed.dx}}
    if closed.correction is not None:
        outputs["correct"] = closed.correction._asdict()
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
    batch.solver.load()
    solver = batch.solver.name

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
            batch.solver,
            problem(solver, mine, p, float(batch.time[i]), pivot_after=least, pivot_before=batch.least_pivot),
            start,
            (batch.t0, batch.until),
            Tolerances(batch.rtol, batch.atol[i], float(batch.asked[i])),
            Samples(batch.t_eval),
        )
        x[i, : len(run.x)] = run.x
        s, c = state[i], run.counts
        s["status"], s["t"] = run.status, batch.until if run.failure is None else run.failure.t
        s["steps"], s["rejections"], s["evaluations"] = c.steps, c.rejections, c.evaluations

    def some(piece: Piece) -> None:
        for i in range(piece.first, piece.last):
            if piece.flag[0]:
                break
            one(i)

    if len(state):
        for_solver(solver, program, batch.p[0, :n_p])  # compiled before threads ask for it
    share_out(some, len(state), threads, stop)
    state["status"][state["status"] == Status.running] = Status.interrupted  # never begun
    return state


def work_vectors(function: Any, p: np.ndarray) -> np.ndarray:
    """The work vectors (m, n) of a right-hand side or correction, for parameters with numbers behind them."""
    from closedchain.integrate.batch.points import prepare_all

    if not isinstance(function, WithNumbers):  # a right-hand side that first solves for its dependent coordinates
        parts = [work_vectors(f, p) for f in (function.newton, function.rates)]
        return np.hstack([np.tile(function.room(), (len(p), 1)), *parts])
    w = np.zeros((len(p), function.function.n_work))
    address = function.function.prepare_address
    assert address is not None
    prepare_all(address, p, w)
    return w
