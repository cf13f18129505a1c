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

from typing import Any

import numpy as np

from closedchain.arguments import vector
from closedchain.errors import ModelError
from closedchain.integrate.hooks import Hooks
from closedchain.integrate.loop import Loop
from closedchain.integrate.problem import Problem, Samples, Tolerances
from closedchain.integrate.solvers import Solver, named
from closedchain.integrate.times import sample_times
from closedchain.integrate.trajectory import Trajectory


def integrate(
    solver: Solver | str,
    problem: Problem,
    x0: Any,
    t_span: tuple[float, float],
    tolerances: Tolerances | None = None,
    samples: Samples | None = None,
    hooks: Hooks | None = None,
    resume: dict[str, np.ndarray] | None = None,
) -> Trajectory:
    """Integrate `x' = rhs(t, x, w)` from `t_span[0]` to `t_span[1]`, which may lie before it.

    Parameters
    ----------
    solver : an object of `integrate.solvers` with its options, or a name of `SOLVERS`.
    problem : the equations; see `Problem`.
    x0 : (n,) state at the start; put on the manifold if it is off by a noticeable part of the tolerance.
    t_span : start and end.
    tolerances : of a step, for solvers with step control; see `Tolerances`.
    samples : where the solution is sampled; None: the start and every accepted step. See `Samples`.
    hooks : what is called on the way: inputs, events, monitors, checkpoints, progress; see `Hooks`.
    resume : the snapshot of a checkpoint (`Hooks.checkpoint`); the run continues there with the same bits.

    Returns
    -------
    Trajectory
        Failures of the run are told in its `status`; nothing computed is lost.

    Raises
    ------
    ModelError
        If an argument cannot be right.

    Examples
    --------
    >>> import math, numba
    >>> from closedchain.integrate.solvers import DOP853
    >>> @numba.cfunc("void(CPointer(f8), CPointer(f8), CPointer(f8), CPointer(f8))")
    ... def decay(t, x, w, dx):
    ...     dx[0] = -w[0] * x[0]
    >>> run = integrate(
    ...     DOP853(max_step=1.0), Problem(decay.address, w=[0.5]), [1.0], (0.0, 2.0), Tolerances(1e-10, 1e-12)
    ... )
    >>> bool(abs(run.x[-1, 0] - math.exp(-1)) < 1e-9)
    True
    """
    from closedchain.integrate.compiled_stepper import CompiledStepper  # loads Numba

    solver = named(solver)
    if type(solver).home is None:
        raise ModelError(f"{solver.name} is not a solver of integrate: {solver.driver} marches with it")
    samples, hooks = samples or Samples(), hooks or Hooks()
    t0, t1 = (float(t) for t in vector("t_span", t_span, 2))
    times = sample_times(samples.t_eval, t0, t1)
    stepper = CompiledStepper(
        solver, problem, x0, (t0, t1), tolerances or Tolerances(), hooks, keep_states=samples.t_eval is None
    )
    return Loop(stepper, (t0, t1), samples, times, hooks, solver.dense_output).run(resume)
