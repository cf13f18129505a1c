"""The rigid four-bar of Wang, Gosselin and Cheng (2002): values at a state that is not closed, and 2 s of motion."""

import numpy as np
import pytest

import closedchain as cc
from tests.reference.compare import columns, load, native_accelerations, off, pointwise, relative

NUMBERS = load("wang2002/four_bar")

# the reference has absolute angles theta, alpha, phi; the joints O, A, C measure theta, alpha - theta, phi
JOINTS_FROM_ANGLES = np.array([[1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
ANGLES_FROM_JOINTS = np.linalg.inv(JOINTS_FROM_ANGLES)

ROUNDING = 1e-12  # double precision on both sides, and no matrix with a condition above 100


@pytest.fixture(scope="module")
def at_a_state():
    m = cc.library.four_bar()
    want = NUMBERS["pointwise"]
    q, v = (JOINTS_FROM_ANGLES @ want[name] for name in ("q", "qd"))
    return pointwise(m)(q, v), native_accelerations(m, q, v), want


def test_inertia_and_bias(at_a_state):
    got, _, want = at_a_state
    T = JOINTS_FROM_ANGLES
    assert relative(T.T @ got.M @ T, want["M"]) < ROUNDING
    assert relative(T.T @ got.h, want["h"]) < ROUNDING


def test_closure(at_a_state):
    got, _, want = at_a_state
    A = got.A @ JOINTS_FROM_ANGLES
    assert np.abs(want["Delta"]).max() > 0.1  # A and gamma must be right off the manifold too
    assert relative(got.c, want["Delta"]) < ROUNDING
    assert relative(A, want["J"]) < ROUNDING
    assert relative(A @ want["qd"], want["Delta_dot"]) < ROUNDING
    assert relative(-got.gamma, want["index1"]["minus_Jdot_qd"]) < ROUNDING


def test_multipliers_and_accelerations(at_a_state):
    got, native, want = at_a_state
    assert relative(got.lam, want["index1"]["lam"]) < ROUNDING
    for a in (got.a, native):
        assert relative(ANGLES_FROM_JOINTS @ a, want["index1"]["qdd"]) < ROUNDING


def test_start_is_the_exact_closure():
    start = cc.library.four_bar().assemble()
    p = NUMBERS["parameters"]
    # given with 16 digits
    assert off([start["O"] + start["A"], start["C"]], [p["alpha0"], p["phi0"]]) < 1e-14


def test_motion():
    rows = NUMBERS["constrained"]
    m = cc.library.four_bar()
    # The error at 2 s is some 10 times rtol in q and 50 times in q' (the crank turns at 14 rad/s by then).
    run = cc.simulate(m, until=2.0, rtol=1e-12, t_eval=[0.0, *(row["t"] for row in rows)])
    q = columns(run, "O", "A", "C")[1:] @ ANGLES_FROM_JOINTS.T
    v = columns(run, "O'", "A'", "C'")[1:] @ ANGLES_FROM_JOINTS.T
    assert off(q, [row["q"] for row in rows]) < 1e-9
    assert off(v, [row["qd"] for row in rows]) < 1e-9
    # N: forces of up to 79 N at 2 s are off by some 5 N per rad/s
    assert off(run["lam"][1:], [row["lam"] for row in rows]) < 1e-8
    assert run.good
