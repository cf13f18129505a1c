"""Modelica.Mechanics.MultiBody.Examples.Loops.Fourbar2: a loop in space, closed by a massless rod."""

import numpy as np
import pytest

import closedchain as cc
from tests.reference.compare import load
from tests.reference.modelica.reference_results import bar, check

NUMBERS = load("modelica/fourbar2")


def fourbar2(cut):
    """The joint that is cut decides whether the rod's coordinates move any mass in the open limbs."""
    p = NUMBERS["parameters"]
    square = p["diameter"] ** 2 / 16
    steel = {"density": p["density"], "area": np.pi * p["diameter"] ** 2 / 4, "along": 2 * square, "across": square}
    m = cc.Mechanism("Fourbar2", gravity=[p["g"] * x for x in p["gravity_direction"]])
    b1, b2 = m.body("b1", bar(p["b1_r"], **steel)), m.body("b2", bar(p["b2_r"], **steel))
    rod = m.body("rod", cc.massless())
    reach = np.array(p["b1_r"]) - np.array(p["b0_r"]) - [p["s0"], 0, 0] - p["b2_r"]  # from b2 to b1 at the start
    across = np.cross(reach, [0, 0, 1])
    m.revolute("j1", m.ground, b1, axis=(1, 0, 0))
    m.prismatic("j2", m.ground.at(*p["b0_r"]), b2, axis=(1, 0, 0), guess=p["s0"], cut=cut == "j2")
    m.universal("universal", b2.at(*p["b2_r"]), rod, axes=(across.tolist(), np.cross(reach, across).tolist()))
    m.spherical("spherical", rod.at(*reach), b1.at(*p["b1_r"]), cut=cut == "spherical")
    return m


def start(m):
    return m.assemble({"j1": NUMBERS["initial"]["j1.phi"]}, velocity={"j1": NUMBERS["initial"]["j1.w"]})


@pytest.mark.parametrize("cut", ["j2", "spherical", None])
def test_motion(cut):
    """Whether the open limbs end in the rod or go on from it to b2, the rod may have no mass: its loop holds it."""
    m = fourbar2(cut)
    state = start(m)
    assert state["j2"] == pytest.approx(NUMBERS["initial"]["j2.s"], abs=1e-15)
    check(m, state, "j1", NUMBERS)
