"""Radau IIA with three stages: order 5, L-stable, for stiff equations; with step control and dense output.

Hairer, Wanner (1996), Solving Ordinary Differential Equations II, 2nd ed., Springer, IV.8. Its numbers:
`tableaus.RADAU5`. In the letters of the book: the stages minus the start, ``Z``, solve ``Z = h A F(x + Z)`` by
simplified Newton steps in ``W = T_inv Z``, each of them one real and one complex linear system (for our
``w_1 - i w_2``). They begin where the polynomial of the last step leads, and stop where the rate of convergence says
that the error left is a small part of the tolerance. The error estimate is filtered by the real system, at a start and
after a rejection twice. The next step is the smaller of the usual one and Gustafsson's prediction. Jacobian and factors
are kept as long as Newton's method converges fast.

The estimate is of order 3, the step of order 5. As in the authors' program the tolerance of the estimate is therefore
the power 2/3 of what is asked for, so that the error of the result follows the latter.

The polynomial of a step is that of the collocation, of third degree, and a term of fourth degree. The former misses the
derivative at the start by as much as the error is estimated to be, a power ``asked^(2/3)`` that samples would show. Its
rate is wrong by a multiple of ``(theta - c_1) (theta - c_2) (theta - 1)``, in leading order; the integral of that, zero
at both ends, makes up for it. The estimate e is filtered, so that stiff equations do not answer with a large number for
a small error; where they are not stiff, ``gamma e`` is h times the derivative missed, and samples are of order 5. Where
a correction moves the end, a straight line is added.

Algebraic states (zeros in E of ``E x' = f(t, x)``; `Structure.mass`) are stages like all others. The last stage is the
end of the step, so that equations without a rate hold there as well as Newton's method has solved them: the end is not
put back on a manifold, samples on the way are. The error of such states neither counts in the estimate nor for Newton's
method. In systems of index 2 it is of order 3 instead of 5 (VII.4), and the next step does not depend on it: what a
multiplier does to a state within a step has a factor h, and shows there.
"""

import numba
import numpy as np

from closedchain.integrate.corner_steps import CLEAR, PASSED, REPEAT, passes
from closedchain.integrate.implicit import ADVANCE_IMPLICIT, FRESH, STALE, USED, LinearisationType, MemoryRecord, renew
from closedchain.integrate.linear import factor, solve
from closedchain.integrate.methods.tableaus import RADAU5
from closedchain.integrate.project import arrive, take_samples, wants_rows
from closedchain.integrate.step_control import (
    EPS,
    F1,
    F2,
    RESIDUAL,
    SAFETY,
    STEP_TOO_SMALL,
    EquationsType,
    OptionsRecord,
    Scratch,
    StateRecord,
    Step,
    StepType,
    accept,
    end_time,
    first_nonfinite,
    go_on,
    next_step,
    reject,
    reject_correction,
    unowned_views,
)
from closedchain.native.call import call
from closedchain.native.jit import jit

C, T, T_INV, E = RADAU5.c, RADAU5.T, RADAU5.T_inv, RADAU5.E
GAMMA, ALPHA, BETA = float(RADAU5.gamma), float(RADAU5.alpha), float(RADAU5.beta)

# rows of the workspace
Z, W, F, SHAPE, Y, X_PLUS, ERROR, F_NEW, SCALE, MISSED, ROWS = 1, 4, 7, 10, 13, 14, 15, 16, 17, 18, 19
DENSE_ROWS = 5
WORK_ROWS = ROWS + DENSE_ROWS

# control: err ~ h^4
EXPONENT = 1 / 4
SHRINK, GROW = 0.2, 8.0
ITERATIONS = 10
# The second correction may be as large as the first: where stiff springs turn with the motion, the first one answers
# the wrong force of the prediction also along the soft directions, and the second takes that back.
HOPELESS = 2.0
# where Newton's method has failed at a step, longer ones come back by this ratio from step to step
RECOVER = 1.1
# a rate of convergence up to which a Jacobian is used again, and a growth of the step that is not worth new factors
GOOD_RATE = 1e-3
SAME_STEP = 1.2

CONVERGED, SLOW, NOT_FINITE = range(3)


