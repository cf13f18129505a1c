"""CVODES and IDAS, the BDF methods of SUNDIALS that CasADi ships: an independent second opinion.

Hindmarsh et al. (2005), SUNDIALS: suite of nonlinear and differential/algebraic equation solvers, ACM Transactions on
Mathematical Software 31(3), 363-396. Both vary their order, from 1 to 5, and their step; CVODES solves

    sum_i alpha_i x_{n-i} = h f(t_n, x_n)

by Newton's method, and IDAS the same with algebraic equations ``0 = g(t, x, z)`` beside ``x' = f(t, x, z)``.

Nothing of our own machinery takes part: other methods, another step control, another Newton iteration, another linear
algebra; equations and Jacobian are evaluated by CasADi's interpreter from the traced expressions, not by our compiled
code. The states are not put back on their manifold either. Closures and the lengths of quaternions drift by about the
error of the integration, and `run.closure_error` tells by how much.

CasADi has no dense output, tells no step, and cannot go on where it ended. So a run is made in pieces: at points in
time that include the samples, with a new start (order 1, a short step) after some thousand steps, which cost about 2
percent. Time runs forward from 0 in every piece, so that SUNDIALS tells when it fails
to six digits of the piece, also on the way back.

The theory is in ``docs/theory/sundials.md``.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import threading
import time
from dataclasses import dataclass, field, replace
from typing import Any

import casadi as ca
import numpy as np

from closedchain.arguments import vector
from closedchain.close.formulation import Closed
from closedchain.errors import ModelError
from closedchain.integrate.hooks import Hooks, InputsError
from closedchain.integrate.problem import Samples, Tolerances
from closedchain.integrate.solvers import Solver, named
from closedchain.integrate.times import sample_times
from closedchain.integrate.trajectory import SENTENCES, Counts, Failure, Status, Trajectory
from closedchain.lock import LOCK, locked
from closedchain.march.program.compiled import Compiled
from closedchain.native.at_samples import at_samples

NAMES = ("cvodes", "idas")
POINTS = 200  # of a run where its state is known at least: what a failure loses is less than the time between two
PIECE = 2000  # steps, and points, until a new start, which costs some 40 steps
FEW = 100  # steps from point to point that a piece of many points may always make
MANY = 5000  # where that is not enough, from one point to the next; then ten times as many
COARSE = 1e6  # units of algebraic unknowns: at short steps rounding, divided by the step, would stop IDAS's Newton
SOLVED = 2  # Newton steps before rates are evaluated: an error e of dependent coordinates becomes e^4


@dataclass(frozen=True, eq=False)
class Scaled:
    """Equations as CasADi's integrators take them, in the time ``tau`` of a piece.

    Attributes
    ----------
    dae : expressions by name; parameters are those of mechanism and method, the time when a piece begins, and units.
    differential, algebraic : their places in the state.
    pace : s, the unit of ``tau``; negative for a run back in time.
    scale : (n,) of the state: CVODES knows one absolute tolerance only.
    balances : (k,) of the equations of k algebraic unknowns.
    rates : ``(tau, x, p) -> x'`` of the differential states.
    hidden : ``(tau, x, p) -> r, dr/dz`` of what determines the algebraic unknowns at a start, or None.
    pivot : ``(tau, x, p)`` -> how healthy the equations are; None if the method does not tell.
    """

    dae: dict[str, Any]
    differential: list[int]
    algebraic: list[int]
    rates: ca.Function
    hidden: ca.Function | None
    pivot: ca.Function | None
    pace: float = 1.0
    scale: np.ndarray = field(default_factory=lambda: np.ones(0))
    balances: np.ndarray = field(default_factory=lambda: np.ones(0))

    def parameters(self, numbers: np.ndarray, begin: float) -> np.ndarray:
        """Those of the equations, for a piece that begins at a time."""
        return np.concatenate([numbers, [begin, self.pace], self.scale, self.balances])


@dataclass(frozen=True, eq=False)
class Piece:
    """What one call of an integrator gave.

    Attributes
    ----------
    x : (k, n) states at the points that were reached.
    stats : of SUNDIALS, up to the last of them.
    flag : what SUNDIALS returned, without its prefix; None if all is well.
    tau : when it failed.
    bad : place of the first rate or residual that was not finite shortly before, or None.
    """

    x: np.ndarray
    stats: dict[str, Any]
    flag: str | None = None
    tau: float = np.nan
    bad: int | None = None
    interrupted: bool = False


@dataclass(frozen=True, eq=False)
class SundialsProblem:
    """A mechanism under a formulation, in the units in which SUNDIALS gets it: numbers without units.

    Attributes
    ----------
    program
        From `compiled`.
    p
        Parameters of the mechanism. `Hooks.inputs` may change them in place: they are read again after each call of it.
    sizes
        (n,) by which the entries of the state compare.
    balances
        (k,) by which the equations of k algebraic unknowns compare.
    seconds
        The unit of time.
    pivot_after
        Stop (status `singular`) at the first point where the correction would tell a smaller pivot. There are points
        at the samples and at 200 equal times.
    """

    program: Compiled
    p: Any
    sizes: Any = 1.0
    balances: Any = 1.0
    seconds: float = 1.0
    pivot_after: float = -np.inf


def integrate_sundials(
    solver: Solver | str,
    problem: SundialsProblem,
    x0: Any,
    t_span: tuple[float, float],
    tolerances: Tolerances | None = None,
    samples: Samples | None = None,
    hooks: Hooks | None = None,
) -> Trajectory:
    """Integrate a mechanism under a formulation with SUNDIALS, from ``t_span[0]`` to ``t_span[1]``, also back in time.

    Parameters
    ----------
    solver
        `CVODES`, or `IDAS`, which takes formulations with algebraic unknowns, too. The limit of its steps is looked at
        after every piece, of some thousand steps.
    problem
        The equations.
    x0
        (n,) state at the start; algebraic unknowns are found from the others.
    t_span
        Start and end.
    tolerances
        Of a step. Algebraic unknowns are left out of the error test.
    samples
        Their times; None: the start and the end.
    hooks
        Of them ``inputs``, ``monitor`` and ``progress`` are called: at discontinuities, where BDF begins anew, at every
        point, and after every piece. ``inputs`` returns no arrays here: it changes ``problem.p`` in place.

    Returns
    -------
    Trajectory
        Samples are what BDF computed, not put back on the manifold. A failure is told in its `status`; all samples
        before are kept, and `failure` has the last state that is known. The counts are SUNDIALS's own, without what it
        did after that state; rejections are failed error tests and failed iterations. When steps ended, and how long
        they were, is not told.

    Raises
    ------
    ModelError
        If the formulation is not one for this integrator, or an argument cannot be right.

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.march.program.compiled import compiled
    >>> from closedchain.pose.state import parameter_vector
    >>> start = cc.library.four_bar().assemble()
    >>> program, p = compiled(start, cc.Multipliers()), parameter_vector(start.mechanism, start.parameters)
    >>> x0 = program.pack(start.q, start.v)
    >>> run = integrate_sundials("cvodes", SundialsProblem(program, p), x0, (0.0, 1.0), Tolerances(1e-11, 1e-11))
    >>> f"{run.x[-1, 0]:.6f}"
    '2.829418'
    """
    solver = named(solver)
    tolerances, samples, hooks = tolerances or Tolerances(), samples or Samples(), hooks or Hooks()
    program = problem.program
    x = vector("x0", x0)
    t0, t1 = (float(t) for t in vector("t_span", t_span, 2))
    atol = vector("atol", tolerances.atol, x.size)
    if not tolerances.rtol >= 0 or not np.all(atol > 0):
        raise ModelError("SUNDIALS needs atol > 0, and rtol that is not negative")
    t_eval = samples.t_eval
    times = np.array([t0, t1] if t0 != t1 else [t0]) if t_eval is None else sample_times(t_eval, t0, t1)
    direction = 1.0 if t1 >= t0 else -1.0
    asked = float(np.min(atol / problem.sizes))
    scale = atol / asked
    unknowns = int(getattr(program.closed, "algebraic", 0))
    scale[x.size - 1 - unknowns : x.size - 1] *= COARSE
    scaled = _scaled(
        solver.name, program, direction * problem.seconds, scale, np.broadcast_to(problem.balances, unknowns)
    )
    points = _points(times, t0, t1)
    options = {"reltol": tolerances.rtol, "abstol": asked}
    vector("p", problem.p)
    clock = time.perf_counter()
    march = SundialsRun(solver, scaled, x, t0, options, problem.pivot_after, hooks)
    points = march.run(points, t1, problem)
    return march.trajectory(x, points, times, time.perf_counter() - clock)


class SundialsRun:
    """A run on its way: the state reached, what it cost, and how it ended."""

    def __init__(
        self,
        solver: Solver,
        problem: Scaled,
        x: np.ndarray,
        t: float,
        options: dict[str, Any],
        min_pivot: float,
        hooks: Hooks,
    ) -> None:
        self.solver, self.problem, self.options, self.hooks = solver, problem, options, hooks
        self.min_pivot = min_pivot
        self.begun, self.t, self.x, self.pivot = t, t, x, 1.0
        self.states: list[np.ndarray] = []
        self.total = dict.fromkeys(("nsteps", "netfails", "nncfails", "nfevals", "n_call_jacF", "nlinsetups"), 0)
        self.status, self.message = Status.finished, ""
        self.index: int | None = None

    def renew(self, numbers: np.ndarray) -> None:
        """Other parameters from here on, and algebraic unknowns that belong to them."""
        self.numbers = numbers
        self.x = _consistent(self.problem, self.t, self.x, numbers)

    def run(self, points: np.ndarray, t1: float, problem: SundialsProblem) -> np.ndarray:
        """From one discontinuity of the inputs to the next, until the end; returns the points, with these."""
        direction, hooks = np.sign(self.problem.pace), self.hooks
        try:
            while self.status is Status.finished:
                told, new = hooks.inputs(self.t, self.x)
                if new is not None:
                    raise ModelError(
                        f"SUNDIALS takes new inputs from the parameters, which Hooks.inputs changes in place: return "
                        f"None instead of {', '.join(map(repr, new)) or 'an empty dictionary'}"
                    )
                change = direction * np.inf if told is None else told
                self.renew(np.concatenate([problem.p, problem.program.numbers]))
                ahead = points[(direction * points > direction * self.t) & (direction * points <= direction * change)]
                if direction * (t1 - change) > 0 and change not in ahead:  # it becomes a point as others
                    ahead = np.append(ahead, change)
                    points = np.insert(points, np.searchsorted(direction * points, direction * change), change)
                self.to(ahead)
                if self.t == t1:
                    break
        except InputsError as error:
            self.stop(Status.controller, self.t, str(error))
        except KeyboardInterrupt:
            self.stop(Status.interrupted, self.t)
        return points

    def to(self, points: np.ndarray) -> None:
        """Go from point to point until the last, or until something stops the run."""
        done, size, limit, stuck = 0, PIECE, FEW, np.nan
        while done < len(points) and self.status is Status.finished:
            start, left = self.t, self.solver.max_steps - self.total["nsteps"]
            if left <= 0:
                self.stop(Status.too_many_steps, self.t)
                return
            piece = self.advance(points[done : done + size], min(limit, left))
            reached = len(piece.x)
            done += reached
            self.hooks.progress(self.t, self.total["nsteps"])
            self.hooks.interrupted()
            if piece.flag is None:
                pace = max(1, piece.stats["nsteps"]) / max(1, reached)
                size, limit, stuck = min(PIECE, max(1, round(PIECE / pace))), max(FEW, round(4 * pace)), np.nan
                continue
            failed = start + self.problem.pace * piece.tau if np.isfinite(piece.tau) else self.t
            if piece.interrupted:
                self.stop(Status.interrupted, self.t)
            elif piece.flag != "TOO_MUCH_WORK" or (not reached and piece.tau == stuck):
                # more steps do not lead on
                self.index = piece.bad
                self.stop(Status.step_too_small if piece.bad is None else Status.nan, failed)
            elif limit >= left:
                self.stop(Status.too_many_steps, failed)
            else:
                self.total["nsteps"] += limit  # made for nothing
                size, limit = 1, MANY if size > 1 else 10 * limit
                stuck = np.nan if reached else piece.tau

    def advance(self, points: np.ndarray, limit: int) -> Piece:
        """One piece, as far as it goes, and as far as the equations are those to go on with."""
        problem = self.problem
        span = (points - self.t) / problem.pace
        p = problem.parameters(self.numbers, self.t)
        piece = _advance(self.solver.name, problem, self.x, span, p, {**self.options, "max_num_steps": limit})
        for key in self.total:
            self.total[key] += int(piece.stats.get(key, 0))
        reached = len(piece.x)
        if problem.pivot is not None and self.min_pivot > -np.inf and reached:
            pivots = _along(problem.pivot, span[:reached], piece.x / problem.scale, p)
            faded = np.flatnonzero(~(pivots >= self.min_pivot))
            if faded.size:
                reached = int(faded[0]) + 1
                piece = replace(piece, x=piece.x[:reached], flag=None)
                self.stop(Status.singular, float(points[reached - 1]))
            self.pivot = float(pivots[reached - 1])
        for k in range(reached):
            found = None if self.hooks.monitor is None else self.hooks.monitor(float(points[k]), piece.x[k])
            if found:
                reached = k + 1
                piece = replace(piece, x=piece.x[:reached], flag=None)
                self.stop(found[0], float(points[k]), found[1])
                break
        if reached:
            self.states.append(piece.x)
            self.t, self.x = float(points[reached - 1]), piece.x[-1]
        return piece

    def stop(self, status: Status, t: float, trouble: str = "") -> None:
        """End the run with a sentence."""
        what, advice = SENTENCES[status]
        what = trouble or what
        entry = "" if self.index is None else f" (entry {self.index})"
        self.status, self.message = status, f"at t = {float(t):.9g} {what}{entry}: {advice}"

    def trajectory(self, start: np.ndarray, points: np.ndarray, times: np.ndarray, seconds: float) -> Trajectory:
        """The samples, which are among the points or the start itself, and how the run ended."""
        direction = np.sign(self.problem.pace)
        reached = np.vstack([start, *self.states])
        place = np.searchsorted(direction * points, direction * times) + 1
        place[times == self.begun] = 0
        kept = place < len(reached)
        failure = None
        if self.status is not Status.finished:
            failure = Failure(self.t, self.x.copy(), self.index, SENTENCES[self.status][1])
        return Trajectory(
            times[kept],
            reached[place[kept]],
            np.empty(0),  # CasADi does not tell them
            self.counts,
            self.status,
            self.message or f"reached t = {self.t}",
            failure,
            pivot=self.pivot,
            seconds=seconds,
        )

    @property
    def counts(self) -> Counts:
        """What it cost."""
        total = self.total
        return Counts(
            steps=total["nsteps"],
            rejections=total["netfails"] + total["nncfails"],
            evaluations=total["nfevals"],
            corrections=0,
            smallest_step=np.nan,
            largest_step=np.nan,
            jacobians=total["n_call_jacF"],
            factorisations=total["nlinsetups"],
        )


def _points(times: np.ndarray, t0: float, t1: float) -> np.ndarray:
    """Samples, the end, and between them as many as are needed so that no failure loses much."""
    if t0 == t1:
        return np.empty(0)
    marks = np.linspace(t0, t1, POINTS + 1)[1:]
    after = times[times != t0]
    if len(after):
        nearest = np.abs(marks[:, None] - after).min(axis=1) if len(after) < 10 * POINTS else np.zeros(len(marks))
        near = nearest < 1e-3 * abs(t1 - t0) / POINTS
        near[-1] = after[-1] == t1
        marks = marks[~near]
    points = np.union1d(after, marks)
    return points if t1 > t0 else points[::-1].copy()


# ---- the equations ---------------------------------------------------------------------------------------------------


def _scaled(name: str, program: Compiled, pace: float, scale: np.ndarray, balances: np.ndarray) -> Scaled:
    """The equations of a program for CasADi, traced once for all units."""
    if name not in NAMES:
        raise ModelError(f"there is no integrator {name!r} of SUNDIALS here; there are {', '.join(NAMES)}")
    closed = program.closed
    unknowns = int(getattr(closed, "algebraic", 0))
    if unknowns and name == "cvodes":
        raise ModelError(
            f"cvodes solves ordinary differential equations, but {type(program.method).__name__} has {unknowns} "
            "algebraic unknowns: take solver='idas'"
        )
    if "sundials" not in program.shared:
        program.shared["sundials"] = _trace(program, unknowns)
    return replace(program.shared["sundials"], pace=pace, scale=scale, balances=balances)


@locked
def _trace(program: Compiled, unknowns: int) -> Scaled:
    closed, clock = program.closed, program.equations.limbs.t
    n = closed.x.numel()
    algebraic = list(range(n - 1 - unknowns, n - 1))  # before the work W
    differential = [i for i in range(n) if i not in algebraic]
    numbers = ca.vertcat(program.equations.limbs.p, closed.parameters)

    # the time of a piece, and units
    begin, tau, pace = (ca.SX.sym(x) for x in ("begin", "tau", "pace"))
    scale, balances = ca.SX.sym("scale", n), ca.SX.sym("balances", unknowns)
    p = ca.vertcat(numbers, begin, pace, scale, balances)
    expressions = [_solved(closed, clock, numbers)]
    if closed.correction is not None:
        expressions.append(closed.correction.residual[2])
    y = ca.SX.sym("y", n)
    new = [begin + pace * tau, y * scale]
    rates, *health = ca.cse(ca.substitute([ca.densify(f) for f in expressions], [clock, closed.x], new))

    slow = pace / scale[differential]
    dae: dict[str, Any] = {"t": tau, "x": y[differential], "p": p, "ode": slow * rates[differential]}
    if unknowns:
        dae |= {"z": y[algebraic], "alg": rates[algebraic] / balances}
    inputs: list[Any] = [tau, y, p]
    return Scaled(
        dae,
        differential,
        algebraic,
        ca.Function("rates", inputs, [dae["ode"]]),
        ca.Function("hidden", inputs, _hidden(dae)) if unknowns else None,
        ca.Function("pivot", inputs, health) if health else None,
    )


def _hidden(dae: dict[str, Any]) -> list[ca.SX]:
    """What algebraic unknowns obey at a start: the equations that they appear in, and the rates of all others."""
    alg, z = dae["alg"], dae["z"]
    rate = ca.jtimes(alg, dae["x"], dae["ode"]) + ca.jacobian(alg, dae["t"])
    rows = set(ca.jacobian(alg, z).sparsity().row())
    r = ca.vertcat(*(alg[i] if i in rows else rate[i] for i in range(alg.numel())))
    return [r, ca.jacobian(r, z)]


def _solved(closed: Closed, clock: ca.SX, numbers: ca.SX) -> ca.SX:
    """The rates; where they are right at solved positions only, Newton's steps are made before, in the expressions."""
    if not closed.solved_first:
        return closed.dx
    inputs: list[Any] = [clock, closed.x, numbers]
    assert closed.correction is not None
    newton = ca.Function("newton", inputs, [closed.correction.x_plus])
    rates = ca.Function("rates", inputs, [closed.dx])
    x = closed.x
    for _ in range(SOLVED):
        x = newton(clock, x, numbers)
    return rates(clock, x, numbers)


