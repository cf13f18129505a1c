"""Accelerations and reactions against other engines, at random states of random mechanisms with every kind of joint.

Open trees and loops, under gravity alone or with all that can act: motors, springs, dampers, friction, stops, rotors,
forces, gears and drives. The engines are described in `engines`, what acts on them in `acting`. All formulations that
close loops exactly take their turn.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

import closedchain as cc
from benchmarks.attack.acting import added
from benchmarks.attack.bases import mechanism, pick
from benchmarks.attack.data import as_data
from benchmarks.attack.engines import ENGINES, Plan, available, close
from benchmarks.attack.outcome import Outcome, found
from closedchain.close.formulation import Choice
from closedchain.close.methods import METHODS
from closedchain.derive.equations import derive
from closedchain.pose.independent import choose_pivots
from closedchain.pose.redundancy import independent_rows
from closedchain.pose.state import State, parameter_vector
from closedchain.results.reactions.wrenches import wrenches
from closedchain.results.samples import Samples
from tests.random_mechanisms import Drawing

BUDGET = 120.0
EXACT = [name for name, method in METHODS.items() if not method.all_rows]
DIFFERENCE = 1e-9  # relative, times the conditioning of the closure beyond 100: rounding, seen by two codes
TIME = 0.3  # s, at which the drives agree with the pose
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
    return np.array(f(state.t, x, [*parameter_vector(state.mechanism), *method.numbers(e, choice)])).ravel()


def reactions(state: State, a: np.ndarray) -> dict[str, np.ndarray]:
    """Wrenches on the second bodies of the joints, in axes of their second frames, by the library."""
    p = parameter_vector(state.mechanism)
    got = wrenches(Samples(derive(state.mechanism), np.array([state.t]), state.q[None], state.v[None], a[None], p))
    return {
        name: np.kron(np.eye(2), R.T) @ wrench
        for name, R, wrench in zip(got.joints, got.R_second[0], got.wrench[0], strict=True)
    }


def consistent(drawing: Drawing, rng: np.random.Generator) -> State | None:
    """The pose at which the loops were drawn, with random velocities that keep them closed.

    None if no velocities do: a drive moves what loops or a gear hold.
    """
    m, q = drawing.mechanism, drawing.q()
    e = derive(m)
    v = rng.normal(size=e.topology.nv) * 10 ** rng.uniform(-1, 1)
    f = e.function("A", {"A": e.closure.A, "c_t": e.closure.c_t})
    A, c_t = map(np.array, f(TIME, q, v, parameter_vector(m)))
    if len(A):
        v = v - np.linalg.lstsq(A, A @ v + c_t[:, 0], rcond=1e-10)[0]
        if np.abs(A @ v + c_t[:, 0]).max() > 1e-9 * max(1.0, np.abs(v).max()):
            return None
    return State(m, q, v, t=TIME)


def attack(rng: np.random.Generator, engines: list[str] | None = None) -> Outcome:
    """One mechanism, one state, one method, all engines that are there."""
    drawing = mechanism(rng, acting=TIME if rng.random() < 0.8 else None)
    state = consistent(drawing, rng)
    if state is None:
        return Outcome("held twice")
    name = pick(rng, EXACT)
    plan = Plan(state.topology, state.q, state.v)
    reproduce = {"data": as_data(drawing.mechanism), "q": state.q.tolist(), "v": state.v.tolist(), "method": name}
    try:
        mine = by_the_library(METHODS[name], state)
        carried = reactions(state, mine)
    except cc.ClosedChainError as error:
        return Outcome(f"{type(error).__name__} from {name}")
    figures = {}
    for engine in engines or available():
        tree = ENGINES[engine](plan)
        acting = added(plan, tree, state.t)
        theirs = close(plan, tree, acting)
        if theirs.conditioning > SOFTEST:
            return Outcome("nearly singular")
        a = mine if engine == "numpy" else plan.lift(mine)
        loads = np.concatenate([theirs.a, tree.bias, acting.effort])
        held = [(carried[joint] @ C.T, lam) for joint, (C, lam) in theirs.carried.items() if len(C)]
        for what, pairs in (("accelerations", [(a, theirs.a)]), ("reactions", held)):
            size = max(1.0, np.abs(loads).max(initial=0.0), *(np.abs(wanted).max(initial=0.0) for _, wanted in pairs))
            apart = max((float(np.abs(x - y).max(initial=0.0) / size) for x, y in pairs), default=0.0)
            slack = max(1.0, theirs.conditioning / 100)
            figures[f"{what}, difference from {engine}"] = apart / slack
            if not apart <= DIFFERENCE * slack:
                told = f"{what} by {name} differ from those by {engine} by {apart:.3g} (bound {DIFFERENCE * slack:.2g})"
                return found("differs", told, reproduce, f"{what} by {name} differ from {engine}", **figures)
    return Outcome(label(drawing.mechanism, bool(state.topology.cuts)), figures=figures)


def label(m: cc.Mechanism, loops: bool) -> str:
    """What kind of mechanism was compared."""
    held = " with gears and drives" if m.couplings or m.drives else " with forces" if m.forces else ""
    return ("loops" if loops else "tree") + held