@jit(numba.float64(OptionsRecord))
def loosened(o):
    """The tolerance of the estimate, ``0.1 asked^(2/3)``, in units of what is asked for."""
    return 0.1 * o.asked ** (-1.0 / 3.0)


@jit(numba.float64(OptionsRecord, F1, F1, F1))
def tolerances(o, atol, x, scale):
    """The tolerance of the estimate for each entry, in `scale`; returns what Newton's method may leave of it."""
    factor = loosened(o)
    for i in range(x.size):
        scale[i] = factor * (atol[i] + o.rtol * abs(x[i]))
    if o.newton_tol > 0.0:
        return o.newton_tol
    used = 0.1 * (factor / 0.1) ** -2.0  # 0.1 asked^(2/3)
    return max(10.0 * EPS / used, min(0.03, np.sqrt(used)))


@jit(numba.void(MemoryRecord, numba.float64, F2))
def predict(m, h, work):
    """Starting values ``Z`` and ``W``: the polynomial of the last step goes on."""
    n = work.shape[1]
    shape = work[SHAPE : SHAPE + 3]
    for j in range(3):
        theta = 1.0 + C[j] * h / m.h_shape if m.h_shape != 0.0 else 1.0
        for i in range(n):
            inner = (1.0 - theta) * (shape[1, i] + theta * shape[2, i])
            work[Z + j, i] = theta * (shape[0, i] + inner) - shape[0, i]
    for j in range(3):
        for i in range(n):
            work[W + j, i] = T_INV[j, 0] * work[Z, i] + T_INV[j, 1] * work[Z + 1, i] + T_INV[j, 2] * work[Z + 2, i]


@jit(numba.int64(EquationsType, StateRecord, StepType, F2, LinearisationType, numba.float64))
def newton(e, s, step, work, lin, enough):
    """Solve for the stages ``Z``, from what is there.

    Parameters
    ----------
    e, s, step : the equations, the record of the run, and the step.
    work : see the numbers of its rows above.
    lin : Jacobian and factors for this length; `rate` of its memory receives the rate of convergence.
    enough : the error that may be left, in units of the tolerance.

    Returns
    -------
    CONVERGED, SLOW (with a shorter step in `s.h`) or NOT_FINITE.
    """
    rhs, w, t, h, x, plan, room, m = e.rhs, e.w, s.t, step.h, step.x, lin.plan, lin.room, lin.memory[0]
    n = x.size
    y, scale, real, z, mass = work[Y], work[SCALE], work[ERROR], room.z, plan.mass
    shift = complex(ALPHA, BETA) / h
    clock = np.empty(1)
    m.rate = GOOD_RATE
    m.safety = max(m.safety, EPS) ** 0.8
    size_before = rate_before = 0.0
    for iteration in range(ITERATIONS):
        m.iterations += 1

        # the defect in W
        for j in range(3):
            clock[0] = t + C[j] * h
            for i in range(n):
                y[i] = x[i] + work[Z + j, i]
            call(rhs, clock, y, w, work[F + j])
        s.evaluations += 3
        if first_nonfinite(work[F : F + 3]) >= 0:
            return NOT_FINITE
        for i in range(n):
            f0, f1, f2 = work[F, i], work[F + 1, i], work[F + 2, i]
            g0 = T_INV[0, 0] * f0 + T_INV[0, 1] * f1 + T_INV[0, 2] * f2
            g1 = T_INV[1, 0] * f0 + T_INV[1, 1] * f1 + T_INV[1, 2] * f2
            g2 = T_INV[2, 0] * f0 + T_INV[2, 1] * f1 + T_INV[2, 2] * f2
            real[i] = g0 - GAMMA / h * (mass[i] * work[W, i])
            z[i] = complex(g1, -g2) - shift * complex(mass[i] * work[W + 1, i], -mass[i] * work[W + 2, i])

        solve(plan, room, room.real, room.pivots[0], GAMMA / h, real, room.b)
        solve(plan, room, room.complex, room.pivots[1], shift, z, room.c)

        square = states = 0.0
        for i in range(n):
            square += mass[i] * (real[i] ** 2 + z[i].real ** 2 + z[i].imag ** 2) / scale[i] ** 2
            states += mass[i]
            work[W, i] += real[i]
            work[W + 1, i] += z[i].real
            work[W + 2, i] -= z[i].imag
        size = np.sqrt(square / (3.0 * states))
        for j in range(3):
            for i in range(n):
                work[Z + j, i] = T[j, 0] * work[W, i] + T[j, 1] * work[W + 1, i] + T[j, 2] * work[W + 2, i]

        # how fast it converges, and whether it will be there in the iterations that are left
        if iteration > 0:
            rate = size / size_before
            m.rate = rate if iteration <= 2 else np.sqrt(rate * rate_before)
            rate_before = rate
            if not m.rate < (HOPELESS if iteration == 1 else 1.0):
                s.h = 0.5 * abs(h)
                return SLOW
            m.safety = m.rate / (1.0 - m.rate) if m.rate < 1.0 else np.inf
            left = ITERATIONS - 1 - iteration
            final = m.safety * size * m.rate**left / enough
            if iteration > 1 and final >= 1.0:
                s.h = 0.8 * abs(h) * min(20.0, final) ** (-1.0 / (4.0 + left))
                return SLOW
        if not np.isfinite(size):
            s.h = 0.5 * abs(h)
            return SLOW
        size_before = max(size, EPS)
        if m.safety * size <= enough:
            return CONVERGED
    s.h = 0.5 * abs(h)
    return SLOW


