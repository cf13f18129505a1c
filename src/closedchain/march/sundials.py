"""CVODES and IDAS, the BDF methods of SUNDIALS that CasADi ships: an independent second opinion.

Hindmarsh et al. (2005), SUNDIALS: suite of nonlinear and differential/algebraic equation solvers, ACM Transactions on
Mathematical Software 31(3), 363-396. Both vary their order, from 1 to 5, and their step; CVODES solves

    sum_i alpha_i x_{n-i} + h beta f(t_n, x_n) = 0

by Newton's method, and IDAS the same with algebraic equations ``0 = g(t, x, z)`` beside ``x' = f(t, x, z)``.

Nothing of our own machinery takes part: other methods, another step control, another Newton iteration, another linear
algebra; equations and Jacobian are evaluated by CasADi's interpreter from the traced expressions, not by our compiled
code. The states are not put back on their manifold either. Closures and the lengths of quaternions drift by about the
error of the integration, and `run.closure_error` tells by how much.

CasADi has no dense output, tells no step, and cannot go on where it ended. So a run is made in pieces: at points in
time that include the samples, with a new start (order 1, a short step) after some thousand steps, which cost about 2
percent. Time runs forward from 0 in every piece, so that SUNDIALS can tell exactly when it fails, also on the way back.

The theory is in ``docs/theory/sundials.md``.
"""

from __future__ import annotations

import contextlib
import io
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from closedchain.close.formulation import Closed
from closedchain.errors import ModelError
from closedchain.march.compiled import Compiled
from closedchain.march.integrate import _sample_times, _vector
from closedchain.march.trajectory import SENTENCES, Counts, Failure, Status, Trajectory

NAMES = ("cvodes", "idas")
POINTS = 200  # of a run where its state is known at least: what a failure loses is less than the time between two
FIRST = 20  # the first piece is this part of a run, to see what it costs
PIECE = 2000  # steps until a new start, about; it costs some 40
LIMIT = 10_000  # steps from point to point; ten times as many when it is tried again
SOLVED = 2  # Newton steps before rates are evaluated: an error e of dependent coordinates becomes e^4


@dataclass(frozen=True, eq=False)
class Problem:
    """Equations as CasADi's integrators take them, in the time ``tau`` of a piece.

    Attributes
    ----------
    dae : expressions by name; parameters are those of the mechanism and of the method, and the time when a piece begins.
    differential, algebraic : their places in the state.
    scale : (n,) of the state: CVODES knows one absolute tolerance only.
    rates : ``(tau, x, p) -> x'`` of the differential states.
    pivot : ``(tau, x, p)`` -> how healthy the equations are; None if the method does not tell.
    """

    dae: dict[str, ca.SX]
    differential: list[int]
    algebraic: list[int]
    scale: np.ndarray
    rates: ca.Function
    pivot: ca.Function | None


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


