"""Every formulation x every library mechanism x random states and parameters: the same accelerations and forces."""

import pytest

import closedchain as cc
from closedchain.close.methods import METHODS
from closedchain.model.library import MECHANISMS
from closedchain.testing.formulations import agreement

# springs in the closures agree in a limit only, which the tests of convergence look at
EXACT = [name for name, method in METHODS.items() if not method.all_rows]

# (mechanism, method) that cannot be treated, with a part of the sentence that says why; none may be refused silently
REFUSED: dict[tuple[str, str], str] = {}


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("name", MECHANISMS)
def test_accelerations_and_multipliers(name, method):
    m = MECHANISMS[name].build()
    if (name, method) in REFUSED:
        with pytest.raises(cc.ModelError, match=REFUSED[name, method]):
            agreement(m, METHODS[method])
        return
    found = agreement(m, METHODS[method])
    assert max(found["accelerations"], found["multipliers"]) <= 1e-9  # the promise between formulations


def test_only_what_exists_is_refused():
    assert {(name, method) for name, method in REFUSED if name not in MECHANISMS or method not in EXACT} == set()
