"""What a tolerance is worth: the true error of runs that are good, for every method with every solver.

The truth is a run at rtol 1e-13. The error of a good run is within `WITHIN` rtol times the growth of the motion (see
`motion`), relative to the size of the mechanism. Springs in the loops are another model, and are left out.
"""

from __future__ import annotations

import warnings

import numpy as np

import closedchain as cc
from benchmarks.attack.bases import act, pick, random_data
from benchmarks.attack.data import as_python, simulated
from benchmarks.attack.motion import distance, growth, poses
from benchmarks.attack.outcome import Outcome, found, unforeseen
from closedchain.close.methods import METHODS
from closedchain.march.solvers import SOLVERS, marching

BUDGET = 240.0  # s of processor time: three runs, one of them at rtol 1e-13
WITHIN = 1e3  # the factor of `results.checks.ENERGY`: errors of some thousand steps add up
PAIRS = [
    (name, solver)
    for name, method in METHODS.items()
    if not method.all_rows
    for solver in marching(method.kind)
    if solver != "auto" or method.kind == "ode"
]
MOST_STEPS = 300_000


def attack(rng: np.random.Generator) -> Outcome:
    """One mechanism, one method, one solver, one tolerance."""
    data = random_data(rng, bodies=4)
    act(rng, data)
    data["simulate"] = {"until": float(rng.uniform(0.2, 1.0)), "max_steps": MOST_STEPS}
    method, solver = pick(rng, PAIRS)
    options = {"method": method, "solver": solver, "rtol": float(10.0 ** rng.integers(-9, -3))}
    if not SOLVERS[solver].adaptive:
        options["step"] = 10.0 ** rng.uniform(-3.5, -2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.RunWarning)
        try:
            truth = simulated(data, rtol=1e-13)
        except cc.ClosedChainError as error:
            return Outcome(f"no reference: {type(error).__name__}")
        data["simulate"] |= options
        reproduce = {"python": as_python(data), "reference": "the same with rtol=1e-13, the usual method and solver"}
        try:
            run = simulated(data)
        except cc.ClosedChainError as error:
            return Outcome(f"{type(error).__name__} from {method} with {solver}")
        except Exception as error:
            return unforeseen(error, reproduce)
        if not run.good:
            return Outcome("not good")
        error = distance(poses(run), poses(truth))
        ratio = error / (run.rtol * growth(truth, rng))
    figures = {f"error by rtol and growth, {solver}": ratio}
    if not ratio <= WITHIN:
        what = (
            f"{method} with {solver} is good at rtol {run.rtol:g}, but off by {error:.3g}: {ratio:.3g} rtol and growth"
        )
        return found("less exact than it says", what, reproduce, f"{method} with {solver}", **figures)
    return Outcome("as exact as it says", figures=figures)
