"""Every formulation x every library mechanism x random consistent states: the same accelerations, the same forces."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.methods import METHODS
from closedchain.derive.equations import derive
from closedchain.march.closing import Closing
from closedchain.march.redundancy import independent_rows
from closedchain.march.state import parameter_vector
from closedchain.model.library import MECHANISMS

STATES = 5


def states(m):
    """Closed poses around the start, with random velocities that keep them closed."""
    e, start = derive(m), m.assemble()
    closing = Closing(e, parameter_vector(m))
    rng = np.random.default_rng(11)
    for _ in range(STATES):
        q = closing.near(start.q, 0.1 * rng.normal(size=e.topology.nv))
        assert closing.error(q) < 1e-9
        A, v = closing.jacobian(q), rng.normal(size=e.topology.nv)
        yield cc.State(m, q, v - np.linalg.lstsq(A, A @ v, rcond=1e-10)[0])


def dense(m, state, rows):
    """Accelerations and multipliers from the whole system at once."""
    e = derive(m)
    terms = {"M": e.M, "h": e.h, "tau": e.tau, "A": e.closure.A, "gamma": e.closure.gamma}
    got = e.function("dense", terms)(0.3, state.q, state.v, parameter_vector(m))
    M, h, tau, A, gamma = (np.array(x) for x in got)
    A, gamma = A[list(rows)], gamma.ravel()[list(rows)]
    K = np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]])
    x = np.linalg.solve(K, np.concatenate([(tau - h).ravel(), -gamma]))
    return x[: len(M)], x[len(M) :]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", MECHANISMS)
def test_accelerations_and_multipliers(name, method):
    m = MECHANISMS[name].build()
    e = derive(m)
    rows = independent_rows(e, m.assemble()).kept
    closed = METHODS[method].close(e, rows)
    f = e.function("closed", {"a": closed.a, "lam": closed.lam})
    for state in states(m):
        got = [np.array(x).ravel() for x in f(0.3, state.q, state.v, parameter_vector(m))]
        for mine, wanted in zip(got, dense(m, state, rows), strict=True):
            # the promise between formulations; closure residuals of 1e-11 times Baumgarte's gains are below it
            np.testing.assert_allclose(mine, wanted, rtol=0, atol=1e-9 * max(1.0, np.abs(wanted).max(initial=0.0)))