@jit(numba.float64(F1, F1, F1))
def norm(e, scale, mass):
    """Root mean square of `e_i / scale_i` over the states that have a rate."""
    square = states = 0.0
    for i in range(e.size):
        square += mass[i] * (e[i] / scale[i]) ** 2
        states += mass[i]
    return np.sqrt(square / states)


@jit(numba.float64(EquationsType, StateRecord, StepType, F2, LinearisationType))
def estimate(equations, s, step, work, lin):
    """The error of a step in units of the tolerance."""
    rhs, w, t, h, x, plan, room = equations.rhs, equations.w, s.t, step.h, step.x, lin.plan, lin.room
    n = x.size
    e, y, scale, mass = work[ERROR], work[Y], work[SCALE], plan.mass
    for i in range(n):
        y[i] = mass[i] * (E[0] * work[Z, i] + E[1] * work[Z + 1, i] + E[2] * work[Z + 2, i]) / h
        e[i] = y[i] + work[0, i]
    solve(plan, room, room.real, room.pivots[0], GAMMA / h, e, room.b)
    err = norm(e, scale, mass)
    if err < 1.0 or not (s.steps == 0 or s.rejected):
        return err

    # the estimate is too large where it is stiff: filter it once more
    clock = np.empty(1)
    clock[0] = t
    for i in range(n):
        e[i] += x[i]
    call(rhs, clock, e, w, work[F_NEW])
    s.evaluations += 1
    for i in range(n):
        e[i] = y[i] + work[F_NEW, i]
    solve(plan, room, room.real, room.pivots[0], GAMMA / h, e, room.b)
    return norm(e, scale, mass)


@jit(numba.void(F2, F2))
def polynomial(work, shape):
    """Rows 1 to 3 of the collocation polynomial in the nested form of tableaus.py; row 0 is the start."""
    for i in range(work.shape[1]):
        end = work[Z + 2, i]
        first = (work[Z, i] / C[0] - end) / (1.0 - C[0])
        second = (work[Z + 1, i] / C[1] - end) / (1.0 - C[1])
        shape[0, i] = end
        shape[2, i] = (second - first) / (C[1] - C[0])
        shape[1, i] = first - C[0] * shape[2, i]


@jit(numba.void(StateRecord, MemoryRecord, numba.float64, numba.float64, numba.int64))
def propose(s, m, h, err, iterations):
    """The step after an accepted one, and whether Jacobian and factors serve it."""
    # many iterations make a step dear: be more careful
    safety = SAFETY * (1 + 2 * ITERATIONS) / (iterations + 2 * ITERATIONS)
    factor = min(1.0 / SHRINK, max(1.0 / GROW, err**EXPONENT / safety))
    if m.h_old != 0.0:
        predicted = m.h_old / h * (err * err / m.err_old) ** EXPONENT / SAFETY
        factor = max(factor, min(1.0 / SHRINK, predicted))
    if s.rejected:
        factor = max(factor, 1.0)
    m.h_old = h
    m.err_old = max(err, 1e-2)
    m.age = USED if m.rate <= GOOD_RATE else STALE
    if m.age == USED and 1.0 <= 1.0 / factor <= SAME_STEP:
        factor = 1.0
    s.h = min(abs(h) / factor, max(m.limit, abs(h)))
    m.limit *= RECOVER
    s.rejected = 0
    go_on(s)