def integrate_sundials(
    name: str,
    program: Compiled,
    x0: Any,
    t_span: tuple[float, float],
    p: Any,
    *,
    rtol: float = 1e-8,
    atol: Any = 1e-8,
    t_eval: Any = None,
    max_steps: int = 10_000_000,
    min_pivot: float = -np.inf,
    progress: Callable[[float, int], object] | None = None,
) -> Trajectory:
    """Integrate a mechanism under a formulation with SUNDIALS, from ``t_span[0]`` to ``t_span[1]``, also back in time.

    Parameters
    ----------
    name
        ``"cvodes"``, or ``"idas"``, which takes formulations with algebraic unknowns, too.
    program
        From `compiled`.
    x0
        (n,) state at the start, with values of the algebraic unknowns.
    t_span
        Start and end.
    p
        Parameters of the mechanism.
    rtol, atol
        Tolerances of a step; ``atol`` may be a vector (n,). Algebraic unknowns are left out of the error test.
    t_eval
        (m,) sample times, strictly monotone from start to end; None: the start and the end.
    max_steps
        Steps before the run is given up. The limit is exact between two samples, and looked at every 2000 steps.
    min_pivot
        Stop (status `singular`) at the first point where the correction would tell a smaller pivot. There are points
        at the samples and at 200 equal times.
    progress
        Called as ``progress(t, steps)`` every 2000 steps.

    Returns
    -------
    Trajectory
        Samples are what BDF computed, not put back on the manifold. A failure is told in its `status`; all samples
        before are kept, and `failure` has the last state that is known. The counts are SUNDIALS's own, without what it
        did after that state; rejections are failed error tests and failed iterations; lengths of steps are not told.

    Raises
    ------
    ModelError
        If the formulation is not one for this integrator.
    ValueError
        If an argument cannot be right.

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.march.compiled import compiled
    >>> start = cc.library.four_bar().assemble()
    >>> program = compiled(start, cc.Multipliers())
    >>> run = integrate_sundials("cvodes", program, program.pack(start.q, start.v), (0.0, 1.0), [], rtol=1e-11, atol=1e-11)
    >>> f"{run.x[-1, 0]:.6f}"
    '2.829418'
    """
    x = _vector("x0", x0)
    t0, t1 = _vector("t_span", t_span, 2)
    atol = _vector("atol", atol, x.size)
    if not rtol >= 0 or not np.all(atol > 0):
        raise ValueError("SUNDIALS needs atol > 0, and rtol that is not negative")
    times = np.array([t0, t1] if t0 != t1 else [t0]) if t_eval is None else _sample_times(t_eval, t0, t1)
    direction = 1.0 if t1 >= t0 else -1.0
    problem = _problem(name, program, direction, atol / atol.max())
    numbers = np.concatenate([_vector("p", p), program.numbers])
    points = _points(times, t0, t1)
    options = {"reltol": rtol, "abstol": float(atol.max())}
    states = np.empty((len(points), x.size))
    done, t = 0, float(t0)
    total = dict.fromkeys(("nsteps", "netfails", "nncfails", "nfevals", "n_call_jacF", "nlinsetups"), 0)
    size, limit, stuck, pivot = -(-len(points) // FIRST), LIMIT, None, 1.0
    status, message, index = Status.finished, f"reached t = {float(t1)}", None
    try:
        while done < len(points):
            left = max_steps - total["nsteps"]
            if left <= 0:
                status, message = _sentence(Status.too_many_steps, t)
                break
            span = direction * (points[done : done + size] - t)
            piece = _advance(name, problem, t, x, span, numbers, {**options, "max_num_steps": min(limit, left)})
            for key in total:
                total[key] += int(piece.stats.get(key, 0))
            reached = len(piece.x)

            # the equations may not be those to go on with
            if problem.pivot is not None and min_pivot > -np.inf and reached:
                values = _along(problem.pivot, span[:reached], piece.x / problem.scale, np.append(numbers, t))
                faded = np.flatnonzero(~(values >= min_pivot))
                reached = int(faded[0]) + 1 if faded.size else reached
                pivot = float(values[reached - 1])
            states[done : done + reached] = piece.x[:reached]
            start = t
            if reached:
                done += reached
                t, x = float(points[done - 1]), piece.x[reached - 1]
            if reached and not pivot >= min_pivot:
                status, message = _sentence(Status.singular, t)
                break
            if progress is not None:
                progress(t, total["nsteps"])

            # the next piece
            if piece.interrupted:
                status, message = _sentence(Status.interrupted, t)
                break
            if piece.flag is None:
                pace = max(1, piece.stats["nsteps"]) / reached
                size, limit, stuck = max(1, round(PIECE / pace)), LIMIT, None
                continue
            failed = start + direction * piece.tau if np.isfinite(piece.tau) else t
            if piece.flag == "TOO_MUCH_WORK" and not (not reached and piece.tau == stuck):
                if limit >= left:
                    status, message = _sentence(Status.too_many_steps, failed)
                    break
                if not reached:
                    limit, stuck = 10 * limit, piece.tau
                size = 1
                continue
            index = piece.bad
            status, message = _sentence(Status.step_too_small if index is None else Status.nan, failed, index)
            break
    except KeyboardInterrupt:
        status, message = _sentence(Status.interrupted, t)

    # the samples among the points; the start is no point
    place = np.searchsorted(direction * points, direction * times)
    known = times == t0
    kept = known | (place < done)
    samples = np.where(known[:, None], _vector("x0", x0), states[np.where(known | ~kept, 0, place)]) if len(points) else x[None]
    counts = Counts(
        steps=total["nsteps"],
        rejections=total["netfails"] + total["nncfails"],
        evaluations=total["nfevals"],
        corrections=0,
        smallest_step=np.nan,
        largest_step=np.nan,
        jacobians=total["n_call_jacF"],
        factorisations=total["nlinsetups"],
    )
    failure = None
    if status is not Status.finished:
        failure = Failure(t, x.copy(), index, SENTENCES[status][1])
    return Trajectory(
        times[kept], samples[: len(times)][kept], points[:done].copy(), counts, status, message, failure, pivot=pivot
    )


def _sentence(status: Status, t: float, index: int | None = None) -> tuple[Status, str]:
    what, advice = SENTENCES[status]
    entry = "" if index is None else f" (entry {index})"
    return status, f"at t = {float(t):.9g} {what}{entry}: {advice}"


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


def _problem(name: str, program: Compiled, direction: float, scale: np.ndarray) -> Problem:
    """The equations of a program for CasADi, made once."""
    if name not in NAMES:
        raise ModelError(f"there is no integrator {name!r} of SUNDIALS here; there are {', '.join(NAMES)}")
    closed = program.closed
    unknowns = int(getattr(closed, "algebraic", 0))
    if unknowns and name == "cvodes":
        raise ModelError(
            f"cvodes solves ordinary differential equations, but {type(program.method).__name__} has {unknowns} "
            "algebraic unknowns: take solver='idas'"
        )
    key = ("sundials", direction, scale.tobytes())
    if key not in program.shared:
        program.shared[key] = _trace(program, direction, unknowns, scale)
    return program.shared[key]


def _trace(program: Compiled, direction: float, unknowns: int, scale: np.ndarray) -> Problem:
    closed, clock = program.closed, program.equations.limbs.t
    n = closed.x.numel()
    algebraic = list(range(n - 1 - unknowns, n - 1))  # before the work W
    differential = [i for i in range(n) if i not in algebraic]
    numbers = ca.vertcat(program.equations.limbs.p, closed.parameters)

    # the time of a piece
    begin, tau = ca.SX.sym("begin"), ca.SX.sym("tau")
    p = ca.vertcat(numbers, begin)
    expressions = [_solved(closed, clock, numbers)]
    if closed.residual is not None:
        expressions.append(closed.residual[2])
    y = ca.SX.sym("y", n)
    new = [begin + direction * tau, y * ca.SX(scale)]
    rates, *health = ca.cse(ca.substitute([ca.densify(f) for f in expressions], [clock, closed.x], new))

    slow = direction / scale[differential]
    dae = {"t": tau, "x": y[differential], "p": p, "ode": slow * rates[differential]}
    if unknowns:
        dae |= {"z": y[algebraic], "alg": rates[algebraic]}
    inputs = [tau, y, p]
    pivot = ca.Function("pivot", inputs, health) if health else None
    return Problem(dae, differential, algebraic, scale, ca.Function("rates", inputs, [dae["ode"]]), pivot)


def _solved(closed: Closed, clock: ca.SX, numbers: ca.SX) -> ca.SX:
    """The rates; where they are right at solved positions only, Newton's steps are made before, in the expressions."""
    if not closed.solved_first:
        return closed.dx
    inputs = [clock, closed.x, numbers]
    newton, rates = ca.Function("newton", inputs, [closed.x_plus]), ca.Function("rates", inputs, [closed.dx])
    x = closed.x
    for _ in range(SOLVED):
        x = newton(clock, x, numbers)
    return rates(clock, x, numbers)


def _along(f: ca.Function, tau: np.ndarray, x: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.array(f.map(len(tau))(tau[None], x.T, np.tile(p[:, None], (1, len(tau))))).ravel()


# ---- one call of SUNDIALS --------------------------------------------------------------------------------------------


def _advance(
    name: str,
    problem: Problem,
    t: float,
    x: np.ndarray,
    span: np.ndarray,
    numbers: np.ndarray,
    options: dict[str, Any],
) -> Piece:
    """From the state ``x`` at ``t`` to the points ``t + span``, or as far as it goes."""
    p, y = np.append(numbers, t), x / problem.scale
    if problem.algebraic:
        # IDACalcIC is for index 1, but the unknowns of a stabilised index-2 form come with the state, and so do its
        # rates; and such unknowns would make the error test fail at short steps (IDA user guide, IDASetSuppressAlg)
        rates = np.array(problem.rates(0.0, y, p)).ravel()
        options = options | {"calc_ic": False, "suppress_algebraic": True, "init_xdot": rates.tolist()}
    f = ca.integrator("march", name, problem.dae, 0.0, span.tolist(), options)

    # with room of our own for the results, those before a failure are kept
    buffer, evaluate = f.buffer()
    parts = [y[problem.differential], y[problem.algebraic], p]
    for place, part in zip(("x0", "z0", "p"), parts, strict=True):
        buffer.set_arg(f.index_in(place), memoryview(part))
    out = [np.full((len(span), len(part)), np.nan) for part in parts[:2]]
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
        import sys

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

    def bad(self, problem: Problem) -> int | None:
        """The place of the entry that was not finite most recently."""
        told = re.findall(r"(?:NaN|Inf) detected for output (ode|alg), at \(row (\d+)", self.text)
        if not told:
            return None
        rows = problem.differential if told[-1][0] == "ode" else problem.algebraic
        return rows[int(told[-1][1])]
