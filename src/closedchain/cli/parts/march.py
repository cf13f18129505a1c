"""A simulation for the command line: failures and Ctrl-C are values, warnings are sentences."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any

from closedchain.cli.parts import output
from closedchain.errors import Interrupted, RunError, RunWarning
from closedchain.integrate.solvers import SOLVERS, marching

if TYPE_CHECKING:
    from closedchain.integrate.solvers import Solver
    from closedchain.pose.state import State
    from closedchain.results.run import Run


def march(start: State, until: float, samples: int = 201, **options: Any) -> tuple[Run, str | None, list[str]]:
    """Simulate; returns the run as far as it got, an error, and the complaints of its checks.

    ``options`` are those of `closedchain.simulation.simulate`; saved runs keep samples that are not made beforehand.
    """
    import numpy as np

    from closedchain.integrate.times import Every
    from closedchain.results.run import Run
    from closedchain.simulation import simulate

    # Numba and the compiled solver are loaded here, so that the time of the march is that of the march
    clock = time.perf_counter()
    _load(options.get("solver"), "ode" if options.get("method") is None else options["method"].kind)
    loaded = time.perf_counter() - clock
    saved = options.get("save") is not None
    times = Every(abs(until - start.t) / (samples - 1)) if saved else np.linspace(start.t, until, samples)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RunWarning)
        try:
            got, error = simulate(start.mechanism, start, until, t_eval=times, **options), None
        except RunError as failure:
            if not isinstance(failure.run, Run):
                raise
            got, error = failure.run, str(failure)
    got.seconds["load"] = loaded
    complaints = [str(w.message) for w in caught if issubclass(w.category, RunWarning)]
    for other in caught:
        if not issubclass(other.category, RunWarning):
            output.say("note", f"{other.category.__name__}: {other.message}")
    return got, error, complaints


def kept(start: State, until: float, samples: int, **options: Any) -> tuple[Run, str | None, list[str]]:
    """The same; what Ctrl-C left of the run is a value, too."""
    try:
        return march(start, until, samples, **options)
    except Interrupted as stop:
        run: Any = stop.run
        if run is None or run.complete:
            raise
        return run, None, run.complaints()


def _load(solver: Solver | None, kind: str) -> None:
    """Load what marches equations of a kind; finite elements have a march of their own."""
    if "elements" not in kind:
        (SOLVERS[marching(kind)[0]] if solver is None else solver).load()
