"""Sizes of loads along the velocities of a mechanism."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.derive.equations import derive
from closedchain.pose.loads import load_sizes
from closedchain.pose.state import parameter_vector


def test_loads_that_cancel_add_up():
    """Of torques at a hinge, and of forces at the end of its rod: across it they have an arm of 2 m."""
    m = cc.Mechanism("rod", gravity=(0, 0, 0))
    rod = m.body("rod", cc.rod(2.0, mass=1.0))
    m.revolute("hinge", m.ground, rod)
    for k, torque in enumerate((0.3, -0.1, -0.2)):
        m.motor("hinge", torque=torque, name=f"motor{k}")
    m.force("along", rod.tip, (5.0, 0, 0), axes="frame")
    m.force("across", rod.tip, (0, 1.0, 0), moment=(0, 0, -2.0), axes="frame")
    at = m.assemble(hinge=np.pi / 2)
    sizes = load_sizes(derive(m), at.t, at.q, at.v, parameter_vector(m, at.parameters))
    assert sizes == pytest.approx([0.6 + 2.0 + 2.0], rel=1e-14)  # rounding
