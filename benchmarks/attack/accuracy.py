"""What a tolerance is worth: the true error of runs that are good, for every method with every solver.

The truth of rigid mechanisms is a run at rtol 1e-13 with the usual method; springs in the loops are another model,
whose truth is their own run at rtol 1e-12. The error of a good run is within `WITHIN` rtol times the growth of the
motion (see `motion`), relative to the size of the mechanism. A fixed step has no error estimate, and a good run
promises closed loops and energy only: these are judged (see `honest`), and the error is noted. Flexible links are
compared over a short time by the coordinates of their joints, under any method or as finite elements (ERLS), with their
own run at a thousandth of the tolerance.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import closedchain as cc
from benchmarks.attack.bases import act, pick, random_data
from benchmarks.attack.data import Data, as_python, simulated
from benchmarks.attack.honest import complaints
from benchmarks.attack.machines import ELASTIC
from benchmarks.attack.motion import distance, growth, poses
from benchmarks.attack.outcome import Outcome, found, unforeseen
from closedchain.close.methods import METHODS
from closedchain.integrate.solvers import SOLVERS, marching

BUDGET = 240.0  # s of processor time: three runs, one of them at rtol 1e-13
WITHIN = 1e3  # the factor of `results.checks.ENERGY`: errors of some thousand steps add up
PAIRS = [(name, solver) for name, method in METHODS.items() for solver in marching(method.kind)]
MOST_STEPS = 300_000
FLEXIBLE = 0.2  # of the cases


def attack(rng: np.random.Generator) -> Outcome:
    """One mechanism, one method, one solver, one tolerance."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.RunWarning)
        return bending(rng) if rng.random() < FLEXIBLE else rigid(rng)


def rigid(rng: np.random.Generator) -> Outcome:
    """A random mechanism of rigid links."""
    data = random_data(rng, bodies=4)
    act(rng, data)
    data["simulate"] = {"until": float(rng.uniform(0.2, 1.0)), "max_steps": MOST_STEPS}
    method, solver = pick(rng, PAIRS)
    options = {"method": method, "solver": solver, "rtol": float(10.0 ** rng.integers(-9, -3))}
    if not SOLVERS[solver].adaptive:
        options["step"] = 10.0 ** rng.uniform(-3.5, -2)
    own = METHODS[method].all_rows
    exact = {"rtol": 1e-12, "method": method, "solver": "radau5"} if own else {"rtol": 1e-13}
    if own:
        data["simulate"]["until"] /= 10  # stiff
    try:
        truth = simulated(data, **exact)
    except cc.ClosedChainError as error:
        return Outcome(f"no reference: {type(error).__name__}")
    data["simulate"] |= options
    reproduce = {"python": as_python(data), "reference": f"the same with {exact}"}
    try:
        run = simulated(data)
    except cc.ClosedChainError as error:
        return Outcome(f"{type(error).__name__} from {method} with {solver}")
    except Exception as error:
        return unforeseen(error, reproduce)
    if not run.good:
        return Outcome("not good")
    apart = distance(poses(run), poses(truth))
    if not SOLVERS[solver].adaptive:
        ratio = apart / (run.rtol * growth(truth, rng))
        said = complaints(run, passive=False)
        figures = {f"error by rtol and growth, {solver} (fixed step)": ratio}
        return (
            found("not honest", "; ".join(said), reproduce, **figures)
            if said
            else Outcome("fixed step", figures=figures)
        )
    return judged(f"{method} with {solver}", solver, apart, run.rtol, growth(truth, rng), reproduce)


def bending(rng: np.random.Generator) -> Outcome:
    """A mechanism of the library with flexible links."""
    data: Data = {"library": pick(rng, ELASTIC), "assemble": {"hold": {}, "velocity": {}}}
    rtol = float(10.0 ** rng.integers(-7, -3))
    data["simulate"] = {"until": 0.05, "every": 0.01, "rtol": rtol}
    if rng.random() < 0.5:
        name = solver = f"ERLS with {(elements := int(rng.integers(1, 4)))} elements"
        data["simulate"]["method"] = {"eval": f"cc.ERLS(elements={elements})"}
    else:
        rigid_pairs = [pair for pair in PAIRS if not METHODS[pair[0]].all_rows and SOLVERS[pair[1]].adaptive]
        method, solver = pick(rng, rigid_pairs)
        name = f"{method} with {solver} of flexible links"
        data["simulate"] |= {"method": method, "solver": solver, "max_steps": MOST_STEPS}
    reproduce = {"python": as_python(data), "reference": "the same at a thousandth of the tolerance"}
    try:
        truth, run = simulated(data, rtol=rtol / 1000), simulated(data)
    except cc.ClosedChainError as error:
        return Outcome(f"{type(error).__name__} from {name}")
    except Exception as error:
        return unforeseen(error, reproduce)
    if not (run.good and truth.good):
        return Outcome("not good")
    labels = [x for j in run.mechanism.joints.values() for x in j.labels() if x in run.dataset]
    apart = max(float(np.abs(run[x].values - truth[x].values).max()) for x in labels)
    size = max(1.0, *(float(np.abs(truth[x].values).max()) for x in labels))
    return judged(name, "ERLS" if "ERLS" in name else f"flexible, {solver}", apart / size, rtol, 1.0, reproduce)


def judged(name: str, solver: str, apart: float, rtol: float, spread: float, reproduce: Any) -> Outcome:
    """Whether a good run is as exact as it says."""
    ratio = apart / (rtol * spread)
    figures = {f"error by rtol and growth, {solver}": ratio}
    if not ratio <= WITHIN:
        what = f"{name} is good at rtol {rtol:g}, but off by {apart:.3g}: {ratio:.3g} rtol and growth"
        return found("less exact than it says", what, reproduce, name, **figures)
    return Outcome("as exact as it says", figures=figures)
