"""Torques and platform-joint reactions of the 3-RRR on the rose path, through `cc.inverse_dynamics`."""

import numpy as np
import pytest

import closedchain as cc
from tests.reference.compare import load, off, relative

NUMBERS = load("raoofian2017/rrr3")
ROWS = NUMBERS["inverse_dynamics"]
ROUNDING = 1e-13  # the numbers have sixteen digits


@pytest.fixture(scope="module")
def motion():
    rose = cc.paths.rose(0.05, period=2.0).turned(about=(0, 0, 1), angle=0.0)
    return cc.follow(cc.library.rrr3(), {"platform": rose}, t_eval=[row["t"] for row in ROWS])


def test_kinematics_along_the_rose(motion):
    """All legs bend as at the start; angles of the file are absolute."""
    for k in range(3):
        proximal, distal = motion[f"base{k + 1}"].values, (motion[f"base{k + 1}"] + motion[f"elbow{k + 1}"]).values
        want = np.array([row["q"][2 * k : 2 * k + 2] for row in ROWS])
        turns = (np.stack([proximal, distal], axis=1) - want) / (2 * np.pi)
        assert np.abs(turns - np.round(turns)).max() < 1e-14
        rates = np.array([row["qd"][2 * k : 2 * k + 2] for row in ROWS])
        got = [motion[f"base{k + 1}'"].values, (motion[f"base{k + 1}'"] + motion[f"elbow{k + 1}'"]).values]
        assert off(np.stack(got, axis=1), rates) < ROUNDING


@pytest.mark.parametrize("method", ["projection", "virtual-spring", "denoc"])
def test_torques(motion, method):
    need = cc.inverse_dynamics(motion.mechanism, motion, method=method)
    assert need.actuators == ("base1", "base2", "base3")
    assert relative(need.tau, [row["tau"] for row in ROWS]) < ROUNDING


def test_reactions_of_the_platform_joints(motion):
    """``lam`` of the file is the force of each leg on the platform: the wrist's first body is the leg."""
    need = cc.inverse_dynamics(motion.mechanism, motion)
    want = np.array([row["lam"] for row in ROWS]).reshape(-1, 3, 2)
    for k in range(3):
        got = need.reaction(f"wrist{k + 1}")["force"].values
        assert off(got[:, :2], want[:, k]) < ROUNDING * np.abs(want).max()
