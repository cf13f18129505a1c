"""The recipe of `closedchain.model.joints.types`: a slot drawn, cut or not, run, and bent, from one line of data."""

import math
import pickle

import numpy as np
import pytest

import closedchain as cc
from closedchain.model.joints.types import JOINT_TYPES, joint_type, register
from closedchain.testing import check_joint

SLOT = joint_type("slot", "Tx:0 Rz:1", "slide angle", symbol="L")
CRANK = 0.1


def scotch_yoke(cut=None):
    """A crank whose pin slides in the slot of a yoke that a guide leads along x."""
    m = cc.Mechanism("scotch yoke", gravity=(0, -9.81, 0))
    turning, yoke = m.body("crank", cc.rod(CRANK, 0.2)), m.body("yoke", cc.box((0.02, 0.3, 0.02), 0.5))
    m.revolute("shaft", m.ground, turning)
    m.prismatic("guide", m.ground, yoke, axis=(1, 0, 0), cut=None if cut is None else not cut)
    m.joint(SLOT, "pin", yoke.at(0, 0, 0, rpy=(0, 0, math.pi / 2)), turning.tip, cut=cut)
    m.start = {"shaft": 0.3}
    return m


def test_the_checks_of_the_library_pass():
    found = check_joint(SLOT)
    assert found["accelerations of the cut joint"] < 1e-9
    assert found["motion space in ERLS"] < 1e-12


def test_a_slot_moves_as_a_slot_whether_it_is_cut_or_not():
    runs = [cc.simulate(scotch_yoke(cut), until=0.3, rtol=1e-9) for cut in (True, False)]
    for run in runs:
        angle, x = run["shaft"].values, run["guide"].values
        assert abs(angle[-1] - angle[0]) > 0.1  # it moves
        assert np.abs(x - CRANK * np.cos(angle)).max() < 1e-8  # ten times rtol
        assert np.abs(run["pin.slide"].values - CRANK * np.sin(angle)).max() < 1e-8
    ends = [run["shaft"].values[-1] for run in runs]
    assert abs(ends[0] - ends[1]) < 1e-7


def test_a_slot_is_copied():
    assert pickle.loads(pickle.dumps(scotch_yoke())).joints["pin"].type == SLOT


def test_a_registered_joint_is_found_by_its_name():
    try:
        assert register(SLOT) is register(SLOT) is JOINT_TYPES["slot"]
        with pytest.raises(cc.ModelError, match="named 'slot' already"):
            register(joint_type("slot", "Ty:0 Rz:1", "slide angle"))
        m = cc.Mechanism("m")
        assert m.joint("slot", "pin", m.ground, m.body("b", cc.ball(0.1, 1.0))).type is SLOT
    finally:
        JOINT_TYPES.pop("slot")


@pytest.mark.parametrize(
    ("motions", "coordinates", "said"),
    [
        ("Tx", "slide", "not 'Tx'"),
        ("Qx:0", "slide", "not 'Qx:0'"),
        ("Tx:0 Rz:2", "slide angle", r"coordinates \[0, 2\]"),
        ("Tx:0 Rz:1", "slide slide", "not different"),
        ("Rz:0 Tx:1 Ry:2", "a b c", "slides between turns about other axes"),
        ("Tx*:0 Rx:0", "angle", "a pitch is known along z only"),
    ],
)
def test_what_cannot_be_derived_is_refused(motions, coordinates, said):
    with pytest.raises(cc.ModelError, match=f"joint type 'odd'.*{said}"):
        joint_type("odd", motions, coordinates)
