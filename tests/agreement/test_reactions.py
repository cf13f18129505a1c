"""Every exact formulation gives the same reactions in every joint, tree joints and cut joints alike."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.methods import METHODS
from closedchain.march.solvers import SOLVERS, marching
from closedchain.model.library import MECHANISMS
from tests.agreement.test_library import states

EXACT = [name for name, method in METHODS.items() if not method.all_rows]


def reactions(m, state, method):
    """Force and moment in every joint at a state: a run of no length."""
    step = None if SOLVERS[marching(method.kind)[0]].adaptive else 1e-3
    run = cc.simulate(m, state, until=state.t, method=method, step=step)
    out = {}
    for joint in (name for name, joint in m.joints.items() if joint.type.closure):
        got = run.reaction(joint)
        out[joint] = np.concatenate([got["force"].values[0], got["moment"].values[0]])
    return out


@pytest.mark.parametrize("name", MECHANISMS)
def test_reactions(name):
    m = cc.library.get(name).build()
    for state in islice(states(m), 2):
        # inertias changed one by one are not those of any body
        changed = {k: x for k, x in state.parameters.items() if ".inertia" not in k}
        state = replace(state, parameters=changed)
        wanted = reactions(m, state, cc.Multipliers())
        size = max(np.abs(x).max() for x in wanted.values())
        assert size > 0.1
        for method in EXACT:
            for joint, got in reactions(m, state, METHODS[method]).items():
                # the promise between formulations
                np.testing.assert_allclose(got, wanted[joint], rtol=0, atol=1e-9 * size, err_msg=f"{method}: {joint}")
