"""What the implicit solvers share: the signature of their `advance`, and the record of what they remember.

They get four arguments more than the explicit ones: the address of the Jacobian

    void jac(const double* t, const double* x, const double* w, double* entries, double* rate)

(its nonzeros column after column, and df/dt), its parameters, the `Structure` of its zeros, and `Room` for the
linear algebra. The Jacobian belongs to the start of a step, where it is exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from closedchain.integrate.linear import Room, RoomType, StructureType, evaluate
from closedchain.integrate.step_control import ADVANCE, F1, NAN, StateRecord
from closedchain.integrate.structure import Structure
from closedchain.native.jit import jit

MEMORY = np.dtype(
    [
        ("jacobians", "i8"),  # evaluations
        ("factorisations", "i8"),
        ("iterations", "i8"),  # of Newton's method
        ("age", "i8"),  # of the Jacobian: FRESH, USED or STALE
        ("h", "f8"),  # the step for which the factors are right; 0: none
        ("rate", "f8"),  # of convergence of the last Newton iteration
        ("safety", "f8"),  # what that rate says of the error that is left
        ("limit", "f8"),  # of the next step, after Newton's method has failed at a longer one
        ("h_old", "f8"),  # the accepted step before; 0: none
        ("err_old", "f8"),  # and its error
        ("h_shape", "f8"),  # the step of the polynomial that predicts the next one; 0: none
    ]
)
# it belongs to the start of the step; to an earlier one, and has been good enough; it must be evaluated again
FRESH, USED, STALE = range(3)
MemoryRecord = numba.from_dtype(MEMORY)


class Linearisation(NamedTuple):
    """What the kernels of implicit solvers need besides the equations.

    Attributes
    ----------
    jac, w : address of the Jacobian, and its parameters.
    plan, room : structure of its zeros, and room for the linear algebra.
    memory : one record of `MEMORY`.
    """

    jac: int
    w: np.ndarray
    plan: Structure
    room: Room
    memory: np.ndarray


ADVANCE_IMPLICIT = numba.int64(
    *ADVANCE.args,
    numba.int64,  # jac
    F1,  # w_jac: its parameters
    StructureType,
    RoomType,
    MemoryRecord[::1],  # one record
)


@jit(numba.boolean(numba.int64, F1, F1, StructureType, RoomType, StateRecord, MemoryRecord))
def renew(jac, w, x, plan, room, s, m):
    """The Jacobian at the start of a step; False with a status set if it is not finite."""
    clock = np.empty(1)
    clock[0] = s.t
    m.jacobians += 1
    m.h = 0.0
    if not evaluate(jac, clock, x, w, plan, room):
        s.status = NAN
        s.bad_index = -1
        return False
    m.age = FRESH
    return True
