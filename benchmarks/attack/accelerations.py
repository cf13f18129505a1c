"""Accelerations against other engines, at random states of random mechanisms with every kind of joint.

Open trees and loops; the engines are described in `engines`. All formulations that close loops exactly take their turn.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

import closedchain as cc
from benchmarks.attack.bases import mechanism, pick
from benchmarks.attack.data import as_data
from benchmarks.attack.engines import ENGINES, Plan, available, close
from benchmarks.attack.outcome import Outcome, found
from closedchain.close.formulation import Choice
from closedchain.close.methods import METHODS
from closedchain.derive.equations import derive
from closedchain.march.independent import choose_pivots
from closedchain.march.redundancy import independent_rows
from closedchain.march.state import State, parameter_vector

BUDGET = 120.0
EXACT = [name for name, method in METHODS.items() if not method.all_rows]
DIFFERENCE = 1e-9  # relative, times the conditioning of the closure beyond 100: rounding, seen by two codes
SOFTEST = 1e6  # conditioning beyond which a pose is as good as singular, and nothing is compared


def by_the_library(method: cc.Multipliers, state: State) -> np.ndarray:
    """Accelerations of the tree joints."""
    e = derive(state.mechanism)
    rows = independent_rows(e, state).kept
    pivots = choose_pivots(e, state, rows, method.chooses) if method.chooses else ()
    choice = Choice(rows, pivots=pivots)
    closed = method.close(e, choice)
    f = ca.Function("a", [e.limbs.t, closed.x, ca.vertcat(e.limbs.p, closed.parameters)], [closed.a])
    velocities = range(e.topology.nv) if closed.velocities is None else closed.velocities
    x = np.concatenate([state.q, state.v[list(velocities)], np.zeros(closed.algebraic), [0.0]])
    return np.array(f(0.0, x, [*parameter_vector(state.mechanism), *method.numbers(e, choice)])).ravel()


def consistent(drawing, rng: np.random.Generator) -> State:
    """The pose at which the loops were drawn, with random velocities that keep them closed."""
    m, q = drawing.mechanism, drawing.q()
    e = derive(m)
    v = rng.normal(size=e.topology.nv) * 10 ** rng.uniform(-1, 1)
    A = np.array(e.function("A", {"A": e.closure.A})(0.0, q, v, parameter_vector(m)))
    return State(m, q, v - np.linalg.lstsq(A, A @ v, rcond=1e-10)[0] if len(A) else v)


def attack(rng: np.random.Generator, engines: list[str] | None = None) -> Outcome:
    """One mechanism, one state, one method, all engines that are there."""
    drawing = mechanism(rng)
    state = consistent(drawing, rng)
    name = pick(rng, EXACT)
    plan = Plan(state.topology, state.q, state.v)
    reproduce = {"data": as_data(drawing.mechanism), "q": state.q.tolist(), "v": state.v.tolist(), "method": name}
    try:
        mine = by_the_library(METHODS[name], state)
    except cc.ClosedChainError as error:
        return Outcome(f"{type(error).__name__} from {name}")
    figures = {}
    for engine in engines or available():
        tree = ENGINES[engine](plan)
        theirs, conditioning = close(plan, tree) if engine != "numpy" else closed_by_numpy(plan, tree)
        if conditioning > SOFTEST:
            return Outcome("nearly singular")
        a = mine if engine == "numpy" else plan.lift(mine)
        size = max(1.0, np.abs(theirs).max(initial=0.0), np.abs(tree.bias).max(initial=0.0))
        difference = float(np.abs(a - theirs).max(initial=0.0) / size)
        bound = DIFFERENCE * max(1.0, conditioning / 100)
        figures[f"difference from {engine}"] = difference / max(1.0, conditioning / 100)
        if not difference <= bound:
            what = f"accelerations by {name} differ from those by {engine} by {difference:.3g} (bound {bound:.2g})"
            return found("differs", what, reproduce, f"{name} differs from {engine}", **figures)
    return Outcome("loops" if state.topology.cuts else "tree", figures=figures)


def closed_by_numpy(plan: Plan, tree) -> tuple[np.ndarray, float]:
    """The same closing in the library's own coordinates, where a screw needs no row."""
    rows, n = plan.rows, plan.n
    plan.rows, plan.n = [], len(plan.v)
    try:
        return close(plan, tree)
    finally:
        plan.rows, plan.n = rows, n
