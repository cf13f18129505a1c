"""Reactions between legs and platform of the 3-RRR of Raoofian et al. (2017), in joints of the tree and cut ones."""

import numpy as np

import closedchain as cc
from closedchain.results.reactions.reactions import reaction
from tests.reference.compare import load, relative
from tests.reference.raoofian2017 import rose
from tests.reference.raoofian2017.test_rrr3 import LEGS, R0, ROWS, _hanging_on_leg_1
from tests.turns import with_counters
from tests.unit.results.efforts.motions_by_hand import at_state, source

NUMBERS = load("raoofian2017/rrr3")
ROUNDING = 1e-12  # double precision on both sides, and no matrix with a condition above 100


def on_the_platform(sample):
    """Forces in the plane, leg by leg; in this drawing the platform hangs on leg 1."""
    at = source(sample)
    return np.ravel([reaction(at, f"wrist{k + 1}", on="platform")["force"].values[0, :2] for k in LEGS])


def state(m, row):
    q, v = (np.array(_hanging_on_leg_1(row[x])) for x in ("q", "qd"))
    return cc.State(m, with_counters(m.assemble().topology, q), v, t=row["t"])


def test_along_the_path():
    """The accelerations of the path and the torques of the inverse analysis, both given."""
    m = cc.library.rrr3()
    for row in ROWS:
        legs = [rose.leg(NUMBERS["parameters"], k, rose.path(row["t"], R0)) for k in LEGS]
        a = _hanging_on_leg_1([*np.ravel([(x.a_ddot, x.b_ddot) for x in legs]), 0, 0, 0])
        efforts = {(f"base{k + 1}", 0): np.array([row["tau"][k]]) for k in LEGS}
        assert relative(on_the_platform(at_state(m, state(m, row), a=a, efforts=efforts)), row["lam"]) < ROUNDING


def test_in_motion():
    """States of a forward run; the torques are functions of time, and the accelerations follow from them."""
    torques, _ = rose.efforts(NUMBERS["parameters"], cc.t, R0)
    m = cc.library.rrr3(torques, position=(R0, 0.0))
    for row in NUMBERS["forward"]:
        assert relative(on_the_platform(at_state(m, state(m, row))), row["lam"]) < ROUNDING
