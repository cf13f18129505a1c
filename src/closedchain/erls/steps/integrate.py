"""March a `System` in time: tolerances, starting accelerations, calls of the integrators, and what came out."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from closedchain.erls.kernels import compiled as kernels
from closedchain.erls.steps import alpha, esdirk, records, steps
from closedchain.erls.steps.judge import ErlsJudge
from closedchain.erls.system import System
from closedchain.erls.workspace import Workspace
from closedchain.integrate.solvers import ESDIRK4, GeneralisedAlpha
from closedchain.integrate.trajectory import SENTENCES, Counts, Failure, Status, Trajectory
from closedchain.march.discontinuities import SwitchingTimes
from closedchain.march.marks import Happening
from closedchain.model.forces.sampled import held
from closedchain.pose.size import drawn_scale

UNHEALTHY = 1e-2  # determinant of the zeroed block of J, over that at the start, at which a run is stopped
SINGULAR = 1e-4  # smallest relative pivot of the closures: the same
ITERATIONS = 20  # for accelerations between the ends of steps
BALANCED = 1e-11  # of accelerations: what is left of them
ATTEMPTS = 100  # between two looks at progress, Ctrl-C, and whether the motion runs away


@dataclass(frozen=True, eq=False, kw_only=True)
class Motion(Trajectory):
    """A trajectory of y, with the rigid-link system beside it.

    Its states x are (m, 3, n): y, y', y'' at the samples; y'' is linear between the ends of steps, see `in_balance`.
    ``failure.x`` is the rigid-link system (tree,) where the march stopped. Ends of steps are not kept.

    Attributes
    ----------
    tree : (m, tree) coordinates of the rigid-link system at the samples, closed.
    work : (m,) done on the mechanism until then, J.
    lengths : (m,) of the step around each sample; 0 at the start.
    t_end : the time reached, s.
    health, closed : determinant of the zeroed block over that at the start, and smallest pivot of the closures, at the
        end.
    record : a motion that ran away, see `march.judge.divergence`; empty if it did not.
    """

    tree: np.ndarray
    work: np.ndarray
    lengths: np.ndarray
    t_end: float
    health: float
    closed: float
    record: tuple[Happening, ...] = ()

    def part(self, chosen: np.ndarray) -> Motion:
        """The same at some of its samples."""
        return replace(self, **{name: getattr(self, name)[chosen] for name in ("t", "x", "tree", "work", "lengths")})


def tolerances(system: System, atol: float) -> np.ndarray:
    """Tolerance of each entry of y: metres for displacements, and for angles those that move the longest beam so
    far.
    """
    return atol * system.sizes / system.longest


def accelerations(ws: Workspace, t: float, y: np.ndarray, v: np.ndarray) -> np.ndarray | None:
    """Accelerations at a state: the residual is linear in them. None if they are not determined."""
    a = np.zeros_like(y)
    if not (ws.linearise(t, y, v, a) and ws.factor(1.0, 0.0, 0.0)):
        return None
    for _ in range(2):
        a = a - ws.solve(ws.residual(t, y, v, a))
    return a if np.isfinite(a).all() else None


def in_balance(system: System, motion: Motion) -> Motion:
    """Samples at which the equations hold, with their accelerations.

    Between the ends of steps the solution is a polynomial. Accelerations that belong to it exactly have its error times
    the square of the highest frequency. So a stage is solved there as in a step of the same length h,

        R(t, y + c^2 (a - a_0), y' + c (a - a_0), a) = 0,        c = h / 4

    from the interpolated y, y', a_0: it moves them by less than the tolerance, and forces are in balance.
    """
    ws, out, tree = Workspace(system), motion.x.copy(), motion.tree.copy()
    for k, (y, v, a) in enumerate(motion.x):
        t, c = float(motion.t[k]), motion.lengths[k] / 4
        ws.room.tree.q[:] = motion.tree[k]
        moved = a.copy()
        if not (ws.linearise(t, y, v, a) and ws.factor(1.0, c, c * c)):
            out[k, 2] = np.nan
            continue
        for _ in range(ITERATIONS):
            step = ws.solve(ws.residual(t, y + c * c * (moved - a), v + c * (moved - a), moved))
            moved -= step
            if not np.abs(step).max(initial=0.0) > BALANCED * np.abs(moved).max(initial=0.0):
                break
        out[k] = y + c * c * (moved - a), v + c * (moved - a), moved
        tree[k] = ws.room.tree.q
    return replace(motion, x=out, tree=tree)


class Switches:
    """Conditions on time alone in laws (``t < 0.1``): they are numbers that are held until the next of them changes."""

    def __init__(self, system: System, until: float, max_step: float) -> None:
        self.held = held(system.twin)
        self.system, self.until, self.changed = system, until, False
        self.p = system.p.copy()
        values = dict(zip(system.twin.parameters, system.p.tolist(), strict=False))
        self.times = SwitchingTimes(self.held.jumps, values, system.start.t, until, max_step)

    def hold(self, ws: Workspace, t: float) -> float:
        """Put in what holds from t on; returns the time of the next change, or the end of the run."""
        if not self.times.timed:
            return self.until
        change, numbers = self.times.after(t)
        first = len(self.system.twin.parameters) + self.held.outputs
        for i, value in numbers.items():
            self.p[first + i] = value
        c, room = self.system.compiled, ws.room
        room.motion.w[:], room.newton.w[:], room.tangent.w[:] = (
            f.prepare(self.p) for f in (c.motion, c.newton, c.tangent)
        )
        self.changed = True
        # a jump at the end, but for rounding, would leave a step that is too short for its equations
        return change if change < self.until - self.times.tiny else self.until


def careful(a: np.ndarray, scale: np.ndarray) -> float:
    """A step in which accelerations move nothing by more than about its tolerance."""
    return float(1.0 / np.sqrt(max(np.max(np.abs(a) / scale, initial=0.0), 1e-300)))


STEPPERS = {ESDIRK4.name: (esdirk.advance, esdirk.ROWS), GeneralisedAlpha.name: (alpha.advance, alpha.ROWS)}
"""What marches, by the solver's name, and how many rows of workspace it needs."""


def integrate(
    system: System,
    until: float,
    t_eval: np.ndarray,
    *,
    atol: float,
    solver: str = ESDIRK4.name,
    step: float | None = None,
    first_step: float | None = None,
    max_step: float = np.inf,
    max_steps: int = 10_000_000,
    divergence: str = "stop",
    progress: Callable[[float, int], object] | None = None,
) -> Motion:
    """March from the start of the system to a time.

    Parameters
    ----------
    until : end, s.
    t_eval : times at which the solution is kept.
    atol : tolerance of the error of a step, m; see `tolerances`.
    solver : of `STEPPERS`.
    step : one length for all steps; None: chosen by the error.
    first_step, max_step, max_steps : limits.
    divergence : ``"stop"``, ``"warn"`` or ``"pass"`` where the motion runs away.
    progress : called with time and steps now and then.
    """
    clock = time.perf_counter()
    advance, rows = STEPPERS[solver]
    t_eval = np.ascontiguousarray(t_eval, float)
    ws = Workspace(system)
    n, t0 = system.n, system.start.t
    y, v = system.begin()
    a = accelerations(ws, t0, y, v)
    x = np.array([y, v, np.zeros(n) if a is None else a])
    scale = tolerances(system, atol)
    work = np.zeros((rows, n))
    work[alpha.EARLIER] = x[2]
    samples, works = np.zeros((len(t_eval), 3, n)), np.zeros((len(t_eval), 2))
    trees = np.zeros((len(t_eval), system.e.topology.nq))
    functions = np.array(
        [f.address for f in (kernels.residual, kernels.linearise, kernels.factor, kernels.solve, kernels.close)],
        np.int64,
    )
    run = records.RunArrays(
        functions,
        ws.table,
        scale,
        x,
        np.zeros((3, n)),
        work,
        np.zeros(n),
        records.SampleRoom(t_eval, samples, trees, works),
        np.zeros(ATTEMPTS),
        np.zeros(1, records.OPTIONS),
        np.zeros(1, records.STATE),
        np.zeros(1, records.MEMORY),
    )
    o, s, m = run.options[0], run.state[0], run.memory[0]
    o["end"], o["max_step"], o["attempts"], o["max_steps"], o["healthy"] = (
        until,
        max_step,
        ATTEMPTS,
        max_steps,
        UNHEALTHY,
    )
    o["fixed"], o["rho"] = step is not None, 1.0 if system.method.rho_inf is None else system.method.rho_inf
    o["closed"] = SINGULAR
    s["t"], s["h_min"], s["power"], m["health"], m["closed"] = t0, np.inf, ws.room.work.sum(), 1.0, 1.0
    # an error of the velocities counts as what it does to positions in the mechanism's time, or in the run
    m["time"] = min(until - t0, drawn_scale(system.e, system.p).time)
    s["h"] = step or first_step or min(0.1 * (until - t0), careful(x[2], scale))
    while s["next"] < len(t_eval) and t_eval[s["next"]] <= t0:
        samples[s["next"]], trees[s["next"]] = x, ws.room.tree.q
        s["next"] += 1
    status = Status.finished if a is not None else Status.nan
    switches = Switches(system, until, max_step)
    judge = ErlsJudge(system, until, step is not None)
    record: list[Happening] = []
    if a is not None and divergence != "pass":
        judge.begin(t0, x, ws.room.tree.q)
    try:
        while s["t"] < until and a is not None:
            # conditions on time hold until the next of them changes; steps end there
            o["end"] = switches.hold(ws, float(s["t"]))
            if switches.changed:
                a = accelerations(ws, float(s["t"]), x[0], x[1])
                if a is None:
                    status = Status.nan
                    break
                x[2] = a
                if step is None:  # the steps before a jump of a torque are much too long for what it excites
                    s["h"] = min(s["h"], careful(a, scale))
                work[alpha.EARLIER], s["power"], s["h_old"], m["usable"] = x[2], ws.room.work.sum(), 0.0, 0
            s["status"] = steps.RUNNING
            while s["status"] == steps.RUNNING:
                advance(run)
                said = judge(float(s["t"]), x, ws.room.tree.q, float(s["W"])) if divergence != "pass" else None
                if said and not record:
                    record.append(Happening(float(s["t"]), "divergence", said))
                    s["status"] = Status.diverged if divergence == "stop" else s["status"]
                if progress is not None:
                    progress(float(s["t"]), int(s["steps"]))
            status = Status(int(s["status"]))
            if status is not Status.finished:
                break
    except KeyboardInterrupt:
        status = Status.interrupted
    counts = Counts(
        steps=int(s["steps"]),
        rejections=int(s["rejections"]),
        evaluations=int(ws.room.counts[0]),
        corrections=int(ws.room.counts[1]),
        smallest_step=float(s["h_min"]) if s["steps"] else np.nan,
        largest_step=float(s["h_max"]) if s["steps"] else np.nan,
        jacobians=int(m["linearisations"]),
        factorisations=int(m["factorisations"]),
        iterations=int(m["iterations"]),
    )
    taken, failure, message = int(s["next"]), None, "the end was reached"
    if status is not Status.finished:
        said, advice = SENTENCES[status]
        if status is Status.diverged:
            said = record[0].text
        failure = Failure(float(s["t"]), ws.room.tree.q.copy(), None, advice)
        message = f"at t = {failure.t:.6g} s {said}: {advice}"
    return Motion(
        t=t_eval[:taken],
        x=samples[:taken],
        steps_t=np.empty(0),
        counts=counts,
        status=status,
        message=message,
        failure=failure,
        seconds=time.perf_counter() - clock,
        tree=trees[:taken],
        work=works[:taken, 0],
        lengths=works[:taken, 1],
        t_end=float(s["t"]),
        health=float(m["health"]),
        closed=float(m["closed"]),
        record=tuple(record),
    )
