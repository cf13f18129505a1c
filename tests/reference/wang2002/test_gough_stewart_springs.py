"""The Gough-Stewart platform of Wang, Gosselin and Cheng (2002) with springs and dampers: k = 5e4 N/m, b = 50 N s/m."""

import numpy as np
import pytest

import closedchain as cc
from tests.reference.compare import columns, load, off
from tests.reference.wang2002.test_gough_stewart import LEGS, SLIDES

SPRINGS = load("wang2002/gough_stewart_springs")
K, B = SPRINGS["k"], SPRINGS["b"]


@pytest.mark.parametrize("Spring", [cc.VirtualSpring, cc.ModifiedDeNOC])
@pytest.mark.parametrize("drive", ["open", "pd"])
def test_motion(drive, Spring):
    """All six ball joints are cut, as in the paper. Dampers let the errors of steps die out, so few digits are lost."""
    rows = SPRINGS[drive]
    times, want = [float(t) for t in rows], {}
    for name in next(iter(rows.values())):
        want[name] = np.array([row[name] for row in rows.values()])
    run = cc.simulate(
        cc.library.gough_stewart(drive), until=times[-1], method=Spring(K, B), rtol=1e-12, t_eval=[0.0, *times]
    )
    # falling freely it passes poses that its legs cannot hold
    assert not [said for said in run.complaints() if "lose their hold" not in said]
    platform = run.frame("platform").isel(time=slice(1, None))
    # metres and radians: rtol, and a growth of 12 times under "open"
    assert off(platform.position, want["p"]) < 1e-12
    assert off(platform.rotation, want["Q"]) < 1e-12
    assert off(columns(run, *SLIDES)[1:], want["rho"]) < 1e-12
    alpha, beta = (columns(run, *(f"leg{k} base.angle{i}" for k in LEGS))[1:] for i in (1, 2))
    turns = np.round((alpha - want["alpha"]) / (2 * np.pi))
    assert off(alpha - 2 * np.pi * turns, want["alpha"]) < 1e-12
    assert off(beta, want["beta"]) < 1e-12
    # rates: the springs of the light legs have frequencies of some 1000 rad/s
    assert off(platform.velocity, want["v"]) < 1e-11
    assert off(platform.angular_velocity, want["w_world"]) < 1e-11
    assert off(columns(run, *(f"{x}'" for x in SLIDES))[1:], want["rhod"]) < 1e-11
    assert off(columns(run, *(f"leg{k} base.angle1'" for k in LEGS))[1:], want["alphad"]) < 1e-11
    # newtons: 5e4 N/m times the errors of positions, 50 N s/m times those of rates
    lam = run["lam"][1:].values.reshape(-1, 6, 3)
    assert off(lam, want["force_on_platform"]) < 1e-9
    gaps = run.program.evaluate("gaps", lambda: {"c": run.program.equations.closure.c}, run.t[1:], run.x[1:], run.p)[
        "c"
    ].reshape(-1, 6, 3)
    assert off(np.linalg.norm(gaps, axis=2).max(axis=1), want["pos_violation_max"]) < 1e-12
    assert off(run["work"][1:], want["work_actuators"] - want["dissipated"]) < 1e-11  # J
