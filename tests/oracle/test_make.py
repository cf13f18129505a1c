"""The stored trajectories are those that `tests.oracle.make` would make now."""

import json

import numpy as np
import pytest

from tests.oracle.make import CASES
from tests.reference.compare import load


@pytest.mark.parametrize("name", CASES)
def test_stored_numbers_are_of_these_cases(name):
    case, stored = CASES[name], load(f"exudyn/{name}")
    known = json.loads(json.dumps(case.parameters | {"until": case.until, "jumps": case.jumps}))
    assert stored["parameters"] == known
    assert set(stored["runs"]) == {"as given", *case.variants}
    for variant, changed in case.variants.items():
        assert stored["runs"][variant]["parameters"] == json.loads(json.dumps(changed))
    assert stored["provenance"]["case"] == case.about and stored["provenance"]["step"] == case.step / 2


def test_a_coarse_run_comes_close():
    case, stored = CASES["flexible_slider_crank"], load("exudyn/flexible_slider_crank")
    run = case.run(case.parameters, 1, 2e-4)
    rows = np.array(stored["runs"]["as given"]["rows"])
    theta, deflection = (stored["columns"].index(x) for x in ("theta", "deflection"))
    # measured 2.0e-4 rad and 2.1e-5 m: the step is eight times as long as that of the coarsest run behind the file
    assert np.abs(run["theta"] - rows[:, theta]).max() < 5e-4
    assert np.abs(run["deflection"] - rows[:, deflection]).max() < 5e-5
