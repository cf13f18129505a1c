"""Every exact formulation gives the same reactions in every joint, tree joints and cut joints alike.

Springs in the closures are left out here: at a closed pose they pull at nothing, and their forces come near those of
rigid joints only in a limit, which `tests/convergence/test_springs.py` looks at.
"""

from itertools import islice

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.methods import METHODS
from closedchain.model.library import MECHANISMS
from closedchain.testing.formulations import reactions, real_states
from tests.agreement.test_library import EXACT
from tests.solvers import usual


@pytest.mark.parametrize("name", MECHANISMS)
def test_reactions(name):
    m = MECHANISMS[name].build()
    some = list(islice(real_states(m), 2))
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
    state = next(real_states(m))
    wanted, got = (zero_run(m, state, x).reactions() for x in (cc.Multipliers(), METHODS[method]))
    for part in ("force", "moment"):
        # the promise between formulations, for forces of some 10 N
        np.testing.assert_allclose(got[part], wanted[part], rtol=0, atol=1e-8)
        assert (got[f"{part}_unique"] == wanted[f"{part}_unique"]).all()


def zero_run(m, state, method):
    return cc.simulate(m, state, until=state.t, method=method, solver=usual(method))
