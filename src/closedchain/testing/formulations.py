"""Formulations against each other: the same accelerations, multipliers, reactions and work at the same states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import casadi as ca
import numpy as np

from closedchain.close.formulation import Choice, Formulation
from closedchain.close.multipliers import Multipliers
from closedchain.derive.equations import derive
from closedchain.errors import ModelError
from closedchain.integrate.solvers import SOLVERS, marching
from closedchain.model.library import MECHANISMS
from closedchain.model.mechanism import Mechanism
from closedchain.pose.closing import Closing
from closedchain.pose.independent import choose_pivots
from closedchain.pose.redundancy import independent_rows
from closedchain.pose.state import State, parameter_vector
from closedchain.results.reactions.wrenches import wrenches
from closedchain.results.samples import Samples
from closedchain.simulation import simulate
from closedchain.testing.measured import Measured
from closedchain.testing.operations import cost
from closedchain.testing.terms import TIME

STATES = 5
PROMISE = 1e-9  # between formulations; closure residuals of 1e-11 times Baumgarte's gains are below it


def check_formulation(method: Formulation, mechanisms: Sequence[str] | None = None) -> Measured:
    """Check a formulation on mechanisms of the library, at random closed states with random masses and efforts.

    Accelerations and multipliers are those of the whole system solved at once; reactions in all joints and the work are
    those of `Multipliers`; the energy of a short run is kept. Formulations that close the loops with springs agree in a
    limit only, and are refused here.

    Parameters
    ----------
    method
        The formulation, with its options.
    mechanisms
        Names from ``closedchain list mechanisms``; default: all of them.

    Returns
    -------
    Measured
        The largest differences, and the operations of a right-hand side by mechanism.

    Examples
    --------
    >>> import closedchain as cc
    >>> from closedchain.testing import check_formulation
    >>> found = check_formulation(cc.Projection(), ["four-bar"])
    >>> found["accelerations"] < 1e-9, found["operations of four-bar"] < 1000
    (True, True)
    """
    if method.all_rows:
        raise ModelError(
            f"check_formulation: {type(method).__name__} closes the loops with springs, so it agrees with the others "
            "only in the limit of stiff springs: compare runs of growing stiffness (tests/convergence/test_springs.py)"
        )
    found = Measured()
    for name in MECHANISMS if mechanisms is None else mechanisms:
        m = MECHANISMS[name].build()
        agreement(m, method, found)
        some = list(islice(real_states(m), 2))
        wanted, got = reactions(m, some, Multipliers()), reactions(m, some, method)
        size = np.abs(wanted).max(axis=(1, 2), keepdims=True)
        found.error(f"reactions of {name}", got / size, wanted / size, PROMISE)
        found[f"operations of {name}"] = cost(m, method).rhs.total
        if SOLVERS[marching(method.kind)[0]].adaptive:
            run = simulate(m, until=0.02, method=method, rtol=1e-9)
            energy = run["kinetic_energy"].values + run["potential_energy"].values
            # some hundred times the tolerance, of the energies that are exchanged
            size = 1.0 + np.abs(energy).max()
            found.at_most("energy", float(np.abs(run["energy_error"].values).max() / size), 1e-6)
    return found


def agreement(m: Mechanism, method: Formulation, found: Measured | None = None) -> Measured:
    """Compare accelerations, multipliers and work at random closed states with those of the whole system."""
    found = Measured() if found is None else found
    at, rows = closed_by(method, m)
    worked, _ = work_by(method, m)
    usual, _ = work_by(Multipliers(), m)
    for state in states(m):
        for what, mine, wanted in zip(("accelerations", "multipliers"), at(state), dense(m, state, rows), strict=True):
            found.error(what, mine, wanted, PROMISE)
        found.error("work", worked(state), usual(state), PROMISE)
    return found


def states(m: Mechanism) -> Iterator[State]:
    """Closed poses around the start, with random velocities that keep them closed."""
    e, start = derive(m), m.assemble()
    closing = Closing(e, parameter_vector(m))
    rng = np.random.default_rng(11)
    for _ in range(STATES):
        q = closing.near(start.q, 0.1 * rng.normal(size=e.topology.nv))
        assert closing.error(q) < 1e-9
        A, v = closing.jacobian(q), rng.normal(size=e.topology.nv)
        # other masses, inertias and efforts; the lengths are those of the pose
        changed = {
            name: value * rng.uniform(0.6, 1.6)
            for name, value in m.parameters.items()
            if name.endswith((".mass", ".motor")) or ".inertia" in name
        }
        yield State(m, q, v - np.linalg.lstsq(A, A @ v, rcond=1e-10)[0], changed)


def real_states(m: Mechanism) -> Iterator[State]:
    """The same with the inertias as drawn: changed one by one they would not be those of any body."""
    for state in states(m):
        yield replace(state, parameters={k: x for k, x in state.parameters.items() if ".inertia" not in k})


def dense(m: Mechanism, state: State, rows: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations and multipliers from the whole system at once."""
    e = derive(m)
    terms = {"M": e.M, "h": e.h, "tau": e.tau, "A": e.closure.A, "gamma": e.closure.gamma}
    got = e.function("dense", terms)(TIME, state.q, state.v, parameter_vector(m, state.parameters))
    M, h, tau, A, gamma = (np.array(x) for x in got)
    A, gamma = A[list(rows)], gamma.ravel()[list(rows)]
    K = np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]])
    x = np.linalg.solve(K, np.concatenate([(tau - h).ravel(), -gamma]))
    return x[: len(M)], x[len(M) :]


AtState = Callable[[State], list[np.ndarray]]


def closed_by(method: Formulation, m: Mechanism) -> tuple[AtState, tuple[int, ...]]:
    """A function of a state: accelerations and multipliers of a formulation, and the rows they belong to."""
    return _of_state(method, m, lambda closed: [closed.a, closed.lam])


def work_by(method: Formulation, m: Mechanism) -> tuple[AtState, tuple[int, ...]]:
    """The same for the rate of the work, the last entry of the state."""
    return _of_state(method, m, lambda closed: [closed.dx[-1]])


def _of_state(method: Formulation, m: Mechanism, wanted: Callable) -> tuple[AtState, tuple[int, ...]]:
    e, start = derive(m), m.assemble()
    rows = independent_rows(e, start).kept
    pivots = choose_pivots(e, start, rows, method.chooses) if method.chooses else ()
    choice = Choice(rows, pivots=pivots)
    closed = method.close(e, choice)
    p = ca.vertcat(e.limbs.p, closed.parameters)
    f = ca.Function("closed", [e.limbs.t, closed.x, p], wanted(closed))
    numbers = method.numbers(e, choice)
    velocities = range(e.topology.nv) if closed.velocities is None else closed.velocities

    def at(state: State) -> list[np.ndarray]:
        x = np.concatenate([state.q, state.v[list(velocities)], np.zeros(closed.algebraic), [0.0]])
        got = f.call([TIME, x, [*parameter_vector(m, state.parameters), *numbers]])
        return [np.array(y).ravel() for y in got]

    return at, rows


def reactions(m: Mechanism, some: Sequence[State], method: Formulation) -> np.ndarray:
    """(state, joint, 6): from the accelerations of a formulation."""
    at, _ = closed_by(method, m)
    q, v, a = (np.array(x) for x in zip(*((s.q, s.v, at(s)[0]) for s in some), strict=True))
    p = np.array([parameter_vector(m, s.parameters) for s in some])
    return np.asarray(wrenches(Samples(derive(m), np.full(len(some), TIME), q, v, a, p)).wrench)
