"""Semi-implicit Euler with a fixed step: velocities first, and the new ones move the coordinates.

With the state ``x = (q, v, W)``, rates ``q' = r(t, q, v)`` and ``v' = a(t, q, v)``, and T the correction, which takes
velocities to where they keep the loops closed at ``q_n``::

    v_+ = T(t_n, q_n, v_n + h a(t_n, q_n, v_n))
    q_+ = q_n + h r(t_n, q_n, v_+)

Both are then put back on the manifold at ``t_n + h``. The rates belong to the time and place at which the velocities
were made tangent; there `IndependentCoordinates` has solved its closures, too. The order is 1. Where the inertia matrix
is constant and forces depend on q alone, the method is symplectic and the error of the energy stays bounded (Hairer,
Lubich, Wanner 2006, Geometric Numerical Integration, 2nd ed., VI.3); elsewhere it drifts, in proportion to the step.

No rate depends on the work W: it is summed with the trapezoidal rule, whose power at the end is known anyway, so that
the book of energies is not worse than the motion.

A step costs one evaluation of the right-hand side, one of the kinematics (`march.program.kinematics`), and
`fixed_step.CORRECTIONS` corrections, or one more where the correction changes velocities.
"""

from typing import NamedTuple

import numba
import numpy as np

from closedchain.integrate.fixed_step import arrive, finite, leave, next_step
from closedchain.integrate.project import hermite_rows, wants_rows
from closedchain.integrate.step_control import ADVANCE, F1, RESIDUAL, Scratch, Step, copy, unowned_views
from closedchain.native.call import call
from closedchain.native.jit import jit

# rows of the workspace
RATES, F_NEW, Y, X_PLUS, ROWS = 1, 2, 3, 4, 5
DENSE_ROWS = 4
WORK_ROWS = ROWS + DENSE_ROWS


class Kinematics(NamedTuple):
    """What the kernel needs besides the right-hand side.

    Attributes
    ----------
    kinematics : address of ``(t, x, w) ->`` the rates of the coordinates.
    w : its parameters.
    nq : number of coordinates.
    tangent : whether the correction changes velocities.
    """

    kinematics: int
    w: np.ndarray
    nq: int
    tangent: bool


KinematicsType = numba.types.NamedTuple((numba.int64, F1, numba.int64, numba.boolean), Kinematics)


@jit(numba.int64(*ADVANCE.args, KinematicsType))
def advance(e, samples, run, kept, kin):
    """Advance by up to `attempts` steps; returns how many were made. See the essay in solvers.py."""
    e, samples, run, kept = unowned_views(e, samples, run, kept)
    o, s, x, work = run.options[0], run.state[0], run.x, run.work
    f, rates, f_new, y = work[0], work[RATES : RATES + 1], work[F_NEW : F_NEW + 1], work[Y]
    rows = work[ROWS:]
    n, nq = x.size, kin.nq
    scratch = Scratch(np.empty(1), work[X_PLUS], np.zeros(RESIDUAL), work[X_PLUS])
    clock = scratch.clock
    done = 0
    while done < o.attempts and s.status == 0:
        h, t_new = next_step(o, s)
        if s.status != 0:
            break
        step = Step(h, t_new, x, f, y, f_new, rows)

        # the new velocities, tangent at the old place
        clock[0] = s.t
        copy(x, y)
        for i in range(nq, n):
            y[i] += h * f[i]
        if kin.tangent:
            call(e.correct, clock, y, e.w_correct, scratch.x_plus, scratch.residual)
            s.corrections += 1
            copy(scratch.x_plus, y)

        # they move the coordinates
        call(kin.kinematics, clock, y, kin.w, rates[0])
        for i in range(nq):
            y[i] += h * rates[0, i]
        if not finite(rates, o, s, e.w) or not arrive(e, run, step, scratch):
            break
        y[n - 1] = x[n - 1] + 0.5 * h * (f[n - 1] + f_new[0, n - 1])

        if wants_rows(samples.t_eval, t_new, o, s):
            hermite_rows(x, y, f, f_new[0], h, rows)
        if not leave(e, samples, run, step, scratch, done, kept):
            break
        done += 1
    return done