def _consistent(problem: Scaled, t: float, x: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The state with algebraic unknowns that belong to the others, as IDAS wants them."""
    if problem.hidden is None:
        return x
    y, p = x / problem.scale, problem.parameters(numbers, t)
    for _ in range(3):  # linear in most cases
        r, J = (np.array(value) for value in problem.hidden(0.0, y, p))
        y[problem.algebraic] -= np.linalg.lstsq(J, r.ravel(), rcond=None)[0]
    return y * problem.scale if np.isfinite(y).all() else x


def _along(f: ca.Function, tau: np.ndarray, x: np.ndarray, p: np.ndarray) -> np.ndarray:
    return at_samples(f, len(tau), [tau[:, None], x, p])[0].ravel()


# ---- one call of SUNDIALS --------------------------------------------------------------------------------------------


def _advance(
    name: str, problem: Scaled, x: np.ndarray, span: np.ndarray, p: np.ndarray, options: dict[str, Any]
) -> Piece:
    """From the state ``x`` to the times ``span`` after it, or as far as it goes."""
    y = x / problem.scale
    if name == "idas":
        # the start is consistent: IDACalcIC finds that out with many evaluations, and not at all for index 2
        rates = np.array(problem.rates(0.0, y, p)).ravel()
        options = options | {"calc_ic": False, "init_xdot": rates.tolist()}
    if problem.algebraic:
        # In an index-2 form they would make the error test fail at short steps (IDA user guide, IDASetSuppressAlg), and
        # rounding, divided by the step, Newton's iteration. IDAS would begin with a step of rtol / rate.
        rate = np.max(np.abs(rates) / (1 + np.abs(y[problem.differential])))
        step = 0.1 * max(options["reltol"], options["abstol"]) ** 0.5 / max(rate, 1 / span[-1])
        options = options | {"suppress_algebraic": True, "step0": float(min(step, span[0]))}
    with LOCK:
        f = ca.integrator("march", name, problem.dae, 0.0, span.tolist(), options)

    # with room of our own for the results, those before a failure are kept
    buffer: Any
    buffer, evaluate = f.buffer()
    parts = [y[problem.differential], y[problem.algebraic], p]
    for place, part in zip(("x0", "z0", "p"), parts, strict=True):
        buffer.set_arg(f.index_in(place), memoryview(part))
    out: list[Any] = [np.full((len(span), len(part)), np.nan) for part in parts[:2]]
    for place, part in zip(("xf", "zf"), out, strict=True):
        buffer.set_res(f.index_out(place), memoryview(part))
    messages = Messages()
    flag = None
    try:
        with messages:
            evaluate()
    except RuntimeError as trouble:
        told = re.search(r'returned "[A-Z]+?_(\w+)"', str(trouble))
        flag = told[1] if told else str(trouble)
    states = np.empty((len(span), len(x)))
    states[:, problem.differential], states[:, problem.algebraic] = out
    states *= problem.scale
    finite = np.isfinite(states).all(axis=1)
    reached = len(span) if finite.all() else int(np.argmin(finite))
    stats = dict(buffer.stats())
    if flag is None and reached < len(span):
        flag = "NOT_FINITE"
    if flag is None:
        return Piece(states, stats)
    return Piece(states[:reached], stats, flag, messages.tau, messages.bad(problem), messages.interrupted)


class Messages(io.TextIOBase):
    """What SUNDIALS and CasADi print on the way to a failure, instead of its code: read, and kept from the screen.

    CasADi also takes a Ctrl-C for a failed evaluation, and prints it.
    """

    lock = threading.Lock()  # there is one sys.stderr

    def __init__(self) -> None:
        self.text = ""
        self.owner = threading.get_ident()
        self.redirection = contextlib.redirect_stderr(self)
        self.screen: Any = None

    def __enter__(self) -> Messages:
        self.lock.acquire()
        self.screen = sys.stderr
        self.redirection.__enter__()
        return self

    def __exit__(self, *trouble: Any) -> None:
        self.redirection.__exit__(*trouble)
        self.lock.release()

    def write(self, text: str) -> int:
        """Keep the latest; other threads still speak to the screen."""
        if threading.get_ident() != self.owner:
            return int(self.screen.write(text))
        self.text = (self.text + text)[-4000:]
        return len(text)

    @property
    def interrupted(self) -> bool:
        """Whether there was a Ctrl-C."""
        return "KeyboardInterrupt" in self.text

    @property
    def tau(self) -> float:
        """When it failed, to six digits; nan if it was not told."""
        told = re.findall(r"At t = ([-+.\de]+)", self.text)
        return float(told[-1]) if told else np.nan

    def bad(self, problem: Scaled) -> int | None:
        """The place of the entry that was not finite most recently."""
        told = re.findall(r"(?:NaN|Inf) detected for output (ode|alg), at \(row (\d+)", self.text)
        if not told:
            return None
        rows = problem.differential if told[-1][0] == "ode" else problem.algebraic
        return rows[int(told[-1][1])]
