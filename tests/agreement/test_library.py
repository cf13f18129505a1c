"""Every formulation x every library mechanism x random states and parameters: the same accelerations and forces."""

import casadi as ca
import numpy as np
import pytest

import closedchain as cc
from closedchain.close.formulation import Choice
from closedchain.close.methods import METHODS
from closedchain.derive.equations import derive
from closedchain.model.library import MECHANISMS
from closedchain.pose.closing import Closing
from closedchain.pose.independent import choose_pivots
from closedchain.pose.redundancy import independent_rows
from closedchain.pose.state import parameter_vector

STATES = 5
TIME = 0.3

# springs in the closures agree in a limit only, which the tests of convergence look at
EXACT = [name for name, method in METHODS.items() if not method.all_rows]

# (mechanism, method) that cannot be treated, with a part of the sentence that says why; none may be refused silently
REFUSED: dict[tuple[str, str], str] = {}


def states(m):
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
        yield cc.State(m, q, v - np.linalg.lstsq(A, A @ v, rcond=1e-10)[0], changed)


def dense(m, state, rows):
    """Accelerations and multipliers from the whole system at once."""
    e = derive(m)
    terms = {"M": e.M, "h": e.h, "tau": e.tau, "A": e.closure.A, "gamma": e.closure.gamma}
    got = e.function("dense", terms)(TIME, state.q, state.v, parameter_vector(m, state.parameters))
    M, h, tau, A, gamma = (np.array(x) for x in got)
    A, gamma = A[list(rows)], gamma.ravel()[list(rows)]
    K = np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]])
    x = np.linalg.solve(K, np.concatenate([(tau - h).ravel(), -gamma]))
    return x[: len(M)], x[len(M) :]


def closed_by(method, m):
    """A function of a state: accelerations and multipliers of a formulation, and the rows they belong to."""
    e, start = derive(m), m.assemble()
    rows = independent_rows(e, start).kept
    pivots = choose_pivots(e, start, rows, method.chooses) if method.chooses else ()
    choice = Choice(rows, pivots=pivots)
    closed = method.close(e, choice)
    p = ca.vertcat(e.limbs.p, closed.parameters)
    f = ca.Function("closed", [e.limbs.t, closed.x, p], [closed.a, closed.lam])
    numbers = method.numbers(e, choice)
    velocities = range(e.topology.nv) if closed.velocities is None else closed.velocities

    def at(state):
        x = np.concatenate([state.q, state.v[list(velocities)], np.zeros(closed.algebraic), [0.0]])
        return [np.array(y).ravel() for y in f(TIME, x, [*parameter_vector(m, state.parameters), *numbers])]

    return at, rows


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("name", MECHANISMS)
def test_accelerations_and_multipliers(name, method):
    m = MECHANISMS[name].build()
    if (name, method) in REFUSED:
        with pytest.raises(cc.ModelError, match=REFUSED[name, method]):
            closed_by(METHODS[method], m)
        return
    at, rows = closed_by(METHODS[method], m)
    for state in states(m):
        for mine, wanted in zip(at(state), dense(m, state, rows), strict=True):
            # the promise between formulations; closure residuals of 1e-11 times Baumgarte's gains are below it
            np.testing.assert_allclose(mine, wanted, rtol=0, atol=1e-9 * max(1.0, np.abs(wanted).max(initial=0.0)))


def test_only_what_exists_is_refused():
    assert {(name, method) for name, method in REFUSED if name not in MECHANISMS or method not in EXACT} == set()
