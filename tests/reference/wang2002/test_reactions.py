"""Reactions of the mechanisms of Wang, Gosselin and Cheng (2002) at single states, in tree joints and cut ones."""

import numpy as np
import pytest

import closedchain as cc
from closedchain.results.reactions.reactions import reaction
from tests.reference.compare import load, relative
from tests.reference.wang2002.test_four_bar import JOINTS_FROM_ANGLES
from tests.reference.wang2002.test_gough_stewart import DRAWINGS, LEGS, SLIDES
from tests.turns import with_counters
from tests.unit.results.efforts.motions_by_hand import at_state, source

ROUNDING = 1e-12  # double precision on both sides, and no matrix with a condition above 100


def test_four_bar_at_the_joint_of_coupler_and_rocker():
    """In the plane; the states are those of 2 s of motion."""
    m = cc.library.four_bar()
    for row in load("wang2002/four_bar")["constrained"]:
        q, v = (JOINTS_FROM_ANGLES @ row[name] for name in ("q", "qd"))
        sample = at_state(m, cc.State(m, with_counters(m.assemble().topology, q), v, t=row["t"]))
        got = reaction(source(sample), "B", on="rocker")["force"].values[0]
        assert relative(got[:2], row["lam"]) < 10 * ROUNDING  # the crank turns at 14 rad/s at the end


@pytest.mark.parametrize("drawing", DRAWINGS)
@pytest.mark.parametrize(("time", "case"), [(0.0, "tau_zero"), (0.5, "tau_9")])  # 9 sin(pi t)
def test_forces_on_the_platform(drawing, time, case):
    """Drawn on leg 1, its ball joint is one of the tree."""
    m = DRAWINGS[drawing]("open")
    start = m.assemble()
    at = source(at_state(m, cc.State(m, start.q, start.v, t=time)))
    got = [reaction(at, f"leg{k} ball", on="platform")["force"].values[0] for k in LEGS]
    assert relative(got, load("wang2002/gough_stewart")["evaluation_t0"][case]["force_on_platform"]) < ROUNDING


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_forces_on_the_platform_that_is_held(drawing):
    """At rest under forces of the actuators that are given as numbers, whatever motors are drawn."""
    m, want = DRAWINGS[drawing]("open"), load("wang2002/gough_stewart")["static_hold"]
    start = m.assemble()
    efforts = {(name, 0): np.array([tau]) for name, tau in zip(SLIDES, want["tau"], strict=True)}
    sample = at_state(m, start, a=np.zeros(len(start.v)), efforts=efforts)
    got = [reaction(source(sample), f"leg{k} ball", on="platform")["force"].values[0] for k in LEGS]
    assert relative(got, want["force_on_platform"]) < ROUNDING
