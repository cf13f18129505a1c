"""What the kernels of a run work on: records of options, state and memory, and the arrays of a run."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

STATE = np.dtype(
    [
        ("t", "f8"),
        ("h", "f8"),  # of the next step
        ("W", "f8"),  # work done so far
        ("power", "f8"),  # of all that acts, now
        ("h_old", "f8"),  # of the last accepted step; 0: none
        ("err_old", "f8"),
        ("steps", "i8"),
        ("rejections", "i8"),
        ("next", "i8"),  # sample
        ("status", "i8"),
        ("h_min", "f8"),
        ("h_max", "f8"),
        ("rejected", "i8"),  # the last attempt was
        ("before", "i8"),  # steps that had been accepted when the kernel was called
    ]
)
OPTIONS = np.dtype(
    [
        ("end", "f8"),
        ("fixed", "i8"),  # steps have one length
        ("max_step", "f8"),
        ("attempts", "i8"),  # of one call
        ("max_steps", "i8"),
        ("healthy", "f8"),  # determinant of the zeroed block over that at the start: what is less ends the run
        ("closed", "f8"),  # of the loops: the same
        ("rho", "f8"),  # of generalised-alpha
    ]
)
MEMORY = np.dtype(
    [
        ("linearisations", "i8"),
        ("factorisations", "i8"),
        ("iterations", "i8"),
        ("fresh", "i8"),  # the derivatives belong to the start of this step
        ("usable", "i8"),  # there are derivatives that have served well
        ("k", "f8"),  # the coefficient for which the factors are right; 0: none
        ("rate", "f8"),  # of convergence, the worst of the last stages
        ("power", "f8"),  # at the last stage
        ("health", "f8"),  # of the zeroed block at the last stage
        ("closed", "f8"),  # and of the loops
        ("cause", "i8"),  # of the last failure
        ("time", "f8"),  # s, for which an error of the velocities goes on
    ]
)
StateRecord, OptionsRecord, MemoryRecord = (numba.from_dtype(x) for x in (STATE, OPTIONS, MEMORY))

CLOCK = 5  # numbers that go to the kernels and come back: time, whether it worked, power, health of two kinds
RESIDUAL, LINEARISE, FACTOR, SOLVE, CLOSE = range(5)  # places in `RunArrays.functions`


class SampleRoom(NamedTuple):
    """Room for samples.

    Attributes
    ----------
    t : (m,) times.
    x : (m, 3, n) y, y', y'' there.
    trees : (m, tree) all coordinates of the rigid-link system.
    works : (m, 2) work done until then, and the length of the step around it.
    """

    t: np.ndarray
    x: np.ndarray
    trees: np.ndarray
    works: np.ndarray


class RunArrays(NamedTuple):
    """Everything of a run that the kernels read and write.

    Attributes
    ----------
    functions, table : addresses of the functions of `kernels.compiled`, and their memory.
    scale : (n,) tolerance of each entry of y for the error of a step.
    x, end : (3, n) y, y', y'' at the time reached, and at the end of an attempt.
    work : (rows, n) workspace of the method; some rows are kept from step to step.
    r : (n,) workspace.
    ends : (attempts,) times at which the accepted steps of a call have ended.
    options, state, memory : (1,) records.
    """

    functions: np.ndarray
    table: np.ndarray
    scale: np.ndarray
    x: np.ndarray
    end: np.ndarray
    work: np.ndarray
    r: np.ndarray
    samples: SampleRoom
    ends: np.ndarray
    options: np.ndarray
    state: np.ndarray
    memory: np.ndarray


F1, F2, I1 = numba.float64[::1], numba.float64[:, ::1], numba.int64[::1]
RunType = numba.types.NamedTuple(
    (
        *(I1, I1, F1, F2, F2, F2, F1),
        numba.types.NamedTuple((F1, numba.float64[:, :, ::1], F2, F2), SampleRoom),
        *(F1, OptionsRecord[::1], StateRecord[::1], MemoryRecord[::1]),
    ),
    RunArrays,
)
