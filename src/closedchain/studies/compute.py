"""Points of a study, computed: each by `simulate`, or many at once. A failure is a value here, with its sentence."""

from __future__ import annotations

import os
import re
import threading
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from closedchain.errors import AssemblyError, ClosedChainError, Interrupted, RunError, RunWarning
from closedchain.integrate.trajectory import Status
from closedchain.model.forces.sampled import sampled_inputs
from closedchain.results.run import Run
from closedchain.studies.batched import compute_many
from closedchain.studies.drawn import as_drawn
from closedchain.studies.study import REDUCTIONS, Columns, Study, looks_at

KEPT_IN_THE_ERROR = re.compile(r"\. \d+ samples up to t = \S+ s are kept in the error's \.run")  # not here

# Mechanisms remember what was compiled, and Python's warnings are caught for a whole process: one point at a time.
_one_at_a_time = threading.Lock()


def _begin_free() -> None:
    """In a process that was forked while a thread of ours was computing: that thread is not there."""
    global _one_at_a_time
    _one_at_a_time = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_free)


def compute(study: Study, numbers: Sequence[int], threads: int | None = None) -> Columns:
    """The columns of some points, in their order; ``threads``: how many a batch may use, None for all."""
    with _one_at_a_time:
        if study.engine == "batch":
            out, good = compute_many(study, numbers, threads)
        else:
            out, good = {v.name: v.empty(len(numbers)) for v in study.variables}, np.zeros(len(numbers), bool)
        for row in np.flatnonzero(~good).tolist():
            with as_drawn(sampled_inputs(study.mechanism).controllers):
                values = one(study, numbers[row])
            for v in study.variables:
                out[v.name][row] = values.get(v.name, v.empty(1)[0])
    return out


def failed(study: Study, numbers: Sequence[int], status: str, reason: str) -> Columns:
    """The columns of points that came to nothing."""
    out = {v.name: v.empty(len(numbers)) for v in study.variables}
    out["status"][:], out["reason"][:] = status, reason
    return out


def one(study: Study, number: int) -> dict[str, Any]:
    """What is kept of one point, by `simulate`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RunWarning)
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # NumPy's, of a measure: what is not a number is seen in the result
        try:
            run, reason = study.run(number), ""
        except Interrupted:
            raise KeyboardInterrupt from None  # without the run: it may come from another process
        except RunError as error:
            run, reason = error.run, KEPT_IN_THE_ERROR.sub("", str(error))  # type: ignore[assignment]
            if run is None:
                return {"status": "refused", "reason": reason}
        except AssemblyError as error:
            return {"status": "no start", "reason": str(error)}
        except ClosedChainError as error:
            return {"status": "refused", "reason": str(error)}
        except Exception as error:  # one point that breaks must not cost the others
            return {"status": "error", "reason": f"{type(error).__name__}: {error}"}
        said = [str(w.message) for w in caught if issubclass(w.category, RunWarning)]
        return {**_kept(study, run, reason), "complaint": "; ".join(said)}


def _kept(study: Study, run: Run, reason: str) -> dict[str, Any]:
    out: dict[str, Any] = {"status": run.status.name, "reason": reason}
    try:
        out |= {"steps": run.counts.steps, "end": _end(study, run)}
        data = run.dataset
        for error in ("closure_error", "energy_error"):
            out[f"largest_{error}"] = float(np.abs(data[error].values).max()) if len(run.t) else np.nan
        values = study.values(run)
        shapes = {v.name: v for v in study.variables}
        _, into, here = np.intersect1d(study.times, run.t, return_indices=True)  # a run that stopped early has fewer
        for name in study.keep:
            out[name] = shapes[name].empty()
            out[name][into] = values[name][here]
    except Exception as error:  # the run is there, but something about it cannot be told
        return out | {"status": "error", "reason": f"{type(error).__name__}: {error}"}
    if reason:
        return out
    for name, how in study.measure.items():
        try:
            if isinstance(how, str):
                reduction, variable = looks_at(how)
                out[name] = REDUCTIONS[reduction](values[variable])
            else:
                out[name] = float(how(run))
        except Exception as error:  # of a user's function
            out |= {"status": "measure failed", "reason": f"measure {name!r}: {type(error).__name__}: {error}"}
    return out


def _end(study: Study, run: Run) -> float:
    """The time that a run reached."""
    if run.status is Status.finished:
        return float(study.task.until)
    if run.status is Status.event:
        return float(run.record[-1].t)
    return float(run.t[-1] if run.failure is None else run.failure.t)
