"""Explicit Runge-Kutta methods, driven by their tableau: with step control, or with a fixed step.

``kernel(tableau, error_order)`` makes the `advance` of a solver from its numbers (`tableaus.py`). With ``err ~ h^q``,
q the error order, steps are controlled by the first row of the tableau's error estimates; with 0 they have one length.
Everything is compiled once and serves all tableaus.

Where the last stage begins at the end of the step (its row of A is b: "first same as last", FSAL), it is the derivative
there, hence the first stage of the next step. A correction that changes the end makes that stage stale, and it is
evaluated again there; the error estimate has been taken before and keeps the old one.

With a fixed step there is no error estimate and the step is a promise: where a method with step control takes a smaller
step (a derivative that is not finite, a correction that fails), the run ends.
"""

from types import SimpleNamespace
from typing import NamedTuple

import numba
import numpy as np

from closedchain.arguments import numeric
from closedchain.errors import ModelError
from closedchain.integrate import fixed_step
from closedchain.integrate.corner_steps import passes
from closedchain.integrate.methods.tableaus import Tableau
from closedchain.integrate.project import arrive, hermite_rows, take_samples, wants_rows
from closedchain.integrate.step_control import (
    ADVANCE,
    F1,
    F2,
    RESIDUAL,
    EquationsType,
    KeptType,
    RunType,
    SamplesType,
    Scratch,
    Step,
    StepType,
    accept,
    end_time,
    next_step,
    propose,
    reject,
    reject_correction,
    scaled_norm,
    unowned_views,
)
from closedchain.native.call import call
from closedchain.native.jit import jit


class Coefficients(NamedTuple):
    """A tableau as the kernels take it.

    Attributes
    ----------
    A, b, c, E, D : as in `Tableau`.
    control : exponent and beta of `step_control.propose`, 1/q, and limits of the step: shrink, grow.
    fsal : whether the last stage begins at the end of the step.
    """

    A: np.ndarray
    b: np.ndarray
    c: np.ndarray
    E: np.ndarray
    D: np.ndarray
    control: np.ndarray
    fsal: bool


_C1, _C2 = F1.copy(readonly=True), F2.copy(readonly=True)
CoefficientsType = numba.types.NamedTuple((_C2, _C1, _C1, _C2, _C2, _C1, numba.boolean), Coefficients)

BETA, SHRINK, GROW = 0.04, 0.2, 10.0


@jit(numba.void(_C1, F2, numba.int64, numba.float64, F1))
def add_up(weights, k, count, h, y):
    """``y = h sum_j weights_j k_j`` over the first ``count`` stages."""
    n = y.size
    for i in range(n):
        y[i] = weights[0] * k[0, i]
    for j in range(1, count):
        weight = weights[j]
        if weight != 0.0:
            for i in range(n):
                y[i] += weight * k[j, i]
    for i in range(n):
        y[i] *= h


@jit(numba.void(_C1, F2, numba.int64, StepType))
def move(weights, k, count, step):
    """``y = x + h sum_j weights_j k_j``: few passes over memory, each in vector registers."""
    x, y, h, n = step.x, step.y, step.h, step.x.size
    if count == 1:
        for i in range(n):
            y[i] = x[i] + h * (weights[0] * k[0, i])
        return
    last = count - 1
    for i in range(n):
        y[i] = weights[0] * k[0, i]
    for j in range(1, last):
        weight = weights[j]
        if weight != 0.0:
            for i in range(n):
                y[i] += weight * k[j, i]
    for i in range(n):
        y[i] = x[i] + h * (y[i] + weights[last] * k[last, i])


@jit(numba.void(CoefficientsType, numba.int64, F1, numba.float64, StepType, F2, F1))
def stages(m, rhs, w, t, step, k, clock):
    """The stages `k[1:]` and the end of a step from `t`; `k[0]` is given."""
    count = k.shape[0]
    for stage in range(1, count):
        clock[0] = t + m.c[stage] * step.h
        move(m.A[stage], k, stage, step)
        call(rhs, clock, step.y, w, k[stage])
    if not m.fsal or count < m.c.size:
        move(m.b, k, count, step)


@jit(numba.void(CoefficientsType, StepType, F2))
def polynomial(m, step, k):
    """The rows of a step's polynomial."""
    hermite_rows(step.x, step.y, step.f, step.f_new[0], step.h, step.rows)
    for r in range(m.D.shape[0]):
        add_up(m.D[r], k, k.shape[0], step.h, step.rows[4 + r])


