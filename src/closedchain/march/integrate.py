"""`integrate`: run a right-hand side in time with any of the `SOLVERS`; failures are values, not exceptions.

The theory is in `docs/theory/integrators.md`. The right-hand side and the correction are native functions,
given by their addresses:

    void rhs(const double* t, const double* x, const double* w, double* dx)
    void correct(const double* t, const double* x, const double* w, double* x_plus, double* residual)

Implicit solvers need the Jacobian, too:

    void jac(const double* t, const double* x, const double* w, double* entries, double* rate)

where `entries` are its nonzeros, column after column, and `rate` is df/dt.

"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from closedchain.march.solvers import SOLVERS
from closedchain.march.structure import Structure
from closedchain.march.structure import structure as full
from closedchain.march.trajectory import SENTENCES, Counts, DenseOutput, Failure, Status, Trajectory


def _vector(name, value, n=None):
    """A finite vector of float64, or a clear error; a scalar is repeated `n` times."""
    array = np.array(value, dtype=float)
    if array.ndim == 0 and n is not None:
        array = np.full(n, array)
    if array.ndim != 1:
        raise ValueError(f"{name} must be a vector, got an array of shape {array.shape}")
    if n is not None and array.size != n:
        raise ValueError(f"{name} must have {n} entries like x0, got {array.size}")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite, entry {int(np.argmin(np.isfinite(array)))} is not")
    return np.ascontiguousarray(array)


def _sample_times(t_eval, t0, t1):
    times = _vector("t_eval", t_eval)
    forward = np.sign(t1 - t0) or 1.0
    if times.size and not np.all(forward * np.diff(times) > 0):
        at = int(np.argmin(forward * np.diff(times) > 0))
        raise ValueError(
            f"t_eval must go strictly from t0 to t1, but entry {at + 1} ({times[at + 1]}) follows {times[at]}"
        )
    low, high = min(t0, t1), max(t0, t1)
    for time in times[[0, -1]] if times.size else ():
        if not low <= time <= high:
            raise ValueError(f"t_eval holds {time}, outside of the run from {t0} to {t1}")
    return times


def _positive(name, value):
    if not value > 0:
        raise ValueError(f"{name} must be positive, got {value}")
    return value


def _fixed_steps(step, length):
    """Number and length of the steps: equal ones if they fit to rounding, else the last one is shorter."""
    number = length / step
    if not number < 2**53:
        raise ValueError(f"step {step} is too small for a run of length {length}")
    whole = max(1, round(number))
    if abs(number - whole) <= 1e-9 * whole:
        return whole, length / whole
    return int(np.ceil(number)), step


def integrate(
    solver: str,
    rhs: int,
    x0,
    t_span: tuple[float, float],
    w,
    *,
    rtol: float = 1e-8,
    atol=1e-8,
    t_eval=None,
    dense_output: bool = False,
    step: float | None = None,
    first_step: float | None = None,
    max_step: float = np.inf,
    max_steps: int = 10_000_000,
    correct: int = 0,
    w_correct=None,
    correct_tol: float = 1e-13,
    correct_samples: bool = True,
    min_pivot: float = -np.inf,
    least_pivot: float = -np.inf,
    jac: int = 0,
    w_jac=None,
    structure: Structure | None = None,
    newton_tol: float | None = None,
    extra: tuple = (),
    watch: Callable[[DenseOutput], float | None] | None = None,
    progress: Callable[[float, int], object] | None = None,
    steps_per_call: int = 500,
) -> Trajectory:
    """Integrate `x' = rhs(t, x, w)` from `t_span[0]` to `t_span[1]`, which may lie before it.

    Parameters
    ----------
    solver : a name of `SOLVERS`.
    rhs : address of the native right-hand side.
    x0 : (n,) state at the start. It is not corrected.
    t_span : start and end.
    w : (p,) parameters, constant during the run.
    rtol, atol : tolerances of a step, `rtol |x_i| + atol_i`; atol may be a vector (n,).
    t_eval : (m,) sample times, strictly monotone from start to end; None: the start and every accepted step.
    dense_output : keep the polynomials of all steps, for `Trajectory.sol`.
    step : length of a step, for solvers with a fixed step only; the last one is shortened to end at the end.
    first_step, max_step : limits for solvers with step control.
    max_steps : attempts, accepted or not, before the run is given up.
    correct : address of the native correction, 0 for none.
    w_correct : (p,) its parameters; None: the same `w`.
    correct_tol : position residual at which a state counts as being on the manifold.
    correct_samples : put also the samples between steps back on the manifold.
    min_pivot, least_pivot : stop (status `singular`) after, or before, a step whose correction tells a smaller pivot.
    jac : address of the native Jacobian, for implicit solvers.
    w_jac : (p,) its parameters; None: the same `w`.
    structure : of its zeros, from `march.structure`; None: all n times n entries are given, column after column.
    newton_tol : the error that the iterations of an implicit solver may leave, in units of the tolerance.
    extra : further arguments of the solver's `advance`, for solvers that need neither nothing nor a Jacobian.
    watch : called with the dense output of the latest steps; a time it returns ends the run there (status `event`).
    progress : called as `progress(t, steps)` now and then.
    steps_per_call : attempts between two looks at progress and Ctrl-C. It has no influence on the numbers.

    Returns
    -------
    Trajectory
        Failures of the run are told in its `status`; nothing computed is lost.

    Raises
    ------
    ValueError
        If an argument cannot be right.

    Examples
    --------
    >>> import math, numba
    >>> @numba.cfunc("void(CPointer(f8), CPointer(f8), CPointer(f8), CPointer(f8))")
    ... def decay(t, x, w, dx):
    ...     dx[0] = -w[0] * x[0]
    >>> run = integrate("dop853", decay.address, [1.0], (0.0, 2.0), [0.5], rtol=1e-10, atol=1e-12)
    >>> bool(abs(run.x[-1, 0] - math.exp(-1)) < 1e-9)
    True
    """
    if solver not in SOLVERS:
        raise ValueError(f"there is no solver {solver!r}; there are {', '.join(SOLVERS)}")
    method = SOLVERS[solver]
    if method.adaptive and step is not None:
        raise ValueError(f"{solver} chooses its step; say first_step or max_step instead of step")
    if not method.adaptive and (first_step is not None or max_step != np.inf):
        raise ValueError(f"{solver} has a fixed step; say step instead of first_step or max_step")
    if not method.adaptive and step is None:
        raise ValueError(f"{solver} has a fixed step: say step=...")
    if method.needs == "jacobian" and not jac:
        raise ValueError(f"{solver} is implicit and needs the Jacobian: say jac=...")

    # what may be wrong with the numbers
    x = _vector("x0", x0)
    w = _vector("w", w)
    w_correct = w if w_correct is None else _vector("w_correct", w_correct)
    t0, t1 = _vector("t_span", t_span, 2)
    n = x.size
    atol = _vector("atol", atol, n)
    if not rtol >= 0 or np.any(atol < 0) or np.any((atol == 0) & (rtol == 0)):
        raise ValueError("rtol and atol must not be negative, nor both zero")
    _positive("max_step", max_step)
    _positive("correct_tol", correct_tol)
    _positive("steps_per_call", steps_per_call)
    times = np.empty(0) if t_eval is None else _sample_times(t_eval, t0, t1)
    if n == 0:
        raise ValueError("x0 is empty: there is nothing to integrate")
    if not rhs:
        raise ValueError("rhs is the address 0")

    # the records of the run
    from closedchain.march import step_control

    advance, home = method.load()
    options = np.zeros(1, step_control.OPTIONS)
    state = np.zeros(1, step_control.STATE)
    o, s = options[0], state[0]
    o["t0"], o["t1"], o["direction"] = t0, t1, 1.0 if t1 >= t0 else -1.0
    o["rtol"], o["max_step"] = rtol, max_step
    o["first_step"] = 0.0 if first_step is None else _positive("first_step", first_step)
    o["correct_tol"], o["correct_samples"] = correct_tol, correct_samples
    o["max_steps"], o["attempts"] = max_steps, steps_per_call
    o["min_pivot"], o["least_pivot"] = min_pivot, least_pivot
    o["newton_tol"] = 0.0 if newton_tol is None else _positive("newton_tol", newton_tol)
    dense_output = dense_output or watch is not None
    o["keep_states"], o["keep_dense"] = t_eval is None, dense_output
    if not method.adaptive:
        o["fixed_steps"], o["step"] = _fixed_steps(_positive("step", step), abs(t1 - t0))
    s["t"], s["err_old"], s["h_min"], s["bad_index"] = t0, 1e-4, np.inf, -1
    s["cause"], s["pivot"] = Status.step_too_small, 1.0

    # room for everything
    start = x.copy()
    work = np.zeros((home.WORK_ROWS, n))
    samples = np.empty((times.size, n))
    step_t = np.empty(steps_per_call)
    step_x = np.empty((steps_per_call if t_eval is None else 0, n))
    dense = np.empty((steps_per_call if dense_output else 0, home.DENSE_ROWS, n))
    chunks: list[tuple] = []
    memory = None
    if method.needs == "jacobian":
        from closedchain.march import implicit as shared
        from closedchain.march import linear

        plan = full(np.ones((n, n), bool)) if structure is None else structure
        memory = np.zeros(1, shared.MEMORY)
        memory[0]["age"], memory[0]["safety"], memory[0]["limit"] = shared.STALE, 1.0, np.inf
        w_jac = w if w_jac is None else _vector("w_jac", w_jac)
        extra = (jac, w_jac, plan, linear.room(plan, n), memory)

    def collect():
        # also right when a Ctrl-C fell between a call and its booking
        before = chunks[-1][0] if chunks else 0
        done = int(s["steps"]) - before
        chunks.append((before + done, step_t[:done].copy(), step_x[:done].copy(), dense[:done].copy()))

    if times.size and times[0] == t0:
        samples[0] = start
        s["next_sample"] = 1
    try:
        if t0 == t1:
            s["status"] = Status.finished
        else:
            step_control.begin(rhs, w, atol, options, state, x, work, float(method.error_order))
        while s["status"] == Status.running:
            advance(
                rhs,
                correct,
                w,
                w_correct,
                atol,
                times,
                samples,
                options,
                state,
                x,
                work,
                step_t,
                step_x,
                dense,
                *extra,
            )
            collect()
            if watch is not None:
                stop = _look(watch, chunks, t0)
                if stop is not None:
                    return _cut_short(stop, s, start, t0, times, samples, t_eval is None, chunks, memory)
            if progress is not None:
                progress(float(s["t"]), int(s["steps"]))
    except KeyboardInterrupt:
        collect()
        if s["status"] == Status.running:
            s["status"] = Status.interrupted

    return _trajectory(s, start, x, t0, t1, times, samples, t_eval is None, chunks, dense_output, memory)


def _look(watch, chunks, t0):
    """Show the latest steps to the watcher."""
    _, steps_t, _, rows = chunks[-1]
    if not len(steps_t):
        return None
    before = next((c[1][-1] for c in reversed(chunks[:-1]) if len(c[1])), t0)
    return watch(DenseOutput(np.concatenate([[before], steps_t]), rows))


def _cut_short(stop, s, start, t0, times, samples, every_step, chunks, memory):
    """The trajectory up to the time that the watcher gave."""
    s["status"] = Status.finished  # as far as it is wanted
    whole = _trajectory(s, start, start, t0, stop, times, samples, every_step, chunks, True, memory)
    end = whole.sol(stop)
    forward = stop >= t0
    kept = (whole.t < stop) if forward else (whole.t > stop)
    steps = whole.steps_t[(whole.steps_t < stop) if forward else (whole.steps_t > stop)]
    what, advice = SENTENCES[Status.event]
    return Trajectory(
        np.append(whole.t[kept], stop),  # the event itself is a sample
        np.concatenate([whole.x[kept], end[None]]),
        np.append(steps, stop),
        whole.counts,
        Status.event,
        f"at t = {float(stop)} {what}: {advice}",
        Failure(float(stop), end, None, advice),
        whole.sol,
    )


def _trajectory(s, start, x, t0, t1, times, samples, every_step, chunks, dense_output, memory):
    """Put the pieces together."""
    kept = list(zip(*chunks, strict=True))[1:]
    steps_t, step_x, dense = [np.concatenate(parts) for parts in kept] if kept else [np.empty(0)] * 3
    if every_step:
        t = np.concatenate([[t0], steps_t])
        states = np.concatenate([start[None], step_x]) if len(steps_t) else start[None]
    else:
        reached = int(s["next_sample"])
        t, states = times[:reached].copy(), samples[:reached].copy()
    any_step = bool(s["steps"])
    counts = Counts(
        *(int(s[name]) for name in ("steps", "rejections", "evaluations", "corrections")),
        *(float(s[name]) if any_step else np.nan for name in ("h_min", "h_max")),
        *(int(memory[0][name]) for name in (() if memory is None else ("jacobians", "factorisations"))),
    )
    status = Status(int(s["status"]))
    sol = None
    if dense_output and any_step:
        sol = DenseOutput(np.concatenate([[t0], steps_t]), dense)
    if status is Status.finished:
        return Trajectory(t, states, steps_t, counts, status, f"reached t = {float(t1)}", None, sol)

    index = int(s["bad_index"]) if status is Status.nan and s["bad_index"] >= 0 else None
    what, advice = SENTENCES[status]
    entry = "" if index is None else f" (entry {index})"
    message = f"at t = {float(s['t'])} {what}{entry}: {advice}"
    failure = Failure(float(s["t"]), x.copy(), index, advice)
    return Trajectory(
        t, states, steps_t, counts, status, message, failure, sol, float(s["pivot"]), float(s["h"]) or None
    )
