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

from closedchain.integrate.arguments import positive, sample_times, vector
from closedchain.integrate.loop import Hold, Integration, Judge
from closedchain.integrate.solvers import SOLVERS
from closedchain.integrate.structure import LEAST, Structure
from closedchain.integrate.structure import structure as full
from closedchain.integrate.trajectory import DenseOutput, Status, Trajectory


def integrate(
    solver: str,
    rhs: int,
    x0,
    t_span: tuple[float, float],
    w,
    *,
    rtol: float = 1e-8,
    atol=1e-8,
    asked: float | None = None,
    time: float | None = None,
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
    corners: dict[str, int] | None = None,
    hold: Hold | None = None,
    watch: Callable[[DenseOutput], float | None] | None = None,
    detect_stiffness: bool = False,
    look: Callable[[float, np.ndarray, float], Status | None] | None = None,
    look_every: int = 50,
    judge: Judge | None = None,
    team: int = 0,
    agree: Callable[[], object] | None = None,
    keep: Callable[[np.ndarray, np.ndarray], object] | None = None,
    window: int = 4096,
    checkpoint: Callable[..., object] | None = None,
    resume: dict | None = None,
    progress: Callable[[float, int], object] | None = None,
    steps_per_call: int = 500,
) -> Trajectory:
    """Integrate `x' = rhs(t, x, w)` from `t_span[0]` to `t_span[1]`, which may lie before it.

    Parameters
    ----------
    solver : a name of `SOLVERS`.
    rhs : address of the native right-hand side.
    x0 : (n,) state at the start; put on the manifold if it is off by a noticeable part of the tolerance.
    t_span : start and end.
    w : (p,) parameters, constant during the run.
    rtol, atol : tolerances of a step, `rtol |x_i| + atol_i`; atol may be a vector (n,).
    asked : the tolerance relative to the sizes of the entries, by which Radau IIA loosens its estimate; None: the
        larger of rtol and the least atol.
    time : by which rates are compared with states where the first step is chosen; None: the length of the run.
    t_eval : (m,) sample times, strictly monotone from start to end (an array, or anything that gives one when it is
        sliced, such as `integrate.times.Equal`); None: the start and every accepted step.
    dense_output : keep the polynomials of all steps, for `Trajectory.sol`.
    step : length of a step, for solvers with a fixed step only; the last one is shortened to end at the end.
    first_step, max_step : limits for solvers with step control.
    max_steps : attempts, accepted or not, before the run is given up.
    correct : address of the native correction, 0 for none.
    w_correct : (p,) its parameters; None: the same `w`.
    correct_tol : residual, as the correction tells it, at which a state counts as being on the manifold.
    correct_samples : put also the samples between steps back on the manifold.
    min_pivot, least_pivot : stop (status `singular`) after, or before, a step whose correction tells a smaller pivot.
    jac : address of the native Jacobian, for implicit solvers.
    w_jac : (p,) its parameters; None: the same `w`.
    structure : of its zeros, from `integrate.structure`; None: all n times n entries are given, column after column.
    newton_tol : the error that the iterations of an implicit solver may leave, in units of the tolerance.
    extra : further arguments of the solver's `advance`, for solvers with functions of their own: an address, its
        parameters, and what else is needed.
    corners : options that tell solvers with step control where forces have corners, from `march.program.corners`; w
        then ends with the work vector of their signals.
    hold : called as `hold(t, x)` at the start and whenever its time has come; it returns the time of the next call, and
        new values of `w`, `w_correct` and `w_extra` (of the Jacobian, or of what is in `extra`) by name if they change
        there, else None. Steps end at these times.
    watch : called with the dense output of the latest steps; a time it returns ends the run there (status `event`).
    detect_stiffness : end the run (status `stiff`) where stability limits the steps; for solvers that can tell.
    look, look_every : called as `look(t, x, h)` after so many steps each; a status it returns ends the run there.
    judge : ends the run (status `diverged`) where it finds that the motion runs away.
    team : address of what brings numbers of all members together, if this is one of several that march together; see
        `step_control.together`. Parameters `w` are then what it takes, too.
    agree : called in place of `interrupt.check` where members have to agree on a Ctrl-C.
    keep : called as `keep(times, states)` with samples as they become available, `window` at a time; the trajectory
        then holds only those that are left at its end, and no ends of steps.
    window : room for samples, if they are handed over.
    checkpoint : called now and then with a function that gives all a run needs to go on later, with the same bits; with
        `now=True` when the run is interrupted.
    resume : what such a function gave.
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
    x = vector("x0", x0)
    w = vector("w", w)
    w_correct = w if w_correct is None else vector("w_correct", w_correct)
    t0, t1 = vector("t_span", t_span, 2)
    n = x.size
    atol = vector("atol", atol, n)
    if not rtol >= 0 or np.any(atol < 0) or np.any((atol == 0) & (rtol == 0)):
        raise ValueError("rtol and atol must not be negative, nor both zero")
    positive("max_step", max_step)
    positive("correct_tol", correct_tol)
    positive("steps_per_call", steps_per_call)
    times = sample_times(t_eval, t0, t1)
    if n == 0:
        raise ValueError("x0 is empty: there is nothing to integrate")
    if not rhs:
        raise ValueError("rhs is the address 0")

    # the records of the run
    from closedchain.integrate import step_control

    options = np.zeros(1, step_control.OPTIONS)
    state = np.zeros(1, step_control.STATE)
    o, s = options[0], state[0]
    o["rtol"], o["max_step"] = rtol, max_step
    o["asked"] = max(rtol, np.min(atol)) if asked is None else asked
    o["time"] = positive("time", abs(t1 - t0) or 1.0 if time is None else time)
    o["first_step"] = 0.0 if first_step is None else positive("first_step", first_step)
    o["correct_tol"], o["correct_samples"] = correct_tol, correct_samples
    o["max_steps"], o["attempts"] = max_steps, steps_per_call
    o["min_pivot"], o["least_pivot"] = min_pivot, least_pivot
    o["newton_tol"] = 0.0 if newton_tol is None else positive("newton_tol", newton_tol)
    o["keep_states"], o["keep_dense"] = t_eval is None, dense_output or watch is not None
    o["detect_stiffness"], o["team"] = detect_stiffness, team
    o["step"] = 0.0 if step is None else positive("step", step)
    for name, value in (corners or {}).items():
        o[name] = value
    s["t"], s["err_old"], s["h_min"], s["bad_index"] = t0, 1e-4, np.inf, -1
    s["cause"], s["pivot"] = Status.step_too_small, 1.0

    extra = tuple(extra)
    if method.needs == "jacobian":
        from closedchain.integrate import implicit, linear

        plan = full(np.ones((n, n), bool)) if structure is None else structure
        plan = plan._replace(slowest=np.array([LEAST / o["time"]]))
        atol = np.where(plan.mass > 0, atol, np.inf)  # algebraic states count in no norm
        memory = np.zeros(1, implicit.MEMORY)
        memory[0]["age"], memory[0]["safety"], memory[0]["limit"] = implicit.STALE, 1.0, np.inf
        extra = (jac, w if w_jac is None else vector("w_jac", w_jac), plan, linear.room(plan, n), memory)

    parameters = {"w": w, "w_correct": w_correct}
    if len(extra) > 1:
        parameters["w_extra"] = extra[1]
    run = Integration(
        method, (rhs, correct), parameters, extra, x, (float(t0), float(t1)), atol, times, window, options, state,
        dense_output,
    )  # fmt: skip
    run.hold, run.watch, run.look, run.judge, run.keep = hold, watch, look, judge, keep
    run.checkpoint, run.progress, run.look_every = checkpoint, progress, look_every
    if agree is not None:
        run.check = agree
    return run.march(resume)