@jit(ADVANCE_IMPLICIT)
def advance(e, samples, run, kept, lin):
    """Make up to `attempts` attempts; returns the accepted steps. See the essay in solvers.py."""
    e, samples, run, kept = unowned_views(e, samples, run, kept)
    o, s, m, x, work, plan, room = run.options[0], run.state[0], lin.memory[0], run.x, run.work, lin.plan, lin.room
    y, f_new, rows, shape = work[Y], work[F_NEW : F_NEW + 1], work[ROWS:], work[SHAPE : SHAPE + 3]
    scratch = Scratch(np.empty(1), work[X_PLUS], np.zeros(RESIDUAL), work[ERROR])
    n = x.size
    stays = np.min(plan.mass) == 0.0  # constraints are among the equations
    done = 0
    for _ in range(o.attempts):
        if s.status != 0:
            break
        h = next_step(o, s)
        if s.status != 0:
            break
        step = Step(h, end_time(o, s, h), x, work[0], y, f_new, rows)
        enough = tolerances(o, e.atol, x, work[SCALE])

        # the stages; an old Jacobian has a second chance as a new one
        before = m.iterations
        outcome = SLOW
        while True:
            if m.age == STALE and not renew(lin, x, s):
                break
            if m.h != h:
                m.factorisations += 1
                m.h = h
                if not (
                    factor(plan, room, room.real, room.pivots[0], GAMMA / h)
                    and factor(plan, room, room.complex, room.pivots[1], complex(ALPHA, BETA) / h)
                ):
                    m.h = 0.0
                    s.h = 0.5 * abs(h)
                    break
            predict(m, h, work)
            outcome = newton(e, s, step, work, lin, enough)
            if outcome == CONVERGED or m.age == FRESH:
                break
            m.age = STALE
        if s.status != 0:
            break
        if outcome == NOT_FINITE:
            reject(s, h, np.nan, EXPONENT, work[F : F + 3], 0, e.w)
            continue
        if outcome == SLOW:
            s.rejections += 1
            s.rejected = 1
            s.cause = STEP_TOO_SMALL
            m.limit = 0.7 * abs(h)
            continue
        iterations = m.iterations - before

        err = estimate(e, s, step, work, lin)
        if not err <= 1.0:
            reject(s, h, err, EXPONENT, f_new, 0, e.w)
            continue

        # the end, and the derivative there
        for i in range(n):
            work[MISSED, i] = GAMMA * plan.mass[i] * work[ERROR, i]
            y[i] = x[i] + work[Z + 2, i]
        if stays and e.correct != 0:
            scratch.clock[0] = step.t_new
            call(e.correct, scratch.clock, y, e.w_correct, scratch.x_plus, scratch.residual)  # for its pivot
            s.corrections += 1
            s.pivot = scratch.residual[2]
        if not arrive(e, run, step, scratch, EXPONENT, loosened(o), False, not stays):
            continue
        over = CLEAR
        if not stays and o.corners != 0:
            over = passes(e, run, step)
            if over == REPEAT:
                continue
        err = max(err, s.moved)

        # the collocation polynomial, its start with the right derivative, its end moved to the corrected one
        if wants_rows(samples.t_eval, step.t_new, o, s):
            polynomial(work, rows[1:4])
            for i in range(n):
                rows[0, i] = x[i]
                rows[1, i] = y[i] - x[i]
                rows[2, i] += work[MISSED, i]
                rows[3, i] -= work[MISSED, i]
                rows[4, i] = -2.5 * work[MISSED, i]
        if not take_samples(e, samples, run, step, scratch):
            reject_correction(s, h)
            continue

        polynomial(work, shape)
        m.h_shape = h
        accept(o, s, step, done, kept)
        propose(s, m, h, err, iterations)
        if over == PASSED:
            m.age = STALE  # the Jacobian is another one behind a corner
        done += 1
    return done
