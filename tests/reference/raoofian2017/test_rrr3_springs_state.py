"""The planar 3-RRR of Raoofian et al. (2017) with virtual springs: accelerations at a state that is not closed."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.march.program.compiled import compiled
from closedchain.pose.state import parameter_vector
from tests.reference.compare import load, relative
from tests.reference.raoofian2017.test_rrr3 import JOINTS_FROM_ANGLES, ROUNDING, ROWS, platform_of_its_own
from tests.turns import with_counters

STATE = load("raoofian2017/rrr3_springs_state")


@pytest.mark.parametrize("Spring", [cc.VirtualSpring, cc.ModifiedDeNOC])
@pytest.mark.parametrize("g", ["0", "9.81"])
@pytest.mark.parametrize("b", [0, 50])
def test_accelerations(b, g, Spring):
    m = platform_of_its_own(STATE["tau"], (0, -float(g), 0), start=ROWS[0])
    program = compiled(m.assemble(), Spring(1e6, float(b)))
    topology = program.equations.topology
    q, v = (JOINTS_FROM_ANGLES @ STATE[name] for name in ("q", "qd"))
    dx = program.rhs(0.0, program.pack(with_counters(topology, q), v), parameter_vector(m))
    a = np.linalg.solve(JOINTS_FROM_ANGLES, dx[topology.nq : -1])
    assert relative(a, STATE[f"spring k=1e6 b={b} g={g}"]["qdd"]) < ROUNDING
