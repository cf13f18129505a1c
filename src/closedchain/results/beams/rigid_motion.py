"""The rigid motion beside that of a mechanism with flexible links: its rigid twin, simulated the same way."""

from __future__ import annotations

import numpy as np

from closedchain.errors import ModelError
from closedchain.results.run import Run
from closedchain.simulation import simulate


def rigid_run(run: Run) -> Run:
    """Simulate the rigid twin of a run's mechanism: the same start, motors, method, solver, tolerances and times.

    The start has the coordinates and velocities of the run's motors, or without motors those that are independent with
    rigid links, and no deflection. The twin of a run with `ERLS` starts from the equivalent rigid-link system, with the
    default method.
    """
    if not run.mechanism.flexible:
        raise ModelError(f"mechanism {run.mechanism.name!r} has no flexible body: the run is its rigid motion")
    start, options = run.solution.rigid_start(run.task)
    return simulate(start.mechanism, start, float(run.t[-1]), t_eval=np.unique(run.t), **options)