@jit(numba.int64(CoefficientsType, EquationsType, SamplesType, RunType, KeptType))
def controlled(m, e, samples, run, kept):
    """Make up to `attempts` attempts with step control; returns the accepted steps."""
    e, samples, run, kept = unowned_views(e, samples, run, kept)
    o, s, work, count = run.options[0], run.state[0], run.work, m.c.size
    k, at = work[:count], count if m.fsal else count + 1
    f_new, y, x_plus, rows = work[at - 1 : at], work[at], work[at + 1], work[at + 2 :]
    exponent, beta, q, shrink, grow = m.control[0], m.control[1], m.control[2], m.control[3], m.control[4]
    scratch = Scratch(np.empty(1), x_plus, np.zeros(RESIDUAL), rows[0])
    done = 0
    for _ in range(o.attempts):
        if s.status != 0:
            break
        h = next_step(o, s)
        if s.status != 0:
            break
        step = Step(h, end_time(o, s, h), run.x, k[0], y, f_new, rows)

        stages(m, e.rhs, e.w, s.t, step, k, scratch.clock)
        s.evaluations += count - 1
        add_up(m.E[0], k, count, h, x_plus)
        err = scaled_norm(x_plus, run.x, y, e.atol, o.rtol, o.team, e.w)
        if not err <= 1.0:
            reject(s, h, err, q, k, o.team, e.w)
            continue

        if not arrive(e, run, step, scratch, q, 1.0, m.fsal, True):
            continue
        if o.corners != 0 and not passes(e, run, step):
            continue
        err = max(err, s.moved)

        # the samples on the way
        if wants_rows(samples.t_eval, step.t_new, o, s):
            polynomial(m, step, k)
        if not take_samples(e, samples, run, step, scratch):
            reject_correction(s, h)
            continue

        accept(o, s, step, done, kept)
        propose(s, h, err, exponent, beta, shrink, grow)
        done += 1
    return done


@jit(numba.int64(CoefficientsType, EquationsType, SamplesType, RunType, KeptType))
def fixed(m, e, samples, run, kept):
    """Make up to `attempts` steps of one length; returns how many were made."""
    e, samples, run, kept = unowned_views(e, samples, run, kept)
    o, s, work, count = run.options[0], run.state[0], run.work, m.c.size
    k, at = work[: count - 1 if m.fsal else count], count if m.fsal else count + 1
    f_new, y, x_plus, rows = work[at - 1 : at], work[at], work[at + 1], work[at + 2 :]
    scratch = Scratch(np.empty(1), x_plus, np.zeros(RESIDUAL), x_plus)
    done = 0
    while done < o.attempts and s.status == 0:
        h, t_new = fixed_step.next_step(o, s)
        if s.status != 0:
            break
        step = Step(h, t_new, run.x, k[0], y, f_new, rows)

        stages(m, e.rhs, e.w, s.t, step, k, scratch.clock)
        s.evaluations += k.shape[0] - 1
        if not fixed_step.finite(k, o, s, e.w) or not fixed_step.arrive(e, run, step, scratch):
            break

        if wants_rows(samples.t_eval, t_new, o, s):
            polynomial(m, step, work[:count])
        if not fixed_step.leave(e, samples, run, step, scratch, done, kept):
            break
        done += 1
    return done


def coefficients(tableau: Tableau, error_order: int = 0) -> Coefficients:
    """A tableau as the kernels take it, which read what it promises without looking at bounds again."""
    A, b, c, E, D = _checked(tableau)
    if error_order and not len(E):
        raise ModelError("an explicit method controls its steps by the first row of E, and this tableau's E is empty")
    fsal = bool(c[-1] == 1.0 and np.array_equal(A[-1], b))
    q = 1 / error_order if error_order else 0.0
    control = np.array([q - 0.75 * BETA, BETA, q, SHRINK, GROW])
    A, b, c, E, D, control = (_frozen(x) for x in (A, b, c, E, D, control))
    return Coefficients(A, b, c, E, D, control, fsal)


def _checked(tableau: Tableau) -> list[np.ndarray]:
    """The arrays of a tableau, whose shapes belong together and which is explicit."""
    found = []
    for name, values in tableau._asdict().items():
        array = numeric(values)
        if array is None or not np.isfinite(array).all():
            raise ModelError(f"tableau: {name} must be an array of finite numbers")
        found.append(array)
    A, _, c, _, _ = found
    s = c.size
    for name, array, shape in zip(tableau._fields, found, ((s, s), (s,), (s,), ("any", s), ("any", s)), strict=True):
        fits = array.ndim == len(shape) and all(n in ("any", m) for n, m in zip(shape, array.shape, strict=True))
        if s == 0 or not fits:
            expected = f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"
            raise ModelError(f"tableau: with {s} nodes in c, {name} must have the shape {expected}, not {array.shape}")
    if np.triu(A).any() or c[0] != 0.0:
        raise ModelError("tableau: the method is not explicit: A must be strictly lower triangular, and c begin with 0")
    return found


def _frozen(values: np.ndarray) -> np.ndarray:
    found = np.array(values, dtype=float)
    found.flags.writeable = False
    return found


def kernel(tableau: Tableau, error_order: int = 0) -> SimpleNamespace:
    """The `home` of a solver: its jitted `advance`, and the rows of its workspace and of its polynomials.

    Parameters
    ----------
    tableau : numbers of the method; all of its stages belong to the step.
    error_order : q in ``err ~ h^q``, for step control by ``tableau.E[0]``; 0: fixed steps.
    """
    A, b, c, E, D, control, fsal = coefficients(tableau, error_order)

    # arrays alone are captured: Numba keeps machine code on disk by their values
    if error_order:

        @jit(ADVANCE)
        def advance(e, samples, run, kept):
            return controlled(Coefficients(A, b, c, E, D, control, fsal), e, samples, run, kept)

    else:

        @jit(ADVANCE)
        def advance(e, samples, run, kept):
            return fixed(Coefficients(A, b, c, E, D, control, fsal), e, samples, run, kept)

    dense_rows = 4 + len(D)
    return SimpleNamespace(advance=advance, DENSE_ROWS=dense_rows, WORK_ROWS=len(c) + (not fsal) + 2 + dense_rows)
