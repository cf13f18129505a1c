"""The planar 3-RRR of Raoofian et al. (2017) with virtual springs at the platform's joints, damped and undamped."""

import warnings
from functools import cache

import numpy as np
import pytest

import closedchain as cc
from closedchain.close.modified_denoc import ModifiedDeNOC
from closedchain.derive.equations import derive
from tests.reference.compare import columns, load, off
from tests.reference.raoofian2017 import rose
from tests.reference.raoofian2017.test_rrr3 import LEGS, NUMBERS, R0, ROWS, platform_of_its_own

SPRINGS = load("raoofian2017/rrr3_springs")
DAMPED = (SPRINGS["damped"]["K"], SPRINGS["damped"]["b"])
CASES = {(float(K), 0.0): rows for K, rows in SPRINGS["undamped"].items()} | {DAMPED: SPRINGS["damped"]["rows"]}

# Errors of positions (m, rad), rates and forces (N), for rtol = 1e-12 in each of up to 13 000 steps. Springs that ring
# at up to 3000 rad/s make more of them in the rates, and K times the error of a gap is the error of a force.
RINGING = (1e-10, 1e-8, 1e-4)
SETTLED = (1e-12, 1e-11, 1e-8)


@cache
def robot():
    torques, _ = rose.efforts(NUMBERS["parameters"], cc.t, R0)
    return platform_of_its_own(torques, start=ROWS[0])


@cache
def follow(K, b):
    """The motion at the start and at the times of the reference."""
    m, times = robot(), [row["t"] for row in CASES[K, b]]
    state = m.assemble(m.start, velocity={f"base{k + 1}": ROWS[0]["qd"][2 * k] for k in LEGS})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.RunWarning)  # springs open the loops on purpose
        return cc.simulate(m, state, until=times[-1], method=ModifiedDeNOC(K, b), rtol=1e-12, t_eval=[0.0, *times])


def wanted(case, name):
    return np.array([row[name] for row in CASES[case]])


def absolute(run, mark=""):
    """Angles a, b of the legs, then x, y and angle of the platform, as in the reference; or their rates."""
    names = [(f"base{k + 1}", f"elbow{k + 1}") for k in LEGS]
    legs = [np.cumsum(columns(run, *(x + mark for x in pair))[1:], axis=1) for pair in names]
    return np.hstack([*legs, columns(run, *(f"pose.{x}{mark}" for x in ("x", "y", "angle")))[1:]])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_motion(case):
    run = follow(*case)
    position, velocity, force = SETTLED if case == DAMPED else RINGING
    q, want = absolute(run), wanted(case, "q")
    q[:, :6] -= 2 * np.pi * np.round((q[:, :6] - want[:, :6]) / (2 * np.pi))  # elbows are known up to whole turns
    assert off(q, want) < position
    assert off(absolute(run, "'"), wanted(case, "qd")) < velocity
    assert off(run["lam"][1:], wanted(case, "lam")) < force
    assert float(np.abs(run.energy_error).max()) < 1e-10  # J, of some 0.7 J in motion


@pytest.mark.parametrize("case", CASES, ids=str)
def test_errors_of_the_paper(case):
    """The sum of the gaps in (31), and the distance from the path in (32), before their logarithms are taken."""
    run, e = follow(*case), derive(robot())
    nq, nv = e.topology.nq, e.topology.nv
    f = e.function("gaps", {"c": e.closure.c})
    gaps = [np.abs(np.array(f(t, x[:nq], x[nq : nq + nv], run.p))).sum() for t, x in zip(run.t, run.x, strict=True)]
    assert off(gaps[1:], wanted(case, "sumC")) < 1e-11
    places = columns(run, "pose.x", "pose.y")
    away = [np.hypot(*(place - rose.path(t, R0).p)) for t, place in zip(run.t, places, strict=True)]
    assert off(away[1:], wanted(case, "e_p")) < 1e-10


def test_undamped_springs_ring_and_damped_ones_tell_the_reaction():
    """At the same stiffness, against the exact forces of the legs on the platform, of up to 15 N."""

    def error(case):
        run = follow(*case)
        exact = [np.ravel(rose.efforts(NUMBERS["parameters"], t, R0)[1]) for t in run.t[1:]]
        return off(run["lam"][1:], exact)

    assert error((DAMPED[0], 0.0)) > 2.0
    assert error(DAMPED) < 0.02
