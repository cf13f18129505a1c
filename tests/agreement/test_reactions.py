"""Every exact formulation gives the same reactions in every joint, tree joints and cut joints alike.

Springs in the closures are left out here: at a closed pose they pull at nothing, and their forces come near those of
rigid joints only in a limit, which `tests/convergence/test_springs.py` looks at.
"""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.methods import METHODS
from closedchain.derive.equations import derive
from closedchain.model.library import MECHANISMS
from closedchain.pose.state import parameter_vector
from closedchain.results.reactions.wrenches import wrenches
from closedchain.results.samples import Samples
from tests.agreement.test_library import EXACT, TIME, closed_by, states
from tests.solvers import usual


def some_states(m):
    """Two of the states of `test_library`; inertias changed one by one would not be those of any body."""
    for state in islice(states(m), 2):
        yield replace(state, parameters={k: x for k, x in state.parameters.items() if ".inertia" not in k})


def reactions(m, some, method):
    """(state, joint, 6): from the accelerations of a formulation."""
    at, _ = closed_by(method, m)
    q, v, a = (np.array(x) for x in zip(*((s.q, s.v, at(s)[0]) for s in some), strict=True))
    p = np.array([parameter_vector(m, s.parameters) for s in some])
    return wrenches(Samples(derive(m), np.full(len(some), TIME), q, v, a, p)).wrench


@pytest.mark.parametrize("name", MECHANISMS)
def test_reactions(name):
    m = MECHANISMS[name].build()
    some = list(some_states(m))
    wanted = reactions(m, some, cc.Multipliers())
    size = np.abs(wanted).max(axis=(1, 2), keepdims=True)
    assert size.min() > 0.1  # N or N m
    for method in EXACT:
        got = reactions(m, some, METHODS[method])
        # the promise between formulations
        np.testing.assert_allclose(got / size, wanted / size, rtol=0, atol=1e-9, err_msg=method)


@pytest.mark.parametrize("method", EXACT)
def test_reactions_of_runs(method):
    """The same through the whole way: a run of no length, in a plane and over-constrained."""
    m = cc.library.four_bar()
    state = next(some_states(m))
    wanted, got = (zero_run(m, state, x).reactions() for x in (cc.Multipliers(), METHODS[method]))
    for part in ("force", "moment"):
        # the promise between formulations, for forces of some 10 N
        np.testing.assert_allclose(got[part], wanted[part], rtol=0, atol=1e-8)
        assert (got[f"{part}_unique"] == wanted[f"{part}_unique"]).all()


def zero_run(m, state, method):
    return cc.simulate(m, state, until=state.t, method=method, solver=usual(method))
